"""Matching, ordering, gaps, true or false in a browser without JavaScript: labels, entries that are kept, feedback, statistics."""

import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import select

import quaestor as qs
from helpers.browsing import Browser, application, enter, give
from quaestor.report.statistics import tally
from quaestor.session.option_order import option_order
from quaestor.store import clock, privacy, publishing, teachers
from quaestor.store.attempts import answers
from quaestor.store.models import Event, Published
from quaestor.web.render.prose import gapped

BANK = qs.Bank(
    {
        "quaestor": 2,
        "title": "Parts",
        "language": "en",
        "skills": {"s": {}},
        "questions": {
            "truth": {"text": "Whales are fish.", "kind": "truefalse", "correct": False, "skill": "s", "difficulty": "easy"},
            "match": {
                "text": "Which is which?",
                "kind": "matching",
                "pairs": {"frog": "amphibian", "<cat>": "mammal", "newt": "amphibian"},
                "options": ["amphibian", "mammal", "insect"],
                "classes": ["wrong", "partly", "right"],
                "skill": "s",
                "table": {"no": [0.5, 0.3, 0.2], "yes": [0.1, 0.2, 0.7]},
            },
            "order": {"text": "Sort!", "kind": "ordering", "options": ["one", "two", "three"], "skill": "s", "difficulty": "easy"},
            "gaps": {
                "text": "A *spider* has [[legs]] legs and is [[what]], not $x[[0]]$ [[free]].",
                "kind": "gaps",
                "gaps": {
                    "legs": {"kind": "number", "correct": 8},
                    "what": {"options": ["an insect", "no insect"], "correct": "no insect"},
                    "free": {"kind": "text", "correct": "so"},
                    "0": {"kind": "text", "correct": "x"},
                },
                "skill": "s",
                "difficulty": "easy",
            },
        },
    }
)
RULES = qs.Rules(score="order", stop=qs.max_questions(4))
KEYS = {
    "truth": "false",
    "match": ["amphibian", "mammal", "amphibian"],
    "order": ["one", "two", "three"],
    "gaps": ["8", "no insect", "x", "so"],
}


@pytest.fixture
def database(make_database):
    return make_database("sqlite")  # what differs between databases is tested elsewhere


@pytest.fixture
def app(database):
    return application(database)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def selected(page):
    """The options that the page has chosen."""
    return [unescape(value) for value in re.findall(r'<option(?: value="([^"]+)")? selected', page.text)]


def labels(page):
    """For each field of the parts the words of its label."""
    named = dict(re.findall(r'<label[^>]* for="((?:part|place)-\d+)"[^>]*>(.*?)</label>', page.text, re.S))
    fields = re.findall(r'<(?:select|input) id="((?:part|place)-\d+)"', page.text)
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", named[one])).split()) for one in fields]


def placed(page, order):
    """The fields of an ordering form that bring the items into this order."""
    items = [unescape(one) for one in re.findall(r'name="item" value="([^"]*)"', page.text)]
    return {"item": items, "place": [str(order.index(one) + 1) if one in order else "" for one in items]}


def at(app, code, *names):
    """A browser that has answered these questions rightly."""
    browser = enter(app, code)
    for name in names:
        one = KEYS[name]
        fields = placed(browser.page, one) if name == "order" else {"part": one} if isinstance(one, list) else {"entry": one}
        browser.fill("/answer", **fields)
    return browser


def test_a_test_of_all_kinds_is_taken_to_its_end(app, database):
    code = give(database, BANK, RULES)
    browser = at(app, code, *KEYS)
    assert browser.path == "/take/1/result"
    assert "4 of 4 questions answered right." in text_of(browser.page)
    with database.read() as work:
        assert work.scalars(select(Event.entry).order_by(Event.step)).all() == [
            "false",
            '{"frog": "amphibian", "<cat>": "mammal", "newt": "amphibian"}',
            '["one", "two", "three"]',
            '{"legs": "8", "what": "no insect", "0": "x", "free": "so"}',
        ]


@pytest.mark.parametrize(("language", "words"), [("en", ["True", "False"]), ("de", ["Richtig", "Falsch"]), ("fr", ["Vrai", "Faux"])])
def test_true_and_false_are_said_in_the_taker_s_language(app, database, language, words):
    code = give(database, BANK, RULES)
    browser = Browser(app, **{"accept-language": language})
    browser.go(f"/c/{code}")
    browser.fill("/enter", name="Ada")
    assert re.findall(rf'value="(?:true|false)"><span lang="{language}">(\w+)</span>', browser.page.text) == words


def test_every_field_of_a_part_has_a_label(app, database):
    code = give(database, BANK, RULES)
    browser = at(app, code, "truth")
    assert labels(browser.page) == ["frog", "<cat>", "newt"]
    browser.fill("/answer", part=KEYS["match"])
    assert sorted(labels(browser.page)) == ["Place of: one", "Place of: three", "Place of: two"]
    browser.fill("/answer", **placed(browser.page, KEYS["order"]))
    assert labels(browser.page) == ["Gap 1 of 4, a number", "Gap 2 of 4", "Gap 4 of 4", "Gap 3 of 4"]  # one is in a formula: below
    assert "<em>spider</em>" in browser.page.text
    assert "[[" not in text_of(browser.page).replace("[[0]]", "")


def test_what_was_chosen_is_kept_when_something_is_missing(app, database):
    code = give(database, BANK, RULES)
    browser = at(app, code, "truth")
    browser.fill("/answer", part=["amphibian", "", ""])
    assert "Please choose something for each. Still open: <cat>, newt." in text_of(browser.page)
    assert selected(browser.page) == ["amphibian"]
    assert browser.page.text.count('aria-invalid="true"') == 2
    browser.fill("/answer", part=["", "", ""])
    assert "Please choose what belongs to each." in text_of(browser.page)
    browser.fill("/answer", part=["amphibian", "mammal"])
    assert browser.step == 2  # a form that somebody made up
    browser.fill("/answer", part=["amphibian", "bird", "insect"])
    assert "Please choose only answers that stand here." in text_of(browser.page)
    browser.fill("/answer", part=KEYS["match"])
    assert browser.step == 3


def test_places_are_kept_when_two_have_the_same(app, database):
    browser = at(app, give(database, BANK, RULES), "truth", "match")
    items = placed(browser.page, [])["item"]
    browser.fill("/answer", item=items, place=["2", "2", "1"])
    assert "Please give each a place of its own." in text_of(browser.page)
    assert re.findall(r"<option selected>(\d)</option>", browser.page.text) == ["2", "2", "1"]
    assert browser.page.text.count('aria-invalid="true"') == 2
    browser.fill("/answer", item=items, place=["", "", ""])
    assert "Please give each its place." in text_of(browser.page)
    browser.fill("/answer", item=[*items, "four"], place=["1", "2", "3", "4"])
    assert browser.step == 3
    browser.fill("/answer", **placed(browser.page, ["three", "two", "one"]))
    assert browser.step == 4


def test_gaps_are_kept_when_one_is_empty_or_no_number(app, database):
    browser = at(app, give(database, BANK, RULES), "truth", "match", "order")
    browser.fill("/answer", part=["8", "no insect", "", 'say "so"'])
    assert "This gap is still empty: 3." in text_of(browser.page)
    assert 'value="say &#34;so&#34;"' in browser.page.text
    assert selected(browser.page) == ["no insect"]
    browser.fill("/answer", part=["many", "no insect", "x", "so"])
    assert "In gap 1 we cannot read “many” as a number." in text_of(browser.page)
    browser.fill("/answer", part=["", "", "", ""])
    assert "Please fill in the gaps." in text_of(browser.page)


def test_practice_marks_each_part(app, database):
    browser = at(app, give(database, BANK, RULES, mode="practice"))
    browser.fill("/answer", entry="true")
    assert "Your answer True The right answer False" in text_of(browser.page)
    browser.go("/take/1")
    browser.fill("/answer", part=["amphibian", "insect", "amphibian"])
    assert "Partly right." in text_of(browser.page)
    assert "frog – amphibian ✓ (right) <cat> – insect ✗ (not right)" in text_of(browser.page)
    assert "The right answer frog – amphibian <cat> – mammal newt – amphibian" in text_of(browser.page)
    browser.go("/take/1")
    browser.fill("/answer", **placed(browser.page, ["two", "one", "three"]))
    assert "two ✗ (not right) one ✗ (not right) three ✓ (right)" in text_of(browser.page)


def test_the_same_form_sent_twice_counts_once(app, database):
    browser = at(app, give(database, BANK, RULES), "truth")
    page = browser.page
    browser.fill("/answer", part=KEYS["match"])
    browser.page = page
    browser.fill("/answer", part=KEYS["match"])
    assert (browser.step, "did not count" in browser.page.text) == (3, False)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "ordering", "options": ["one", "two", "three"]},
        {"kind": "ordering", "options": ["1", "2", "3"]},  # an order that means something in a choice is the key here
        {"kind": "matching", "pairs": {"a": "1", "b": "2", "c": "3"}},
    ],
)
def test_the_order_is_drawn_from_the_seed_whatever_the_bank_s_is(fields):
    def orders(options):
        document = {"skills": {"s": {}}, "questions": {"Q": {"skill": "s", "difficulty": "easy", **fields, "options": options}}}
        return [option_order(seed, qs.Bank(document).questions["Q"]) for seed in range(60)]

    options = fields.get("options", ["1", "2", "3"])
    assert len(set(orders(options))) == 6
    assert orders(options) == orders(options[::-1])


def test_statistics_tell_of_each_part_how_often_it_was_right(app, database):
    code = give(database, BANK, RULES)
    for entry in (["amphibian", "insect", "amphibian"], ["amphibian", "mammal", "insect"], ["amphibian", "insect", "mammal"]):
        at(app, code, "truth").fill("/answer", part=entry)
    with database.read() as work:
        test = work.scalars(select(Published)).one()
        given = [line for line in answers.given(work, test) if line.question == "match"]
    found = tally(BANK, BANK.questions["match"], given, {})
    assert [(part.name, part.right, part.count) for part in found.parts] == [("frog", 3, 3), ("<cat>", 1, 3), ("newt", 1, 3)]
    assert found.parts[1].others == (("insect", 2),)
    assert found.options == ()


def test_a_text_with_gaps_is_safe():
    question = BANK.questions["gaps"]
    made = gapped(qs.Bank({**BANK.document}).questions["gaps"], ["<1>", "<2>", "<3>", "<4>"])
    assert question.with_blanks == "A *spider* has [1 …] legs and is [2 …], not $x[3 …]$ [4 …]."
    assert made.startswith("<p>A <em>spider</em> has <1> legs")
    assert made.endswith("<p>&lt;3&gt;</p>")


# Corrections after publishing


@pytest.fixture
def signed_in(app, database):
    """The owner's browser, and a test of which each question was answered once as the key says."""
    at(app, give(database, BANK, RULES), *KEYS)
    with database.work() as work:
        cookie = teachers.log_in(work, teachers.owner(work, "owner@school.example"))
    browser = Browser(app)
    browser.client.cookies.set("teacher", cookie)
    return browser


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("truth", {"right": "true"}, "Correct the key : True"),
        ("match", {"part": ["amphibian", "insect", "amphibian"]}, "frog – amphibian; <cat> – insect; newt – amphibian"),
        ("order", {"part": ["two", "one", "three"]}, "two; one; three"),
        ("gaps", {"part": ["9\r\n10", "no insect", "x", "so"]}, "9 / 10; no insect; x; so"),
    ],
)
def test_a_key_is_put_right_after_publishing(signed_in, database, name, fields, words):
    assert "Right at present:" in text_of(signed_in.go(f"/teacher/tests/1/correct/{name}"))
    signed_in.fill(f"/correct/{name}", act="key", **fields)
    assert words in text_of(signed_in.page).replace(" :", ":").replace("Correct the key:", "Correct the key :")
    assert "Fewer points: 1 attempt" in text_of(signed_in.page)
    asked = {"act": "key", "seen": "0", "sure": "yes", "note": "", **fields}
    signed_in.fill(f"/correct/{name}", **asked)
    assert signed_in.path == "/teacher/tests/1"
    with database.read() as work:
        changed = publishing.open_bank(work.scalars(select(Published)).one().bank).questions[name]
        assert changed.classify(KEYS[name]) != changed.classes[-1]


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("truth", {"right": ["true", "false"]}, "true or false is expected, got both"),
        ("match", {"part": ["amphibian", "bird", "amphibian"]}, "an option of the question, got bird"),
        ("match", {"part": ["amphibian"]}, "a right answer for each of frog | <cat> | newt is expected"),
        ("match", {"part": KEYS["match"]}, "another key than before is expected"),
        ("order", {"part": ["one", "one", "two"]}, "each is listed once, got one | one | two"),
        ("gaps", {"part": ["many", "no insect", "x", "so"]}, "a number question accepts numbers"),
        ("gaps", {"part": ["", "no insect", "x", "so"]}, "a right answer for each of"),
    ],
)
def test_a_key_that_is_none_is_refused_in_words(signed_in, name, fields, words):
    signed_in.go(f"/teacher/tests/1/correct/{name}")
    signed_in.fill(f"/correct/{name}", act="key", **fields)
    assert signed_in.page.status_code == 400
    assert words.lower() in text_of(signed_in.page).lower()


def test_the_pages_of_the_teacher_show_every_part(signed_in):
    questions = text_of(signed_in.go("/teacher/tests/1/questions"))
    assert "Part by part Part Right Given instead frog 1 / 1" in questions
    assert "Gap 1 1 / 1" in questions
    assert "False right 1" in questions
    assert "Right: one two three" in text_of(signed_in.go("/teacher/banks/1"))
    assert "frog – amphibian <cat> – mammal newt – amphibian" in text_of(signed_in.page)
    assert "frog – amphibian" in text_of(signed_in.go("/teacher/tests/1/takers/1"))


def test_what_was_typed_into_a_gap_is_erased(app, database):
    at(app, give(database, BANK, RULES, keep_days=1), *KEYS)
    with database.work() as work:
        assert [privacy.erase_names(work, test, clock.now() + timedelta(days=3)) for test in privacy.forgetful(work)] == [1]
    with database.read() as work:
        kept = dict(work.execute(select(Event.question, Event.entry)).all())
    assert kept["gaps"] is None
    assert kept["order"] == '["one", "two", "three"]'
