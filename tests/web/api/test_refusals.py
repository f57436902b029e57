"""The API: who may use it, wrong fields, hostile texts, and a database that is away."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import delete, select

import quaestor as qs
from helpers.api_calls import KINDS_BANK, PLACES, ROUTES, Api, begin, fits
from quaestor.store import clock, teachers
from quaestor.store.attempts import state
from quaestor.store.database import DamagedError, UnavailableError
from quaestor.store.models import Attempt, BankVersion, Token
from quaestor.web.api import PREFIX
from quaestor.web.jobs import execution

BODIES = {
    "/sessions": {"test": 1, "name": "Ada"},
    "/sessions/{session}/answers": {"step": 1, "entry": "1"},
    "/sessions/{session}/skips": {"step": 1},
    "/banks": {"ending": ".yaml", "content": KINDS_BANK},
    "/tests": {"bank": 1},
}


def request_to(api: Api, method, route, **places):
    path = route.path_format.removeprefix(PREFIX)
    return api.call(method, path.format(**{**PLACES, **places}), BODIES.get(path))


@pytest.mark.parametrize(("method", "route"), ROUTES, ids=[f"{method} {route.path_format}" for method, route in ROUTES])
def test_who_may_use_a_route(small, method, route):
    small.publish()
    begin(small.api())
    nobody = request_to(Api(small.app, None), method, route)
    assert (nobody.status_code, nobody.headers["www-authenticate"]) == (401, 'Bearer realm="quaestor"')
    assert request_to(Api(small.app, "forged"), method, route).status_code == 401
    without = [scope for scope in teachers.SCOPES if scope not in route.scopes]
    lacking = request_to(small.api(*without), method, route)
    assert (lacking.status_code, lacking.json()["type"]) == (403, "urn:quaestor:scope")
    if "{" in route.path_format or (route.path_format.endswith(("/sessions", "/tests")) and method == "POST"):
        theirs = request_to(small.api(teacher=small.other), method, route)
        missing = request_to(small.api(teacher=small.other), method, route, session="77", bank="77", test="77")
        assert (theirs.status_code, theirs.content) == (404, missing.content)
    if method == "GET" and "{" not in route.path_format:
        assert list(request_to(small.api(teacher=small.other), method, route).json().values()) == [[]]
    if "images" not in route.path_format:
        assert request_to(small.api(*route.scopes), method, route).status_code < 500


def test_a_wrong_token_learns_nothing_else(small):
    for body in ({"tset": 1}, None):
        assert Api(small.app, "forged").call("POST", "/sessions", body).status_code == 401
        assert small.api("banks").call("POST", "/sessions", body).status_code == 403
    assert Api(small.app, "forged").call("POST", "/sessions", {}, key="").status_code == 401


def test_wrong_tokens_are_counted(world):
    api, forged = world.api(), Api(world.app, "forged")
    for _ in range(60):
        assert forged.get("/tests").status_code == 401
    refused = forged.get("/tests")
    assert (refused.status_code, refused.json()["type"]) == (429, "urn:quaestor:limit")
    assert 0 < int(refused.headers["retry-after"]) <= 600
    assert api.get("/tests").status_code == 200
    assert Api(world.app, None).get("/tests").status_code == 401


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer  ", "Basic abc", "bearer-x", "Token x"])
def test_other_ways_to_sign_in_do_not_count(small, header):
    refused = small.api().client.get(f"{PREFIX}/tests", headers={"authorization": header})
    assert (refused.status_code, refused.json()["type"]) == (401, "urn:quaestor:token")


def test_a_token_is_noted_as_used(small):
    api = small.api("tests")
    api.get("/tests")
    with small.database.read() as work:
        assert work.scalar(select(Token)).used is not None


def test_problems_of_a_bank_have_their_places(small):
    api = small.api()
    wrong = KINDS_BANK.replace("[0.1234567, 0.9]", "[0.1, 1.9]").replace("kind: number", "kimd: number")
    refused = api.post("/banks", {"ending": ".yaml", "content": wrong})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:quaestor:bank")
    found = {one["place"]: one for one in refused.json()["problems"]}
    assert found["questions.number.kimd"]["hint"] == "did you mean 'kind'?"
    assert found["questions.several.right[1]"]["where"] == "line 19"
    assert set(found["questions.several.right[1]"]) == {"place", "rule", "value", "hint", "where"}


def test_problems_of_rules_have_their_places(small):
    small.publish()
    refused = small.api().post("/tests", {"bank": 1, "rules": {"scor": "mode", "stop": {"max_question": 3}}})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:quaestor:rules")
    assert [one["hint"] for one in refused.json()["problems"]] == ["did you mean 'score'?", "did you mean 'max_questions'?"]


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        ({"bank": 1, "minuts": 3}, "minuts", "did you mean 'minutes'?"),
        ({"bank": "1"}, "bank", "valid integer"),
        ({"bank": True}, "bank", "valid integer"),
        ({"bank": 2**40}, "bank", "less than or equal"),
        ({}, "bank", "required"),
        ({"bank": 1, "opens": 5}, "opens", "a time is a text"),
        ({"bank": 1, "opens": "2026-01-01T00:00:00"}, "opens", "timezone"),
        ({"bank": 1, "opens": "0001-01-01T00:00:00+10:00"}, "opens", "in every zone"),
        ({"bank": 1, "minutes": 0}, "minutes", "greater than 0"),
        ({"bank": 1, "mode": "party"}, "mode", "'exam' or 'practice'"),
        ([1], "body", "dictionary"),
    ],
)
def test_wrong_fields_are_named(small, body, place, words):
    refused = small.api().post("/tests", body)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:quaestor:request")
    assert [one["place"] for one in refused.json()["problems"]] == [place]
    assert words in json.dumps(refused.json()["problems"][0])


def test_unknown_words_in_an_address_are_refused(small):
    api = small.api("results")
    refused = api.get("/tests/1/results.csv?evry=true")
    assert refused.status_code == 422
    assert "evry: a known field is expected, got 'evry' (did you mean 'every'?)" in refused.text
    assert api.get("/tests/1/results?x=1").status_code == 422


def test_conditions_that_contradict(small):
    small.publish()
    body = {"bank": 1, "opens": "2026-01-02T00:00:00Z", "closes": "2026-01-01T00:00:00+01:00"}
    refused = small.api().post("/tests", body)
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("closes: later than it opens")


def test_bodies_that_are_no_json(small):
    api = small.api()
    keyed = {**api.headers, "idempotency-key": "a"}
    for content, kind, status in (
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"test": ' + b"1" * 5000 + b"}", "application/json", 400),
        (b"", "application/json", 422),
        (b"test=1", "application/x-www-form-urlencoded", 415),
        (b"{}", "text/plain", 415),
    ):
        refused = api.client.post(f"{PREFIX}/sessions", content=content, headers={**keyed, "content-type": kind})
        assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json"), (content[:20], refused.text)
    odd = {"test": 1, "name": "\ud800"}
    refused = api.client.post(f"{PREFIX}/sessions", content=json.dumps(odd).encode(), headers={**keyed, "content-type": "application/json"})
    assert refused.status_code == 422
    odd = {"bank": 1, "rules": {"\ud800": "\ud800"}}
    small.publish()
    refused = api.client.post(f"{PREFIX}/tests", content=json.dumps(odd).encode(), headers={**keyed, "content-type": "application/json"})
    assert refused.status_code == 422


@pytest.mark.parametrize("odd", ["\0", "\ud800", "\u202e", "<script>alert(1)</script>", "=1+1", "../../etc/passwd", "%s{0}", "x" * 200])
def test_hostile_texts_are_refused_or_neutral(world, odd):
    world.publish()
    api = world.api()
    bank = {**qs.load("multiplication").document, "title": odd}
    bank["questions"]["Q1"]["text"] = f"{odd} What?"
    bodies = {
        "/banks": {"ending": ".json", "content": json.dumps(bank)},
        "/tests": {"bank": 1, "title": odd, "rules": {"score": odd, odd: odd}},
        "/sessions": {"test": 1, "name": f"A{odd}"[:200]},
        "/sessions/1/answers": {"step": 1, "entry": odd},
    }
    for path, body in bodies.items():
        sent = {
            "content": json.dumps(body).encode(),
            "headers": {**api.headers, "content-type": "application/json", "idempotency-key": path},
        }
        response = api.client.post(PREFIX + path, **sent)
        assert response.status_code in (200, 201, 422), response.text
        fits("POST", PREFIX + path, response)
        assert api.client.post(PREFIX + path, **sent).content == response.content
    for path in ("/banks", "/tests", "/tests/1/results", "/tests/1/results.csv", "/sessions/1", "/sessions/1/history"):
        assert api.get(path).status_code in (200, 404)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "-1", "9" * 300])
def test_numbers_that_are_none(small, number):
    small.publish()
    api = small.api()
    for body in (
        f'{{"bank": {number}}}',
        f'{{"bank": 1, "minutes": {number}}}',
        f'{{"bank": 1, "rules": {{"stop": {{"probability_above": {number}}}}}}}',
        f'{{"bank": 1, "rules": {{"exposure": {{"most": {number}}}}}}}',
    ):
        keyed = {**api.headers, "content-type": "application/json", "idempotency-key": "a"}
        refused = api.client.post(f"{PREFIX}/tests", content=body.encode(), headers=keyed)
        assert refused.status_code == 422, body
        fits("POST", f"{PREFIX}/tests", refused)


def test_bodies_that_are_too_large(small):
    api = small.api()
    keyed = {**api.headers, "idempotency-key": "a", "content-type": "application/json"}
    large = json.dumps({"ending": ".yaml", "content": "x" * 10_000_001}).encode()
    pieces = (large[start : start + 65536] for start in range(0, len(large), 65536))
    for content in (large, pieces):
        refused = api.client.post(f"{PREFIX}/banks", content=content, headers=keyed)
        assert (refused.status_code, refused.headers["content-type"]) == (413, "application/problem+json")
        assert refused.json()["type"] == "urn:quaestor:too-large"


def test_addresses_and_methods_that_are_not_there(small):
    api = small.api()
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("PUT", "/tests", 405),
        ("DELETE", "/banks/1", 405),
        ("GET", "/sessions/x", 422),
    ):
        assert api.call(method, path).status_code == status


def test_a_database_that_is_away(small, monkeypatch):
    api = small.api()

    def away():
        raise UnavailableError

    monkeypatch.setattr(small.database, "work", away)
    monkeypatch.setattr(small.database, "read", away)
    for refused in (api.get("/tests"), api.post("/sessions", {"test": 1, "name": "Ada"}), Api(small.app, "forged").get("/tests")):
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:quaestor:unavailable")
        assert int(refused.headers["retry-after"]) >= 5


def test_a_database_that_is_damaged(small, monkeypatch):
    api = small.api()

    def damaged():
        raise DamagedError

    monkeypatch.setattr(small.database, "read", damaged)
    refused = api.get("/tests").json()
    assert (refused["status"], refused["type"]) == (500, "urn:quaestor:error")
    assert refused["detail"] == "the database of this server is damaged; please tell the people who run it"


def test_an_error_that_nobody_foresaw(small, monkeypatch):
    api = small.api()

    def broken():
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(small.database, "read", broken)
    failed = api.get("/tests")
    assert (failed.status_code, failed.json()["type"]) == (500, "urn:quaestor:error")
    assert "secret" not in failed.text


def test_what_is_deleted_between_reading_and_writing_is_missing(small, monkeypatch):
    api, test = small.api(), small.publish(minutes=10)
    bank = api.post("/banks", {"ending": ".yaml", "content": KINDS_BANK}).json()["id"]
    real = small.database.work

    def meanwhile(**options):
        with real() as work:
            work.execute(delete(Attempt))
            work.execute(delete(BankVersion).where(BankVersion.id == bank))
        return real(**options)

    monkeypatch.setattr(small.database, "work", meanwhile)
    assert api.post("/tests", {"bank": bank}).status_code == 404
    monkeypatch.setattr(small.database, "work", real)
    number = begin(api, test)["session"]
    monkeypatch.setattr(small.database, "work", meanwhile)
    for module in (state, execution):
        monkeypatch.setattr(module, "now", lambda: clock.now() + timedelta(hours=1))
    assert api.get(f"/sessions/{number}").status_code == 404
