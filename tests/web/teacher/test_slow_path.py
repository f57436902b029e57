"""A teacher looks at the path of somebody who took a test whose steps take long."""

import pytest

import quaestor as qs
from helpers.browsing import enter, give
from helpers.slow_banks import slow_document
from helpers.teacher_pages import freeze, put_bank
from quaestor.formats.files import dump_bytes
from quaestor.selection.dry_run import DryRun
from quaestor.session.limited import KINDS, PATH, WHY
from quaestor.store.attempts import pace
from quaestor.web.teacher import cost

SMALL = qs.Bank(slow_document(skills=3, questions=6))
RULES = qs.Rules(stop=qs.max_questions(2))


@pytest.fixture
def taken(kept, teacher_app):
    """The place of the path of somebody who has taken the test of the owner."""
    browser = enter(teacher_app, give(kept, SMALL, RULES, email="ada@school.example"))
    for _ in range(2):
        browser.fill("/answer", entry="no")
    yield f"/teacher/tests/1/takers/{browser.path.split('/')[2]}"
    teacher_app.state.slow_steps.close()


def test_the_path_and_its_reasons_are_worked_out_elsewhere(taken, join, monkeypatch):
    for kind in (PATH, WHY):
        monkeypatch.setitem(KINDS, kind, lambda *_: pytest.fail("it was worked out in the server"))
    signed_in = join(owner=True)
    assert "What it changed" in signed_in.get(taken).text
    page = signed_in.get(f"{taken}/why/1").text
    assert "takes too long" not in page
    assert "It was not the question" not in page


def test_where_it_takes_too_long_the_page_says_so(taken, join, monkeypatch):
    monkeypatch.setattr(pace, "found", lambda kind, session: None)
    signed_in = join(owner=True)
    page = signed_in.get(taken).text
    assert "What each answer changed takes too long to work out for this bank" in page
    assert "What each answer was worth" not in page
    assert "To work out why takes too long for this bank" in signed_in.get(f"{taken}/why/1").text


@pytest.mark.parametrize(("found", "told"), [(DryRun(0.1, 2.5, 4, 2, True), True), (DryRun(0.1, 0.2, 4, 4, False), False), (None, True)])
def test_what_steps_cost_is_said_after_an_upload_and_before_publishing(ada, monkeypatch, found, told):
    monkeypatch.setattr(cost, "found", lambda kind, session: found)
    draft = put_bank(ada, dump_bytes(SMALL, ".yaml")).headers["location"]
    assert ("takers may have to wait for the next question" in ada.get(draft).text) is told
    bank = freeze(ada, draft)
    assert ("takers may have to wait for the next question" in ada.get(f"{bank}/publish").text) is told
