"""The sentences of explanations, in plain English that can be said again in another language."""

from collections.abc import Sequence

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.sentences import class_word
from quaestor.credal.decisions import TIED, best
from quaestor.credal.indices import entropy
from quaestor.i18n import Said, listed, say, together
from quaestor.inference.misfit import ALARM, Misfit
from quaestor.selection.ranking import second_score
from quaestor.selection.scores.known import BY_SKILL
from quaestor.session.explain.reasons import Change, Entry, Outcome, WhyQuestion, WhyResult, whole
from quaestor.session.session import Session

HEAVIEST = 3  # entries of a ledger that are told
CLAIMS = {  # what a score says of the one question that it puts first
    "right": say("it is the one whose chance of a right answer is nearest to one half"),
    "random": say("it was drawn"),
    "order": say("it is the first"),
}
UNKNOWN_FUTURE = say("Whether more questions would change the result is not said for banks with intervals.")
SECOND = {  # the same of the score that decides between equally good ones
    "right": say("of these its chance of a right answer is nearest to one half"),
    "random": say("it was drawn from them"),
    "order": say("it is the first of them"),
}


def percent(low: float, high: float | None = None) -> Said:
    """A probability as people say it.

    >>> percent(0.615), percent(0.6, 0.714), percent(0.9996), percent(0.46, 0.9999)
    ('62 %', '60 to 71 %', 'over 99 %', '46 to over 99 %')
    """
    first, second = _rounded(low), _rounded(low if high is None else high)
    return say("{share} %", share=first if first == second else say("{first} to {last}", first=first, last=second))


def _rounded(p: float) -> str:
    return say("under 1") if 0 < p < 0.005 else say("over 99") if 0.995 < p < 1 else str(whole(p))


def skill_name(bank: Bank, skill: str) -> str:
    """A skill as a reader knows it, in quotes when it is more than a word."""
    title = bank.skills[skill].title or skill
    return say("“{title}”", title=title) if " " in title else title


def question(session: Session, why: WhyQuestion) -> Said:
    """Why this question comes next: what really decided, and perhaps the rule or the skill behind it."""
    bank, asked = session.bank, why.question
    if why.decided == "pilot":
        return say("Why {question}: it is a pilot question, which is tried out and does not count.", question=asked.id)
    about = listed([skill_name(bank, skill) for skill in asked.skills])
    first = say("Why {question}, a question on {skills}: {because}.", question=asked.id, skills=about, because=_because(session, why))
    second = _aside(session, why)
    return together((first, second)) if second else first


def _because(session: Session, why: WhyQuestion) -> str:
    if why.decided == "rule":
        return why.narrowed[-1].text
    if why.decided == "only":
        if why.narrowed:
            return say("it is the only question that the rules leave ({rule})", rule=why.narrowed[-1].text)
        return say("it is the only question left")
    choice = session.choice
    count = len(choice.candidates) if choice is not None else 0
    if why.narrowed:
        return say("of the {count} {count:question|questions} that the rules leave {claim}", count=count, claim=_claim(session, why, count))
    return say("of the {count} open questions {claim}", count=count, claim=_claim(session, why, count))


def _claim(session: Session, why: WhyQuestion, count: int) -> Said:
    """What a question has over the others; never more than the gains say."""
    rules, gains = session.rules, session.rules.score in BY_SKILL
    tells = why.gain is not None and why.gain > TIED
    if why.decided == "score" and gains and not tells:
        return say("none is expected to make us surer, and it comes nearest to it")
    if why.decided == "score" and gains and rules.per is not None:
        return say("it is expected to tell most for the time it takes")
    if why.decided == "score" and rules.ahead > 1:
        return say("looking {ahead} questions ahead, it is expected to tell most", ahead=rules.ahead)
    if why.decided == "score":
        return CLAIMS.get(rules.score, say("it is expected to tell most"))
    then = second_score(rules.score, rules.then) or ""
    last = SECOND.get(then, say("of these it is expected to leave least doubt")) if why.decided == "second" else SECOND["order"]
    if rules.score == "right":
        return say("{tied} have a chance of a right answer equally near to one half, and {last}", tied=why.tied, last=last)
    if gains and not tells:
        return _none(why, last) if why.tied == count else _equal(why.tied, last)
    return say("all were equally good, and {last}", last=last) if why.tied == count else _equal(why.tied, last)


def _none(why: WhyQuestion, last: str) -> Said:
    if why.decided == "second":
        return say("none is expected to change the result by itself, but {last}", last=last)
    return say("none is expected to change the result by itself, and {last}", last=last)


def _equal(tied: int, last: str) -> Said:
    return say("{tied} were equally good, and {last}", tied=tied, last=last)


def _aside(session: Session, why: WhyQuestion) -> str:
    """A second sentence: the rules, where they passed over a better question; else what is known of the skill."""
    bank, asked = session.bank, why.question
    ranking = session.ranking
    if why.decided in ("score", "second", "order") and why.narrowed and why.gain is not None and ranking.gains[0] > why.gain + TIED:
        return say("Rule: {rule}.", rule=together([note.text for note in why.narrowed], "; "))
    is_clear = why.decided == "score" and session.rules.score in BY_SKILL and why.gain is not None and why.gain > TIED
    doubts = [float(entropy(bounds.centre)) for bounds in session.beliefs.values()]
    is_alone = len(doubts) > 1 and sorted(doubts)[-2] < max(doubts) - TIED
    if not is_clear or not is_alone or not isinstance(session.rules.target, str):
        return ""
    if asked.skills == (why.uncertain,):
        return say("That is the skill we know least about.")
    name = skill_name(bank, why.uncertain)
    if why.uncertain in asked.skills:
        return say("{skill} is the skill we know least about.", skill=_capital(name))
    return "" if why.narrowed else say("The skill we know least about is {skill}, but no question on it tells more now.", skill=name)


def question_numbers(session: Session, why: WhyQuestion) -> Said:
    """The numbers behind the choice: what each answer would tell, the gains, the rules, how many networks agree."""
    sentences = [_outcome(session.bank, outcome) for outcome in why.outcomes]
    if why.gain is not None and session.rules.score in BY_SKILL:
        sentences.append(_gains(why.gain, why.runners_up))
    sentences += [say("Rule: {rule}.", rule=note.text) for note in why.narrowed]
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
    better = together([_compared(name, gain - other) for name, other in runners_up if other > gain + TIED], ", ")
    worse = together([_compared(name, gain - other) for name, other in runners_up if other <= gain + TIED], ", ")
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
    if abs(gap) <= TIED:
        return say("{question} (as much)", question=name)
    if abs(gap) < 5e-4:
        return say("{question} (hardly less)", question=name) if gap > 0 else say("{question} (hardly more)", question=name)
    if gap > 0:
        return say("{question} ({gap:.3f} less)", question=name, gap=gap)
    return say("{question} ({gap:.3f} more)", question=name, gap=-gap)


def _capital(text: str) -> str:
    return text if isinstance(text, Said) else text[:1].upper() + text[1:]


def _outcome(bank: Bank, outcome: Outcome) -> Said:
    """What one answer would tell."""
    told: dict[str, tuple[str, Said]] = {}
    for skill, (low, high) in outcome.after.items():
        top = int(best(low, high))
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


def result(bank: Bank, why: WhyResult) -> Said:
    """What was found of a skill, and the answer that made it so."""
    at = why.bounds.states.index(why.level)
    told = {"skill": _capital(skill_name(bank, why.skill)), "level": why.level}
    share = percent(float(why.bounds.lower[at]), float(why.bounds.upper[at]))
    others = [say("'{level}'", level=name) for name in why.possible if name != why.level]
    if others:
        ruled = listed(others)
        first = say("{skill}: '{level}', with a probability of {share}; {levels} cannot be ruled out.", share=share, levels=ruled, **told)
    else:
        first = say("{skill}: '{level}', with a probability of {share}.", share=share, **told)
    moved = _moved(why)
    if not why.ledger:
        return first
    if not moved:
        return together((first, say("No answer changed this by more than a percentage point.")))
    return together((first, _counted(why, [entry for entry in moved if abs(entry.points) == abs(moved[0].points)])))


def _moved(why: WhyResult) -> list[Entry]:
    """The answers whose change can be seen, the largest first."""
    return sorted((entry for entry in why.ledger if entry.points), key=lambda entry: -abs(entry.points))[:HEAVIEST]


def _counted(why: WhyResult, entries: Sequence[Entry]) -> Said:
    told = together([_entry(entry) for entry in entries], "; ")
    if why.bounds.width < 1e-9:
        return say("What counted most: {entries}.", entries=told)
    return say("What counted most (the middle of the bounds): {entries}.", entries=told)


def result_numbers(bank: Bank, why: WhyResult, over: bool) -> Said:
    """The numbers behind a result: the answers that counted most and, when the test is over, what one more could change."""
    moved = _moved(why)
    sentences = [_counted(why, moved)] if moved else []
    if over and why.more is not None:
        low, high = why.more.worst, why.more.best
        sentences.append(
            say(
                "One more question ({question}) would make it {high} if {best}, {low} if {worst}.",
                question=why.more.question,
                high=percent(*high[1:]),
                best=class_word(high[0]),
                low=percent(*low[1:]),
                worst=class_word(low[0]),
            )
        )
    return (
        say("{skill}: {sentences}", skill=_capital(skill_name(bank, why.skill)), sentences=together(sentences))
        if sentences
        else together(())
    )


def change(bank: Bank, found: Change) -> Said:
    """What an answer changed of one skill."""
    before, after = found.ends
    told = {"skill": _capital(skill_name(bank, found.skill)), "level": found.level}
    return say("{skill}, '{level}': from {before} to {after}.", before=percent(*before), after=percent(*after), **told)


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
        return together((over, say("Still open, with a probability below {share:g} %: {skills}.", share=100 * below, skills=names)))
    words = say("Still open, with a probability that may be below {share:g} %: {skills}.", share=100 * below, skills=names)
    return together((over, words))


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
        return say("How sure: the bank states exact numbers; if they are right, so are these probabilities.")
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
        " themselves as much; by chance alone this hint comes up for {alarm:.0f} %. Among the most surprising answers is {question}"
        " ({answer}): after the others its probability was {chance}.",
        share=percent(max(found.share, 0.001)),
        alarm=100 * ALARM,
        question=name,
        answer=class_word(session.answers[name]),
        chance=percent(chance),
    )


def progress(number: int, at_most: int | None) -> str:
    """Where a test stands: the number of the question and, where the rules set a limit, how many there are at most."""
    if at_most is None:
        return say("Question {number}", number=number)
    return say("Question {number} of at most {most}", number=number, most=at_most)
