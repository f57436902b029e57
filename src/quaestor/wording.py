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

    >>> percent(0.615), percent(0.6, 0.714), percent(0.9996), percent(0.46, 0.9999)
    ('62 %', '60 to 71 %', 'over 99 %', '46 to over 99 %')
    """
    first, second = _rounded(low), _rounded(low if high is None else high)
    return f"{first} %" if first == second else f"{first} to {second} %"


def _rounded(p: float) -> str:
    return "under 1" if 0 < p < 0.005 else "over 99" if 0.995 < p < 1 else f"{100 * p:.0f}"


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
    if not by_gain or len(bank.skills) == 1:
        pass
    elif asked.skills == (why.uncertain,):
        sentences.append("That is the skill we know least about.")
    elif why.uncertain in asked.skills:
        sentences.append(f"{_capital(skill_name(bank, why.uncertain))} is the skill we know least about.")
    elif not why.narrowed:
        sentences.append(f"The skill we know least about is {skill_name(bank, why.uncertain)}, but no question on it tells more now.")
    sentences += [_outcome(bank, outcome) for outcome in why.outcomes]
    if why.gain is not None and by_gain:
        sentences.append(_gains(why.gain, why.runners_up))
    notes = why.narrowed[:-1] if why.narrowed and why.narrowed[-1].left == 1 else why.narrowed
    sentences += [f"Rule: {note.text}." for note in notes]
    if why.agree is not None:
        sentences.append(f"{why.agree[0]} of {why.agree[1]} networks drawn from the set would ask the same question{_others(why)}.")
    return " ".join(sentences)


def _others(why: WhyQuestion) -> str:
    """What the other networks would ask."""
    others = [f"{name} ({count})" for name, count in why.votes.items() if name != why.question.id][:2]
    return f"; others would ask {listed(others)}" if others else ""


def _gains(gain: float, runners_up: Sequence[tuple[str, float]]) -> str:
    """The gain, who comes next, and who was passed over by a rule."""
    better = [f"{name} ({_difference(gain - other)})" for name, other in runners_up if other > gain + 5e-4]
    worse = [f"{name} ({_difference(gain - other)})" for name, other in runners_up if other <= gain + 5e-4]
    passed = f"; the rules passed over {', '.join(better)}" if better else ""
    return f"Its gain is {gain:.3f}{passed}{'; next in the ranking: ' + ', '.join(worse) if worse else ''}."


def _difference(gap: float) -> str:
    return "as much" if abs(gap) < 5e-4 else f"{abs(gap):.3f} {'less' if gap > 0 else 'more'}"


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


def result(bank: Bank, why: WhyResult, over: bool) -> str:
    """What was found of a skill, which answers made it so, and, when the test is over, what one more could change."""
    at = why.bounds.states.index(why.level)
    low, high = float(why.bounds.lower[at]), float(why.bounds.upper[at])
    sentences = [f"{_capital(skill_name(bank, why.skill))}: '{why.level}', with a probability of {percent(low, high)}."]
    others = [f"'{name}'" for name in why.possible if name != why.level]
    if others:
        sentences.append(f"{_capital(listed(others))} cannot be ruled out.")
    moved = sorted(why.ledger, key=lambda entry: -abs(entry.after - entry.before))
    heavy = [entry for entry in moved if abs(entry.after - entry.before) >= 0.005][:HEAVIEST]
    middle = "" if why.bounds.width < 1e-9 else " (the middle of the bounds)"
    if heavy:
        sentences.append(f"What counted most{middle}: {'; '.join(_entry(entry) for entry in heavy)}.")
    elif why.ledger:
        sentences.append("No answer changed this by a per cent or more.")
    if over and why.more is not None:
        worst, best = why.more.worst, why.more.best
        sentences.append(
            f"One more question ({why.more.question}) would make it {percent(*best[1:])} if {best[0]}, {percent(*worst[1:])} if {worst[0]}."
        )
    return " ".join(sentences)


def _entry(entry: Entry) -> str:
    moved = "raised" if entry.after > entry.before else "lowered"
    return f"{entry.source} ({entry.answer}) {moved} it from {percent(entry.before)} to {percent(entry.after)}"


def stop(bank: Bank, reason: str, still_open: Sequence[str], below: float) -> str:
    """Why the test stopped and what is still open."""
    if not still_open:
        return f"The test is over: {reason}"
    names = listed([skill_name(bank, skill) for skill in still_open])
    may = "" if bank.is_precise else "that may be "
    return f"The test is over: {reason} Still open, with a probability {may}below {percent(below)}: {names}."


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
