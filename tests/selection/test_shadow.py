"""Shadow tests: the best whole test is that of enumeration, and every test keeps its rules to the end."""

from itertools import combinations

import numpy as np
import pytest

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.inference.layout import layout_of
from quaestor.selection.plan import plan_of
from quaestor.selection.rules import RulesError
from quaestor.selection.shadow import shadow_test


def bank(seed=0, each=5):
    rng = np.random.default_rng(seed)
    questions = {}
    for skill in "ab":
        for number in range(each):
            low, high = np.sort(rng.uniform(0.05, 0.95, 2)).round(3).tolist()
            questions[f"{skill}{number}"] = {"skill": skill, "right": [low, high], "group": "long" if number % 2 else "short"}
    return qs.Bank({"skills": {"a": {}, "b": {}}, "questions": questions})


def keeps(rules, made, chosen):
    """Whether a whole test keeps the rules, by their words."""
    for content in rules.content:
        count = sum(content.of in made.questions[q].skills or made.questions[q].group == content.of for q in chosen)
        if count < content.least or (content.most is not None and count > content.most):
            return False
        if content.share is not None and not np.floor(content.share * len(chosen)) <= count <= np.ceil(content.share * len(chosen)):
            return False
    if any(len(set(ids) & set(chosen)) > 1 for ids in rules.exclude) or not set(rules.mandatory) <= set(chosen):
        return False
    return all(len(set(ids) & set(chosen)) in (0, len(ids)) for ids in rules.testlets)


RULES = {
    "content": {"content": [qs.Content("a", least=2, most=2), qs.Content("long", most=1)]},
    "shares": {"content": [qs.Content("a", share=0.25), qs.Content("b", share=0.75)]},
    "exclude and mandatory": {"exclude": [["a0", "a1", "b0"], ["b1", "b2"]], "mandatory": ["b3"]},
    "testlets": {"testlets": [["a3", "b2", "a0"]], "content": [qs.Content("a", least=2)]},
}


def rules_of(name, **more):
    return qs.Rules(score="entropy", shadow=True, stop=qs.max_questions(4), **RULES[name], **more)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("asked", [(), ("b3",)])
def test_the_test_is_the_best_that_enumeration_finds(name, asked):
    made, rules = bank(), rules_of(name)
    layout = layout_of(made)
    ids = list(layout.ids)
    gains = np.random.default_rng(5).uniform(0, 1, len(ids))
    done = np.isin(layout.ids, asked)
    found = shadow_test(plan_of(rules, layout), done, np.flatnonzero(~done), 4 - len(asked), gains)
    every = [c for c in combinations([q for q in ids if q not in asked], 4 - len(asked)) if keeps(rules, made, [*asked, *c])]
    worth = {c: sum(gains[ids.index(q)] for q in c) for c in every}
    assert sorted(layout.ids[found]) == sorted(max(worth, key=worth.get))


@pytest.mark.parametrize("name", RULES)
def test_every_test_keeps_its_rules_and_batches_are_as_sessions(name):
    made, rules = bank(1), rules_of(name)
    found = qs.simulate(made, rules, students=12, seed=3)
    for asked, answers in zip(found.asked, found.answers, strict=True):
        assert keeps(rules, made, asked.tolist())
        session = qs.Session(made, rules)
        for question, answer in zip(asked, answers, strict=True):
            assert session.next.id == question
            session = session.answer(question, int(answer))
        assert session.next is None


def test_without_rules_on_content_it_asks_what_the_score_asks():
    made = bank(2)
    plain, shadow = (qs.simulate(made, qs.Rules(score="entropy", shadow=on, stop=qs.max_questions(4)), students=20) for on in (False, True))
    assert plain.asked.tolist() == shadow.asked.tolist()


def test_it_says_what_it_did():
    session = qs.Session(bank(), rules_of("content"))
    assert [note.rule for note in session.choice.narrowed] == ["shadow"]
    assert session.choice.narrowed[0].text == "only questions of the best whole test that keeps the rules on content"
    assert qs.Session.from_json(session.bank, session.to_json()).rules == session.rules


def test_what_is_refused():
    with pytest.raises(RulesError, match="shadow: a whole test has a length: a stop with max_questions is needed, got none"):
        qs.Rules(shadow=True, stop=qs.entropy_below(0.2))
    with pytest.raises(RulesError, match="shadow: true or false is expected, got 'yes'"):
        qs.Rules(shadow="yes")
    impossible = qs.Rules(shadow=True, stop=qs.max_questions(4), content=[qs.Content("a", least=3), qs.Content("b", least=3)])
    with pytest.raises(QuaestorError, match="shadow: the rules on content leave room for a test of 4 questions, got none in this bank"):
        qs.Session(bank(), impossible).next  # noqa: B018
