"""After publishing: the time of a test is changed, one taker has more of it, or another try."""

import re
from datetime import timedelta
from html import unescape

import pytest

from helpers.teacher_pages import one, put_test, take
from quaestor.store import clock, timing
from quaestor.store.attempts.taking import answer, enter
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.privacy import erase_names

SAME = {"minutes": "", "closing": "same", "closes": ""}


def pupil(kept, name="Eve"):
    with kept.work() as work:
        return class_lists.add_pupils(work, work.query(Published).one(), [name])[0].id


def attempts(kept):
    with kept.read() as work:
        return work.query(Attempt).order_by(Attempt.id).all()


def test_a_closed_test_is_opened_again(kept, ada, visit):
    where = put_test(ada).headers["location"]
    ada.fill(f"{where}/close")
    page = ada.get(where).text
    assert "Open the test again, or change the time limit" in page
    code = one(kept, Published).code
    child = visit()
    child.fill("/enter", {"code": code, "name": "Eve", "once": "x"})
    assert "This test is closed." in child.get(f"/c/{code}").text
    assert ada.fill(f"{where}/time", {**SAME, "closing": "never"}).headers["location"] == where
    assert one(kept, Published).closes is None
    assert "you can open it again" in ada.get(where).text
    assert child.fill("/enter", {"code": code, "name": "Eve", "once": "x"}).headers["location"].startswith("/take/")


def test_another_time_limit_and_closing_hold_for_those_under_way(kept, ada):
    where = put_test(ada, minutes="10").headers["location"]
    take(kept, entries=("50",))
    assert ada.fill(f"{where}/time", {**SAME, "minutes": "25"}).status_code == 303
    (begun,) = attempts(kept)
    assert begun.due == begun.started + timedelta(minutes=25)
    ada.fill(f"{where}/time", {"minutes": "", "closing": "at", "closes": "2040-09-01T08:00", "closes_offset": "-120"})
    test = one(kept, Published)
    assert (test.minutes, test.closes.isoformat()) == (None, "2040-09-01T06:00:00")
    assert attempts(kept)[0].due == test.closes
    ada.fill(f"{where}/time", {"minutes": "5", "closing": "same", "closes": ""})
    assert one(kept, Published).closes == test.closes


def test_a_time_that_is_filled_in_counts_without_its_tick(kept, ada):
    where = put_test(ada).headers["location"]
    ada.fill(f"{where}/time", {**SAME, "closes": "2040-09-01T08:00"})
    assert one(kept, Published).closes.isoformat() == "2040-09-01T08:00:00"


def test_a_limit_that_a_program_has_set_may_stay(kept, ada):
    where = put_test(ada).headers["location"]
    with kept.work() as work:
        work.query(Published).one().minutes = 7.5
    assert 'value="7.5"' in ada.get(where).text
    assert ada.fill(f"{where}/time", {**SAME, "minutes": "7.5", "closing": "never"}).status_code == 303
    assert one(kept, Published).minutes == 7.5


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("minutes", "0", "Please enter a whole number from 1 to 1440."),
        ("minutes", "soon", "Please enter a whole number from 1 to 1440."),
        ("closing", "later", "Please choose one of these."),
        ("closing", "at", "Please enter a date and a time, such as 2026-09-01 08:00."),
        ("closes", "tomorrow", "Please enter a date and a time, such as 2026-09-01 08:00."),
        ("closes", "2001-01-01T08:00", "This time is over; please choose a later one."),
        ("closes", "2039-01-01T08:00", "Please choose a time after it opens."),
    ],
)
def test_a_time_that_cannot_be_comes_back_with_what_is_wrong(kept, ada, field, value, words):
    where = put_test(ada, minutes="10", opens="2040-01-01T08:00").headers["location"]
    page = ada.fill(f"{where}/time", {"minutes": "17", "closing": "same", "closes": "", field: value})
    text = unescape(page.text)
    assert page.status_code == 400
    assert words in text
    assert "Nothing was changed." in text
    assert field == "closing" or f'value="{value}"' in text
    assert field == "minutes" or 'value="17"' in text
    assert (one(kept, Published).minutes, one(kept, Published).closes) == (10, None)


def test_one_of_the_two_ways_to_close_is_chosen(kept, ada):
    where = put_test(ada).headers["location"]
    page = ada.fill(f"{where}/time", {"minutes": "", "closing": "never", "closes": "2040-09-01T08:00"})
    assert "Please choose one of the two: a moment, or none." in page.text
    assert one(kept, Published).closes is None


def test_extra_time_for_a_pupil_before_and_during(kept, ada):
    where = put_test(ada, minutes="10", by_list="yes").headers["location"]
    number = pupil(kept)
    whom = f"/teacher/classes/{one(kept, Pupil).class_id}/pupils/{number}"
    form = f"{whom}/time"
    assert f'href="{whom}"' in ada.get(where).text
    assert f'action="{form}"' in ada.get(whom).text
    assert ada.fill(form, {"extra": "7,5", "factor": "1.0"}).headers["location"] == whom
    assert "+7.5 min" in ada.get(where).text
    with kept.work() as work:
        begun = class_lists.pupils_of(work, work.query(Published).one())[0]
        enter(work, begun.code)
    (running,) = attempts(kept)
    assert running.due == running.started + timedelta(minutes=17.5)
    ada.fill(form, {"extra": "20"})
    assert attempts(kept)[0].due == running.started + timedelta(minutes=30)
    ada.fill(form, {"extra": "", "factor": "1.5"})
    assert (one(kept, Pupil).extra, one(kept, Pupil).factor) == (0, 1.5)
    assert attempts(kept)[0].due == running.started + timedelta(minutes=15)
    assert "time × 1.5" in ada.get(where).text
    page = ada.fill(form, {"extra": "much", "factor": "9"})
    assert page.status_code == 400
    assert "Please enter a number of minutes from 0 to 1440." in page.text
    assert "Please choose one of these." in page.text, "all that is wrong is said at once"
    assert 'value="much"' in page.text


@pytest.mark.parametrize("extra", ["-1", "1441", "nan", "inf", "much", "9" * 400])
def test_extra_time_that_cannot_be(kept, ada, extra):
    where = put_test(ada, minutes="10").headers["location"]
    number = take(kept, entries=("50",))
    page = ada.fill(f"{where}/takers/{number}/time", {"extra": extra})
    assert page.status_code == 400
    assert "Please enter a number of minutes from 0 to 1440." in page.text
    assert f'value="{extra}"' in page.text
    assert attempts(kept)[0].extra == 0


def test_who_was_stopped_by_the_clock_goes_on_with_extra_time(kept, ada):
    where = put_test(ada, minutes="10").headers["location"]
    number = take(kept, entries=("50",))
    with kept.work() as work:
        late = work.get(Attempt, number)
        late.started -= timedelta(minutes=12)
        late.ended, late.reason, late.due = clock.now(), "The time is up.", clock.now()
    path = f"{where}/takers/{number}"
    assert f'href="{path}/time"' in ada.get(path).text
    assert ada.fill(f"{path}/time", {"extra": "5"}).headers["location"] == path
    assert attempts(kept)[0].ended is None
    assert "Extra time: 5 min" in ada.get(path).text


def test_extra_time_without_any_limit_says_that_it_changes_nothing(kept, ada):
    where = put_test(ada).headers["location"]
    number = take(kept)
    assert "neither a time limit nor a time when it closes" in ada.get(f"{where}/takers/{number}/time").text


def test_another_try_and_back(kept, ada):
    where = put_test(ada, by_list="yes").headers["location"]
    pupil(kept)
    with kept.work() as work:
        code = work.query(Pupil).one().code
        first = enter(work, code)
        answer(work, first, 1, "50")
        number, key = first.id, first.key
    path = f"{where}/takers/{number}"
    asked = ada.get(f"{path}/again").text
    assert "Another try for Eve?" in asked
    assert "This try, with 1 answer, is set aside: it does not count any more." in asked
    assert "It is under way and ends now" in asked
    assert "The pupil begins anew with the same code." in asked
    assert ada.fill(f"{path}/again").headers["location"] == path
    assert "This try was set aside" in ada.get(path).text
    assert "set aside" in ada.get(f"{where}/results").text
    child = type(ada)(ada.app, base_url="http://localhost", cookies={"taker": key})
    assert "Your teacher has set this try aside; you can begin again with your code." in child.get(f"/take/{number}/result").text
    assert ada.fill(f"{path}/count").headers["location"] == path
    assert attempts(kept)[0].ended is None
    assert child.get(f"/take/{number}", follow_redirects=False).status_code == 200
    ada.fill(f"{path}/again")
    ada.fill(f"{path}/again")  # a double click
    with kept.work() as work:
        assert enter(work, code).id != number
    page = ada.fill(f"{path}/count")
    assert page.status_code == 400
    assert "Eve has begun another try since: set that one aside first" in page.text
    assert attempts(kept)[0].set_aside is not None


def test_another_try_needs_a_test_that_is_open(kept, ada):
    where = put_test(ada).headers["location"]
    number = take(kept)
    ada.fill(f"{where}/close")
    page = ada.get(f"{where}/takers/{number}/again").text
    assert "The test is closed: open it again first, or nobody can begin." in page
    assert "The taker begins anew with the code of the test and a name." in page


def test_an_attempt_whose_name_was_erased_does_not_go_on(kept, ada):
    put_test(ada, minutes="10", keep_days="1")
    number = take(kept, entries=("50",))
    with kept.work() as work:
        old = work.get(Attempt, number)
        old.ended, old.reason = clock.now(), "The time is up."
        test = work.query(Published).one()
        assert erase_names(work, test.id, clock.now() + timedelta(days=2)) == 1
    with kept.work() as work:
        timing.change_time(work, work.query(Published).one(), None, None)
    assert attempts(kept)[0].ended is not None
    assert re.match("-", attempts(kept)[0].code)
