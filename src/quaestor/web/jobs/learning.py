"""A bank learnt from its own answers, in the background: what EM finds, as proposals for single skills and questions.

Each proposal carries the entry that would take the present one's place, so that accepting some of them is an edit like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.excerpt import alone
from quaestor.bankfile.sentences import question_sentence, skill_sentence
from quaestor.errors import Problem, QuaestorError, got, placed
from quaestor.i18n import packed, say, together
from quaestor.learn import learn
from quaestor.learn.alternatives import MOST
from quaestor.learn.brief import question_entry, skill_entry
from quaestor.learn.choice import Choice, choose
from quaestor.learn.diagnose import diagnose
from quaestor.learn.goodness import goodness
from quaestor.learn.intervals import LEVEL
from quaestor.learn.person_fit import strangers
from quaestor.learn.proposals import Proposal, change, proposals
from quaestor.store import drafts
from quaestor.store.attempts.answers import Usable, usable
from quaestor.store.database import Database
from quaestor.store.models import Draft, Published
from quaestor.store.parts import Document, part
from quaestor.store.publishing import MissingError
from quaestor.store.texts import line
from quaestor.web.render.pictures import shares

KIND = "improve"
WEIGHTS = {"little": 2.0, "some": 10.0, "much": 50.0}  # how many answers the author's own numbers count as
CHOSEN = "little"  # with this weight tables or curves are chosen; a larger one says that the author's tables are to count
ENOUGH, TRIED = 20, 3  # people for a choice, and parts in which they are held out
FEWEST = 10  # people whose answers are needed
PARTS = {"text": say("text"), "options": say("options"), "key": say("key"), "image": say("image"), "skills": say("skills")}
SEED = 0  # of people drawn to compare the fit with
SLOW = 30  # steps after which the bar is at the middle


def tests_of(work: Work, teacher: int, bank: Bank, media: Mapping[str, str]) -> list[tuple[Published, int, list[str]]]:
    """A teacher's tests with answers to questions of a bank, the latest first: how many can be used, and which are left out, in words.

    A test of another bank with questions of the same names is not named: it has no answer that can be used, and another title.
    """
    mine = select(Published).where(Published.teacher_id == teacher).order_by(Published.id.desc()).limit(100)
    found = [(test, usable(work, [test], bank, media)) for test in work.scalars(mine).all()]
    title = line(bank.title, 200)
    named = [(test, own) for test, own in found if own.lines or (own.left_out and test.bank.title == title)]
    return [(test, len(own.lines), left_out(own)) for test, own in named]


def left_out(found: Usable) -> list[str]:
    """Which answers are left out, and why: a sentence for each question."""
    return [
        say(
            "{question}: {count} {count:answer was|answers were} given to the question as it was before; changed since: {parts}",
            question=name,
            count=count,
            parts=together([PARTS[part] for part in PARTS if part in parts], ", "),
        )
        for name, (count, parts) in found.left_out.items()
    ]


def improve(database: Database, asked: dict[str, Any], go_on: Callable[[float], bool]) -> dict[str, Any]:
    """The job: learn a draft's edition from the answers of some tests."""
    with database.read() as work:
        draft = work.get(Draft, asked["draft"])
        if draft is None:
            raise MissingError(say("the bank was deleted meanwhile"))
        edition = drafts.edition(work, draft, asked["edition"])
        document = drafts.document_of(edition)
        bank = Bank(document)
        tests = work.scalars(select(Published).where(Published.id.in_(asked["tests"]))).all()
        found = usable(work, tests, bank, edition.media)
    lines = found.lines
    people = len({one.person for one in lines})
    if people < FEWEST:
        raise QuaestorError(say("answers of at least {least} people are needed, got {count}", least=FEWEST, count=people))
    import pandas as pd  # only here: it takes long to import

    frame = pd.DataFrame(lines, columns=["person", "question", "answer"])
    steps = 0

    def tell(*_: Any) -> None:
        nonlocal steps
        steps += 1
        if not go_on(steps / (steps + SLOW)):
            raise QuaestorError(say("learning took too long and was ended; please choose fewer tests"))

    weight = WEIGHTS[asked["weight"]]
    choice = None
    if asked["weight"] == CHOSEN and people >= ENOUGH and prod(len(skill.levels) for skill in bank.skills.values()) <= MOST:
        choice = choose(bank, frame, folds=TRIED, weight=weight, progress=tell)
    options: dict[str, Any] = {"weight": weight, "progress": tell, "intervals": LEVEL if asked["intervals"] else None}
    fit = learn(bank, frame, **options) if choice is None else choice.learn(frame, **options)
    rng = np.random.default_rng(SEED)
    return {
        "people": people,
        "answers": len(lines),
        "left_out": [packed(words) for words in left_out(found)],
        "warnings": [packed(_said(warning)) for warning in fit.warnings],
        "choice": [] if choice is None else _alternatives(choice),
        "fit": [packed(words) for words in goodness(fit, rng).words],
        "strangers": len(strangers(fit, rng)),
        "proposals": [_told(document, bank, one) for one in proposals(fit, diagnose(fit))],
    }


def _alternatives(choice: Choice) -> list[dict[str, Any]]:
    """The ways in which the bank could be learnt, best first, as the page shows them; given up ones were tried in one part only."""
    found = []
    for one in (*choice.trials, *choice.given_up):
        more, error = choice.apart(one)
        found.append({"words": packed(one.alternative.words), "loss": one.loss, "more": more, "error": error, "taken": one is choice.taken})
    return found


def _said(warning: Problem) -> str:
    """A warning as a sentence, with the question it is about, if it is about one."""
    words = got(warning.rule, warning.value, warning.hint)
    return placed(str(warning.path[1]), words) if warning.path else words


def _told(document: Document, bank: Bank, one: Proposal) -> dict[str, Any]:
    """A proposal as the page shows it; `entry` takes the place of the present one, and what is told is what it means there."""
    if one.kind == "skill":
        section, entry = "skills", skill_entry(bank, one.id, one.proposed)
    else:
        section, entry = "questions", question_entry(bank, one.id, one.proposed)
    made = alone(bank.document, section, one.id, entry)
    is_same = made.document[section][one.id] == bank.document[section][one.id]
    pictures: Sequence[Any] = ()
    if section == "questions":
        said, table = question_sentence(made.questions[one.id], made.skills), made.questions[one.id].table
        pictures = [shares(bank, bank.questions[one.id]), shares(made, made.questions[one.id])]
    else:
        said, table = skill_sentence(made.skills[one.id], made.skills), made.skills[one.id].table
    return {
        "id": one.id,
        "section": section,
        "entry": part(document, (section, one.id)) if is_same else made.document[section][one.id],
        "before": packed(one.before),
        "after": packed(said),
        "answers": one.answers,
        "change": change(one.current, table),
        "words": [packed(text) for text in one.words],
        "shares": pictures,
    }
