"""Handing things over: from then on they are another teacher's, as if they had made them, with all results, trials and shares.

A test takes its banks along: the other teacher gets versions of their own, and what nobody uses any more is dropped, so a test and its
banks always belong to the same teacher.
"""

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import aliased, undefer

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.inserts import insert
from quaestor.store.models import BankVersion, Correction, Draft, Job, Published, SchoolClass, Share, Teacher
from quaestor.store.platform_tables import AdaptiveSection
from quaestor.store.publishing import MissingError
from quaestor.store.teachers import hold


def receiver(work: Work, giver: Teacher, number: int) -> Teacher:
    """The teacher who gets something, held: they can be neither locked nor removed meanwhile. QuaestorError if they cannot get it."""
    found = hold(work, number)
    if found is None:
        raise MissingError(say("there is no such teacher"))
    if found.id == giver.id:
        raise QuaestorError(say("this is the teacher whose it is already"))
    if found.locked is not None:
        raise QuaestorError(say("this teacher is locked; unlock them first"))
    return found


def hand_over_all(work: Work, giver: Teacher, to: Teacher) -> None:
    """Hand over all banks, drafts, trials, classes and tests with all results."""
    same = aliased(BankVersion)
    is_same = (same.version == BankVersion.version) & (same.media_hash == BankVersion.media_hash) & (same.teacher_id == to.id)
    both = select(BankVersion.id, same.id).join(same, is_same).where(BankVersion.teacher_id == giver.id)
    for theirs, mine in work.execute(both).all():
        _replace_bank(work, theirs, mine)
        _drop_bank(work, theirs)
    for kind in (BankVersion, Published, SchoolClass, Draft, Job, AdaptiveSection):
        work.execute(update(kind).where(kind.teacher_id == giver.id).values(teacher_id=to.id))
    _forget_shares(work, to)


def hand_over_draft(work: Work, draft: Draft, to: Teacher) -> None:
    """Hand over a draft with what was tried and learnt for it; tests that were published of it stay with whoever published them."""
    work.execute(update(Job).where(Job.subject == f"draft {draft.id}", Job.teacher_id == draft.teacher_id).values(teacher_id=to.id))
    work.execute(update(Draft).where(Draft.id == draft.id).values(teacher_id=to.id))
    _forget_shares(work, to)


def hand_over_test(work: Work, test: Published, to: Teacher) -> None:
    """Hand over a test with its results and its banks, also those from before a correction."""
    before = select(Correction.bank_id).where(Correction.test_id == test.id)
    for theirs in work.scalars(select(BankVersion).where(or_(BankVersion.id == test.bank_id, BankVersion.id.in_(before)))).all():
        _replace_bank(work, theirs.id, _copy_bank(work, theirs.id, to), test.id)
        corrected = select(Correction.test_id).where(Correction.bank_id == theirs.id)
        sections = select(AdaptiveSection.id).where(AdaptiveSection.bank_id == theirs.id)
        others = select(Published.id).where(Published.bank_id == theirs.id).union(corrected, sections)
        if work.scalar(others.limit(1)) is None:
            _drop_bank(work, theirs.id)
    work.execute(update(Job).where(Job.subject == f"test {test.id}").values(teacher_id=to.id))
    work.execute(update(Published).where(Published.id == test.id).values(teacher_id=to.id))
    _forget_shares(work, to)


def hand_over_class(work: Work, found: SchoolClass, to: Teacher) -> None:
    """Hand over a class with its pupils and the tests that its teacher published for it; tests of colleagues stay theirs."""
    for test in work.scalars(select(Published).where(Published.class_id == found.id, Published.teacher_id == found.teacher_id)).all():
        hand_over_test(work, test, to)
    work.execute(update(SchoolClass).where(SchoolClass.id == found.id).values(teacher_id=to.id))
    _forget_shares(work, to)


def _copy_bank(work: Work, number: int, to: Teacher) -> int:
    """The same bank version of another teacher; made if they have none."""
    kept = work.get_one(BankVersion, number, options=[undefer(BankVersion.content)])
    columns = {column.key: getattr(kept, column.key) for column in BankVersion.__table__.columns if column.key not in ("id", "teacher_id")}
    work.execute(insert(work, BankVersion).values(**columns, teacher_id=to.id).on_conflict_do_nothing())
    mine = (BankVersion.teacher_id == to.id, BankVersion.version == kept.version, BankVersion.media_hash == kept.media_hash)
    return work.scalars(select(BankVersion.id).where(*mine)).one()


def _replace_bank(work: Work, theirs: int, mine: int, test: int | None = None) -> None:
    """Let a test, or all tests, have another bank version in the place of one that is the same."""
    tests, made = update(Published).where(Published.bank_id == theirs), update(Correction).where(Correction.bank_id == theirs)
    if test is not None:
        tests, made = tests.where(Published.id == test), made.where(Correction.test_id == test)
    else:
        work.execute(update(AdaptiveSection).where(AdaptiveSection.bank_id == theirs).values(bank_id=mine))
    work.execute(tests.values(bank_id=mine))
    work.execute(made.values(bank_id=mine))


def _drop_bank(work: Work, number: int) -> None:
    work.execute(delete(Job).where(Job.subject == f"bank {number}"))  # trials that would lead to a bank that is gone
    work.execute(delete(BankVersion).where(BankVersion.id == number))


def _forget_shares(work: Work, to: Teacher) -> None:
    """Nobody has a share of what is their own."""
    kinds = ((Share.draft_id, Draft), (Share.bank_id, BankVersion), (Share.test_id, Published), (Share.class_id, SchoolClass))
    for column, kind in kinds:
        own = select(kind.id).where(kind.teacher_id == to.id)
        work.execute(delete(Share).where(Share.teacher_id == to.id, column.in_(own)))
