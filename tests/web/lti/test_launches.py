"""Launches: who comes from a platform gets to their page inside its frame; whatever the standard forbids is refused in words."""

import re
from datetime import datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from helpers.lti_platform import User
from helpers.lti_tool import TOOL, begin, browser, counts, inside, launch, registered, taken
from quaestor.store.models import Attempt, Pupil, Teacher
from quaestor.store.platform_tables import Frame, Platform, PlatformLogin, Seat
from quaestor.web.jobs import housekeeping
from quaestor.web.lti import platform_keys


def test_a_learner_takes_the_test_inside_the_frame_without_a_cookie(app, database, platform, placed):
    client = browser(app)
    reply = launch(client, platform, "ada", "link-1")
    client.cookies.clear()  # none is kept there
    page = inside(client, reply)
    assert "Hello, Ada Lovelace." in page.text
    assert page.headers["content-security-policy"].endswith(f"frame-ancestors {platform.origin}")
    assert "x-frame-options" not in page.headers
    last = taken(client, page)
    assert last.status_code == 200, last.text
    assert not client.cookies
    with database.read() as work:
        (attempt,) = work.scalars(select(Attempt)).all()
        assert (attempt.name, attempt.ended is not None) == ("Ada Lovelace", True)
        assert attempt.pupil_id == work.scalars(select(Seat)).one().pupil_id
    assert not platform.complaints


def test_who_comes_again_goes_on_in_the_same_seat(app, database, platform, placed):
    client = browser(app)
    taken(client, inside(client, launch(client, platform, "ada", "link-1")), entries=("50",))
    again = inside(browser(app), launch(browser(app), platform, "ada", "link-1"))
    assert "Welcome back" in again.text
    assert counts(database, Seat, Pupil, Attempt) == [1, 1, 1]


def test_pages_elsewhere_are_shown_in_no_frame(app, placed):
    page = browser(app).get("/")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"


def test_a_teacher_sees_the_test_that_is_theirs(app, platform, placed):
    client = browser(app)
    page = inside(client, launch(client, platform, "tess", "link-1"))
    assert page.url.path.endswith(f"/teacher/tests/{placed}")
    assert "Mathematics 7b" in page.text
    assert f'href="{TOOL}/c/' in page.text  # links for others do not hold the secret of the frame


def test_another_teacher_sees_nothing_of_it(app, platform, placed):
    platform.users["eve"] = User("eve", "Eve Else", ("Instructor",))
    client = browser(app)
    page = inside(client, launch(client, platform, "eve", "link-1"))
    assert "belongs to another teacher" in page.text
    assert client.get(f"{page.url.path}teacher/tests/{placed}/results").status_code == 404


def test_who_teaches_elsewhere_only_is_a_learner_here(app, database, platform, placed):
    elsewhere = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"
    platform.users["ada"].roles = (elsewhere, "Learner")
    inside(browser(app), launch(browser(app), platform, "ada", "link-1"))
    assert counts(database, Seat, Teacher) == [1, 1]  # Tess


def test_a_learner_gets_nowhere_else(app, platform, placed):
    client = browser(app)
    prefix = launch(client, platform, "ada", "link-1").headers["location"].rstrip("/")
    for path in ("/teacher", "/teacher/tests/1", "/sign-in", "/lti/choose", "/teacher/people", "/api/v1"):
        assert client.get(prefix + path).status_code == 403, path


def test_no_account_matters_inside_a_frame(app, platform, placed):
    client = browser(app)
    prefix = launch(client, platform, "tess", "link-1").headers["location"].rstrip("/")
    assert client.get(f"{prefix}/teacher").status_code == 200
    for path in ("/teacher/account", "/teacher/people", "/teacher/platforms", "/sign-in", "/api/v1"):
        assert client.get(prefix + path).status_code == 403, path


def test_new_keys_of_the_platform_are_read_once(app, platform, placed, monkeypatch):
    assert launch(browser(app), platform, "ada", "link-1").status_code == 303
    assert launch(browser(app), platform, "ada", "link-1").status_code == 303
    assert platform.asked.count("GET /jwks") == 1  # kept
    platform.rotate()
    assert launch(browser(app), platform, "ada", "link-1").status_code == 400  # asked just now: not again, whoever asks
    assert platform.asked.count("GET /jwks") == 1
    monkeypatch.setattr(platform_keys, "PAUSE", platform_keys.PAUSE * 0)
    assert launch(browser(app), platform, "ada", "link-1").status_code == 303
    assert platform.asked.count("GET /jwks") == 2


def test_a_platform_whose_keys_are_away_is_not_believed(app, platform, placed):
    platform.away = True
    for _ in range(2):  # who comes right after the first is told the same, and not that the message is forged
        assert "cannot be read at the moment" in launch(browser(app), platform, "ada", "link-1").text


def test_keys_that_were_read_within_a_day_are_believed_while_the_platform_is_away(app, database, platform, placed, monkeypatch):
    assert launch(browser(app), platform, "ada", "link-1").status_code == 303
    monkeypatch.setattr(platform_keys, "PAUSE", platform_keys.PAUSE * 0)
    platform.away = True
    for hours, status in ((2, 303), (21, 303), (2, 400), (1, 400)):  # each time so much later; who is refused changes nothing
        with database.work() as work:
            kept = work.scalars(select(Platform)).one()
            at = datetime.fromisoformat(kept.keys["read_at"]) - timedelta(hours=hours)
            kept.keys = {**kept.keys, "read_at": at.isoformat()}
        reply = launch(browser(app), platform, "ada", "link-1")
        assert reply.status_code == status, hours
    assert "cannot be read at the moment" in reply.text
    platform.away = False
    assert launch(browser(app), platform, "ada", "link-1").status_code == 303


def test_a_key_that_is_not_among_the_kept_ones_is_refused_while_the_platform_is_away(app, platform, placed, monkeypatch):
    assert launch(browser(app), platform, "ada", "link-1").status_code == 303
    monkeypatch.setattr(platform_keys, "PAUSE", platform_keys.PAUSE * 0)
    platform.away = True
    platform.rotate()
    reply = launch(browser(app), platform, "ada", "link-1")
    assert reply.status_code == 400
    assert "cannot be read at the moment" in reply.text


def test_a_state_is_used_once(app, database, platform, placed):
    client = browser(app)
    fields = begin(client, platform, "ada", "link-1")
    assert client.post("/lti/launch", data=fields).status_code == 303
    again = client.post("/lti/launch", data=fields)
    assert again.status_code == 400
    assert "open the activity again" in again.text
    assert counts(database, PlatformLogin, Seat) == [0, 1]


def test_a_state_of_nobody_and_a_nonce_of_another_login_are_refused(app, platform, placed):
    client = browser(app)
    first, second = begin(client, platform, "ada", "link-1"), begin(client, platform, "ada", "link-1")
    assert client.post("/lti/launch", data={**first, "state": "x" * 43}).status_code == 400
    assert client.post("/lti/launch", data={**first, "state": second["state"]}).status_code == 400
    assert client.post("/lti/launch", data=first).status_code == 303  # what was refused has used nothing up


def test_an_old_state_is_refused(app, database, platform, placed):
    client = browser(app)
    fields = begin(client, platform, "ada", "link-1")
    with database.work() as work:
        login = work.scalars(select(PlatformLogin)).one()
        login.expires = login.expires.replace(year=2000)
    assert client.post("/lti/launch", data=fields).status_code == 400
    housekeeping.purge(database)
    assert counts(database, PlatformLogin) == [0]


def test_another_browser_is_asked_who_it_is_and_a_strange_page_cannot_answer(app, database, platform, placed):
    fields = begin(browser(app), platform, "ada", "link-1")
    other = browser(app)
    asked = other.post("/lti/launch", data=fields, headers={"origin": platform.origin})
    assert asked.status_code == 200
    assert "Is that you?" in asked.text
    assert "Ada Lovelace" in asked.text
    for origin in ({"origin": "https://evil.example"}, {"origin": "null"}, {}):
        forged = other.post("/lti/launch", data={**fields, "sure": "yes"}, headers=origin)
        assert "Is that you?" in forged.text
    assert counts(database, Seat, Frame) == [0, 0]
    assert other.post("/lti/launch", data={**fields, "sure": "yes"}, headers={"origin": TOOL}).status_code == 303


def test_the_platform_may_keep_the_value_of_a_browser_without_cookies(app, platform, placed):
    client = browser(app)
    page = client.get("/lti/login", params=platform.login("ada", "link-1", lti_storage_target="_parent"))
    assert page.status_code == 200
    value, onward = re.search(r'data-value="([^"]+)"', page.text)[1], re.search(r'href="([^"]+/auth[^"]+)"', page.text)[1]
    fields = platform.authorise({name: values[0] for name, values in parse_qs(urlsplit(unescape(onward)).query).items()})
    other = browser(app)
    assert "Is that you?" in other.post("/lti/launch", data={**fields, "browser": "x" * 43}).text
    assert other.post("/lti/launch", data={**fields, "browser": value}).status_code == 303


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"},
        {"client_id": "other"},
        {"target_link_uri": "https://evil.example/"},
        {"login_hint": ""},
        {"lti_deployment_id": "99"},
        {"login_hint": "x" * 5000},
    ],
)
def test_a_login_that_does_not_fit_is_refused(app, database, platform, placed, changed):
    reply = browser(app).get("/lti/login", params={**platform.login("ada", "link-1"), **changed})
    assert reply.status_code == 400
    assert "location" not in reply.headers
    assert counts(database, PlatformLogin) == [0]


def test_a_platform_that_says_no_is_told_in_words(app, platform, placed):
    client = browser(app)
    fields = begin(client, platform, "ada", "link-1")
    reply = client.post("/lti/launch", data={"state": fields["state"], "error": "login_required", "error_description": "<b>x</b>"})
    assert "not signed in to your learning platform" in reply.text
    assert "<b>x" not in reply.text


def test_a_frame_whose_browser_keeps_its_cookie_opens_for_no_other(app, platform, placed):
    client = browser(app)
    reply = launch(client, platform, "ada", "link-1")
    assert "Partitioned" in reply.headers["set-cookie"]
    page = inside(client, reply)
    assert page.status_code == 200
    stranger = browser(app).get(reply.headers["location"], follow_redirects=True)
    assert stranger.status_code == 403
    assert inside(client, reply).status_code == 200


def test_an_old_frame_says_so_inside_the_frame(app, database, platform, placed):
    client = browser(app)
    reply = launch(client, platform, "ada", "link-1")
    with database.work() as work:
        frame = work.scalars(select(Frame)).one()
        frame.expires = frame.expires.replace(year=2000)
    page = client.get(reply.headers["location"])
    assert page.status_code == 403
    assert platform.origin in page.headers["content-security-policy"]


def test_the_database_holds_nothing_that_opens_a_frame(app, database, platform, placed):
    client = browser(app)
    reply = launch(client, platform, "tess", "link-1")
    inside(client, reply)
    secret = reply.headers["location"].split("/framed/")[1].strip("/")
    with database.read() as work:
        frame = work.scalars(select(Frame)).one()
    assert secret not in str(vars(frame))
    assert b"teacher" not in frame.jar


def test_a_message_opens_nothing_without_a_test(app, database, platform):
    registered(database, platform)
    platform.place("bare")
    assert "no test here yet" in launch(browser(app), platform, "ada", "bare").text
    page = inside(browser(app), launch(browser(app), platform, "tess", "bare"))
    assert "Choose a test" in page.text
