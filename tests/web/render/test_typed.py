"""What a taker typed is shown as it was typed, on every page; options are texts of the bank and have Markdown."""

import pytest

import quaestor as qs
from helpers.browsing import application, enter, give
from helpers.editor_pages import put, sign_in

TYPED = "2*3*4  _x_ $5$ <b>"
SHOWN = '<span class="typed">2*3*4  _x_ $5$ &lt;b&gt;</span>'
BANK = qs.Bank(
    {
        "title": "Products",
        "language": "en",
        "skills": {"products": {"prior": [0.5, 0.5]}},
        "questions": {
            "typed": {"text": "Write 24", "kind": "text", "correct": "4*3*2", "skill": "products", "right": [0.2, 0.9]},
            "chosen": {"text": "Choose", "options": ["a *b* c", "d"], "correct": "d", "skill": "products", "right": [0.2, 0.9]},
        },
    }
)


@pytest.fixture
def kept(make_database):
    return make_database("sqlite")


def taken(app, database):
    """A taker of a practice test who typed and chose something wrong; the pages after each."""
    browser = enter(app, give(database, bank=BANK, rules=qs.Rules(score="order"), mode="practice"))
    typed = browser.fill("/answer", entry=TYPED).text
    browser.go("/take/1")
    chosen = browser.fill("/answer", entry="a *b* c").text
    return typed, chosen, browser.go("/take/1/result").text


def test_the_taker_reads_what_was_typed(kept):
    typed, chosen, result = taken(application(kept), kept)
    for page in (typed, result):
        assert SHOWN in page
        assert '<span class="typed">4*3*2</span>' in page  # the key that it is compared with
    for page in (chosen, result):
        assert "<dd>a <em>b</em> c</dd>" in page


@pytest.mark.parametrize("page", ["takers/1", "questions"])
def test_the_teacher_reads_what_was_typed(kept, page):
    app = application(kept)
    taken(app, kept)
    found = sign_in(app, kept).go(f"/teacher/tests/1/{page}")
    assert found.status_code == 200
    assert SHOWN in found.text
    assert "a <em>b</em> c" in found.text


def test_the_author_reads_the_key_as_it_is_compared(kept):
    browser = sign_in(application(kept), kept)
    home = put(kept, BANK.document)
    assert '<span class="typed">4*3*2</span>' in browser.go(f"{home}/questions/typed").text
    give(kept, bank=BANK)
    assert '<span class="typed">4*3*2</span>' in browser.go("/teacher/banks/1").text
