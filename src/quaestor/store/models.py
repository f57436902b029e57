"""The tables: teachers, banks with images, published tests, classes and pupils, attempts with append-only answer logs and what was found.

A bank row is one version and never changes. A test has a bank version and rules; a correction gives it others, counts its revision up and
keeps the earlier ones. An attempt is its log; what its answers came to is stored beside it, once for each revision. Secrets that only have
to be recognised (sign-in links, cookies, API tokens) are stored as hashes.
"""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, MetaData, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
NEVER_AGAIN = {"sqlite_autoincrement": True}  # ids are never used again: programs store them


class Base(DeclarativeBase):
    """The base of all tables. Times are UTC without a zone."""

    metadata = MetaData(naming_convention=_NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {dict[str, Any]: JSON, dict[str, str]: JSON, list[str]: JSON}


class Teacher(Base):
    """A teacher, who publishes tests; the owner may invite others. `locked`: since when they cannot sign in, if so."""

    __tablename__ = "teacher"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    name: Mapped[str] = mapped_column(String(200), default="")
    password: Mapped[str | None] = mapped_column(String(200))
    is_owner: Mapped[bool] = mapped_column(default=False)
    created: Mapped[datetime]
    locked: Mapped[datetime | None]


class Link(Base):
    """A one-time link: `sign-in` for a teacher, `invitation` for an e-mail address."""

    __tablename__ = "link"

    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    teacher_id: Mapped[int | None] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"))
    email: Mapped[str] = mapped_column(String(254), default="")
    expires: Mapped[datetime]
    used: Mapped[datetime | None]


class Login(Base):
    """A signed-in browser."""

    __tablename__ = "login"

    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"))
    expires: Mapped[datetime]
    teacher: Mapped[Teacher] = relationship()


class Identity(Base):
    """A teacher as a provider of OpenID Connect knows them: by issuer and subject, which never change, and by nothing else."""

    __tablename__ = "identity"

    issuer: Mapped[str] = mapped_column(String(255), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"), unique=True)
    created: Mapped[datetime]
    teacher: Mapped[Teacher] = relationship()


class Token(Base):
    """A token of the API, with its scopes."""

    __tablename__ = "token"

    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[str] = mapped_column(String(64), unique=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    scopes: Mapped[list[str]]
    created: Mapped[datetime]
    used: Mapped[datetime | None]
    teacher: Mapped[Teacher] = relationship()


class BankVersion(Base):
    """One version of a bank as it was uploaded. `media`: its images, from the name in the bank to the hash of the content."""

    __tablename__ = "bank"
    __table_args__ = (UniqueConstraint("teacher_id", "version", "media_hash"), NEVER_AGAIN)

    id: Mapped[int] = mapped_column(primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(String(200))
    version: Mapped[str] = mapped_column(String(16))
    model_version: Mapped[str] = mapped_column(String(16))
    media: Mapped[dict[str, str]]
    media_hash: Mapped[str] = mapped_column(String(64))  # of `media`; empty when there are no images
    content: Mapped[str] = mapped_column(Text, deferred=True)  # YAML, as the bank was read
    questions: Mapped[int]
    created: Mapped[datetime]


class Media(Base):
    """An image, identified by the hash of its content."""

    __tablename__ = "media"

    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    content: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)


class Published(Base):
    """A published test: a bank version with rules and conditions. `revision`: how often its scoring was corrected (`Correction`).

    `grades`: the scheme of its grades (`store.outcomes.grades`), if it has one. `results`: when takers see theirs; `per_browser`,
    `per_address`: how often it can be begun with its own code within a day (`store.attempts.entry`). `class_id`: the class whose pupils
    take it, if any; `half_life`: in how many days what earlier tests told of a pupil counts half; None: all start from the bank alone.
    """

    __tablename__ = "published"
    __table_args__ = NEVER_AGAIN

    id: Mapped[int] = mapped_column(primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"))
    bank_id: Mapped[int] = mapped_column(ForeignKey("bank.id"))
    title: Mapped[str] = mapped_column(String(200))
    code: Mapped[str] = mapped_column(String(12), unique=True)
    rules: Mapped[dict[str, Any]]
    mode: Mapped[str] = mapped_column(String(10))  # exam, practice
    minutes: Mapped[float | None]
    opens: Mapped[datetime | None]
    closes: Mapped[datetime | None]
    retakes: Mapped[str] = mapped_column(String(10))  # none, any, best
    by_list: Mapped[bool] = mapped_column(default=False)  # only pupils of the class list may take it
    keep_days: Mapped[int | None]
    results: Mapped[str] = mapped_column(String(10), default="at once")  # at once, closed
    per_browser: Mapped[int | None]
    per_address: Mapped[int | None]
    revision: Mapped[int] = mapped_column(default=0)
    grades: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    class_id: Mapped[int | None] = mapped_column(ForeignKey("school_class.id", ondelete="SET NULL"), index=True)
    half_life: Mapped[float | None]
    created: Mapped[datetime]
    bank: Mapped[BankVersion] = relationship()
    teacher: Mapped[Teacher] = relationship()


class Correction(Base):
    """A correction of a test after it was published: from `revision` on it is scored otherwise; `bank_id`, `rules`: as they were before.

    `kind`: `key`, `withdrawn` or `restored`, of the question; `note`: why, in the teacher's words.
    """

    __tablename__ = "correction"

    test_id: Mapped[int] = mapped_column(ForeignKey("published.id", ondelete="CASCADE"), primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(10))
    question: Mapped[str] = mapped_column(String(200))
    note: Mapped[str] = mapped_column(Text)
    bank_id: Mapped[int] = mapped_column(ForeignKey("bank.id"))
    rules: Mapped[dict[str, Any]]
    at: Mapped[datetime]


class SchoolClass(Base):
    """A class of a teacher: pupils who take tests together. `source`: its id in the school's own system; `archived`: since when it is."""

    __tablename__ = "school_class"
    __table_args__ = NEVER_AGAIN

    id: Mapped[int] = mapped_column(primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"), index=True)
    title: Mapped[str] = mapped_column(String(200))
    source: Mapped[str] = mapped_column(String(200), default="")
    created: Mapped[datetime]
    archived: Mapped[datetime | None]
    teacher: Mapped[Teacher] = relationship()


class Pupil(Base):
    """A pupil of a class, with one code for all its tests; of no class once the name was erased.

    More time than the others in every test: `factor` times its limit, and `extra` minutes. `source`: the id in the school's own system.
    """

    __tablename__ = "pupil"

    id: Mapped[int] = mapped_column(primary_key=True)
    class_id: Mapped[int | None] = mapped_column(ForeignKey("school_class.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    code: Mapped[str] = mapped_column(String(12), unique=True)
    extra: Mapped[float] = mapped_column(default=0.0)
    factor: Mapped[float] = mapped_column(default=1.0)
    source: Mapped[str] = mapped_column(String(200), default="")


class Attempt(Base):
    """One attempt at a test. `code`: to continue it on another device; `key`: part of the address of the taker's pages.

    `factor`, `extra`: how many times the time limit, and minutes beyond that; `start`: what it started from beside the bank
    (`store.attempts.starting`), if anything; `due`: when it is over at the latest (`state.deadline`), kept for queries; `set_aside`: when
    the teacher decided that it does not count, so that another try may begin.
    """

    __tablename__ = "attempt"
    __table_args__ = (Index("ix_attempt_test_pupil", "test_id", "pupil_id"), NEVER_AGAIN)

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(32), unique=True)
    code: Mapped[str] = mapped_column(String(12), unique=True)
    test_id: Mapped[int] = mapped_column(ForeignKey("published.id", ondelete="CASCADE"))
    pupil_id: Mapped[int | None] = mapped_column(ForeignKey("pupil.id", ondelete="SET NULL"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    seed: Mapped[int]
    started: Mapped[datetime]
    ended: Mapped[datetime | None]
    reason: Mapped[str] = mapped_column(Text, default="")
    extra: Mapped[float] = mapped_column(default=0.0)
    factor: Mapped[float] = mapped_column(default=1.0)
    start: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    due: Mapped[datetime | None]
    set_aside: Mapped[datetime | None]
    test: Mapped[Published] = relationship(lazy="joined", innerjoin=True)
    pupil: Mapped[Pupil | None] = relationship()

    @property
    def own_code(self) -> str:
        """The code with which the taker goes on: a pupil has one already, and sees no other."""
        return self.code if self.pupil is None else self.pupil.code


class Event(Base):
    """A line of an answer log: `answer` is None for a skip, `seconds` is the time since the question was shown.

    Never changed, except that entries are removed when names are erased.
    """

    __tablename__ = "event"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id", ondelete="CASCADE"), primary_key=True)
    step: Mapped[int] = mapped_column(primary_key=True)
    question: Mapped[str] = mapped_column(String(200))
    answer: Mapped[str | None] = mapped_column(String(200))
    entry: Mapped[str | None] = mapped_column(Text)
    seconds: Mapped[float]
    at: Mapped[datetime]


class Scoring(Base):
    """What the answers of an attempt came to, by one revision of its test: as it stands after each answer, and for ever after the end.

    `asked`: the number of questions shown; `counted` of them count (not pilots, not withdrawn ones, not skipped ones where a skip says
    nothing), `right` of these were answered with the best class; `skipped`: those that were skipped; `points`: right ones count 1, partly
    right ones less; `expected`: the expected level, summed over the skills. `skills`: for each the level, the number of answers, and the
    bounds of all levels. `engine`: the version of this software. `misfits`: whether the answers fit the bank so badly that a teacher
    should look; None: not known yet. `step`: what comes next, where that may take long to work out (`store.attempts.kept_steps`).
    """

    __tablename__ = "outcome"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id", ondelete="CASCADE"), primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    asked: Mapped[int]
    counted: Mapped[int]
    skipped: Mapped[int]
    right: Mapped[int]
    points: Mapped[float]
    expected: Mapped[float]
    skills: Mapped[dict[str, Any]]
    bank_version: Mapped[str] = mapped_column(String(16))
    model_version: Mapped[str] = mapped_column(String(16))
    engine: Mapped[str] = mapped_column(String(20))
    misfits: Mapped[bool | None]
    at: Mapped[datetime]
    step: Mapped[dict[str, Any] | None]


class Tries(Base):
    """A counter of the rate limits: failures of one kind by one browser, address or e-mail since `began`."""

    __tablename__ = "tries"

    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    who: Mapped[str] = mapped_column(String(64), primary_key=True)  # a hash
    began: Mapped[datetime] = mapped_column(index=True)
    count: Mapped[int]


class Reply(Base):
    """The reply of the API to a write with an idempotency key, so that a repeated request gets the same reply.

    `attempt_id`: the attempt that the reply is about, if any; the reply is deleted with it.
    """

    __tablename__ = "reply"

    token_id: Mapped[int] = mapped_column(ForeignKey("token.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    route: Mapped[str] = mapped_column(String(200))
    request: Mapped[str] = mapped_column(String(64))  # a hash
    status: Mapped[int]
    body: Mapped[Any] = mapped_column(JSON)
    attempt_id: Mapped[int | None] = mapped_column(ForeignKey("attempt.id", ondelete="CASCADE"), index=True)
    created: Mapped[datetime] = mapped_column(index=True)


class Draft(Base):
    """A bank that is being edited; `head` is the number of its latest edition."""

    __tablename__ = "draft"

    id: Mapped[int] = mapped_column(primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"), index=True)
    title: Mapped[str] = mapped_column(String(200))
    head: Mapped[int]
    created: Mapped[datetime]
    changed: Mapped[datetime]
    teacher: Mapped[Teacher] = relationship()


class Edition(Base):
    """A draft after one save, never changed: the compressed plain data of a bank file, perhaps with errors. `note`: what was changed."""

    __tablename__ = "edition"

    draft_id: Mapped[int] = mapped_column(ForeignKey("draft.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    document: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    media: Mapped[dict[str, str]]
    note: Mapped[str] = mapped_column(Text)  # a packed sentence
    by_id: Mapped[int | None] = mapped_column(ForeignKey("teacher.id", ondelete="SET NULL"))
    at: Mapped[datetime]
    by: Mapped[Teacher | None] = relationship()


class Share(Base):
    """A draft, bank version, test or class of one teacher that is shared with another, to `look` at or to `edit` (`store.sharing`)."""

    __tablename__ = "share"
    __table_args__ = (
        UniqueConstraint("draft_id", "teacher_id"),
        UniqueConstraint("bank_id", "teacher_id"),
        UniqueConstraint("test_id", "teacher_id"),
        Index("ix_share_class_id_teacher_id", "class_id", "teacher_id", unique=True),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"), index=True)
    draft_id: Mapped[int | None] = mapped_column(ForeignKey("draft.id", ondelete="CASCADE"))
    bank_id: Mapped[int | None] = mapped_column(ForeignKey("bank.id", ondelete="CASCADE"))
    test_id: Mapped[int | None] = mapped_column(ForeignKey("published.id", ondelete="CASCADE"))
    class_id: Mapped[int | None] = mapped_column(ForeignKey("school_class.id", ondelete="CASCADE"))
    extent: Mapped[str] = mapped_column(String(10))  # look, edit
    created: Mapped[datetime]
    teacher: Mapped[Teacher] = relationship()


class Job(Base):
    """A background job: request (`asked`), share done, result (`found`).

    `worker`: the token of the worker that holds it; `beat`: the last heartbeat; `tries`: how often it was started.
    """

    __tablename__ = "job"
    __table_args__ = (Index("ix_job_teacher_subject", "teacher_id", "subject"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(20))
    subject: Mapped[str] = mapped_column(String(40))  # what it is about, such as `draft 3`
    asked: Mapped[dict[str, Any]] = mapped_column(JSON, deferred=True)
    state: Mapped[str] = mapped_column(String(10), index=True)  # waiting, running, done, failed
    share: Mapped[float]
    found: Mapped[Any] = mapped_column(JSON, deferred=True)
    words: Mapped[str] = mapped_column(Text)  # why it failed, a packed sentence
    worker: Mapped[str] = mapped_column(String(64))
    tries: Mapped[int]
    beat: Mapped[datetime]
    created: Mapped[datetime] = mapped_column(index=True)


class Erasure(Base):
    """An erasure that is not finished: what it erased can still be read in the files (`store.erasure`).

    `rewritten`: on SQLite, whether only the write-ahead log is left.
    """

    __tablename__ = "erasure"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    rewritten: Mapped[bool]
