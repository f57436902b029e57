"""All sentences that the file may have to say, in its language: written when the file is made, chosen by the answers."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say
from quaestor.model.skill import Skill
from quaestor.report.letters import Part, told_of
from quaestor.selection.rules import MISSING, WRONG, Rules
from quaestor.selection.sureness import sure_above
from quaestor.session.sufficiency import least_answers, questions_for
from quaestor.store.outcomes.outcome import Finding

MOST_LEVELS = 5  # of a skill, up to which every set of levels that may be undecided has a sentence of its own
Speak = Callable[[str], str]


def interface(rules: Rules, speak: Speak) -> dict[str, str]:
    """The words of the pages; what stands in braces is filled in there."""
    skip = {MISSING: say("A skipped question does not count."), WRONG: say("A skipped question counts as wrong.")}
    told = {
        "please enter your name": say("Please enter your name."),
        "Your name": say("Your name, or a nickname"),
        "Start": say("Start"),
        "no secret": say(
            "This page works without a server, so its answers are in it: who looks for them finds them. It is for practice, not for exams."
        ),
        "Question {number}": say("Question {number}", number=_slot("number")),
        "Question {number} of at most {most}": say("Question {number} of at most {most}", number=_slot("number"), most=_slot("most")),
        "A number, such as 12, 0.75, 3/4 or 1 1/2": say("A number, such as 12, 0.75, 3/4 or 1 1/2"),
        "Your answer": say("Your answer"),
        "Tick all that are right.": say("Tick all that are right."),
        "Answer": say("Answer"),
        "I do not know: skip": say("I do not know: skip"),
        "skips": skip.get(rules.skips) or say("A skipped question counts as “{kind}”.", kind=rules.skips),
        "Gap {number}": say("Gap {number}", number=_slot("number")),
        "Place {number}": say("Place {number}", number=_slot("number")),
        "please fill in all": say("Please fill in every part, each once, or skip the question."),
        "please answer": say("Please answer, or skip the question."),
        "a number is expected": say("Please enter a number, such as 12, 0.75, 3/4 or 1 1/2."),
        "contradiction": say("This answer contradicts the earlier ones, so that nothing could be said any more. Please check it."),
        "Result": say("Result"),
        "Result of {name}": say("Result of {name}", name=_slot("name")),
        "none counted": say("No question that counts was answered."),
        "What we found": say("What we found"),
        "few": say("Too few answers to say how far this has come."),
        "undecided": say("This is not decided yet."),
        "certain": say("We are quite certain of this."),
        "uncertain": say("Not certain yet: more questions would help."),
        "More questions would help.": say("More questions would help."),
        "The numbers": say("The numbers"),
        "How probable each level is after these answers:": say("How probable each level is after these answers:"),
        "under 1": say("under 1"),
        "over 99": say("over 99"),
        "{share} %": say("{share} %", share=_slot("share")),
        "{first} to {last}": say("{first} to {last}", first=_slot("first"), last=_slot("last")),
        "Hand it in": say("Hand it in"),
        "how to hand in": say("Save the result and give the file to your teacher, or let the teacher photograph the code below."),
        "Save the result": say("Save the result"),
        "The result as a code to photograph": say("The result as a code to photograph"),
        "The result as text": say("The result as text"),
        "I am done on this device": say("I am done on this device"),
        "leave": say("Have you handed in the result? It will be gone from this device."),
    }
    return {text: speak(words) for text, words in told.items()} | _points(speak)


def _points(speak: Speak) -> dict[str, str]:
    """How many answers were right: none, one or several (73) of one or of several (89) questions, as the plurals of a language need it."""
    found = {}
    for right, count in ((0, 1), (1, 1), (0, 89), (1, 89), (73, 89)):
        said = speak(say("{right} of {count} {count:question|questions} answered right.", right=right, count=count))
        found[f"{min(right, 2)} of {min(count, 2)}"] = said.replace("73", _slot("right")).replace("89", _slot("count"))
    return found


def _slot(name: str) -> str:
    """Braces that stay, for the page to fill in."""
    return f"{{{name}}}"


def findings(bank: Bank, rules: Rules, speak: Speak) -> list[dict[str, Any]]:
    """For each skill what can be told of it: sentences for each level, for what is undecided, and for too few answers."""
    counting, numbers = questions_for(bank), {name: number for number, name in enumerate(bank.questions)}
    least, sure = least_answers(bank, rules), sure_above(rules)
    return [
        {
            "id": skill.id,
            "title": skill.title or skill.id,
            "questions": sorted(numbers[question] for question in counting[skill.id]),
            "least": least[skill.id],
            **_sentences(bank, skill, least[skill.id], sure, speak),
        }
        for skill in bank.skills.values()
    ]


def _sentences(bank: Bank, skill: Skill, least: int, sure: float, speak: Speak) -> dict[str, Any]:
    count = len(skill.levels)

    def told(p: Sequence[float], place: int, answers: int = least) -> Part:
        return told_of(bank, skill.id, Finding(skill.levels[place], skill.levels, tuple(p), tuple(p), answers, least, sure))

    def with_probability(p: float, place: int) -> str:
        return speak(told([p if n == place else (1 - p) / (count - 1) for n in range(count)], place).sentence)

    open_sets = [some for size in range(2, count + 1) for some in combinations(range(count), size)] if count <= MOST_LEVELS else []
    return {
        "levels": [
            {
                "name": name,
                "sure": with_probability(1.0, place),
                "probably": with_probability(max(0.5, min(sure - 1e-6, 0.75)), place),
                "most": with_probability(0.49, place),
            }
            for place, name in enumerate(skill.levels)
        ],
        "between": {
            ",".join(map(str, some)): speak(told([(n in some) / len(some) for n in range(count)], some[0]).certainty) for some in open_sets
        },
        "more": [speak(told([1 / count] * count, 0, answers).certainty) for answers in range(least)],
    }
