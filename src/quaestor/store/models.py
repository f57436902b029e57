"""What is kept: teachers, banks, published tests, pupils, attempts and their append-only answer logs.

Published things never change: a bank row is one version, a test freezes a bank version with its rules. An attempt is its log; whatever else
the pages show is worked out from it. Secrets that only need to be recognised (sign-in links, cookies, API tokens) are kept as hashes.
"""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKey, Index, MetaData, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """The base of all tables. Times are UTC without a zone."""

    metadata = MetaData(naming_convention=_NAMES)
    type_annotation_map: ClassVar[dict[Any, Any]] = {dict[str, Any]: JSON, list[str]: JSON}


class Teacher(Base):
    """Somebody who publishes tests; the owner may add others."""

    __tablename__ = "teacher"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    name: Mapped[str] = mapped_column(String(200), default="")
    password: Mapped[str | None] = mapped_column(String(200))
    is_owner: Mapped[bool] = mapped_column(default=False)
    created: Mapped[datetime]


class Link(Base):
    """A one-time link: `sign-in` for a teacher, `invitation` for an address."""

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


class Token(Base):
    """A token of the API, with what it may do."""

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
    """One version of a bank as it was uploaded."""

    __tablename__ = "bank"
    __table_args__ = (UniqueConstraint("teacher_id", "version"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(String(200))
    version: Mapped[str] = mapped_column(String(16))
    model_version: Mapped[str] = mapped_column(String(16))
    content: Mapped[str] = mapped_column(Text)  # YAML, with the author's comments
    questions: Mapped[int]
    created: Mapped[datetime]


class Published(Base):
    """A published test: a bank version, rules and conditions, frozen."""

    __tablename__ = "published"

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
    created: Mapped[datetime]
    bank: Mapped[BankVersion] = relationship()
    teacher: Mapped[Teacher] = relationship()


class Pupil(Base):
    """Somebody on the class list of a test, with a code of their own."""

    __tablename__ = "pupil"

    id: Mapped[int] = mapped_column(primary_key=True)
    test_id: Mapped[int] = mapped_column(ForeignKey("published.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    code: Mapped[str] = mapped_column(String(12), unique=True)


class Attempt(Base):
    """One taking of a test. `code` lets the taker go on elsewhere; `key` is the address of the taker's pages."""

    __tablename__ = "attempt"
    __table_args__ = (Index("ix_attempt_test_pupil", "test_id", "pupil_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(32), unique=True)
    code: Mapped[str] = mapped_column(String(12), unique=True)
    test_id: Mapped[int] = mapped_column(ForeignKey("published.id", ondelete="CASCADE"))
    pupil_id: Mapped[int | None] = mapped_column(ForeignKey("pupil.id", ondelete="SET NULL"))
    name: Mapped[str] = mapped_column(String(200))
    seed: Mapped[int]
    started: Mapped[datetime]
    ended: Mapped[datetime | None]
    reason: Mapped[str] = mapped_column(Text, default="")
    test: Mapped[Published] = relationship()


class Event(Base):
    """A line of an answer log, never changed: `answer` is None for a skip. `shown`: when the question was put."""

    __tablename__ = "event"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id", ondelete="CASCADE"), primary_key=True)
    step: Mapped[int] = mapped_column(primary_key=True)
    question: Mapped[str] = mapped_column(String(200))
    answer: Mapped[str | None] = mapped_column(String(200))
    entry: Mapped[str | None] = mapped_column(Text)
    seconds: Mapped[float]
    at: Mapped[datetime]
