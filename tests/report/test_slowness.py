"""The warning of slow banks, in English and German; banks of quick steps have none."""

import pytest

import quaestor as qs
from quaestor.report import slowness as module
from quaestor.report.slowness import slowness
from quaestor.selection.dry_run import DryRun
from quaestor.web.render.language import translate

QUICK = DryRun(0.001, 0.002, 1, 6, False)


@pytest.fixture
def measured(monkeypatch):
    """What dry runs find, one after the other."""
    found = []
    monkeypatch.setattr(module, "worst_step", lambda _, longest: found.pop(0))
    return found


def test_a_bank_of_quick_steps_has_no_warning():
    assert slowness(qs.load("fractions")) is None


def test_a_slow_bank_is_warned_of_with_what_would_help(measured):
    measured += [DryRun(0.09, 3.21, 4, 2, False), DryRun(0.09, 3.1, 4, 2, False), DryRun(0.04, 0.41, 2, 6, False), QUICK]
    found = slowness(qs.load("fractions").widen(0.05))
    assert (found.severity, found.place) == ("warning", "questions")
    assert str(found) == (
        "questions: a step of a test should take at most 0.5 s of computing, got up to 3.2 s after 4 questions on several skills,"
        " 0.09 s at the start (skills are tied into loops by A9, M5, W1, W2, W3 and 1 more; it helps to ask fewer of them:"
        " after 2 a step took at most 0.5 s; exact numbers (the centres of the intervals) help,"
        " seconds at most: in the skills 0.4, everywhere 0.002)"
    )
    assert translate("de", found.sentence) == (
        "questions: ein Schritt eines Tests sollte höchstens 0,5 s Rechenzeit brauchen; gefunden: bis zu 3,2 s nach 4 Fragen zu mehreren"
        " Fähigkeiten, 0,09 s am Anfang"
        " (Fähigkeiten werden zu Schleifen verbunden durch A9, M5, W1, W2, W3 und 1 weitere; weniger davon"
        " zu stellen hilft: nach 2 dauerte ein Schritt höchstens 0,5 s; genaue Zahlen (die Mitten der Intervalle) helfen,"
        " Sekunden höchstens: in den Fähigkeiten 0,4, überall 0,002)"
    )


def test_a_dry_run_that_was_cut_off_says_at_least(measured):
    measured += [DryRun(6.0, 6.0, 0, -1, True), DryRun(6.0, 6.0, 0, -1, True), DryRun(0.1, 0.2, 0, 1, True)]
    found = slowness(qs.load("four-skills").widen(0.05))
    assert str(found) == "questions: a step of a test should take at most 0.5 s of computing, got at least 6 s at the start"


def test_a_dry_run_that_was_cut_off_while_steps_were_quick_says_only_that(measured):
    measured += [DryRun(0.1, 0.3, 2, 2, True)] * 3
    found = slowness(qs.load("four-skills").widen(0.05))
    assert str(found) == "questions: a step of a test should take at most 0.5 s of computing, got a dry run was not done after 10 s"
    assert "ein Probelauf war nach 10 s nicht fertig" in translate("de", found.sentence)


def test_a_slow_bank_of_exact_numbers_and_questions_on_one_skill(measured):
    measured.append(DryRun(0.51, 0.62, 1, -1, False))
    value = "up to 0.62 s after 1 question on one skill each, 0.5 s at the start"
    assert str(slowness(qs.load("four-skills"))).endswith(f"of computing, got {value}")
