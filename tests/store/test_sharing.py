"""Sharing tests, banks and drafts: who may look, who may edit, and that a share that is withdrawn is over at once."""

from threading import Thread

import pytest
from sqlalchemy import select

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.store import corrections, drafts, publishing, sharing, teachers
from quaestor.store.attempts import taking
from quaestor.store.classes import class_lists
from quaestor.store.models import BankVersion, Draft, Published, Share, Teacher
from quaestor.store.sharing import EDIT, LOOK, OWN

BANK = qs.load("fractions")
RULES = qs.Rules(score="order", stop=qs.max_questions(3))


@pytest.fixture
def staff(database):
    """The owner, Ada, Ben and Cem."""
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        links = [teachers.invitation(work, owner, f"{name}@school.example") for name in ("ada", "ben", "cem")]
        return owner, *[teachers.use_link(work, link) for link in links]


def things(work, ada):
    kept = publishing.keep_bank(work, ada, BANK)
    test = publishing.publish(work, ada, kept, RULES, publishing.Conditions(), "Week 1")
    alone = publishing.keep_bank(work, ada, qs.load("german"))
    return {"test": test, "bank": alone, "draft": drafts.begin_draft(work, ada, BANK.document, "begun")}


FINDERS = {"test": sharing.published_for, "bank": sharing.bank_for, "draft": sharing.draft_for}


@pytest.mark.parametrize("kind", FINDERS)
def test_what_each_extent_allows(database, staff, kind):
    owner, ada, ben, cem = staff
    find = FINDERS[kind]
    with database.work() as work:
        thing = things(work, ada)[kind]

        def allowed(teacher):
            found = []
            for needed in (LOOK, EDIT, OWN):
                try:
                    assert find(work, teacher, thing.id, needed) is thing
                    found.append(needed)
                except teachers.AccessError:
                    continue
                except publishing.MissingError as error:
                    with pytest.raises(publishing.MissingError, match=str(error)):
                        find(work, teacher, 1234, needed)
            return found

        assert allowed(ada) == [LOOK, EDIT, OWN]
        assert allowed(owner) == allowed(ben) == []
        sharing.share(work, thing, ben, LOOK)
        sharing.share(work, thing, cem, EDIT)
        assert (allowed(ben), allowed(cem), allowed(owner)) == ([LOOK], [LOOK, EDIT], [])
        sharing.share(work, thing, ben, EDIT)
        assert allowed(ben) == [LOOK, EDIT]
        assert [(one.teacher.email, one.extent) for one in sharing.shares_of(work, thing)] == [
            ("ben@school.example", EDIT),
            ("cem@school.example", EDIT),
        ]
        sharing.share(work, thing, ben, LOOK)
        assert allowed(ben) == [LOOK]
        sharing.withdraw(work, thing, ben.id)
        assert allowed(ben) == []


def test_one_thing_is_shared_and_no_other(database, staff):
    _, ada, ben, _ = staff
    with database.work() as work:
        made = things(work, ada)
        for kind, thing in made.items():
            sharing.share(work, thing, ben, EDIT)
            for other, found in made.items():
                assert (sharing.extent_of(work, ben, found) != "") == (other == kind)
            sharing.withdraw(work, thing, ben.id)


def test_a_shared_test_opens_its_banks_to_look_at(database, staff):
    """That of now, and that from before a correction; neither can be published or tried by it."""
    _, ada, ben, cem = staff
    with database.work() as work:
        test = things(work, ada)["test"]
        first = test.bank_id
        sharing.share(work, test, ben, EDIT)
        question = next(iter(BANK.questions.values()))
        corrections.correct_key(
            work, test, question.id, [next(one for one in question.options if one not in question.correct)], "a slip", 0
        )
        assert test.bank_id != first
        for number in (first, test.bank_id):
            assert sharing.bank_for(work, ben, number).id == number
            with pytest.raises(teachers.AccessError):
                sharing.bank_for(work, ben, number, EDIT)
            with pytest.raises(publishing.MissingError):
                sharing.bank_for(work, cem, number)
        sharing.withdraw(work, test, ben.id)
        with pytest.raises(publishing.MissingError):
            sharing.bank_for(work, ben, first)


def test_lists_say_what_is_shared_by_and_with_whom(database, staff):
    _, ada, ben, cem = staff
    with database.work() as work:
        made = things(work, ada)
        work.get_one(Teacher, cem.id).name = "Cem"
        for thing in made.values():
            sharing.share(work, thing, ben, LOOK)
            sharing.share(work, thing, cem, EDIT)
        for kind, name in ((Published, "test"), (BankVersion, "bank"), (Draft, "draft")):
            number = made[name].id
            assert sharing.lent_to(work, ben, kind) == [sharing.Lent(made[name], "ada@school.example", LOOK)]
            assert sharing.lent_to(work, cem, kind) == [sharing.Lent(made[name], "ada@school.example", EDIT)]
            assert sharing.lent_to(work, ada, kind) == []
            assert sharing.readers(work, ada, kind) == {number: ["ben@school.example", "Cem"]}
            assert sharing.readers(work, ben, kind) == {}
            assert number in work.scalars(select(kind.id).where(sharing.within_reach(ben, kind))).all()
        assert [draft.id for draft in drafts.drafts_of(work, ben)] == [made["draft"].id]


def test_nobody_shares_with_themselves_or_by_another_word(database, staff):
    _, ada, ben, _ = staff
    with database.work() as work:
        test = things(work, ada)["test"]
        with pytest.raises(QuaestorError, match="whose it is already"):
            sharing.share(work, test, ada, EDIT)
        with pytest.raises(QuaestorError, match="extent: one of look, edit, got 'own'"):
            sharing.share(work, test, ben, OWN)
        assert sharing.shares_of(work, test) == []


def test_what_is_under_way_by_a_share_is_done_before_it_is_withdrawn(database, staff):
    _, ada, ben, _ = staff
    with database.work() as work:
        test = things(work, ada)["test"].id
        sharing.share(work, work.get_one(Published, test), ben, EDIT)

    def withdraw():
        with database.work() as work:
            sharing.withdraw(work, work.get_one(Published, test), ben.id)

    with database.work() as work:
        found = sharing.published_for(work, work.get_one(Teacher, ben.id), test, EDIT)
        ending = Thread(target=withdraw)
        ending.start()
        ending.join(0.1)
        assert ending.is_alive()
        class_lists.add_pupils(work, found, ["Eve"])
    ending.join()
    with database.read() as work:
        assert work.scalars(select(Share)).all() == []
        assert [one.name for one in class_lists.pupils_of(work, work.get_one(Published, test))] == ["Eve"]
    with pytest.raises(publishing.MissingError), database.work() as work:
        sharing.published_for(work, ben, test)


def test_a_share_goes_with_the_thing_and_with_the_teacher(database, staff):
    _, ada, ben, cem = staff
    with database.work() as work:
        made = things(work, ada)
        for thing in made.values():
            sharing.share(work, thing, ben, LOOK)
            sharing.share(work, thing, cem, LOOK)
        drafts.drop(work, made["draft"])
        publishing.drop_bank(work, made["bank"])
        assert {one.test_id for one in work.scalars(select(Share))} == {made["test"].id}
        work.delete(ben)
        work.flush()
        assert [one.teacher_id for one in work.scalars(select(Share))] == [cem.id]
        assert taking.enter(work, made["test"].code, "Eve").test_id == made["test"].id
