"""A teacher looks at the path of somebody who took a test whose steps take long."""

import pytest

import quaestor as qs
from helpers.browsing import enter, give
from helpers.slow_banks import slow_document
from quaestor.session.limited import KINDS, PATH, WHY
from quaestor.store import pace

SMALL = qs.Bank(slow_document(skills=3, questions=6))
RULES = qs.Rules(stop=qs.max_questions(2))


@pytest.fixture
def taken(kept, desk_app):
    """The place of the path of somebody who has taken the test of the owner."""
    browser = enter(desk_app, give(kept, SMALL, RULES, email="ada@school.example"))
    for _ in range(2):
        browser.fill("/answer", entry="no")
    yield f"/desk/tests/1/takers/{browser.path.split('/')[2]}"
    desk_app.state.slow_steps.close()


def test_the_path_and_its_reasons_are_worked_out_elsewhere(taken, join, monkeypatch):
    for kind in (PATH, WHY):
        monkeypatch.setitem(KINDS, kind, lambda *_: pytest.fail("it was worked out in the server"))
    desk = join(owner=True)
    assert "What it changed" in desk.get(taken).text
    page = desk.get(f"{taken}/why/1").text
    assert "takes too long" not in page
    assert "It was not the question" not in page


def test_where_it_takes_too_long_the_page_says_so(taken, join, monkeypatch):
    monkeypatch.setattr(pace, "found", lambda kind, session: None)
    desk = join(owner=True)
    page = desk.get(taken).text
    assert "What each answer changed takes too long to work out for this bank" in page
    assert "What each answer was worth" not in page
    assert "To work out why takes too long for this bank" in desk.get(f"{taken}/why/1").text
