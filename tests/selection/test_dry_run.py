"""How long steps take at worst: which answers are tried, where it is cut off, and what ties skills into loops."""

import time

import pytest

import quaestor as qs
from helpers.slow_banks import slow_document
from quaestor.selection import dry_run
from quaestor.selection.dry_run import DryRun, tied, worst_step


def bank(skills, questions, **more):
    """Skills with their parents, and the skills of each question."""
    asked = {}
    for name, on in questions.items():
        table = {", ".join(["no"] * len(on)): [0.8, 0.2], ", ".join(["yes"] * len(on)): [0.1, 0.9]}
        rows = {key: [0.5, 0.5] for key in ("no, yes", "yes, no")} if len(on) == 2 else {}
        asked[name] = {"skills": list(on), "table": table | rows}
    listed = {name: {"parents": list(parents), "strength": 0.5} if parents else {} for name, parents in skills.items()}
    return qs.Bank({"skills": listed, "questions": asked, **more})


CHAIN = {"a": "", "b": "a", "c": "b"}
MIXED = {"q1": "ab", "q2": "ab", "q3": "c", "q4": "bc", "q5": "ab", "q6": "a"}


@pytest.fixture
def seen(monkeypatch):
    """The answers of every step that is taken, each as long as there are answers."""
    found = []

    def one(_, rules, answers):
        found.append((rules, list(answers)))
        return float(len(answers))

    monkeypatch.setattr(dry_run, "_step", one)
    return found


def test_questions_on_several_skills_are_answered_one_of_each_scope_first(seen):
    found = worst_step(bank(CHAIN, MIXED))
    assert [answers for _, answers in seen] == [[], [], ["q1"], ["q1", "q4"], ["q1", "q4", "q2", "q5"]]
    assert found == DryRun(start=0.0, worst=4.0, answered=4, quick=0, is_cut=False)


def test_of_a_bank_without_such_questions_all_but_one_are_answered(seen):
    worst_step(bank({"a": ""}, dict.fromkeys(["q1", "q2", "q3", "q4"], "a")))
    assert [len(answers) for _, answers in seen] == [0, 0, 1, 2, 3]


def test_no_more_is_answered_than_the_rules_ask_and_they_do_not_end_the_test(seen):
    rules = qs.Rules(score="entropy", bound="lower", stop=qs.max_questions(3), mandatory=["q6"])
    assert worst_step(bank(CHAIN, MIXED), rules).answered == 2
    assert {(one.score, one.bound, one.stop, one.mandatory) for one, _ in seen} == {("entropy", "lower", None, ())}


def test_pilots_are_not_answered(seen):
    made = bank(CHAIN, MIXED)
    document = made.document
    document["questions"]["q1"]["pilot"] = True
    worst_step(qs.Bank(document))
    assert seen[-1][1] == ["q2", "q4", "q5"]


def test_small_precise_banks_need_no_other_process(monkeypatch):
    monkeypatch.setattr("subprocess.run", None)
    found = worst_step(qs.load("fractions"))
    assert 0 < found.start <= found.worst < dry_run.SLOW
    assert (found.quick, found.is_cut) == (6, False)


def test_credal_banks_are_measured_in_another_process():
    found = worst_step(bank(CHAIN, {"q1": "a", "q2": "b", "q3": "c"}, imprecision=0.05))
    assert 0 < found.start <= found.worst < dry_run.SLOW
    assert (found.quick, found.is_cut) == (2, False)


def test_a_run_that_takes_too_long_is_cut_off():
    begun = time.monotonic()
    found = worst_step(qs.Bank(slow_document(5, 3)), longest=1.0)
    assert time.monotonic() - begun < 30  # on a busy machine: another Python begins as well
    assert found.is_cut
    assert 0 < found.start <= found.worst < 3


def test_a_process_that_was_killed_was_cut_off(monkeypatch):
    class Killed:
        returncode, stdout = -9, b"[0, 0.25, false]\n"

    monkeypatch.setattr("subprocess.run", lambda *_, **__: Killed)
    assert worst_step(bank(CHAIN, MIXED, imprecision=0.05)) == DryRun(0.25, 0.25, 0, 0, True)


def test_what_goes_wrong_in_the_process_is_said(monkeypatch):
    class Failed:
        returncode, stdout, stderr = 1, b"", b"Traceback\nQuaestorError: no room\n"

    monkeypatch.setattr("subprocess.run", lambda *_, **__: Failed)
    with pytest.raises(qs.QuaestorError, match="the dry run of the bank failed: QuaestorError: no room"):
        worst_step(bank(CHAIN, MIXED, imprecision=0.05))


@pytest.mark.parametrize(
    ("skills", "questions", "expected"),
    [
        (CHAIN, MIXED, ["q1", "q2", "q4", "q5"]),  # each beside the link of its own two skills
        (CHAIN, {"q1": "ac"}, ["q1"]),
        (CHAIN, {"q1": "a", "q2": "b"}, []),
        ({"a": "", "b": "", "c": ""}, {"q1": "ab", "q2": "bc"}, []),
        ({"a": "", "b": "", "c": ""}, {"q1": "ab", "q2": "bc", "q3": "ac"}, ["q1", "q2", "q3"]),
        ({"a": "", "b": "", "c": "", "d": ""}, {"q1": "ab", "q2": "bc", "q3": "ac", "q4": "cd"}, ["q1", "q2", "q3"]),
        ({"a": "", "b": "", "c": "ab"}, {"q1": "ab"}, ["q1"]),
    ],
)
def test_the_questions_that_tie_skills_into_loops(skills, questions, expected):
    assert tied(bank(skills, questions)) == expected
