"""Plain tests in which something is drawn for each student: as by the steps of a session, and equal sets of answers worked out once."""

import numpy as np
import pytest

import quaestor as qs
from helpers.records import check_same, check_summaries
from oracles.students import students_of
from quaestor.selection.drawing import Ranked
from quaestor.selection.ties import ordered
from quaestor.simulate import drawn, plain
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.library import library_of
from quaestor.simulate.run import take

MINUTES = {f"Q{number}": (0.1, 0.2, 0.3)[number % 3] for number in range(9)}
CHANCES = {"Q0": 0.0, "Q1": 0.5, "Q2": 0.5, "Q3": 0.2, "Q6": 0.9}
RULES = {
    "among": {"among": 3},
    "first among": {"first_among": 4},
    "more than there are": {"among": 20},
    "chances": {"exposure": qs.Exposure(chances=CHANCES)},
    "all held back": {"exposure": qs.Exposure(chances=dict.fromkeys(MINUTES, 0.0))},
    "both": {"among": 3, "first_among": 5, "exposure": qs.Exposure(chances=CHANCES)},
}
STOPS = {
    "length": qs.max_questions(6),
    "minutes": qs.minutes(0.6),
    "gain": qs.all_of(qs.min_questions(2), qs.gain_below(0.02)),
    "none": None,
}


def bank(credal=False):
    """Nine questions on two skills, of two or three classes; three have the same numbers, so that gains tie."""
    rng, questions = np.random.default_rng(2), {}
    for number, minutes in enumerate(MINUTES.values()):
        wrong = 0.7 if number % 4 == 1 else rng.uniform(0.5, 0.9)
        table = {"no": [wrong, 1 - wrong], "yes": [0.25, 0.75]} if number != 5 else {"no": [0.6, 0.3, 0.1], "yes": [0.1, 0.3, 0.6]}
        classes = ["a", "b", "c"][: len(table["no"])]
        questions[f"Q{number}"] = {"skill": "st"[number > 4], "classes": classes, "table": table, "minutes": minutes}
    if credal:
        del questions["Q5"]
    made = qs.Bank({"skills": {"s": {}, "t": {"parents": ["s"], "table": {"no": [0.8, 0.2], "yes": [0.3, 0.7]}}}, "questions": questions})
    return made.widen(0.03) if credal else made


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("fields", RULES.values(), ids=RULES)
def test_students_are_asked_what_sessions_ask(fields, stop, monkeypatch):
    monkeypatch.setattr(drawn, "TOGETHER", 60)  # gains of a few paths at a time
    for made, score, behaviour in (
        (bank(), "entropy", Behaviour(skipping=0.2)),
        (bank(), "mode", Behaviour()),
        (bank(credal=True), "gini", Behaviour()),
    ):
        rules = qs.Rules(score=score, stop=STOPS[stop], **fields)
        if fields.get("exposure"):
            chances = {name: chance for name, chance in fields["exposure"].chances.items() if name in made.questions}
            rules = qs.Rules(**{"score": score, "stop": STOPS[stop], **fields, "exposure": qs.Exposure(chances=chances)})
        assert plain.is_plain(made, rules, behaviour)
        assert not plain.is_plain(made, rules, behaviour, "cuda")
        students = students_of(made, 150, seed=7)
        expected, found = take(made, rules, students, behaviour), plain.take(made, rules, students, behaviour, library_of("cpu"))
        check_same(expected, found)
        check_summaries(expected, found)


def test_the_order_of_the_questions_makes_no_other_path():
    made, rules = bank(), qs.Rules(score="entropy", among=3, stop=qs.max_questions(4))
    students = students_of(made, 400)
    found = plain.take(made, rules, students, Behaviour(), library_of("cpu"))
    sets = [frozenset(zip(asked, given, strict=True)) for asked, given in zip(found.asked.tolist(), found.answers.tolist(), strict=True)]
    orders = {tuple(zip(asked, given, strict=True)) for asked, given in zip(found.asked.tolist(), found.answers.tolist(), strict=True)}
    last = found.node[:, -1]
    assert len(set(last.tolist())) < len(orders)
    by_node = {}
    for node, given in zip(last.tolist(), sets, strict=True):
        assert by_node.setdefault(node, given) == given  # no two sets are one path


@pytest.mark.parametrize("number", range(20))
def test_places_are_those_of_the_ranking(number):
    rng = np.random.default_rng(number)
    gains, second = (rng.integers(0, 4, size=(6, 8)) + rng.integers(0, 4, size=(6, 8)) * 0.6e-9 for _ in range(2))  # ties, chains of them
    rows = rng.permutation(np.repeat(np.arange(6), 2))
    for other in (None, second):
        ranked = Ranked(gains.copy(), None if other is None else lambda: second)
        expected = [ordered(gains[row], None if other is None else lambda at=row: second[at], np.arange(8)) for row in rows]
        for place in range(8):
            assert ranked.at(np.full(len(rows), place), rows).tolist() == [order[place] for order in expected]
        assert (ranked.at(np.full(len(rows), 8), rows) == -1).all()
