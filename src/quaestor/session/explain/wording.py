"""The sentences of explanations, in plain English that can be said again in another language."""

from collections.abc import Sequence

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.sentences import class_word
from quaestor.i18n import Said, listed, say, together
from quaestor.inference.misfit import ALARM, Misfit
from quaestor.session.explain.reasons import Entry, Outcome, WhyQuestion, WhyResult
from quaestor.session.session import Session

HEAVIEST = 3  # entries of a ledger that are told
CLAIMS = {  # what the scores say that are no gain
    "right": say("it is the one whose chance of a right answer is nearest to one half"),
    "random": say("it was drawn"),
    "order": say("it is the first"),
}


def percent(low: float, high: float | None = None) -> Said:
    """A probability as people say it.

    >>> percent(0.615), percent(0.6, 0.714), percent(0.9996), percent(0.46, 0.9999)
    ('62 %', '60 to 71 %', 'over 99 %', '46 to over 99 %')
    """
    first, second = _rounded(low), _rounded(low if high is None else high)
    return say("{share} %", share=first if first == second else say("{first} to {last}", first=first, last=second))


def _rounded(p: float) -> str:
    return say("under 1") if 0 < p < 0.005 else say("over 99") if 0.995 < p < 1 else f"{100 * p:.0f}"


def skill_name(bank: Bank, skill: str) -> str:
    """A skill as a reader knows it, in quotes when it is more than a word."""
    title = bank.skills[skill].title or skill
    return say("“{title}”", title=title) if " " in title else title


def question(session: Session, why: WhyQuestion) -> Said:
    """Why this question comes next."""
    bank, asked = session.bank, why.question
    about = listed([skill_name(bank, skill) for skill in asked.skills])
    if asked.pilot:
        return say("Why {question}: it is a pilot question, which is tried out and does not count.", question=asked.id)
    choice = session.choice
    count = len(choice.ranking) if choice is not None else 0
    claim = CLAIMS.get(session.rules.score, say("it is expected to tell most"))
    if why.narrowed and why.narrowed[-1].left == 1:
        because = why.narrowed[-1].text
    elif why.narrowed:
        because = say("of the {count} {count:question|questions} that the rules leave {claim}", count=why.narrowed[-1].left, claim=claim)
    elif count > 1:
        because = say("of the {count} open questions {claim}", count=count, claim=claim)
    else:
        because = say("it is the only question left")
    sentences = [say("Why {question}, a question on {skills}: {because}.", question=asked.id, skills=about, because=because)]
    by_gain = session.rules.score not in CLAIMS
    if not by_gain or len(bank.skills) == 1:
        pass
    elif asked.skills == (why.uncertain,):
        sentences.append(say("That is the skill we know least about."))
    elif why.uncertain in asked.skills:
        sentences.append(say("{skill} is the skill we know least about.", skill=_capital(skill_name(bank, why.uncertain))))
    elif not why.narrowed:
        name = skill_name(bank, why.uncertain)
        sentences.append(say("The skill we know least about is {skill}, but no question on it tells more now.", skill=name))
    sentences += [_outcome(bank, outcome) for outcome in why.outcomes]
    if why.gain is not None and by_gain:
        sentences.append(_gains(why.gain, why.runners_up))
    notes = why.narrowed[:-1] if why.narrowed and why.narrowed[-1].left == 1 else why.narrowed
    sentences += [say("Rule: {rule}.", rule=note.text) for note in notes]
    if why.agree is not None:
        sentences.append(_agreement(why, *why.agree))
    return together(sentences)


def _agreement(why: WhyQuestion, count: int, drawn: int) -> Said:
    """How many networks would ask this question, and what the others would ask."""
    others = [f"{name} ({votes})" for name, votes in why.votes.items() if name != why.question.id][:2]
    if not others:
        return say("{count} of {all} networks drawn from the set would ask the same question.", count=count, all=drawn)
    return say(
        "{count} of {all} networks drawn from the set would ask the same question; others would ask {others}.",
        **{"count": count, "all": drawn, "others": listed(others)},
    )


def _gains(gain: float, runners_up: Sequence[tuple[str, float]]) -> Said:
    """The gain, who comes next, and who was passed over by a rule."""
    better = together([_compared(name, gain - other) for name, other in runners_up if other > gain + 5e-4], ", ")
    worse = together([_compared(name, gain - other) for name, other in runners_up if other <= gain + 5e-4], ", ")
    if better and worse:
        return say(
            "Its gain is {gain:.3f}; the rules passed over {better}; next in the ranking: {worse}.", gain=gain, better=better, worse=worse
        )
    if better:
        return say("Its gain is {gain:.3f}; the rules passed over {better}.", gain=gain, better=better)
    if worse:
        return say("Its gain is {gain:.3f}; next in the ranking: {worse}.", gain=gain, worse=worse)
    return say("Its gain is {gain:.3f}.", gain=gain)


def _compared(name: str, gap: float) -> Said:
    """A question and how much less or more it would gain."""
    if abs(gap) < 5e-4:
        return say("{question} (as much)", question=name)
    if gap > 0:
        return say("{question} ({gap:.3f} less)", question=name, gap=gap)
    return say("{question} ({gap:.3f} more)", question=name, gap=-gap)


def _capital(text: str) -> str:
    return text if isinstance(text, Said) else text[:1].upper() + text[1:]


def _outcome(bank: Bank, outcome: Outcome) -> Said:
    """What one answer would tell."""
    told: dict[str, tuple[str, Said]] = {}
    for skill, (low, high) in outcome.after.items():
        top = int((low + high).argmax())
        told[skill] = bank.skills[skill].levels[top], percent(float(low[top]), float(high[top]))
    answer = {"answer": class_word(outcome.answer), "chance": percent(*outcome.probability)}
    if len(told) == 1:
        ((level, share),) = told.values()
        return say(
            "The answer '{answer}' (probability {chance}) would put it at '{level}' with {share}.", level=level, share=share, **answer
        )
    each = [
        say("{skill} at '{level}' with {share}", skill=skill_name(bank, skill), level=level, share=share)
        for skill, (level, share) in told.items()
    ]
    return say("The answer '{answer}' (probability {chance}) would put {each}.", each=listed(each), **answer)


def result(bank: Bank, why: WhyResult, over: bool) -> Said:
    """What was found of a skill, which answers made it so, and, when the test is over, what one more could change."""
    at = why.bounds.states.index(why.level)
    share = percent(float(why.bounds.lower[at]), float(why.bounds.upper[at]))
    name = _capital(skill_name(bank, why.skill))
    sentences = [say("{skill}: '{level}', with a probability of {share}.", skill=name, level=why.level, share=share)]
    others = [say("'{level}'", level=name) for name in why.possible if name != why.level]
    if others:
        sentences.append(say("{levels} cannot be ruled out.", levels=listed(others)))
    moved = sorted(why.ledger, key=lambda entry: -abs(entry.after - entry.before))
    heavy = [entry for entry in moved if abs(entry.after - entry.before) >= 0.005][:HEAVIEST]
    if heavy:
        told = together([_entry(entry) for entry in heavy], "; ")
        exact = why.bounds.width < 1e-9
        sentences.append(
            say("What counted most: {entries}.", entries=told)
            if exact
            else say("What counted most (the middle of the bounds): {entries}.", entries=told)
        )
    elif why.ledger:
        sentences.append(say("No answer changed this by a per cent or more."))
    if over and why.more is not None:
        worst, best = why.more.worst, why.more.best
        sentences.append(
            say(
                "One more question ({question}) would make it {high} if {best}, {low} if {worst}.",
                question=why.more.question,
                high=percent(*best[1:]),
                best=class_word(best[0]),
                low=percent(*worst[1:]),
                worst=class_word(worst[0]),
            )
        )
    return together(sentences)


def _entry(entry: Entry) -> Said:
    told = {"source": entry.source, "answer": class_word(entry.answer), "before": percent(entry.before), "after": percent(entry.after)}
    if entry.after > entry.before:
        return say("{source} ({answer}) raised it from {before} to {after}", **told)
    return say("{source} ({answer}) lowered it from {before} to {after}", **told)


def stop(bank: Bank, reason: str, still_open: Sequence[str], below: float) -> Said:
    """Why the test stopped and what is still open."""
    over = say("The test is over: {reason}", reason=reason)
    if not still_open:
        return over
    names = listed([skill_name(bank, skill) for skill in still_open])
    if bank.is_precise:
        return together((over, say("Still open, with a probability below {share}: {skills}.", share=percent(below), skills=names)))
    return together((over, say("Still open, with a probability that may be below {share}: {skills}.", share=percent(below), skills=names)))


def sure(session: Session, still_open: Sequence[str]) -> Said:
    """What depends on what the author left open, and whether the numbers are exact."""
    beliefs, bank = session.beliefs, session.bank
    found = _depends(bank, still_open)
    if beliefs.exact:
        return found
    return together((found, say("The bounds are certified to {gap:.1g}; they are never too narrow.", gap=beliefs.gap)))


def _depends(bank: Bank, still_open: Sequence[str]) -> Said:
    """Which levels depend on what the author left open."""
    if bank.is_precise:
        return say("How sure: the bank states exact numbers, so these are exact probabilities.")
    if not still_open:
        return say("How sure: the level of every skill is the same for every network of the set.")
    count = len(bank.skills) - len(still_open)
    names = listed([skill_name(bank, skill) for skill in still_open])
    if not count:
        return say("How sure: the level of {skills} depends on numbers the author left open.", skills=names)
    return say(
        "How sure: the level of {count} of {all} skills is the same for every network of the set; that of {skills} depends on numbers the"
        " author left open.",
        count=count,
        all=len(bank.skills),
        skills=names,
    )


def misfit(session: Session, found: Misfit) -> Said:
    """A hint at answers that do not fit together."""
    name, chance = min(found.surprises.items(), key=lambda item: item[1])
    return say(
        "A hint, no more: these answers fit together badly. Of takers who answer just as the bank says {share} contradict"
        " themselves as much; by chance alone this hint comes up for {alarm:.0f} %. The most surprising answer is {question} ({answer}):"
        " after the others its probability was {chance}.",
        share=percent(max(found.share, 0.001)),
        alarm=100 * ALARM,
        question=name,
        answer=class_word(session.answers[name]),
        chance=percent(chance),
    )
