"""A school's year in the browser: one class of 25, three tests, a pupil who moves, one with extra time, one who is erased.

What everybody does alike is done by the store; what the year is about is pressed and read on the pages.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

import quaestor as qs
from helpers.chromium import follow
from quaestor.store import publishing, teachers
from quaestor.store.attempts.taking import answer, enter, state_of
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Published, Pupil, SchoolClass, Teacher
from quaestor.web.operations.demo import written

NAMES = [f"{first} {last}" for first in ("Ada", "Ben", "Cem", "Dora", "Eva") for last in ("Ahrens", "Berg", "Celik", "Duarte", "Eid")]
ADA, BEN, CEM, EVA = "Ada Ahrens", "Ben Berg", "Cem Celik", "Eva Eid"
SHOTS = os.environ.get("QUAESTOR_SCREENSHOTS")  # a folder for pictures of the pages, for whoever wants to look


@pytest.fixture
def teacher(site, browse):
    page = browse()
    with site.database.work() as work:
        owner = work.scalars(select(Teacher).where(Teacher.is_owner)).one()
        cookie = teachers.log_in(work, owner)
        publishing.keep_bank(work, owner, qs.load("fractions"))
    page.context.add_cookies([{"name": "teacher", "value": cookie, "url": site.address}])
    return page


def shot(page, name):
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def publish(site, page, title, half_life=""):
    """Publish a test of fractions for class 5a, by the form."""
    with site.database.read() as work:
        bank = work.scalars(select(Published.bank_id).order_by(Published.id)).first()
    page.goto(site / f"teacher/banks/{bank}/publish")
    page.get_by_label("Title, as takers see it").fill(title)
    page.get_by_label("Time limit in minutes").fill("20")
    page.get_by_label("Which class?").select_option(label="5a")
    if half_life:
        page.get_by_text("Start from what is known").click()
        page.get_by_label("After how many days does it count half?").fill(half_life)
    shot(page, f"publish-{title}")
    follow(page.get_by_role("button", name="Publish", exact=True))
    return int(page.url.rpartition("/")[2].partition("?")[0])


def take(site, names, test, skill, seed):
    """Take a test as pupils of so much skill do."""
    rng = np.random.default_rng(seed)
    for name in names:
        with site.database.work() as work:
            pupil = work.scalars(select(Pupil).where(Pupil.name == name)).one()
            attempt = enter(work, pupil.code, test=test)
            while not (now := state_of(work, attempt)).over:
                question = now.session.next
                entry = written(question, question.classes[-1 if rng.random() < skill else 0], rng)
                answer(work, attempt, now.step, entry.split(" | ") if question.kind == "choices" else entry)


def code_of(site, name):
    with site.database.read() as work:
        return work.scalars(select(Pupil.code).where(Pupil.name == name)).one()


def begin(site, page, code, title=""):
    """Come in by one's own code, choose a test where there are several, and begin it."""
    page.goto(site / "")
    page.get_by_label("Code").first.fill(code)
    follow(page.get_by_role("button", name="Go on"))
    if title:
        follow(page.get_by_role("link", name=title, exact=True))
    follow(page.get_by_role("button", name="Begin"))


@pytest.mark.long
def test_a_school_year(site, teacher, browse):
    # Autumn: the class is made once
    teacher.goto(site / "teacher/classes")
    teacher.get_by_label("What is the class called?").fill("5a")
    teacher.get_by_label("Names, one a line").fill("\n".join(NAMES))
    follow(teacher.get_by_role("button", name="Make the class"))
    assert teacher.locator("tbody tr, table.list tr").count() >= 25
    autumn = publish(site, teacher, "Fractions in autumn")
    take(site, [name for name in NAMES if name != CEM], autumn, 0.4, 1)

    # Cem has half as much time again, wherever he is
    teacher.goto(site / "teacher/classes")
    follow(teacher.get_by_role("link", name="5a", exact=True))
    follow(teacher.get_by_role("link", name=CEM))
    teacher.get_by_label("× 1.5", exact=True).check()
    follow(teacher.get_by_role("button", name="Save"))
    assert "time × 1.5" in teacher.locator("h1").inner_text()
    cem = browse()
    cem.goto(site / f"c/{code_of(site, CEM)}")
    assert "You have 30 minutes." in cem.locator("main").inner_text()
    take(site, [CEM], autumn, 0.4, 9)

    # Winter: the same code opens both tests
    winter = publish(site, teacher, "Fractions in winter")
    ada = browse()
    ada.goto(site / f"c/{code_of(site, ADA)}")
    shot(ada, "your-tests")
    seen = ada.locator("main").inner_text()
    assert "Fractions in winter" in seen
    assert "Finished" in seen
    begin(site, ada, code_of(site, ADA), "Fractions in winter")
    assert ada.locator("form.sheet, .options, main form").count()
    take(site, NAMES, winter, 0.6, 2)

    # Ben moves to the other class; his code and what he did move along
    with site.database.work() as work:
        class_lists.make_class(work, work.scalars(select(Teacher).where(Teacher.is_owner)).one(), "5b")
    teacher.goto(site / "teacher/classes")
    follow(teacher.get_by_role("link", name="5a", exact=True))
    follow(teacher.get_by_role("link", name=BEN))
    assert teacher.locator(".ladder").count() >= 1
    teacher.get_by_label("Move to another class").select_option(label="5b")
    follow(teacher.get_by_role("button", name="Move", exact=True))
    assert "5b" in teacher.locator(".crumbs").inner_text()
    assert teacher.locator(".ladder").count() >= 1

    # Spring: starting from what is known, which the taker is told
    spring = publish(site, teacher, "Fractions in spring", half_life="90")
    shot(teacher, "test-spring")
    ada.goto(site / f"c/{code_of(site, ADA)}?test={spring}")
    assert "starts from what your earlier tests showed" in ada.locator("main").inner_text()
    take(site, [name for name in NAMES if name not in (BEN,)], spring, 0.8, 3)
    with site.database.read() as work:
        starts = work.scalars(select(Attempt.start).where(Attempt.test_id == spring)).all()
        assert [len(start["tests"]) for start in starts] == [2] * 24
        ben = work.scalars(select(Pupil).where(Pupil.name == BEN)).one()
        assert work.get_one(SchoolClass, ben.class_id).title == "5b"
    ben_page = browse()
    ben_page.goto(site / f"c/{code_of(site, BEN)}")
    assert "Fractions in spring" not in ben_page.locator("main").inner_text()

    # How they grow
    teacher.goto(site / "teacher/classes")
    follow(teacher.get_by_role("link", name="5a", exact=True))
    shot(teacher, "class")
    follow(teacher.get_by_role("link", name="How the class grows"))
    shot(teacher, "class-growth")
    picture = teacher.locator(".ladder").first.get_attribute("aria-label")
    assert all(title in picture for title in ("Fractions in autumn", "Fractions in winter", "Fractions in spring"))
    teacher.go_back()
    follow(teacher.get_by_role("link", name=ADA))
    shot(teacher, "pupil")
    for scheme in ("dark", "light"):
        teacher.emulate_media(color_scheme=scheme)
        shot(teacher, f"pupil-{scheme}")

    # Eva's parents ask that all of it be erased: first they get it, then it goes
    teacher.goto(site / "teacher/classes")
    follow(teacher.get_by_role("link", name="5a", exact=True))
    follow(teacher.get_by_role("link", name=EVA))
    eva = code_of(site, EVA)
    with teacher.expect_download() as loaded:
        teacher.get_by_role("link", name="Download it (JSON)").click()
    assert eva in Path(loaded.value.path()).read_text()
    follow(teacher.get_by_role("link", name="Erase everything"))
    shot(teacher, "erase")
    teacher.get_by_label(f"To be sure, type the name: {EVA}").fill(EVA)
    follow(teacher.get_by_role("button", name="Erase everything"))
    assert EVA not in teacher.locator("main").inner_text()
    for test in (autumn, winter, spring):
        teacher.goto(site / f"teacher/tests/{test}/results")
        assert EVA not in teacher.content()
    assert EVA.encode() not in Path(site.database.engine.url.database).read_bytes()
    eva_page = browse()
    eva_page.watch.expected = {404}
    eva_page.goto(site / f"c/{eva}")
    assert "opens no test" in eva_page.locator("main").inner_text()

    # Summer: the class is archived, and results stay
    teacher.goto(site / "teacher/classes")
    follow(teacher.get_by_role("link", name="5a", exact=True))
    teacher.get_by_text("Rename, archive, erase").click()
    follow(teacher.get_by_role("button", name="Archive the class"))
    assert "archived" in teacher.locator("h1").inner_text()
    ada.goto(site / f"c/{code_of(site, ADA)}")
    assert "No test is open for you at present." in ada.locator("main").inner_text()
