"""Two forms that share questions: new questions land on the old scale though the new people are better; anchors that moved are found."""

import numpy as np
import pytest

import quaestor as qs
from oracles.learning import draw
from quaestor.errors import QuaestorError
from quaestor.learn.linking import link
from quaestor.learn.predicted import predictions

LEVELS = ["1", "2", "3"]


def form(names, prior=(0.4, 0.3, 0.3), easier=()):
    """Questions whose P(right) depends on their number alone; those named are much easier."""
    questions = {}
    for name in names:
        low = 0.1 + 0.05 * (int(name[1:]) % 5) + 0.35 * (name in easier)
        questions[name] = {"skill": "a", "right": [round(min(low + step, 0.97), 6) for step in (0, 0.25, 0.5)]}
    return qs.Bank({"skills": {"a": {"levels": LEVELS, "prior": list(prior)}}, "questions": questions})


OLD, NEW = [f"Q{n}" for n in range(1, 17)], [f"Q{n}" for n in range(9, 25)]


def blank(names):
    bank = form(names)
    return bank.with_tables({name: qs.Table.precise(np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]])) for name in names})


def right(bank, names):
    return np.array([bank.questions[name].table.lower[:, 1] for name in names])


def test_a_better_class_does_not_make_questions_look_easier():
    truth, better = form(NEW), (0.1, 0.3, 0.6)
    answers = draw(form(NEW, better), 1500, 2)
    found = link(form(OLD), blank(NEW), answers)
    added = NEW[8:]
    assert not found.moved
    assert [one.question for one in found.anchors] == NEW[:8]
    assert set(found.bank.questions) == {*OLD, *NEW}
    for name in OLD:
        assert found.bank.questions[name].table == form(OLD).questions[name].table
    np.testing.assert_allclose(found.bank.skills["a"].table.lower, better, atol=0.06)
    error = np.sqrt(((right(found.bank, added) - right(truth, added)) ** 2).mean())
    apart = qs.learn(blank(NEW), answers, fixed=["a"]).bank  # without anchors, held to the shares of the blank bank
    assert error < 0.05
    assert error < 0.6 * np.sqrt(((right(apart, added) - right(truth, added)) ** 2).mean())


def test_an_anchor_that_leaked_is_found_and_learnt_anew():
    answers = draw(form(NEW, easier=("Q10",)), 800, 3)
    found = link(form(OLD), blank(NEW), answers)
    assert found.moved == ("Q10",)
    one = found.anchors[1]
    assert one.observed > one.expected + 0.1
    np.testing.assert_allclose(right(found.bank, ["Q10"]), right(form(NEW, easier=("Q10",)), ["Q10"]), atol=0.1)
    chances, _ = predictions(found.fit, "Q10")
    assert chances.mean() == pytest.approx(one.observed, abs=0.02)


def test_what_cannot_be_linked():
    with pytest.raises(QuaestorError, match=r"^link: two forms share at least 3 questions, got 1$"):
        link(form(OLD), blank(NEW[7:]), draw(form(NEW), 20))
    other = qs.Bank({"skills": {"a": {"levels": ["no", "yes"]}}, "questions": {"Q9": {"skill": "a", "right": [0.2, 0.7]}}})
    with pytest.raises(QuaestorError, match=r"^link: skill 'a' has the same levels in both forms, got 1, 2, 3 and no, yes$"):
        link(form(OLD), other, draw(other, 20))
    turned = draw(form(NEW), 600, 4)
    turned[NEW[:6]] = turned[NEW[:6]].replace({"right": "wrong", "wrong": "right"})
    with pytest.raises(
        QuaestorError, match=r"^link: at least 3 shared questions have stayed as they were, got \d; easier or harder now: Q"
    ):
        link(form(OLD), blank(NEW), turned)
