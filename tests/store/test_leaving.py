"""Teachers who are locked or removed: what they began before is done before, what comes after is refused, and their tests stay.

And what else of teachers is done twice at the same moment: it is done once.
"""

from threading import Thread

import pytest
from sqlalchemy import select

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.store import corrections, drafts, job_queue, leaving, publishing, sharing, teachers
from quaestor.store.attempts import taking
from quaestor.store.models import BankVersion, Correction, Draft, Job, Link, Login, Published, Share, Teacher, Token
from quaestor.store.outcomes import results

PASSWORD = "four plain words here"
RULES = qs.Rules(score="order", stop=qs.max_questions(3))
BANK = qs.load("fractions")


@pytest.fixture
def staff(database, monkeypatch):
    """The owner, and Ada with a password, a signed-in browser, a token and links."""
    monkeypatch.setattr(teachers, "password_hash", str)
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        ada = teachers.use_link(work, teachers.invitation(work, owner, "ada@school.example"))
        teachers.set_password(work, ada, teachers.new_password(PASSWORD))
        cookie, token = teachers.log_in(work, ada), teachers.api_token(work, ada, "platform", ["banks"])
        links = [teachers.sign_in_link(work, ada), teachers.invitation(work, owner, "ada@school.example")]
    return owner, ada, cookie, token, links


def remains(database):
    with database.read() as work:
        return [work.scalars(select(kind)).all() for kind in (Login, Token, Link)]


def is_out(database, staff):
    """Whether nothing of what Ada had opens anything."""
    _, ada, cookie, token, links = staff
    with database.work() as work:
        assert teachers.logged_in(work, cookie) is None
        with pytest.raises(teachers.UnknownTokenError):
            teachers.by_token(work, token, "banks")
        for link in links:
            with pytest.raises(teachers.AccessError, match="used already or is too old"):
                teachers.use_link(work, link)
    with pytest.raises(teachers.AccessError) as error, database.work() as work:
        teachers.log_in(work, ada)
    assert remains(database) == [[], [], []]
    return str(error.value)


def test_who_is_locked_is_out_until_unlocked(database, staff):
    owner, ada, *_ = staff
    with database.work() as work:
        leaving.lock(work, ada.id)
    assert is_out(database, staff) == "this account is locked; please ask the owner of this server"
    with database.work() as work:
        present = work.get_one(Teacher, ada.id)
        since = present.locked
        leaving.lock(work, ada.id)
        assert present.locked == since
        for make in (lambda: teachers.sign_in_link(work, present), lambda: teachers.invitation(work, owner, "Ada@school.example")):
            with pytest.raises(QuaestorError, match="this teacher is locked; unlock them first"):
                make()
        leaving.unlock(work, ada.id)
        assert teachers.logged_in(work, teachers.log_in(work, ada)) is present


def test_the_owner_and_nobody_are_neither_locked_nor_removed(database, staff):
    owner, *_ = staff
    for act in (leaving.lock, leaving.unlock, lambda work, number: leaving.remove(work, number, owner)):
        with pytest.raises(QuaestorError, match="the owner of this server can be neither locked nor removed"), database.work() as work:
            act(work, owner.id)
        with pytest.raises(publishing.MissingError, match="there is no such teacher"), database.work() as work:
            act(work, 99)


def published(work, teacher, title):
    kept = publishing.keep_bank(work, teacher, BANK)
    return publishing.publish(work, teacher, kept, RULES, publishing.Conditions(), title)


def test_what_a_removed_teacher_had_is_handed_over(database, staff):
    """Banks, drafts, trials, tests with their results; a bank that both have is one from then on."""
    owner, ada, *_ = staff
    with database.work() as work:
        mine, theirs = published(work, owner, "mine"), published(work, ada, "theirs")
        attempt = taking.enter(work, theirs.code, "Ben")
        taking.answer(work, attempt, 1, taking.state_of(work, attempt).session.next.correct[0])
        corrections.withdraw(work, theirs, next(iter(BANK.questions)), "wrong", 0)
        alone = publishing.keep_bank(work, ada, qs.load("german"))
        draft = drafts.begin_draft(work, ada, BANK.document, "begun")
        sharing.share(work, draft, owner, sharing.EDIT)
        sharing.share(work, drafts.begin_draft(work, owner, BANK.document, "begun"), ada, sharing.EDIT)
        for subject in (f"draft {draft.id}", f"bank {alone.id}", f"bank {theirs.bank_id}"):
            job_queue.ask(work, ada, "trial", subject, {})
        before = results.outcomes(work, theirs)
        leaving.remove(work, ada.id, owner)
    assert is_out(database, staff) == "the address or the password is wrong"
    with database.work() as work:
        assert work.scalars(select(Teacher)).all() == [work.get_one(Teacher, owner.id)]
        for kind in (BankVersion, Draft, Published, Job):
            assert set(work.scalars(select(kind.teacher_id))) == {owner.id}
        tests = {test.title: test for test in work.scalars(select(Published))}
        assert tests["theirs"].bank_id == tests["mine"].bank_id == mine.bank_id
        assert work.scalars(select(Correction.bank_id)).all() == [mine.bank_id]
        assert work.scalars(select(BankVersion.id).order_by(BankVersion.id)).all() == [mine.bank_id, alone.id]
        assert work.scalars(select(Share)).all() == []
        assert set(work.scalars(select(Job.subject))) >= {f"draft {draft.id}", f"bank {alone.id}"}
        assert f"bank {theirs.bank_id}" not in set(work.scalars(select(Job.subject)))
        assert results.outcomes(work, tests["theirs"]) == before
        again = taking.by_key(work, attempt.key)
        taking.answer(work, again, 2, taking.state_of(work, again).session.next.correct[0])
        assert taking.enter(work, theirs.code, "Cem").test_id == theirs.id


def while_under_way(database, begin, end):
    """Let `end` be tried in a thread while a unit of work is under way that `begin` began; what `begin` returns is done at its end."""
    with database.work() as work:
        go_on = begin(work)
        ending = Thread(target=end)
        ending.start()
        ending.join(0.1)  # it has to wait
        assert ending.is_alive()
        go_on()
    ending.join()


def ends(database, staff):
    def locked():
        with database.work() as work:
            leaving.lock(work, staff[1].id)

    def removed():
        with database.work() as work:
            leaving.remove(work, staff[1].id, work.get_one(Teacher, staff[0].id))

    def reset():
        with database.work() as work:
            teachers.set_password(work, teachers.use_link(work, staff[4][0]), "another password")

    return {"locked": locked, "removed": removed, "reset": reset}


@pytest.mark.parametrize("end", ["locked", "removed", "reset"])
def test_what_is_under_way_is_done_first_and_leaves_nothing_that_opens(database, staff, end):
    """A token made, and a sign-in, at the very moment when their teacher is to be out: they end too, and nothing is an error."""

    def make_a_token(work):
        teacher = teachers.logged_in(work, staff[2])
        return lambda: teachers.api_token(work, teacher, "late", ["banks"])

    while_under_way(database, make_a_token, ends(database, staff)[end])
    with database.read() as work:
        assert work.scalars(select(Token)).all() == []
        assert teachers.logged_in(work, staff[2]) is None


@pytest.mark.parametrize("end", ["locked", "removed", "reset"])
def test_a_sign_in_at_the_same_moment_ends_too(database, staff, end):
    def sign_in(work):
        made = teachers.log_in(work, staff[1])
        return lambda: teachers.logged_in(work, made)

    while_under_way(database, sign_in, ends(database, staff)[end])
    with database.read() as work:
        assert work.scalars(select(Login)).all() == []
    with pytest.raises(teachers.AccessError), database.work() as work:
        teachers.log_in(work, staff[1])


@pytest.mark.parametrize("end", ["locked", "removed"])
def test_a_link_used_at_the_same_moment_opens_nothing_after(database, staff, end):
    def use(work):
        teacher = teachers.use_link(work, staff[4][0])
        return lambda: teachers.log_in(work, teacher)

    while_under_way(database, use, ends(database, staff)[end])
    assert remains(database) == [[], [], []]


def test_a_token_that_writes_is_withdrawn_after_it_has_written(database, staff):
    def write(work):
        token = teachers.by_token(work, staff[3], "banks")
        return lambda: publishing.keep_bank(work, token.teacher, BANK)

    def withdraw():
        with database.work() as work:
            work.delete(work.scalars(select(Token)).one())

    while_under_way(database, write, withdraw)
    with database.read() as work:
        assert work.scalars(select(BankVersion.teacher_id)).all() == [staff[1].id]


def test_two_invitations_used_at_the_same_moment_make_one_teacher(database, staff):
    with database.work() as work:
        first, second = (teachers.invitation(work, staff[0], "eve@school.example") for _ in range(2))

    def use(work):
        teachers.use_link(work, first)
        return lambda: None

    def use_the_other():
        with database.work() as work:
            used.append(teachers.use_link(work, second).email)

    used = []
    while_under_way(database, use, use_the_other)
    assert used == ["eve@school.example"]
    with database.read() as work:
        assert sorted(work.scalars(select(Teacher.email))) == ["ada@school.example", "eve@school.example", "owner@school.example"]


@pytest.mark.parametrize("second", ["shared", "removed"])
def test_a_draft_shared_twice_or_with_who_is_removed_at_the_same_moment(database, staff, second):
    with database.work() as work:
        draft = drafts.begin_draft(work, staff[0], BANK.document, "begun").id

    def share(work):
        sharing.share(work, work.get_one(Draft, draft), work.get_one(Teacher, staff[1].id), sharing.EDIT)

    def share_too():
        with database.work() as work:
            share(work)

    def begin(work):
        share(work)
        return lambda: None

    while_under_way(database, begin, share_too if second == "shared" else ends(database, staff)["removed"])
    with database.read() as work:
        assert len(work.scalars(select(Share)).all()) == (1 if second == "shared" else 0)
