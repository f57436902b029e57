"""Random rows, tables, networks and bank documents: valid by construction, small, and full of what people really write.

Strategies without arguments, or with few different ones, are made once (`cache`): making and checking them is what costs most.
"""

import string
from functools import cache
from itertools import product
from math import prod

import numpy as np
from hypothesis import strategies as st

from quaestor.bankfile.elicit import CHANCE, CONFIDENCE, DIFFICULTY, DISCRIMINATION, PRIOR
from quaestor.model.network import Network, Variable
from quaestor.model.table import Table

ROW_KINDS = ("precise", "interval", "vertices")

TRICKY_NAMES = [
    *("no", "yes", "null", "none", "true", "false", "on", "off", "~", "NO", "Yes", "nan", "inf", "id", "sheet", "text"),
    *("012", "1:30", "1e3", "1e-3", "0x1F", ".5", "50", "50.0", "-0", "-1", "+1", "2024-01-01", "½", "−2", "[1]", "1 2"),
    *("#", "!", "&", "*", "|", ">", "%", "@", "`", "'", '"', "\\", "a|b", "a->b", "a;b", "a..b", "a.b", "a: b", "a #b"),
    *("- a", "? a", "! b", "# c", "@x", "a b", "a  b", "a\u00a0b", "it's", 'say "so"', "{a}", "{{x}}", "<b>", "&amp;"),
    *("$x^2$", r"\frac{1}{2}", r"\n", "é", "e\u0301", "ß", "数", "עברית", "🎓"),
]
TRICKY_WORDS = [*TRICKY_NAMES, "1,5", "a, b", "=1+1", "@SUM(A1)", "x = 2", ",", "=", "0,75", "1.000,5"]
TRICKY_TEXTS = [
    *TRICKY_WORDS,
    *(
        r"What is $10 \times 5$?",
        "$$\\int_0^1 x\\,dx = \\tfrac12$$",
        "first line\nsecond line",
        "a paragraph\n\n- item\n- item",
        "```\ncode\n```",
    ),
    *("trailing: colon:", '"quoted"', "'single'", "a, b; c | d", "=cmd()", "# no comment", "tab\there", "---", "--- |\n  x"),
]

# Everything a document may hold in one line: no control characters, no surrogates, no line separators, no byte order mark.
LETTERS = st.one_of(
    st.sampled_from(string.ascii_letters + string.digits),
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff\ufffe\uffff"),
)


def _filled(letters, most):
    return st.text(letters, min_size=1, max_size=most).map(str.strip).filter(bool)


@cache
def words():
    """One line, kept as written: options, accepted answers, tags."""
    return st.one_of(st.sampled_from(TRICKY_WORDS), _filled(LETTERS, 8))


@cache
def names():
    """Words without comma and equals sign: ids, levels, classes."""
    plain = _filled(LETTERS.filter(lambda letter: letter not in ",="), 6)
    return st.one_of(st.sampled_from(string.ascii_lowercase), st.sampled_from(TRICKY_NAMES), plain)


@cache
def texts():
    """Texts of several lines, with LaTeX, quotes and what spreadsheets take for formulas."""
    return st.one_of(st.sampled_from(TRICKY_TEXTS), _filled(st.one_of(LETTERS, st.just("\n")), 20))


@cache
def numerals():
    """Numbers as authors write the key of a number question."""
    written = st.sampled_from(["1/2", "1 1/2", "0,75", "75 %", "-3", "−2", "1e-3", "12 000", "0.10", "007", ".5"])
    return st.one_of(written, st.integers(-1000, 1000), st.sampled_from([0.5, 2.0, -0.25, 1e-05]))


def unique(strategy, least, most):
    """A list of different items."""
    return st.lists(strategy, min_size=least, max_size=most, unique=True)


def _exactly(size, strategy):
    return st.lists(strategy, min_size=size, max_size=size)


# Rows, tables and networks


@cache
def distributions(states):
    """One distribution, a list of numbers that sum to one: tenths, but also thirds and sevenths, that have no short decimal form."""
    weights = _exactly(states, st.integers(0, 9)).filter(any)
    return weights.map(lambda drawn: [weight / sum(drawn) for weight in drawn])


@cache
def interval_rows(states):
    """An interval row as two lists, `lower` and `upper`, around some distribution; not always reachable."""

    def around(drawn):
        total = sum(weight for weight, _, _ in drawn)
        lower = [max(0, weight - less) / total for weight, less, _ in drawn]
        upper = [min(total, weight + more) / total for weight, _, more in drawn]
        return lower, upper

    slack = st.integers(0, 4)
    drawn = _exactly(states, st.tuples(st.integers(0, 9), slack, slack))
    return drawn.filter(lambda triples: any(weight for weight, _, _ in triples)).map(around)


@cache
def rows(states, kind=None):
    """A valid row as it stands in a bank: numbers, pairs of bounds among them, or `{"vertices": [...]}`. Any kind when none is given."""
    if kind is None:
        return st.one_of(*(rows(states, known) for known in ROW_KINDS))
    if kind == "precise":
        return distributions(states)
    if kind == "vertices":
        return st.lists(distributions(states), min_size=1, max_size=4).map(lambda points: {"vertices": points})
    return interval_rows(states).map(lambda bounds: [low if low == high else [low, high] for low, high in zip(*bounds, strict=True)])


@cache
def _tables(parent_sizes, states, kind):
    def made(drawn):
        vertices = {number: row["vertices"] for number, row in enumerate(drawn) if isinstance(row, dict)}
        flat = [[(0.0, 1.0)] * states if number in vertices else [_ends(entry) for entry in row] for number, row in enumerate(drawn)]
        ends = np.array(flat, dtype=float).reshape(*parent_sizes, states, 2)
        return Table(ends[..., 0], ends[..., 1], vertices)

    return _exactly(prod(parent_sizes), rows(states, kind)).map(made)


def _ends(entry):
    return tuple(entry) if isinstance(entry, list) else (entry, entry)


def tables(parent_sizes, states, kind=None):
    """A Table of shape (*parent_sizes, states); rows of mixed kinds when none is given."""
    return _tables(tuple(parent_sizes), states, kind)


@st.composite
def graphs(draw, nodes, most_parents=2):
    """A random DAG as a map from each node to its parents, in the order of `nodes`, which need not be a topological one."""
    order = draw(st.permutations(nodes))
    parents = {node: tuple(draw(unique(st.sampled_from(order[:rank]), 0, most_parents))) if rank else () for rank, node in enumerate(order)}
    return {node: parents[node] for node in nodes}


@st.composite
def networks(draw, most_variables=6, most_states=4, most_parents=2, kind=None):
    """A credal network on a random DAG, with rows of mixed kinds when none is given."""
    graph = draw(graphs(draw(unique(names(), 1, most_variables)), most_parents))
    states = {name: tuple(draw(unique(names(), 2, most_states))) for name in graph}
    return Network(
        tuple(
            Variable(name, states[name], parents, draw(tables([len(states[parent]) for parent in parents], len(states[name]), kind)))
            for name, parents in graph.items()
        )
    )


# Bank documents


@cache
def probabilities():
    """One probability as an author may write it: a number, a word, a fraction, per cent, or a pair."""
    numbers = st.integers(0, 100).map(lambda hundredths: hundredths / 100)
    written = st.sampled_from([*CHANCE, "1/3", "30%", "0,5", "0", "1", " .25 "])
    return st.one_of(numbers, written, _exactly(2, numbers).map(sorted))


def _optional(**fields):
    """Each of these fields, or not."""
    return st.fixed_dictionaries({}, optional=fields)


TENTHS = st.integers(-30, 30).map(lambda tenths: tenths / 10)
CONFIDENT = _optional(confidence=st.sampled_from([*CONFIDENCE, 0, 0.03, 0.5, "2%"]))
ABOUT_SKILL = _optional(title=words(), description=texts())
ABOUT_BANK = _optional(
    quaestor=st.sampled_from([1, "1", 1.0]),
    title=words(),
    description=texts(),
    language=st.just("en"),
    author=words(),
    licence=words(),
    imprecision=st.sampled_from([0, 0.01, "0.05", 0.5]),
)
ABOUT_QUESTION = _optional(
    text=texts(),
    explanation=texts(),
    media=st.sampled_from(["picture.png", "figures/a b.svg", "01.jpg"]),
    alt=texts(),
    minutes=st.sampled_from([1, 0.5, 2.25, "3", "1/2"]),
    group=words(),
    tags=unique(words(), 1, 3),
    pilot=st.sampled_from([True, False, "true"]),
)
BY_DIFFICULTY = st.fixed_dictionaries(
    {"difficulty": st.sampled_from([*DIFFICULTY, 0.3, 0.45, "1/2"])},
    optional={"discrimination": st.sampled_from([*DISCRIMINATION, 0, 0.35, "10%"])},
)
BY_NEEDS = st.fixed_dictionaries({"needs": st.sampled_from(["all", "any"]), "slip": probabilities(), "guess": probabilities()})
BY_IRT = st.fixed_dictionaries({"b": TENTHS}, optional={"a": st.sampled_from([0.5, 1, 1.7]), "c": st.sampled_from([0, 0.2])})


@st.composite
def _stated_table(draw, levels, states):
    between = draw(st.sampled_from([", ", ","]))
    keys = [between.join(combination) for combination in product(*levels)]
    return dict(zip(keys, draw(_exactly(len(keys), rows(states))), strict=True))


@st.composite
def _skill_statement(draw, levels, parents):
    """How the levels of a skill are distributed; `parents` holds the levels of each parent."""
    if parents:
        way = draw(st.sampled_from(["table", "table", "strength"]))
        return {way: draw(_stated_table(parents, len(levels)) if way == "table" else st.sampled_from([0, 0.3, 0.65, 1]))}
    way = draw(st.sampled_from(["prior", "prior", "word", "shares", "nothing"]))
    if way == "prior":
        return {"prior": draw(rows(len(levels)))}
    if way == "shares":
        return {"shares": draw(_exactly(len(levels), st.integers(1, 40)))}
    return {"prior": draw(st.sampled_from(PRIOR))} if way == "word" else {}


@st.composite
def _skills(draw, ids):
    """The section of skills: a random DAG."""
    graph = draw(graphs(ids))
    stated = {skill: draw(st.one_of(st.just({}), unique(names(), 2, 5).map(lambda levels: {"levels": levels}))) for skill in graph}
    levels = {skill: fields.get("levels", ["no", "yes"]) for skill, fields in stated.items()}
    for skill, parents in graph.items():
        stated[skill] |= {"parents": list(parents)} if parents else {}
        stated[skill] |= draw(_skill_statement(levels[skill], [levels[parent] for parent in parents]))
        stated[skill] |= draw(ABOUT_SKILL) | draw(CONFIDENT)
        if draw(st.sampled_from([False, False, True])):
            stated[skill]["abilities"] = sorted(draw(unique(TENTHS, len(levels[skill]), len(levels[skill]))))
    return stated


@st.composite
def _question_statement(draw, scope, classes):
    """One of the ways to say how likely each answer is; `scope` maps the question's skills to their levels."""
    single, plain = len(scope) == 1, classes == ["wrong", "right"]
    ways = ["table"] * 3 + ["irt"] * single + ["needs"] * plain + ["right", "right", "difficulty"] * (single and plain)
    ways += ["difficulty"] * (single and len(classes) > 2)
    way = draw(st.sampled_from(ways))
    if way == "table":
        return {"table": draw(_stated_table(list(scope.values()), len(classes)))}
    if way == "right":
        return {"right": draw(_exactly(len(next(iter(scope.values()))), probabilities()))}
    if way == "difficulty":
        return draw(BY_DIFFICULTY)
    if way == "needs":
        enough = {skill: draw(st.sampled_from(levels)) for skill, levels in scope.items()}
        return draw(BY_NEEDS) | ({"at_least": enough} if draw(st.booleans()) else {})
    if len(classes) == 2:
        return {"irt": draw(BY_IRT)}
    return {"irt": {"b": sorted(draw(unique(TENTHS, len(classes) - 1, len(classes) - 1)))}}


@cache
def _gap_names():
    """Names of gaps, as they stand in a text between brackets."""
    return words().filter(lambda name: not set(name) & set("[]"))


@st.composite
def _gap(draw):
    """What belongs into a gap: fields of a question of its kind."""
    kind = draw(st.sampled_from(["choice", "number", "text"]))
    if kind == "choice":
        options = draw(unique(words(), 2, 4))
        return {"options": options, "correct": draw(st.sampled_from(options))} | ({"kind": kind} if draw(st.booleans()) else {})
    answers = numerals() if kind == "number" else words()
    more = {"accept": draw(st.lists(answers, min_size=1, max_size=2))} if draw(st.booleans()) else {}
    return {"kind": kind, "correct": draw(answers)} | more | ({"tolerance": 0.5} if kind == "number" and draw(st.booleans()) else {})


@st.composite
def entries(draw, classes):
    """What a taker's entry is compared with, for every kind of question."""
    kind = draw(st.sampled_from(["nothing", "list", "map", "choices", "number", "text", "truefalse", "matching", "ordering", "gaps"]))
    if kind == "nothing":
        return {}
    if kind == "truefalse":
        return {"kind": kind, "correct": draw(st.sampled_from([True, False, "true", "False", "wahr"]))}
    if kind == "gaps":
        gaps = draw(st.dictionaries(_gap_names(), _gap(), min_size=1, max_size=3))
        return {"kind": kind, "gaps": gaps, "text": " and ".join(f"[[{name}]]" for name in gaps)}
    if kind in ("number", "text"):
        answers = numerals() if kind == "number" else words()
        fields = {"kind": kind, "correct": draw(answers)}
        if draw(st.booleans()):
            fields["accept"] = draw(st.lists(answers, min_size=1, max_size=3))
        elif draw(st.booleans()):
            given = draw(st.dictionaries(answers.map(str), st.sampled_from(classes), min_size=1, max_size=3))
            correct = str(fields["correct"]).strip()  # the correct answer has the best class
            fields["accept"] = {answer: classes[-1] if answer.strip() == correct else one for answer, one in given.items()}
        if kind == "number" and draw(st.booleans()):
            fields["tolerance"] = draw(st.sampled_from([0, 0.5, "1/10", "1e-3", "0,01"]))
        return fields
    options = draw(unique(words(), 2, 5))
    if kind == "list":
        return {"options": options, "correct": draw(st.sampled_from(options))}
    if kind == "ordering":
        return {"kind": kind, "options": options}
    if kind == "matching":
        pairs = draw(st.dictionaries(words(), st.sampled_from(options), min_size=1, max_size=4))
        enough = len(set(pairs.values())) > 1 and draw(st.booleans())
        return {"kind": kind, "pairs": pairs} | ({} if enough else {"options": options})
    if kind == "choices":
        return {"kind": kind, "options": options, "correct": draw(unique(st.sampled_from(options), 1, len(options)))}
    best = draw(st.sampled_from(options))
    classed = {option: draw(st.sampled_from(classes)) for option in options} | {best: classes[-1]}
    return {"options": classed} | ({"correct": best} if draw(st.booleans()) else {})


@st.composite
def _question(draw, skills):
    scope = {skill: skills[skill] for skill in draw(unique(st.sampled_from(list(skills)), 1, min(2, len(skills))))}
    classes = draw(st.one_of(st.just(["wrong", "right"]), unique(names(), 2, 4)))
    fields = {"skill": next(iter(scope))} if len(scope) == 1 and draw(st.booleans()) else {"skills": list(scope)}
    if classes != ["wrong", "right"] or draw(st.booleans()):
        fields["classes"] = classes
    return fields | draw(_question_statement(scope, classes)) | draw(CONFIDENT) | draw(ABOUT_QUESTION) | draw(entries(classes))


@st.composite
def documents(draw, most_skills=5, most_questions=4):
    """A valid bank document as a plain dict: every kind of row, statement, question and template."""
    ids = draw(unique(names(), 2, most_skills + most_questions))
    cut = draw(st.integers(max(1, len(ids) - most_questions), min(most_skills, len(ids) - 1)))
    skills = draw(_skills(ids[:cut]))
    levels = {skill: fields.get("levels", ["no", "yes"]) for skill, fields in skills.items()}
    questions = {question: draw(_question(levels)) for question in ids[cut:]}
    templates = {}
    for question, fields in questions.items():
        if draw(st.sampled_from([False, False, True])):  # a template takes over all fields but the text, which the question may say itself
            name = draw(names())
            templates.setdefault(name, {field: value for field, value in fields.items() if field != "text" or "gaps" in fields})
            said = "text" in fields and "gaps" not in templates[name]  # gaps stand in the text
            questions[question] = {"template": name} | ({"text": fields["text"]} if said else {})
    return draw(ABOUT_BANK) | {"skills": skills} | ({"templates": templates} if templates else {}) | {"questions": questions}
