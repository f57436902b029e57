"""A warning of banks that make steps of a test slow: how slow, and what would help."""

from quaestor.bankfile.bank import Bank
from quaestor.errors import Problem
from quaestor.i18n import listed, say, together
from quaestor.selection.dry_run import LONGEST, SLOW, DryRun, tied, worst_step

_NAMED = 5  # questions that a warning names


def slowness(bank: Bank, longest: float = LONGEST) -> Problem | None:
    """A warning if a step with the default rules took longer than `SLOW` seconds in a dry run, or was not done; None otherwise."""
    found = worst_step(bank, longest=longest)
    if found.worst <= SLOW and not found.is_cut:
        return None
    rule = say("a step of a test should take at most {most:g} s of computing", most=SLOW)
    hints = [*_loops(bank, found), *_exact(bank, found, longest)]
    return Problem("questions", rule, _state(bank, found, longest), together(hints, "; ") if hints else "", "warning")


def told_cost(bank: Bank, found: DryRun | None, limit: float) -> str:
    """What takers of a test will feel of its bank on a server that lets a step take so many seconds; empty where that is nothing.

    `found` is None where not even the first step was done in time.
    """
    if found is not None and found.worst <= SLOW and not found.is_cut:
        return ""
    took = say("longer than a server can wait") if found is None else _state(bank, found, limit)
    hints = [say("Exact numbers instead of intervals, or fewer questions on several skills at once, make it quick.")]
    if found is None or found.is_cut or found.worst > limit:
        hints.insert(0, say("What takes longer than {limit:g} s goes on with results that are true but rough.", limit=limit))
    slow = say("With this bank, takers may have to wait for the next question. A step took, in seconds of computing: {took}.", took=took)
    return together([slow, *hints])


def _state(bank: Bank, found: DryRun, longest: float) -> str:
    seconds = found.worst
    if found.is_cut and seconds <= SLOW:
        return say("a dry run was not done after {longest:g} s", longest=longest)
    took = say("at least {seconds:.2g} s", seconds=seconds) if found.is_cut else say("up to {seconds:.2g} s", seconds=seconds)
    if not found.answered:
        return say("{took} at the start", took=took)
    has_several = any(len(question.skills) > 1 for question in bank.questions.values())
    on = say("on several skills") if has_several else say("on one skill each")
    words = {"took": took, "count": found.answered, "on": on, "start": found.start}
    return say("{took} after {count} {count:question|questions} {on}, {start:.1g} s at the start", **words)


def _loops(bank: Bank, found: DryRun) -> list[str]:
    """Which questions tie skills into loops, and how many of them may be answered before steps are slow."""
    names = tied(bank)
    if not names:
        return []
    shown = [*names[:_NAMED], *([say("{count} more", count=len(names) - _NAMED)] if len(names) > _NAMED else [])]
    hints: list[str] = [say("skills are tied into loops by {questions}", questions=listed(shown))]
    if 0 < found.quick < found.answered:
        hints.append(say("it helps to ask fewer of them: after {count} a step took at most {most:g} s", count=found.quick, most=SLOW))
    return hints


def _exact(bank: Bank, found: DryRun, longest: float) -> list[str]:
    """How long steps take with exact numbers, where that helps: in the questions that tie, in the skills, everywhere."""
    if bank.is_precise:
        return []
    questions = {name: bank.questions[name].table.centre() for name in tied(bank)}
    skills = {skill.id: skill.table.centre() for skill in bank.skills.values()}
    tries = [(say("in these questions"), bank.with_tables(questions))] if questions else []
    tries += [(say("in the skills"), bank.with_tables(skills)), (say("everywhere"), bank.centre())]
    measured: list[str] = []
    for where, other in tries:
        after = worst_step(other, longest=longest)
        if after.worst < found.worst / 2 and not after.is_cut:
            measured.append(say("{where} {seconds:.1g}", where=where, seconds=after.worst))
    words = together(measured, ", ")
    return [say("exact numbers (the centres of the intervals) help, seconds at most: {measured}", measured=words)] if measured else []
