"""Teachers who sign in by a provider: which account is whose, and that nobody gets one by an address alone."""

import pytest
from sqlalchemy import select

from quaestor.errors import QuaestorError
from quaestor.store import identities, leaving, teachers
from quaestor.store.identities import Person
from quaestor.store.models import Identity, Link, Teacher

ISSUER = "https://login.school.example"
ADA = Person(ISSUER, "1001", "Ada@School.example", True, "Ada Lovelace")


@pytest.fixture
def owner(database):
    with database.work() as work:
        return teachers.owner(work, "owner@school.example")


def invite(database, owner, email="ada@school.example"):
    with database.work() as work:
        return teachers.invitation(work, work.get_one(Teacher, owner.id), email)


def admit(database, person):
    with database.work() as work:
        return identities.admitted(work, person)


def refused(database, person, words):
    with pytest.raises(teachers.AccessError, match=words):
        admit(database, person)


def test_who_was_invited_gets_the_account_and_has_it_from_then_on(database, owner):
    link = invite(database, owner)
    made = admit(database, ADA)
    assert (made.email, made.name, made.password, made.is_owner) == ("ada@school.example", "Ada Lovelace", None, False)
    assert admit(database, Person(ISSUER, "1001")).id == made.id  # whatever the address is later
    with pytest.raises(teachers.AccessError), database.work() as work:  # the invitation is used up
        teachers.use_link(work, link)
    with database.read() as work:
        assert len(work.scalars(select(Teacher)).all()) == 2


@pytest.mark.parametrize(
    "person",
    [
        Person(ISSUER, "1001", ADA.email, False),
        Person(ISSUER, "1001", "", True),
        Person(ISSUER, "1001", "eve@school.example", True),
    ],
)
def test_an_address_that_is_not_verified_or_not_invited_opens_nothing(database, owner, person):
    invite(database, owner)
    refused(database, person, "nobody with this account of yours is known here")
    with database.read() as work:
        assert work.scalars(select(Identity)).all() == []
        assert [link.used for link in work.scalars(select(Link))] == [None]


def test_an_invitation_that_is_used_or_too_old_opens_nothing(database, owner, monkeypatch):
    link = invite(database, owner)
    with database.work() as work:
        work.scalars(select(Link)).one().expires = teachers.now()
    refused(database, ADA, "known here")
    link = invite(database, owner)
    with database.work() as work:
        teachers.use_link(work, link)
    refused(database, ADA, "known here")


def test_an_account_that_is_there_is_never_taken_by_its_address(database, owner):
    """Not even with an open invitation: who has an account connects it, signed in."""
    with database.work() as work:
        teachers.use_link(work, teachers.invitation(work, work.get_one(Teacher, owner.id), "ada@school.example"))
    invite(database, owner)
    invite(database, owner, "owner@school.example")
    refused(database, ADA, "connect it under Account")
    refused(database, Person(ISSUER, "1", "owner@school.example", True), "connect it under Account")


def test_the_same_subject_of_another_issuer_is_somebody_else(database, owner):
    invite(database, owner)
    admit(database, ADA)
    refused(database, Person("https://another.example", "1001", ADA.email, True), "known here")


def test_an_account_is_connected_once_to_one_person(database, owner):
    invite(database, owner)
    ada = admit(database, ADA)
    eve = Person(ISSUER, "2002")
    with database.work() as work:
        mine = work.get_one(Teacher, owner.id)
        identities.connect(work, mine, eve)
        identities.connect(work, mine, eve)
        assert identities.identity_of(work, mine).subject == "2002"
    assert admit(database, eve).id == owner.id
    with pytest.raises(QuaestorError, match="connected to another account"), database.work() as work:
        identities.connect(work, work.get_one(Teacher, owner.id), ADA)
    with pytest.raises(QuaestorError, match="is connected already"), database.work() as work:
        identities.connect(work, work.get_one(Teacher, ada.id), Person(ISSUER, "3003"))


def test_a_connection_ends_only_where_a_password_is_left(database, owner):
    invite(database, owner)
    ada = admit(database, ADA)
    with pytest.raises(QuaestorError, match="choose a password first"), database.work() as work:
        identities.disconnect(work, work.get_one(Teacher, ada.id))
    with database.work() as work:
        teacher = work.get_one(Teacher, ada.id)
        teachers.set_password(work, teacher, "a hash")
        assert identities.identity_of(work, teacher) is not None  # a first password ends nothing
        identities.disconnect(work, teacher)
    refused(database, ADA, "known here")


def test_another_password_ends_a_connection_that_somebody_else_may_have_made(database, owner):
    invite(database, owner)
    ada = admit(database, ADA)
    with database.work() as work:
        teachers.set_password(work, work.get_one(Teacher, ada.id), "a hash")
    with database.work() as work:
        teachers.set_password(work, work.get_one(Teacher, ada.id), "another hash")
    refused(database, ADA, "known here")


def test_who_is_locked_or_removed_does_not_come_in_by_a_provider(database, owner):
    invite(database, owner)
    ada = admit(database, ADA)
    with database.work() as work:
        leaving.lock(work, ada.id)
    with pytest.raises(teachers.AccessError, match="locked"), database.work() as work:
        teachers.log_in(work, identities.admitted(work, ADA))
    with database.work() as work:
        leaving.remove(work, ada.id, work.get_one(Teacher, owner.id))
    refused(database, ADA, "known here")


def test_a_secret_is_used_once(database):
    with database.work() as work:
        teachers.use_once(work, "secret")
        teachers.use_once(work, "another")
    with pytest.raises(teachers.AccessError, match="used already"), database.work() as work:
        teachers.use_once(work, "secret")
