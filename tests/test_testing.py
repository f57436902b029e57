"""The contracts that anybody can check: what is built in keeps them, and what breaks one is told which."""

import numpy as np
import pytest

import quaestor as qs
from quaestor import testing
from quaestor.inference.chooser import ENGINES
from quaestor.selection.own_rules import RULES
from quaestor.selection.scores.known import SCORES, UNCERTAINTY
from quaestor.selection.stopping.criteria import SIMPLE
from quaestor.simulate.behaviours import BEHAVIOURS
from quaestor.testing import ContractError

TIED = qs.Bank(
    {
        "skills": {"a": {"prior": [[0.3, 0.5], [0.5, 0.7]]}, "b": {"prior": [0.4, 0.6]}},
        "questions": {
            "both": {"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2},
            "A": {"skill": "a", "right": [[0.1, 0.2], 0.9]},
        },
    }
)


@pytest.fixture(autouse=True)
def nothing_stays():
    known = (SCORES, SIMPLE, BEHAVIOURS, RULES, ENGINES)
    before = [set(one) for one in known]
    yield
    for one, names in zip(known, before, strict=True):
        for name in set(one) - names:
            one.remove(name)


@pytest.mark.parametrize("name", SCORES)
def test_scores_keep_their_contract(name):
    testing.check_score(name, equal_rows=name in UNCERTAINTY)


STOPS = [qs.max_questions(2), qs.entropy_below(0.7), qs.dominant(), qs.gain_below(0.05), qs.minutes(4), qs.right_answers(2)]


@pytest.mark.parametrize("criterion", STOPS, ids=lambda one: one.name)
def test_criteria_keep_their_contract(criterion):
    testing.check_stop(criterion)


@pytest.mark.parametrize("name", ["odds", "hulls", "fills"])
def test_engines_keep_their_contract(name):
    testing.check_engine(name)


def test_an_engine_is_tried_on_a_bank_that_it_fits():
    testing.check_engine("separators", on=TIED)
    with pytest.raises(ContractError, match=r"a bank that it fits, got none"):
        testing.check_engine("separators")


def test_behaviours_keep_their_contract():
    testing.check_behaviour(qs.Behaviour(fatigue=0.1, skipping=0.1))


def test_a_score_that_depends_on_others_is_told():
    @qs.register.score
    def beside(ahead, bound, draws):
        return np.broadcast_to(np.arange(len(ahead.open))[:, None] * 1.0, ahead.open.shape)

    with pytest.raises(ContractError, match=r"beside.*do not depend on the order of answers or on other takers"):
        testing.check_score("beside")
    with pytest.raises(ContractError, match=r"a score that is registered, got none"):
        testing.check_score("nobody")


def test_a_score_that_gains_from_nothing_is_told():
    @qs.register.score
    def one_each(ahead, bound, draws):
        return np.ones(ahead.open.shape)

    testing.check_score("one_each")
    with pytest.raises(ContractError, match=r"a question with equal exact rows gains nothing, got 1 for 0"):
        testing.check_score("one_each", equal_rows=True)


def test_a_score_that_jumps_at_width_zero_is_told():
    @qs.register.score
    def jumps(ahead, bound, draws):
        return np.full(ahead.open.shape, float(any(low is not high for low, high in (group.answers for group in ahead.groups))))

    with pytest.raises(ContractError, match=r"almost no width is almost precise, got 1 for 0"):
        testing.check_score("jumps")


def test_a_stop_that_looks_at_others_is_told():
    @qs.register.stop
    def crowded(now):
        """there are others"""
        return np.full(np.shape(now.questions), np.size(now.questions) > 1)

    with pytest.raises(ContractError, match=r"stop crowded.*got another"):
        testing.check_stop(crowded())


def test_a_stop_that_branches_is_told_what_to_write_instead():
    @qs.register.stop
    def branching(now, n: int = 2):
        """enough was asked"""
        if now.questions > n:
            return True
        return now.minutes > 5

    words = r"stop branching: it serves many takers at once.*write `return now.questions > 5`, got an `if`"
    for call in (lambda: testing.check_stop(branching()), lambda: qs.simulate(testing.bank(), qs.Rules(stop=branching()), 5)):
        with pytest.raises(qs.QuaestorError, match=words):
            call()

    @qs.register.stop
    def failing(now):
        """it fails otherwise"""
        raise ValueError("of another kind")

    with pytest.raises(ValueError, match="of another kind"):
        testing.check_stop(failing())


@pytest.mark.parametrize("call", [lambda name: qs.rank(testing.bank(), score=name), testing.check_score], ids=["rank", "check"])
def test_gains_that_are_none_or_of_another_shape_are_said_with_the_name_of_the_score(call):
    @qs.register.score
    def forgot(ahead, bound, draws):
        return ahead.spread(lambda group: group.answers[0])  # without [..., -1]

    @qs.register.score
    def nothing(ahead, bound, draws):
        return ahead.spread(lambda group: np.full(group.answers[0].shape[:2], np.nan))

    with pytest.raises(
        qs.QuaestorError, match=r"^score forgot: one number for each taker and table, shape \(takers, tables\) = \(\d, \d\), got"
    ):
        call("forgot")
    with pytest.raises(qs.QuaestorError, match=r"^score nothing: a finite gain for every question, got nan for \w+ \(taker 0\)"):
        call("nothing")


def test_a_rule_that_looks_at_others_is_told():
    @qs.register.rule
    def turns(now):
        """each another one"""
        return np.arange(now.asked.shape[1]) != len(now.asked) % 5

    with pytest.raises(ContractError, match=r"rule turns.*got another"):
        testing.check_rule(turns())

    @qs.register.rule
    def short(now, minutes: float = 2.0):
        """only short ones"""
        return now.plan.layout.minutes <= minutes

    testing.check_rule(short())


def test_a_behaviour_that_draws_is_told():
    rng = np.random.default_rng(1)

    @qs.register.behaviour
    def moody(p, now):
        """as they like"""
        return p * rng.random((len(p), 1))

    with pytest.raises(ContractError, match=r"behaviour moody.*answer the same again, got other answers"):
        testing.check_behaviour(moody())


def test_an_engine_with_narrow_bounds_is_told():
    odds = ENGINES["odds"]

    @qs.register.engine(fits=odds.fits, needs="two levels", in_logarithms=True)
    class narrow(odds.make):  # noqa: N801
        def now(self, variable):
            found = super().now(variable)
            return found._replace(lower=found.lower + 1e-3)

    with pytest.raises(ContractError, match=r"engine narrow.*now of .*: bounds hold what every network says, got narrower ones"):
        testing.check_engine("narrow")
