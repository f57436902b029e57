"""Signing in by a provider of OpenID Connect on the pages: who gets in, who does not, connecting an account, signing out."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from helpers.school import QUICK
from quaestor.store import leaving, secrets, teachers
from quaestor.store.database import Database
from quaestor.store.models import Identity, Login, Teacher
from quaestor.web.app import create
from quaestor.web.settings import Settings

pytest.importorskip("authlib", reason="the extra `openid` is not installed")
from helpers import openid_provider
from helpers.openid_provider import ADA, CLIENT, SECRET
from quaestor.web.security import openid

PASSWORD = "four plain words here"


@pytest.fixture(scope="module")
def running():
    with openid_provider.running() as made:
        yield made


@pytest.fixture
def there(running, monkeypatch):
    monkeypatch.setattr(openid, "_known", {})
    monkeypatch.setattr(secrets, "_hasher", QUICK)
    running.fault, running.person = "", dict(ADA)
    return running


@pytest.fixture
def kept(tmp_path, migrated_file):
    file = tmp_path / "quaestor.db"
    file.write_bytes(migrated_file.read_bytes())
    database = Database(f"sqlite:///{file}")
    with database.work() as work:
        teachers.owner(work, "owner@school.example").password = None
    yield database
    database.close()


@pytest.fixture
def app(there, kept):
    settings = Settings(
        openid=there.issuer, openid_client=CLIENT, openid_secret=SECRET, openid_name="School login", address="http://testserver"
    )
    return create(settings, kept)


class Visitor:
    """A browser that is sent to the provider and back."""

    def __init__(self, app):
        self.client = TestClient(app, follow_redirects=False)

    def sent_back(self, path="/openid"):
        """The address at which the provider sends it back to us."""
        there = self.client.get(path)
        assert there.status_code == 303, there.text
        with self.elsewhere() as other:
            return other.get(there.headers["location"]).headers["location"]

    @staticmethod
    def elsewhere():
        import httpx2

        return httpx2.Client(trust_env=False)

    def sign_in(self, path="/openid"):
        return self.client.get(self.sent_back(path))

    def post(self, path, page, **fields):
        token = re.search(r'name="form_token" value="([^"]*)"', self.client.get(page).text)[1]
        return self.client.post(path, data={"form_token": token, **fields})


@pytest.fixture
def visitor(app):
    return Visitor(app)


def invite(kept, email=ADA["email"]):
    with kept.work() as work:
        return teachers.invitation(work, teachers.owner(work, ""), email)


def join(kept, visitor, email, password=None):
    """Let a browser be signed in as a teacher who has an account."""
    with kept.work() as work:
        found = teachers.by_email(work, email) or teachers.use_link(work, teachers.invitation(work, teachers.owner(work, ""), email))
        found.password = teachers.password_hash(password) if password else None
        visitor.client.cookies.set("teacher", teachers.log_in(work, found))


def is_in(visitor):
    return visitor.client.get("/teacher").status_code == 200


def rows(kept, kind):
    with kept.read() as work:
        return work.scalars(select(kind)).all()


def test_without_a_provider_there_is_no_such_sign_in(kept):
    client = TestClient(create(Settings(), kept))
    assert "School login" not in client.get("/sign-in").text
    for path in ("/openid", "/openid/back", "/openid/signed-out"):
        assert client.get(path).status_code == 404


def test_who_was_invited_signs_in_and_comes_again(kept, visitor, there):
    invite(kept)
    assert "Sign in with School login" in visitor.client.get("/sign-in").text
    assert visitor.sign_in().headers["location"] == "/teacher"
    assert "Hello, Ada Lovelace" in visitor.client.get("/teacher").text
    assert "openid" not in visitor.client.cookies
    again = Visitor(visitor.client.app)
    there.person = {"sub": ADA["sub"]}  # no address any more
    assert again.sign_in().headers["location"] == "/teacher"
    assert is_in(again)
    assert len(rows(kept, Teacher)) == 2


def refused(kept, visitor, status, words, path="/openid"):
    before = len(rows(kept, Login))
    answer = visitor.sign_in(path)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text
    assert not is_in(visitor)
    assert len(rows(kept, Login)) == before
    assert rows(kept, Identity) == []


def test_who_was_not_invited_or_has_no_verified_address_stays_out(kept, visitor, there):
    refused(kept, visitor, 400, "please ask the owner of this server for an invitation")
    invite(kept)
    there.person = {**ADA, "email_verified": False}
    refused(kept, visitor, 400, "please ask the owner of this server for an invitation")
    assert len(rows(kept, Teacher)) == 1


def test_an_account_with_the_same_address_is_not_taken(kept, visitor, app):
    join(kept, Visitor(app), ADA["email"], PASSWORD)
    invite(kept)
    refused(kept, visitor, 400, "then connect it under Account")


@pytest.mark.parametrize("fault", ["another nonce", "another audience", "expired", "no signature", "another issuer"])
def test_a_provider_that_misbehaves_lets_nobody_in(kept, visitor, there, fault):
    invite(kept)
    there.fault = fault
    refused(kept, visitor, 400, "cannot be trusted, so nobody was signed in")


def test_a_provider_that_refuses(kept, visitor, there):
    there.fault = "refused"
    refused(kept, visitor, 400, "did not let you in (access_denied)")
    assert "&lt;script&gt;" not in visitor.client.get("/sign-in").text


def test_a_provider_that_is_away(kept, there):
    settings = Settings(openid="http://127.0.0.1:9", openid_client=CLIENT, openid_name="School login")
    answer = TestClient(create(settings, kept)).get("/openid")
    assert answer.status_code == 503
    assert "School login cannot be reached at the moment" in answer.text
    assert 'name="password"' in answer.text


def test_an_answer_counts_once_and_only_in_the_browser_that_asked(kept, visitor, app):
    invite(kept)
    back = visitor.sent_back()
    assert Visitor(app).client.get(back).status_code == 400  # another browser, without the secret
    secret = visitor.client.cookies["openid"]
    assert visitor.client.get(back).headers["location"] == "/teacher"
    stranger = Visitor(app)
    stranger.client.cookies.set("openid", secret, path="/openid")
    assert stranger.client.get(back).status_code == 400
    assert not is_in(stranger)


def test_a_state_that_was_used_is_refused_even_with_another_code(kept, visitor, app, there):
    """Whoever has the secret of a sign-in, and a new code for it, still comes too late."""
    invite(kept)
    start = visitor.client.get("/openid").headers["location"]
    secret = visitor.client.cookies["openid"]
    with visitor.elsewhere() as other:
        first, second = (other.get(start).headers["location"] for _ in range(2))
    assert visitor.client.get(first).headers["location"] == "/teacher"
    late = Visitor(app)
    late.client.cookies.set("openid", secret, path="/openid")
    answer = late.client.get(second)
    assert (answer.status_code, "used already" in answer.text) == (400, True)
    assert not is_in(late)


def test_tries_that_fail_are_limited(kept, visitor):
    visitor.client.get("/sign-in")
    for _ in range(10):
        assert visitor.client.get("/openid/back?state=x&code=y").status_code == 400
    assert visitor.client.get("/openid/back?state=x&code=y").status_code == 429


def test_who_has_an_account_connects_it_and_ends_that(kept, visitor, app):
    join(kept, visitor, "owner@school.example", PASSWORD)
    assert "Connect with School login" in visitor.client.get("/teacher/account").text
    assert visitor.sign_in("/openid?connect=yes").headers["location"] == "/teacher/account"
    assert "Connected since" in visitor.client.get("/teacher/account").text
    other = Visitor(app)
    assert other.sign_in().headers["location"] == "/teacher"
    assert visitor.post("/teacher/account/disconnect", "/teacher/account").status_code == 303
    refused(kept, Visitor(app), 400, "for an invitation")


def test_connecting_needs_a_browser_that_is_signed_in(kept, visitor):
    assert visitor.sign_in("/openid?connect=yes").headers["location"] == "/sign-in"
    assert rows(kept, Identity) == []


def test_a_person_is_connected_to_one_account(kept, visitor, app):
    join(kept, visitor, "owner@school.example", PASSWORD)
    visitor.sign_in("/openid?connect=yes")
    other = Visitor(app)
    join(kept, other, "ben@school.example", PASSWORD)
    answer = other.sign_in("/openid?connect=yes")
    assert (answer.status_code, "connected to another account" in answer.text) == (400, True)


def test_who_is_locked_stays_out(kept, visitor, app):
    invite(kept)
    visitor.sign_in()
    with kept.work() as work:
        leaving.lock(work, teachers.by_email(work, ADA["email"]).id)
    assert not is_in(visitor)
    answer = Visitor(app).sign_in()
    assert (answer.status_code, "This account is locked" in answer.text) == (400, True)


def test_signing_out_shows_the_way_out_of_the_provider(kept, visitor, there):
    invite(kept)
    visitor.sign_in()
    assert visitor.post("/sign-out", "/teacher").headers["location"] == "/openid/signed-out"
    page = visitor.client.get("/openid/signed-out").text
    link = re.search(r'href="([^"]*/leave[^"]*)"', page)[1].replace("&amp;", "&")
    assert parse_qs(urlsplit(link).query)["post_logout_redirect_uri"] == ["http://testserver/"]
    assert not is_in(visitor)
    join(kept, visitor, "ben@school.example")
    assert visitor.post("/sign-out", "/teacher").headers["location"] == "/"  # who did not come by the provider


def test_the_address_to_which_the_provider_sends_back_is_the_public_one(visitor, kept, there):
    settings = Settings(
        openid=there.issuer, openid_client=CLIENT, openid_secret=SECRET, address="https://tests.school.example/q", hosts="*"
    )
    asked = TestClient(create(settings, kept), follow_redirects=False).get("/openid", headers={"host": "evil.example"}).headers["location"]
    assert parse_qs(urlsplit(asked).query)["redirect_uri"] == ["https://tests.school.example/q/openid/back"]
