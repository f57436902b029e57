"""The store: teachers, banks, published tests and attempts, on SQLite and on PostgreSQL."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.store import clock, publishing, teachers
from quaestor.store.attempts import entry, invitations, session_cache, state, taking
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Event, Login
from quaestor.store.secrets import tidy

RULES = qs.Rules(score="order", stop=qs.max_questions(3))


@pytest.fixture
def test_code(database):
    return published(database)


def published(database, **conditions):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, qs.load("fractions"))
        return publishing.publish(work, teacher, kept, RULES, publishing.Conditions(**conditions)).code


def begin(database, code, name="Ada"):
    with database.work() as work:
        return taking.enter(work, code, name).key


def stands(database, key):
    with database.work() as work:
        return taking.state_of(work, taking.by_key(work, key))


def put(database, key, step, entry):
    with database.work() as work:
        return taking.answer(work, taking.by_key(work, key), step, entry)


def right(question):
    return question.correct[0]


def test_a_test_from_the_first_question_to_the_last(database, test_code):
    key = begin(database, f" {test_code[:3].lower()}-{test_code[3:].lower()} ")
    for step in range(1, 4):
        now = stands(database, key)
        assert (now.step, now.over) == (step, "")
        put(database, key, step, right(now.session.next))
    done = stands(database, key)
    assert done.over == "3 questions were asked; the limit is 3."
    assert list(done.session.answers.values()) == ["right"] * 3
    with pytest.raises(taking.EntryError, match="the test is over: 3 questions were asked"):
        put(database, key, 4, "1")


def test_the_state_is_rebuilt_from_the_log(database, test_code):
    key = begin(database, test_code)
    put(database, key, 1, right(stands(database, key).session.next))
    before = stands(database, key)
    session_cache.forget_all()
    after = stands(database, key)
    assert after.session == before.session
    assert after.session.next == before.session.next


def test_a_step_is_answered_once(database, test_code):
    key = begin(database, test_code)
    question = stands(database, key).session.next
    put(database, key, 1, right(question))
    with pytest.raises(taking.StaleError, match="the test stands at step 2"):
        put(database, key, 1, right(question))
    with database.work() as work:
        assert work.scalar(select(func.count()).select_from(Event)) == 1


def test_two_processes_answer_the_same_step(database, test_code):
    """The other one has not seen the first answer: its memory is behind, and the database says so."""
    key = begin(database, test_code)
    question = stands(database, key).session.next
    with database.work() as work:
        attempt = taking.by_key(work, key)
        behind = taking.state_of(work, attempt).session
    put(database, key, 1, right(question))
    session_cache.remember(attempt, behind, attempt.started)
    with pytest.raises(taking.StaleError) as error:
        put(database, key, 1, right(question))
    assert error.value.step == 2
    assert stands(database, key).step == 2


def test_bad_entries_change_nothing(database, test_code):
    key = begin(database, test_code)
    with pytest.raises(qs.AnswerError, match="the entry is empty"):
        put(database, key, 1, " ")
    assert stands(database, key).step == 1


def test_a_skip_is_a_line_without_an_answer(database, test_code):
    key = begin(database, test_code)
    with database.work() as work:
        after = taking.skip(work, taking.by_key(work, key), 1)
    assert after.step == 2
    assert after.session.log[0].answer is None


def test_going_on_with_the_personal_code(database, test_code):
    key = begin(database, test_code)
    with database.work() as work:
        own = taking.by_key(work, key).code
    assert begin(database, own, "") == key


def test_pupils_have_codes_and_one_attempt(database):
    code = published(database, by_list=True)
    with database.work() as work:
        teacher = teachers.owner(work, "")
        test = publishing.published_by(work, teacher)[0]
        made = class_lists.add_pupils(work, test, ["Ada", " Bob  B ", ""])
        assert [pupil.name for pupil in class_lists.pupils_of(work, test)] == ["Ada", "Bob B"]
        own = made[1].code
    with pytest.raises(taking.EntryError, match="pupils of a class list"):
        begin(database, code)
    key = begin(database, own, "somebody else")
    with database.work() as work:
        assert taking.by_key(work, key).name == "Bob B"
    assert begin(database, own) == key


def test_time_limits_and_opening_times(database, monkeypatch):
    start = clock.now()
    code = published(database, minutes=10, opens=start - timedelta(hours=1), closes=start + timedelta(hours=1))
    key = begin(database, code)
    assert 590 < stands(database, key).left <= 600
    for module in (taking, state, entry):
        monkeypatch.setattr(module, "now", lambda: start + timedelta(minutes=11))
    assert stands(database, key).over == "The time is up."
    with pytest.raises(taking.EntryError, match="the test is over: The time is up"):
        put(database, key, 1, "1")
    monkeypatch.setattr(invitations, "now", lambda: start + timedelta(hours=2))
    with pytest.raises(taking.EntryError, match="this test is closed"):
        begin(database, code)


def test_unknown_codes_and_empty_names(database, test_code):
    with pytest.raises(taking.EntryError, match="opens no test"):
        begin(database, "NOSUCH")
    with pytest.raises(taking.EntryError, match="please enter a name"):
        begin(database, test_code, "  ")
    assert tidy("ab-2 3") == "AB23"


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({"mode": "game"}, "mode: one of exam, practice, got 'game'"),
        ({"retakes": "some"}, "retakes: one of none, any, best, got 'some'"),
        ({"minutes": 0}, "minutes: above 0 and at most a day, got 0"),
        ({"keep_days": 0}, "keep_days: at least 1, got 0"),
    ],
)
def test_bad_conditions(conditions, words):
    with pytest.raises(QuaestorError) as error:
        publishing.Conditions(**conditions)
    assert str(error.value) == words


def test_banks_that_cannot_be_shown_are_not_published(database):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, qs.load("four-skills"))
        with pytest.raises(QuaestorError, match="a test in the browser has questions with a text and a way to answer, got Q1 without"):
            publishing.publish(work, teacher, kept, RULES, publishing.Conditions())


def test_teachers_see_only_their_own(database, test_code):
    with database.work() as work:
        owner = teachers.owner(work, "")
        other = teachers.use_link(work, teachers.invitation(work, owner, "Other@School.example"))
        assert (other.email, other.is_owner) == ("other@school.example", False)
        test = publishing.published_by(work, owner)[0]
        assert publishing.published_by(work, other) == []
        with pytest.raises(publishing.MissingError, match="there is no such test"):
            publishing.published(work, other, test.id)
        with pytest.raises(publishing.MissingError, match="there is no such bank"):
            publishing.bank_of(work, other, test.bank_id)
        with pytest.raises(teachers.AccessError, match="only the owner"):
            teachers.invitation(work, other, "x@y.example")


def test_links_work_once_and_not_for_ever(database, monkeypatch):
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        link, late = teachers.sign_in_link(work, owner), teachers.sign_in_link(work, owner)
        assert teachers.use_link(work, link) == owner
        for secret in (link, "nonsense"):
            with pytest.raises(teachers.AccessError, match="used already or is too old"):
                teachers.use_link(work, secret)
        monkeypatch.setattr(teachers, "now", lambda: clock.now() + timedelta(days=3))
        with pytest.raises(teachers.AccessError, match="too old"):
            teachers.use_link(work, late)


def test_an_address_is_one_however_it_is_written(database):
    with database.work() as work:
        owner = teachers.owner(work, " Owner@School.example")
        teachers.set_password(work, owner, teachers.new_password("four plain words here"))
        assert owner.email == "owner@school.example"
        for written in ("OWNER@school.example ", "owner@\u200bschool.example"):
            assert teachers.by_email(work, written) is owner
            assert teachers.by_password(work, written, "four plain words here") is owner
        link = teachers.invitation(work, owner, "Ada@\u200bSchool.example")
        assert teachers.use_link(work, link).email == "ada@school.example"


@pytest.mark.parametrize("email", ["", "@", "ada", "ada@", "@school.example", "ada b@school.example", f"{'a' * 250}@b.example"])
def test_what_is_no_address(database, email):
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        with pytest.raises(QuaestorError, match=r"email: an address such as name@school\.example, got '"):
            teachers.invitation(work, owner, email)


def test_passwords_logins_and_tokens(database, monkeypatch):
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        with pytest.raises(QuaestorError, match="at least 10 characters, got 5"):
            teachers.new_password("short")
        teachers.set_password(work, owner, teachers.new_password("a long enough one"))
        assert teachers.by_password(work, " Owner@school.example", "a long enough one") == owner
        for email, password in (("owner@school.example", "wrong password"), ("nobody@school.example", "a long enough one")):
            with pytest.raises(teachers.AccessError, match="the address or the password is wrong"):
                teachers.by_password(work, email, password)
        cookie = teachers.log_in(work, owner)
        assert teachers.logged_in(work, cookie) == owner
        assert teachers.logged_in(work, None) is teachers.logged_in(work, "other") is None
        assert cookie not in {login.token for login in work.scalars(select(Login))}
        teachers.log_out(work, cookie)
        assert teachers.logged_in(work, cookie) is None
        secret = teachers.api_token(work, owner, "platform", ["sessions"])
        assert teachers.by_token(work, secret, "sessions").teacher == owner
        with pytest.raises(teachers.AccessError, match="lacks the scope 'banks'"):
            teachers.by_token(work, secret, "banks")
        with pytest.raises(teachers.AccessError, match="not known"):
            teachers.by_token(work, "x", "sessions")
        with pytest.raises(QuaestorError, match="scopes: one or more of sessions, banks, tests, results, got all"):
            teachers.api_token(work, owner, "x", ["all"])


def test_an_attempt_keeps_nothing_but_its_log_and_its_times():
    assert set(Attempt.__table__.columns.keys()) == {
        *("id", "key", "code", "test_id", "pupil_id", "name", "seed", "started", "ended", "reason", "extra", "due", "set_aside"),
        *("factor", "start"),
    }
