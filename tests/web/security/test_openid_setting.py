"""What `quaestor doctor` says of the provider by which teachers sign in."""

import pytest

pytest.importorskip("authlib", reason="the extra `openid` is not installed")
from helpers import openid_provider
from helpers.openid_provider import CLIENT, SECRET
from quaestor.web.checkup.provider_check import openid as look
from quaestor.web.security import openid
from quaestor.web.settings import Settings


@pytest.fixture
def there(monkeypatch):
    monkeypatch.setattr(openid, "_known", {})
    with openid_provider.running() as made:
        yield made


def found(**settings):
    one, *more = look(Settings(openid_client=CLIENT, address="https://tests.school.example", **settings))
    assert not more
    return one.state, f"{one.words} {one.mend}"


def test_no_provider_is_nothing_to_say():
    assert look(Settings()) == []


def test_a_provider_that_answers_is_fine(there, tmp_path):
    assert found(openid=there.issuer, openid_secret=SECRET, openid_name="School login") == (
        "fine",
        f"Teachers can sign in by School login: {there.issuer} answers. ",
    )


@pytest.mark.parametrize("fault", ["no JSON", "calls itself something else", "a token endpoint elsewhere"])
def test_one_that_is_none_is_wrong(there, fault):
    there.fault = fault
    state, words = found(openid=there.issuer)
    assert state == "wrong"
    assert {"no JSON": "no JSON at", "calls itself something else": "it calls itself"}.get(fault, "its token endpoint is") in words


def test_one_that_is_away_is_wrong(monkeypatch):
    monkeypatch.setattr(openid, "_known", {})
    assert found(openid="http://127.0.0.1:9")[0] == "wrong"


def test_a_secret_that_others_can_read_or_nobody_can(there, tmp_path):
    file = tmp_path / "secret"
    assert "a file that can be read" in found(openid=there.issuer, openid_secret_file=str(file))[1]
    file.write_text(SECRET)
    file.chmod(0o640)
    assert found(openid=there.issuer, openid_secret_file=str(file)) == (
        "wrong",
        f"Others than the user of the server can read the secret in {file}. chmod 600 {file}",
    )
    file.chmod(0o600)
    assert found(openid=there.issuer, openid_secret_file=str(file))[0] == "fine"


def test_without_an_address_nobody_finds_back(there):
    (one,) = look(Settings(openid=there.issuer, openid_client=CLIENT))
    assert (one.state, "--address" in one.mend) == ("wrong", True)
