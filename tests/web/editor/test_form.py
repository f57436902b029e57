"""The forms of questions and skills: nothing is wrong with an empty one, ids come by themselves, images are uploaded in place."""

import re
from html import unescape

import pytest

from helpers.browsing import PICTURE
from helpers.teacher_pages import put_bank
from quaestor.store import drafts
from quaestor.store.models import Draft


@pytest.fixture
def draft(ada):
    return put_bank(ada).headers["location"]


def documents(kept):
    with kept.read() as work:
        head = drafts.edition(work, work.query(Draft).one())
        return drafts.document_of(head), dict(head.media)


QUESTION = {"text": "How many?", "kind": "number", "correct": "7", "skills": "multiplication", "way": "words", "difficulty": "easy"}


def test_an_empty_form_shows_no_error_and_remembers_the_skill_of_the_question_before(ada, draft):
    page = ada.get(f"{draft}/questions/~new").text
    assert "To look at" not in page
    assert re.search(r'name="skills" value="multiplication" checked', page)
    assert "To look at" not in ada.get(f"{draft}/skills/~new").text
    assert "To look at" in ada.fill(f"{draft}/questions/~new", {"check": "yes", "kind": "number"}).text  # asked for, it is told


def test_words_are_chosen_from_lists_and_a_number_that_stands_there_stays(kept, ada, draft):
    ada.fill(f"{draft}/questions/~new", {**QUESTION, "difficulty": "0.37", "discrimination": "strong"})
    page = ada.get(f"{draft}/questions/Q3").text
    chosen = re.search(r'<select id="difficulty".*?</select>', page, re.DOTALL).group()
    assert "<option selected>0.37</option>" in chosen
    assert "<option>easy</option>" in chosen
    assert re.search(r'<select id="discrimination".*?<option selected>strong</option>', page, re.DOTALL)


def test_ids_come_by_themselves(kept, ada, draft):
    ada.fill(f"{draft}/questions/~new", QUESTION)
    ada.fill(f"{draft}/skills/~new", {"title": "Adding & taking away", "level": ["no", "nearly", "yes"], "prior": "even"})
    ada.fill(f"{draft}/skills/~new", {"title": "Adding & taking away", "level": ["no", "yes"], "prior": "even"})
    document, _ = documents(kept)
    assert "Q3" in document["questions"]
    assert list(document["skills"]) == ["multiplication", "adding-taking-away", "adding-taking-away2"]


def test_levels_are_rows(kept, ada, draft):
    ada.fill(f"{draft}/skills/~new", {"title": "Adding", "level": ["no", " nearly ", "", "yes", ""], "prior": "even"})
    document, _ = documents(kept)
    assert document["skills"]["adding"]["levels"] == ["no", "nearly", "yes"]
    assert re.findall(r'name="level" value="([^"]*)"', ada.get(f"{draft}/skills/adding").text) == ["no", "nearly", "yes", "", ""]


def test_an_image_is_uploaded_with_its_question_and_replaces_no_other(kept, ada, draft):
    for number in (3, 4):
        ada.fill(f"{draft}/questions/~new", {**QUESTION, "alt": "a pie"}, files=[("image", ("C:\\photos\\image.png", PICTURE))])
        assert f"Q{number}" in documents(kept)[0]["questions"]
    document, media = documents(kept)
    assert [document["questions"][name]["media"] for name in ("Q3", "Q4")] == ["image.png", "image-2.png"]
    assert set(media) == {"image.png", "image-2.png"}
    refused = ada.fill(f"{draft}/questions/~new", QUESTION, files=[("image", ("evil.png", b"<svg onload=alert(1)>"))])
    assert refused.status_code == 400
    assert "PNG, JPEG" in unescape(refused.text)
    assert documents(kept)[0] == document
