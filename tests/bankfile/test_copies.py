"""Imprecision and confidence, and copies of a bank with other numbers or fewer questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.small_banks import TWO, bank, prior, rights
from helpers.strategies import documents
from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError, QuaestorError

SMALL = documents(most_skills=3, most_questions=2)
ROUNDING = 1e-12  # of a few sums and differences of numbers below one


# Imprecision and confidence


def test_imprecision_widens_single_numbers_and_nothing_else():
    made = bank({"Q": {"skill": "a", "right": [0.25, [0.5, 0.75]]}}, {"a": {"prior": [0.5, 0.5]}}, imprecision=0.125)
    assert rights(made) == [[0.125, 0.375], [0.5, 0.75]]
    assert prior(made) == [[0.375, 0.625], [0.375, 0.625]]


def test_imprecision_widens_the_tables_of_skills_too():
    skills = {"a": {"shares": [1, 3]}, "b": {"parents": ["a"], "strength": 0.5}, "c": {"prior": [[0.25, 0.5], [0.5, 0.75]]}}
    made = bank(skills=skills, imprecision=0.125)
    assert prior(made, "a") == [[0.125, 0.375], [0.625, 0.875]]
    assert prior(made, "b") == [[[0.625, 0.875], [0.125, 0.375]], [[0.125, 0.375], [0.625, 0.875]]]
    assert prior(made, "c") == [[0.25, 0.5], [0.5, 0.75]]


def test_imprecision_leaves_vertices_alone():
    points = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    stated = {"skill": "a", "classes": ["x", "y", "z"], "table": {"no": [0.5, 0.25, 0.25], "yes": {"vertices": points}}}
    table = bank({"Q": stated}, imprecision=0.125).questions["Q"].table
    assert table.row_vertices(1).tolist() == sorted(points)
    assert table.lower[0].tolist() == [0.375, 0.125, 0.125]


def test_imprecision_is_made_reachable():
    made = bank(skills={"a": {"levels": ["low", "mid", "high"], "prior": [1, 0, 0]}, "b": {}}, imprecision=0.25)
    assert prior(made) == [[0.75, 1], [0, 0.25], [0, 0.25]]


@pytest.mark.parametrize(("confidence", "width"), [("certain", 0), ("very unsure", 0.2), (0.125, 0.125), ("12.5%", 0.125)])
def test_confidence_overrides_imprecision(confidence, width):
    stated = {"skill": "a", "right": [0.25, [0.5, 0.75]], "confidence": confidence}
    made = bank({"Q": stated}, {"a": {"confidence": confidence}}, imprecision=0.05)
    assert rights(made)[0] == pytest.approx([0.25 - width, 0.25 + width])
    assert rights(made)[1] == [0.5, 0.75]
    assert prior(made)[1] == pytest.approx([0.5 - width, 0.5 + width])


@given(SMALL, st.sampled_from([0.01, 0.1]))
def test_imprecision_of_a_precise_bank_is_the_same_as_widening(document, epsilon):
    precise = Bank(document).widen(0).centre()  # widened by nothing, it states plain rows, without confidence or vertices
    widened, imprecise = precise.widen(epsilon), Bank({**precise.document, "imprecision": epsilon})
    for one, other in zip(widened.network.variables, imprecise.network.variables, strict=True):
        assert one.table.lower == pytest.approx(other.table.lower, abs=ROUNDING)
        assert one.table.upper == pytest.approx(other.table.upper, abs=ROUNDING)


# Changed copies


@given(SMALL, st.sampled_from([0.0, 0.02, 0.3]))
def test_widen_moves_every_bound_outwards(document, epsilon):
    made = Bank(document)
    wide = made.widen(epsilon)
    for before, after in zip(made.network.variables, wide.network.variables, strict=True):
        expected = before.table.widen(epsilon)
        assert after.table.lower == pytest.approx(expected.lower, abs=ROUNDING)
        assert after.table.upper == pytest.approx(expected.upper, abs=ROUNDING)
        assert after.table.vertices.keys() == expected.vertices.keys()


@given(SMALL)
def test_the_centre_is_precise_and_made_of_the_centres_of_the_rows(document):
    made = Bank(document)
    middle = made.centre()
    assert middle.is_precise
    assert middle.centre() is middle
    for before, after in zip(made.network.variables, middle.network.variables, strict=True):
        assert after.table.lower == pytest.approx(before.table.centre().lower, abs=ROUNDING)


@given(SMALL)
def test_changed_copies_keep_all_that_is_no_table(document):
    made = Bank(document)
    for changed in (made.widen(0.1), made.centre(), made.subset(made.questions)):
        assert list(changed.questions) == list(made.questions)
        for question_id, before in made.questions.items():
            after = changed.questions[question_id]
            kept = (
                "text",
                "kind",
                "classes",
                "skills",
                "options",
                "option_classes",
                "correct",
                "accept",
                "tolerance",
                "tags",
                "minutes",
                "pilot",
            )
            assert [getattr(after, field) for field in kept] == [getattr(before, field) for field in kept]
        for skill_id, skill in made.skills.items():
            after_skill = changed.skills[skill_id]
            assert (after_skill.levels, after_skill.parents, after_skill.title) == (skill.levels, skill.parents, skill.title)
            assert after_skill.abilities == skill.abilities


def test_widening_writes_numbers_as_people_do():
    wide = bank({"Q": {"skill": "a", "right": [0.3, 0.7]}}).widen(0.05)
    assert wide.document["questions"]["Q"]["table"] == {"no": [[0.65, 0.75], [0.25, 0.35]], "yes": [[0.25, 0.35], [0.65, 0.75]]}
    assert wide.document["skills"]["a"] == {"prior": [[0.45, 0.55], [0.45, 0.55]]}


def test_widening_takes_up_imprecision_and_confidence():
    made = bank({"Q": {"skill": "a", "right": [0.25, 0.75], "confidence": 0.125}}, imprecision=0.25)
    wide = made.widen(0.125)
    assert rights(wide) == [[0, 0.5], [0.5, 1]]
    assert prior(wide) == [[0.125, 0.875], [0.125, 0.875]]
    assert "imprecision" not in wide.document


def test_widening_writes_the_tables_of_several_skills_and_keeps_vertices_when_it_is_nothing():
    points = [[0.2, 0.6, 0.2], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]]
    skills = {"a": {}, "b": {"levels": ["x", "y", "z"], "parents": ["a"], "table": {"no": {"vertices": points}, "yes": [0.5, 0.25, 0.25]}}}
    same = bank(skills=skills).widen(0)
    assert same.document["skills"]["b"]["table"] == {"no": {"vertices": points}, "yes": [0.5, 0.25, 0.25]}
    assert same.model_version == bank(skills=skills).model_version


def test_widening_by_no_probability_is_refused():
    with pytest.raises(QuaestorError, match="a table is widened by a number between 0 and 1, got 2"):
        bank().widen(2)


def test_is_precise_sees_every_table():
    assert bank().is_precise
    assert not bank(skills={"a": {"prior": [[0.25, 0.5], [0.5, 0.75]]}}).is_precise
    assert not bank({"Q": {"skill": "a", "right": [0.25, [0.5, 0.75]]}}).is_precise


THREE_QUESTIONS = {name: {"skill": "a", "right": [0.25, 0.75]} for name in ("Q1", "Q2", "Q3")}


def test_a_subset_keeps_the_order_of_the_bank_and_all_skills():
    made = bank(THREE_QUESTIONS, TWO, title="T", imprecision=0.1)
    part = made.subset(["Q3", "Q1", "Q3"])
    assert list(part.questions) == ["Q1", "Q3"]
    assert list(part.skills) == ["a", "b"]
    assert (part.title, part.questions["Q1"]) == ("T", made.questions["Q1"])


def test_a_subset_of_unknown_questions_is_refused():
    with pytest.raises(QuaestorError) as caught:
        bank(THREE_QUESTIONS).subset(["Q1", "Q33", "Q44"])
    assert str(caught.value) == "unknown question, got 'Q33' (did you mean 'Q3'?)"
    with pytest.raises(QuaestorError) as caught:
        bank(THREE_QUESTIONS).subset([5])
    assert str(caught.value) == "unknown question, got 5"


def test_a_subset_of_nothing_is_refused():
    with pytest.raises(BankError) as caught:
        bank(THREE_QUESTIONS).subset([])
    assert str(caught.value) == "questions: a bank has at least one question, got none"
