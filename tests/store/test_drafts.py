"""Banks being written: editions, parts, and two teachers at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

import quaestor as qs
from quaestor.errors import BankError, QuaestorError
from quaestor.store import drafts, job_queue, parts, publishing, sharing, teachers
from quaestor.store.models import Edition

PICTURE = b"\x89PNG\r\n\x1a\n, as far as anybody looks"
DOCUMENT = qs.load("fractions").document


@pytest.fixture
def two(database):
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        other = teachers.use_link(work, teachers.invitation(work, owner, "other@school.example"))
        draft = drafts.begin_draft(work, owner, DOCUMENT, "from the bundled bank")
    return owner, other, draft.id


def head(work, teacher, number):
    draft = sharing.draft_for(work, teacher, number)
    return draft, drafts.document_of(drafts.edition(work, draft))


def test_what_was_tried_with_a_deleted_draft_is_not_shown_with_the_next_one(make_database):
    """SQLite gives the number of the last draft again."""
    database = make_database("sqlite")
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        first = drafts.begin_draft(work, owner, DOCUMENT, "begun")
        job_queue.ask(work, owner, "trial", f"draft {first.id}", {"title": "a secret bank"})
        drafts.drop(work, first)
        second = drafts.begin_draft(work, owner, DOCUMENT, "begun anew")
        assert second.id == first.id
        assert job_queue.jobs_of(work, owner, "trial", f"draft {second.id}") == []


def test_every_save_is_an_edition(database, two):
    owner, _, number = two
    with database.work() as work:
        draft, document = head(work, owner, number)
        question = {**document["questions"]["P1"], "text": "New words"}
        drafts.change(work, draft, owner, 1, ("questions", "P1"), question, "P1: text")
        drafts.change(work, draft, owner, 2, ("title",), "Other fractions", "title")
        drafts.change(work, draft, owner, 3, ("questions", "P2"), None, "P2 taken away")
    with database.read() as work:
        draft, document = head(work, owner, number)
        assert (draft.head, draft.title) == (4, "Other fractions")
        assert document["questions"]["P1"]["text"] == "New words"
        assert list(document["questions"]) == [name for name in DOCUMENT["questions"] if name != "P2"]
        notes = [drafts.note_of(one) for one in drafts.editions(work, draft)]
        assert notes == ["P2 taken away", "title", "P1: text", "from the bundled bank"]
        assert drafts.document_of(drafts.edition(work, draft, 1)) == DOCUMENT
        with pytest.raises(publishing.MissingError, match="there is no such version"):
            drafts.edition(work, draft, 9)


def test_saving_what_is_there_is_no_edition(database, two):
    owner, _, number = two
    with database.work() as work:
        draft = sharing.draft_for(work, owner, number)
        drafts.change(work, draft, owner, 1, ("title",), DOCUMENT["title"], "nothing")
        assert draft.head == 1


def test_two_teachers_at_different_questions_lose_nothing(database, two):
    owner, other, number = two
    with database.work() as work:
        draft = sharing.draft_for(work, owner, number)
        with pytest.raises(publishing.MissingError, match="there is no such bank"):
            sharing.draft_for(work, other, number)
        sharing.share(work, draft, other, sharing.EDIT)
        assert [one.teacher.email for one in sharing.shares_of(work, draft)] == ["other@school.example"]
    with database.work() as work:
        drafts.change(work, sharing.draft_for(work, owner, number), owner, 1, ("questions", "P1", "text"), "mine", "P1")
    with database.work() as work:
        drafts.change(work, sharing.draft_for(work, other, number), other, 1, ("questions", "P2", "text"), "theirs", "P2")
        _, document = head(work, other, number)
        assert (document["questions"]["P1"]["text"], document["questions"]["P2"]["text"]) == ("mine", "theirs")
        sharing.withdraw(work, sharing.draft_for(work, owner, number), other.id)
        with pytest.raises(publishing.MissingError):
            sharing.draft_for(work, other, number)


def test_the_second_at_the_same_question_sees_what_changed(database, two):
    owner, _, number = two
    path = ("questions", "P1", "text")
    with database.work() as work:
        draft = sharing.draft_for(work, owner, number)
        drafts.change(work, draft, owner, 1, path, "first", "P1")
        with pytest.raises(drafts.ChangedError) as caught:
            drafts.change(work, draft, owner, 1, path, "second", "P1")
        error = caught.value
        assert (error.seen, error.there, error.wanted) == (DOCUMENT["questions"]["P1"]["text"], "first", "second")
        assert str(error) == "questions.P1.text: it was changed since you opened it, in edition 2"
        drafts.change(work, draft, owner, 1, path, "first", "the same change twice")
        assert draft.head == 2
        drafts.change(work, draft, owner, 2, path, "second", "P1")
        assert len(work.scalars(select(Edition)).all()) == 3


def test_editions_become_banks_only_when_they_are_fit(database, two):
    owner, _, number = two
    with database.work() as work:
        draft = sharing.draft_for(work, owner, number)
        kept = drafts.freeze(work, owner, drafts.edition(work, draft))
        assert kept.version == qs.load("fractions").version
        drafts.change(work, draft, owner, 1, ("questions", "P1", "difficulty"), "impossible", "P1")
        with pytest.raises(BankError, match=r"questions\.P1"):
            drafts.freeze(work, owner, drafts.edition(work, draft))


def test_images_belong_to_editions(database, two):
    owner, _, number = two
    with database.work() as work:
        draft = sharing.draft_for(work, owner, number)
        drafts.add_images(work, draft, owner, {"pie.png": PICTURE, "unused.png": PICTURE})
        with pytest.raises(QuaestorError, match="an image is a PNG, JPEG, GIF or WebP file"):
            drafts.add_images(work, draft, owner, {"pie.svg": b"<svg/>"})
        drafts.change(work, draft, owner, 2, ("questions", "P1", "media"), "pie.png", "P1")
        kept = drafts.freeze(work, owner, drafts.edition(work, draft))
        assert list(kept.media) == ["pie.png"]
        assert publishing.image(work, kept, "pie.png") == ("image/png", PICTURE)


def test_renaming_a_skill_follows_everywhere():
    made = parts.renamed(DOCUMENT, "skills", "parts", "pieces")
    bank, before = qs.Bank(made), qs.load("fractions")
    assert list(bank.skills) == ["pieces", *list(before.skills)[1:]]
    assert bank.skills["equivalence"].parents == ("pieces",)
    assert [q.skills for q in bank.questions.values()] == [
        tuple("pieces" if skill == "parts" else skill for skill in q.skills) for q in before.questions.values()
    ]


def test_renaming_a_template_and_moving_a_question():
    made = parts.renamed(DOCUMENT, "templates", "choice_easy", "simple")
    assert qs.Bank(made).model_version == qs.Bank(DOCUMENT).model_version
    names = list(DOCUMENT["questions"])
    made = parts.moved(DOCUMENT, "questions", names[5], 0)
    assert list(made["questions"]) == [names[5], *names[:5], *names[6:]]
    assert parts.moved(made, "questions", names[5], 5) == DOCUMENT


values = st.one_of(st.none(), st.integers(), st.text(max_size=3))
documents = st.fixed_dictionaries(
    {}, optional={"title": st.text(max_size=3), "questions": st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3)}
)


@given(documents, documents)
def test_differences_lead_from_one_document_to_the_other(before, after):
    made = before
    for path, old, new in parts.differences(before, after):
        assert parts.part(before, path) == old
        made = parts.with_part(made, path, new)
    assert {**{"questions": {}}, **made} == {**{"questions": {}}, **after}


@given(documents, st.sampled_from([("title",), ("questions", "a"), ("questions", "b")]), values)
def test_a_part_written_is_the_part_read(document, path, value):
    assert parts.part(parts.with_part(document, path, value), path) == value
