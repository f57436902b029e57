"""Our part of OpenID Connect, against a provider that speaks HTTP and can misbehave: it is believed only when everything is right."""

from urllib.parse import parse_qs, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

import pytest

from quaestor.errors import QuaestorError
from quaestor.store.identities import Person
from quaestor.store.teachers import AccessError
from quaestor.web.settings import Settings

pytest.importorskip("authlib", reason="the extra `openid` is not installed")
from helpers import openid_provider
from helpers.openid_provider import ADA, CLIENT, FAULTS, SECRET
from quaestor.web.security import openid
from quaestor.web.security.openid import AwayError, ForeignError, provider_of

BACK = "http://testserver/openid/back"
COOKIE = "the secret of this browser"


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


@pytest.fixture(scope="module")
def running():
    with openid_provider.running() as made:
        yield made


@pytest.fixture
def there(running, monkeypatch):
    monkeypatch.setattr(openid, "_known", {})
    running.fault, running.person, running.secret = "", dict(ADA), SECRET
    return running


@pytest.fixture
def ours(there):
    return provider_of(Settings(openid=there.issuer, openid_client=CLIENT, openid_secret=SECRET, openid_name="School login"))


def visited(address):
    """The answer that the provider gives a browser, which is sent back to us with it."""
    try:
        build_opener(ProxyHandler({}), _Stay).open(address)
    except Exception as answer:
        sent = answer.headers["location"]
    assert sent.startswith(BACK)
    return {name: value[0] for name, value in parse_qs(urlsplit(sent).query).items()}


def test_a_person_who_signs_in_is_known_by_issuer_and_subject(there, ours):
    address = ours.begin(COOKIE, BACK)
    assert COOKIE not in address
    asked = parse_qs(urlsplit(address).query)
    assert len({asked[name][0] for name in ("state", "nonce", "code_challenge")}) == 3
    found = ours.finish(COOKIE, BACK, visited(address))
    assert found == Person(there.issuer, ADA["sub"], ADA["email"], True, ADA["name"])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_provider_that_misbehaves_is_not_believed(there, ours, fault, caplog):
    there.fault = fault
    with pytest.raises(ForeignError, match="what School login says of you cannot be trusted"):
        ours.finish(COOKIE, BACK, visited(ours.begin(COOKIE, BACK)))
    assert "is not trusted" in caplog.text


@pytest.mark.parametrize("secret", ["", "another browser"])
def test_an_answer_to_another_browser_is_refused_before_the_provider_is_asked(there, ours, secret):
    answer = visited(ours.begin(COOKIE, BACK))
    there.asked.clear()
    with pytest.raises(ForeignError, match="begun in another browser, or too long ago"):
        ours.finish(secret, BACK, answer)
    assert there.asked == []


def test_a_code_of_another_browser_is_refused_by_pkce(there, ours):
    """Somebody's code in the place of one's own: state is right, the verifier is not."""
    strange, mine = visited(ours.begin("another browser", BACK)), visited(ours.begin(COOKIE, BACK))
    with pytest.raises(ForeignError):
        ours.finish(COOKIE, BACK, {**mine, "code": strange["code"]})


def test_an_answer_that_was_used_is_refused_by_the_provider(there, ours):
    answer = visited(ours.begin(COOKIE, BACK))
    ours.finish(COOKIE, BACK, answer)
    with pytest.raises(ForeignError):
        ours.finish(COOKIE, BACK, answer)


def test_who_is_refused_there_is_told_so(there, ours):
    there.fault = "refused"
    with pytest.raises(AccessError, match=r"School login did not let you in \(access_denied\)"):
        ours.finish(COOKIE, BACK, visited(ours.begin(COOKIE, BACK)))


@pytest.mark.parametrize("verified", ["true", 1, None, False])
def test_an_address_is_verified_only_where_it_says_so(there, ours, verified):
    there.person = {**ADA, "email_verified": verified, "name": ["no", "text"]}
    found = ours.finish(COOKIE, BACK, visited(ours.begin(COOKIE, BACK)))
    assert (found.verified, found.name) == (False, "")


def test_keys_that_were_exchanged_are_asked_for_again(there, ours):
    ours.finish(COOKIE, BACK, visited(ours.begin(COOKIE, BACK)))
    first = there.key
    there.key = type(first).generate_key(2048, {"kid": "second", "use": "sig", "alg": "RS256"})
    there.asked.clear()
    try:
        assert ours.finish(COOKIE, BACK, visited(ours.begin(COOKIE, BACK))).subject == ADA["sub"]
        assert there.asked.count("/keys") == 1
        assert ours.finish(COOKIE, BACK, visited(ours.begin(COOKIE, BACK))).subject == ADA["sub"]
        assert there.asked.count("/keys") == 1
        assert "/.well-known/openid-configuration" not in there.asked
    finally:
        there.key = first


@pytest.mark.parametrize("fault", ["no JSON", "calls itself something else", "a token endpoint elsewhere"])
def test_a_provider_that_is_none_is_away(there, ours, fault):
    there.fault = fault
    with pytest.raises(AwayError, match="School login cannot be reached at the moment"):
        ours.look()


def test_a_provider_that_does_not_answer_is_away(monkeypatch):
    monkeypatch.setattr(openid, "_known", {})
    ours = provider_of(Settings(openid="http://127.0.0.1:9", openid_client=CLIENT))
    with pytest.raises(AwayError, match=r"127\.0\.0\.1:9 cannot be reached"):
        ours.begin(COOKIE, BACK)
    assert ours.leave(BACK) == ""


def test_signing_out_there_leads_back(there, ours):
    address = ours.leave(BACK)
    assert address.startswith(f"{there.issuer}/leave?")
    assert parse_qs(urlsplit(address).query) == {"client_id": [CLIENT], "post_logout_redirect_uri": [BACK]}


def test_the_secret_may_be_in_a_file(there, tmp_path):
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    ours = provider_of(Settings(openid=there.issuer, openid_client=CLIENT, openid_secret_file=str(file)))
    assert ours.finish(COOKIE, BACK, visited(ours.begin(COOKIE, BACK))).subject == ADA["sub"]
    file.write_text("")
    for wrong in (file, tmp_path / "nothing"):
        with pytest.raises(QuaestorError, match="openid_secret_file: a file"):
            provider_of(Settings(openid=there.issuer, openid_client=CLIENT, openid_secret_file=str(wrong)))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"openid": "http://login.school.example"}, "openid: the address of an issuer"),
        ({"openid": "https://[login"}, "openid: the address of an issuer"),
        ({"openid": "https://login.school.example?x=1"}, "openid: the address of an issuer"),
        ({"openid": "login.school.example"}, "openid: the address of an issuer"),
        ({"openid": f"https://login.school.example/{'x' * 300}"}, "openid: at most 255"),
        ({"openid_client": ""}, "openid_client: the name"),
        ({"openid_secret": "x", "openid_secret_file": "y"}, "openid_secret: itself or a file"),
    ],
)
def test_settings_that_cannot_be_right(wrong, words):
    with pytest.raises(QuaestorError, match=words):
        Settings(**{"openid": "https://login.school.example", "openid_client": CLIENT, **wrong})
    assert provider_of(Settings()) is None
