"""Agreement with other implementations and with printed numbers, method by method; docs/agreement.md says of each what it was held against.

Numbers of other software were computed once. Their source stands beside them: the package, its version, the function and what it was given.
R packages that are not installed here were taken as the functions of their published source and run in R 4.2.2.
"""

from itertools import product
from math import log, log2, sqrt

import numpy as np
import pytest
from scipy.stats import norm

import quaestor as qs
from helpers.agrum import agrum
from quaestor.bankfile import response_models as models
from quaestor.bankfile.elicit import by_irt
from quaestor.inference.layout import layout_of
from quaestor.selection.plan import plan_of
from quaestor.selection.progressive import progress
from quaestor.selection.shadow import shadow_test
from quaestor.selection.stopping.classification import Sprt
from quaestor.simulate.retest import _compared

# Response models

ABILITIES = [-1.5, 0.0, 0.8]


@pytest.mark.parametrize(
    ("rows", "theirs"),
    [
        (by_irt(ABILITIES, 1.4, -0.3, 0.2), [[1 - p, p] for p in (0.3256763751083622, 0.682786599891781, 0.8587717801767067)]),
        (
            by_irt(ABILITIES, 1.3, [-1.0, 0.2, 1.4]),
            [
                [0.657010462673, 0.244133464148, 0.076323433722, 0.022532639456],
                [0.214165016957, 0.350471274846, 0.295929835235, 0.139433872962],
                [0.087863914829, 0.226455971232, 0.371360227877, 0.314319886062],
            ],
        ),
        (
            models.by_partial_credit(ABILITIES, 1.0, [0.5, -0.4]),
            [
                [0.84718158547, 0.114653559822, 0.038164854708],
                [0.398189341045, 0.241514043715, 0.360296615241],
                [0.146379710407, 0.197591941343, 0.65602834825],
            ],
        ),
        (
            models.by_partial_credit(ABILITIES, 0.7, [0.6, -0.9, 1.1]),
            [
                [0.711503320938, 0.163592746279, 0.107488093687, 0.017415839096],
                [0.288855886994, 0.189791841934, 0.356355170274, 0.164997100797],
                [0.111158398021, 0.127862592766, 0.420294725809, 0.340684283405],
            ],
        ),
        (
            models.by_nominal(ABILITIES, [0, 0.8, -0.3, 1.5], [0, 0.4, 0.7, -0.6]),
            [
                [0.214345446482, 0.096311617431, 0.676944269303, 0.012398666784],
                [0.197847849037, 0.295154307569, 0.398416641666, 0.108581201728],
                [0.138209172345, 0.391023741939, 0.2189335544, 0.251833531317],
            ],
        ),
    ],
    ids=["3PL", "graded", "partial credit", "generalised partial credit", "nominal"],
)
def test_models_of_item_response_theory(rows, theirs):
    """3PL: catsim 0.21.0, `irt.icc`, and psychotools 0.7-2 (R), `ppl`. Graded, (generalised) partial credit, nominal: mirt 1.2.0 (Python),
    `GradedResponseModel`, `PartialCreditModel`, `GeneralizedPartialCredit`, `NominalResponseModel`, `.probability`; both partial credit
    models also psychotools, `ppcm` and `pgpcm`, with the same digits.
    """
    np.testing.assert_allclose(rows, theirs, atol=1e-11)


@pytest.mark.parametrize(
    ("statement", "theirs"),
    [
        ({"needs": "all", "slip": 0.15, "guess": 0.2}, [0.2, 0.2, 0.2, 0.85]),
        ({"needs": "any", "slip": 0.1, "guess": 0.15}, [0.15, 0.9, 0.9, 0.9]),
        ({"gdina": {"intercept": 0.1, "effects": {"a": 0.35, "b": 0.45}}}, [0.1, 0.55, 0.45, 0.9]),
        (
            {"gdina": {"link": "logit", "intercept": -1.5, "effects": {"a": 1.2, "b": 2.4}}},
            [0.182425523806, 0.710949502625, 0.425557483188, 0.890903178804],
        ),
        ({"rrum": {"pi": 0.9, "r": {"a": 0.4, "b": 0.55}}}, [0.198, 0.36, 0.495, 0.9]),
    ],
    ids=["DINA", "DINO", "ACDM", "LLM", "reduced RUM"],
)
def test_models_of_cognitive_diagnosis(statement, theirs):
    """mirt 1.2.0 (Python), `GDINA` with `reduced_models` DINA, DINO, ACDM, LLM, RRUM and these parameters, for 00, 01, 10, 11."""
    bank = qs.Bank({"skills": {"a": {}, "b": {}}, "questions": {"Q": {"skills": ["a", "b"], **statement}}})
    assert bank.questions["Q"].table.lower[..., 1].ravel() == pytest.approx(theirs, abs=1e-11)


def test_the_saturated_model():
    """cdcatR 1.0.5 (R), `gen.GDINAparam(0.1, 0.9, 3, seed = 1)`: its deltas, and P for 000, 100, 010, 001, 110, 101, 011, 111."""
    sets = ["a", "b", "c", "a, b", "a, c", "b, c", "a, b, c"]
    deltas = [0.21240693051368, 0.2976991197094322, 0.4582826906815172, 0.2437866418874473]
    deltas += [-0.1434887237014048, 0.0092961861572086, -0.2779828452478804]
    question = {"skills": ["a", "b", "c"], "gdina": {"intercept": 0.1, "effects": dict(zip(sets, deltas, strict=True))}}
    found = qs.Bank({"skills": {"a": {}, "b": {}, "c": {}}, "questions": {"Q": question}}).questions["Q"].table.lower[..., 1]
    right = found[[0, 1, 0, 0, 1, 1, 0, 1], [0, 0, 1, 0, 1, 0, 1, 1], [0, 0, 0, 1, 0, 1, 1, 1]]
    theirs = [0.1, 0.31240693051368, 0.39769911970943, 0.55828269068152, 0.85389269211056, 0.62720089749379, 0.86527799654816, 0.9]
    assert right == pytest.approx(theirs, abs=1e-12)


# Scores

QUESTIONS = {
    **{
        name: {"skills": skills, "needs": "all", "slip": slip, "guess": guess}
        for name, skills, slip, guess in (
            ("N1", ["a"], 0.1, 0.2),
            ("N2", ["b"], 0.15, 0.25),
            ("N3", ["a", "b"], 0.05, 0.2),
            ("N4", ["a", "b", "c"], 0.2, 0.1),
        )
    },
    "O1": {"skills": ["b", "c"], "needs": "any", "slip": 0.1, "guess": 0.15},
    "O2": {"skills": ["a", "c"], "needs": "any", "slip": 0.2, "guess": 0.3},
    "G1": {"skill": "c", "right": [0.3, 0.85]},
    "G2": {"skills": ["a", "b"], "gdina": {"intercept": 0.1, "effects": {"a": 0.4, "b": 0.25, "a, b": 0.2}}},
}
DIAGNOSIS = qs.Bank({"skills": {"a": {}, "b": {}, "c": {}}, "questions": QUESTIONS})
ANSWERED = {"N1": "right", "O1": "wrong", "G2": "right"}
OPEN = ["N2", "N3", "N4", "O2", "G1"]


@pytest.mark.parametrize(
    ("score", "unit", "theirs"),
    [
        ("gdi", 1, [0.0745673969341, 0.111071225055, 0.0573598659452, 0.00914009738153, 0.0520616561631]),
        ("jensen_shannon", log2(8), [0.2317769066118, 0.368734960182, 0.2081122476341, 0.03035704280128, 0.160817348692]),
        ("pwkl", 1, [0.2639903351349, 0.516233715384, 0.1551219802068, 0.0202987480745, 0.1691838694963]),
        ("mpwkl", 1, [0.3521089067088, 0.64135980999, 0.2936430941744, 0.04083050083041, 0.2443962429108]),
        ("kl", 1, [3.604538304363, 3.812884105523, 1.145725502668, 1.0682216172301, 3.06350146365]),
    ],
)
def test_scores_of_cognitive_diagnosis(score, unit, theirs):
    """Three attributes, even prior, three answers: cdcatR 1.0.5 (R), `GDI.M`, `JSD.DICO.M` (in bits), `PWKL.M`, `MPWKL.M`; kl: cdCAT 0.1.0
    (R), `KL_criteria`, which adds 1e-10 to what it takes logarithms of. cdCAT's `PWKL_criteria` and `MPWKL_criteria` agree with cdcatR.
    """
    found = qs.rank(DIAGNOSIS, ANSWERED, score=score, target="joint")
    gains = dict(zip(found.ids.tolist(), found.gains, strict=True))
    assert [unit * gains[question] for question in OPEN] == pytest.approx(theirs, abs=5e-9 if score == "kl" else 1e-11)


def test_expected_entropy():
    """SHE, what is left of the entropy of the profiles (nats): cdCAT 0.1.0 (R), `SHE_criteria`, which adds 1e-10 inside its logarithms."""
    found = qs.rank(DIAGNOSIS, ANSWERED, score="entropy", target="joint")
    left = {one.question.id: 1.24870999959 - log(8) * one.gain for one in found}
    assert [left[question] for question in OPEN] == pytest.approx(
        [1.08805448943, 0.99312240076, 1.104457581084, 1.227668100107, 1.137239906927], abs=5e-9
    )


@pytest.mark.parametrize("name", ["four-skills", "fractions"])
def test_mutual_information(name):
    """pyAgrum, `InformationTheory.mutualInformationXY` (in bits), of the questions' own skills after some answers."""
    bank = qs.load(name)
    rng = np.random.default_rng(3)
    answers = {question: int(rng.integers(2)) for question in rng.choice(list(bank.questions), 6, replace=False)}
    for one in qs.rank(bank, answers, score="mutual_information")[:12]:
        gum, engine = agrum(bank.network, answers)
        theirs = []
        for skill in one.question.skills:
            told = gum.InformationTheory(engine, skill, one.question.id).mutualInformationXY()
            theirs.append(told / log2(len(bank.skills[skill].levels)))
        assert one.gain == pytest.approx(np.mean(theirs), abs=1e-10)


@pytest.mark.parametrize(
    ("score", "unit", "theirs"),
    [("gini", 2 / 3, [0.05500352858151, 0.04505018065034]), ("entropy", log2(3), [0.1668114610885, 0.1537399028533])],
)
def test_impurity_of_decision_trees(score, unit, theirs):
    """A question is a split: scikit-learn 1.9.1, `DecisionTreeClassifier(criterion=score, max_depth=1)` on the six pairs of level and
    answer, weighted by their probability: the fall of the impurity. rpart 4.1.19 (R) has the same Gini numbers.
    """
    skills = {"s": {"levels": ["low", "mid", "high"], "prior": [0.2, 0.5, 0.3]}}
    questions = {"Q1": {"skill": "s", "right": [0.2, 0.5, 0.85]}, "Q2": {"skill": "s", "right": [0.1, 0.6, 0.7]}}
    found = qs.rank(qs.Bank({"skills": skills, "questions": questions}), score=score)
    assert found.ids.tolist() == ["Q1", "Q2"]
    assert unit * found.gains == pytest.approx(theirs, abs=1e-11)


def test_expected_posterior_variance():
    """MEPV on 161 levels from -4 to 4 (the trapezium rule) against the integrals of catR before 3.0 (R; `eapEst`, `eapSem`, prior N(0, 1))
    after a right answer: the variance now less that after both answers to a question, weighted by their probability. (catR's own `EPV`
    weighs them by P at an ability estimate.)
    """
    count = 161
    ability = np.linspace(-4, 4, count)
    weights = norm.pdf(ability) * np.where(np.abs(ability) == 4, 0.5, 1)
    items = {"first": (1.2, -0.3, 0.0), "2": (1.6, 0.5, 0.0), "3": (0.8, 0.0, 0.2), "4": (2.2, 1.2, 0.1)}
    questions = {name: {"skill": "s", "right": [row[1] for row in by_irt(ability.tolist(), *item)]} for name, item in items.items()}
    skills = {"s": {"levels": [f"l{number}" for number in range(count)], "prior": (weights / weights.sum()).tolist()}}
    found = qs.rank(qs.Bank({"skills": skills, "questions": questions}), {"first": "right"}, score="variance")
    gains = {one.question.id: 16 * one.gain for one in found}  # V = 1 is a variance of 4^2
    assert gains == pytest.approx({"2": 0.2093167460919, "4": 0.1663063208879, "3": 0.05488737836455}, abs=2e-6)


def test_information_on_a_fine_scale():
    """Fisher's information of a 2PL question, a = 1.7, b = 0.3: catsim 0.21.0, `irt.inf`, at -1.5, 0 and 0.8."""
    step = 1e-3
    for ability, theirs in zip(ABILITIES, (0.12363929999834838, 0.6774834639599002, 0.6062434537298944), strict=True):
        right = [row[1] for row in by_irt([ability - step / 2, ability + step / 2], 1.7, 0.3)]
        bank = qs.Bank({"skills": {"s": {}}, "questions": {"Q": {"skill": "s", "right": right}}})
        assert qs.information(bank, "s")[0, 0] / step**2 == pytest.approx(theirs, abs=1e-6)


# Stops


def test_the_sequential_probability_ratio_test():
    """catIrt 0.5-0 (R), `termSPRT` with bounds 0, delta qnorm(3/4), alpha .1, beta .2: what it decides on all 64 answers to six 3PL
    questions (F, P: below and above the cut; a dot: it goes on), and a few of its log ratios.
    """
    parameters = zip((1.2, 1.5, 0.9, 2, 1.1, 1.7), (-0.5, 0.2, 0, 0.4, -1, 0.8), (0.2, 0, 0.25, 0.1, 0, 0.15), strict=True)
    asked = {f"Q{number}": {"skill": "s", "irt": {"a": a, "b": b, "c": c}} for number, (a, b, c) in enumerate(parameters)}
    bank, criterion = qs.Bank({"skills": {"s": {}}, "questions": asked}), Sprt(0.1, 0.2)
    decided, ratios = "", {}
    for pattern in product([0, 1], repeat=6):
        session = qs.Session(bank, qs.Rules())
        for question, answer in zip(asked, pattern, strict=True):
            session = session.answer(question, answer)
        now = session.decision.situation.of_taker(0)
        ratios["".join(map(str, pattern))] = criterion.ratio(now, "s")[0]
        decided += ("P" if ratios["".join(map(str, pattern))] > 0 else "F") if criterion.holds(now) else "."
    assert decided == "FFFFF...FFF.F...FFF.....F......PFFF.....F......PF......P...P.PPP"
    theirs = {"000000": -5.022871406384, "000001": -3.602933414209, "010110": 0.6192911584642, "101110": 1.006119951008}
    assert {pattern: ratios[pattern] for pattern in theirs} == pytest.approx(theirs, abs=1e-11)


def test_error_rate_and_length_of_the_sequential_test_are_those_of_a_random_walk():
    """Questions of P(right) .3 and .7, alpha = beta = .1: log 9 is passed with three steps of log(7/3). The walk from 0 to 3 or -3 (Feller
    1968, An Introduction to Probability Theory, XIV.2-3) ends on the wrong side with 1 / (1 + (7/3)^3), after 3 (1 - 2 that) / .4 steps.
    """
    asked = {f"Q{number}": {"skill": "s", "right": [0.3, 0.7]} for number in range(80)}
    found = qs.expected(qs.Bank({"skills": {"s": {}}, "questions": asked}), qs.Rules(stop=qs.sprt(0.1, 0.1)))
    wrong = 1 / (1 + (7 / 3) ** 3)
    assert 1 - found.accuracy[-1] == pytest.approx(wrong, abs=1e-6)
    assert found.length == pytest.approx(3 * (1 - 2 * wrong) / 0.4, abs=1e-5)


def test_the_same_decision_probability():
    """Every set of answers, its probability and the level decided on after it by pyAgrum."""
    skills = {"a": {"prior": [0.4, 0.6]}, "b": {"parents": ["a"], "table": {"no": [0.8, 0.2], "yes": [0.3, 0.7]}}}
    asked = {f"Q{number}": {"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.1 + 0.1 * number} for number in range(3)}
    asked["R"] = {"skill": "a", "right": [0.3, 0.8]}
    bank = qs.Bank({"skills": skills, "questions": asked})
    names, answers = ["Q1", "Q2", "R"], {"Q0": 1}
    gum, engine = agrum(bank.network, answers)
    engine.addJointTarget(set(names))
    engine.makeInference()
    chances = engine.jointPosterior(set(names))

    def result(given):
        known = agrum(bank.network, given)[1]
        return [int(known.posterior(skill).toarray().argmax()) for skill in skills]

    theirs = 0.0
    for given in product([0, 1], repeat=3):
        at = gum.Instantiation(chances)
        for name, answer in zip(names, given, strict=True):
            at[name] = answer
        theirs += chances[at] * (result({**answers, **dict(zip(names, given, strict=True))}) == result(answers))
    found = qs.Session(bank, qs.Rules()).answer("Q0", "right").decision.future()
    assert 0.1 < theirs < 0.95
    assert found.probability == pytest.approx(theirs, abs=1e-12)


# Ways to choose

CHOICE = qs.Bank(
    {
        "skills": {"s": {}},
        "questions": {
            name: {"skill": "s", "right": right}
            for name, right in (("A", [0.1, 0.9]), ("B", [0.3, 0.7]), ("C", [0.4, 0.6]), ("D", [0.45, 0.55]), ("none", [0.5, 0.5]))
        },
    }
)


@pytest.mark.parametrize(
    ("acceleration", "theirs"),
    [
        (0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.5, [0, 0.119298538706, 0.288012150116, 0.494643280424, 0.733240357836, 1]),
        (1, [0, 0.0666666666667, 0.2, 0.4, 0.6666666666667, 1]),
        (2, [0, 0.0181818181818, 0.0909090909091, 0.2545454545455, 0.5454545454545, 1]),
    ],
)
def test_the_weight_of_what_questions_tell(acceleration, theirs):
    """cdcatR 1.0.5 (R), `proggresive.f` with MAXJ = 6, b = acceleration, GDI = 1 and all draws 0: W."""
    assert progress(np.arange(6), 6, acceleration) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("rule", "acceleration", "theirs"),
    [
        ("proportional", 1, [0.61849023785487, 0.24544801355072, 0.09740610872848, 0.03865563986593]),
        ("proportional", 2, [0.41142691485, 0.2768697819754, 0.1863195464474, 0.1253837567273]),
        ("progressive", 1, [0.42693, 0.220395, 0.181065, 0.17161]),
        ("progressive", 2, [0.318505, 0.240795, 0.221955, 0.218745]),
    ],
)
def test_what_is_asked_second_of_four(rule, acceleration, theirs):
    """catR 3.3 (R), the lines of `nextItem` for both criteria with our Gini gains .64, .16, .04, .01 as information, rule = "length",
    thr = 4, AP = acceleration: proportional its probabilities, progressive the shares in 200,000 choices (standard error .0011 at most).
    """
    found = qs.simulate(CHOICE, qs.Rules(score="gini", stop=qs.max_questions(4), **{rule: acceleration}), students=20_000, seed=5)
    second = np.array([asked[1] for asked in found.asked if asked[0] == "none"])
    assert len(second) > 3500
    for name, p in zip("ABCD", theirs, strict=True):
        assert abs((second == name).mean() - p) < 4 * sqrt(p * (1 - p) * (1 / len(second) + 1 / 200_000))


def test_a_shadow_test():
    """lpSolve 5.6.18 (R), `lp(all.bin = TRUE)`: 12 of 48 questions under the same limits; without them the best have 10.44554455446."""
    asked = {
        f"q{number}": {"skill": "abc"[number % 3], "right": [0.2, 0.8], **({"group": "long"} if number % 5 == 0 else {})}
        for number in range(48)
    }
    rules = qs.Rules(
        shadow=True,
        stop=qs.max_questions(12),
        content=[qs.Content("a", least=5, most=6), qs.Content("c", least=2), qs.Content("long", most=1)],
        exclude=[["q2", "q8", "q14", "q20"], ["q16", "q31", "q46"], ["q24", "q29", "q43"]],
        mandatory=["q33"],
        testlets=[["q3", "q18", "q25"]],
    )
    layout = layout_of(qs.Bank({"skills": {"a": {}, "b": {}, "c": {}}, "questions": asked}))
    gains = (37 * np.arange(48) + 11) % 101 / 101
    found = shadow_test(plan_of(rules, layout), np.zeros(48, dtype=bool), np.arange(48), 12, gains)
    assert found.tolist() == [2, 5, 7, 12, 13, 16, 21, 24, 32, 33, 37, 42]
    assert gains[found].sum() == pytest.approx(8.693069306933, abs=1e-11)


# Reliability


@pytest.mark.parametrize(
    ("levels", "accuracy", "consistency", "kappa"),
    [(2, 0.9727969757276, 0.9474288885902, 0.8947830883083), (3, 0.8766236832838, 0.7844414582392, 0.6759318246657)],
)
def test_classification_accuracy_and_consistency(levels, accuracy, consistency, kappa):
    """cacIRT 1.4 (R), `Lee.D` (Lee, Hanson and Brennan 2002): twelve questions of equal discrimination, so that the sum of right answers
    decides; the abilities of the levels are its quadrature, its cuts where the most probable level changes (6; 4 and 8).
    """
    difficulties = (-1.2, -0.9, -0.6, -0.4, -0.2, 0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.3)
    asked = {f"Q{number}": {"skill": "s", "irt": {"a": 2, "b": b}} for number, b in enumerate(difficulties)}
    bank = qs.Bank({"skills": {"s": {"levels": [f"l{number}" for number in range(levels)]}}, "questions": asked})
    rules = qs.Rules(score="order")
    assert qs.expected(bank, rules).accuracy[-1] == pytest.approx(accuracy, abs=1e-10)
    found = qs.reliability(bank, rules, students=20_000, seed=2)
    assert abs(found.accuracy[0] - accuracy) < 4 * found.accuracy_error[0] < 0.01
    assert abs(found.consistency[0] - consistency) < 4 * found.consistency_error[0] < 0.013
    assert abs(found.kappa[0] - kappa) < 0.02


def test_kappa():
    """statsmodels 0.15.0, `fleiss_kappa`, and irrCAC 0.4.2, `CAC.fleiss`: both takings have one distribution, which is estimated from both
    together. (With a distribution each, Cohen's, it would be 0.4838709677: scikit-learn 1.9.1, `cohen_kappa_score`.)
    """
    takings = [np.array([0, 1, 1, 2, 2, 0, 1, 2, 1, 1, 0, 2]), np.array([0, 1, 2, 2, 1, 0, 1, 2, 1, 2, 1, 2])]
    found = _compared(takings[0], *((levels, levels.astype(float)) for levels in takings))
    assert found[4] == pytest.approx(0.481081081081081, abs=1e-12)
