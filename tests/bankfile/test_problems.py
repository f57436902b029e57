"""Several broken rules at once: all are reported, each once, at its place, and none causes another; junk never does worse."""

from hypothesis import given
from hypothesis import strategies as st

from helpers.broken_banks import CHANCES, ONE_WAY, problems, with_changes
from helpers.strategies import documents


def test_all_problems_are_reported_together_in_one_go():
    changes = {
        "imprecision": 2,
        "titel": "x",
        "skills.b.prior": [0.25, 0.5, 0.3],
        "skills.c.parents": ["x"],
        "templates.t.minutes": -1,
        "questions.Q.right": [0.25, 1.75],
        "questions.O.correct": "z",
        "questions.M.tags": ["x", "x"],
        "questions.N.tolerance": -1,
        "questions.W.accept": {"six": "half"},
        "questions.D.discrimination": "huge",
        "questions.I.irt": {"a": 0, "b": 0},
        "questions.T.table": {"no": [0.5, 0.6], "yes": [0.5, 0.7]},
    }
    assert problems(with_changes(changes)) == [
        "templates.t.minutes: a number above 0 is expected, got -1",
        "questions.Q.right[1]: a probability lies between 0 and 1, got 1.75",
        "questions.M.tags: each is listed once, got 'x'",
        "questions.D.discrimination: discrimination is a number or one of: weak, fair, strong, got 'huge'",
        "titel: unknown field, got 'titel' (did you mean 'title'?)",
        "imprecision: imprecision lies between 0 and 0.5, got 2",
        "skills.c.parents: unknown skill, got 'x'",
        "skills.b.prior: a row sums to 1 within 1e-06, got 1.05 = 0.25 + 0.5 + 0.3",
        "questions.O.correct: the correct option is one of the options, got 'z'",
        "questions.N.tolerance: a tolerance is a number not below 0, got '-1'",
        "questions.W.accept.six: an answer class is one of wrong, right, got 'half'",
        "questions.I.irt: the discrimination a is positive, got 0",
        "questions.T.table.no: a row sums to 1 within 1e-06, got 1.1 = 0.5 + 0.6",
        "questions.T.table.yes: a row sums to 1 within 1e-06, got 1.2 = 0.5 + 0.7",
    ]


def test_several_faults_of_one_field_are_all_reported():
    assert problems(with_changes({"questions.Q.right": ["x", 2]})) == [
        f"questions.Q.right[0]: a probability is a number or one of: {CHANCES}, got 'x'",
        "questions.Q.right[1]: a probability lies between 0 and 1, got 2",
    ]
    assert problems(with_changes({"questions.S.skills": ["x", "y"]})) == [
        "questions.S.skills: unknown skill, got 'x'",
        "questions.S.skills: unknown skill, got 'y'",
    ]
    assert problems(with_changes({"questions.T.table": {"no": [1], "yes": [0.5, 0.25, 0.25]}})) == [
        "questions.T.table.no: a row has 2 probabilities, got 1",
        "questions.T.table.yes: a row has 2 probabilities, got 3",
    ]


def test_a_row_with_a_wrong_key_is_missing_under_the_right_one():
    assert problems(with_changes({"questions.T.table": {"no": [0.5, 0.5], "yse": [0.5, 0.5]}})) == [
        "questions.T.table: one row for each of the 2 combinations of levels, got no row 'yes'",
        "questions.T.table: a row's key is the levels in order, joined by a comma, got 'yse' (e.g. 'no')",
    ]


def test_a_fault_in_a_skill_says_nothing_about_those_that_build_on_it():
    skills = {"a": {"prior": [0.5, 0.6]}, "b": {"parents": ["a"], "strength": 0.5}, "c": {"parents": ["b"], "strength": 0.5}}
    questions = {f"Q{name}": {"skill": name, "difficulty": "easy"} for name in skills}
    assert problems({"skills": skills, "questions": questions}) == ["skills.a.prior: a row sums to 1 within 1e-06, got 1.1 = 0.5 + 0.6"]


def test_a_fault_in_a_template_is_reported_once():
    used = {f"Q{number}": {"template": "t"} for number in range(5)}

    def found(template):
        return problems({"skills": {"a": {}}, "templates": {"t": {"skill": "a", **template}}, "questions": used})

    assert found({"right": [0.25, 1.75]}) == ["templates.t.right[1]: a probability lies between 0 and 1, got 1.75"]
    assert found({"right": [0.25]}) == ["templates.t.right: one probability for each of the 2 levels (no, yes), got 1"]
    assert found({"table": {"no": [0.5, 0.6], "yes": [0.5, 0.5]}}) == [
        "templates.t.table.no: a row sums to 1 within 1e-06, got 1.1 = 0.5 + 0.6"
    ]
    assert found({"right": [0, 1], "options": ["x"], "correct": "y"}) == [
        "templates.t.correct: the correct option is one of the options, got 'y'"
    ]
    assert found({"right": [0, 1], "skill": "z"}) == ["templates.t.skill: unknown skill, got 'z'"]


def test_what_a_template_lacks_is_reported_for_each_question():
    document = {"skills": {"a": {}}, "templates": {"t": {"skill": "a"}}, "questions": {"Q1": {"template": "t"}, "Q2": {"template": "t"}}}
    assert problems(document) == [f"questions.{name}: {ONE_WAY}, got none of them" for name in ("Q1", "Q2")]


def test_a_question_s_own_fault_is_reported_at_the_question():
    document = {
        "skills": {"a": {}},
        "templates": {"t": {"skill": "a", "right": [0, 1], "options": ["x", "y"], "classes": ["wrong", "right"]}},
        "questions": {"Q1": {"template": "t", "correct": "z"}, "Q2": {"template": "t", "correct": "x"}},
    }
    assert problems(document) == ["questions.Q1.correct: the correct option is one of the options, got 'z'"]


# Whatever is written, the answer is a bank or a BankError


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(),
    st.sampled_from([10**400, 10**5000, "", "no", "1/2", "[0, 1]", "\0", "\ud800", "x" * 30_000, b"x", object(), {1, 2}]),
    st.text(max_size=5),
    st.lists(st.one_of(st.floats(), st.text(max_size=3), st.none(), st.lists(st.floats(), max_size=2)), max_size=3),
    st.dictionaries(st.one_of(st.text(max_size=3), st.integers(), st.none()), st.one_of(st.floats(), st.text(max_size=3)), max_size=3),
)


def places(value, place=()):
    """Every place in nested dicts and lists, as a tuple of keys."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*place, step)
        yield from places(inner, (*place, step))


@given(documents(most_skills=3, most_questions=2), st.data())
def test_junk_anywhere_gives_a_bank_or_its_problems(document, data):
    for _ in range(data.draw(st.integers(1, 3))):
        *steps, last = data.draw(st.sampled_from(list(places(document))))
        section = document
        for step in steps:
            section = section[step]
        section[last] = data.draw(JUNK)
        if not document:
            break
    found = problems(document)
    assert len(found) == len(set(found))
    assert all(": " in problem and ", got " in problem for problem in found)


def test_an_entry_with_a_fault_is_still_checked_where_it_can_be_read():
    changes = {"questions.Q": {"skill": "z", "right": [0.2, 2], "options": ["x"], "correct": "y"}, "questions.S.slip": "often"}
    assert problems(with_changes({**changes, "questions.S.skills": ["a", "z"]})) == [
        "questions.Q.right[1]: a probability lies between 0 and 1, got 2",
        f"questions.S.slip: a probability is a number or one of: {CHANCES}, got 'often'",
        "questions.Q.skill: unknown skill, got 'z'",
        "questions.Q.correct: the correct option is one of the options, got 'y'",
        "questions.S.skills: unknown skill, got 'z'",
    ]
