"""The wrong kind of thing at the boundary gets an error of ours that says what is expected."""

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from quaestor.errors import UnknownNameError

BANK = qs.load("multiplication")
ROW = pd.DataFrame([{"Q1": 1, "Q2": None}]).iloc[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: qs.posterior("multiplication", {}), "a bank is expected, as qs.load gives it, got 'multiplication'"),
        (lambda: qs.posterior(BANK, [("Q1", "right")]), "answers are a map from questions to answer classes, got [('Q1', 'right')]"),
        (lambda: qs.posterior(BANK, {"Q1": None}), "Q1: an answer class is one of wrong, right, got None"),
        (lambda: qs.rank("multiplication"), "a bank is expected, as qs.load gives it, got 'multiplication'"),
        (lambda: BANK.widen("a"), "a table is widened by a number between 0 and 1, got 'a'"),
        (lambda: qs.Session(BANK, "x"), "rules: Rules(...) are expected, as qs.load_rules reads them from a file, got 'x'"),
        (lambda: qs.Session("x"), "bank: a bank is expected, as qs.load gives it, got 'x'"),
        (lambda: qs.bounds(BANK, 0), "a network is expected, as qs.read_network or bank.network gives it"),
        (lambda: qs.bounds(BANK.network, 0, [1]), "evidence is a map from variables to states, got [1]"),
        (lambda: qs.bounds(BANK.network, 0, tolerance=-1, method="branch"), "tolerance is a number of at least 0, got -1"),
        (lambda: qs.bounds(BANK.network, 0, limit=None, method="branch"), "limit is a number of at least 0, got None"),
        (lambda: qs.bounds(BANK.network, 0, seconds="5", method="exact"), "seconds is a number of at least 0, got '5'"),
        (
            lambda: qs.bounds(BANK.network, 0, seconds=3, method="branch"),
            "seconds go with method 'exact' only, so that all else repeats, got method 'branch'",
        ),
        (lambda: qs.Session.from_json(BANK, None), "a saved session is JSON"),
        (lambda: qs.posterior(BANK)["x"], "unknown skill, got 'x'"),
        (lambda: BANK.questions["Q22"], "unknown question, got 'Q22' (did you mean 'Q2'?)"),
        (lambda: BANK.skills["multiplicaton"], "unknown skill, got 'multiplicaton' (did you mean 'multiplication'?)"),
        (lambda: BANK.widen("0.1"), "got '0.1'"),
        (lambda: BANK.subset("Q1"), "questions: a list of ids is expected, got 'Q1'"),
        (lambda: BANK.vertex(1), "rng: a generator such as numpy.random.default_rng(1) is expected, got 1"),
        (
            lambda: BANK.with_tables({"Q1": qs.Table.precise([0.5, 0.5])}),
            "tables.Q1: a table of shape (2, 2) is expected, got one of shape (2,)",
        ),
        (lambda: qs.Table.precise([[0.5, 0.5], [1]]), "probabilities: numbers are expected, in lists of one length, got a list"),
        (lambda: qs.load("nowhere.yaml"), "nowhere.yaml:file: a file that exists is expected, got none"),
        (lambda: qs.load(None), "path: the name of a file, or a Path, is expected, got None"),
        (lambda: qs.load_rules({"score": "mode"}), "path: the name of a file, or a Path, is expected, got a dict"),
        (lambda: qs.dump("x.yaml", BANK), "bank: a bank is expected, as qs.load gives it, got 'x.yaml'"),
        (
            lambda: qs.write_network(BANK, "x.uai"),
            "network: a network is expected, as qs.read_network or bank.network gives it, got a Bank",
        ),
        (lambda: qs.posterior(BANK, ROW), "got a Series (row.dropna().to_dict() makes one of a row of a table)"),
        (lambda: qs.rank(BANK, ROW), "got a Series (row.dropna().to_dict() makes one of a row of a table)"),
        (
            lambda: qs.decisions.level(qs.posterior(BANK)),
            "bounds: Bounds are expected: those of one skill, such as beliefs['algebra'], got a Beliefs",
        ),
        (lambda: qs.information(BANK, ["x"]), "skill: one of the bank's, got ['x']"),
        (lambda: qs.learn(BANK, None, monotone="no"), "learn: monotone: True or False is expected, got 'no'"),
        (lambda: qs.simulate(BANK, students=2, progress="x"), "progress: a function, or None, is expected, got 'x'"),
        (lambda: qs.sprt(beta=None), "error rates above 0 that sum to less than 1, got None"),
        (lambda: qs.register.remove("score", "entropi"), "score: a name that was registered, got 'entropi'"),
        (lambda: qs.register.remove("score", "entropy"), "score entropy: what was registered can be removed, got what is built in"),
        (
            lambda: qs.testing.check_stop(5),
            "check_stop: a criterion is expected, such as qs.max_questions(4) or what a registered one gives, got 5",
        ),
        (lambda: qs.plot.curves([1]), "curves: a simulation, or a dict of name: simulation, is expected, got a list"),
        (lambda: qs.Session(BANK, log=["x"]), "log: what an earlier session has there is expected, got a list"),
        (lambda: qs.exposure_table(BANK, None, 0.5, seed="x"), "seed: a whole number of at least 0, got 'x'"),
    ],
)
def test_words(call, words):
    with pytest.raises(qs.QuaestorError) as error:
        call()
    assert words in str(error.value)


def test_an_unknown_skill_is_a_missing_key_too():
    beliefs = qs.posterior(BANK)
    assert beliefs.get("x") is None
    assert "x" not in beliefs
    with pytest.raises(UnknownNameError, match="did you mean 'multiplication'"):
        beliefs["multiplicaton"]


def test_numbers_may_be_entered_as_numbers():
    bank = qs.Bank(
        {"skills": {"a": {}}, "questions": {"Q": {"skill": "a", "right": [0.2, 0.8], "kind": "number", "correct": 50, "text": "?"}}}
    )
    session = qs.Session(bank).enter("Q", 50)
    assert (session.log[0].answer, session.log[0].entry) == ("right", "50")
    assert qs.Session(bank).enter("Q", 12.5).log[0].answer == "wrong"
    with pytest.raises(qs.AnswerError, match="one entry is expected, got True"):
        qs.Session(bank).enter("Q", True)


def test_a_metric_with_a_slip_is_proposed():
    found = qs.simulate(BANK, qs.Rules(stop=qs.max_questions(1)), students=3)
    with pytest.raises(AttributeError, match=r"no acuracy \(did you mean 'accuracy'\?\)"):
        found.acuracy  # noqa: B018
    for call in (lambda: found.error("acuracy"), lambda: found.difference(found, "acuracy"), lambda: qs.plot.curves(found, "acuracy")):
        with pytest.raises(qs.QuaestorError, match=r"got 'acuracy' \(did you mean 'accuracy'\?\)$"):
            call()
    with pytest.raises(qs.QuaestorError, match=r"other: a Simulation, as qs.simulate gives it, is expected, got None"):
        found.difference(None)
    assert not hasattr(found, "__array__")


# A value that looks like many is refused where one word, number or truth is expected, whatever numpy or pandas would say of it.

MANY = [np.array([0.2, 0.8]), pd.Series([1, 2]), pd.DataFrame({"x": [1, 2]}), ["x"], {"x": 1}, {1, 2}, object()]
ONE = [
    *[
        lambda many, name=name: qs.Rules(**{name: many})
        for name in ("score", "then", "bound", "per", "among", "progressive", "skips", "least_answers")
    ],
    *[lambda many, name=name: qs.posterior(BANK, {}, **{name: many}) for name in ("method", "seconds", "limit")],
    *[lambda many, name=name: qs.rank(BANK, {}, **{name: many}) for name in ("bound", "then", "per", "score")],
    *[lambda many, name=name: qs.simulate(BANK, students=2, **{name: many}) for name in ("device", "keep", "progress", "out")],
    *[lambda many, name=name: qs.learn(BANK, None, **{name: many}) for name in ("monotone", "tied", "shape", "progress")],
    *[lambda many, name=name: qs.choose(None, PEOPLE, **{name: many}) for name in ("levels", "links", "shape", "seed")],
    *[lambda many, name=name: qs.policy(BANK, **{name: many}) for name in ("skips", "texts")],
    lambda many: qs.entropy_below(0.1, many),
    lambda many: qs.sprt(beta=many),
    lambda many: qs.expected(BANK, limit=many),
    lambda many: qs.optimal(BANK, 1, many),
    lambda many: qs.information(BANK, many),
    lambda many: qs.posterior(BANK)[many],
    lambda many: qs.decisions.verdict(qs.posterior(BANK)["multiplication"], many),
    lambda many: qs.register.remove(many, "x"),
    lambda many: qs.register.remove("score", many),
    lambda many: qs.load(many),
    lambda many: qs.read_network(many),
    lambda many: qs.load_study(many if not isinstance(many, dict) else None),
    lambda many: qs.dump(BANK, many),
]
PEOPLE = pd.DataFrame([[0, 1, 1], [1, 0, 1]] * 4, columns=["Q1", "Q2", "Q3"])


@pytest.mark.parametrize("many", MANY, ids=lambda one: type(one).__name__)
def test_many_for_one(many):
    for number, call in enumerate(ONE):
        try:
            call(many)
        except qs.QuaestorError:
            continue
        pytest.fail(f"call {number} takes {many!r}")


@pytest.mark.parametrize("field", ["skills", "questions", "title", "imprecision"])
def test_a_table_in_a_document_of_a_bank(field):
    document = {"skills": {"s": {}}, "questions": {"Q": {"skill": "s", "right": [0.2, 0.8]}}, field: pd.DataFrame({"x": [1]})}
    with pytest.raises(qs.BankError, match=field):
        qs.Bank(document)


@pytest.mark.parametrize("given", [None, 3, object(), np.array(3)], ids=lambda one: type(one).__name__)
def test_what_is_no_list(given):
    for call in (
        lambda: BANK.subset(given),
        lambda: qs.Network(given),
        lambda: qs.Variety(of=given),
        lambda: qs.plot.information(BANK, "multiplication", given),
        lambda: qs.simulate(BANK, responses=PEOPLE[["Q1", "Q2"]], holdout=given),
        lambda: qs.choose(None, given),
        lambda: qs.Exposure(rates=given),
        lambda: qs.Beliefs(given),
        lambda: qs.plot.class_map(given),
    ):
        with pytest.raises(qs.QuaestorError, match="expected, got"):
            call()
