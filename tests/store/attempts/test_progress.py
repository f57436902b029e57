"""Who is through: one rule in SQL and in the results, told alike on the first page, the test's page, the live view and the report."""

import re
from datetime import timedelta

import pytest

from helpers.browsing import KINDS, application, give
from helpers.classroom import take
from helpers.editor_pages import put, sign_in, text_of
from quaestor.store import publishing, teachers
from quaestor.store.attempts import progress, taking
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Published
from quaestor.store.outcomes import results


@pytest.fixture
def app(database):
    return application(database)


def under_way(database, code, count=3):
    """One who is through, and some in the middle of it; the numbers of their attempts."""
    return [take(database, code, "Ada", 4), *(take(database, code, f"Bob {number}", 1) for number in range(count))]


@pytest.mark.parametrize(
    ("conditions", "later", "over"),
    [
        ({}, 1000, 1),
        ({"minutes": 30}, 29, 1),
        ({"minutes": 30}, 31, 4),
        ({"minutes": 0.5}, 1, 4),
        ({"closes": 10}, 9, 1),
        ({"closes": 10}, 11, 4),
        ({"closes": 50, "minutes": 30}, 31, 4),
    ],
)
def test_sql_and_results_agree(database, monkeypatch, conditions, later, over):
    if "closes" in conditions:
        conditions = {**conditions, "closes": now() + timedelta(minutes=conditions["closes"])}
    under_way(database, give(database, **conditions))
    give(database, title="Another", minutes=1)  # of nobody
    moment = now() + timedelta(minutes=later)
    monkeypatch.setattr(results, "now", lambda: moment)
    with database.read() as work:
        tests = publishing.published_by(work, teachers.owner(work, ""))
        assert progress.counts(work, tests, moment) == {1: (4 - over, over)}
        states = [outcome.state for outcome in results.outcomes(work, work.get(Published, 1))]
        assert (states.count("running"), states.count("over")) == (4 - over, over)


def test_all_pages_count_alike_after_closing(app, database):
    under_way(database, give(database))
    browser = sign_in(app, database)
    said = "1 finished 3 under way"
    assert said in text_of(browser.go("/teacher"))
    assert said in text_of(browser.go("/teacher/tests/1"))
    browser.fill("/teacher/tests/1/close")
    said = "4 finished 0 under way"
    assert said in text_of(browser.page)
    assert said in text_of(browser.go("/teacher"))
    assert said in text_of(browser.go("/teacher/tests/1/report"))
    assert "4 finished 0 not begun" in text_of(browser.go("/teacher/tests/1/live"))
    assert "under way" not in text_of(browser.go("/teacher/tests/1/results"))


def test_nothing_is_said_of_those_who_hardly_answered(app, database):
    code = give(database)
    take(database, code, "Ada", 4)
    take(database, code, "Nobody", 0)
    skips = take(database, code, "Skips", 0)  # somebody who only skips answers nothing either
    with database.work() as work:
        attempt = work.get(Attempt, skips)
        for step in (1, 2, 3):
            taking.skip(work, attempt, step)
    browser = sign_in(app, database)
    browser.go("/teacher/tests/1")
    browser.fill("/teacher/tests/1/close")
    page = browser.go("/teacher/tests/1/report?pupils=yes")
    said = text_of(page)
    assert re.search(r"Adding & more no 0 partly 0 yes 1", said)
    assert re.search(r"Adding & more no 0 partly 0 yes 1 (\(1 not yet sure\) )?too few answers: 2", said)
    assert said.count("Adding & more too few answers") == 2
    assert len(re.findall(r'<span class="sample', page.text)) == 1
    page = browser.go("/teacher/tests/1/live")
    rows = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"<tr>.*?</tr>", page.text, re.S)]
    assert [row.split("finished ")[1] for row in rows[2:]] == ["0 just now 0 / 1 –", "3 just now 0 / 1 –"]


def test_the_first_page_lists_what_is_being_written_and_frozen_banks_lead_back(app, database):
    browser = sign_in(app, database)
    assert "No banks yet." in text_of(browser.go("/teacher"))
    home = put(database, KINDS.document)
    assert f'<a href="{home}">All kinds</a>' in browser.go("/teacher").text
    with database.work() as work:
        kept = publishing.keep_bank(work, teachers.owner(work, ""), KINDS, {"pie.png": b"\x89PNG\r\n\x1a\n picture"})
    page = browser.go(f"/teacher/banks/{kept.id}")
    assert f'href="/teacher/banks/{kept.id}/try"' in page.text
    assert f'<a href="{home}">Edit the bank itself</a>' in page.text
