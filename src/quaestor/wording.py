"""The sentences of explanations, in plain English."""

from collections.abc import Sequence

from quaestor.bank import Bank
from quaestor.inference.misfit import ALARM, Misfit
from quaestor.reasons import Entry, Outcome, WhyQuestion, WhyResult
from quaestor.session import Session

HEAVIEST = 3  # entries of a ledger that are told
CLAIMS = {  # what the scores say that are no gain
    "right": "it is the one whose chance of a right answer is nearest to one half",
    "random": "it was drawn",
    "order": "it is the first",
}


def percent(low: float, high: float | None = None) -> str:
    """A probability as people say it.

    >>> percent(0.615), percent(0.6, 0.714), percent(0.9996), percent(0.0001, 0.02)
    ('62 %', '60 to 71 %', 'over 99 %', '0 to 2 %')
    """
    high = low if high is None else high
    if low == high and 0 < high < 0.005:
        return "under 1 %"
    if low == high and 0.995 < low < 1:
        return "over 99 %"
    first, second = f"{100 * low:.0f}", f"{100 * high:.0f}"
    return f"{first} %" if first == second else f"{first} to {second} %"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def skill_name(bank: Bank, skill: str) -> str:
    """A skill as a reader knows it, in quotes when it is more than a word."""
    title = bank.skills[skill].title or skill
    return f"“{title}”" if " " in title else title


def question(session: Session, why: WhyQuestion) -> str:
    """Why this question comes next."""
    bank, asked = session.bank, why.question
    about = listed([skill_name(bank, skill) for skill in asked.skills])
    if asked.pilot:
        return f"Why {asked.id}: it is a pilot question, which is tried out and does not count."
    choice = session.choice
    count = len(choice.ranking) if choice is not None else 0
    begins = f"Why {asked.id}, a question on {about}: "
    claim = CLAIMS.get(session.rules.score, "it is expected to tell most")
    if why.narrowed and why.narrowed[-1].left == 1:
        begins += f"{why.narrowed[-1].text}."
    elif why.narrowed:
        begins += f"of the {why.narrowed[-1].left} questions that the rules leave {claim}."
    else:
        begins += f"of the {count} open questions {claim}." if count > 1 else "it is the only question left."
    sentences = [begins]
    by_gain = session.rules.score not in CLAIMS
    if asked.skills == (why.uncertain,):
        sentences.append("That is the skill we know least about.")
    elif why.uncertain in asked.skills:
        sentences.append(f"{_capital(skill_name(bank, why.uncertain))} is the skill we know least about.")
    elif not why.narrowed and by_gain:
        sentences.append(f"The skill we know least about is {skill_name(bank, why.uncertain)}, but no question on it tells more now.")
    sentences += [_outcome(bank, outcome) for outcome in why.outcomes]
    if why.runners_up and why.gain is not None and by_gain:
        gap = [f"{name} ({'as much' if abs(why.gain - gain) < 5e-4 else _difference(why.gain - gain)})" for name, gain in why.runners_up]
        sentences.append(f"Its gain is {why.gain:.3f}; next in the ranking: {', '.join(gap)}.")
    notes = why.narrowed[:-1] if why.narrowed and why.narrowed[-1].left == 1 else why.narrowed
    sentences += [f"Rule: {note.text}." for note in notes]
    if why.agree is not None:
        sentences.append(f"{why.agree[0]} of {why.agree[1]} networks drawn from the set would ask the same question.")
    return " ".join(sentences)


def _difference(gap: float) -> str:
    return f"{abs(gap):.3f} {'less' if gap > 0 else 'more'}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _outcome(bank: Bank, outcome: Outcome) -> str:
    """What one answer would tell."""
    told = []
    for skill, (low, high) in outcome.after.items():
        top = int((low + high).argmax())
        name = skill_name(bank, skill) if len(outcome.after) > 1 else "it"
        told.append(f"{name} at '{bank.skills[skill].levels[top]}' with {percent(float(low[top]), float(high[top]))}")
    return f"The answer '{outcome.answer}' (probability {percent(*outcome.probability)}) would put {listed(told)}."


def result(bank: Bank, why: WhyResult) -> str:
    """What was found of a skill, and which answers made it so."""
    at = why.bounds.states.index(why.level)
    low, high = float(why.bounds.lower[at]), float(why.bounds.upper[at])
    sentences = [f"{_capital(skill_name(bank, why.skill))}: '{why.level}', with a probability of {percent(low, high)}."]
    others = [f"'{name}'" for name in why.possible if name != why.level]
    if others:
        sentences.append(f"{_capital(listed(others))} cannot be ruled out.")
    heavy = [entry for entry in why.largest[:HEAVIEST] if abs(entry.after - entry.before) >= 0.005]
    if heavy:
        sentences.append(f"What counted most: {'; '.join(_entry(entry) for entry in heavy)}.")
    elif why.ledger:
        sentences.append("No answer changed this by a per cent or more.")
    return " ".join(sentences)


def _entry(entry: Entry) -> str:
    moved = "raised" if entry.after > entry.before else "lowered"
    return f"{entry.source} ({entry.answer}) {moved} it from {percent(entry.before)} to {percent(entry.after)}"


def stop(bank: Bank, reason: str, still_open: Sequence[str]) -> str:
    """Why the test stopped and what is still open."""
    if not still_open:
        return f"The test is over: {reason}"
    names = listed([skill_name(bank, skill) for skill in still_open])
    return f"The test is over: {reason} Still open: the level of {names}."


def sure(session: Session, still_open: Sequence[str]) -> str:
    """What depends on what the author left open, and whether the numbers are exact."""
    beliefs, bank = session.beliefs, session.bank
    exact = "" if beliefs.exact else f" The bounds are certified to {beliefs.gap:.1g}; they are never too narrow."
    if bank.is_precise:
        return f"How sure: the bank states exact numbers, so these are exact probabilities.{exact}"
    if not still_open:
        return f"How sure: the level of every skill is the same for every network of the set.{exact}"
    count = len(bank.skills) - len(still_open)
    names = listed([skill_name(bank, skill) for skill in still_open])
    same = (
        f"the level of {count} of {len(bank.skills)} skills is the same for every network of the set; that of" if count else "the level of"
    )
    return f"How sure: {same} {names} depends on numbers the author left open.{exact}"


def misfit(session: Session, found: Misfit) -> str:
    """A hint at answers that do not fit together."""
    name, chance = min(found.surprises.items(), key=lambda item: item[1])
    answer, share = session.answers[name], percent(max(found.share, 0.001))
    return (
        f"A hint, no more: these answers fit together badly. Of takers who answer just as the bank says {share} contradict"
        f" themselves as much; by chance alone this hint comes up for {100 * ALARM:.0f} %. The most surprising answer is {name} ({answer}):"
        f" after the others its probability was {percent(chance)}."
    )
