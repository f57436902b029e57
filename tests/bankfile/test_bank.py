"""Banks made from documents: what they hold, their normal form, templates, and the type itself."""

import json
import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given

from helpers.broken_banks import VALID, with_changes
from helpers.small_banks import TWO, bank, rights
from helpers.strategies import documents
from quaestor.bankfile.bank import Bank, put_together, take_apart
from quaestor.bankfile.elicit import abilities
from quaestor.errors import BankError
from quaestor.model.table import Table

ROUNDING = 1e-12  # of a few sums and differences of numbers below one


# What a bank holds


def test_a_skill_has_what_was_stated():
    made = bank(
        skills={
            "a": {"levels": ["low", "mid", "high"], "prior": [0.25, 0.5, 0.25], "title": " Adding ", "description": "one\r\ntwo"},
            "b": {"parents": ["a"], "strength": 1, "abilities": [-2, "1/2"]},
        }
    )
    a, b = made.skills.values()
    assert (a.id, a.levels, a.parents, a.title, a.description) == ("a", ("low", "mid", "high"), (), "Adding", "one\ntwo")
    assert a.table == Table.precise([0.25, 0.5, 0.25])
    assert a.abilities == tuple(abilities(3))
    assert (b.levels, b.parents, b.abilities, b.title, b.description) == (("no", "yes"), ("a",), (-2, 0.5), "", "")
    assert b.table == Table.precise([[1, 0], [0.5, 0.5], [0, 1]])


def test_skills_may_be_written_before_their_parents():
    made = bank(skills={"b": {"parents": ["a"], "table": {"no": [0.5, 0.5], "yes": [0.25, 0.75]}}, "a": {}})
    assert list(made.skills) == ["b", "a"]
    assert made.skills["b"].parents == ("a",)


@pytest.mark.parametrize(
    ("stated", "row"),
    [
        ({}, [0.5, 0.5]),
        ({"prior": "mostly high"}, [1 / 3, 2 / 3]),
        ({"prior": ["unlikely", "likely"]}, [0.25, 0.75]),
        ({"prior": ["1/4", "75%"]}, [0.25, 0.75]),
        ({"shares": [1, 3]}, [0.25, 0.75]),
        ({"prior": {"vertices": [[0.25, 0.75]]}}, [0.25, 0.75]),
    ],
)
def test_every_way_to_state_a_prior(stated, row):
    made = bank(skills={"a": stated})
    assert made.is_precise
    assert made.skills["a"].table.lower == pytest.approx(row)


def test_a_question_has_what_was_stated():
    made = bank(
        {
            "Q1": {
                "text": "What?",
                "options": ["15", 50],
                "correct": "50",
                "skill": "a",
                "right": [0.25, 0.75],
                "explanation": "So.",
                "media": "a.png",
                "alt": "A",
                "minutes": "1/2",
                "group": "g",
                "tags": ["t", "u"],
                "pilot": "true",
            }
        }
    )
    asked = made.questions["Q1"]
    assert (asked.id, asked.text, asked.kind, asked.skills, asked.classes) == ("Q1", "What?", "choice", ("a",), ("wrong", "right"))
    assert (asked.options, asked.option_classes, asked.correct) == (("15", "50"), {"15": "wrong", "50": "right"}, ("50",))
    assert (asked.explanation, asked.media, asked.alt, asked.minutes, asked.group) == ("So.", "a.png", "A", 0.5, "g")
    assert (asked.tags, asked.pilot, asked.template) == (("t", "u"), True, "")
    assert asked.table == Table.precise([[0.75, 0.25], [0.25, 0.75]])


def test_a_question_has_defaults():
    asked = bank().questions["Q"]
    assert (asked.text, asked.kind, asked.options, asked.correct, asked.accept) == ("", "choice", (), (), {})
    assert (asked.minutes, asked.group, asked.tags, asked.pilot, asked.tolerance) == (None, "", (), False, 0)


@pytest.mark.parametrize(
    ("stated", "rows"),
    [
        ({"skill": "a", "right": [0.25, [0.5, 0.75]]}, [[0.25, 0.25], [0.5, 0.75]]),
        ({"skill": "b", "difficulty": "medium", "discrimination": 0.5}, [[0.25, 0.25], [0.5, 0.5], [0.75, 0.75]]),
        ({"skill": "a", "difficulty": 0.5}, [[0.3, 0.3], [0.7, 0.7]]),
        ({"skills": ["a", "b"], "needs": "all", "slip": 0.25, "guess": [0, 0.5]}, [[0, 0.5]] * 5 + [[0.75, 0.75]]),
        (
            {"skills": ["b", "a"], "needs": "any", "slip": 0, "guess": 0.5, "at_least": {"b": "mid"}},
            [[0.5, 0.5], [1, 1], [1, 1], [1, 1], [1, 1], [1, 1]],
        ),
        ({"skill": "a", "table": {"yes": [0.25, 0.75], "no": [[0.5, 1], [0, 0.25]]}}, [[0, 0.25], [0.75, 0.75]]),
        ({"skill": "a", "table": {"no": {"vertices": [[0.5, 0.5], [1, 0]]}, "yes": [0, 1]}}, [[0, 0.5], [1, 1]]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_every_way_to_state_a_question(stated, rows):
    assert rights(bank({"Q": stated}, TWO)) == rows


def test_item_response_theory_uses_the_abilities_of_the_skill():
    asked = {"Q": {"skill": "a", "irt": {"b": 1, "c": 0.2}}}
    rise = 1 / (1 + np.exp(2))
    assert bank(asked, {"a": {"abilities": [-1, 1]}}).questions["Q"].table.lower[:, 1] == pytest.approx([0.2 + 0.8 * rise, 0.6])
    by_default = bank(asked).questions["Q"].table.lower[:, 1]
    assert by_default == pytest.approx([0.2 + 0.8 / (1 + np.exp(1 - theta)) for theta in abilities(2)])


def test_the_graded_model_has_one_class_more_than_thresholds():
    made = bank({"Q": {"skill": "a", "classes": ["x", "y", "z"], "irt": {"a": 2, "b": [-1, 1]}}}, {"a": {"abilities": [-1, 1]}})
    tail, half = 1 / (1 + np.exp(4)), 0.5
    assert made.questions["Q"].table.lower == pytest.approx(np.array([[half, half - tail, tail], [tail, half - tail, half]]))


def test_rows_of_a_table_for_several_skills_are_found_by_their_keys():
    keys = {"yes,high": 6, "no, low": 1, "no,mid": 2, "no ,  high": 3, "yes, low": 4, "yes, mid": 5}
    stated = {key: [1 - tenths / 10, tenths / 10] for key, tenths in keys.items()}
    made = bank({"Q": {"skills": ["a", "b"], "table": stated}}, TWO)
    assert made.questions["Q"].table.lower[..., 1] == pytest.approx(np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]))


def test_vertices_stay_vertices():
    points = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    made = bank({"Q": {"skill": "a", "classes": ["x", "y", "z"], "table": {"no": [0.5, 0.25, 0.25], "yes": {"vertices": points}}}})
    table = made.questions["Q"].table
    assert table.row_vertices(1).tolist() == sorted(points)
    assert table.row_vertices(0).tolist() == [[0.5, 0.25, 0.25]]


def test_rows_may_be_off_by_the_tolerance():
    made = bank({"Q": {"skill": "a", "table": {"no": [0.3333333, 0.6666666], "yes": [0.5, 0.5]}}})
    assert made.questions["Q"].table.lower[0] == pytest.approx([1 / 3, 2 / 3], abs=1e-7)
    assert made.questions["Q"].table.lower.sum(axis=1) == pytest.approx(1, abs=ROUNDING)


def test_the_network_holds_the_skills_and_the_questions_below_them():
    made = bank({"Q": {"skills": ["b", "a"], "needs": "all", "slip": 0, "guess": 0.5}}, TWO)
    network = made.network
    assert network.names == ("a", "b", "Q")
    assert network.parents == ((), (), (1, 0))
    assert [variable.states for variable in network.variables] == [("no", "yes"), ("low", "mid", "high"), ("wrong", "right")]
    assert network.variables[2].table == made.questions["Q"].table


def test_an_empty_field_counts_as_left_out():
    full = {"skills": {"a": {"prior": "", "title": None}}, "title": "", "questions": {"Q": {"skill": "a", "right": [0, 1], "tags": ""}}}
    assert Bank(full) == bank({"Q": {"skill": "a", "right": [0, 1]}})


# The document


def test_the_document_is_in_normal_form():
    made = bank(
        {" Q ": {"right": ("0.25", "likely"), "skill": " a ", "minutes": "2.0", "correct": ["5"], "options": [5, 6.5]}}, title=" T "
    )
    assert made.document == {
        "quaestor": 1,
        "title": "T",
        "skills": {"a": {}},
        "questions": {"Q": {"options": ["5", "6.5"], "correct": "5", "skill": "a", "right": [0.25, "likely"], "minutes": 2}},
    }
    assert list(made.document["questions"]["Q"]) == ["options", "correct", "skill", "right", "minutes"]


@given(documents())
def test_a_bank_made_again_from_its_document_is_equal(document):
    made = Bank(document)
    again = Bank(made.document)
    assert again == made
    assert again.document == made.document
    assert again.model_version == made.model_version
    assert again.skills == made.skills
    assert again.questions == made.questions


def test_making_a_bank_leaves_the_document_given_alone():
    document = deepcopy(VALID)
    made = Bank(document)
    assert document == VALID
    document["questions"]["O"]["options"].clear()
    document["questions"].clear()
    document["skills"]["b"]["levels"].clear()
    assert made == Bank(VALID)


def test_the_document_of_a_bank_is_a_copy():
    made = bank({"Q": {"skill": "a", "right": [0.25, 0.75]}})
    made.document["questions"]["Q"]["right"][0] = 0.5
    assert made.document["questions"]["Q"]["right"] == [0.25, 0.75]


def test_the_document_is_plain_data():
    made = bank({"Q": {"skill": "a", "right": [0.25, (0.5, 0.75)]}})
    assert json.loads(json.dumps(made.document)) == made.document


# Templates


def with_template(template, **own):
    return bank({"Q": {"template": "t", **own}}, TWO, templates={"t": template})


def test_a_template_fills_in_what_a_question_does_not_say():
    template = {"skill": "a", "right": [0.25, 0.75], "text": "Template", "minutes": 2, "tags": ["x"]}
    asked = with_template(template, text="Own").questions["Q"]
    assert (asked.text, asked.minutes, asked.tags, asked.skills, asked.template) == ("Own", 2, ("x",), ("a",), "t")
    assert asked.table == Table.precise([[0.75, 0.25], [0.25, 0.75]])


@pytest.mark.parametrize(
    ("template", "own"),
    [
        ({"right": [0.25, 0.75]}, {"difficulty": "medium", "discrimination": 0}),
        ({"difficulty": "hard", "discrimination": "strong", "confidence": "unsure"}, {"right": [0.5, 0.5]}),
        ({"needs": "all", "slip": 0.25, "guess": 0.25}, {"table": {"no": [0.5, 0.5], "yes": [0.5, 0.5]}}),
        ({"right": [0.25, 0.75], "confidence": "unsure"}, {"right": [0.5, 0.5]}),
        ({"right": [0.25, 0.75]}, {"irt": {"a": 1e-9, "b": 0}}),
    ],
)
def test_a_question_s_own_statement_replaces_the_whole_statement_of_the_template(template, own):
    made = with_template({"skill": "a", **template}, **own)
    assert np.array(rights(made)) == pytest.approx(0.5, abs=1e-9)


def test_own_confidence_goes_with_the_statement_of_the_template():
    made = with_template({"skill": "a", "right": [0.25, 0.75], "confidence": "certain"}, confidence=0.125)
    assert rights(made) == [[0.125, 0.375], [0.625, 0.875]]


@pytest.mark.parametrize("own", [{"skill": "b"}, {"skills": ["b"]}])
@pytest.mark.parametrize("scope", [{"skill": "a"}, {"skills": ["a"]}])
def test_a_question_s_own_scope_replaces_that_of_the_template(scope, own):
    made = with_template({**scope, "difficulty": "medium"}, **own)
    assert made.questions["Q"].skills == ("b",)


def test_a_template_may_stay_unused():
    assert bank(templates={"t": {"right": [0.25, 0.75]}}).document["templates"] == {"t": {"right": [0.25, 0.75]}}


# The type itself


def test_a_bank_does_not_change():
    made = bank()
    with pytest.raises(FrozenInstanceError, match="a bank does not change, got a new title"):
        made.title = "other"
    with pytest.raises(FrozenInstanceError, match="a bank does not change, got no skills"):
        del made.skills
    with pytest.raises(TypeError):
        made.questions["Q2"] = made.questions["Q"]
    with pytest.raises(ValueError, match="read-only"):
        made.questions["Q"].table.lower[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        made.skills["a"].table.upper[0] = 1


def test_banks_are_equal_by_what_they_say():
    assert bank() == bank()
    assert hash(bank()) == hash(bank())
    assert bank() != bank(title="T")
    assert bank() != "bank"


def test_a_bank_shows_its_title_size_and_version():
    made = bank(title="Sums")
    assert repr(made) == f"<Bank 'Sums': 1 skills, 1 questions, version {made.version}>"
    assert bank().title == ""


def test_a_bank_survives_pickling():
    made = Bank(with_changes({"questions.Q.right": [0.5, 0.5], "imprecision": 0.05}))
    assert made.warnings
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again.skills == made.skills
    assert again.questions == made.questions
    assert again.warnings == made.warnings


def test_a_bank_is_taken_apart_and_put_together_with_a_break_after_every_200_questions():
    made = Bank({"skills": {"a": {}}, "questions": {f"Q{number}": {"skill": "a", "right": [0.2, 0.8]} for number in range(401)}})
    breaks = []
    apart = pickle.dumps(take_apart(made, lambda: breaks.append("apart")))
    again = put_together(pickle.loads(apart), lambda: breaks.append("together"))
    assert breaks == ["apart"] * 3 + ["together"] * 3
    assert (again, again.document, again.questions) == (made, made.document, made.questions)


def test_pickling_keeps_the_source():
    made = Bank(bank().document, source="# comment")
    assert pickle.loads(pickle.dumps(made)).source == "# comment"


def test_problems_and_warnings_are_located():
    asked = {"skill": "a", "right": [0.5, 0.5]}
    made = Bank({"skills": {"a": {}}, "questions": {"Q": asked}}, locate=lambda place: f"line of {place}")
    assert [problem.where for problem in made.warnings] == ["line of questions.Q"]
    with pytest.raises(BankError) as caught:
        Bank({"skills": {"a": {}}, "questions": {}}, locate=lambda place: f"line of {place}")
    assert str(caught.value) == "questions: a bank has at least one question, got none [line of questions]"


def test_a_field_that_goes_with_the_template_s_statement_does_not_hide_it():
    document = {
        "skills": {"a": {}},
        "templates": {"t": {"difficulty": 0.5, "discrimination": 0.2}},
        "questions": {"Q": {"skill": "a", "template": "t", "discrimination": 0.4}},
    }
    assert Bank(document).questions["Q"].table.lower[:, 1].tolist() == [0.3, 0.7]
