"""Statistics of a test's questions: how often each was asked, the share right by level, and which answers were given.

The levels are estimates of the test itself. So that an answer is not judged by a level that it decided, it is left out first: for the
levels l of a question's skills,

    P(l | other answers) ~ P(l | all answers) / P(this answer | l),

where P(l | all answers) is the product of the single skills' probabilities, at the centre of the bounds. A taker counts at the most
probable combination of levels if its probability is at least 80 %; *strong* takers are those at the highest level of all these skills.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.lazy import lazy
from quaestor.model.entries import loose
from quaestor.model.question import Question
from quaestor.model.table import Array, centre
from quaestor.numerals import read_number
from quaestor.report.flags import FEWEST, flags
from quaestor.report.tallies import AtLevel, Option, PartTally, Tally
from quaestor.store.attempts.answers import Given
from quaestor.store.outcomes.outcome import Outcome

LIKELY = 0.8  # of a combination of levels: takers below it are not counted by level
MOST_ENTRIES = 6  # wrong entries that are listed

Found = Mapping[int, Mapping[str, Sequence[float] | Array]]  # by attempt and skill: the probabilities of the levels


@dataclass(frozen=True, eq=False)
class Statistic:
    """A question that was asked: its flags as sentences, and its counts, worked out when they are looked at.

    `tried`: what is known of a pilot question by now, as a sentence.
    """

    question: Question
    asked: int
    flags: tuple[str, ...]
    make: Callable[[], Tally]
    tried: str = ""

    @lazy
    def tally(self) -> Tally:
        """The counts."""
        return self.make()


def probabilities(found: Iterable[Outcome]) -> Found:
    """The probabilities of the levels of each skill, by attempt."""
    return {outcome.attempt_id: {skill: one.centre for skill, one in outcome.skills.items()} for outcome in found if not outcome.waits}


def statistics(bank: Bank, given: Iterable[Given], found: Found) -> list[Statistic]:
    """The statistics of all questions that were asked, by falling number of flags, then of times asked."""
    lines: dict[str, list[Given]] = defaultdict(list)
    for line in given:
        lines[line.question].append(line)
    asked = [question for question in bank.questions.values() if question.id in lines]
    judged = {question.id: tally(bank, question, lines[question.id], found) for question in asked if len(lines[question.id]) >= FEWEST}
    raised = dict(zip(judged, flags(list(judged.values())), strict=True))

    def made(question: Question) -> Statistic:
        def make() -> Tally:
            return judged[question.id] if question.id in judged else tally(bank, question, lines[question.id], found)

        return Statistic(question, len(lines[question.id]), raised.get(question.id, ()), make)

    return sorted(map(made, asked), key=lambda one: (-len(one.flags), -one.asked))


def tally(bank: Bank, question: Question, lines: Sequence[Given], found: Found) -> Tally:
    """The counts of one question."""
    answered = [line for line in lines if line.answer is not None]
    weights = _leave_one_out(question, [line for line in answered if line.attempt in found], found)
    combinations = {attempt: int(weight.argmax()) if weight.max() >= LIKELY else None for attempt, weight in weights.items()}
    top = question.table.lower[..., 0].size - 1
    strong = [line for line in answered if combinations.get(line.attempt) == top]
    return Tally(
        question=question,
        asked=len(lines),
        skipped=len(lines) - len(answered),
        seconds=median(line.seconds for line in answered) if answered else None,
        shares=_shares(bank, question, answered, weights, combinations),
        strong=len(strong),
        options=() if question.parts else _options(question, answered, strong),
        parts=_parts(question, answered),
    )


def _leave_one_out(question: Question, lines: Sequence[Given], found: Found) -> dict[int, Array]:
    """P(levels | the other answers) of each attempt, (combinations of levels,)."""
    if not lines:
        return {}
    joint = np.ones((len(lines), 1))
    for skill in question.skills:
        single = np.array([found[line.attempt][skill] for line in lines])
        joint = (joint[:, :, None] * single[:, None, :]).reshape(len(lines), -1)
    lower, upper = question.table.lower, question.table.upper
    rows = lower if (lower == upper).all() else centre(lower, upper)
    likely = rows.reshape(joint.shape[1], -1)[:, [question.classes.index(str(line.answer)) for line in lines]].T
    weights = np.divide(joint, likely, out=np.zeros_like(joint), where=likely > 0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return {line.attempt: weight for line, weight in zip(lines, weights, strict=True)}


def _shares(
    bank: Bank, question: Question, answered: Sequence[Given], weights: Mapping[int, Array], combinations: Mapping[int, int | None]
) -> tuple[AtLevel, ...]:
    """By combination of levels: the numbers of answers and of right ones, and the probability of a right answer."""
    at: dict[int, list[Given]] = defaultdict(list)
    for line in answered:
        combination = combinations.get(line.attempt)
        if combination is not None:
            at[combination].append(line)
    low, high = question.table.lower[..., -1].ravel(), question.table.upper[..., -1].ravel()
    shares = []
    for combination, levels in enumerate(product(*(bank.skills[skill].levels for skill in question.skills))):
        here = at.get(combination, ())
        says, expects = (float(low[combination]), float(high[combination])), (float(low[combination]), float(high[combination]))
        if here:
            mean = sum(weights[line.attempt] for line in here) / len(here)
            expects = (float(mean @ low), float(mean @ high))
        right = sum(line.answer == question.classes[-1] for line in here)
        shares.append(AtLevel(levels, len(here), right, *says, *expects))
    return tuple(shares)


def _parts(question: Question, answered: Sequence[Given]) -> tuple[PartTally, ...]:
    """How often each part was right, and what was given instead."""
    read = [question.entries(line.entry) for line in answered if line.entry is not None] if question.parts else []
    made = []
    for part, given in zip(question.parts, zip(*read, strict=True), strict=True) if read else ():
        wrong = [entry for entry in given if not part.is_right(entry)]
        forms = Counter(entry if part.options else _key(entry) for entry in wrong)
        spelt = {entry if part.options else _key(entry): entry.strip() for entry in reversed(wrong)}
        others = tuple((spelt[form], count) for form, count in forms.most_common(MOST_ENTRIES))
        made.append(PartTally(part.name, len(given), len(given) - len(wrong), others))
    return tuple(made)


def _options(question: Question, answered: Sequence[Given], strong: Sequence[Given]) -> tuple[Option, ...]:
    """The counts of every option of a choice; for numbers and texts those of the most frequent wrong entries."""
    everybody, best = _chosen(question, answered), _chosen(question, strong)
    if question.options:
        kinds = {option: question.option_classes.get(option, question.classes[0]) for option in question.options}
        kinds |= dict.fromkeys(question.correct, question.classes[-1])
        texts = {option: option for option in question.options}
    else:
        wrong = [line for line in answered if line.answer != question.classes[-1]]
        texts, kinds = _written(wrong), {_key(line.entry): str(line.answer) for line in wrong if line.entry is not None}
        texts = {key: texts[key] for key in sorted(texts, key=lambda key: (-best[key], -everybody[key], key))[:MOST_ENTRIES]}
    return tuple(
        Option(text, everybody[key], best[key], kinds[key] == question.classes[-1], _allowed(question, question.classes.index(kinds[key])))
        for key, text in texts.items()
    )


def _allowed(question: Question, kind: int) -> float:
    """The upper probability of an answer class at the highest level of all skills."""
    return float(question.table.upper[*((-1,) * len(question.skills)), kind])


def _chosen(question: Question, lines: Iterable[Given]) -> Counter[str]:
    """How often each option, or each entry up to its spelling (`_key`), was given."""
    found: Counter[str] = Counter()
    for line in lines:
        if line.entry is None:
            continue
        if question.kind == "choices":
            by_loose = {loose(option): option for option in question.options}
            found.update({by_loose.get(loose(part), "") for part in question.ticked(line.entry)} - {""})
        elif question.options:
            found[_option(question, line.entry)] += 1
        else:
            found[_key(line.entry)] += 1
    return found


def _option(question: Question, entry: str) -> str:
    exact = entry.strip()
    return exact if exact in question.options else next((one for one in question.options if loose(one) == loose(entry)), exact)


def _written(lines: Iterable[Given]) -> dict[str, str]:
    """The most frequent spelling of each entry, by `_key`."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        if line.entry is not None:
            forms[_key(line.entry)][line.entry.strip()] += 1
    return {key: counted.most_common(1)[0][0] for key, counted in forms.items()}


def _key(entry: str) -> str:
    value = read_number(entry)
    return loose(entry) if value is None else f"number {value}"
