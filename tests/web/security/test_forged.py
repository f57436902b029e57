"""Secrets that are forged, stolen, old or guessed, and requests that pretend: none opens anything, and none is written to the log."""

import logging
import re
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from helpers.browsing import application
from helpers.databases import KINDS
from helpers.school import PASSWORD, steady
from quaestor.store import clock, teachers
from quaestor.store.models import Attempt, Link, Login, Teacher
from quaestor.store.secrets import hashed
from quaestor.web.security.guard import POLICY

# Cookies, form tokens, links, API tokens


@pytest.mark.parametrize("cookie", ["x", "x" * 43, "é", "' OR 1=1 --", "\\351", "../..", '"', "x" * 8000, "a=b=c"])
def test_forged_cookies_open_nothing(school, cookie):
    sent = [(b"cookie", f"visit=v; teacher={cookie}; taker={cookie}".encode("latin-1"))]
    assert school.client.get("/teacher", headers=sent).status_code == 303
    page = school.client.get(f"/take/{school.places['attempt']}", headers=sent)
    assert page.status_code == 403
    assert school.client.get("/", headers=[(b"cookie", f"visit={cookie}; language={cookie}".encode("latin-1"))]).status_code == 200


def test_what_the_database_keeps_of_a_secret_is_no_secret(school):
    """Who reads a back-up has hashes; sent as cookies, links and tokens they open nothing."""
    with school.database.read() as work:
        login, link = work.scalars(select(Login.token)).first(), work.scalars(select(Link.token).where(Link.used.is_(None))).first()
        token = work.get_one(Teacher, 1).password
    assert school.client.get("/teacher", headers={"cookie": f"teacher={login}"}).status_code == 303
    assert school.get("anonymous", f"/sign-in/{link}").status_code == 400
    assert school.call("GET", "/api/v1/banks", hashed(school.tokens["banks"])).status_code == 401
    assert token is None


def test_old_cookies_links_and_withdrawn_tokens_open_nothing(school, monkeypatch):
    later = clock.now() + timedelta(days=15)
    monkeypatch.setattr(teachers, "now", lambda: later)
    assert school.get("teacher", "/teacher").status_code == 303
    secret = school.places["secret"]
    assert school.get("anonymous", f"/sign-in/{secret}").status_code == 400
    assert school.post("anonymous", f"/sign-in/{secret}", {"name": "Eve", "password": PASSWORD}).status_code == 400
    monkeypatch.undo()
    assert school.get("teacher", "/teacher").status_code == 200
    school.post("teacher", f"/teacher/account/tokens/{school.places['token']}/delete")
    assert school.call("GET", "/api/v1/banks", school.tokens["token"]).status_code == 401


def test_a_link_works_once_and_a_cookie_until_the_sign_out(school):
    secret = school.places["secret"]
    fields = {"name": "New", "password": PASSWORD}
    assert school.post("anonymous", f"/sign-in/{secret}", fields).status_code == 303
    for who in ("anonymous", "other"):
        assert school.post(who, f"/sign-in/{secret}", fields).status_code == 400
    assert school.post("teacher", "/sign-out").status_code == 303
    assert school.get("teacher", "/teacher").status_code == 303


def test_a_password_set_by_a_link_signs_all_others_out(school):
    with school.database.work() as work:
        link = teachers.sign_in_link(work, work.get_one(Teacher, school.people["teacher"].id))
    made = school.post("anonymous", f"/sign-in/{link}", {"password": PASSWORD})
    assert school.get("teacher", "/teacher").status_code == 303
    assert school.client.get("/teacher", headers={"cookie": made.headers["set-cookie"].partition(";")[0]}).status_code == 303
    cookies = "; ".join(one.partition(";")[0] for one in made.headers.get_list("set-cookie"))
    assert school.client.get("/teacher", headers={"cookie": cookies}).status_code == 200


def test_a_form_token_is_worth_nothing_in_another_browser_or_after_a_sign_in(school):
    """Session fixation: whoever gave the browser its visit cookie before knows nothing after."""
    fixed = school.post("anonymous", "/sign-in", {"email": "other@school.example", "password": PASSWORD})
    cookies = dict(one.partition(";")[0].split("=", 1) for one in fixed.headers.get_list("set-cookie"))
    assert cookies["visit"] not in ("anonymous", "")
    jar = {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    known = school.client.post("/teacher/account/name", data={"name": "x", "form_token": hashed("form anonymous")}, headers=jar)
    assert known.status_code == 403
    own = school.client.post("/teacher/account/name", data={"name": "x", "form_token": hashed(f"form {cookies['visit']}")}, headers=jar)
    assert own.status_code == 303
    assert school.post("teacher", "/teacher/account/name", {"name": "x"}, form_token=hashed("form other")).status_code == 403


def test_cookies_are_kept_from_scripts_other_sites_and_plain_http(school):
    for scheme in ("http", "https"):
        client = TestClient(school.app, base_url=f"{scheme}://testserver", follow_redirects=False)
        client.get("/")
        token = hashed("form " + client.cookies["visit"])
        replies = [client.post("/sign-in", data={"email": "other@school.example", "password": PASSWORD, "form_token": token})]
        token = hashed("form " + client.cookies["visit"])
        replies += [client.post("/enter", data={"code": school.places["code"], "name": "Eve", "once": "x", "form_token": token})]
        replies += [
            client.post("/language", data={"language": "de", "form_token": token}),
            client.post("/sign-out", data={"form_token": token}),
        ]
        lines = [line for reply in replies for line in reply.headers.get_list("set-cookie")]
        assert {line.partition("=")[0] for line in lines} == {"visit", "teacher", "taker", "language"}
        for line in lines:
            assert "HttpOnly" in line
            assert "SameSite=lax" in line
            assert "Domain" not in line
            assert ("Secure" in line) == (scheme == "https") or 'teacher=""' in line
        assert next(line for line in lines if line.startswith("taker=")).count("Path=/take/") == 1


# Pretending


BACKS = ("//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example", "\t//evil.example", "javascript:alert(1)", "")
BACKS += ("/\r\nSet-Cookie: a=b", "\\\\evil.example", "/\x00//evil.example", "https:/evil.example", " //evil.example", "@evil.example")


@pytest.mark.parametrize("back", BACKS)
def test_no_form_sends_a_browser_elsewhere(school, back):
    for path, fields in (("/language", {"language": "de"}), ("/sign-in", {"email": "other@school.example", "password": PASSWORD})):
        sent = school.post("anonymous", f"{path}?next={'https://evil.example'}", {**fields, "back": back, "next": back})
        where = sent.headers["location"]
        assert re.fullmatch(r"/(?![/\\])[!-~]*", where), where
        assert "a" not in {line.partition("=")[0] for line in sent.headers.get_list("set-cookie")}


FORGED = ("evil.example", "evil.example:80", 'x"><script>alert(7)</script>', "a b", "[::1", "x:99999999", "é", "a\tb", "x/../y", "u@x")
FORGED += ("127.0.0.1.evil.example", "localhost.evil.example", "school.local.evil.example", "*", "1.2.3", "evil.example.")


@pytest.mark.parametrize("host", FORGED)
def test_a_forged_host_is_refused_with_what_to_set(school, host):
    headers = [(b"host", host.encode("latin-1")), (b"cookie", school.headers("teacher")["cookie"].encode())]
    for path in (f"/teacher/tests/{school.places['test']}", "/", "/nowhere", "/health", "/static/quaestor.css"):
        page = school.client.get(path, headers=headers)
        assert page.status_code == 400
        assert "quaestor serve --hosts" in page.text
        assert "<script>alert" not in page.text
        assert page.headers["content-security-policy"] == POLICY
    told = school.client.get("/api/v1/banks", headers=headers)
    assert (told.status_code, told.headers["content-type"]) == (400, "application/problem+json")
    both = [(b"host", b"localhost"), *headers]
    assert school.client.get("/", headers=both).status_code == 400


@pytest.mark.parametrize(
    "host",
    ["localhost:8000", "127.0.0.1", "192.168.1.7:8000", "[::1]:8000", "[fe80::1]", "SchoolServer", "pc-7.local", "a.localhost", "", "x."],
)
def test_addresses_and_names_of_the_local_network_need_no_setting(school, host):
    assert school.client.get("/", headers=[(b"host", host.encode())]).status_code == 200


def test_names_of_the_settings_are_taken_and_links_show_the_address(school):
    cookie = (b"cookie", school.headers("teacher")["cookie"].encode())
    stated = TestClient(
        application(school.database, address="https://tests.school.example/q", hosts="a.example, *.b.example", host="c.example"),
        follow_redirects=False,
    )
    for host in ("tests.school.example", "Tests.School.Example:443", "a.example", "x.b.example", "c.example", "localhost"):
        text = stated.get(f"/teacher/tests/{school.places['test']}", headers=[(b"host", host.encode()), cookie]).text
        assert f"https://tests.school.example/q/c/{school.places['code']}" in text
        assert stated.get("/teacher", headers=[(b"host", host.encode())]).headers["location"] == "/sign-in"
    for host in ("b.example", "x.a.example", "evil.example"):
        assert stated.get("/", headers=[(b"host", host.encode())]).status_code == 400
    for behind in ({"hosts": "*"}, {"root": "/q"}):
        anybody = TestClient(application(school.database, **behind))
        assert anybody.get("/", headers=[(b"host", b"evil.example")]).status_code == 200


PATHS = (
    "/",
    "/nowhere",
    "/teacher",
    "/take/1",
    "/static/quaestor.css",
    "/static/nowhere",
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "/health",
)
PATHS += ("/api/v1", "/api/v1/openapi.json", "/api/v1/banks", "/api/v1/nowhere", "/c/NOSUCH", "/take/x", "/teacher/tests/1")


@pytest.mark.parametrize("path", PATHS)
def test_every_response_has_the_policy(school, path):
    for method in ("GET", "POST", "OPTIONS", "TRACE"):
        response = school.client.request(method, path)
        assert response.headers.get_list("content-security-policy") == [POLICY]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in response.headers
        assert "root:" not in response.text
        assert "def create" not in response.text
    assert "unsafe" not in POLICY
    assert "script-src 'self'" in POLICY


def test_unforeseen_errors_have_the_policy_too_and_tell_nothing(school, monkeypatch, caplog):
    def broken(*_: object) -> None:
        raise RuntimeError("a secret place")

    monkeypatch.setattr("quaestor.web.taker.attempt_pages.own", broken)
    client = TestClient(school.app, raise_server_exceptions=False)
    page = client.get("/take/1", headers=school.headers("taker"))
    assert page.status_code == 500
    assert page.headers["content-security-policy"] == POLICY
    assert "secret place" not in page.text
    number = re.search(r"under the number (\w+)", page.text)[1]
    assert f"unforeseen error {number}" in caplog.text


def test_numbers_beyond_all_measure_are_not_there(school):
    for number in ("99999999999999999999", "-1", "0", "9" * 5000, "1e3", "1;drop", "%00", "1%20or%201=1"):
        for who, path in (("teacher", f"/teacher/tests/{number}"), ("taker", f"/take/{number}"), ("teacher", f"/teacher/drafts/{number}")):
            assert school.get(who, path).status_code in (400, 403, 404)
        assert school.call("GET", f"/api/v1/tests/{number}", school.tokens["tests"]).status_code in (404, 422)
    assert steady(school.dump()) == steady(school.pristine)


# The log


def test_no_secret_is_logged(school, caplog):
    """A test taken, signed in, guessed, refused and broken: the log has routes and times."""
    caplog.set_level(logging.DEBUG)
    secret, code = school.places["secret"], school.places["code"]
    made = school.post("anonymous", "/enter", {"code": code, "name": "Ophelia Quill", "once": "x"})
    taker = made.headers["set-cookie"].partition(";")[0]
    token = hashed("form anonymous")
    number = int(made.headers["location"].rpartition("/")[2])
    sent = {"cookie": f"visit=anonymous; {taker}"}
    school.client.get(f"/take/{number}", headers=sent)
    for entry in ("3/4", "xylophone", "2/6"):
        school.client.post(f"/take/{number}/answer", data={"form_token": token, "step": "1", "entry": entry}, headers=sent)
    school.client.get(f"/c/{code}")
    school.client.get("/c/WRONGCODE")
    school.get("anonymous", f"/sign-in/{secret}")
    school.post("anonymous", f"/sign-in/{secret}", {"name": "Zebulon Pike", "password": "a password to keep"})
    school.post("anonymous", "/sign-in", {"email": "zebulon@school.example", "password": "a password to keep"})
    school.post("teacher", "/teacher/account/tokens", {"name": "Platform name", "scope": "banks"})
    school.call("GET", "/api/v1/banks", school.tokens["banks"])
    school.call("GET", "/api/v1/banks", "a-forged-token")
    with school.database.work() as work:
        own = work.get_one(Attempt, number)
        hidden = [own.code, own.key, own.name]
    server = [record for record in caplog.records if not record.name.startswith("http")]  # not what the client of the test logs
    logged = "\n".join(f"{record.name} {record.getMessage()} {record.exc_text or ''}" for record in server)
    assert "GET /c/{code} 200" in logged
    hidden += [
        secret,
        code,
        "Ophelia",
        "xylophone",
        "2/6",
        "WRONGCODE",
        "Zebulon",
        "a password to keep",
        "zebulon@school",
        "a-forged-token",
    ]
    hidden += [token, school.tokens["banks"], school.cookies["teacher"], "Platform name", *school.secrets]
    assert [one for one in hidden if one in logged] == []


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_the_database_do_not_tell_what_was_written(make_database, kind):
    database = make_database(kind)
    with database.work() as work:
        teachers.owner(work, "owner@school.example")

    def twice():
        with database.work() as work:
            work.add(Teacher(email="owner@school.example", name="Zebulon Pike", is_owner=False, created=clock.now()))

    with pytest.raises(Exception, match=r"(?i)unique") as caught:
        twice()
    assert "Zebulon" not in str(caught.value)
