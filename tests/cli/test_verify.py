"""`quaestor verify`: which stored outcomes the present engine would give otherwise."""

import json

import pytest

import quaestor as qs
from quaestor.cli import main
from quaestor.store import publishing, teachers
from quaestor.store.attempts import taking
from quaestor.store.models import Scoring
from quaestor.store.outcomes import rescoring
from quaestor.web.operations.installation import make_database
from quaestor.web.settings import Settings


@pytest.fixture
def folder(tmp_path):
    database = make_database(Settings(data=str(tmp_path)))
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, qs.load("fractions"))
        rules = qs.Rules(score="order", stop=qs.max_questions(2))
        test = publishing.publish(work, teacher, kept, rules, publishing.Conditions())
        attempt = taking.enter(work, test.code, "Ada")
        for step in (1, 2):
            taking.answer(work, attempt, step, taking.state_of(work, attempt).session.next.correct[0])
    rescoring.score_all(database, test.id, lambda share: True)
    yield tmp_path, database
    database.close()


def test_all_is_as_it_was(folder, capsys):
    assert main(["verify", "--data", str(folder[0])]) == 0
    assert capsys.readouterr().out == "1 stored outcome verified: none would be otherwise now\n"


def test_what_is_not_stored_yet_is_told(folder, capsys):
    path, database = folder
    with database.work() as work:
        work.delete(work.get(Scoring, (1, 0)))
    assert main(["verify", "--data", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "0 stored outcomes verified: none would be otherwise now",
        "of 1 attempt something is still to be worked out; a running server does it in the background",
    ]


def test_what_is_otherwise_is_told(folder, capsys):
    path, database = folder
    with database.work() as work:
        row = work.get(Scoring, (1, 0))
        row.right, row.engine = 1, "0.0.9"
    assert main(["verify", "--data", str(path), "--test", "1"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "test 1, attempt 1, revision 0, stored by version 0.0.9:",
        "  right: stored 1, now 2",
        "1 stored outcome verified: 1 would be otherwise now",
    ]
    assert main(["verify", "--data", str(path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["verified"], told["different"][0]["differences"]) == (1, [["right", 1, 2]])


def test_a_test_that_is_not_there(folder, capsys):
    assert main(["verify", "--data", str(folder[0]), "--test", "9"]) == 1
    assert "test: the number of a test is expected, got 9" in capsys.readouterr().err
