"""Improving a bank from its own answers: proposals in the background, accepted one by one, a new version."""

import re

import numpy as np
import pytest
from benches import sign_in, text_of
from browsing import application

import quaestor as qs
from quaestor.store import drafts, jobs, publishing, teachers
from quaestor.store.attempts import answer, enter, sitting
from quaestor.web.working import work_off

STATED = qs.Bank(
    {
        "title": "Sums",
        "skills": {"adding": {"prior": [0.5, 0.5]}},
        "questions": {
            name: {"text": f"Question {name}?", "options": ["good", "bad"], "correct": "good", "skill": "adding", "right": [0.3, 0.7]}
            for name in ("easy", "hard", "other", "more")
        },
    }
)


@pytest.fixture
def kept(make_database):
    return make_database("sqlite")


def taken(database, people=40):
    """A test taken by people of whom half can add; `easy` is right for nearly all of them, whatever the bank says."""
    rng = np.random.default_rng(5)
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        frozen = publishing.keep_bank(work, owner, STATED)
        test = publishing.publish(work, owner, frozen, qs.Rules(score="order"), publishing.Conditions())
        drafts.begin_draft(work, owner, STATED.document, "for the test")
        for number in range(people):
            attempt = enter(work, test.code, f"Person {number}")
            can = number % 2
            for step in range(1, 5):
                name = sitting(work, attempt).session.next.id
                chance = {"easy": 0.97, "hard": 0.1 + 0.3 * can}.get(name, 0.15 + 0.75 * can)
                answer(work, attempt, step, "good" if rng.random() < chance else "bad")
    return test


def learnt(browser, database, **fields):
    """Ask for proposals and have them worked out; the page that shows them."""
    browser.go("/desk/drafts/1/improve")
    browser.fill("/improve", weight="little", **fields)
    assert browser.page.status_code == 200
    with database.work() as work:
        number = jobs.claim(work, "worker")
    work_off(database, number, "worker")
    return browser.go(browser.path)


def test_proposals_are_accepted_one_by_one(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    page = learnt(browser, kept, test="1")
    said = text_of(page)
    assert "Learnt from 160 answers of 40 people." in said
    assert "Proposed, from 40 answers" in said
    assert {"questions.easy", "questions.hard"} <= set(re.findall(r'name="accept" value="([^"]+)"', page.text))
    browser.fill(browser.path.rpartition("/")[2], accept="questions.easy")
    assert "accepted" in text_of(browser.page)
    with kept.read() as work:
        draft = drafts.drafts_of(work, teachers.by_email(work, "owner@school.example"))[0]
        bank = qs.Bank(drafts.document_of(drafts.edition(work, draft)))
    assert draft.head == 2
    assert bank.questions["easy"].table.lower[0, 1] > 0.85
    assert bank.questions["hard"].table == STATED.questions["hard"].table


def test_what_was_edited_meanwhile_stays(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    page = learnt(browser, kept, test="1")
    with kept.work() as work:
        owner = teachers.by_email(work, "owner@school.example")
        draft = drafts.draft_of(work, owner, 1)
        drafts.change(work, draft, owner, 1, ("questions", "easy", "text"), "Edited?", "edited")
    browser.page = page
    browser.fill(browser.path.rpartition("/")[2], accept=["questions.easy", "questions.hard"])
    assert "It was edited since" in text_of(browser.page)
    with kept.read() as work:
        document = drafts.document_of(drafts.edition(work, drafts.draft_of(work, owner, 1)))
    assert document["questions"]["easy"] == {**STATED.document["questions"]["easy"], "text": "Edited?"}
    assert "table" in document["questions"]["hard"]


def test_intervals_are_proposed_on_demand(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    page = learnt(browser, kept, test="1", intervals="yes")
    assert re.search(r"\d+ to \d+ %", text_of(page))


def test_too_few_people(kept):
    taken(kept, people=3)
    browser = sign_in(application(kept), kept)
    assert "Answers of at least 10 people are needed, got 3." in text_of(learnt(browser, kept, test="1"))


def test_no_answers_and_nothing_chosen(kept):
    with kept.work() as work:
        drafts.begin_draft(work, teachers.owner(work, "owner@school.example"), STATED.document, "begun")
    browser = sign_in(application(kept), kept)
    assert "No test of yours has answers to these questions yet." in text_of(browser.go("/desk/drafts/1/improve"))
    taken(kept, people=10)
    browser.go("/desk/drafts/1/improve")
    browser.fill("/improve", weight="little")
    assert browser.page.status_code == 400
    assert "Please choose at least one test." in text_of(browser.page)
    assert browser.go("/desk/drafts/1/improve/99").status_code == 404
