"""Results of a test without a server in the test on a server: attempts of their pupils, each once, and words about all that is refused."""

import pytest
from sqlalchemy import select

import quaestor as qs
from quaestor.cli import main
from quaestor.store import corrections, publishing, teachers
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Event, Published, Scoring
from quaestor.store.outcomes import verify
from quaestor.web.offline.collecting import checked, collect, summary
from quaestor.web.offline.file import html_of, identity
from quaestor.web.offline.handed_in import check_sum
from quaestor.web.operations.installation import make_database
from quaestor.web.settings import Settings

BANK = qs.load("multiplication")
RULES = qs.Rules(score="order", stop=qs.max_questions(2))


def code(name, answers="0=1,1=0", when="20260901T0800", bank=BANK, rules=RULES):
    told = f"{when} {answers} {name}"
    return f"QUAESTOR1 {identity(bank, rules)} {check_sum(bank, rules, told)} {told}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, make_database):
    return make_database(request.param)


@pytest.fixture
def test(database):
    """A practice test with a class list, on which one name stands twice."""
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, BANK)
        made = publishing.publish(work, teacher, kept, RULES, publishing.Conditions(mode="practice", retakes="none"))
        of_class = class_lists.make_class(work, teacher, "5a")
        class_lists.add_names(work, of_class, ["Ada Lovelace", "Bo"])
        made.class_id = of_class.id
        return made.id


def read_into(database, test, *codes, saved=None):
    results = [(f"line {number}", one, saved or {}) for number, one in enumerate(codes, 1)]
    with database.work() as work:
        found = work.get_one(Published, test)
        return collect(work, found, *checked(work, found, results))


def test_results_become_attempts_of_their_pupils_and_count_once(database, test):
    entered = {"began": "2026-09-01T07:50:00.000Z", "ended": "2026-09-01T08:00:20.000Z", "entries": ["1", "0"]}
    one = code("ada lovelace", "0=1,1=0")
    report = read_into(database, test, one, one, saved=entered)
    assert (report.taken, report.known, report.refused) == (["Ada Lovelace"], [], [])
    with database.read() as work:
        attempt = work.scalars(select(Attempt)).one()
        stored = work.scalars(select(Scoring)).one()
        lines = work.scalars(select(Event).order_by(Event.step)).all()
        assert attempt.pupil.name == "Ada Lovelace"
        assert (attempt.ended - attempt.started).total_seconds() == 620
        assert [(line.question, line.answer) for line in lines] == [
            (question.id, question.classes[answer]) for question, answer in zip(BANK.questions.values(), (1, 0), strict=True)
        ]
        assert lines[0].entry == BANK.questions[lines[0].question].options[1]
        assert (stored.asked, stored.right) == (2, 1)
        assert not [one for one in verify.verify(work, attempt.test) if one.differences]
    again = read_into(database, test, one)
    assert (again.taken, again.known, again.refused) == ([], ["ada lovelace"], [])
    assert str(summary(again)) == "0 results were taken, 1 was there already"


def test_what_cannot_be_taken_is_told_and_the_rest_is_taken(database, test):
    with database.read() as work:
        bo = class_lists.pupils_of(work, work.get_one(Published, test))[1]
    altered = code("Bo").replace("0=1", "0=0")
    report = read_into(database, test, code("Eve"), altered, code("Bo", rules=qs.Rules()), "hello", code(bo.code), code("Bo", "0=1"))
    assert report.taken == ["Bo"]  # by the own code
    words = [str(one) for one in report.refused]
    assert "line 2: the check sum does not fit" in words[0]
    assert "line 3: the result of this test" in words[1]
    assert "line 4: a result begins with QUAESTOR1" in words[2]
    assert "line 1: the name of a pupil of the class list, or the own code, is expected" in words[3]
    assert words[3].endswith("got 'Eve'")
    assert words[4] == "line 6: Bo has taken this test already, and it is taken once"
    assert str(summary(report)) == "1 result was taken, 5 were refused"


def test_a_result_from_before_a_correction_and_an_exam_are_refused(database, test):
    name = next(iter(BANK.questions))
    with database.work() as work:
        corrections.withdraw(work, work.get_one(Published, test), name, "unclear")
    report = read_into(database, test, code("Bo"))
    assert [str(one) for one in report.refused] == [
        "line 1: the test was corrected after this file was written, so its answers cannot be counted"
    ]
    with database.work() as work:
        found = work.get_one(Published, test)
        found.mode = "exam"
        with pytest.raises(qs.QuaestorError, match="an exam is not given without a server"):
            checked(work, found, [])


def test_the_command_reads_into_a_test(tmp_path, capsys):
    database = make_database(Settings(data=str(tmp_path)))
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        made = publishing.publish(work, teacher, publishing.keep_bank(work, teacher, BANK), RULES, publishing.Conditions(mode="practice"))
        number = made.id
    database.close()
    file, results, other = tmp_path / "test.html", tmp_path / "scans.txt", tmp_path / "other.html"
    file.write_text(html_of(BANK, RULES), encoding="utf-8")
    other.write_text(html_of(BANK, qs.Rules(stop=qs.max_questions(1))), encoding="utf-8")
    results.write_text(f"{code('Ada')}\nnonsense\n", encoding="utf-8")
    command = ["collect", str(file), str(results), "--into", str(number), "--data", str(tmp_path)]
    assert main(command) == 1
    told = capsys.readouterr()
    assert told.out == "1 result was taken, 1 was refused\n"
    assert "scans.txt:2: a result begins with QUAESTOR1" in told.err
    assert main(command) == 1
    assert capsys.readouterr().out == "0 results were taken, 1 was there already, 1 was refused\n"
    assert main(["collect", str(other), *command[2:]]) == 1
    assert "got another bank version or other rules" in capsys.readouterr().err
    assert main([*command[:-3], "99", *command[-2:]]) == 1
    assert "--into: the number of a test is expected, got 99" in capsys.readouterr().err
    assert main([*command, "--out", "x.csv"]) == 1
