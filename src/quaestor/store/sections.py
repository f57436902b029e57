"""Sections of delivery systems and the candidates in them (CAT 1.0): a bank with rules, and for each candidate the log of a session.

Of a candidate nothing is stored but the answers; a session that nobody went on with for 90 days is deleted.
"""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Work

from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import read_rules
from quaestor.session.session import Session
from quaestor.store.clock import now
from quaestor.store.models import BankVersion, Teacher
from quaestor.store.platform_tables import AdaptiveSection, AdaptiveSession
from quaestor.store.publishing import MissingError, open_bank

KEPT = timedelta(days=90)
LARGEST = 2**31  # numbers above it name nothing


def make(work: Work, teacher: Teacher, bank: BankVersion, rules: Rules, sent: dict[str, Any]) -> AdaptiveSection:
    """Store a section."""
    made = AdaptiveSection(teacher_id=teacher.id, bank_id=bank.id, rules=rules.document, sent=sent, created=now())
    work.add(made)
    work.flush()
    return made


def section_of(work: Work, teacher: Teacher, name: str) -> AdaptiveSection:
    """A section of a teacher; the same MissingError whether it is somebody else's or is not there."""
    found = work.get(AdaptiveSection, _number(name))
    if found is None or found.teacher_id != teacher.id:
        raise MissingError("there is no such section")
    return found


def _number(name: str) -> int:
    number = int(name) if name.isascii() and name.isdecimal() and len(name) < 11 else 0
    return number if number < LARGEST else 0


def begun(section: AdaptiveSection, seed: int) -> Session:
    """A session at its beginning."""
    return Session(open_bank(section.bank), read_rules(section.rules), seed)


def keep(work: Work, section: AdaptiveSection, session: Session) -> AdaptiveSession:
    """Store a new session."""
    made = AdaptiveSession(section_id=section.id, log=session.to_json(), changed=now())
    work.add(made)
    work.flush()
    return made


def session_of(work: Work, section: AdaptiveSection, name: str, lock: bool = False) -> tuple[AdaptiveSession, Session]:
    """A session of a section, and where it stands. `lock`: nobody else goes on with it before the unit of work ends."""
    asked = select(AdaptiveSession).where(AdaptiveSession.id == _number(name), AdaptiveSession.section_id == section.id)
    found = work.scalar(asked.with_for_update() if lock else asked)
    if found is None:
        raise MissingError("there is no such session")
    return found, Session.from_json(open_bank(section.bank), found.log)


def go_on(work: Work, kept: AdaptiveSession, session: Session) -> None:
    """Store where a session stands now."""
    kept.log, kept.changed = session.to_json(), now()
    work.flush()


def forget_old(work: Work, moment: datetime) -> None:
    """Delete sessions that nobody goes on with."""
    work.execute(delete(AdaptiveSession).where(AdaptiveSession.changed < moment - KEPT))
