"""The owner locks, unlocks and removes teachers; the tests of these stay open for their takers."""

import re

import pytest

import quaestor as qs
from helpers.teacher_pages import BANK, FORM, PASSWORD, count
from quaestor.formats.files import load_bytes
from quaestor.store import leaving, teachers
from quaestor.store.attempts.entry import enter
from quaestor.store.models import Login, Published, Teacher, Token
from quaestor.store.publishing import Conditions, keep_bank, publish
from quaestor.web.teacher import account, publish_page


@pytest.fixture
def owner(join):
    return join("owner@school.example", owner=True)


@pytest.fixture
def ada_there(kept, owner, ada):
    """Ada with a password, a token and a test that somebody takes; her number."""
    with kept.work() as work:
        teacher = teachers.by_email(work, "ada@school.example")
        teacher.password = teachers.new_password(PASSWORD)
        teachers.api_token(work, teacher, "Moodle", ["banks"])
        bank = keep_bank(work, teacher, load_bytes(BANK.encode(), ".yaml"))
        enter(work, publish(work, teacher, bank, qs.Rules(stop=qs.max_questions(2)), Conditions()).code, "Ben")
    return number(kept)


def number(kept):
    with kept.read() as work:
        return teachers.by_email(work, "ada@school.example").id


def enters(kept, visit):
    """The status of the page on which somebody new begins the only test."""
    with kept.read() as work:
        return visit().get(f"/c/{work.query(Published).one().code}").status_code


def test_the_page_says_what_will_happen_before_anything_does(owner, ada_there):
    assert f'href="/teacher/people/{ada_there}"' in owner.get("/teacher/people").text
    page = owner.get(f"/teacher/people/{ada_there}").text
    assert "1 test, taken by 1 taker." in page
    for words in (
        "signed out everywhere at once",
        "Tests stay open",
        "become those of the teacher",
        "This cannot be undone.",
    ):
        assert words in page
    assert owner.get("/teacher/people/99").status_code == 404


def test_a_locked_teacher_is_out_and_the_test_stays_open(kept, owner, ada, ada_there, visit):
    assert owner.fill(f"/teacher/people/{ada_there}/lock").headers["location"] == f"/teacher/people/{ada_there}"
    assert ada.get("/teacher", follow_redirects=False).headers["location"] == "/sign-in"
    assert (count(kept, Login), count(kept, Token)) == (1, 0)  # the owner's sign-in
    refused = visit().fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD})
    assert refused.status_code == 400
    assert "This account is locked; please ask the owner of this server." in refused.text
    assert "The address or the password is wrong." in visit().fill("/sign-in", {"email": "ada@school.example", "password": "wrong"}).text
    assert enters(kept, visit) == 200
    assert owner.fill(f"/teacher/people/{ada_there}/link").status_code == 400
    assert "This teacher is locked" in owner.fill("/teacher/people", {"email": "ada@school.example"}).text
    assert "locked" in owner.get("/teacher/people").text
    assert "Unlock Ada" in owner.get(f"/teacher/people/{ada_there}").text
    assert owner.fill(f"/teacher/people/{ada_there}/unlock").status_code == 303
    assert visit().fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD}).headers["location"] == "/teacher"


def test_a_right_password_of_a_locked_teacher_is_no_failure(owner, ada_there, visit):
    owner.fill(f"/teacher/people/{ada_there}/lock")
    browser = visit()
    for _ in range(12):
        assert browser.fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD}).status_code == 400


def test_a_removed_teacher_is_gone_and_the_test_is_the_owners(kept, owner, ada, ada_there, visit):
    for typed in ("", "ada", "owner@school.example"):
        refused = owner.fill(f"/teacher/people/{ada_there}/remove", {"email": typed})
        assert (refused.status_code, "nobody was removed" in refused.text) == (400, True)
    assert owner.fill(f"/teacher/people/{ada_there}/remove", {"email": " Ada@school.example"}).headers["location"] == "/teacher/people"
    assert "Ada was removed. Their banks and tests are now those of owner@school.example." in owner.get("/teacher/people").text
    assert "was removed" not in owner.get("/teacher/people").text
    assert ada.get("/teacher", follow_redirects=False).headers["location"] == "/sign-in"
    assert enters(kept, visit) == 200
    results = re.search(r'href="(/teacher/tests/\d+)"', owner.get("/teacher").text)[1] + "/results"
    assert "Ben" in owner.get(results).text
    assert owner.fill(f"/teacher/people/{ada_there}/remove", {"email": "ada@school.example"}).status_code == 404


def test_the_owner_can_neither_be_locked_nor_removed(kept, owner):
    with kept.read() as work:
        mine = work.query(Teacher).one().id
    assert "can be neither locked nor removed" in owner.get(f"/teacher/people/{mine}").text
    for act in ("lock", "unlock", "remove"):
        refused = owner.fill(f"/teacher/people/{mine}/{act}", {"email": "owner@school.example"})
        assert (refused.status_code, "can be neither locked nor removed" in refused.text) == (400, True)
    assert owner.get("/teacher").status_code == 200


def locked(kept):
    with kept.work() as work:
        leaving.lock(work, number(kept))


def removed(kept):
    with kept.work() as work:
        leaving.remove(work, number(kept), work.query(Teacher).filter(Teacher.is_owner).one())


@pytest.fixture(params=[locked, removed])
def ending(request, kept, owner, ada_there, monkeypatch):
    """A function that lets Ada be out as soon as something was done: between two units of work of one request."""

    def make(place, name):
        real = getattr(place, name)

        def do_and_end(*arguments):
            found = real(*arguments)
            request.param(kept)
            return found

        monkeypatch.setattr(place, name, do_and_end)

    return make


def is_refused(page):
    return (page.status_code, "Please sign in first." in page.text) == (403, True)


def test_what_is_under_way_is_refused_in_words(kept, ada, ending):
    with kept.read() as work:
        bank = work.query(Published).one().bank_id
    ending(publish_page, "open_bank")
    assert is_refused(ada.fill(f"/teacher/banks/{bank}/publish", FORM))
    assert count(kept, Published) == 1


def test_a_password_that_was_right_a_moment_ago_opens_nothing(kept, visit, ending):
    ending(teachers, "by_password")
    assert visit().fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD}).status_code == 400
    assert count(kept, Login) == 1  # the owner's


def test_a_new_password_that_comes_too_late_is_refused(ada, ending):
    ending(account, "password_fits")
    assert is_refused(ada.fill("/teacher/account/password", {"present": PASSWORD, "password": PASSWORD}))
