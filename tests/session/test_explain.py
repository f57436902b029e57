"""Explanations: golden texts for five situations, and the data behind them."""

from pathlib import Path

import numpy as np
import pytest

import quaestor as qs
from quaestor.inference.lookahead import lookahead

GOLDEN = Path(__file__).parent / "explanations"


def answered(bank, rules, answers):
    session = qs.Session(bank, rules)
    for question, answer in answers.items():
        session = session.answer(question, answer)
    return session


def beginning():
    """The first question of a precise test."""
    return qs.Session(qs.load("fractions"))


def credal_middle():
    """Some way into a credal test, a rule having had its say."""
    rules = qs.Rules(stop=qs.max_questions(12), variety=qs.Variety())
    return answered(qs.load("four-skills").widen(0.05), rules, {"Q9": "right", "Q57": "right", "Q58": "right"})


def credal_end():
    """A credal test that stopped, with a skill still open."""
    rules = qs.Rules(stop=qs.any_of(qs.max_questions(4), qs.entropy_below(0.1)))
    return answered(qs.load("four-skills").widen(0.05), rules, {"Q9": "right", "Q57": "right", "Q21": "wrong", "Q37": "wrong"})


def forced():
    """A question that a testlet forces, after late evidence and a skip."""
    rules = qs.Rules(testlets=(("E1", "E2"),), skips="wrong")
    session = qs.Session(qs.load("fractions"), rules).late("division", {"no": 0.2, "yes": 0.8}, "worked well at the board")
    return session.skip("M3").answer("E1", "right")


def contradiction():
    """The easiest questions wrong and the hardest right."""
    bank = qs.load("fractions")
    adding = [question for question in bank.questions.values() if question.skills == ("addition",) and len(question.classes) == 2]
    ordered = sorted(adding, key=lambda question: -float(question.table.lower[..., -1].mean()))
    answers = {question.id: "wrong" for question in ordered[:3]} | {question.id: "right" for question in ordered[-3:]}
    return answered(bank, qs.Rules(stop=qs.max_questions(6)), answers)


SITUATIONS = [beginning, credal_middle, credal_end, forced, contradiction]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_golden_texts(situation):
    expected = (GOLDEN / f"{situation.__name__}.txt").read_text(encoding="utf-8")
    found = qs.explain(situation())
    assert f"{found.text}\n\nThe numbers:\n\n{found.numbers}\n" == expected


def test_ledger_adds_up():
    session = credal_end()
    for skill, result in qs.explain(session).results.items():
        first, last = session.so_far[0].beliefs[skill].centre, session.beliefs[skill].centre
        at = session.bank.skills[skill].levels.index(result.level)
        odds = [np.log10(p[at] / (1 - p[at])) for p in (first, last)]
        assert sum(entry.weight for entry in result.ledger) == pytest.approx(odds[1] - odds[0])
        assert [entry.source for entry in result.ledger] == list(session.asked)
        assert [abs(entry.weight) for entry in result.largest] == sorted((abs(entry.weight) for entry in result.ledger), reverse=True)


@pytest.mark.parametrize("situation", [beginning, credal_middle])
def test_outcomes_are_what_the_answers_would_tell(situation):
    session = situation()
    why = qs.explain(session).question
    for outcome in why.outcomes:
        then = session.answer(why.question.id, outcome.answer).beliefs
        for skill, (low, high) in outcome.after.items():
            np.testing.assert_allclose([low, high], [then[skill].lower, then[skill].upper], atol=1e-9)
    ahead = lookahead(session.bank, session.answers)
    place = list(session.bank.questions).index(why.question.id)
    group = next(group for group in ahead.groups if place in group.batch.index)
    row = group.batch.row[group.batch.index == place][0]
    assert [outcome.probability for outcome in why.outcomes] == [
        (low, high) for low, high in zip(*(end[0, row] for end in group.answers), strict=True)
    ]


def test_agreement_counts_networks_of_the_set():
    session = credal_middle()
    agree, count = qs.explain(session).question.agree
    assert count == 32
    bank = session.bank
    rng = np.random.default_rng(0)
    allowed = [bank.questions[name].id for name in np.array(list(bank.questions))[session.choice.candidates]]
    best = []
    for _ in range(32):
        ranked = qs.rank(bank.vertex(rng), session.answers, "mode")
        best.append(next(name for name in ranked.ids if name in allowed))
    assert best.count(session.next.id) == agree


def test_data_and_text_of_a_finished_test():
    found = qs.explain(credal_end())
    assert found.question is None
    assert "The test is over: 4 questions were asked; the limit is 4." in found.stop
    assert found.open == tuple(skill for skill, result in found.results.items() if len(result.possible) > 1)
    assert found.text.count("\n\n") == len([part for part in (*found.results, found.stop, found.sure, found.hint) if part]) - 1


def test_a_pilot_is_named_as_one():
    asked = {f"Q{n}": {"skill": "a", "difficulty": 0.5, "discrimination": 0.5} for n in range(12)} | {
        "P": {"skill": "a", "difficulty": 0.5, "pilot": True}
    }
    session = qs.Session(qs.Bank({"skills": {"a": {}}, "questions": asked}), qs.Rules(pilots=1))
    while not session.next.pilot:
        session = session.answer(session.next.id, "right")
    why = qs.explain(session).question
    assert why.text == "Why P: it is a pilot question, which is tried out and does not count."
    assert (why.gain, why.outcomes) == (None, ())


def test_open_skills_are_those_whose_level_is_not_probable_enough():
    session = answered(qs.load("fractions"), qs.Rules(stop=qs.max_questions(1)), {"M3": "right"})
    found = qs.explain(session)
    low = {skill: bounds.lower[bounds.centre.argmax()] for skill, bounds in session.beliefs.items()}
    assert found.open == tuple(skill for skill, p in low.items() if p < 0.8)
    assert "Still open, with a probability below 80 %: " in found.stop


def test_what_one_more_answer_would_change():
    session = answered(qs.load("fractions"), qs.Rules(stop=qs.max_questions(1)), {"M3": "right"})
    result = qs.explain(session).results["division"]
    longer = qs.Session(session.bank, qs.Rules(), log=session.log)
    for answer, low, high in (result.more.worst, result.more.best):
        then = longer.answer(result.more.question, answer).beliefs["division"]
        at = then.states.index(result.level)
        np.testing.assert_allclose([low, high], [then.lower[at], then.upper[at]], atol=1e-9)
    assert f"One more question ({result.more.question}) would make it" in result.numbers


def test_the_answers_that_counted_are_told_even_when_later_ones_weigh_more():
    bank = qs.load("single-skill")
    session = answered(bank, qs.Rules(), dict.fromkeys(list(bank.questions)[:10], "right"))
    assert "Q1 (right) raised it from 50 % to 67 %" in qs.explain(session).results["S"].text


def test_rules_that_pass_over_better_questions_say_so():
    session = qs.Session(qs.load("fractions"), qs.Rules(first=("P4",)))
    assert "the rules passed over M3" in qs.explain(session).question.numbers


def test_named_targets_are_the_only_ones_spoken_of():
    session = qs.Session(qs.load("fractions"), qs.Rules(target={"division": 2, "parts": 1}))
    assert qs.explain(session).question.uncertain in ("division", "parts")


def test_only_sessions_are_explained():
    with pytest.raises(qs.QuaestorError, match="a session is explained, got 3"):
        qs.explain(3)
