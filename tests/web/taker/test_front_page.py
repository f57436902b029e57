"""The front page: what this is, a test to try, and the pad of digits that a phone shows for numbers."""

import pytest
from starlette.testclient import TestClient

import quaestor as qs
from helpers.browsing import application
from helpers.teacher_pages import one
from quaestor.store import timing
from quaestor.store.models import Published
from quaestor.web.operations import installation
from quaestor.web.settings import Settings
from quaestor.web.taker.attempt_pages import in_digits


def test_the_front_page_leads_to_the_demo_as_long_as_it_is_open(make_database):
    database = make_database("sqlite")
    client = TestClient(application(database))
    assert "/c/" not in client.get("/").text
    installation.begin(database, Settings())
    code = one(database, Published).code
    page = client.get("/").text
    assert f'href="/c/{code}"' in page
    assert 'class="ideapicture"' in page
    with database.work() as work:
        timing.close(work, work.query(Published).one())
    assert "/c/" not in client.get("/").text


@pytest.mark.parametrize(("numbers", "enough"), [(["50", "0.75"], True), (["50", "-3"], False), (["50", "3/4"], False)])
def test_a_pad_of_digits_only_where_it_is_enough_for_every_number_of_the_bank(numbers, enough):
    """A pad for single questions would tell that their number has no minus."""
    questions = {f"Q{n}": {"skill": "s", "kind": "number", "correct": number, "difficulty": "easy"} for n, number in enumerate(numbers)}
    assert in_digits(qs.Bank({"quaestor": 1, "skills": {"s": {}}, "questions": questions})) is enough
