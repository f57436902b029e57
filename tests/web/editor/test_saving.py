"""Nothing is lost by saving: forms that nobody touched, ids that are taken, two at the same fields, and what is said afterwards."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from helpers.browsing import application
from helpers.editor_pages import copied, fields_of, latest, put, share, sign_in, text_of
from quaestor.errors import Problem, format_place
from quaestor.formats.files import bundled_banks
from quaestor.web.editor import part_form
from quaestor.web.editor.check import part_of

# Other classes than wrong and right, templates that say half of a question, and statements that forms have no fields for.
SKILLS = {"a": {"levels": ["no", "yes"], "prior": [0.4, 0.6]}, "b": {"levels": ["no", "yes"], "prior": [0.5, 0.5]}}
TABLE = {"no, no": [0.9, 0.1], "no, yes": [0.6, 0.4], "yes, no": [0.3, 0.7], "yes, yes": [0.1, 0.9]}
TWO = {"no": [0.8, 0.2], "yes": [0.1, 0.9]}
GRADED = {"no": [0.7, 0.2, 0.1], "yes": [0.1, 0.2, 0.7]}
GERMAN = ["falsch", "richtig"]
TEMPLATES = {
    "graded": {"classes": ["wrong", "half", "right"], "table": GRADED},
    "german": {"classes": GERMAN, "table": TWO},
    "number": {"kind": "number", "tolerance": "0.5", "difficulty": "easy", "discrimination": "fair"},
    "truth": {"options": ["true", "false"], "right": [0.2, 0.8], "skill": "a"},
    "pilot": {"pilot": True, "needs": "any", "slip": 0.1, "guess": 0.2},
}
ENTRIES = {
    "ticks": {"kind": "choices", "options": ["x", "y", "z"], "correct": ["x", "z"], "classes": GERMAN, "skill": "a", "table": TWO},
    "key": {"options": ["x", "y"], "correct": "y", "classes": GERMAN, "skill": "a", "table": TWO},
    "map": {"options": {"x": "falsch", "y": "richtig"}, "classes": GERMAN, "skill": "a", "table": TWO},
    "several": {"options": {"x": "right", "y": "right", "z": "wrong"}, "skill": "a", "right": [0.2, 0.9]},
    "both": {"options": {"x": "right", "y": "right", "z": "wrong"}, "correct": "y", "skill": "a", "right": [0.2, 0.9]},
    "half": {"template": "graded", "options": {"x": "half", "y": "right", "z": "wrong"}, "skill": "a"},
    "half_list": {"template": "graded", "options": ["x", "y"], "correct": "x", "skill": "a"},
    "half_ticks": {"template": "graded", "kind": "choices", "options": ["x", "y"], "correct": ["x"], "skill": "a"},
    "german": {"template": "german", "options": ["x", "y"], "correct": "x", "skill": "a"},
    "german_sure": {"template": "german", "options": ["x", "y"], "correct": "x", "skill": "a", "confidence": "sure"},
    "number": {"template": "number", "correct": "5", "accept": ["5.0", "10/2"], "skill": "a"},
    "truth": {"template": "truth", "text": "True or false: 1 = 1?", "correct": "true"},
    "no_pilot": {"template": "pilot", "pilot": False, "options": ["x", "y"], "correct": "x", "skills": ["b", "a"]},
    "turned": {"options": ["x", "y"], "correct": "x", "skills": ["b", "a"], "table": TABLE},
    "one_of_one": {"options": ["x", "y"], "correct": "x", "skills": ["a"], "right": [0.2, 0.9]},
    "plain_kind": {"kind": "choice", "options": ["x", "y"], "correct": "x", "skill": "a", "irt": {"a": 1, "b": 0}},
    "arrow": {"kind": "text", "correct": "x", "accept": ["x -> y", "z"], "skill": "a", "right": [0.2, 0.9]},
    "on_paper": {"skill": "a", "classes": ["bad", "fair", "good"], "template": "graded"},
}
SPECIAL = {"quaestor": 1, "title": "Special", "skills": SKILLS, "templates": TEMPLATES, "questions": ENTRIES}


@pytest.fixture
def app(database):
    return application(database)


def test_the_special_bank_has_no_faults():
    assert qs.Bank(SPECIAL).questions["half"].option_classes["x"] == "half"


def shown_and_read(document, section, key):
    """An entry, and what its form says when nobody touches it."""
    entry = document[section][key]
    if section == "skills":
        form = part_form.skill_form(entry)
        return entry, *part_form.read_skill(_texts(form), form["parents"], entry)
    template = document.get("templates", {}).get(entry.get("template"), {})
    form = part_form.question_form(entry, template)
    fields = _texts(form) | ({"pilot": "yes"} if form["pilot"] else {})
    skills = [name for name in document["skills"] if name in form["skills"]]  # boxes are ticked in the order of the bank
    return entry, *part_form.read_question(fields, form["options"], skills, template, entry, form["parts"])


def _texts(form):
    return {field: value for field, value in form.items() if isinstance(value, str)}


@pytest.mark.parametrize("document", [SPECIAL, *(qs.load(name).document for name in bundled_banks())], ids=lambda one: one["title"])
def test_forms_say_back_what_they_show(document):
    document = qs.Bank(document).document
    for section in ("skills", "templates", "questions"):
        for key in document.get(section, {}):
            entry, read, problems = shown_and_read(document, section, key)
            assert not problems
            assert part_form.normal(document, section, key, read) == entry, key


OPTIONS = st.lists(st.sampled_from(["x", "y", "True", "1 | 2", "a -> b"]), min_size=2, max_size=4, unique=True)


@st.composite
def keyed(draw):
    """A choice with a key of any kind: a list with the correct ones, or a map to two or three classes, its own or its template's."""
    classes = draw(st.sampled_from([["wrong", "right"], GERMAN, ["no", "partly", "yes"]]))
    options, kind = draw(OPTIONS), draw(st.sampled_from(["choice", "choices"]))
    entry = {"skill": "a", "template": "t"}
    if kind == "choices":
        entry |= {"kind": kind, "options": options, "correct": draw(st.lists(st.sampled_from(options), min_size=1, unique=True))}
        entry["correct"].sort(key=options.index)
    elif draw(st.booleans()):
        entry |= {"options": options, "correct": draw(st.sampled_from(options))}
    else:
        entry["options"] = {option: draw(st.sampled_from(classes)) for option in options} | {options[0]: classes[-1]}
    template = {"irt": {"a": 1, "b": [0, 1][: len(classes) - 1]}}
    (entry if draw(st.booleans()) else template)["classes"] = classes
    return {"skills": SKILLS, "templates": {"t": template}, "questions": {"Q": entry}}


@given(keyed())
def test_any_key_comes_back(document):
    entry, read, problems = shown_and_read(document, "questions", "Q")
    assert (read, problems) == (entry, [])
    without = part_form.read_question(*_sent(document))[0]  # as a new question, which was never seen before
    assert _key(document, without) == _key(document, entry)


def _sent(document):
    entry, template = document["questions"]["Q"], document["templates"]["t"]
    form = part_form.question_form(entry, template)
    return _texts(form), form["options"], form["skills"], template


def _key(document, entry):
    fields = {**document["templates"]["t"], **entry}
    rows = part_form.rows_of(fields, part_form.classes_of(fields, {}))
    return fields.get("kind", "choice"), rows


def test_saving_an_untouched_page_is_no_version(app, database):
    browser = sign_in(app, database)
    document = qs.Bank(SPECIAL).document
    home = put(database, document)
    for key in ENTRIES:
        page = browser.go(f"{home}/questions/{key}")
        browser.page = browser.client.post(f"{home}/questions/{key}", data=fields_of(page, f"/questions/{key}"))
        assert browser.page.status_code == 200
        assert latest(database, home) == (1, document), key
        assert "Nothing was changed: version 1 stays the latest." in text_of(browser.page)


def test_classes_that_get_other_names_keep_the_key(app, database):
    browser = sign_in(app, database)
    home = put(database, SPECIAL)
    page = browser.go(f"{home}/questions/half")
    sent = {**fields_of(page, "/questions/half"), "classes": "falsch | halb | richtig"}
    browser.client.post(f"{home}/questions/half", data=sent)
    assert latest(database, home)[1]["questions"]["half"]["options"] == {"x": "halb", "y": "richtig", "z": "falsch"}


def test_a_copy_of_a_question_has_its_table_the_same_way_round(app, database):
    browser = sign_in(app, database)
    home = put(database, SPECIAL)
    page = browser.go(f"{home}/questions/~new?copy=turned")
    browser.client.post(f"{home}/questions/~new", data={**fields_of(page, "/questions/~new"), "id": "again"})
    questions = latest(database, home)[1]["questions"]
    assert questions["again"] == qs.Bank(SPECIAL).document["questions"]["turned"]


NEW = {"text": "Mine", "kind": "text", "correct": "2", "skills": "multiplication", "way": "words", "difficulty": "easy"}


def test_a_new_entry_never_takes_the_place_of_another(app, database):
    first, second = sign_in(app, database), sign_in(app, database)
    home = copied(first, "multiplication")
    for browser in (first, second):
        browser.go(f"{home}/questions/~new")
    free = re.search(r'id="id" name="id"[^>]*value="([^"]*)"', first.page.text)[1]
    first.fill("/questions/~new", **NEW, id=free)
    for _ in range(2):  # however often it is tried
        second.go(f"{home}/questions/~new")
        second.fill("/questions/~new", **{**NEW, "text": "Another"}, id=free)
        assert second.page.status_code == 409
        assert f"This short name is taken: “{free}”" in text_of(second.page)
        assert ">Another</textarea>" in second.page.text
        assert 'data-unsaved="yes"' in second.page.text
    assert latest(database, home)[1]["questions"][free]["text"] == "Mine"
    proposed = fields_of(second.page, "/questions/~new")["id"][0]
    second.fill("/questions/~new", **{**NEW, "text": "Another"}, id=proposed)
    questions = latest(database, home)[1]["questions"]
    assert (questions[free]["text"], questions[proposed]["text"]) == ("Mine", "Another")
    second.go(f"{home}/skills/~new")
    second.fill("/skills/~new", id="multiplication", title="Other")
    assert second.page.status_code == 409
    assert "title" not in latest(database, home)[1]["skills"]["multiplication"] or (
        latest(database, home)[1]["skills"]["multiplication"]["title"] != "Other"
    )


def test_the_same_new_entry_sent_twice_is_one(app, database):
    browser = sign_in(app, database)
    home = copied(browser, "multiplication")
    page = browser.go(f"{home}/questions/~new")
    for _ in range(2):
        browser.page = page
        assert browser.fill("/questions/~new", **NEW, id="twice").status_code == 200
        assert browser.path == f"{home}/questions/twice"
    assert latest(database, home)[0] == 2


def test_another_name_is_not_that_of_another_entry(app, database):
    browser = sign_in(app, database)
    home = copied(browser, "multiplication")
    before = latest(database, home)
    page = browser.go(f"{home}/questions/Q1")
    browser.page = browser.client.post(f"{home}/questions/Q1", data={**fields_of(page, "/questions/Q1"), "id": "Q2"})
    assert browser.page.status_code == 409
    assert "This short name is taken: “Q2”" in text_of(browser.page)
    assert latest(database, home) == before


def test_what_cannot_be_read_is_shown_as_it_was_typed(app, database):
    browser = sign_in(app, database)
    home = copied(browser, "multiplication")
    browser.go(f"{home}/questions/~new")
    browser.fill("/questions/~new", **{**NEW, "way": "shares", "right": "{oops"}, option=["7", "7"], id="typed")
    assert browser.page.status_code == 400
    assert fields_of(browser.page, "/questions/~new")["right"] == ["{oops"]
    browser.fill("/questions/~new", **{**NEW, "kind": "choice"}, option=["7", "7"], id="typed")
    assert browser.page.status_code == 400
    assert fields_of(browser.page, "/questions/~new")["option"][:2] == ["7", "7"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("dificulty: easy", "Unknown field. statement : found 'dificulty' (did you mean 'difficulty'?)"),
        ("text: What?\nright: [0.1, 0.9]", "Unknown field. statement : found 'text'"),
        ("- easy", "A map of fields is expected."),
    ],
)
def test_what_is_written_out_and_not_known_is_a_problem(app, database, typed, said):
    browser = sign_in(app, database)
    home = copied(browser, "multiplication")
    browser.go(f"{home}/questions/~new")
    browser.fill("/questions/~new", **{**NEW, "way": "written", "statement": typed}, id="typed")
    assert browser.page.status_code == 400
    assert said in text_of(browser.page)
    assert fields_of(browser.page, "/questions/~new")["statement"] == [typed.replace("\n", "\r\n")]


def test_two_at_the_fields_of_a_bank(app, database):
    first, second = sign_in(app, database), sign_in(app, database, "second@school.example")
    home = copied(first, "multiplication")
    share(first, home)
    pages = [browser.go(home) for browser in (first, second)]
    theirs, mine = (fields_of(page, "/fields") for page in pages)
    assert first.client.post(f"{home}/fields", data={**theirs, "title": "From the first", "author": "First"}).status_code == 200
    second.page = second.client.post(f"{home}/fields", data={**mine, "title": "From the second", "licence": "CC0"})
    assert second.page.status_code == 409
    said = text_of(second.page)
    assert "owner@school.example changed this while you were writing." in said
    assert "title From the first From the second" in said
    shown = fields_of(second.page, "/fields")
    assert [shown[name][0] for name in ("title", "author", "licence")] == ["From the second", "First", "CC0"]
    assert latest(database, home)[1]["title"] == "From the first"
    assert second.client.post(f"{home}/fields", data=shown).status_code == 200
    document = latest(database, home)[1]
    assert [document[name] for name in ("title", "author", "licence")] == ["From the second", "First", "CC0"]


def test_two_at_different_fields_lose_nothing(app, database):
    first, second = sign_in(app, database), sign_in(app, database)
    home = copied(first, "multiplication")
    pages = [browser.go(home) for browser in (first, second)]
    for browser, page, name in zip((first, second), pages, ("author", "licence"), strict=True):
        assert browser.client.post(f"{home}/fields", data={**fields_of(page, "/fields"), name: name}).status_code == 200
    document = latest(database, home)[1]
    assert (document["author"], document["licence"]) == ("author", "licence")
    page = first.go(home)
    said = text_of(first.client.post(f"{home}/fields", data=fields_of(page, "/fields")))
    assert "Nothing was changed: version 3 stays the latest." in said


def test_a_conflict_names_who_changed_this_very_part(app, database):
    first, second = sign_in(app, database), sign_in(app, database, "second@school.example")
    third = sign_in(app, database, "third@school.example")
    home = copied(first)
    share(first, home)
    share(first, home, "third@school.example")
    seen = first.go(f"{home}/questions/P1")
    mine = {**fields_of(seen, "/questions/P1"), "text": "From the first"}
    for browser, question in ((second, "P1"), (third, "P2"), (first, "P3")):
        page = browser.go(f"{home}/questions/{question}")
        browser.client.post(f"{home}/questions/{question}", data={**fields_of(page, f"/questions/{question}"), "text": "Theirs"})
    page = first.client.post(f"{home}/questions/P1", data=mine)
    assert "second@school.example changed this while you were writing." in text_of(page)
    page = first.client.post(
        f"{home}/questions/P3", data={**fields_of(first.go(f"{home}/questions/P3"), "/questions/P3"), "seen": "1", "text": "x"}
    )
    assert "You changed this in another window while you were writing." in text_of(page)


def test_a_save_is_said_once(app, database):
    browser = sign_in(app, database)
    home = copied(browser, "multiplication")
    browser.go(f"{home}/questions/~new")
    browser.fill("/questions/~new", **NEW, id="said")
    assert browser.path == f"{home}/questions/said"
    assert '<p class="hint" role="status">Saved as version 2.</p>' in browser.page.text
    assert "Saved as version" not in browser.go(f"{home}/questions/said").text
    browser.fill("/questions/said", drop="yes")
    assert "Saved as version 3." in browser.page.text
    browser.client.cookies.set("saved", "1.99999.new")
    assert "Saved as" not in browser.go(home).text


ODD = {
    "quaestor": 1,
    "title": "Ids with dots",
    "skills": {"a": {"levels": ["no", "yes"]}, "ab": {"levels": ["no", "yes"]}},
    "questions": {
        "1": {"text": "One", "skill": "a", "right": [0.3, 0.9], "options": ["x", "y"], "correct": "x"},
        "1.2": {"text": "Two", "skill": "a", "right": [0.2, 9], "options": ["x", "y"], "correct": "x"},
        "3[0]": {"text": "Three", "skill": "a", "right": [0.5, 0.5], "options": ["x", "y"], "correct": "x"},
    },
}


def test_places_are_those_of_the_part_they_name(app, database):
    browser = sign_in(app, database)
    home = put(database, ODD)
    page = browser.go(home)
    assert re.search(rf'<p class="hint"><a href="{home}/questions/1\.2">', page.text)
    assert re.findall(r'<span class="tag">([^<]*)</span>.*?(?:look here|</li>)', browser.go(f"{home}/questions?faults=yes").text, re.S) == [
        "1.2"
    ]
    assert "To look at" in text_of(browser.go(f"{home}/questions/1.2"))
    assert "To look at" not in text_of(browser.go(f"{home}/questions/1"))


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        (("skills", "ab", "prior"), ("skills", "ab", "prior")),
        (("skills", "a"), ("skills", "a", "")),
        (("questions", "1", "right", 0), ("questions", "1", "right[0]")),
        (("questions", "1", "2", "right", 0), ("questions", "1", "2.right[0]")),
        (("questions", "1.2", "right", 0), ("questions", "1.2", "right[0]")),
        (("questions", "3[0]"), ("questions", "3[0]", "")),
        (("questions", "9", "right"), None),
        (("skills",), None),
        (("title",), None),
        ((), None),
    ],
)
def test_a_problem_belongs_to_the_part_that_its_path_names(path, owner):
    assert part_of(Problem(format_place(path), "rule", "value", path=path), ODD) == owner
