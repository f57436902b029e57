"""Answers of real people: what they did not answer is not asked, and what is held out is only foretold."""

import re

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from helpers import sessions
from quaestor.errors import QuaestorError
from quaestor.inference.lookahead import lookahead
from quaestor.model.table import centre
from quaestor.simulate import Behaviour, simulate
from quaestor.simulate.responses import read_cells, read_responses

BANK = sessions.bank()


def people(bank, count, missing=0.3, seed=1):
    """Random answers of every class, some cells empty, nobody without any."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(len(question.classes), size=count).astype(object) for name, question in bank.questions.items()}
    for name, question in bank.questions.items():
        columns[name] = np.array([question.classes[answer] for answer in columns[name]], dtype=object)
        columns[name][rng.random(count) < missing] = None
    frame = pd.DataFrame(columns)
    frame.iloc[:, 0] = frame.iloc[:, 0].fillna("right")
    return frame


# What a cell may hold


@pytest.mark.parametrize(
    "cells",
    [
        [1, 0, None, 1],
        [1.0, 0.0, np.nan, 1.0],
        [True, False, None, True],
        ["right", "wrong", "", "right"],
        ["1", "0", np.nan, " right "],
        ["1.0", "0.0", "", "1.0"],
        [1, "wrong", pd.NA, np.bool_(True)],
        np.array([1, 0, np.nan, 1], dtype=np.float32),
        pd.array([1, 0, None, 1], dtype="Int64"),
        pd.array([True, False, None, True], dtype="boolean"),
        pd.array(["right", "wrong", None, "right"], dtype="string"),
        pd.Categorical(["right", "wrong", None, "right"]),
        [1, 0, pd.NaT, 1],
        [1, 0, "  ", 1],
    ],
    ids=[
        "ints",
        "floats",
        "bools",
        "names",
        "texts",
        "written floats",
        "mixed",
        "float32",
        "Int64",
        "boolean",
        "string",
        "categories",
        "NaT",
        "blanks",
    ],
)
def test_cells(cells):
    found = read_responses(BANK, pd.DataFrame({"a1": cells, "b2": [0, 0, 1, 1]}))
    assert found.shape == (4, 6)
    assert found[:, 0].tolist() == [1, 0, -1, 1]
    assert found[:, 4].tolist() == [0, 0, 1, 1]
    assert (found[:, [1, 2, 3, 5]] == -1).all()


def test_classes_by_name_where_there_are_three():
    bank = qs.Bank({
        "skills": {"a": {}},
        "questions": {"Q": {"skill": "a", "classes": ["wrong", "half", "right"], "table": {"no": [0.5, 0.3, 0.2], "yes": [0.1, 0.2, 0.7]}}},
    })  # fmt: skip
    assert read_responses(
        bank,
        pd.DataFrame(
            {
                "Q": ["half", None, "right", "wrong"],
            }
        ).drop(index=1),
    )[:, 0].tolist() == [1, 2, 0]
    assert read_responses(bank, pd.DataFrame({"Q": [0, 2, 1]}))[:, 0].tolist() == [0, 2, 1]
    assert read_responses(bank, pd.DataFrame({"Q": ["half", "2,0", "0.0"]}))[:, 0].tolist() == [1, 2, 0]
    with pytest.raises(QuaestorError, match=r"^responses: row 0, Q: an answer is one of wrong, half, right, 0, 1, 2 or nothing, got True$"):
        read_responses(bank, pd.DataFrame({"Q": [True]}))
    for value in (1, "1", "1.0"):
        words = r"^responses: Q: points from 0 to 2, got 0 and 1 alone, which may mean wrong and right \(write the names"
        with pytest.raises(QuaestorError, match=words):
            read_responses(bank, pd.DataFrame({"Q": [value, 0]}))


def test_classes_that_are_points():
    bank = qs.Bank({
        "skills": {"a": {}},
        "questions": {"Q": {"skill": "a", "classes": ["0", "0.5", "1"], "table": {"no": [0.5, 0.3, 0.2], "yes": [0.1, 0.2, 0.7]}}},
    })  # fmt: skip
    assert read_responses(bank, pd.DataFrame({"Q": ["0,5", 1, 0.0, "0.50"]}))[:, 0].tolist() == [1, 2, 0, 1]
    with pytest.raises(QuaestorError, match=r"^responses: row 0, Q: an answer is one of 0, 0.5, 1 or nothing, got 2"):
        read_responses(bank, pd.DataFrame({"Q": [2]}))


MORE = "for more points state more classes, worst first, such as classes: [wrong, half, right]"
ALLOWED = "an answer is one of wrong, right, 0, 1 or nothing"


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ({"a1": [1], "a11": [0]}, "responses: a column is a question of the bank, got 'a11' (did you mean 'a1'?)"),
        ({"a1": [1], 7: [0]}, "responses: a column is a question of the bank, got '7'"),
        ({"a1": [1, "rihgt"]}, f"responses: row 1, a1: {ALLOWED}, got 'rihgt'"),
        (
            {"a1": [0, 1, 2]},
            f"responses: row 2, a1: {ALLOWED}, got 2 ({MORE})",
        ),
        ({"a1": [0, -1]}, f"responses: row 1, a1: {ALLOWED}, got -1"),
        ({"a1": [0.5]}, f"responses: row 0, a1: {ALLOWED}, got 0.5"),
        ({"a1": [float("inf")]}, f"responses: row 0, a1: {ALLOWED}, got inf"),
        ({"a1": [1, [1]]}, f"responses: row 1, a1: {ALLOWED}, got [1]"),
        ({"a1": [None, np.nan], "b1": ["", None]}, "responses: a table has answers, got none at all"),
        ({"a1": []}, "responses: a table has answers, got none at all"),
        ({}, "responses: a table has answers, got none at all"),
        ({"a1": [1, None], "b1": [0, ""]}, "responses: every person has an answer, got none in row 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_tables(frame, words):
    with pytest.raises(QuaestorError) as error:
        simulate(BANK, responses=pd.DataFrame(frame))
    assert str(error.value) == words


def test_bad_tables_of_other_kinds():
    with pytest.raises(QuaestorError, match=r"^responses: a question has one column, got two of 'a1'$"):
        simulate(BANK, responses=pd.DataFrame([[1, 0]], columns=["a1", "a1"]))
    with pytest.raises(QuaestorError, match=r"^responses: a table with a row a person and a column a question, got list$"):
        simulate(BANK, responses=[[1, 0]])
    with pytest.raises(QuaestorError, match=r"^holdout: a question of the bank, got 'b22' \(did you mean 'b2'\?\)$"):
        simulate(BANK, responses=pd.DataFrame({"a1": [1]}), holdout=["b22"])
    with pytest.raises(QuaestorError, match=r"^responses of real people are for rules without 'among': some of their answers are missing$"):
        simulate(BANK, qs.Rules(among=2), responses=pd.DataFrame({"a1": [1]}))


# Tests on what people answered


@pytest.mark.parametrize("width", [0.0, 0.05])
@pytest.mark.parametrize("score", ["entropy", "mode", "random", "order"])
def test_missing_cells_make_a_question_unavailable(score, width):
    bank = BANK.widen(width) if width else BANK
    frame = people(bank, 40)
    x = simulate(bank, qs.Rules(score=score), responses=frame, seed=3)
    assert (x.levels == -1).all()
    assert x.stops == {"no question left": 40}
    for person, row in enumerate(frame.itertuples(index=False)):
        given = {name: answer for name, answer in zip(frame.columns, row, strict=True) if isinstance(answer, str)}
        asked = [name for name in x.asked[person] if name]
        assert sorted(asked) == sorted(given)
        answers = [bank.questions[name].classes[answer] for name, answer in zip(asked, x.answers[person], strict=False)]
        assert answers == [given[name] for name in asked]
        if score != "random":
            check_order(bank, score, asked, given)


def check_order(bank, score, asked, given):
    """At each step the best of the questions that the person has answered, as `qs.rank` has it."""
    told = {}
    for name in asked:
        best = next(one for one in qs.rank(bank, told, score=score).ids if one in given)
        assert name == best
        told[name] = given[name]


@pytest.mark.parametrize("width", [0.0, 0.05])
def test_held_out_questions_are_only_foretold(width):
    """Their log loss is that of P(answer | answers so far) by `posterior`, the slow way."""
    bank = BANK.widen(width) if width else BANK
    frame, held = people(bank, 12, missing=0.2), ["b1", "a2"]
    x = simulate(bank, qs.Rules(score="entropy", stop=qs.max_questions(3)), responses=frame, holdout=held)
    assert not np.isin(x.asked, held).any()
    assert set(x.means) == {"held_out_log_loss", "held_out_accuracy"}
    for person in range(12):
        for step in range(len(x.running)):
            told = {name: frame[name][person] for name in x.asked[person, :step] if name}
            losses, hits = [], []
            for name in held:
                if isinstance(frame[name][person], str):
                    p = foretold(bank, told, name)[bank.questions[name].classes.index(frame[name][person])]
                    losses.append(-np.log(p))
                    hits.append(0.5 if abs(p - 0.5) < 1e-9 else p > 0.5)
            expected = (np.mean(losses), np.mean(hits)) if losses else (np.nan, np.nan)
            found = x.by_student["held_out_log_loss"][person, step], x.by_student["held_out_accuracy"][person, step]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert np.allclose(x.held_out_log_loss, np.nanmean(x.by_student["held_out_log_loss"], axis=0))


def foretold(bank, told, name):
    """P(class | answers): from the posterior of the skill in a precise bank, the centre of the look-ahead's bounds in a credal one."""
    question = bank.questions[name]
    if bank.is_precise:
        return qs.posterior(bank, told)[question.skills[0]].lower @ question.table.lower
    place = list(bank.questions).index(name)
    for group in lookahead(bank, told).groups:
        if place in group.batch.index:
            row = int(group.batch.row[group.batch.index == place][0])
            low, high = (end[0, row] for end in group.answers)
            return centre(low, high)
    raise AssertionError(name)


def test_foretelling_a_question_with_three_classes_on_two_skills():
    bank = qs.load("fractions")
    held = [name for name, question in bank.questions.items() if len(question.classes) == 3 or len(question.skills) == 2][:4]
    frame = people(bank, 6, missing=0.0)
    x = simulate(bank, qs.Rules(stop=qs.max_questions(2)), responses=frame, holdout=held)
    joint_bank = {skill.id: len(skill.levels) for skill in bank.skills.values()}
    assert not np.isin(x.asked, held).any()
    for person in range(6):
        told = {name: frame[name][person] for name in x.asked[person]}
        losses = []
        for name in held:
            before, after = (log_probability(bank, {**told, **more}, joint_bank) for more in ({}, {name: frame[name][person]}))
            losses.append(before - after)
        np.testing.assert_allclose(x.by_student["held_out_log_loss"][person, 2], np.mean(losses), rtol=0, atol=1e-9)


def log_probability(bank, answers, sizes):
    """The logarithm of P(answers), by the sum over all profiles."""
    joint = np.ones(tuple(sizes.values()))
    axes = list(sizes)
    tables = [(skill.table.lower, (*skill.parents, skill.id)) for skill in bank.skills.values()]
    for name, answer in answers.items():
        question = bank.questions[name]
        tables.append((question.table.lower[..., question.classes.index(answer)], question.skills))
    for table, names in tables:
        order = np.argsort([axes.index(name) for name in names])
        shape = [sizes[axis] if axis in names else 1 for axis in axes]
        joint = joint * np.transpose(table, order).reshape(shape)
    return np.log(joint.sum())


def test_people_without_an_answer_held_out_do_not_count():
    """Found by this test: they counted as foretold without any loss."""
    frame = pd.DataFrame({"a1": [1, 1, 0], "b1": [1, None, 0]})
    x = simulate(BANK, responses=frame, holdout=["b1"])
    assert np.isnan(x.by_student["held_out_log_loss"][1]).all()
    both = [-np.log(foretold(BANK, {"a1": answer}, "b1")[place]) for answer, place in (("right", 1), ("wrong", 0))]
    assert x.held_out_log_loss[1] == pytest.approx(np.mean(both))
    assert x.error("held_out_log_loss")[1] == pytest.approx(np.std(both, ddof=1) / np.sqrt(2))
    nobody = simulate(BANK, responses=frame.assign(b2=None), holdout=["b2"])
    assert np.isnan(nobody.held_out_log_loss).all()


def test_what_nobody_was_asked_cannot_be_held_out():
    with pytest.raises(QuaestorError, match=r"^holdout: a question with a column in the responses, got 'b2'$"):
        simulate(BANK, responses=pd.DataFrame({"a1": [1, 0]}), holdout=["a1", "b2"])


def test_the_rows_are_the_people():
    with pytest.raises(QuaestorError, match=r"^responses: the rows are the people, got students as well$"):
        simulate(BANK, students=1024, responses=pd.DataFrame({"a1": [1, 0]}))


def test_what_is_not_known_of_real_people_is_said():
    frame = people(BANK, 5)
    x, held = simulate(BANK, responses=frame), simulate(BANK, responses=frame, holdout=["b1"])
    words = "no accuracy: the true levels of real people are not known; use holdout= to see how well answers are predicted"
    with pytest.raises(AttributeError) as error:
        _ = x.accuracy
    assert str(error.value) == words
    with pytest.raises(AttributeError) as error:
        _ = held.accuracy
    assert str(error.value) == f"{words}; there are held_out_log_loss, held_out_accuracy"
    for call in (x.error, x.by_level, lambda metric: x.difference(x, metric)):
        with pytest.raises(QuaestorError) as found:
            call("accuracy")
        assert str(found.value) == words
    assert {"held_out_log_loss", "held_out_accuracy"} <= set(dir(held))
    assert "accuracy" not in dir(held)


def test_paired_differences_of_foretelling():
    frame = people(BANK, 60, missing=0.2)
    one, other = (simulate(BANK, qs.Rules(score=score), responses=frame, holdout=["b1", "a2"]) for score in ("entropy", "order"))
    mean, error = one.difference(other, "held_out_log_loss")
    apart = one.by_student["held_out_log_loss"] - other.by_student["held_out_log_loss"]
    apart = apart[~np.isnan(apart).any(axis=1)]
    np.testing.assert_allclose(mean, apart.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(error, apart.std(axis=0, ddof=1) / np.sqrt(len(apart)), atol=1e-12)
    assert mean[-1] == pytest.approx(0, abs=1e-9)  # in the end all have been asked the same


def test_real_people_take_no_behaviour_and_no_truth():
    frame = pd.DataFrame({name: [0, 1] for name in BANK.questions})
    for wrong in ({"behaviour": Behaviour(slips=1.0)}, {"truth": BANK}):
        with pytest.raises(QuaestorError, match="responses: real people answer as they did, got a truth or a behaviour as well"):
            simulate(BANK, responses=frame, **wrong)


def test_a_column_of_people_is_refused_with_what_to_do():
    frame = pd.DataFrame({"person": ["a", "b"], "Q1": [0, 1], "Q2": [1, 1]})
    bank = qs.load("single-skill")
    hint = "got 'person' (if it names the people, read the file with index_col='person' or take frame.set_index('person'), else drop it)"
    for call in (lambda: qs.learn(bank, frame), lambda: qs.simulate(bank, responses=frame)):
        with pytest.raises(qs.QuaestorError, match=re.escape(hint)):
            call()
    assert len(read_responses(bank, frame.set_index("person"))) == 2
    with pytest.raises(qs.QuaestorError, match=r"got 'QQ1' \(did you mean 'Q1'\?\)"):
        read_responses(bank, frame.rename(columns={"person": "QQ1"}))
    with pytest.raises(qs.QuaestorError, match=r"got 'person'$"):
        read_responses(bank, frame.assign(form="A"))


def test_simulated_answers_as_a_table(tmp_path):
    """What is written is what is read: a cell is the class name of the answer, or empty."""
    bank = qs.load("fractions")
    found = qs.simulate(bank, qs.Rules(stop=qs.max_questions(6)), students=20, seed=3, behaviour=qs.Behaviour(skipping=0.3))
    table = found.responses(bank)
    assert list(table.columns) == list(bank.questions)
    for student in range(20):
        given = {
            question: bank.questions[question].classes[code]
            for question, code in zip(found.asked[student], found.answers[student], strict=True)
            if question and code >= 0
        }
        assert table.loc[student].dropna().to_dict() == given
    table.to_csv(tmp_path / "answers.csv", index_label="person")
    again = pd.read_csv(tmp_path / "answers.csv", index_col="person")
    np.testing.assert_array_equal(read_cells(bank, again), read_cells(bank, table))
    with pytest.raises(qs.QuaestorError, match="the bank that was simulated"):
        found.responses(qs.load("single-skill"))
