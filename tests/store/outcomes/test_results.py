"""Results: what each attempt came to, which one counts, and sheets that no name turns into a formula."""

import csv
from dataclasses import replace
from datetime import datetime, timedelta
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook
from sqlalchemy import select

import quaestor as qs
from quaestor.formats.files import load_bytes
from quaestor.store import clock, publishing, teachers, timing
from quaestor.store.attempts import entry, taking
from quaestor.store.attempts import state as attempt_state
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Published
from quaestor.store.outcomes import rescoring, results
from quaestor.store.outcomes.outcome import Finding, Outcome

RULES = qs.Rules(score="order", stop=qs.max_questions(3))
START = datetime(2026, 5, 4, 9, 0, 0)
HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "=cmd|' /C calc'!A0", "<script>", 'Ada; "Bob", Ü', "#N/A"]


def publish(database, bank="fractions", **conditions):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, qs.load(bank))
        return publishing.publish(work, teacher, kept, RULES, publishing.Conditions(**conditions))


def take(database, code, name, right=3, questions=3):
    with database.work() as work:
        attempt = taking.enter(work, code, name)
        for step in range(1, questions + 1):
            question = taking.state_of(work, attempt).session.next
            if step > right + 1:
                taking.skip(work, attempt, step)
            else:
                taking.answer(work, attempt, step, question.correct[0] if step <= right else wrong(question))
        return attempt.id


def wrong(question):
    return next((option for option in question.options if option not in question.correct), "12345")


def found(database, test, **options):
    with database.read() as work:
        return results.outcomes(work, work.get(Published, test.id), **options)


def test_what_each_attempt_came_to(database):
    test = publish(database)
    take(database, test.code, "Ada")
    take(database, test.code, "Bob", right=1)
    take(database, test.code, "Eve", right=1, questions=1)
    take(database, test.code, "Kim", questions=0)
    ada, bob, eve, kim = found(database, test)
    assert [(one.name, one.state, one.questions, one.right) for one in (ada, bob, eve, kim)] == [
        ("Ada", "over", 3, 3),
        ("Bob", "over", 3, 1),
        ("Eve", "running", 1, 1),
        ("Kim", "running", 0, 0),
    ]
    assert (ada.reason, eve.reason) == ("3 questions were asked; the limit is 3.", "")
    assert ada.ended is not None
    assert eve.ended is kim.ended is None
    assert ada.hint is eve.hint is None
    rescoring.score_all(database, test.id, lambda share: True)
    ada, bob, eve, kim = found(database, test)
    assert isinstance(ada.hint, bool)
    assert eve.hint is None
    assert ada.expected > bob.expected
    with database.read() as work:
        session = taking.state_of(work, work.get(taking.Attempt, ada.attempt_id)).session
    explained = qs.explain(session)
    for skill, finding in ada.skills.items():
        bounds = session.beliefs[skill]
        assert finding.level == qs.explain(session).results[skill].level
        assert finding.answers == sum(skill in session.bank.questions[line.question].skills for line in session.log)
        assert finding.sure == (skill not in explained.open and finding.enough)
        assert (finding.lows, finding.highs) == (tuple(bounds.lower), tuple(bounds.upper))
        assert finding.lower == bounds.lower[bounds.states.index(finding.level)]
    assert ada.expected == pytest.approx(sum(np.arange(len(bounds.states)) @ bounds.centre for bounds in session.beliefs.values()))
    assert ada.hint == bool(explained.hint)


def test_memory_never_shows_an_old_state(database):
    test = publish(database)
    with database.work() as work:
        key = taking.enter(work, test.code, "Ada").key
    for step in range(1, 4):
        assert found(database, test)[0].questions == step - 1
        with database.work() as work:
            attempt = taking.by_key(work, key)
            taking.answer(work, attempt, step, taking.state_of(work, attempt).session.next.correct[0])
    assert found(database, test)[0].state == "over"


def test_time_that_is_up_ends_an_attempt_that_nobody_ended(database, monkeypatch):
    test = publish(database, minutes=10)
    take(database, test.code, "Ada", questions=1)
    later = clock.now() + timedelta(hours=3)
    for module in (results, attempt_state, entry, rescoring):
        monkeypatch.setattr(module, "now", lambda: later)
    (ada,) = found(database, test)
    assert (ada.state, ada.reason, ada.minutes) == ("over", "The time is up.", 10)
    assert rescoring.score_all(database, test.id, lambda share: True) == {"scored": 1, "left": 0}
    with database.read() as work:
        ended = work.get(taking.Attempt, ada.attempt_id)
        assert (ended.ended, ended.reason) == (ada.ended, "The time is up.")
        assert not rescoring.waiting(work, work.get(Published, test.id))


def test_a_pupil_is_shown_with_their_own_code(database):
    test = publish(database, by_list=True)
    with database.work() as work:
        (pupil,) = class_lists.add_pupils(work, test, ["Ada"])
    take(database, pupil.code, "")
    (ada,) = found(database, test)
    assert (ada.code, ada.pupil_id, ada.name) == (pupil.code, pupil.id, "Ada")


def outcome(attempt, pupil=None, state="over", expected=1.0, name="Ada"):
    skills = {"s": Finding("yes", ("no", "yes"), (0.1, 0.9), (0.1, 0.9), 3, 2, 0.8)}
    ended = START + timedelta(minutes=12.25) if state == "over" else None
    return Outcome(
        attempt,
        pupil,
        name,
        "ABCD",
        state,
        START,
        ended,
        12.25,
        3,
        2,
        "",
        skills,
        None if ended is None else False,
        expected=expected,
        counted=3,
    )


@pytest.mark.parametrize(("retakes", "counts"), [("none", 0), ("any", 2), ("best", 1)])
def test_which_attempt_counts(database, retakes, counts):
    test = publish(database, retakes="any")
    with database.work() as work:
        code = class_lists.add_pupils(work, work.get(Published, test.id), ["Ada"])[0].code
    numbers = [take(database, code, "", right=right) for right in (1, 3, 2)]
    numbers.append(take(database, code, "", questions=1))
    others = [take(database, test.code, "Bob"), take(database, test.code, "Eve", questions=1)]
    with database.work() as work:
        work.get(Published, test.id).retakes = retakes
    assert [one.attempt_id for one in found(database, test, every=False)] == [numbers[counts], *others]
    with database.work() as work:
        timing.set_aside(work, work.get(Attempt, numbers[counts]))
    assert numbers[counts] not in [one.attempt_id for one in found(database, test, every=False)]


def test_of_equally_good_attempts_the_first_counts(database):
    test = publish(database, retakes="best")
    with database.work() as work:
        code = class_lists.add_pupils(work, work.get(Published, test.id), ["Ada"])[0].code
    first, _ = take(database, code, ""), take(database, code, "")
    assert [one.attempt_id for one in found(database, test, every=False)] == [first]


def test_of_attempts_that_run_one_counts(database):
    test = publish(database, by_list=True)
    with database.work() as work:
        code = class_lists.add_pupils(work, work.get(Published, test.id), ["Ada"])[0].code
    assert [one.attempt_id for one in found(database, test, every=False)] == []
    running = take(database, code, "", questions=1)
    assert [one.attempt_id for one in found(database, test, every=False)] == [running]


def test_the_table_and_its_dictionary(database):
    test = publish(database)
    take(database, test.code, "Ada")
    take(database, test.code, "Bob", questions=1)
    bank = qs.load("fractions")
    table, dictionary = results.table(found(database, test), bank), results.dictionary(bank)
    assert list(table.columns) == list(dictionary["column"])
    assert list(table.columns[:7]) == ["name", "code", "started", "ended", "minutes", "questions", "counted"]
    assert list(table.columns[7:13]) == ["right", "points", "grade", "state", "reason", "counts"]
    skill = next(iter(bank.skills))
    assert [f"{skill} {what}" for what in ("answers", "level", "lower", "upper", "sure")] == list(table.columns[14:19])
    assert set(table[f"{skill} level"].dropna()) <= set(bank.skills[skill].levels)
    assert results.table([], bank).empty


def one_skill():
    return load_bytes(b"quaestor: 1\nskills: {s: {prior: [0.5, 0.5]}}\nquestions: {Q1: {skill: s, right: [0.2, 0.8]}}", ".yaml")


def test_csv_has_no_formulas():
    table = results.table([replace(outcome(n), name=name) for n, name in enumerate(HOSTILE)], one_skill())
    written = results.csv_bytes(table.rename(columns={"s level": "=s level"}))
    assert written.startswith(b"\xef\xbb\xbfname,code,started")
    rows = list(csv.reader(StringIO(written.decode("utf-8-sig"))))
    assert "'=s level" in rows[0]
    assert [row[0] for row in rows[1:]] == [f"'{name}" if name.strip()[0] in "=+-@" else name for name in HOSTILE]
    assert rows[1][2:5] == ["2026-05-04 09:00:00", "2026-05-04 09:12:15", "12.2"]
    running = results.csv_bytes(results.table([outcome(1, state="running")], one_skill())).decode()
    assert "2026-05-04 09:00:00,,12.2,3,3,2,0.0,,running" in running


def test_xlsx_has_no_formulas():
    bank = one_skill()
    frame = results.table(
        [*(replace(outcome(n), name=name) for n, name in enumerate(HOSTILE)), outcome(99, state="running", name="a\0b")], bank
    )
    book = load_workbook(BytesIO(results.xlsx_bytes(frame.rename(columns={"s level": "=s level"}), results.dictionary(bank))))
    assert book.sheetnames == ["results", "dictionary"]
    for sheet in book:
        assert {cell.data_type for row in sheet for cell in row} <= {"s", "inlineStr", "n", "d"}
    rows = list(book["results"].values)
    assert [row[0] for row in rows[1:]] == [*HOSTILE, "ab"]
    assert rows[1][2] == START
    assert rows[-1][3] is None
    assert "=s level" in rows[0]
    assert pd.DataFrame(book["dictionary"].values).shape == (len(frame.columns) + 1, 3)


def test_no_outcomes_of_another_test(database):
    first, second = publish(database), publish(database)
    take(database, first.code, "Ada")
    assert found(database, second) == []
    with database.read() as work:
        assert len(work.scalars(select(Published)).all()) == 2


def test_an_outcome_tells_whether_it_counts(database):
    test = publish(database, by_list=True, retakes="any")
    with database.work() as work:
        code = class_lists.add_pupils(work, work.get(Published, test.id), ["Ada"])[0].code
    take(database, code, "")
    take(database, code, "")
    rows = found(database, test)
    assert [one.counts for one in rows] == [False, True]
    assert list(results.table(rows, qs.load("fractions"))["counts"]) == ["no", "yes"]
