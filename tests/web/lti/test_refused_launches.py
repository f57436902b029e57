"""Messages that break the standard, and forged ones: each is refused with words that help, and nothing comes of it."""

import re
import time

import pytest

from helpers.lti_platform import CLAIM, CLIENT, IN_COURSE, Key, unsigned, with_shared_secret
from helpers.lti_tool import browser, counts, launch, placed_test, platform_and_app
from quaestor.store.models import Attempt
from quaestor.store.platform_tables import Frame, Seat


@pytest.fixture(scope="module")
def shared(migrated_file, tmp_path_factory):
    """One server for all: what is refused leaves nothing behind."""
    with platform_and_app(migrated_file, tmp_path_factory.mktemp("lti")) as (platform, app, database):
        placed_test(database, platform)
        yield platform, app, database


@pytest.fixture
def platform(shared, monkeypatch):
    """The platform; a lie is told for one test."""
    monkeypatch.setattr(shared[0], "claims", shared[0].claims)
    monkeypatch.setattr(shared[0], "signed", shared[0].signed)
    return shared[0]


@pytest.fixture
def app(shared):
    return shared[1]


@pytest.fixture
def database(shared):
    return shared[2]


def later(claims, **changed):
    return {**claims, **changed}


LIES = {
    "another issuer": lambda c: later(c, iss="https://evil.example"),
    "another audience": lambda c: later(c, aud="somebody-else"),
    "no audience": lambda c: later(c, aud=[]),
    "two audiences without a party": lambda c: later(c, aud=[CLIENT, "other"]),
    "another party": lambda c: later(c, azp="other"),
    "expired": lambda c: later(c, exp=int(time.time()) - 61, iat=int(time.time()) - 120),
    "too old": lambda c: later(c, iat=int(time.time()) - 700, exp=int(time.time()) + 60),
    "from the future": lambda c: later(c, iat=int(time.time()) + 3600, exp=int(time.time()) + 3700),
    "not before": lambda c: later(c, nbf=int(time.time()) + 3600),
    "no expiry": lambda c: {name: value for name, value in c.items() if name != "exp"},
    "a time that is none": lambda c: later(c, iat="now"),
    "true for a time": lambda c: later(c, exp=True),
    "another nonce": lambda c: later(c, nonce="x" * 40),
    "no nonce": lambda c: {name: value for name, value in c.items() if name != "nonce"},
    "another deployment": lambda c: later(c, **{f"{CLAIM}deployment_id": "8"}),
    "another version": lambda c: later(c, **{f"{CLAIM}version": "1.1.0"}),
    "another kind of message": lambda c: later(c, **{f"{CLAIM}message_type": "LtiStartProctoring"}),
    "meant for elsewhere": lambda c: later(c, **{f"{CLAIM}target_link_uri": "https://evil.example/lti/launch"}),
    "meant for a look-alike": lambda c: later(c, **{f"{CLAIM}target_link_uri": "https://localhost.evil.example/lti/launch"}),
    "no link": lambda c: later(c, **{f"{CLAIM}resource_link": {}}),
    "nobody": lambda c: {name: value for name, value in c.items() if name != "sub"},
    "neither teacher nor learner": lambda c: later(c, **{f"{CLAIM}roles": [f"{IN_COURSE}Mentor"]}),
    "no roles": lambda c: later(c, **{f"{CLAIM}roles": []}),
    "a choice that was never made": lambda c: later(c, **{f"{CLAIM}custom": {"quaestor_test": "forged"}}),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_message_that_breaks_the_standard_is_refused_in_words(app, database, platform, lie):
    client = browser(app)
    true = platform.claims
    platform.claims = lambda *about: LIES[lie](true(*about))
    reply = launch(client, platform, "ada", "link-1")
    assert reply.status_code == 400
    words = re.search(r"<main.*?<p>(.*?)</p>", reply.text, re.S)[1]
    assert len(words.split()) > 8
    for secret in (platform.users["ada"].name, "evil.example", "eyJ", CLIENT):
        assert secret not in reply.text
    assert platform.origin in reply.headers["content-security-policy"]  # it can be read inside the frame
    assert counts(database, Seat, Attempt, Frame) == [0, 0, 0]


FORGERIES = {
    "no signature": lambda p, c: unsigned(c, p.keys[0].kid),
    "the public key as a shared secret": lambda p, c: with_shared_secret(c, p.keys[0].kid, p.keys[0].pem),
    "a key that is not published": lambda p, c: p.signed(c, Key()),
    "another key under a known name": lambda p, c: p.signed(c, Key(), kid=p.keys[0].kid),
    "no name of a key": lambda p, c: p.signed(c, kid=None),
    "a signature that was cut off": lambda p, c: p.signed(c)[:-20],
    "no message at all": lambda p, c: "hello",
    "half a letter": lambda p, c: "a.b.c",
    "a critical extension": lambda p, c: p.signed(c, crit=["exp"]),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_signature_is_refused(app, database, platform, forgery):
    client = browser(app)
    platform.signed, honest = (lambda claims: FORGERIES[forgery](forged, claims)), platform.signed
    forged = type("Honest", (), {"signed": staticmethod(honest), "keys": platform.keys})
    reply = launch(client, platform, "ada", "link-1")
    assert reply.status_code == 400
    assert "could not be confirmed" in reply.text
    assert counts(database, Seat, Attempt, Frame) == [0, 0, 0]


def test_a_weak_key_is_refused(app, platform):
    weak, honest = Key(bits=1024), platform.signed
    platform.signed = lambda claims: honest(claims, weak)
    platform.keys.append(weak)
    assert "could not be confirmed" in launch(browser(app), platform, "ada", "link-1").text
