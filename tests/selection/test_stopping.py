"""When a test stops: every criterion met and not met, its reason in words, and as it stands in a file."""

import pickle
from dataclasses import FrozenInstanceError, dataclass, replace

import numpy as np
import pytest

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.model.beliefs import Beliefs, Bounds
from quaestor.selection.rules_file import read_rules
from quaestor.selection.scores.known import DRAWN, SCORES
from quaestor.selection.stopping.criteria import SIMPLE
from quaestor.selection.stopping.criterion import OF_SKILL, Criterion, Situation

ALL = [
    qs.max_questions(3),
    qs.max_questions(3, skill="a"),
    qs.max_questions(3, skill="each"),
    qs.min_questions(2),
    qs.min_questions(2, skill="each"),
    qs.entropy_below(0.1),
    qs.entropy_below(0.1, over="largest"),
    qs.entropy_below(0.1, over="joint"),
    qs.mode_below(0.25),
    qs.mode_below(0.25, over="largest"),
    qs.gini_below(0.5),
    qs.gini_below(1, over="joint"),
    qs.probability_above(0.9),
    qs.dominant(),
    qs.gain_below(0.01),
    qs.gain_below(-0.5),
    qs.right_answers(4),
    qs.minutes(2.5),
    qs.sprt(),
    qs.sprt(0.1, skill="a", level="yes"),
    qs.loss_below(0.2, false_pass=2.0),
    qs.same_decision(0.9),
    qs.any_of(qs.max_questions(20), qs.entropy_below(0.1)),
    qs.all_of(qs.min_questions(5), qs.dominant()),
    qs.any_of(qs.dominant(), qs.all_of(qs.minutes(3), qs.any_of(qs.gain_below(0.1)))),
]


def known(*ends):
    """Beliefs on two-level skills `a`, `b`, ... from pairs of bounds of the higher level."""
    found = {}
    for name, (low, high) in zip("abc", ends, strict=False):
        lower, upper = np.array([1 - high, low]), np.array([1 - low, high])
        found[name] = Bounds(("no", "yes"), lower, upper, lower, upper, "by hand")
    return Beliefs(found)


NOW = Situation(known((0.9, 0.9), (0.5, 0.5)), 4, {"a": 3, "b": 1}, 2, 5.5, lambda: 0.04, lambda index: 0.3)


def met(criterion, **changes):
    return criterion.met(replace(NOW, **changes))


# Met and not met


@pytest.mark.parametrize(
    ("criterion", "changes", "reason"),
    [
        (qs.max_questions(4), {}, "4 questions were asked; the limit is 4."),
        (qs.max_questions(3), {}, "4 questions were asked; the limit is 3."),
        (qs.max_questions(1), {"questions": 1}, "1 question was asked; the limit is 1."),
        (qs.max_questions(5), {}, ""),
        (qs.max_questions(3, skill="a"), {}, "At least 3 questions were asked on a."),
        (qs.max_questions(2, skill="b"), {}, ""),
        (qs.max_questions(1, skill="b"), {}, "At least 1 question was asked on b."),
        (qs.max_questions(1, skill="each"), {}, "At least 1 question was asked on each skill."),
        (qs.max_questions(2, skill="each"), {}, ""),
        (qs.min_questions(3), {}, "4 questions were asked, at least 3."),
        (qs.min_questions(5), {}, ""),
        (qs.min_questions(2, skill="a"), {}, "At least 2 questions were asked on a."),
        (qs.entropy_below(0.75), {}, "The mean uncertainty over the skills (entropy) is 0.734, below 0.75."),
        (qs.entropy_below(0.73), {}, ""),
        (qs.entropy_below(1, over="largest"), {}, ""),  # it is 1, which is not below 1
        (
            qs.entropy_below(0.5, over="largest"),
            {"beliefs": known((0.9, 0.9))},
            "The largest uncertainty of a skill (entropy) is 0.469, below 0.5.",
        ),
        (qs.entropy_below(0.5, over="largest"), {"beliefs": known((0.8, 0.9))}, ""),  # the upper one: 0.722
        (qs.entropy_below(0.31, over="joint"), {}, "The joint uncertainty (entropy) is 0.300, below 0.31."),
        (qs.entropy_below(0.3, over="joint"), {}, ""),
        (qs.mode_below(0.61), {}, "The mean uncertainty over the skills (mode) is 0.600, below 0.61."),
        (qs.mode_below(0.6), {}, ""),
        (qs.gini_below(0.69), {}, "The mean uncertainty over the skills (gini) is 0.680, below 0.69."),
        (qs.gini_below(0.68), {}, ""),
        (qs.probability_above(0.5), {}, "Each skill has a level whose probability is at least 0.5."),
        (qs.probability_above(0.6), {}, ""),
        (
            qs.probability_above(0.7),
            {"beliefs": known((0.1, 0.3), (0.7, 0.9))},
            "Each skill has a level whose probability is at least 0.7.",
        ),
        (qs.probability_above(0.71), {"beliefs": known((0.1, 0.3), (0.7, 0.9))}, ""),
        (qs.dominant(), {}, ""),  # both levels of b are equally probable
        (qs.dominant(), {"beliefs": known((0.4, 0.9))}, ""),
        (
            qs.dominant(),
            {"beliefs": known((0.51, 0.9), (0.2, 0.4))},
            "Each skill has one level that is the most probable for every network of the set.",
        ),
        (qs.gain_below(0.05), {}, "The best question left would gain 0.0400, less than 0.05."),
        (qs.gain_below(0.04), {}, ""),
        (qs.gain_below(0.05), {"find_gain": lambda: None}, ""),
        (qs.right_answers(2), {}, "2 questions were answered right; 2 are enough."),
        (qs.right_answers(1), {"right": 1}, "1 question was answered right; 1 is enough."),
        (qs.right_answers(3), {}, ""),
        (qs.minutes(5.5), {}, "5.5 minutes were spent; the limit is 5.5."),
        (qs.minutes(1), {"minutes": 1.0}, "1 minute was spent; the limit is 1."),
        (qs.minutes(6), {}, ""),
        (qs.any_of(qs.minutes(6), qs.right_answers(2), qs.max_questions(1)), {}, "2 questions were answered right; 2 are enough."),
        (qs.any_of(qs.minutes(6), qs.right_answers(3)), {}, ""),
        (
            qs.all_of(qs.min_questions(3), qs.right_answers(2)),
            {},
            "4 questions were asked, at least 3. 2 questions were answered right; 2 are enough.",
        ),
        (qs.all_of(qs.min_questions(3), qs.right_answers(3)), {}, ""),
        (qs.all_of(qs.min_questions(3), qs.any_of(qs.minutes(6), qs.right_answers(3))), {}, ""),
    ],
)
def test_the_reason_is_given_in_words_or_not_at_all(criterion, changes, reason):
    assert met(criterion, **changes) == reason


def test_what_is_dear_is_worked_out_once_and_only_when_a_criterion_wants_it():
    calls = []

    def gain():
        calls.append("gain")
        return 0.5

    now = replace(NOW, find_gain=gain, joint=lambda index: calls.append(index) or 0.5)
    assert not qs.any_of(qs.max_questions(9), qs.dominant(), qs.mode_below(0.1), qs.minutes(30)).met(now)
    assert calls == []
    assert not qs.any_of(qs.gain_below(0.1), qs.gain_below(0.2), qs.gini_below(0.1, over="joint")).met(now)
    assert calls == ["gain", "gini"]


# One skill


@pytest.mark.parametrize(
    ("criterion", "decided"),
    [
        (qs.entropy_below(0.73), [(0.8, 0.9), (0.1, 0.2)]),
        (qs.mode_below(0.41), [(0.8, 0.9), (0.1, 0.2)]),
        (qs.gini_below(0.65), [(0.8, 0.9), (0.1, 0.2)]),
        (qs.probability_above(0.8), [(0.8, 0.9), (0.1, 0.2)]),
        (qs.dominant(), [(0.8, 0.9), (0.1, 0.2), (0.55, 0.95)]),
        (qs.any_of(qs.dominant(), qs.probability_above(0.8)), [(0.8, 0.9), (0.1, 0.2), (0.55, 0.95)]),
        (qs.all_of(qs.dominant(), qs.probability_above(0.8)), [(0.8, 0.9), (0.1, 0.2)]),
    ],
)
def test_a_criterion_decides_on_single_skills(criterion, decided):
    cases = [(0.8, 0.9), (0.1, 0.2), (0.55, 0.95), (0.4, 0.6)]
    assert [ends for ends in cases if criterion.decides(known(ends)["a"])] == decided


def test_a_criterion_on_the_whole_test_says_nothing_of_one_skill():
    assert [name for name, kind in SIMPLE.items() if kind.decides is not Criterion.decides] == list(OF_SKILL)
    with pytest.raises(QuaestorError, match=r"^minutes: says nothing of a single skill; use one of entropy_below, mode_below, gini_below"):
        qs.minutes(3).decides(NOW.beliefs["a"])


# In words, in a file


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (qs.max_questions(20), "20 questions were asked"),
        (qs.max_questions(1), "1 question was asked"),
        (qs.max_questions(3, skill="each"), "3 questions on each skill were asked"),
        (qs.max_questions(1, skill="algebra"), "1 question on algebra was asked"),
        (qs.min_questions(5), "at least 5 questions were asked"),
        (qs.entropy_below(0.1), "the mean uncertainty over the skills (entropy) is below 0.1"),
        (qs.mode_below(0.1, over="largest"), "the largest uncertainty of a skill (mode) is below 0.1"),
        (qs.gini_below(0.1, over="joint"), "the joint uncertainty (gini) is below 0.1"),
        (qs.probability_above(0.9), "each skill has a level with a probability of at least 0.9"),
        (qs.dominant(), "each skill has one level that is the most probable for every network of the set"),
        (qs.gain_below(0.01), "no question would gain as much as 0.01"),
        (qs.right_answers(10), "10 questions were answered right"),
        (qs.minutes(30), "30 minutes were spent"),
        (qs.any_of(qs.max_questions(2), qs.dominant(), qs.minutes(1)), None),
        (qs.all_of(qs.min_questions(5), qs.any_of(qs.minutes(3), qs.right_answers(1))), None),
    ],
)
def test_a_criterion_reads_well_after_stops_when(criterion, words):
    if words is None:
        parts = [f"({part.words})" if "any_of" in part.name and criterion.name == "all_of" else part.words for part in criterion.parts]
        words = {"any_of": " or ", "all_of": " and "}[criterion.name].join(parts)
    assert criterion.words == words


@pytest.mark.parametrize("criterion", ALL, ids=lambda criterion: str(criterion.document))
def test_a_criterion_is_the_same_from_its_document(criterion):
    again = read_rules({"stop": criterion.document}).stop
    assert again == criterion
    assert type(again) is type(criterion)
    assert hash(again) == hash(criterion)
    assert pickle.loads(pickle.dumps(criterion)) == criterion


def test_every_criterion_is_in_the_list_above():
    assert {criterion.name for criterion in ALL} == {*SIMPLE, "any_of", "all_of"}


@pytest.mark.parametrize(
    ("criterion", "document"),
    [
        (qs.max_questions(20), {"max_questions": 20}),
        (qs.max_questions(5, skill="each"), {"max_questions": {"n": 5, "skill": "each"}}),
        (qs.entropy_below(0.1, over="mean"), {"entropy_below": 0.1}),
        (qs.dominant(), "dominant"),
        (qs.any_of(qs.dominant(), qs.minutes(3)), {"any_of": ["dominant", {"minutes": 3}]}),
    ],
)
def test_a_document_is_as_short_as_people_write_it(criterion, document):
    assert criterion.document == document


def test_a_skill_may_be_called_by_a_number():
    assert read_rules({"stop": {"max_questions": {"n": "2", "skill": "3"}}}).stop == qs.max_questions(2, skill="3")


def test_a_criterion_is_frozen():
    with pytest.raises(FrozenInstanceError):
        qs.max_questions(3).n = 4


# Bad values


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: qs.max_questions(0), "max_questions: a whole number of at least 1, got 0"),
        (lambda: qs.max_questions(2.5), "max_questions: a whole number of at least 1, got 2.5"),
        (lambda: qs.max_questions(True), "max_questions: a whole number of at least 1, got True"),
        (lambda: qs.min_questions("3"), "min_questions: a whole number of at least 1, got '3'"),
        (lambda: qs.right_answers(0), "right_answers: a whole number of at least 1, got 0"),
        (lambda: qs.entropy_below(0), "entropy_below: a threshold above 0 and at most 1, got 0"),
        (lambda: qs.entropy_below(1.5), "entropy_below: a threshold above 0 and at most 1, got 1.5"),
        (lambda: qs.entropy_below(float("nan")), "entropy_below: a threshold above 0 and at most 1, got nan"),
        (lambda: qs.mode_below("x"), "mode_below: a threshold above 0 and at most 1, got 'x'"),
        (lambda: qs.gini_below(0.1, over="all"), "gini_below: over is one of mean, largest, joint, got 'all'"),
        (lambda: qs.probability_above(1.01), "probability_above: a threshold above 0 and at most 1, got 1.01"),
        (lambda: qs.gain_below(None), "gain_below: a threshold, got None"),
        (lambda: qs.gain_below(float("nan")), "gain_below: a threshold, got nan"),
        (lambda: qs.gain_below(10**400), "gain_below: a threshold, got 1000"),
        (lambda: qs.minutes(0), "minutes: minutes above 0, got 0"),
        (lambda: qs.minutes(float("inf")), "minutes: minutes above 0, got inf"),
        (lambda: qs.any_of(), "any_of: one or more criteria are expected, got none"),
        (lambda: qs.all_of(qs.dominant(), 3), "all_of: one or more criteria are expected, got 3"),
    ],
)
def test_a_bad_value_is_refused_with_the_rule_and_the_value(make, said):
    with pytest.raises(QuaestorError) as caught:
        make()
    assert str(caught.value).startswith(said)


def test_the_base_of_all_criteria_says_nothing():
    for say in (lambda: Criterion().met(NOW), lambda: Criterion().words):
        with pytest.raises(NotImplementedError):
            say()


# What is recorded


def test_of_criteria_that_are_all_needed_all_are_named():
    """Which of them became true last is not to be seen from where a test stands; the last one written was named once."""
    both = qs.all_of(qs.entropy_below(0.75), qs.min_questions(2))
    assert str(both.rule(NOW)) == "entropy_below and min_questions"
    assert str(qs.any_of(qs.minutes(9), both).rule(NOW)) == "entropy_below and min_questions"
    assert (
        str(qs.all_of(both, qs.any_of(qs.minutes(9), qs.right_answers(1))).rule(NOW)) == "entropy_below and min_questions and right_answers"
    )
    assert str(both.rule(replace(NOW, questions=1))) == ""
    twice = qs.all_of(qs.min_questions(1), both, qs.min_questions(2))
    assert str(twice.rule(NOW)) == "min_questions and entropy_below"


def test_a_session_and_a_simulation_record_all_that_stopped_them():
    bank = qs.Bank({"skills": {"a": {}}, "questions": {f"q{n}": {"skill": "a", "right": [0.05, 0.95]} for n in range(4)}})
    rules = qs.Rules(stop=qs.all_of(qs.entropy_below(0.3), qs.min_questions(2)))
    session = qs.Session(bank, rules).answer("q0", "right").answer("q1", "right")
    assert session.stopped.rule == "entropy_below and min_questions"
    assert set(qs.simulate(bank, rules, students=50).stops) <= {"entropy_below and min_questions", "no question left"}


def test_limits_are_found_inside_combinations():
    stop = qs.any_of(qs.entropy_below(0.1), qs.any_of(qs.max_questions(7), qs.minutes(3)), qs.max_questions(9), qs.max_questions(2, "a"))
    assert [limit.document for limit in stop.limits()] == [{"max_questions": 7}, {"minutes": 3}, {"max_questions": 9}]
    assert stop.most_questions() == 7
    assert qs.all_of(stop, qs.min_questions(3)).most_questions() is None
    assert [simple.name for simple in qs.all_of(stop, qs.dominant()).simple()].count("max_questions") == 3


def test_minutes_add_up_in_any_order():
    """0.7 + 0.2 + 0.1 is a little less than 1 in floating point."""
    for spent in (0.1 + 0.2 + 0.7, 0.7 + 0.2 + 0.1):
        assert qs.minutes(1).met(replace(NOW, minutes=spent))


def test_a_second_setting_alone_is_written_with_its_name():
    @dataclass(frozen=True)
    class Between(Criterion):
        low: float = 0.1
        high: float = 0.9
        name = "between"

    assert Between(high=0.5).document == {"between": {"high": 0.5}}
    assert Between(low=0.5).document == {"between": 0.5}
    assert Between().document == "between"


def test_rules_with_any_score_that_draws_are_random():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SCORES, "dice", SCORES["random"])
        DRAWN.add("dice")
        try:
            assert qs.Rules(score="dice").is_random
            assert qs.Rules(score="mode", then="dice").is_random
            x = qs.simulate(qs.load("four-skills"), qs.Rules(score="dice", stop=qs.max_questions(1)), students=30)
            assert len(set(x.asked[:, 0])) > 5
            with pytest.raises(QuaestorError, match="got score: dice"):
                qs.policy(qs.load("four-skills"), qs.Rules(score="dice"), depth=1)
        finally:
            DRAWN.discard("dice")
    assert not qs.Rules(score="order").is_random
