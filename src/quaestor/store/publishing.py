"""Uploaded banks and published tests: both immutable, both visible only to their teacher."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from types import MappingProxyType

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import undefer

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, got
from quaestor.formats.files import dump_bytes, load_bytes
from quaestor.i18n import say
from quaestor.inference.layout import layout_of
from quaestor.selection.rules import Rules
from quaestor.store.clock import now
from quaestor.store.codes import free_codes
from quaestor.store.erasure import erased
from quaestor.store.inserts import insert
from quaestor.store.media import chosen, drop_unused, hash_of, keep_images
from quaestor.store.media import image as image
from quaestor.store.memory import cached
from quaestor.store.models import BankVersion, Published, SchoolClass, Share, Teacher
from quaestor.store.secrets import code_of
from quaestor.store.serving import BANK, SlowError, is_serving
from quaestor.store.sizes import size_of
from quaestor.store.texts import line

MODES, RETAKES = ("exam", "practice"), ("none", "any", "best")
AT_ONCE, CLOSED = "at once", "closed"  # when takers see their result: at the end of their attempt, once the test is closed
CODE = 6  # characters of the code of a test
LARGE = 200_000  # characters of a bank from which on reading it takes too long where others wait
_ALIAS = re.compile(r"[\s\[{,:-]\*[^\s*]")  # of YAML: what stands once may count a thousand times
MOST_OPTIONS = 1000  # of a question in a browser
LONGEST_HALF_LIFE = 3650  # days


class MissingError(QuaestorError):
    """Something that does not exist, or belongs to another teacher: the message is the same."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of a test. `minutes`: time limit; `by_list`: only for pupils of the class list; `keep_days`: when names are erased.

    `results`: when takers see theirs. `per_browser`, `per_address`: how many attempts may begin within a day, with the code of the test.
    `class_id`: the class whose pupils take it. `half_life`: its pupils start from what earlier tests told of them, and in so many days that
    counts half; None: everybody starts from the bank alone.
    """

    mode: str = "exam"
    minutes: float | None = None
    opens: datetime | None = None
    closes: datetime | None = None
    retakes: str = "none"
    by_list: bool = False
    keep_days: int | None = None
    results: str = AT_ONCE
    per_browser: int | None = None
    per_address: int | None = None
    class_id: int | None = None
    half_life: float | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise QuaestorError.at("mode", got(say("one of {words}", words=", ".join(MODES)), f"'{self.mode}'"))
        if self.retakes not in RETAKES:
            raise QuaestorError.at("retakes", got(say("one of {words}", words=", ".join(RETAKES)), f"'{self.retakes}'"))
        if self.minutes is not None and not 0 < self.minutes <= 24 * 60:
            raise QuaestorError.at("minutes", got(say("above 0 and at most a day"), f"{self.minutes:g}"))
        if self.opens is not None and self.closes is not None and self.opens >= self.closes:
            found = say("{closes} after {opens}", closes=self.closes, opens=self.opens)
            raise QuaestorError.at("closes", got(say("later than it opens"), found))
        if self.results not in (AT_ONCE, CLOSED):
            raise QuaestorError.at("results", got(say("one of {words}", words=f"{AT_ONCE}, {CLOSED}"), f"'{self.results}'"))
        if self.half_life is not None and not 0 < self.half_life <= LONGEST_HALF_LIFE:
            rule = say("a number of days above 0 and at most {most}", most=LONGEST_HALF_LIFE)
            raise QuaestorError.at("half_life", got(rule, f"{self.half_life:g}"))
        if self.half_life is not None and self.class_id is None:
            raise QuaestorError.at("half_life", say("only pupils of a class have earlier tests to start from; choose a class"))
        for name in ("keep_days", "per_browser", "per_address"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise QuaestorError.at(name, got(say("at least 1"), str(getattr(self, name))))


def keep_bank(work: Work, teacher: Teacher, bank: Bank, images: Mapping[str, bytes] = MappingProxyType({})) -> BankVersion:
    """Store a bank with the images that its questions name; the same version with the same images is stored once."""
    return keep_version(work, teacher.id, bank, keep_images(work, chosen(bank, images)))


def keep_version(work: Work, teacher: int, bank: Bank, media: Mapping[str, str]) -> BankVersion:
    """Store a bank of a teacher with images that are stored already."""
    row = insert(work, BankVersion).values(
        teacher_id=teacher,
        title=line(bank.title, 200) or "A bank without a title",
        version=bank.version,
        model_version=bank.model_version,
        media=dict(media),
        media_hash=hash_of(media),
        content=dump_bytes(bank, ".yaml").decode(),
        questions=len(bank.questions),
        created=now(),
    )
    work.execute(row.on_conflict_do_nothing())
    mine = (BankVersion.teacher_id == teacher, BankVersion.version == bank.version, BankVersion.media_hash == hash_of(media))
    return work.scalars(select(BankVersion).where(*mine).options(undefer(BankVersion.content))).one()


def bank_of(work: Work, teacher: Teacher, bank_id: int) -> BankVersion:
    """One of a teacher's banks."""
    found = work.get(BankVersion, bank_id, options=[undefer(BankVersion.content)])
    if found is None or found.teacher_id != teacher.id:
        raise MissingError(say("there is no such bank"))
    return found


def drop_bank(work: Work, kept: BankVersion) -> None:
    """Delete a bank that no test uses, with its images; IntegrityError if one uses it."""
    work.delete(kept)
    work.flush()
    drop_unused(work)
    erased(work)


def open_bank(kept: BankVersion) -> Bank:
    """The bank of a stored version; those used last are cached."""
    bank: Bank | None = cached.get(("bank", kept.version))
    if bank is None:
        if is_serving.get() and is_large(kept.content):
            raise SlowError(BANK, kept.version, kept.content, kept.version)
        bank = load_bytes(kept.content.encode(), ".yaml")
        if bank.version != kept.version:
            raise QuaestorError(f"bank: its content is version {bank.version}, got {kept.version} in the database")
        remember_bank(bank, size_of(bank))
    return bank


def is_large(content: str) -> bool:
    """Whether reading a bank may take too long where others wait."""
    return len(content) > LARGE or _ALIAS.search(content) is not None


def remember_bank(bank: Bank, size: int) -> None:
    """Put a bank into the cache; `size`: its bytes of memory (`size_of`)."""
    cached.put(("bank", bank.version), bank, size)


def open_latest(work: Work, most: int = 20, seconds: float = 1.0) -> None:
    """Read the banks of the latest tests that are open into the cache, for so many seconds, so that the first page does not wait for it.

    Large ones are left for whoever needs them: the server begins to serve at once.
    """
    end = monotonic() + seconds
    is_open = or_(Published.closes.is_(None), Published.closes > now())
    small = select(Published).join(BankVersion).where(is_open, func.length(BankVersion.content) <= LARGE)
    for test in work.scalars(small.order_by(Published.id.desc()).limit(most)):
        if monotonic() > end:
            return
        if not is_large(test.bank.content):
            layout_of(open_bank(test.bank))


def unusable(bank: Bank) -> list[str]:
    """The questions that cannot be asked in a browser: those without a text, or choices without options."""
    return [question.id for question in bank.questions.values() if not question.takes_entries or not question.text]


def publish(
    work: Work, teacher: Teacher, kept: BankVersion, rules: Rules, conditions: Conditions, title: str = "", form: str = ""
) -> Published:
    """Publish a test with a bank version, rules and conditions, which never change; it gets a code.

    `form`: a random value of the submitted form. The code is derived from it and from all choices, so that submitting a form twice gives
    one test. Of a bank that another teacher shares, the test has a version of its own.
    """
    bank = open_bank(kept)
    rules.check(bank)
    lacking = unusable(bank)
    if lacking:
        words = say("a test in the browser has questions with a text and a way to answer, got {question} without", question=lacking[0])
        raise QuaestorError(words)
    for question in bank.questions.values():
        count = sum(max(1, len(part.options)) for part in question.parts) or len(question.options)
        if count > MOST_OPTIONS:
            rule = say("a question in the browser has at most {most} options", most=MOST_OPTIONS)
            raise QuaestorError.at(question.id, got(rule, str(count)))
    if conditions.class_id is not None:
        _refuse_class(work, teacher, conditions.class_id)
    if kept.teacher_id != teacher.id:
        kept = keep_version(work, teacher.id, bank, kept.media)
    called = line(title, 200) or kept.title
    own = code_of(f"{form}\n{teacher.id}\n{kept.id}\n{called}\n{rules.document}\n{conditions}", CODE) if form else ""
    for _ in range(5):
        taken = work.scalar(select(Published).where(Published.code == own)) if own else None
        if taken is not None and (taken.teacher_id, taken.bank_id) == (teacher.id, kept.id):
            return taken
        made = Published(
            teacher_id=teacher.id,
            bank_id=kept.id,
            title=called,
            code=own if own and taken is None else free_codes(work, 1, CODE)[0],
            rules=rules.document,
            created=now(),
            **vars(conditions),
        )
        try:
            with work.begin_nested():
                work.add(made)
                work.flush()
            return made
        except IntegrityError:
            continue
    raise QuaestorError(say("no free code was found for the test, got five that are taken"))


def _refuse_class(work: Work, teacher: Teacher, number: int) -> None:
    """QuaestorError for a class that a teacher cannot give a test to."""
    found = work.get(SchoolClass, number)
    shared = select(Share.id).where(Share.class_id == number, Share.teacher_id == teacher.id, Share.extent == "edit")
    if found is None or (found.teacher_id != teacher.id and work.scalar(shared) is None):
        raise MissingError(say("there is no such class"))
    if found.archived is not None:
        raise QuaestorError.at("class_id", say("this class is archived; take it up again first, or choose another one"))


def published_by(work: Work, teacher: Teacher) -> Sequence[Published]:
    """A teacher's tests, the newest first."""
    return work.scalars(select(Published).where(Published.teacher_id == teacher.id).order_by(Published.id.desc())).all()


def open_with(work: Work, teacher: Teacher, kept: BankVersion) -> Sequence[Published]:
    """The tests of a teacher that are not closed and have this bank, or another version of it under the same title."""
    mine = select(Published).join(BankVersion).where(Published.teacher_id == teacher.id, BankVersion.title == kept.title)
    return work.scalars(mine.where(or_(Published.closes.is_(None), Published.closes > now())).order_by(Published.id)).all()


def published(work: Work, teacher: Teacher, test_id: int) -> Published:
    """One of a teacher's tests."""
    found = work.get(Published, test_id)
    if found is None or found.teacher_id != teacher.id:
        raise MissingError(say("there is no such test"))
    return found
