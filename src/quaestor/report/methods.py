"""A study as a paragraph for the methods section of a paper, with the works to cite; the software as CITATION.cff has it."""

from collections.abc import Mapping, Sequence

from quaestor.bankfile.bank import Bank
from quaestor.inference.lookahead import Targets
from quaestor.selection.ranking import second_score
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.study import Method, Study

SOFTWARE = "The Quaestor authors. Quaestor: adaptive tests on Bayesian and credal networks (version {version}). Computer software."
PAPER = (
    "A. Antonucci, F. Mangili, C. Bonesana, G. Adorni (2021). A new score for adaptive tests in Bayesian and credal networks. "
    "arXiv:2105.12205."
)
CHENG = "Y. Cheng (2009). When cognitive diagnosis meets computerized adaptive testing: CD-CAT. Psychometrika 74, 619-632."
KAPLAN = (
    "M. Kaplan, J. de la Torre, J. R. Barrada (2015). New item selection methods for cognitive diagnosis computerized adaptive testing. "
    "Applied Psychological Measurement 39, 167-188."
)
TORRE = "J. de la Torre, C.-Y. Chiu (2016). A general method of empirical Q-matrix validation. Psychometrika 81, 253-273."
WANG = (
    "C. Wang (2013). Mutual information item selection method in cognitive diagnostic computerized adaptive testing with short test "
    "length. Educational and Psychological Measurement 73, 1017-1035."
)
ZAFFALON = (
    "M. Zaffalon, G. Corani, D. Mauá (2012). Evaluating credal classifiers by utility-discounted predictive accuracy. International "
    "Journal of Approximate Reasoning 53, 1282-1301."
)
CREDAL = "F. G. Cozman (2000). Credal networks. Artificial Intelligence 120, 199-233."
SCORES = {
    "entropy": "C. E. Shannon (1948). A mathematical theory of communication. Bell System Technical Journal 27, 379-423.",
    "mode": PAPER,
    "kl": CHENG,
    "pwkl": CHENG,
    "mpwkl": KAPLAN,
    "gdi": TORRE,
    "mutual_information": WANG,
    "jensen_shannon": "J. Lin (1991). Divergence measures based on the Shannon entropy. IEEE Trans. Information Theory 37, 145-151.",
}
NAMES = {
    "accuracy": "the accuracy of the most probable level",
    "brier": "the Brier score",
    "brier_best": "the smallest Brier score within the bounds",
    "brier_worst": "the largest Brier score within the bounds",
    "log_loss": "the log loss",
    "log_loss_best": "the smallest log loss within the bounds",
    "log_loss_worst": "the largest log loss within the bounds",
    "not_upper": "one minus the upper probability of the true level",
    "determinate": "the share of results with a single undominated level",
    "single_accuracy": "the accuracy of these",
    "set_accuracy": "the share of the other results whose undominated levels include the true one",
    "u65": "the utility-discounted accuracy u65",
    "u80": "the utility-discounted accuracy u80",
}
TARGETS = {"scope": "the skills of the question", "all": "all skills", "joint": "the joint profile of all skills"}
METRICS = {
    "brier": "G. W. Brier (1950). Verification of forecasts expressed in terms of probability. Monthly Weather Review 78, 1-3.",
    "u65": ZAFFALON,
    "u80": ZAFFALON,
}


def paragraph(study: Study, version: str) -> str:
    """What was done, in the words of a paper; works are cited by their numbers in `works`."""
    number = {work: place for place, work in enumerate(works(study, version), start=1)}
    bank, many = study.bank, len(study.bank.skills)
    name = f'the bank "{bank.title}"' if bank.title else "a bank"
    said = [
        f"Adaptive tests on {name} ({len(bank.questions)} questions on {many} skill{'s' * (many != 1)}, version {bank.version}) were "
        f"simulated with Quaestor {version} [1], which builds on [{number[PAPER]}].",
        f"{_students(study)} (seed {study.seed}); the same students took the test by every method.",
    ]
    if any(not method.bank.is_precise for method in study.methods):
        said.append(
            f"Banks with interval probabilities were treated as credal networks [{number[CREDAL]}]: lower and upper probabilities of every "
            "level were computed, and results are based on their midpoints unless stated otherwise."
        )
    stops = {_stop(method) for method in study.methods}
    said += [_chosen(method, number, len(stops) > 1) for method in study.methods]
    said += [f"Every test {stops.pop()}."] if len(stops) == 1 else []
    measured = _listed([f"{NAMES[one]}{f' [{number[METRICS[one]]}]' if one in METRICS else ''}" for one in study.metrics])
    how = "and students, computed exactly, without sampling" if study.exact else "; standard errors are over students"
    return " ".join([*said, f"We report {measured}, averaged over skills{' ' * study.exact}{how}."])


def works(study: Study, version: str) -> list[str]:
    """The works that the paragraph cites, each once, in its order."""
    credal = [CREDAL] if any(not method.bank.is_precise for method in study.methods) else []
    scores = [SCORES[method.rules.score] for method in study.methods if method.rules.score in SCORES]
    metrics = [METRICS[metric] for metric in study.metrics if metric in METRICS]
    return list(dict.fromkeys([SOFTWARE.format(version=version), PAPER, *credal, *scores, *metrics]))


def _chosen(method: Method, number: dict[str, int], with_stop: bool) -> str:
    """How a method chose its questions: score, what it is a gain for, ties, bounds; and when it stopped, where methods differ in it."""
    rules = method.rules
    cited = f" [{number[SCORES[rules.score]]}]" if rules.score in SCORES else ""
    second = second_score(rules.score, rules.then)
    said = [
        f"The method {method.name} chose questions by the score {rules.score}{cited} for {_target(rules.target)}",
        *([f"with every probability widened by {method.widen:g} to each side"] if method.widen else []),
        *([f"taking the {rules.bound} bound of the score"] if not method.bank.is_precise else []),
        f"ties broken by {f'the score {second}, then by ' if second else ''}the order of the bank",
    ]
    return ", ".join(said) + (f"; it {_stop(method)}." if with_stop else ".")


def _target(target: Targets) -> str:
    if isinstance(target, str):
        return TARGETS.get(target, target)
    named = [f"{skill} (weight {weight:g})" for skill, weight in target.items()] if isinstance(target, Mapping) else list(target)
    return f"the skill{'s' * (len(named) != 1)} {_listed(named)}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _stop(method: Method) -> str:
    stop = method.rules.stop
    return f"stopped when {stop.words}" if stop is not None else "ended when no question was left"


def _students(study: Study) -> str:
    who = "One student for every profile of levels" if study.students == "profiles" else f"{study.students:,} students"
    if not isinstance(study.truth, Bank):
        drawn = "were drawn, each from another network of the credal set"
    else:
        drawn = (
            "were drawn from the bank" if study.truth.model_version == study.bank.centre().model_version else "were drawn from another bank"
        )
    answers = "" if study.behaviour == Behaviour() else ", and did not answer as the bank says (see the study)"
    return f"{who} {drawn if study.students != 'profiles' else 'took part'}{answers}"
