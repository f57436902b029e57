"""Attempts in the hands of people who click twice, come back late, share codes and pull the plug."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from databases import KINDS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event, func, select

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.formats import load_bytes
from quaestor.store import attempts, clock, codes, entry, privacy, publishing, sessions, sittings, teachers
from quaestor.store.database import Database
from quaestor.store.memory import Memory
from quaestor.store.models import Attempt, Event, Published, Pupil

RULES = qs.Rules(score="order", stop=qs.max_questions(8))
STRICT = b"""
quaestor: 1
skills: {s: {prior: [0.5, 0.5]}}
questions:
  Q1: {text: One?, options: [a, b], correct: a, skill: s, right: [0, 1]}
  Q2: {text: Two?, options: [a, b], correct: a, skill: s, right: [0, 1]}
"""
TYPED = b"""
quaestor: 1
skills: {s: {prior: [0.5, 0.5]}}
questions: {Q1: {text: Who?, kind: text, accept: [Ada], skill: s, right: [0.2, 0.8]}}
"""


def publish(database, bank=None, rules=RULES, **conditions):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, bank or qs.load("german"))
        return publishing.publish(work, teacher, kept, rules, publishing.Conditions(**conditions))


def pupil_of(database, test, name="Ada"):
    with database.work() as work:
        return publishing.add_pupils(work, test, [name])[0].code


def begin(database, code, name="Ada", form=""):
    with database.work() as work:
        return attempts.enter(work, code, name, form).key


def stands(database, key):
    with database.read() as work:
        return attempts.sitting(work, attempts.by_key(work, key))


def put(database, key, step, value=None):
    with database.work() as work:
        attempt = attempts.by_key(work, key)
        question = attempts.sitting(work, attempt).session.next
        return attempts.answer(work, attempt, step, entry_of(question) if value is None and question is not None else value or "1")


def entry_of(question):
    return question.options[0] if question.options else "1"


def finish(database, key):
    while not (now := stands(database, key)).over:
        put(database, key, now.step)


def count(database, table=Attempt):
    with database.read() as work:
        return work.scalar(select(func.count()).select_from(table))


def url(database):
    return database.engine.url.render_as_string(hide_password=False)


def later(monkeypatch, **passed):
    moment = clock.now() + timedelta(**passed)
    for module in (attempts, sittings, entry):
        monkeypatch.setattr(module, "now", lambda: moment)


# Entering


def test_two_posts_of_a_pupils_code_at_once_begin_one_attempt(database):
    test = publish(database, by_list=True)
    code = pupil_of(database, test)
    others = [Database(url(database)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        keys = set(pool.map(lambda other: begin(other, code), others))
    for other in others:
        other.close()
    assert len(keys) == 1
    assert count(database) == 1


def test_a_form_sent_twice_begins_one_attempt(database):
    test = publish(database)
    others = [Database(url(database)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        keys = set(pool.map(lambda other: begin(other, test.code, "Ada", "a form"), others))
    for other in others:
        other.close()
    assert len(keys) == 1
    assert begin(database, test.code, "Bob", "a form") not in keys
    assert begin(database, test.code, "Ada", "another form") not in keys
    assert begin(database, test.code, "Ada") not in keys


@pytest.mark.parametrize("retakes", ["none", "any", "best"])
def test_retakes_begin_when_the_earlier_attempt_is_over(database, retakes):
    code = pupil_of(database, publish(database, by_list=True, retakes=retakes))
    first = begin(database, code)
    put(database, first, 1)
    assert begin(database, code) == first
    finish(database, first)
    assert (begin(database, code) == first) == (retakes == "none")
    assert count(database) == (1 if retakes == "none" else 2)


def test_a_retake_also_when_the_time_ran_out_unseen(database, monkeypatch):
    code = pupil_of(database, publish(database, by_list=True, retakes="any", minutes=10))
    first = begin(database, code)
    later(monkeypatch, hours=5)
    second = begin(database, code)
    assert second != first
    with database.read() as work:
        earlier = attempts.by_key(work, first)
        assert (earlier.reason, earlier.ended - earlier.started) == ("The time is up.", timedelta(minutes=10))


def test_after_closing_people_come_back_but_do_not_begin(database, monkeypatch):
    test = publish(database, by_list=True, retakes="any", closes=clock.now() + timedelta(hours=1))
    code, late = pupil_of(database, test), pupil_of(database, test, "Bob")
    key = begin(database, code)
    later(monkeypatch, hours=2)
    assert begin(database, code) == key
    assert stands(database, key).over == "The test is closed."
    with pytest.raises(attempts.OverError, match=r"the test is over: The test is closed\."):
        put(database, key, 1, "1")
    with pytest.raises(attempts.EntryError, match="this test is closed"):
        begin(database, late)


def test_before_the_opening(database):
    test = publish(database, opens=clock.now().replace(year=2099, month=1, day=2, hour=3, minute=4))
    with pytest.raises(attempts.EntryError, match="this test opens on 02 January 2099 at 03:04 UTC"):
        begin(database, test.code)


def test_no_code_opens_two_things(database, monkeypatch):
    test = publish(database)
    drawn = iter([test.code, "AAAAAAAA", test.code, "AAAAAAAA", "BBBBBBBB", "BBBBBBBB", "CCCCCCCC"])
    monkeypatch.setattr(codes, "code", lambda length: next(drawn))
    with database.work() as work:
        assert publishing.add_pupils(work, work.get(Published, test.id), ["Ada"])[0].code == "AAAAAAAA"
        assert [pupil.code for pupil in publishing.add_pupils(work, work.get(Published, test.id), ["Bob", "Eve"])] == [
            "BBBBBBBB",
            "CCCCCCCC",
        ]


def test_when_no_code_is_free(database, monkeypatch):
    test = publish(database)
    monkeypatch.setattr(codes, "code", lambda length: test.code)
    with pytest.raises(QuaestorError, match="no free code of 8 letters was found"):
        begin(database, test.code)


def test_names_and_codes_of_hostile_people(database):
    test = publish(database)
    for name, kept in (("\0Ada\x1b[31m", "Ada[31m"), ("a" * 300, "a" * 200), ("A\ud800da", "A?da"), ("  Ada \n B ", "Ada B")):
        key = begin(database, test.code, name)
        with database.read() as work:
            assert attempts.by_key(work, key).name == kept
    for code in ("", "\0", "' or 1=1 --", "x" * 10_000, "\ud800", "٣٣٣"):
        with pytest.raises(attempts.UnknownCodeError, match="this code opens no test; please check it"):
            begin(database, code)
    with database.read() as work:
        for key in ("", "\0", "\ud800", "x" * 10_000, "ä"):
            assert attempts.by_key(work, key) is None


# Answering


def test_an_answer_that_the_bank_rules_out_leaves_the_attempt_usable(database):
    test = publish(database, load_bytes(STRICT, ".yaml"), qs.Rules(score="order", stop=qs.max_questions(2)))
    key = begin(database, test.code)
    put(database, key, 1, "a")
    with pytest.raises(attempts.ConflictError) as error:
        put(database, key, 2, "b")
    assert str(error.value) == (
        "Q2: this answer was not taken, as the test rules it out after the answers before; nothing is lost: give another answer or skip"
        " the question, and tell your teacher"
    )
    assert "right" in str(error.value.__cause__)
    assert stands(database, key).step == 2
    assert put(database, key, 2, "a").over


@pytest.mark.parametrize(
    ("value", "words"), [("", "the entry is empty"), ("x" * 10_001, "at most 10000 letters, got 10001"), ("no option", "is expected")]
)
def test_bad_entries_write_nothing(database, value, words):
    key = begin(database, publish(database).code)
    with pytest.raises(qs.AnswerError, match=words), database.work() as work:
        attempts.answer(work, attempts.by_key(work, key), 1, value)
    assert count(database, Event) == 0
    assert stands(database, key).step == 1


def test_entries_with_letters_that_no_database_takes(database):
    bank = load_bytes(TYPED, ".yaml")
    key = begin(database, publish(database, bank, qs.Rules(stop=qs.max_questions(1))).code)
    after = put(database, key, 1, "\0Ada\ud800")
    assert after.session.log[0].entry == "Ada?"
    sessions.forget_all()
    assert stands(database, key).session == after.session


def test_steps_that_are_none(database):
    key = begin(database, publish(database).code)
    for step in (0, -1, 2, 10**9):
        with pytest.raises(attempts.StaleError, match="the test stands at step 1"):
            put(database, key, step)


def test_seconds_run_since_the_question_was_put_also_after_a_restart(database, monkeypatch):
    key = begin(database, publish(database).code)
    start = stands(database, key).attempt.started
    for passed in (10, 25, 20):  # the last one: the clock was set back
        sessions.forget_all()
        moment = start + timedelta(seconds=passed)
        monkeypatch.setattr(attempts, "now", lambda moment=moment: moment)
        put(database, key, stands(database, key).step)
    with database.read() as work:
        assert work.scalars(select(Event.seconds).order_by(Event.step)).all() == [10, 15, 0]
    assert stands(database, key).put == start + timedelta(seconds=25)


def test_the_clock_is_right_after_a_restart(database, monkeypatch):
    key = begin(database, publish(database, minutes=10).code)
    put(database, key, 1)
    sessions.forget_all()
    later(monkeypatch, minutes=4)
    assert 350 < stands(database, key).left < 361


def test_a_unit_of_work_that_is_undone_leaves_no_trace_in_memory(database):
    key = begin(database, publish(database).code)
    put(database, key, 1)

    def fail():
        with database.work() as work:
            attempt = attempts.by_key(work, key)
            for step in (2, 3):
                attempts.answer(work, attempt, step, entry_of(attempts.sitting(work, attempt).session.next))
            raise QuaestorError("the plug was pulled")

    with pytest.raises(QuaestorError, match="plug"):
        fail()
    assert stands(database, key).step == 2
    put(database, key, 2)
    assert count(database, Event) == 2


def test_how_many_statements_an_answer_takes(database):
    key = begin(database, publish(database).code)
    option = entry_of(stands(database, key).session.next)
    seen = []
    event.listen(database.engine, "before_cursor_execute", lambda *told: seen.append(told[2]))
    with database.work() as work:
        attempts.answer(work, attempts.by_key(work, key), 1, option)
    assert len([statement for statement in seen if not statement.startswith("BEGIN")]) == 3


def test_the_memory_forgets_what_was_not_used_for_longest():
    memory = Memory(10)
    for key in "abc":
        memory.put(key, key.upper(), 4)
    assert [memory.get(key) for key in "abc"] == [None, "B", "C"]
    memory.put("b", "B", 7)
    assert [memory.get(key) for key in "bc"] == ["B", None]
    memory.forget("b")
    memory.put("d", "D", 10)
    assert memory.get("d") == "D"


def test_what_is_remembered_does_not_grow_with_the_log(database):
    key = begin(database, publish(database).code)
    for step in range(1, 5):
        put(database, key, step)
    kept, _ = sessions._memory.get(key)
    assert "earlier" not in kept.__dict__
    assert "_free_choice" in kept.__dict__
    now = stands(database, key)
    qs.explain(now.session)
    assert "earlier" not in sessions._memory.get(key)[0].__dict__


def ready(database, key, step=1):
    with database.read() as work:
        attempt = attempts.by_key(work, key)
        return attempts.prepare(work, attempt, step, entry_of(attempts.sitting(work, attempt).session.next))


def write(database, made):
    with database.work() as work:
        return attempts.write(work, made)


def test_an_answer_prepared_while_reading_is_written_in_one_statement(database):
    key = begin(database, publish(database, rules=qs.Rules(score="order", stop=qs.max_questions(1))).code)
    made, seen = ready(database, key), []
    event.listen(database.engine, "before_cursor_execute", lambda *told: seen.append(told[2]))
    after = write(database, made)
    assert [statement.split()[0] for statement in seen if not statement.startswith("BEGIN")] == ["INSERT", "UPDATE"]
    assert after.attempt.reason == "1 question was asked; the limit is 1."
    with database.read() as work:
        there = attempts.by_key(work, key)
        assert (there.reason, there.ended) == (after.attempt.reason, after.attempt.ended)
    assert stands(database, key).session == after.session


def test_of_two_prepared_answers_one_is_written(database):
    key = begin(database, publish(database).code)
    first, second = ready(database, key), ready(database, key)
    write(database, first)
    with pytest.raises(attempts.StaleError, match="the test stands at step 2"):
        write(database, second)
    assert stands(database, key).session == first.session


def test_an_answer_to_an_attempt_that_was_deleted_meanwhile(database):
    key = begin(database, publish(database).code)
    made = ready(database, key)
    with database.work() as work:
        privacy.delete(work, attempts.by_key(work, key))
    with pytest.raises(attempts.OverError, match="the test is over: it was deleted"):
        write(database, made)
    assert count(database, Event) == 0


# Several processes


class Process:
    """A process: the same database, a memory of its own."""

    def __init__(self):
        self.memory = Memory(sessions.MOST)

    def __enter__(self):
        self.before, sessions._memory = sessions._memory, self.memory

    def __exit__(self, *_):
        sessions._memory = self.before


def act(database, key, deed):
    now = stands(database, key)
    if deed == "look" or now.over:
        return
    with database.work() as work:
        attempt = attempts.by_key(work, key)
        if deed == "late":
            with pytest.raises(attempts.StaleError):
                attempts.skip(work, attempt, now.step - 1)
        elif deed == "skip":
            attempts.skip(work, attempt, now.step)
        else:
            question = attempts.sitting(work, attempt).session.next
            attempts.answer(work, attempt, now.step, question.options[int(deed in ("second", "undone"))] if question.options else "1")
            if deed == "undone":
                work.rollback()


DEEDS = st.tuples(st.integers(0, 1), st.sampled_from(["look", "first", "second", "skip", "undone", "late"]))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(DEEDS, max_size=12))
def test_no_interleaving_of_two_processes_forks_a_log(make_database, kind, deeds):
    kept = make_database.__dict__.setdefault(kind, [])
    if not kept:
        kept.append(make_database(kind))
        kept.append(publish(kept[0]).code)
    database, code = kept
    key = begin(database, code)
    processes = [Process(), Process()]
    for which, deed in deeds:
        with processes[which]:
            act(database, key, deed)
    views = []
    for process in (*processes, Process()):
        with process:
            views.append(stands(database, key))
    assert views[0].session == views[1].session == views[2].session
    assert views[0].session.next == views[1].session.next == views[2].session.next
    with database.read() as work:
        steps = work.scalars(select(Event.step).where(Event.attempt_id == views[0].attempt.id).order_by(Event.step)).all()
    assert steps == list(range(1, len(views[0].session.log) + 1))


def _answer_all(told):
    where, key = told
    database, mine = Database(where), []
    while not (now := stands(database, key)).over:
        try:
            put(database, key, now.step, entry_of(now.session.next))
            mine.append(now.step)
        except attempts.StaleError:
            pass
        except attempts.OverError:
            break
    database.close()
    return mine


def test_of_two_processes_one_wins_each_step(database):
    key = begin(database, publish(database).code)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        confirmed = pool.map(_answer_all, [(url(database), key)] * 2, chunksize=1)
        pool.close()
        pool.join()
    assert sorted(step for steps in confirmed for step in steps) == list(range(1, 9))
    assert count(database, Event) == 8


def test_a_sitting_knows_its_options(database):
    now = stands(database, begin(database, publish(database).code))
    question = now.session.next
    assert now.options(question) == attempts.option_order(now.attempt, question)


def test_pupils_with_the_same_name_are_told_apart_by_their_codes(database):
    test = publish(database, by_list=True)
    with database.work() as work:
        made = publishing.add_pupils(work, work.get(Published, test.id), ["Ada", "Ada"])
        assert len({pupil.code for pupil in made}) == 2
    assert count(database, Pupil) == 2
