"""The key of an exam cannot be tried out: what its pages show, who may begin it how often, and what two attackers learn."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from helpers.browsing import Browser, application, enter, give
from helpers.databases import KINDS
from helpers.key_attack import Expert, Stranger, Visitor, found, publish_exam, small_bank, targets, try_out
from helpers.servers import Server
from helpers.taking import url
from quaestor.store import clock, limits
from quaestor.store.attempts import entry, taking
from quaestor.store.attempts.entry import Origin
from quaestor.store.classes import class_lists
from quaestor.store.limits import LimitError
from quaestor.store.models import Attempt, Published, Tries

SURE = ("sureness", 'class="meter"', "How sure we are", "sure yet", "sure already")


@pytest.mark.parametrize("mode", ["exam", "practice"])
def test_an_exam_shows_no_meter(make_database, mode):
    database = make_database("sqlite")
    page = enter(application(database), give(database, mode=mode)).page.text
    assert [words in page for words in SURE] == [mode == "practice"] * 3 + [mode == "practice", False]


def test_a_result_is_held_back_until_the_test_is_closed(make_database):
    database = make_database("sqlite")
    code = give(database, results="closed")
    browser = Browser(application(database))
    browser.go(f"/c/{code}")
    assert "You see your result once the test is closed." in browser.page.text
    browser.fill("/enter", name="Ada")
    for entered in ("3/4", ["two", "four"], "3.5", "Paris"):
        browser.fill("/answer", entry=entered)
    held = browser.page.text
    assert "Your answers are in" in held
    assert "Thank you, Ada." in held
    assert not re.search(r"answered right|What we found|Adding &amp; more|ended|asks no more", held)
    with database.work() as work:
        work.scalars(select(Published)).one().closes = clock.now()
    assert "4 of 4 questions answered right." in browser.go(browser.path).text


def test_a_browser_and_an_address_begin_an_exam_so_often(make_database):
    database = make_database("sqlite")
    code = give(database, per_browser=2, per_address=4)
    app = application(database)

    def begin(browser, name):
        browser.go(f"/c/{code}")
        return browser.fill("/enter", name=name)

    ada = Browser(app)
    assert [begin(ada, f"Ada {number}").status_code for number in range(3)] == [200, 200, 429]
    assert "This test was begun 2 times on this device within a day, and that is the limit." in ada.page.text
    assert "go on with your personal code; if not, please tell your teacher." in ada.page.text
    assert [begin(Browser(app), f"Ben {number}").status_code for number in range(3)] == [200, 200, 429]
    with database.read() as work:
        assert work.scalar(select(func.count()).select_from(Attempt)) == 4, "who is refused leaves nothing behind"
        first = work.scalars(select(Attempt).order_by(Attempt.id)).first().code
        assert sorted(work.scalars(select(Tries.count).where(Tries.kind == "begun by address"))) == [4]
    ada.go(f"/c/{first}")
    assert ada.fill("/enter").status_code == 200, "going on is no new attempt"
    elsewhere = TestClient(app, client=("203.0.113.5", 1))
    browser = Browser(app)
    browser.client = elsewhere
    assert begin(browser, "Cleo").status_code == 200


def test_a_form_that_is_sent_twice_counts_once_and_a_day_later_it_counts_anew(make_database, monkeypatch):
    database = make_database("sqlite")
    code, origin = give(database, per_browser=1, per_address=1), Origin("a browser", "192.0.2.1")

    def begin(form):
        with database.work() as work:
            return taking.enter(work, code, "Ada", form, origin=origin).id

    assert begin("one form") == begin("one form")
    with pytest.raises(LimitError) as error:
        begin("another form")
    assert 23 * 3600 < error.value.seconds <= 24 * 3600
    monkeypatch.setattr(limits, "now", lambda: clock.now() + timedelta(hours=24, seconds=1))
    begin("a third form")


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_at_the_same_moment_no_more_than_the_limit_begin(make_database, kind):
    database = make_database(kind)
    code = give(database, per_address=3)

    def begin(number):
        try:
            with database.work() as work:
                taking.enter(work, code, f"Ada {number}", origin=Origin("", "192.0.2.1"))
        except LimitError:
            return "refused"
        return "begun"

    with ThreadPoolExecutor(8) as threads:
        came = sorted(threads.map(begin, range(12)))
    assert came == ["begun"] * 3 + ["refused"] * 9


def test_pupils_of_a_class_list_and_tests_without_limits_are_not_counted(make_database):
    database = make_database("sqlite")
    code = give(database)
    with database.work() as work:
        test = work.scalars(select(Published)).one()
        test.per_address = 1
        class_lists.add_pupils(work, test, ["Ada"])[0].code = "ADASCODE"
    origin = Origin("a browser", "192.0.2.1")
    with database.work() as work:
        entry.enter(work, "ADASCODE", origin=origin)
        entry.enter(work, code, "Ben", origin=origin)
        work.scalars(select(Published)).one().per_address = None
    with database.work() as work:
        entry.enter(work, code, "Cleo", origin=origin)
        assert work.scalars(select(Tries.count)).all() == [1]


LOT = "score: random\nstop: {max_questions: 15}\nskips: wrong"  # the next question does not depend on the answers


@pytest.mark.long
@pytest.mark.parametrize(
    ("attacker", "fields", "tries", "least", "most"),
    [
        pytest.param(Expert, {"by_list": "no", "rules": LOT}, 20, 0, 9, id="drawn by lot"),
        pytest.param(Stranger, {"by_list": "no"}, 100, 0, 10, id="by pages alone"),
        pytest.param(Expert, {"by_list": "no"}, 25, 10, 15, id="by the tables"),
    ],
)
def test_what_can_be_learnt_in_an_open_exam(make_database, attacker, fields, tries, least, most):
    """Of 15 questions with four options chance finds 3.75 on average, and more than 9 not once in a thousand times.

    That who knows every table still finds the key from an open code is what the page for publishing says, and why a class list is the
    default: the last case fails when that is no longer true.
    """
    database, bank = make_database("sqlite"), small_bank()
    code, rules = publish_exam(database, bank, **fields)
    somebody = Expert(bank, rules) if attacker is Expert else Stranger(bank)
    with Server(url(database)) as server:
        visitor = Visitor(server.port, code)
        try_out(somebody, visitor, tries)
    assert len(targets(bank)) == 15
    assert least <= found(somebody, bank) <= most


@pytest.mark.long
def test_the_attack_ends_at_the_limit_and_at_a_class_list(make_database):
    database, bank = make_database("sqlite"), small_bank()
    (open_code, _), (again, _) = (publish_exam(database, bank, by_list="no", per_address="4") for _ in range(2))
    listed, _ = publish_exam(database, bank)
    with Server(url(database)) as server:
        one, many, nobody = Visitor(server.port, open_code), Visitor(server.port, again, addresses=3), Visitor(server.port, listed)
        for visitor in (one, many, nobody):
            try_out(Stranger(bank), visitor, 20)
    assert (one.attempts, one.refused) == (4, 429)
    assert (many.attempts, many.refused) == (12, 429), "each address has a limit of its own, as docs/security.md says"
    assert (nobody.attempts, nobody.refused) == (0, 303)
