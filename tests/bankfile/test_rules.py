"""Rules of skills and questions, each broken once, with the whole text of the problem."""

import pytest

from helpers.broken_banks import EVEN, GONE, ONE_WAY, QUESTION_FIELDS, VALID, cases, check, problems, with_changes
from quaestor.bankfile.bank import Bank


def test_the_document_that_is_changed_is_valid():
    assert Bank(VALID).warnings == ()


# The bank


@cases(
    ({"quaestor": 3}, "quaestor: this version reads formats 1 and 2, got 3"),
    ({"quaestor": "one"}, "quaestor: a number is expected, got 'one'"),
    ({"imprecision": 0.6}, "imprecision: imprecision lies between 0 and 0.5, got 0.6"),
    ({"imprecision": -0.1}, "imprecision: imprecision lies between 0 and 0.5, got -0.1"),
    ({"imprecision": 10**6}, "imprecision: imprecision lies between 0 and 0.5, got 1000000"),
    ({"titel": "x"}, "titel: unknown field, got 'titel' (did you mean 'title'?)"),
    (
        {"x": 1},
        "x: unknown field, got 'x' "
        "(known fields: quaestor, title, description, language, author, licence, imprecision, skills, templates, questions)",
    ),
    ({"skills": GONE}, "skills: a bank has at least one skill, got none"),
    ({"skills": {}}, "skills: a bank has at least one skill, got none"),
    ({"skills": None}, "skills: a bank has at least one skill, got none"),
    ({"skills": ["a"]}, "skills: a map from ids to fields is expected, got ['a']"),
    ({"skills": 0}, "skills: a map from ids to fields is expected, got 0"),
    ({"templates": "t"}, "templates: a map from ids to fields is expected, got 't'"),
    ({"questions": GONE}, "questions: a bank has at least one question, got none"),
    ({"questions": {}}, "questions: a bank has at least one question, got none"),
    ({"questions": ["Q"]}, "questions: a map from ids to fields is expected, got ['Q']"),
    ({"skills": {"a,b": {}}}, "skills: names have no comma and no equals sign, got 'a,b'"),
    ({"questions.Q=1": {}}, "questions: names have no comma and no equals sign, got 'Q=1'"),
    ({"questions. Q": VALID["questions"]["Q"]}, "questions: each id is used once, got 'Q'"),
    ({"skills.a ": {}}, "skills: each id is used once, got 'a'"),
    ({"questions.Q": 5}, "questions.Q: a map of fields is expected, got 5"),
    ({"questions.Q.dificulty": 0.4}, "questions.Q.dificulty: unknown field, got 'dificulty' (did you mean 'difficulty'?)"),
    ({"questions.Q": {5: 6}}, f"questions.Q: unknown field, got 5 (known fields: {QUESTION_FIELDS})"),
    ({"skills.a.prio": "even"}, "skills.a.prio: unknown field, got 'prio' (did you mean 'prior'?)"),
    (
        {"templates.t.template": "t"},
        f"templates.t.template: unknown field, got 'template' (known fields: {QUESTION_FIELDS.removeprefix('template, ')})",
    ),
)
def test_a_bank_has_skills_and_questions(changes, problem):
    check(changes, problem)


@pytest.mark.parametrize(
    ("document", "problem"), [(5, "bank: a map of fields is expected, got 5"), (["a"], "bank: a map of fields is expected, got ['a']")]
)
def test_a_document_is_a_map(document, problem):
    assert problems(document) == [problem]


@pytest.mark.parametrize("document", [None, "", {}])
def test_an_empty_document_has_neither_skills_nor_questions(document):
    assert problems(document) == [
        "skills: a bank has at least one skill, got none",
        "questions: a bank has at least one question, got none",
    ]


# Skills


@cases(
    ({"skills.c.parents": ["aa"]}, "skills.c.parents: unknown skill, got 'aa' (did you mean 'a'?)"),
    ({"skills.c.parents": ["multiplication"]}, "skills.c.parents: unknown skill, got 'multiplication'"),
    ({"skills.d": {"levels": ["only"]}}, "skills.d.levels: a skill has at least two levels, got ['only']"),
    ({"skills.b.abilities": [0, 1]}, "skills.b.abilities: 3 levels have 3 rising abilities, got [0, 1]"),
    ({"skills.b.abilities": [0, 1, 1]}, "skills.b.abilities: 3 levels have 3 rising abilities, got [0, 1, 1]"),
    ({"skills.c.prior": [0.5, 0.5]}, "skills.c: a skill with parents has table or strength, got prior and table"),
    ({"skills.c": {"parents": ["a"]}}, "skills.c: a skill with parents has table or strength, got none of them"),
    ({"skills.c": {"parents": ["a"], "shares": [1, 1]}}, "skills.c: a skill with parents has table or strength, got shares"),
    ({"skills.c.strength": 0.5}, "skills.c: a skill with parents has table or strength, got table and strength"),
    ({"skills.b.strength": 0.5}, "skills.b: a skill without parents has prior or shares, got prior and strength"),
    ({"skills.d": {"table": EVEN}}, "skills.d: a skill without parents has prior or shares, got table"),
    ({"skills.b.shares": [1, 1, 1]}, "skills.b: a skill without parents has prior or shares, got prior and shares"),
    ({"skills.d": {"shares": [0, 0]}}, "skills.d.shares: shares are not negative and not all zero, got [0, 0]"),
    ({"skills.d": {"shares": [1, -1]}}, "skills.d.shares: shares are not negative and not all zero, got [1, -1]"),
    ({"skills.d": {"shares": [1, 2, 3]}}, "skills.d.shares: a row has 2 probabilities, got 3"),
    (
        {"skills.b.prior": "mostly midle"},
        "skills.b.prior: a prior is a list of probabilities or one of: even, mostly low, mostly middle, mostly high, "
        "got 'mostly midle' (did you mean 'mostly middle'?)",
    ),
    ({"skills.b.prior": [0.5, 0.5]}, "skills.b.prior: a row has 3 probabilities, got 2"),
    ({"skills.b.prior": {"vertices": [[0.5, 0.5]]}}, "skills.b.prior: a row has 3 probabilities, got 2"),
    ({"skills.b.prior": {}}, "skills.b.prior: a row has 3 probabilities, got 0"),
    ({"skills.b.prior": [0.33, 0.33, 0.33]}, "skills.b.prior: a row sums to 1 within 1e-06, got 0.99 = 0.33 + 0.33 + 0.33"),
    (
        {"skills.b.prior": {"vertices": [[0.2, 0.3, 0.5], [0.2, 0.3, 0.4]]}},
        "skills.b.prior: a vertex sums to 1 within 1e-06, got 0.9 = 0.2 + 0.3 + 0.4",
    ),
    (
        {"skills.b.prior": [[0.5, 0.6], [0.5, 0.6], [0.5, 0.6]]},
        "skills.b.prior: an interval row holds a distribution: its lower ends sum to at most 1, "
        "got 1.5 for [0.5, 0.6] + [0.5, 0.6] + [0.5, 0.6]",
    ),
    ({"skills.c.table.no": [0.5, 0.6]}, "skills.c.table.no: a row sums to 1 within 1e-06, got 1.1 = 0.5 + 0.6"),
    ({"skills.c.table.no": [0.5, 0.25, 0.25]}, "skills.c.table.no: a row has 2 probabilities, got 3"),
    ({"skills.c.table.no": GONE}, "skills.c.table: one row for each of the 2 combinations of levels, got no row 'no'"),
    ({"skills.c": {"parents": ["a"], "strength": 2}}, "skills.c.strength: strength lies between 0 and 1, got 2"),
    (
        {"skills.b.confidence": "shure"},
        "skills.b.confidence: confidence is a number or one of: certain, sure, fairly sure, unsure, very unsure, "
        "got 'shure' (did you mean 'sure'?)",
    ),
    ({"skills.b.confidence": 0.6}, "skills.b.confidence: confidence is a half-width between 0 and 0.5, or a word, got 0.6"),
)
def test_a_skill_states_its_levels_and_table(changes, problem):
    check(changes, problem)


def test_a_skill_nearby_is_proposed():
    skills = {"multiplication": {}, "division": {"parents": ["multiplicaton"], "strength": 0.5}}
    questions = {"Q": {"skill": "divison", "right": [0.25, 0.75]}}
    assert problems({"skills": skills, "questions": questions}) == [
        "skills.division.parents: unknown skill, got 'multiplicaton' (did you mean 'multiplication'?)",
        "questions.Q.skill: unknown skill, got 'divison' (did you mean 'division'?)",
    ]


@pytest.mark.parametrize(
    ("parents", "problem"),
    [
        ({"x": ["x"]}, "skills.x.parents: skills do not depend on themselves, got x -> x"),
        ({"x": ["z"], "y": ["x"], "z": ["y"]}, "skills.x.parents: skills do not depend on themselves, got x -> y -> z -> x"),
        ({"r": [], "x": ["r", "y"], "y": ["x"]}, "skills.x.parents: skills do not depend on themselves, got x -> y -> x"),
    ],
)
def test_skills_have_no_cycle(parents, problem):
    skills = {name: {"parents": above, "strength": 0.5} if above else {} for name, above in parents.items()}
    assert problems({"skills": skills, "questions": {"Q": {"skill": "x", "right": [0.25, 0.75]}}}) == [problem]


# Scope, classes and templates of questions


@cases(
    ({"questions.Q.skill": "z"}, "questions.Q.skill: unknown skill, got 'z'"),
    ({"questions.S.skills": ["a", "z"]}, "questions.S.skills: unknown skill, got 'z'"),
    ({"questions.Q.skill": GONE}, "questions.Q: a question has a skill or skills that it measures, got none"),
    ({"questions.Q.skill": ""}, "questions.Q: a question has a skill or skills that it measures, got none"),
    ({"questions.Q.skills": ["a"]}, "questions.Q.skills: a question names its skill or its skills, got both"),
    ({"questions.T.classes": ["x"]}, "questions.T.classes: a question has at least two answer classes, got ['x']"),
    ({"questions.a": {"skill": "a", "right": [0.25, 0.75]}}, "questions.a: questions and skills have different ids, got 'a'"),
    ({"questions.Q.template": "easy"}, "questions.Q.template: unknown template, got 'easy'"),
    ({"templates.easy": {}, "questions.Q.template": "esay"}, "questions.Q.template: unknown template, got 'esay' (did you mean 'easy'?)"),
)
def test_a_question_has_a_scope_and_classes(changes, problem):
    check(changes, problem)


# What an entry is compared with


@cases(
    ({"questions.O.correct": "z"}, "questions.O.correct: the correct option is one of the options, got 'z'"),
    (
        {"questions.O.options": ["apple", "pear"], "questions.O.correct": "aple"},
        "questions.O.correct: the correct option is one of the options, got 'aple' (did you mean 'apple'?)",
    ),
    (
        {"questions.O.correct": GONE},
        "questions.O.options: each option has a class: give 'correct', or a map from options to classes, got ['x', 'y']",
    ),
    ({"questions.O.options": GONE}, "questions.O.correct: a key goes with options, got 'x'"),
    (
        {"questions.O.correct": ["x", "y"]},
        "questions.O.correct: one choice has one correct option; use 'kind: choices' for several, got ['x', 'y']",
    ),
    (
        {"questions.O.options": {"x": "rigth", "y": "wrong"}},
        "questions.O.options.x: an answer class is one of wrong, right, got 'rigth' (did you mean 'right'?)",
    ),
    (
        {"questions.O.options": {"x": "wrong", "y": "wrong"}, "questions.O.correct": GONE},
        "questions.O.options: at least one option has the best class, right, got none",
    ),
    (
        {"questions.O.options": {"x": "wrong", "y": "right"}},
        "questions.O.correct: a correct option has the best class, right, got 'x'",
    ),
    (
        {"questions.M.options": {"x": "right", "y": "wrong"}},
        "questions.M.options: for several choices the options are a list; 'correct' names the right ones, got a map",
    ),
    (
        {"questions.M.options": GONE},
        "questions.M.options: for several choices the options are a list; 'correct' names the right ones, got none",
    ),
    ({"questions.M.correct": ["x", "z"]}, "questions.M.correct: the correct option is one of the options, got 'z'"),
    (
        {"questions.M.correct": GONE},
        "questions.M.options: each option has a class: give 'correct', or a map from options to classes, got ['x', 'y']",
    ),
    ({"questions.O.accept": ["z"]}, "questions.O.accept: this field does not go with kind 'choice', got ['z']"),
    ({"questions.M.tolerance": 1}, "questions.M.tolerance: this field does not go with kind 'choices', got '1'"),
    ({"questions.N.options": ["5"]}, "questions.N.options: this field does not go with kind 'number', got ['5']"),
    ({"questions.W.options": ["5"]}, "questions.W.options: this field does not go with kind 'text', got ['5']"),
    ({"questions.W.tolerance": 1}, "questions.W.tolerance: this field does not go with kind 'text', got '1'"),
    ({"questions.N.correct": GONE}, "questions.N.correct: a number question has a correct answer, or answers to accept, got none"),
    ({"questions.W.correct": GONE}, "questions.W.correct: a text question has a correct answer, or answers to accept, got none"),
    (
        {"questions.N.correct": [5, 6]},
        "questions.N.correct: a number question has one correct answer; 'accept' takes others, got ['5', '6']",
    ),
    (
        {"questions.W.correct": ["x", "y"]},
        "questions.W.correct: a text question has one correct answer; 'accept' takes others, got ['x', 'y']",
    ),
    ({"questions.N.correct": "five"}, "questions.N.correct: a number question accepts numbers, such as 12, 0.75, 3/4 or 1 1/2, got 'five'"),
    ({"questions.N.accept": ["5²"]}, "questions.N.accept: a number question accepts numbers, such as 12, 0.75, 3/4 or 1 1/2, got '5²'"),
    ({"questions.N.accept": {"6": "half"}}, "questions.N.accept.6: an answer class is one of wrong, right, got 'half'"),
    ({"questions.N.accept": {"5": "wrong"}}, "questions.N.accept.5: the correct answer has the best class, right, got 'wrong'"),
    (
        {"questions.W.accept": {"six": "rihgt"}},
        "questions.W.accept.six: an answer class is one of wrong, right, got 'rihgt' (did you mean 'right'?)",
    ),
    ({"questions.N.tolerance": -1}, "questions.N.tolerance: a tolerance is a number not below 0, got '-1'"),
    ({"questions.N.tolerance": "little"}, "questions.N.tolerance: a tolerance is a number not below 0, got 'little'"),
)
def test_an_entry_has_something_to_be_compared_with(changes, problem):
    check(changes, problem)


# How likely each answer is


@cases(
    ({"questions.Q.right": GONE}, f"questions.Q: {ONE_WAY}, got none of them"),
    ({"questions.Q.table": EVEN}, f"questions.Q: {ONE_WAY}, got right and table"),
    ({"questions.D.irt": {"b": 0}, "questions.D.needs": "all"}, f"questions.D: {ONE_WAY}, got difficulty and needs and irt"),
    ({"questions.Q.discrimination": "weak"}, "questions.Q.discrimination: this field belongs to 'difficulty', got 'right'"),
    ({"questions.T.slip": 0.1}, "questions.T.slip: this field belongs to 'needs', got 'table'"),
    ({"questions.I.guess": 0.1}, "questions.I.guess: this field belongs to 'difficulty, needs', got 'irt'"),
    ({"questions.D.at_least": {"a": "yes"}}, "questions.D.at_least: this field belongs to 'needs, gdina, rrum', got 'difficulty'"),
    ({"questions.Q.right": [0.5]}, "questions.Q.right: one probability for each of the 2 levels (no, yes), got 1"),
    ({"questions.Q.right": [0.5, 0.6, 0.7]}, "questions.Q.right: one probability for each of the 2 levels (no, yes), got 3"),
    (
        {"questions.S": {"skills": ["a", "b"], "right": [0.25, 0.75]}},
        "questions.S.right: 'right' is for one skill; use 'table' or 'needs' for several, got 2 skills",
    ),
    (
        {"questions.S": {"skills": ["a", "b"], "difficulty": 0.5}},
        "questions.S.difficulty: 'difficulty' is for one skill; use 'table' or 'needs' for several, got 2 skills",
    ),
    ({"questions.S": {"skills": ["a", "b"], "irt": {"b": 0}}}, "questions.S.irt: 'irt' is for one skill, got 2 skills"),
    (
        {"questions.Q.classes": ["wrong", "half", "right"]},
        "questions.Q.classes: 'right' is for the classes wrong, right; use 'table' for others, got ['wrong', 'half', 'right']",
    ),
    (
        {"questions.D.classes": ["right", "wrong"]},
        "questions.D.classes: 'difficulty' is for the classes wrong, right; use 'table' for others, got ['right', 'wrong']",
    ),
    (
        {"questions.S.classes": ["bad", "good"]},
        "questions.S.classes: 'needs' is for the classes wrong, right; use 'table' for others, got ['bad', 'good']",
    ),
    (
        {"questions.D.difficulty": "eazy"},
        "questions.D.difficulty: difficulty is a number or one of: very easy, easy, medium, hard, very hard, "
        "got 'eazy' (did you mean 'easy'?)",
    ),
    (
        {"questions.D.discrimination": "stong"},
        "questions.D.discrimination: discrimination is a number or one of: weak, fair, strong, got 'stong' (did you mean 'strong'?)",
    ),
    ({"questions.D.difficulty": 1.5}, "questions.D.difficulty: difficulty lies between 0 and 1, got 1.5"),
    ({"questions.D.difficulty": 0.95}, "questions.D.difficulty: at difficulty 0.95 discrimination lies between 0 and 0.1, got 'weak'"),
    ({"questions.D.discrimination": -1}, "questions.D.difficulty: at difficulty 0.4 discrimination lies between 0 and 0.8, got -1"),
    ({"questions.S.slip": GONE}, "questions.S: 'needs' goes with slip and guess, got no slip"),
    ({"questions.S.guess": GONE}, "questions.S: 'needs' goes with slip and guess, got no guess"),
    ({"questions.S.at_least": {"c": "yes"}}, "questions.S.at_least: at_least names skills of this question, got 'c'"),
    ({"questions.S.at_least": {"b": "top"}}, "questions.S.at_least.b: unknown level of b (low, mid, high), got 'top'"),
    ({"questions.I.irt": {"a": 1}}, "questions.I.irt: 'irt' has a difficulty b, or a list of thresholds, got none"),
    ({"questions.I.irt": {}}, "questions.I.irt: 'irt' has a difficulty b, or a list of thresholds, got none"),
    ({"questions.I.irt": {"a": 0, "b": 0}}, "questions.I.irt: the discrimination a is positive, got 0"),
    ({"questions.I.irt": {"b": 0, "c": 1}}, "questions.I.irt: the guessing parameter c lies between 0 and 1, got 1"),
    ({"questions.I.irt": {"b": [0, 1], "c": 0.2}}, "questions.I.irt: the graded model has no guessing parameter c, got 0.2"),
    ({"questions.I.irt": {"b": [1, 0]}}, "questions.I.irt: the thresholds b rise, got [1, 0]"),
    ({"questions.I.irt": {"b": [0, 1]}}, "questions.I.irt.b: 2 answer classes have 1 threshold, got 2"),
    ({"questions.I.classes": ["x", "y", "z"]}, "questions.I.irt.b: 3 answer classes have 2 thresholds, got 1"),
    (
        {"questions.Q.confidence": "very"},
        "questions.Q.confidence: confidence is a number or one of: certain, sure, fairly sure, unsure, very unsure, got 'very'",
    ),
    ({"questions.Q.confidence": "60%"}, "questions.Q.confidence: confidence is a half-width between 0 and 0.5, or a word, got '60%'"),
)
def test_a_question_states_its_probabilities(changes, problem):
    check(changes, problem)


@cases(
    ({"questions.T.table.no": GONE}, "questions.T.table: one row for each of the 2 combinations of levels, got no row 'no'"),
    (
        {"questions.T.table.maybe": [0.5, 0.5]},
        "questions.T.table: a row's key is the levels in order, joined by a comma, got 'maybe' (e.g. 'no')",
    ),
    (
        {"questions.T": {"skills": ["a", "b"], "table": {"no, low": [0.5, 0.5]}}},
        "questions.T.table: one row for each of the 6 combinations of levels, got no row 'no, mid'",
    ),
    ({"questions.T.table.no": [1]}, "questions.T.table.no: a row has 2 probabilities, got 1"),
    ({"questions.T.table.no": {"vertices": [[0.5, 0.5], [1]]}}, "questions.T.table.no: a row has 2 probabilities, got 1"),
    ({"questions.T.table.no": {}}, "questions.T.table.no: a row has 2 probabilities, got 0"),
    ({"questions.T.table.no": [0.5, 0.4]}, "questions.T.table.no: a row sums to 1 within 1e-06, got 0.9 = 0.5 + 0.4"),
    ({"questions.T.table.no": [0.5, 0.500002]}, "questions.T.table.no: a row sums to 1 within 1e-06, got 1.000002 = 0.5 + 0.500002"),
    (
        {"questions.T.table.no": [0.7, [0.5, 0.6]]},
        "questions.T.table.no: an interval row holds a distribution: its lower ends sum to at most 1, got 1.2 for 0.7 + [0.5, 0.6]",
    ),
    (
        {"questions.T.table.no": [[0.1, 0.2], [0.1, 0.2]]},
        "questions.T.table.no: an interval row holds a distribution: its upper ends sum to at least 1, got 0.4 for [0.1, 0.2] + [0.1, 0.2]",
    ),
    (
        {"questions.T.table.no": {"vertices": [[0.5, 0.5], [0.5, 0.6]]}},
        "questions.T.table.no: a vertex sums to 1 within 1e-06, got 1.1 = 0.5 + 0.6",
    ),
    (
        {"questions.T.table.no": {"vertices": [[0.5, 0.5]]}, "questions.T.table.yes": [0.5, 0.6]},
        "questions.T.table.yes: a row sums to 1 within 1e-06, got 1.1 = 0.5 + 0.6",
    ),
)
def test_a_table_has_a_row_for_each_combination(changes, problem):
    check(changes, problem)


def test_a_combination_is_stated_once():
    rows = {f"{a}, {b}": [0.5, 0.5] for a in ("no", "yes") for b in ("low", "mid", "high")}
    assert problems(with_changes({"questions.T": {"skills": ["a", "b"], "table": rows | {"no,low": [0.4, 0.6]}}})) == [
        "questions.T.table: each is listed once, got 'no, low'"
    ]


def test_a_table_with_too_many_rows_is_refused_before_it_is_made():
    many = {f"p{number}": {} for number in range(17)}
    changes = {
        "skills": {**VALID["skills"], **many, "deep": {"parents": list(many), "strength": 0.5}},
        "questions.S": {"skills": list(many), "needs": "all", "slip": 0.1, "guess": 0.2},
    }
    assert problems(with_changes(changes)) == [
        "skills.deep.strength: a table has at most 65,536 rows, got 131,072 combinations of levels",
        "questions.S.needs: a table has at most 65,536 rows, got 131,072 combinations of levels",
    ]
