"""Improving a bank from its own answers: proposals in the background, accepted one by one, a new version."""

import re
from datetime import timedelta

import numpy as np
import pytest

import quaestor as qs
from helpers.browsing import PICTURE, application
from helpers.editor_pages import sign_in, text_of
from quaestor.i18n import unpacked
from quaestor.store import clock, drafts, job_queue, publishing, sharing, teachers
from quaestor.store.attempts.answers import usable
from quaestor.store.attempts.taking import answer, enter, state_of
from quaestor.store.models import Published
from quaestor.web.jobs.worker import work_off
from quaestor.web.render.language import catalogue

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
                name = state_of(work, attempt).session.next.id
                chance = {"easy": 0.97, "hard": 0.1 + 0.3 * can}.get(name, 0.15 + 0.75 * can)
                answer(work, attempt, step, "good" if rng.random() < chance else "bad")
    return test


def learnt(browser, database, **fields):
    """Ask for proposals and have them worked out; the page that shows them."""
    browser.go("/teacher/drafts/1/improve")
    browser.fill("/improve", weight="little", **fields)
    assert browser.page.status_code == 200
    with database.work() as work:
        number = job_queue.claim(work, "worker")
    work_off(database, number, "worker")
    return browser.go(browser.path)


def ticks(page):
    return set(re.findall(r'name="proposal" value="([^"]+)"', page.text))


def parts(page):
    """What stands on the page before, in and after the small ones: open proposals, small ones, refused ones."""
    found = {"open": set(), "small": set(), "refused": set()}
    for summary, inside in re.findall(r"<details[^>]*><summary>([^<]*)</summary>(.*?)</details>", page.text, re.S):
        if "ways to learn" in summary:
            continue
        found["refused" if "refused" in summary else "small"] = set(re.findall(r'name="proposal" value="([^"]+)"', inside))
    found["open"] = ticks(page) - found["small"] - found["refused"]
    return found


def notes(database):
    with database.read() as work:
        draft = sharing.draft_for(work, teachers.by_email(work, "owner@school.example"), 1)
        return [drafts.edition(work, draft, number).note for number in range(1, draft.head + 1)]


def decide(browser, act, *names):
    browser.fill(browser.path.rpartition("/")[2], proposal=list(names), act=act)
    assert browser.page.status_code == 200
    return parts(browser.page)


def test_proposals_are_accepted_one_by_one(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    page = learnt(browser, kept, test="1")
    said = text_of(page)
    assert "Learnt from 160 answers of 40 people." in said
    assert re.search(r"Why these numbers: \d+ ways to learn, tried on people held out", said)
    assert page.text.count('<span class="tag right">taken</span>') == 1
    assert "Proposed, from 40 answers" in said
    assert "On the whole the bank " in said
    assert "How well the bank fits, in numbers" in said
    assert {"questions.easy", "questions.hard"} <= ticks(page)
    browser.fill(browser.path.rpartition("/")[2], proposal="questions.easy", act="accept")
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
        draft = sharing.draft_for(work, owner, 1)
        drafts.change(work, draft, owner, 1, ("questions", "easy", "text"), "Edited?", "edited")
    browser.page = page
    browser.fill(browser.path.rpartition("/")[2], proposal=["questions.easy", "questions.hard"], act="accept")
    assert "It was edited since" in text_of(browser.page)
    with kept.read() as work:
        document = drafts.document_of(drafts.edition(work, sharing.draft_for(work, owner, 1)))
    assert document["questions"]["easy"] == {**STATED.document["questions"]["easy"], "text": "Edited?"}
    assert document["questions"]["hard"]["right"] != STATED.document["questions"]["hard"]["right"]
    assert unpacked(notes(kept)[-1]) == "1 proposal accepted from answers"


def test_intervals_are_proposed_on_demand(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    page = learnt(browser, kept, test="1", intervals="yes")
    assert re.search(r"\d+ to \d+%", text_of(page))


def test_too_few_people(kept):
    taken(kept, people=3)
    browser = sign_in(application(kept), kept)
    assert "Answers of at least 10 people are needed, got 3." in text_of(learnt(browser, kept, test="1"))


def test_no_answers_and_nothing_chosen(kept):
    with kept.work() as work:
        drafts.begin_draft(work, teachers.owner(work, "owner@school.example"), STATED.document, "begun")
    browser = sign_in(application(kept), kept)
    assert "No test of yours has answers to these questions yet." in text_of(browser.go("/teacher/drafts/1/improve"))
    taken(kept, people=10)
    browser.go("/teacher/drafts/1/improve")
    browser.fill("/improve", weight="little")
    assert browser.page.status_code == 400
    assert "Please choose at least one test." in text_of(browser.page)
    assert browser.go("/teacher/drafts/1/improve/99").status_code == 404


def test_refused_proposals_stand_apart_and_can_come_back(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    learnt(browser, kept, test="1")
    before = parts(browser.page)
    assert before["refused"] == set()
    assert decide(browser, "refuse", "questions.easy", "questions.hard")["refused"] == {"questions.easy", "questions.hard"}
    assert "2 proposals were refused" in text_of(browser.page)
    assert parts(browser.go(browser.path))["open"] == before["open"] - {"questions.easy", "questions.hard"}
    assert len(notes(kept)) == 1  # nothing was written to the bank
    found = decide(browser, "open", "questions.easy")
    assert (found["open"] - found["refused"]) >= {"questions.easy"}
    assert found["refused"] == {"questions.hard"}
    found = decide(browser, "accept", "questions.hard")  # a refused one can be accepted at once
    assert found["refused"] == set()
    assert "questions.hard" not in ticks(browser.page)
    assert unpacked(notes(kept)[-1]) == "1 proposal accepted from answers"


def test_small_changes_can_be_accepted_too(kept, monkeypatch):
    monkeypatch.setattr("quaestor.web.editor.improvement.SMALL", 0.2)
    taken(kept)
    with kept.work() as work:
        owner = teachers.by_email(work, "owner@school.example")
        drafts.change(work, sharing.draft_for(work, owner, 1), owner, 1, ("skills", "adding", "prior"), [0.4, 0.6], "another prior")
    browser = sign_in(application(kept), kept)
    small = parts(learnt(browser, kept, test="1"))["small"]
    assert small
    assert f"{len(small)} further table" in text_of(browser.page)
    name = min(small)
    assert name not in {one for found in decide(browser, "accept", name).values() for one in found}


def test_accepting_twice_writes_no_version(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    page = learnt(browser, kept, test="1")
    for _ in range(2):
        browser.page = page
        decide(browser, "accept", "questions.easy")
    assert len(notes(kept)) == 2


def test_warnings_stand_above_the_proposals(kept):
    taken(kept)
    with kept.work() as work:
        owner = teachers.by_email(work, "owner@school.example")
        more = {**STATED.document["questions"]["easy"], "text": "Never asked?"}
        drafts.change(work, sharing.draft_for(work, owner, 1), owner, 1, ("questions", "unasked"), more, "added")
    browser = sign_in(application(kept), kept)
    said = text_of(learnt(browser, kept, test="1"))
    warning = "unasked: to learn a table, answers are needed; it stays as it is, got none"
    assert said.casefold().index(warning) < said.index("Proposed, from")
    browser.client.headers["accept-language"] = "de"
    german = text_of(browser.go(browser.path)).casefold()
    rule = catalogue("de")["to learn a table, answers are needed; it stays as it is"]
    assert f"unasked: {rule}; gefunden: nichts".casefold() in german


IMAGES = {"one.png": PICTURE, "other.png": PICTURE + b" "}
REWRITES = {
    "text": ({"text": "Another question?"}, "text"),
    "options": ({"options": ["good", "bad", "worse"]}, "options"),
    "option": ({"options": ["good", "worse"]}, "options"),
    "key": ({"correct": "bad"}, "key"),
    "kind": ({"kind": "text", "options": None, "accept": ["well"]}, "options, key"),
    "image": ({"media": "one.png"}, "image"),
    "skill": ({"skill": None, "skills": ["adding", "more_adding"], "right": None, "needs": "all", "slip": 0.1, "guess": 0.2}, "skills"),
}


def rewrite(database, changes, images=None):
    """Write other fields of `hard` into the draft."""
    with database.work() as work:
        owner = teachers.by_email(work, "owner@school.example")
        draft = sharing.draft_for(work, owner, 1)
        if images:
            drafts.add_images(work, draft, owner, images)
        entry = {**STATED.document["questions"]["hard"], **changes}
        entry = {name: value for name, value in entry.items() if value is not None}
        drafts.change(work, draft, owner, draft.head, ("questions", "hard"), entry, "rewritten")
        if "more_adding" in entry.get("skills", ()):
            drafts.change(work, draft, owner, draft.head, ("skills", "more_adding"), {"prior": [0.5, 0.5]}, "added")


@pytest.mark.parametrize("case", REWRITES)
def test_answers_to_a_question_that_was_rewritten_are_left_out(kept, case):
    changes, parts_said = REWRITES[case]
    taken(kept)
    rewrite(kept, changes, IMAGES)
    browser = sign_in(application(kept), kept)
    words = f"hard: 40 answers were given to the question as it was before; changed since: {parts_said}"
    said = text_of(browser.go("/teacher/drafts/1/improve"))
    assert "120 answers" in said
    assert "40 answers are left out: 1 question was changed since" in said
    assert words in said
    page = learnt(browser, kept, test="1")
    assert "Learnt from 120 answers of 40 people." in text_of(page)
    assert words in text_of(page)
    assert "questions.hard" not in ticks(page)


@pytest.mark.parametrize("changes", [{"right": [0.1, 0.9]}, {"options": ["bad", "good"]}, {"explanation": "Because.", "minutes": 2}])
def test_answers_to_the_same_question_count_whatever_its_numbers_were(kept, changes):
    taken(kept)
    rewrite(kept, changes)
    page = learnt(sign_in(application(kept), kept), kept, test="1")
    assert "Learnt from 160 answers of 40 people." in text_of(page)
    assert "left out" not in text_of(page)


def test_an_image_is_compared_by_its_content(kept):
    with kept.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        seen = {**STATED.document["questions"]["hard"], "media": "one.png"}
        bank = qs.Bank({**STATED.document, "questions": {"hard": seen}})
        same, other = (publishing.keep_bank(work, owner, bank, {"one.png": content}) for content in IMAGES.values())
        for frozen in (same, other):
            test = publishing.publish(work, owner, frozen, qs.Rules(score="order"), publishing.Conditions())
            answer(work, enter(work, test.code, "Ada"), 1, "good")
        draft = {"one.png": same.media["one.png"]}
        found = [usable(work, [work.get_one(Published, number)], bank, draft) for number in (1, 2)]
    assert [len(one.lines) for one in found] == [1, 0]
    assert found[1].left_out == {"hard": (1, frozenset({"image"}))}


def test_a_test_of_which_nothing_can_be_used_cannot_be_chosen(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    with kept.work() as work:
        owner = teachers.by_email(work, "owner@school.example")
        document = STATED.document
        for name in document["questions"]:
            document["questions"][name]["text"] += " Really?"
        drafts.rewrite(work, sharing.draft_for(work, owner, 1), owner, lambda *_: document, "rewritten")
    page = browser.go("/teacher/drafts/1/improve")
    assert "disabled" in re.search(r'<input[^>]*name="test"[^>]*>', page.text)[0]
    browser.fill("/improve", weight="little", test="1")
    assert "Please choose at least one test." in text_of(browser.page)


def test_who_edits_reads_which_open_tests_keep_the_old_version(kept):
    taken(kept, people=0)
    with kept.work() as work:
        owner = teachers.by_email(work, "owner@school.example")
        frozen = publishing.keep_bank(work, owner, STATED)
        publishing.publish(work, owner, frozen, qs.Rules(), publishing.Conditions(closes=clock.now() - timedelta(days=1)), "Ended")
        publishing.publish(work, owner, publishing.keep_bank(work, owner, qs.load("german")), qs.Rules(), publishing.Conditions(), "German")
    browser = sign_in(application(kept), kept)
    words = "Open tests keep the version that they were published with. What you change here does not reach: Sums"
    for page in ("", "/questions", "/questions/hard", "/skills/adding"):
        said = text_of(browser.go(f"/teacher/drafts/1{page}"))
        assert words in said
        assert "Ended" not in said
        assert "German" not in said
    colleague = sign_in(browser.client.app, kept, "other@school.example")
    with kept.work() as work:
        sharing.share(work, sharing.draft_for(work, owner, 1), teachers.by_email(work, "other@school.example"), sharing.EDIT)
    assert words not in text_of(colleague.go("/teacher/drafts/1"))


def test_words_stay_words_and_numbers_are_short(kept):
    with kept.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        document = {**STATED.document, "quaestor": 2}
        document["questions"] = {
            name: {**{field: value for field, value in entry.items() if field != "right"}, "difficulty": "medium"}
            for name, entry in document["questions"].items()
        }
        drafts.begin_draft(work, owner, document, "in words")
    taken(kept, people=80)
    browser = sign_in(application(kept), kept)
    page = learnt(browser, kept, test="1")
    said = text_of(page)
    assert "right 7 times in 10, someone who has not, 5 in 10. In the file: difficulty: medium" in said
    assert re.search(r"In the file: right: 0\.\d\d? \| 0\.\d\d? ", said)
    browser.fill(browser.path.rpartition("/")[2], proposal=sorted(ticks(page)), act="accept")
    with kept.read() as work:
        document = drafts.document_of(drafts.edition(work, sharing.draft_for(work, owner, 1)))
    numbers = [number for entry in document["questions"].values() for number in entry.get("right", ())]
    assert numbers
    assert all(number == round(number, 2) for number in numbers)
    assert not any("table" in entry for entry in document["questions"].values())


def test_learning_that_takes_too_long_is_ended(kept):
    taken(kept)
    browser = sign_in(application(kept), kept)
    browser.go("/teacher/drafts/1/improve")
    browser.fill("/improve", weight="little", test="1")
    with kept.work() as work:
        number = job_queue.claim(work, "worker")
    work_off(kept, number, "worker", longest=0.0)
    assert "Learning took too long and was ended; please choose fewer tests." in text_of(browser.go(browser.path))
