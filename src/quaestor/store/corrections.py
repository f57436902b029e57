"""Corrections of a published test: a question is withdrawn, or its key is put right, and all attempts are scored anew.

The log of an attempt stays as it is. From the correction on the test has another bank version or other rules, its revision counts up, and
what the attempts came to before stays stored beside what they come to now (`scoring`). The bank that the test was made from is not changed.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.keys import points_by_chance
from quaestor.errors import BankError, QuaestorError, format_value, got
from quaestor.i18n import say
from quaestor.model.entries import Part
from quaestor.model.question import ONE_CHOICE, Question
from quaestor.numerals import read_number
from quaestor.selection.rules_file import read_rules
from quaestor.store.clock import now
from quaestor.store.models import BankVersion, Correction, Published
from quaestor.store.publishing import MissingError, keep_version, open_bank
from quaestor.store.texts import clean

KEY, WITHDRAWN, RESTORED = "key", "withdrawn", "restored"
LONGEST_NOTE = 1000
MOST_RIGHT, LONGEST_RIGHT = 200, 500  # right answers of a question, letters of each


class MeanwhileError(QuaestorError):
    """A correction of a test that somebody else has corrected since its page was made."""


def corrections_of(work: Work, test: Published) -> Sequence[Correction]:
    """The corrections of a test, the first one first."""
    return work.scalars(select(Correction).where(Correction.test_id == test.id).order_by(Correction.revision)).all()


def withdraw(work: Work, test: Published, question: str, note: str = "", again: bool = False, seen: int | None = None) -> Correction:
    """Withdraw a question: it is not asked any more, and answers to it say nothing; `again`: take it back into the test.

    `seen`: the revision that whoever asks for it has seen; MeanwhileError if it is another one by now.
    """
    test = _locked(work, test, seen)
    rules = withdrawn(test, question, again)
    made = _correction(work, test, RESTORED if again else WITHDRAWN, question, note)
    test.rules = rules
    work.flush()
    return made


def withdrawn(test: Published, question: str, again: bool = False) -> dict[str, Any]:
    """The rules of a test once a question is withdrawn, or taken back; nothing is changed."""
    question_of(test, question)
    listed = read_rules(test.rules).withdrawn
    if (question in listed) != again:
        rule = say("a question that is withdrawn") if again else say("a question that is not withdrawn yet")
        raise QuaestorError.at("question", got(rule, question))
    left = [one for one in listed if one != question] if again else [*listed, question]
    return {**{name: value for name, value in test.rules.items() if name != "withdrawn"}, **({"withdrawn": left} if left else {})}


def correct_key(work: Work, test: Published, question: str, right: Sequence[str], note: str = "", seen: int | None = None) -> Correction:
    """Put the key of a question right: the options that are right, or the entries that are accepted as right; `seen` as in `withdraw`."""
    test = _locked(work, test, seen)
    made = keyed(test, question, right)
    told = _correction(work, test, KEY, question, note)
    test.bank_id = keep_version(work, test.teacher_id, made, test.bank.media).id
    work.flush()
    work.expire(test, ["bank"])
    return told


def keyed(test: Published, question: str, right: Sequence[str]) -> Bank:
    """The bank of a test once the key of a question is put right; nothing is changed."""
    bank, asked = open_bank(test.bank), question_of(test, question)
    if not has_open_key(asked):
        words = say("its numbers rule some answers out at some level, so its key cannot be changed: withdraw the question instead")
        raise QuaestorError.at(question, words)
    lines = [list(dict.fromkeys(one for line in clean(written).splitlines() if (one := line.strip()))) for written in right]
    entries = ["\n".join(each) for each in lines] if asked.parts else list(dict.fromkeys(one for each in lines for one in each))
    document = bank.document
    changed = {**document["questions"][question], **_key(asked, entries)}

    def with_question(fields: Mapping[str, Any]) -> Bank:
        return Bank({**document, "questions": {**document["questions"], question: dict(fields)}})

    try:
        made = with_question(changed)
    except BankError as error:
        raise QuaestorError(error.problems[0].sentence) from error
    if made.model_version != bank.model_version and asked.options:
        with suppress(BankError):  # a difficulty in words knows the chance of a guess: that of the key before stays
            made = with_question({**changed, "guess": points_by_chance(asked.kind, asked.option_classes, asked.classes, asked.parts)})
    if made.model_version != bank.model_version or not _is_same(made.questions[question], key_of(made.questions[question]), entries):
        words = say("a key that leaves all else as it is, got one that does not; withdraw the question instead")
        raise QuaestorError.at(question, words)
    if made.version == bank.version or _is_same(asked, key_of(made.questions[question]), key_of(asked)):
        raise QuaestorError.at(question, say("another key than before is expected, got the same"))
    return made


def has_open_key(question: Question) -> bool:
    """Whether the key of a question can be corrected: where numbers rule answers out, answers given could become impossible ones."""
    return bool(question.table.upper.all())


def _is_same(question: Question, one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two keys are the same: of several parts one after the other, of others in any order."""
    return list(one) == list(other) if question.parts else set(one) == set(other)


def key_of(question: Question) -> tuple[str, ...]:
    """The answers that are right: options, or entries that are accepted; for each part those of the part, one a line."""
    if question.parts:
        return tuple("\n".join(part.accept) for part in question.parts)
    stated: Mapping[str, str] = question.option_classes if question.kind in ONE_CHOICE else question.accept
    return question.correct if question.kind == "choices" else tuple(one for one, kind in stated.items() if kind == question.classes[-1])


def _key_of_parts(question: Question, right: list[str]) -> dict[str, Any]:
    """The fields of a bank file that state the keys of the parts of a question."""
    if len(right) != len(question.parts) or not all(right):
        rule = say("a right answer for each of {names} is expected", names=" | ".join(part.name for part in question.parts))
        raise QuaestorError.at(question.id, got(rule, format_value(right)))
    for part, one in zip(question.parts, right, strict=True):
        if part.options and one not in part.options:
            raise QuaestorError.at(question.id, got(say("an option of the question"), one))
    if question.kind == "matching":
        return {"pairs": {part.name: one for part, one in zip(question.parts, right, strict=True)}, "options": list(question.options)}
    if question.kind == "ordering":
        if len(set(right)) < len(right):
            raise QuaestorError.at(question.id, got(say("each is listed once"), " | ".join(right)))
        return {"options": right}
    return {"gaps": {part.name: _gap(part, *one.splitlines()) for part, one in zip(question.parts, right, strict=True)}}


def _gap(part: Part, first: str, *others: str) -> dict[str, Any]:
    fields = {"kind": part.kind, "options": list(part.options), "correct": first, "accept": list(others)}
    stated = {name: value for name, value in fields.items() if value}
    return stated | ({"tolerance": str(part.tolerance)} if part.tolerance else {})


def _key(question: Question, right: list[str]) -> dict[str, Any]:
    """The fields of a bank file that state the key of a question."""
    if not right:
        raise QuaestorError.at(question.id, say("at least one right answer is expected, got none"))
    if len(right) > MOST_RIGHT:
        raise QuaestorError.at(question.id, got(say("at most {most} right answers are expected", most=MOST_RIGHT), str(len(right))))
    if (longest := max(map(len, right))) > LONGEST_RIGHT:
        rule = say("a right answer has at most {most} letters", most=LONGEST_RIGHT)
        raise QuaestorError.at(question.id, got(rule, str(longest)))
    if question.parts:
        return _key_of_parts(question, right)
    if question.options:
        strange = [one for one in right if one not in question.options]
        if strange:
            raise QuaestorError.at(question.id, got(say("an option of the question"), strange[0]))
    if question.kind == "choices":
        return {"correct": right}
    if question.kind == "truefalse":
        if len(right) > 1:
            raise QuaestorError.at(question.id, got(say("true or false is expected"), say("both")))
        return {"correct": right[0]}
    if question.kind == "number" and (strange := [one for one in right if read_number(one) is None]):
        raise QuaestorError.at(question.id, got(say("a number is expected, such as 12, 0.75, 3/4 or 1 1/2"), f"'{strange[0]}'"))
    best, worst = question.classes[-1], question.classes[0]
    if question.kind == "choice":
        if len(right) > 1 or len(question.classes) > 2:
            classes = {one: worst if kind == best else kind for one, kind in question.option_classes.items()}
            return {"options": {**classes, **dict.fromkeys(right, best)}, "correct": right}
        return {"options": list(question.options), "correct": right[0]}
    others = {one: kind for one, kind in question.accept.items() if kind != best and one not in right}
    return {"accept": {**dict.fromkeys(right, best), **others}, "correct": right[0]}  # both stated: a template may state others


def question_of(test: Published, name: str) -> Question:
    """A question of a test, with its present key."""
    found = open_bank(test.bank).questions.get(name)
    if found is None:
        raise MissingError(say("there is no such question"))
    return found


def _locked(work: Work, test: Published, seen: int | None) -> Published:
    mine = select(Published).where(Published.id == test.id).with_for_update(of=Published)
    found = work.scalar(mine, execution_options={"populate_existing": True})
    if found is None:
        raise MissingError(say("there is no such test"))
    if seen not in (None, found.revision):
        raise MeanwhileError(say("the test was corrected meanwhile, in another window perhaps; please look at it again"))
    return found


def noted(note: str) -> str:
    """A note as it is kept."""
    told = clean(note).strip()
    if len(told) > LONGEST_NOTE:
        raise QuaestorError.at("note", got(say("at most {most} letters", most=LONGEST_NOTE), str(len(told))))
    return told


def _correction(work: Work, test: Published, kind: str, question: str, note: str) -> Correction:
    told = noted(note)
    test.revision += 1
    made = Correction(
        test_id=test.id, revision=test.revision, kind=kind, question=question, note=told, bank_id=test.bank_id, rules=test.rules, at=now()
    )
    work.add(made)
    return made


def bank_at(work: Work, test: Published, revision: int) -> tuple[BankVersion, dict[str, Any]]:
    """The bank version and the rules by which a test was scored at a revision."""
    later = select(Correction).where(Correction.test_id == test.id, Correction.revision > revision).order_by(Correction.revision)
    found = work.scalars(later.limit(1)).first()
    return (test.bank, test.rules) if found is None else (work.get_one(BankVersion, found.bank_id), found.rules)
