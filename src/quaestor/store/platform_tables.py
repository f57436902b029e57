"""The tables of learning platforms, and of delivery systems that use us as their adaptive engine.

A *platform* is one registration: an issuer and our client id there. A *login* lives from the moment a platform sends a browser until the
browser comes back with a signed message. A *placement* is an activity of a course; a *seat* is a learner in it, who is a pupil of its test,
and the score that the platform is owed. A *choice* is what a teacher picked by deep linking; a *frame* is a browser that we show
pages to inside the platform, where it keeps no cookies.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from quaestor.store.models import NEVER_AGAIN, BankVersion, Base, Published, Pupil, Teacher

ADDRESS, NAME = 1000, 255  # letters of an address; of a name that the standard limits to 255


class Platform(Base):
    """A registered platform. `frames`: further origins that may show us in a frame; `keys`: its public keys, asked for at `keys_at`."""

    __tablename__ = "lti_platform"
    __table_args__ = (UniqueConstraint("issuer", "client_id"), NEVER_AGAIN)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    issuer: Mapped[str] = mapped_column(String(500))
    client_id: Mapped[str] = mapped_column(String(200))
    auth_url: Mapped[str] = mapped_column(String(ADDRESS))
    token_url: Mapped[str] = mapped_column(String(ADDRESS))
    jwks_url: Mapped[str] = mapped_column(String(ADDRESS))
    deployments: Mapped[list[str]]
    frames: Mapped[list[str]]
    keys: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    keys_at: Mapped[datetime | None]
    created: Mapped[datetime]


class ToolKey(Base):
    """A key pair of ours, as PEM: the newest that is old enough signs, all are published (`store.platforms.keys`)."""

    __tablename__ = "lti_key"

    kid: Mapped[str] = mapped_column(String(64), primary_key=True)
    private: Mapped[str] = mapped_column(Text)
    created: Mapped[datetime]


class PlatformLogin(Base):
    """A login under way. `state`, `nonce`, `browser`: hashes. `storage`: the frame of the platform that keeps data for us, if any."""

    __tablename__ = "lti_login"

    state: Mapped[str] = mapped_column(String(64), primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platform.id", ondelete="CASCADE"))
    nonce: Mapped[str] = mapped_column(String(64), unique=True)
    browser: Mapped[str] = mapped_column(String(64))
    storage: Mapped[str] = mapped_column(String(200))
    expires: Mapped[datetime] = mapped_column(index=True)
    platform: Mapped[Platform] = relationship(lazy="joined", innerjoin=True)


class Person(Base):
    """A teacher of a platform, with an account of their own here, or one that they have connected."""

    __tablename__ = "lti_person"

    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platform.id", ondelete="CASCADE"), primary_key=True)
    sub: Mapped[str] = mapped_column(String(NAME), primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"), index=True)
    is_own: Mapped[bool]  # whether the account was made for them; else it was connected
    teacher: Mapped[Teacher] = relationship()


class Choice(Base):
    """A test that a teacher picked by deep linking; the platform sends the token of it with every launch."""

    __tablename__ = "lti_choice"

    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platform.id", ondelete="CASCADE"))
    test_id: Mapped[int] = mapped_column(ForeignKey("published.id", ondelete="CASCADE"), index=True)
    created: Mapped[datetime]


class Placement(Base):
    """An activity of a course, with its test and the addresses of the services that the platform named at the last launch."""

    __tablename__ = "lti_placement"
    __table_args__ = (UniqueConstraint("platform_id", "deployment", "context", "link"), NEVER_AGAIN)

    id: Mapped[int] = mapped_column(primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platform.id", ondelete="CASCADE"))
    deployment: Mapped[str] = mapped_column(String(NAME))
    context: Mapped[str] = mapped_column(String(NAME))
    link: Mapped[str] = mapped_column(String(NAME))
    title: Mapped[str] = mapped_column(String(200))
    course: Mapped[str] = mapped_column(String(200))
    test_id: Mapped[int | None] = mapped_column(ForeignKey("published.id", ondelete="CASCADE"), index=True)
    scopes: Mapped[list[str]]
    lineitem: Mapped[str] = mapped_column(String(ADDRESS))
    lineitems: Mapped[str] = mapped_column(String(ADDRESS))
    members: Mapped[str] = mapped_column(String(ADDRESS))
    seen: Mapped[str] = mapped_column(String(200))  # a mark of the outcomes that were looked at last
    platform: Mapped[Platform] = relationship(lazy="joined", innerjoin=True)
    test: Mapped[Published | None] = relationship()


class Seat(Base):
    """A learner in a placement, and the score that the platform is owed: one, the newest.

    `score`: what it says; `stamp`: its time, which only grows; `sent`: the time of the last one that the platform took. `due`: when to try
    next, None where nothing is owed; `tries` that failed one after the other; `held`: until when one process has it in hand; `problem`: why
    the last try failed, a packed sentence.
    """

    __tablename__ = "lti_seat"
    __table_args__ = (UniqueConstraint("placement_id", "sub"), NEVER_AGAIN)

    id: Mapped[int] = mapped_column(primary_key=True)
    placement_id: Mapped[int] = mapped_column(ForeignKey("lti_placement.id", ondelete="CASCADE"))
    sub: Mapped[str] = mapped_column(String(NAME))
    pupil_id: Mapped[int] = mapped_column(ForeignKey("pupil.id", ondelete="CASCADE"), unique=True)
    score: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    stamp: Mapped[datetime | None]
    sent: Mapped[datetime | None]
    due: Mapped[datetime | None] = mapped_column(index=True)
    tries: Mapped[int]
    held: Mapped[datetime | None]
    problem: Mapped[str] = mapped_column(Text)
    placement: Mapped[Placement] = relationship()
    pupil: Mapped[Pupil] = relationship()


class Frame(Base):
    """A browser inside a platform. `token`: the hash of the secret in its addresses; `jar`: its cookies, locked with that secret.

    `origins`: who may show it in a frame. `choosing`: the request of the platform that a teacher answers by picking a test, if any.
    `placement_id`: the activity that was opened.
    """

    __tablename__ = "lti_frame"

    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platform.id", ondelete="CASCADE"))
    placement_id: Mapped[int | None] = mapped_column(ForeignKey("lti_placement.id", ondelete="CASCADE"))
    sub: Mapped[str] = mapped_column(String(NAME))
    teaches: Mapped[bool]
    origins: Mapped[list[str]]
    jar: Mapped[bytes] = mapped_column(LargeBinary)
    bound: Mapped[str] = mapped_column(String(64))  # the hash of a cookie that the browser kept after all; then it must bring it
    choosing: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    expires: Mapped[datetime] = mapped_column(index=True)
    platform: Mapped[Platform] = relationship(lazy="joined", innerjoin=True)


class AdaptiveSection(Base):
    """A section of a delivery system that uses us as its adaptive engine (CAT 1.0): a bank and rules. `sent`: as it was sent."""

    __tablename__ = "cat_section"
    __table_args__ = NEVER_AGAIN

    id: Mapped[int] = mapped_column(primary_key=True)
    teacher_id: Mapped[int] = mapped_column(ForeignKey("teacher.id", ondelete="CASCADE"), index=True)
    bank_id: Mapped[int] = mapped_column(ForeignKey("bank.id"), index=True)
    rules: Mapped[dict[str, Any]]
    sent: Mapped[dict[str, Any]]
    created: Mapped[datetime]
    bank: Mapped[BankVersion] = relationship()


class AdaptiveSession(Base):
    """A candidate in such a section, of whom nothing is known but the answers. `log`: the session as JSON."""

    __tablename__ = "cat_session"
    __table_args__ = NEVER_AGAIN

    id: Mapped[int] = mapped_column(primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("cat_section.id", ondelete="CASCADE"), index=True)
    log: Mapped[str] = mapped_column(Text)
    changed: Mapped[datetime] = mapped_column(index=True)
    section: Mapped[AdaptiveSection] = relationship()
