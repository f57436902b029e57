"""Banks from a Q-matrix, graphs over skills, one-skill baselines, and candidates compared on held-out people."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from oracles.learning import SMALL, draw, log_likelihood, rows_of
from quaestor.errors import QuaestorError
from quaestor.learn.answers import read_answers
from quaestor.learn.compare import Maker, compare, log_likelihoods_by_person
from quaestor.learn.graphs import chain, every_link, independent, learnt_tree, mutual_information, tree, with_graph
from quaestor.learn.skeleton import check_matrix, one_skill, read_matrix, skeleton

MATRIX = pd.DataFrame({"a": [1, 0, 1], "b": [0, 1, 1]}, index=["Q1", "Q2", "Q3"])


def test_a_skeleton_says_only_what_the_matrix_says():
    bank = skeleton(MATRIX)
    assert {name: question.skills for name, question in bank.questions.items()} == {"Q1": ("a",), "Q2": ("b",), "Q3": ("a", "b")}
    np.testing.assert_allclose(bank.questions["Q1"].table.lower[:, 1], [0.2, 0.85])
    np.testing.assert_allclose(bank.questions["Q3"].table.lower[..., 1], [[0.2, 0.525], [0.525, 0.85]])
    np.testing.assert_allclose(skeleton(MATRIX, needs="all").questions["Q3"].table.lower[..., 1], [[0.2, 0.2], [0.2, 0.85]])
    np.testing.assert_allclose(skeleton(MATRIX, needs="any").questions["Q3"].table.lower[..., 1], [[0.2, 0.85], [0.85, 0.85]])
    assert skeleton(MATRIX, levels=4).skills["a"].levels == ("1", "2", "3", "4")
    assert not bank.warnings


def test_a_matrix_from_a_file(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("item,a,b\nQ1,1,0\nQ2,0,1\nQ3,1,1\n")
    assert skeleton(read_matrix(path)).model_version == skeleton(MATRIX).model_version
    path.write_text("item,a,b\nQ1,1,2\n")
    with pytest.raises(QuaestorError, match=r"q.csv: Q-matrix: row Q1, column b: 0 or 1, got '2'$"):
        read_matrix(path)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame({"a": [1, 0]}, index=["Q1", "Q2"]), "Q-matrix: row Q2: a question needs at least one skill, got none"),
        (
            pd.DataFrame(1, index=["Ada"], columns=[f"Q{n}" for n in range(13)]),
            "Q-matrix: row Ada: a question needs at most 10 skills, got 13 (is it a table of answers?)",
        ),
        (pd.DataFrame({"a": [1, 1]}, index=["Q1", "Q1"]), "Q-matrix: a question stands there once, got 'Q1' twice"),
        (pd.DataFrame({"a": ["yes"]}, index=["Q1"]), "Q-matrix: row Q1, column a: 0 or 1, got 'yes'"),
        (pd.DataFrame(), "Q-matrix: a row for each question and a column for each skill, got 0 x 0"),
    ],
)
def test_a_matrix_that_is_none(frame, words):
    with pytest.raises(QuaestorError) as caught:
        check_matrix(frame)
    assert str(caught.value) == words


def test_words_for_options_of_skeletons_and_graphs():
    with pytest.raises(QuaestorError, match=r"^skeleton: needs is one of each, all, any, got 'some'$"):
        skeleton(MATRIX, needs="some")
    with pytest.raises(QuaestorError, match=r"^skeleton: a skill has at least 2 levels, got 1$"):
        skeleton(MATRIX, levels=1)
    with pytest.raises(QuaestorError, match=r"^graph: a skill of the bank, got 'aa' \(did you mean 'a'\?\)$"):
        with_graph(skeleton(MATRIX), {"aa": ["b"]})


def test_graphs():
    bank = skeleton(MATRIX)
    assert chain(bank).skills["b"].parents == ("a",)
    assert independent(chain(bank)).skills["b"].parents == ()
    assert with_graph(bank, {"a": ["b"]}).skills["a"].parents == ("b",)


def test_what_is_stated_stays_where_the_parents_stay():
    document = four_skills().document
    document["skills"]["a"]["prior"] = [0.1, 0.9]
    document["skills"]["b"] = {"parents": ["a"], "table": {"no": [0.7, 0.3], "yes": [0.2, 0.8]}}
    document["skills"]["e"] = {"shares": [3, 1], "confidence": "unsure"}
    bank = qs.Bank(document)
    for made in (independent(bank), chain(bank), every_link(bank)):
        assert made.skills["a"].table == bank.skills["a"].table
    assert independent(bank).skills["e"].table == bank.skills["e"].table
    assert independent(bank).skills["b"].table.lower.tolist() == [0.5, 0.5]
    assert chain(bank).skills["b"].table == bank.skills["b"].table
    assert with_graph(bank, {"b": ["a"]}, strength=0.4).skills["b"].table == with_graph(bank, {"d": ["a"]}, 0.4).skills["d"].table
    assert chain(bank).skills["e"].table == with_graph(bank, {"e": ["d"]}, 0.6).skills["e"].table
    assert bank.document == document


def test_mutual_information():
    assert mutual_information(np.array([[1.0, 0.0], [0.0, 1.0]])) == pytest.approx(np.log(2))
    assert mutual_information(np.outer([0.2, 0.8], [0.5, 0.3])) == pytest.approx(0, abs=1e-12)


def four_skills():
    """A known tree: b and c build on a, d on c; e is on its own."""
    skills = {"a": {}, "b": {"parents": ["a"], "strength": 0.8}, "c": {"parents": ["a"], "strength": 0.8}}
    skills |= {"d": {"parents": ["c"], "strength": 0.8}, "e": {}}
    questions = {f"{skill}{n}": {"skill": skill, "right": [0.1, 0.9]} for skill in skills for n in range(3)}
    return qs.Bank({"skills": skills, "questions": questions})


def test_the_tree_that_was_there_is_learnt():
    bank = four_skills()
    learnt = learnt_tree(bank, draw(bank, 1500))
    links = {frozenset((skill.id, parent)) for skill in learnt.skills.values() for parent in skill.parents}
    assert links == {frozenset("ab"), frozenset("ac"), frozenset("cd")}
    fit = qs.learn(learnt, draw(bank, 1500))
    assert tree(fit)["e"] == ()
    assert learnt.skills["b"].table.lower[1, 1] == pytest.approx(0.9, abs=0.05)


def test_the_tree_is_the_best_by_bic():
    """Skills of 2, 2 and 6 levels: of all forests none gains more, people * information less what the numbers of its links cost."""
    skills = {"a": {}, "b": {}, "c": {"levels": list("123456")}}
    bank = qs.Bank({"skills": skills, "questions": {"Q": {"skill": "a", "right": [0.2, 0.8]}}})
    fit = qs.learn(bank, pd.DataFrame({"Q": [1, 0]}))
    rng, differ = np.random.default_rng(1), 0
    forests = [links for count in range(3) for links in combinations([(0, 1), (0, 2), (1, 2)], count)]
    for _ in range(60):
        table = 200 * rng.dirichlet(np.full(24, 0.7)).reshape(2, 2, 6)
        shared = {(one, other): mutual_information(table.sum(axis=3 - one - other)) for one, other in forests[-1] + forests[-2]}
        gain = {link: 200 * shared[link] - 0.5 * (table.shape[link[0]] - 1) * (table.shape[link[1]] - 1) * np.log(200) for link in shared}
        best = max(forests, key=lambda links: sum(gain[link] for link in links))
        found = tree(replace(fit, expected=replace(fit.expected, profiles=table.ravel())))
        assert {frozenset((child, parent)) for child, above in found.items() for parent in above} == {
            frozenset(("abc"[one], "abc"[other])) for one, other in best
        }
        differ += set(best) != {link for link in sorted(shared, key=shared.get)[-2:] if gain[link] > 0}
    assert differ > 5


def test_a_tree_of_too_many_skills():
    bank = qs.Bank({"skills": {f"s{n}": {} for n in range(15)}, "questions": {"Q": {"skill": "s0", "right": [0.2, 0.8]}}})
    with pytest.raises(
        QuaestorError, match=r"^graph: a learnt tree takes at most 16384 combinations of levels of all skills, got 3.28e\+04"
    ):
        learnt_tree(bank, pd.DataFrame({"Q": [1, 0]}))


def test_one_skill_has_the_same_classes():
    bank = SMALL["three levels, three classes"]
    made = one_skill(bank, 4)
    assert [question.classes for question in made.questions.values()] == [question.classes for question in bank.questions.values()]
    assert len(made.skills["ability"].levels) == 4


def test_foretold_is_the_log_likelihood():
    bank = SMALL["two parents"]
    frame = draw(bank, 20, missing=0.2)
    by_hand = [log_likelihood(bank, pd.DataFrame([answers])) for answers in rows_of(frame)]
    np.testing.assert_allclose(log_likelihoods_by_person(bank, frame), by_hand, atol=1e-9)
    with pytest.raises(QuaestorError, match=r"^compare: every person has an answer, got 1 without any$"):
        log_likelihoods_by_person(bank, pd.DataFrame({"Q1": ["right", None]}))


def test_skills_that_are_there_beat_one_skill():
    bank = four_skills()
    frame = draw(bank, 500)
    found = compare(
        {"skills": bank, "tree": Maker(lambda people: learnt_tree(bank, people))}, frame, np.random.default_rng(1), 3, baselines=(2, 3)
    )
    table = found.table()
    assert found.best.name in ("skills", "tree")
    assert found.baseline.name.startswith("one skill")
    assert table.loc["skills", "above one skill"] > 4 * table.loc["skills", "error"]
    assert (table["held out"].diff().dropna() <= 0).all()


ONE = {"x": SMALL["one skill"]}


@pytest.mark.parametrize(
    ("candidates", "more", "words"),
    [
        ({}, {}, "compare: at least one candidate, got none"),
        (ONE, {"folds": 9}, "compare: folds are between 2 and the number of people, got 9"),
        (ONE, {"baselines": ()}, "compare: baselines name the levels of at least one one-skill bank, got none"),
        (ONE, {"baselines": (1,)}, "one_skill: a skill has at least 2 levels, got 1"),
        (ONE, {"options": {"X1": {"tied": True}}}, "compare: options are those of a candidate, got 'X1'"),
        (
            ONE,
            {"options": {"one skill, 2 level": {}}},
            "compare: options are those of a candidate, got 'one skill, 2 level' (did you mean 'one skill, 2 levels'?)",
        ),
    ],
)
def test_comparisons_that_make_no_sense(candidates, more, words):
    with pytest.raises(QuaestorError) as caught:
        compare(candidates, draw(SMALL["one skill"], 5), np.random.default_rng(1), **{"folds": 2, **more})
    assert str(caught.value) == words


def test_everybody_who_is_compared_has_an_answer():
    frame = draw(SMALL["one skill"], 5)
    frame.iloc[2] = None
    with pytest.raises(QuaestorError, match=r"^compare: every person has an answer, got 1 without any$"):
        compare(ONE, frame, np.random.default_rng(1), 2)


def test_people_are_held_out_whole_in_every_form():
    """A long table is cut by people, not by answers, and so is one that comes in parts."""
    bank = SMALL["two skills in one question"]
    frame = draw(bank, 40, missing=0.2).reset_index(drop=True)
    long = frame.rename_axis("person").reset_index().melt("person", var_name="question", value_name="answer").sort_values("person")
    candidates = {"own": bank, "tree": Maker(lambda people: learnt_tree(bank, people))}
    wide = compare(candidates, frame, np.random.default_rng(1), 4, baselines=(2,))
    for form in (long, [frame.iloc[:15], frame.iloc[15:]], read_answers(bank, frame)):
        found = compare(candidates, form, np.random.default_rng(1), 4, baselines=(2,))
        for one, other in zip(found.candidates, wide.candidates, strict=True):
            np.testing.assert_allclose(one.held_out, other.held_out, atol=1e-9)
