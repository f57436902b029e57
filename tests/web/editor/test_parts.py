"""True or false, pairs, orders and gaps in the editor: forms without JavaScript say back what they show, and what is typed is kept."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from helpers.browsing import application
from helpers.editor_pages import fields_of, latest, put, sign_in, text_of
from helpers.strategies import entries
from quaestor.web.editor import part_form

KINDS = ("truefalse", "matching", "ordering", "gaps")


SKILL = {"quaestor": 2, "title": "T", "skills": {"s": {}}, "questions": {"Q": {"skill": "s", "text": "?", "difficulty": "easy"}}}
KEY = ("kind", "options", "pairs", "gaps", "correct", "text")


@given(entries(["wrong", "right"]).filter(lambda entry: entry.get("kind") in KINDS), st.booleans())
def test_a_form_says_back_what_it_shows(entry, shared):
    """Untouched it is the same entry; written anew it means the same. `shared`: a template says it."""
    template = entry if shared else {}
    own = {"skill": "s", "right": [0.4, 0.9], **({"template": "t", "text": entry.get("text", "?")} if shared else entry)}
    question = qs.Bank({**SKILL, "templates": {"t": template}, "questions": {"Q": own}}).questions["Q"]
    form = part_form.question_form(own, template)
    texts = {field: value for field, value in form.items() if isinstance(value, str)}
    untouched, problems = part_form.read_question(texts, form["options"], form["skills"], template, own, form["parts"])
    assert problems == []
    assert {field: untouched.get(field) for field in KEY} == {field: own.get(field) for field in KEY}
    anew = part_form.read_question(texts, form["options"], form["skills"], template, {}, form["parts"])[0]
    again = qs.Bank({**SKILL, "templates": {"t": template}, "questions": {"Q": anew}}).questions["Q"]
    assert again.correct == question.correct
    assert [(part.name, part.accept, set(part.options)) for part in again.parts] == [
        (part.name, part.accept, set(part.options)) for part in question.parts
    ]


TYPED = {
    "truefalse": ({"truth": "false"}, {"correct": "false"}),
    "matching": (
        {"left": ["frog", "cat", ""], "belongs": ["wet", "dry", ""], "others": "hot\r\n\r\n cold "},
        {"pairs": {"frog": "wet", "cat": "dry"}, "options": ["wet", "dry", "hot", "cold"]},
    ),
    "ordering": ({"items": "one\r\ntwo | a\r\nthree; b"}, {"options": ["one", "two | a", "three; b"]}),
    "gaps": (
        {
            "text": "A [[1]] has [[legs]] [[w]].",
            "gap_name": ["1", "legs", "w"],
            "gap_kind": ["choice", "number", "text"],
            "gap_right": ["fly", "6", "legs\r\nfeet"],
            "gap_options": ["fly\r\ncow", "", ""],
            "gap_tolerance": ["", "0.5", ""],
        },
        {
            "gaps": {
                "1": {"options": ["fly", "cow"], "correct": "fly"},
                "legs": {"kind": "number", "correct": "6", "tolerance": "0.5"},
                "w": {"kind": "text", "correct": "legs", "accept": ["feet"]},
            }
        },
    ),
}


@pytest.fixture
def kept(make_database):
    return make_database("sqlite")


@pytest.fixture
def browser(kept):
    return sign_in(application(kept), kept)


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_of_each_kind_is_written_shown_and_saved_again(browser, kept, kind):
    home = put(kept, SKILL)
    browser.go(f"{home}/questions/Q")
    typed, said = TYPED[kind]
    browser.page = browser.client.post(f"{home}/questions/Q", data={**fields_of(browser.page, "/questions/Q"), "kind": kind, **typed})
    version, document = latest(kept, home)
    entry = document["questions"]["Q"]
    assert (version, entry["kind"]) == (2, kind)
    assert {name: entry[name] for name in said} == said
    qs.Bank(document)
    page = browser.go(f"{home}/questions/Q")
    assert re.search(rf'data-when-kind="{kind}">', page.text)  # shown without any script; those of other kinds are not
    assert page.text.count('" hidden>') == len(KINDS) - 1
    browser.page = browser.client.post(f"{home}/questions/Q", data=fields_of(page, "/questions/Q"))
    assert latest(kept, home) == (2, document)


def test_what_is_wrong_with_a_part_is_said_and_what_was_typed_is_kept(browser, kept):
    home = put(kept, SKILL)
    page = browser.go(f"{home}/questions/Q")
    typed = {"kind": "matching", "left": ["frog", "frog"], "belongs": ["wet", "<dry>"], "others": "x", "check": "yes"}
    browser.page = browser.client.post(f"{home}/questions/Q", data={**fields_of(page, "/questions/Q"), **typed})
    assert "each is listed once" in text_of(browser.page).lower()
    assert 'value="&lt;dry&gt;"' in browser.page.text
    assert latest(kept, home)[0] == 1


def test_gaps_that_stand_in_the_text_get_rows(browser, kept):
    home = put(kept, SKILL)
    page = browser.go(f"{home}/questions/Q")
    typed = {"kind": "gaps", "text": "A [[one]] and a [[two]].", "check": "yes"}
    browser.page = browser.client.post(f"{home}/questions/Q", data={**fields_of(page, "/questions/Q"), **typed})
    assert re.findall(r'name="gap_name" class="small" value="([^"]+)"', browser.page.text) == ["one", "two"]
