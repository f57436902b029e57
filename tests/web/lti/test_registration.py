"""Platforms are connected by the owner alone: by hand, or by a one-time link with which a platform registers itself."""

import re

import pytest
from sqlalchemy import select

from helpers.lti_platform import CLIENT, DEPLOYMENT
from helpers.lti_tool import TOOL, browser, counts, filled, launch, owner_of, placed_test
from quaestor.store import publishing, teachers
from quaestor.store.models import Link, Published, Pupil, Teacher
from quaestor.store.platform_tables import Platform, Seat
from quaestor.web.lti import services


@pytest.fixture
def owner(app, database):
    client = browser(app)
    client.cookies.set("teacher", owner_of(database))
    return client


def test_by_hand(app, database, platform, owner):
    page = owner.get("/teacher/platforms")
    for ours in ("/lti/launch", "/lti/login", "/lti/keys"):
        assert f'value="{TOOL}{ours}"' in page.text
    target, fields = filled(page, "/teacher/platforms", **platform.registration)
    assert owner.post(target, data=fields, follow_redirects=True).status_code == 200
    platform.place("bare")
    assert "no test here yet" in launch(browser(app), platform, "ada", "bare").text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("issuer", "moodle"),
        ("auth_url", "http://moodle.example/auth"),
        ("token_url", "https://user:word@moodle.example/token"),
        ("jwks_url", "javascript:alert(1)"),
        ("jwks_url", "https://moodle.example/jwks#x"),
        ("auth_url", "https://moodle.example\\@evil.example/"),
        ("client_id", ""),
        ("deployments", ""),
        ("frames", "https://x;script-src"),
        ("issuer", "https://x'*"),
    ],
)
def test_what_cannot_be_is_named(database, platform, owner, name, value):
    target, fields = filled(owner.get("/teacher/platforms"), "/teacher/platforms", **{**platform.registration, name: value})
    reply = owner.post(target, data=fields)
    assert reply.status_code == 400
    assert counts(database, Platform) == [0]


def test_only_the_owner(app, database):
    with database.work() as work:
        other = Teacher(email="ada@school.example", name="", password=None, is_owner=False, created=publishing.now())
        work.add(other)
        work.flush()
        secret = teachers.log_in(work, other)
    client = browser(app)
    client.cookies.set("teacher", secret)
    token = re.search(r'name="form_token" value="([^"]+)"', client.get("/teacher/account").text)[1]
    assert client.get("/teacher/platforms").status_code == 403
    for path in ("", "/link", "/1", "/1/remove"):
        assert client.post(f"/teacher/platforms{path}", data={"form_token": token}).status_code == 403
    assert counts(database, Platform, Link) == [0, 0]


def link_of(owner):
    target, fields = filled(owner.get("/teacher/platforms"), "/platforms/link")
    page = owner.post(target, data=fields, follow_redirects=True)
    return re.search(rf'value="{TOOL}(/lti/register/[^"]+)"', page.text)[1]


def test_a_platform_registers_itself_once(app, database, platform, owner):
    path = link_of(owner)
    anybody = browser(app)
    about = {"openid_configuration": f"{platform.origin}/configuration", "registration_token": "let-it-in"}
    page = anybody.get(path, params=about)
    assert page.headers["content-security-policy"].endswith(f"frame-ancestors {platform.origin}")
    target, fields = filled(page, path.rpartition("/")[2])
    done = anybody.post(target, data=fields)
    assert done.status_code == 200, done.text
    assert "data-platform-close" in done.text
    with database.read() as work:
        kept = work.scalars(select(Platform)).one()
        assert (kept.issuer, kept.client_id, kept.deployments) == (platform.origin, CLIENT, [DEPLOYMENT])
        assert (kept.auth_url, kept.jwks_url) == (f"{platform.origin}/auth", f"{platform.origin}/jwks")
    (told,) = platform.registrations
    assert told["redirect_uris"] == [f"{TOOL}/lti/launch"]
    assert anybody.post(target, data=fields).status_code == 403
    assert anybody.get(path, params=about).status_code == 403


def test_a_platform_that_lies_about_where_it_is_is_not_registered(app, database, platform, owner):
    path = link_of(owner)
    platform.origin, true = "http://127.0.0.1:9", platform.origin
    about = {"openid_configuration": f"{true}/configuration", "registration_token": "let-it-in"}
    reply = browser(app).post(path, data=about)
    assert reply.status_code == 400
    assert "not believed" in reply.text
    platform.origin = true
    wrong = browser(app).post(path, data={**about, "registration_token": "guessed"})
    assert "401" in wrong.text
    assert counts(database, Platform) == [0]


@pytest.mark.parametrize("url", ["http://169.254.169.254/latest", "https://10.0.0.1/", "https://[::1]/", "file:///etc/passwd", ""])
def test_no_address_leads_into_the_servers_own_network(app, database, owner, url):
    reply = browser(app).post(link_of(owner), data={"openid_configuration": url, "registration_token": "x"})
    assert reply.status_code == 400
    assert counts(database, Platform) == [0]


def test_nobody_registers_without_a_link(app, platform):
    about = {"openid_configuration": f"{platform.origin}/configuration", "registration_token": "let-it-in"}
    assert browser(app).get("/lti/register/" + "x" * 43, params=about).status_code == 403
    assert browser(app).post("/lti/register/" + "x" * 43, data=about).status_code == 403
    assert "GET /configuration" not in platform.asked


def test_a_platform_that_is_removed_opens_nothing_and_results_stay(app, database, platform, owner):
    placed_test(database, platform)
    assert launch(browser(app), platform, "ada", "link-1").status_code == 303
    page = owner.get("/teacher/platforms/1")
    target, fields = filled(page, "/remove")
    assert owner.post(target, data=fields).status_code == 303
    assert "not registered here" in browser(app).get("/lti/login", params=platform.login("ada", "link-1")).text
    assert counts(database, Platform, Seat, Pupil, Published) == [0, 0, 1, 1]


def test_our_keys_are_public_ones(app, database):
    services.make_key(database)
    (key,) = browser(app).get("/lti/keys").json()["keys"]
    assert set(key) == {"kty", "kid", "use", "alg", "n", "e"}
    assert browser(app).get("/lti/keys").json()["keys"] == [key]
