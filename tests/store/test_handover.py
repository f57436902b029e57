"""Handing over a test, a draft, or all: the new teacher has everything, the old one nothing, and takers notice nothing."""

import pytest
from sqlalchemy import select

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.store import corrections, drafts, handover, job_queue, leaving, publishing, sharing, teachers
from quaestor.store.attempts import taking
from quaestor.store.classes import class_lists
from quaestor.store.models import BankVersion, Correction, Job, Published, Share, Teacher
from quaestor.store.outcomes import results

BANK = qs.load("fractions")
RULES = qs.Rules(score="order", stop=qs.max_questions(3))


@pytest.fixture
def staff(database):
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        links = [teachers.invitation(work, owner, f"{name}@school.example") for name in ("ada", "ben", "cem")]
        return owner, *[teachers.use_link(work, link) for link in links]


def publish(work, teacher, title):
    return publishing.publish(work, teacher, publishing.keep_bank(work, teacher, BANK), RULES, publishing.Conditions(), title)


@pytest.mark.parametrize("both", [False, True], ids=["the bank is new to them", "they have the same bank"])
@pytest.mark.parametrize("alone", [False, True], ids=["another test has the bank", "no other test has it"])
def test_a_test_goes_with_its_results_and_its_banks(database, staff, alone, both):
    _, ada, ben, cem = staff
    with database.work() as work:
        test = publish(work, ada, "Week 1")
        other = None if alone else publish(work, ada, "Week 2")
        mine = publish(work, ben, "mine") if both else None
        first = test.bank_id
        attempt = taking.enter(work, test.code, "Eve")
        taking.answer(work, attempt, 1, taking.state_of(work, attempt).session.next.correct[0])
        question = next(iter(BANK.questions.values()))
        corrections.correct_key(
            work, test, question.id, [next(one for one in question.options if one not in question.correct)], "a slip", 0
        )
        for teacher, extent in ((ben, sharing.LOOK), (cem, sharing.EDIT)):
            sharing.share(work, test, teacher, extent)
        job_queue.ask(work, ada, "rescore", f"test {test.id}", {})
        before = results.outcomes(work, test)
        handover.hand_over_test(work, test, handover.receiver(work, ada, ben.id))
        work.expire_all()
        assert publishing.published(work, ben, test.id).title == "Week 1"
        with pytest.raises(publishing.MissingError):
            sharing.published_for(work, ada, test.id)
        assert results.outcomes(work, test) == before
        banks = {test.bank_id, *work.scalars(select(Correction.bank_id))}
        assert {work.get_one(BankVersion, number).teacher_id for number in banks} == {ben.id}
        if mine is not None:
            assert mine.bank_id in banks
        left = work.scalars(select(BankVersion.id).where(BankVersion.teacher_id == ada.id)).all()
        assert left == ([] if alone else [first])
        if other is not None:
            assert other.bank_id == first
        assert [(one.teacher_id, one.extent) for one in work.scalars(select(Share))] == [(cem.id, sharing.EDIT)]
        assert set(work.scalars(select(Job.teacher_id).where(Job.subject == f"test {test.id}"))) == {ben.id}
        taking.answer(work, attempt, 2, taking.state_of(work, attempt).session.next.correct[0])


def test_a_draft_goes_with_what_was_tried(database, staff):
    _, ada, ben, cem = staff
    with database.work() as work:
        draft = drafts.begin_draft(work, ada, BANK.document, "begun")
        sharing.share(work, draft, ben, sharing.LOOK)
        sharing.share(work, draft, cem, sharing.EDIT)
        for teacher in (ada, cem):
            job_queue.ask(work, teacher, "trial", f"draft {draft.id}", {})
        handover.hand_over_draft(work, draft, handover.receiver(work, ada, ben.id))
        work.expire_all()
        assert sharing.draft_for(work, ben, draft.id, sharing.OWN) is draft
        assert sharing.extent_of(work, cem, draft) == sharing.EDIT
        with pytest.raises(publishing.MissingError):
            sharing.draft_for(work, ada, draft.id)
        assert sorted(work.scalars(select(Job.teacher_id))) == [ben.id, cem.id]


def test_everything_goes_and_the_teacher_stays(database, staff):
    _, ada, ben, _ = staff
    with database.work() as work:
        tests = [publish(work, ada, "Week 1"), publish(work, ada, "Week 2")]
        drafts.begin_draft(work, ada, BANK.document, "begun")
        sharing.share(work, tests[0], ben, sharing.LOOK)
        handover.hand_over_all(work, ada, handover.receiver(work, ada, ben.id))
        assert set(work.scalars(select(Published.teacher_id))) == {ben.id}
        assert [draft.teacher_id for draft in drafts.drafts_of(work, ben)] == [ben.id]
        assert drafts.drafts_of(work, ada) == []
        assert work.scalars(select(Share)).all() == []
        assert publish(work, work.get_one(Teacher, ada.id), "Week 3").teacher_id == ada.id


def test_nobody_gets_things_who_cannot_use_them(database, staff):
    _, ada, ben, _ = staff
    with database.work() as work:
        leaving.lock(work, ben.id)
        with pytest.raises(QuaestorError, match="this teacher is locked"):
            handover.receiver(work, ada, ben.id)
        with pytest.raises(QuaestorError, match="whose it is already"):
            handover.receiver(work, ada, ada.id)
        with pytest.raises(publishing.MissingError, match="there is no such teacher"):
            handover.receiver(work, ada, 99)


def test_a_class_goes_with_its_pupils_and_its_teachers_tests(database, staff):
    _, ada, ben, cem = staff
    with database.work() as work:
        found = class_lists.make_class(work, ada, "5b")
        (eve,) = class_lists.add_names(work, found, ["Eve"])
        conditions = publishing.Conditions(by_list=True, class_id=found.id)
        tests = [publishing.publish(work, ada, publishing.keep_bank(work, ada, BANK), RULES, conditions, title) for title in ("A", "B")]
        sharing.share(work, found, ben, sharing.LOOK)
        sharing.share(work, found, cem, sharing.EDIT)
        theirs = publishing.publish(work, cem, publishing.keep_bank(work, cem, BANK), RULES, conditions, "C")
        with pytest.raises(publishing.MissingError):
            publishing.publish(work, ben, publishing.keep_bank(work, ben, BANK), RULES, conditions, "may only look")
        handover.hand_over_class(work, found, handover.receiver(work, ada, ben.id))
        work.expire_all()
        assert sharing.class_for(work, ben, found.id, sharing.OWN).title == "5b"
        assert [sharing.extent_of(work, teacher, found) for teacher in (ada, ben, cem)] == ["", sharing.OWN, sharing.EDIT]
        assert {one.teacher_id for one in tests} == {ben.id}
        assert theirs.teacher_id == cem.id
        assert [one.code for one in class_lists.pupils_in(work, found.id)] == [eve.code]
        assert work.scalar(select(Share).where(Share.class_id == found.id, Share.teacher_id == ben.id)) is None
