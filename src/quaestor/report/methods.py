"""A study as a paragraph for the methods section of a paper, with the works to cite."""

from quaestor.bankfile.bank import Bank
from quaestor.selection.ranking import second_score
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.study import Method, Study

PAPER = (
    "A. Antonucci, F. Mangili, C. Bonesana, G. Adorni (2021). A new score for adaptive tests in Bayesian and credal networks. "
    "arXiv:2105.12205."
)
CHENG = "Y. Cheng (2009). When cognitive diagnosis meets computerized adaptive testing: CD-CAT. Psychometrika 74, 619-632."
KAPLAN = (
    "M. Kaplan, J. de la Torre, J. R. Barrada (2015). New item selection methods for cognitive diagnosis computerized adaptive testing. "
    "Applied Psychological Measurement 39, 167-188."
)
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
    "gdi": KAPLAN,
    "mutual_information": WANG,
    "jensen_shannon": "J. Lin (1991). Divergence measures based on the Shannon entropy. IEEE Trans. Information Theory 37, 145-151.",
}
NAMES = {"brier": "the Brier score", "log_loss": "the log loss"}
METRICS = {
    "brier": "G. W. Brier (1950). Verification of forecasts expressed in terms of probability. Monthly Weather Review 78, 1-3.",
    "u65": ZAFFALON,
    "u80": ZAFFALON,
}


def paragraph(study: Study, version: str) -> str:
    """What was done, in the words of a paper; works are cited by their numbers in `works`."""
    number = {work: place for place, work in enumerate(works(study), start=1)}
    bank, many = study.bank, len(study.bank.skills)
    name = f'the bank "{bank.title}"' if bank.title else "a bank"
    said = [
        f"Adaptive tests on {name} ({len(bank.questions)} questions on {many} skill{'s' * (many != 1)}, version {bank.version}) were "
        f"simulated with Quaestor {version} [{number[PAPER]}].",
        f"{_students(study)} (seed {study.seed}); the same students took the test by every method.",
    ]
    if any(not method.bank.is_precise for method in study.methods):
        said.append(f"Banks with interval probabilities were treated as credal networks [{number[CREDAL]}], of which bounds were computed.")
    stops = {_stop(method) for method in study.methods}
    for method in study.methods:
        rules = method.rules
        cited = f" [{number[SCORES[rules.score]]}]" if rules.score in SCORES else ""
        second = second_score(rules.score, rules.then)
        width = f", with every probability widened by {method.widen:g} to each side" if method.widen else ""
        stop = f", and {_stop(method)}" if len(stops) > 1 else ""
        ties = f", ties by {second}" if second else ""
        said.append(f"The method {method.name} chose questions by the score {rules.score}{cited}{ties}{width}{stop}.")
    said += [f"Every test {stops.pop()}."] if len(stops) == 1 else []
    measured = [
        f"{NAMES.get(metric, metric.replace('_', ' '))}{f' [{number[METRICS[metric]]}]' if metric in METRICS else ''}"
        for metric in study.metrics
    ]
    how = "computed exactly, without sampling" if study.exact else "given with standard errors over students"
    return " ".join([*said, f"We report {', '.join(measured)}, the mean over students and skills, {how}."])


def works(study: Study) -> list[str]:
    """The works that the paragraph cites, each once, in its order."""
    credal = [CREDAL] if any(not method.bank.is_precise for method in study.methods) else []
    scores = [SCORES[method.rules.score] for method in study.methods if method.rules.score in SCORES]
    metrics = [METRICS[metric] for metric in study.metrics if metric in METRICS]
    return list(dict.fromkeys([PAPER, *credal, *scores, *metrics]))


def _stop(method: Method) -> str:
    stop = method.rules.stop
    return f"stopped when {stop.words}" if stop is not None else "ended when no question was left"


def _students(study: Study) -> str:
    who = "One student for every profile of levels" if study.students == "profiles" else f"{study.students:,} students"
    if not isinstance(study.truth, Bank):
        drawn = "had each another network of the credal set"
    else:
        drawn = (
            "were drawn from the bank" if study.truth.model_version == study.bank.centre().model_version else "were drawn from another bank"
        )
    answers = "" if study.behaviour == Behaviour() else ", and answered otherwise than it says (see the study)"
    return f"{who} {drawn if study.students != 'profiles' else 'took part'}{answers}"
