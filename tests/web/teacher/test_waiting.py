"""Waiting for work in the background: trials and proposals tell how far they are in one way, with a script and without."""

import pytest

import quaestor as qs
from helpers.browsing import application
from helpers.editor_pages import put, sign_in
from quaestor.store import job_queue, teachers
from quaestor.web.jobs.learning import KIND


@pytest.fixture
def app(database):
    return application(database)


def test_proposals_are_waited_for_as_trials_are(app, database):
    browser = sign_in(app, database)
    home = put(database, qs.load("multiplication").document)
    draft = home.rpartition("/")[2]
    with database.work() as work:
        asked = {"draft": int(draft), "edition": 1, "tests": [], "weight": "some", "intervals": False}
        job = job_queue.ask(work, teachers.owner(work, ""), KIND, f"draft {draft}", asked).id
    page = browser.go(f"{home}/improve/{job}")
    assert f'data-progress="/teacher/jobs/{job}/progress"' in page.text
    assert page.text.count("http-equiv") == page.text.count('<noscript><meta http-equiv="refresh"') == 1
    assert "data-share" in page.text
    assert browser.client.get(f"/teacher/jobs/{job}/progress").json() == {"state": "waiting", "share": 0.0}
    other = sign_in(app, database, "second@school.example")
    assert other.go(f"/teacher/jobs/{job}/progress").status_code == 404
