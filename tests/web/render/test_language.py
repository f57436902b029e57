"""Which language a page has, and words of the bank file that are written in the teacher's own."""

import re
from datetime import datetime
from html import unescape

import pytest

from helpers.browsing import Browser, application
from quaestor.bankfile.words import ELSEWHERE, in_file
from quaestor.report.letters import NO, YES
from quaestor.store import drafts, sharing, teachers
from quaestor.web.editor.vocabulary import LEVELS, WORDS
from quaestor.web.render.language import LANGUAGES, catalogue, chosen, day, moment, number, translate

# Words of the bank file


def listed(page, field):
    """The words of a drop-down list of a form, and the one that is chosen."""
    inside = re.search(rf'<select id="{field}" name="{field}">(.*?)</select>', page.text, re.S)[1]
    return re.findall(r"<option[^>]*>([^<]+)</option>", inside), re.search(r"<option selected>([^<]+)</option>", inside)[1]


def test_words_of_the_bank_file_are_written_in_german_and_kept_as_the_file_has_them(make_database):
    app = application(made := make_database("sqlite"))
    with made.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        cookie = teachers.log_in(work, owner)
        number = drafts.begin_draft(work, owner, {"quaestor": 1, "title": "Neu"}, "x").id
    browser = Browser(app, **{"accept-language": "de"})
    browser.client.cookies.set("teacher", cookie)
    page = browser.go(f"/teacher/drafts/{number}/skills/~new")
    assert re.findall(r'name="level" value="([^"]*)"', page.text) == ["nein", "ja", "", ""]
    assert "<option>meist in der Mitte</option>" in page.text
    browser.fill("/~new", id="a", levels="nein | ja", prior="Meist  oben", confidence="sure")
    assert 'value="meist oben"' in browser.page.text
    assert 'value="sicher"' in browser.page.text
    page = browser.go(f"/teacher/drafts/{number}/questions/~new")
    assert listed(page, "difficulty") == (["sehr leicht", "leicht", "mittel", "schwer", "sehr schwer"], "mittel")
    words = {"difficulty": "sehr schwer", "discrimination": "mittel", "confidence": "Ganz sicher"}
    browser.fill("/~new", id="q", text="Wie?", kind="number", correct="7", skills="a", way="words", **words)
    assert [listed(browser.page, name)[1] for name in words] == ["sehr schwer", "mittel", "ganz sicher"]
    with made.read() as work:
        document = drafts.document_of(drafts.edition(work, sharing.draft_for(work, owner, number)))
    assert (document["skills"]["a"]["prior"], document["skills"]["a"]["confidence"]) == ("mostly high", "sure")
    kept = document["questions"]["q"]
    assert [kept[name] for name in words] == ["very hard", "fair", "certain"]
    assert "sehr schwer" in browser.go(f"/teacher/drafts/{number}/questions").text
    browser.client.headers["accept-language"] = "en"
    assert listed(browser.go(f"/teacher/drafts/{number}/questions/q"), "difficulty")[1] == "very hard"


def test_words_of_the_bank_file_are_written_in_french_too(make_database):
    app = application(made := make_database("sqlite"))
    with made.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        cookie = teachers.log_in(work, owner)
        number = drafts.begin_draft(work, owner, {"quaestor": 1, "title": "Neuf"}, "x").id
    browser = Browser(app, **{"accept-language": "fr"})
    browser.client.cookies.set("teacher", cookie)
    page = browser.go(f"/teacher/drafts/{number}/skills/~new")
    assert re.findall(r'name="level" value="([^"]*)"', page.text) == ["non", "oui", "", ""]
    browser.fill("/~new", id="a", levels="non | oui", prior="Plutôt  haut", confidence="très peu sûr")
    assert 'value="plutôt haut"' in browser.page.text
    page = browser.go(f"/teacher/drafts/{number}/questions/~new")
    assert listed(page, "difficulty") == (["très facile", "facile", "moyen", "difficile", "très difficile"], "moyen")
    browser.fill("/~new", id="q", text="Quoi ?", kind="number", correct="7", skills="a", way="words", difficulty="Très difficile")
    with made.read() as work:
        document = drafts.document_of(drafts.edition(work, sharing.draft_for(work, owner, number)))
    assert (document["skills"]["a"]["prior"], document["skills"]["a"]["confidence"]) == ("mostly high", "very unsure")
    assert document["questions"]["q"]["difficulty"] == "very hard"


@pytest.fixture
def teacher(make_database):
    """A German browser of the owner, and what the latest draft holds."""
    app = application(made := make_database("sqlite"))
    with made.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        cookie = teachers.log_in(work, owner)
    browser = Browser(app, **{"accept-language": "de"})
    browser.client.cookies.set("teacher", cookie)

    def latest():
        with made.read() as work:
            return drafts.document_of(drafts.edition(work, drafts.drafts_of(work, owner)[0]))

    browser.latest = latest
    return browser


def test_pasted_cells_may_have_words_of_the_teachers_language(teacher):
    header = "id\ttext\tkind\tcorrect\tskill\tdifficulty\tdiscrimination"
    teacher.go("/teacher/banks")
    rows = [header, "Q1\tWie viel?\tnumber\t7\taddieren\tLeicht\tstark", "Q2\tWas?\tnumber\t8\taddieren\thard\t"]
    page = teacher.fill("/teacher/banks/pasted", title="Addieren", rows="\n".join(rows))
    assert "zu verbessern" not in page.text
    kept = teacher.latest()["questions"]
    assert [kept[name]["difficulty"] for name in ("Q1", "Q2")] == ["easy", "hard"]
    assert kept["Q1"]["discrimination"] == "strong"


def test_an_unknown_column_of_pasted_rows_is_shown_with_its_place_and_the_known_ones(teacher):
    teacher.go("/teacher/banks")
    page = teacher.fill("/teacher/banks/pasted", rows="id\tFrage\tskill\nQ1\tWie?\ta")
    assert "Zeile 1, Spalte B" in page.text
    assert "bekannte Spalten: id, template, text, " in page.text


def test_versions_are_compared_as_sheets_have_them(make_database):
    made = make_database("sqlite")
    before = {"skills": {"a": {"levels": ["nein", "ja"]}}, "questions": {"Q": {"skill": "a", "tags": ["x"], "difficulty": "easy"}}}
    table = {"nein": [0.621619128992926, 0.378380871007074], "ja": [[0.1, 0.2], 0.85]}
    after = {**before, "questions": {"Q": {"skill": "a", "tags": ["x", "y"], "table": table, "pilot": True}}}
    with made.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        cookie = teachers.log_in(work, owner)
        draft = drafts.begin_draft(work, owner, {"quaestor": 1, "title": "Neu", **before}, "x")
        drafts.change(work, draft, owner, 1, ("questions", "Q"), after["questions"]["Q"], "y")
    browser = Browser(application(made), **{"accept-language": "de"})
    browser.client.cookies.set("teacher", cookie)
    page = unescape(browser.go(f"/teacher/drafts/{draft.id}/versions/compare").text)
    assert "<h3>Frage Q" in page
    for cell in ("x | y", "nein -> 0.622 | 0.378\nja -> 0.1..0.2 | 0.85", "leicht", "ja"):
        assert f'<td class="cell">{cell}</td>' in page


@pytest.mark.parametrize("field", WORDS)
@pytest.mark.parametrize("language", ELSEWHERE)
def test_every_word_of_a_field_has_its_own_in_every_language(language, field):
    """A word is read in all languages at once, so none may mean another word of the field elsewhere."""
    meant = {}
    for known in (*ELSEWHERE.values(), {word: word for word in WORDS[field]}):
        for word in WORDS[field]:
            assert meant.setdefault(known[word].casefold(), word) == word
    for word in WORDS[field]:
        assert in_file(catalogue(language)[word].upper(), WORDS[field]).casefold() == word


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_and_yes_are_known_in_every_language(language):
    lowest, highest = (translate(language, level) for level in LEVELS)
    assert (lowest in NO, highest in YES) == (True, True)


# Numbers and dates


@pytest.mark.parametrize(
    ("language", "share", "thousands", "date", "time"),
    [
        ("en", "82.9", "1,234", "5 March 2026", "5 March 2026, 08:30 UTC"),
        ("de", "82,9", "1.234", "5. März 2026", "5. März 2026, 08:30 UTC"),
        ("fr", "82,9", "1\u202f234", "5 mars 2026", "5 mars 2026, 08:30 UTC"),
    ],
)
def test_numbers_and_dates_are_written_in_the_way_of_the_language(language, share, thousands, date, time):
    at = datetime(2026, 3, 5, 8, 30)
    assert (number(language, 82.94), number(language, 1234, ",d")) == (share, thousands)
    assert number(language, 0.829, ".1%") == share + ("%" if language == "en" else "\u00a0%")
    assert (day(language, at), moment(language, at), moment(language, None)) == (date, time, "")


# Which language


@pytest.mark.parametrize(
    ("accepted", "by_hand", "expected"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", None, "de"),
        ("en-GB,en;q=0.9,de;q=0.8", None, "en"),
        ("it,de;q=0.5,en;q=0.4", None, "de"),
        ("fr-CH,de;q=0.5,en;q=0.4", None, "fr"),
        ("de;q=0.2,en;q=0.7", None, "en"),
        ("it-IT,la;q=0.3", None, "en"),
        ("", None, "en"),
        ("de;q=much,xx", None, "en"),
        ("de", "en", "en"),
        ("en", "de", "de"),
        ("de", "fr", "fr"),
        ("de", "tlh", "de"),
    ],
)
def test_the_language_is_chosen_by_the_browser_and_by_hand(accepted, by_hand, expected):
    assert chosen(by_hand, accepted) == expected


def test_a_language_chosen_by_hand_is_kept_on_every_page(make_database):
    browser = Browser(application(make_database("sqlite")), **{"accept-language": "en"})
    assert '<html lang="en">' in browser.go("/sign-in").text
    page = browser.fill("/language", language="de")
    assert browser.path == "/sign-in"
    assert '<html lang="de">' in page.text
    browser.go("/five-minutes?step=3")
    assert browser.fill("/language", language="de").url.query == b"step=3"
    assert "Als Lehrkraft anmelden" in page.text
    for path in ("/", "/five-minutes", "/nowhere", "/c/NOSUCH"):
        assert '<html lang="de">' in browser.go(path).text
    browser.go("/")
    assert '<html lang="de">' in browser.fill("/language", language="tlh").text
    browser.go("/")
    assert '<html lang="en">' in browser.fill("/language", language="en").text


@pytest.mark.parametrize("accepted", ["it", "tlh,it;q=0.3", "*"])
def test_unknown_languages_get_english(make_database, accepted):
    page = Browser(application(make_database("sqlite")), **{"accept-language": accepted}).go("/")
    assert '<html lang="en">' in page.text
    assert "Enter the code that you were given." in page.text
