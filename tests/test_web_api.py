"""The HTTP API: a test from the bank to the result, writes that are done once, who sees what, and errors that can be read by programs."""

import base64
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import browsing
import pytest
from api_calls import KINDS_BANK, PLACES, ROUTES, Api, World, fits, right
from databases import KINDS
from servers import Server
from sqlalchemy import func, select
from starlette.testclient import TestClient

import quaestor as qs
from quaestor.formats import dump_bytes
from quaestor.store import clock, publishing, sittings, teachers
from quaestor.store.database import UnavailableError
from quaestor.store.models import Attempt, Event, Reply, Token
from quaestor.web.api import PREFIX, shapes
from quaestor.web.api.description import TYPES, _example
from quaestor.web.api.routes import document

ROOT = Path(__file__).parents[1]
KEYS = {"correct", "accept", "option_classes", "explanation", "table", "classes", "gain", "probability", "skill", "skills"}


@pytest.fixture
def world(database):
    return World(database)


@pytest.fixture
def small(make_database):
    """For what does not depend on the database."""
    return World(make_database("sqlite"))


def begin(api, test=1, name="Ada"):
    made = api.post("/sessions", {"test": test, "name": name})
    assert made.status_code == 201, made.text
    return made.json()


def take(api, state):
    """Answer rightly until the end; the last reply."""
    while not state["over"]:
        body = {"step": state["step"], "entry": right(state["question"])}
        state = api.post(f"/sessions/{state['session']}/answers", body).json()
    return state


def test_a_test_from_the_bank_to_the_result(world):
    api = world.api()
    content = dump_bytes(qs.load("fractions"), ".yaml").decode()
    bank = api.post("/banks", {"ending": ".yaml", "content": content}).json()
    assert (bank["title"], bank["questions"], len(bank["skills"]), bank["warnings"]) == ("Fractions", 44, 5, [])
    rules = {"score": "order", "stop": {"max_questions": 3}}
    test = api.post("/tests", {"bank": bank["id"], "title": "Fractions, 6a", "rules": rules, "minutes": 30}).json()
    assert (test["title"], test["bank_version"], test["rules"]) == ("Fractions, 6a", bank["version"], rules)
    assert test["link"].endswith(f"/c/{test['code']}")
    state = begin(api, test["id"], " Ada  L. ")
    number = state["session"]
    assert (state["step"], state["most_left"], state["over"]) == (1, 3, False)
    assert 1790 < state["seconds_left"] <= 1800
    assert api.get(f"/sessions/{number}/next").json()["question"] == state["question"]
    state = api.post(f"/sessions/{number}/answers", {"step": 1, "entry": right(state["question"])}).json()
    assert (state["step"], state["feedback"], state["result"]) == (2, None, None)
    state = api.post(f"/sessions/{number}/skips", {"step": 2}).json()
    shown = api.get(f"/sessions/{number}").json()
    assert (shown["name"], shown["asked"], shown["step"], shown["skills"], shown["ended"]) == ("Ada L.", 2, 3, 5, None)
    done = take(api, state)
    assert (done["over"], done["question"], done["reason"]) == (True, None, "3 questions were asked; the limit is 3.")
    result = api.get(f"/sessions/{number}/result").json()
    assert result == done["result"]
    assert [found["skill"] for found in result["skills"]] == list(qs.load("fractions").skills)
    assert set(result["practise"]) <= set(qs.load("fractions").skills)
    lines = api.get(f"/sessions/{number}/history").json()["lines"]
    assert [line["value"] for line in lines] == ["right", "skipped", "right"]
    assert lines[0]["why"].startswith(f"Why {lines[0]['question']}")
    assert lines[-1]["after"] == result["skills"]
    (row,) = api.get(f"/tests/{test['id']}/results").json()["results"]
    assert (row["session"], row["name"], row["state"], row["questions"], row["right"]) == (number, "Ada L.", "over", 3, 2)
    sheet = api.get(f"/tests/{test['id']}/results.csv")
    assert sheet.headers["content-type"].startswith("text/csv")
    assert "Ada L." in sheet.text
    assert api.get("/tests").json()["tests"] == [api.get(f"/tests/{test['id']}").json()]
    assert api.get(f"/sessions/{number}").json()["ended"] is not None


def test_banks_go_in_and_out_in_every_format(small):
    api = small.api("banks")
    bank = qs.load("fractions")
    for ending in (".yaml", ".json", ".csv", ".xlsx"):
        content = base64.b64encode(dump_bytes(bank, ending)).decode()
        made = api.post("/banks", {"ending": ending, "content": content, "encoding": "base64"}).json()
        assert made["version"] == bank.version
        again = api.client.get(f"{PREFIX}/banks/{made['id']}/content?ending={ending}", headers=api.headers)
        assert qs.formats.load_bytes(again.content, ending).version == bank.version
    assert [kept["title"] for kept in api.get("/banks").json()["banks"]] == ["Fractions"]
    assert api.get("/banks/1").json() == {**api.get("/banks").json()["banks"][0], "skills": made["skills"], "warnings": []}


def test_images_come_with_their_questions(small):
    api = small.api()
    images = {"pie.png": base64.b64encode(browsing.PICTURE).decode()}
    content = dump_bytes(browsing.KINDS, ".yaml").decode()
    assert api.post("/banks", {"ending": ".yaml", "content": content}).status_code == 422
    bank = api.post("/banks", {"ending": ".yaml", "content": content, "images": images}).json()
    assert bank["images"] == ["pie.png"]
    test = api.post("/tests", {"bank": bank["id"], "rules": {"score": "order"}}).json()
    question = begin(api, test["id"])["question"]
    assert question["alt"] == "A pie cut into four"
    shown = api.client.get(question["image"], headers=api.headers)
    assert (shown.headers["content-type"], shown.content) == ("image/png", browsing.PICTURE)
    assert api.get("/sessions/1/images/other.png").status_code == 404
    assert (
        api.post("/banks", {"ending": ".yaml", "content": content, "images": {"pie.png": "%"}}).json()["problems"][0]["place"]
        == "images.pie.png"
    )


@pytest.mark.parametrize("mode", ["exam", "practice"])
def test_nothing_is_told_before_the_answer(small, mode):
    small.publish(qs.formats.load_bytes(KINDS_BANK.encode(), ".yaml"), 4, mode=mode)
    api, watcher = small.api("sessions"), small.api("results", "tests")
    bank = qs.formats.load_bytes(KINDS_BANK.encode(), ".yaml")
    entries = {"one": "middle", "several": ["w3"], "number": "1", "word": "harp"}
    keys: dict[str, list[str]] = {"number": ["48151"], "word": ["xylophone"]}
    state, answered = begin(api), set()
    while not state["over"]:
        question = state["question"]
        path = f"/sessions/{state['session']}"
        for read in (path, f"{path}/next", f"{path}/result", f"{path}/history"):
            api.get(read)
        api.post(f"{path}/answers", {"step": state["step"], "entry": ""})
        api.post(f"{path}/answers", {"step": state["step"] + 1, "entry": "x"})
        for read in (f"{path}/history", f"{path}/result", "/tests", "/tests/1", "/tests/1/results", "/tests/1/results.csv"):
            assert watcher.get(read).status_code == 200
        hidden = [name for name in bank.questions if name not in answered or mode == "exam"]
        told = "\n".join(api.replies + watcher.replies)
        for name in hidden:
            assert f"SECRET-{name}" not in told
            assert not [secret for secret in keys.get(name, []) if secret in told]
        assert "0.12345" not in told
        for reply in api.replies:
            shown = json.loads(reply)
            assert not KEYS & set(members(shown.get("question"))) | KEYS & set(members(shown.get("state")))
        answered.add(question["id"])
        state = api.post(f"{path}/answers", {"step": state["step"], "entry": entries[question["id"]]}).json()
        if mode == "practice":
            assert state["feedback"]["explanation"] == f"SECRET-{question['id']}"
            assert state["feedback"]["value"] == ("partly" if question["id"] == "one" else "wrong")
    if mode == "exam":
        assert "SECRET" not in "\n".join(api.replies)
    assert [one for one in (small.api().get("/sessions/1/history").json()["lines"]) if one["answer"] is None] == []


def members(value):
    """All names of fields within a reply."""
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from members(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner)


def test_the_same_request_is_done_once(world):
    world.publish()
    api = world.api()
    first = api.post("/sessions", {"test": 1, "name": "Ada"}, key="begin")
    again = api.post("/sessions", {"test": 1, "name": "Ada"}, key="begin")
    assert (again.status_code, again.content) == (201, first.content)
    other = api.post("/sessions", {"test": 1, "name": "Bob"}, key="begin")
    assert (other.status_code, other.json()["type"]) == (422, "urn:quaestor:key-used")
    state = first.json()
    body = {"step": 1, "entry": right(state["question"])}
    replies = [api.post("/sessions/1/answers", body, key="answer") for _ in range(3)]
    assert {reply.content for reply in replies} == {replies[0].content}
    assert api.post("/sessions/1/skips", {"step": 1}, key="answer").status_code == 422
    assert world.api().post("/sessions/1/answers", body, key="answer").status_code == 409  # the keys of another token are others
    with world.database.read() as work:
        assert work.scalar(select(func.count()).select_from(Attempt)) == 1
        assert work.scalar(select(func.count()).select_from(Event)) == 1


def test_a_refusal_is_not_kept(small):
    small.publish()
    api = small.api()
    begin(api)
    assert api.post("/sessions/1/answers", {"step": 1, "entry": " "}, key="a").status_code == 422
    question = api.get("/sessions/1/next").json()["question"]
    assert api.post("/sessions/1/answers", {"step": 1, "entry": right(question)}, key="a").status_code == 200


def test_equal_requests_at_the_same_moment(world):
    world.publish(questions=5)
    api = world.api()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: api.post("/sessions", {"test": 1, "name": "Ada"}, key="begin"), range(8)))
        assert {reply.status_code for reply in made} == {201}
        assert len({reply.content for reply in made}) == 1
        path = f"/sessions/{made[0].json()['session']}"
        body = {"step": 1, "entry": right(made[0].json()["question"])}
        put = list(pool.map(lambda _: api.post(f"{path}/answers", body, key="answer"), range(8)))
        assert {reply.status_code for reply in put} == {200}
        assert len({reply.content for reply in put}) == 1
        others = list(pool.map(lambda n: api.post(f"{path}/skips", {"step": 2}, key=f"skip-{n}"), range(8)))
        assert sorted(reply.status_code for reply in others) == [200] + [409] * 7
        gone = list(pool.map(lambda _: api.call("DELETE", path, key="delete"), range(8)))
        assert {reply.status_code for reply in gone} == {204}
    with world.database.read() as work:
        assert work.scalar(select(func.count()).select_from(Attempt)) == 0


def test_a_write_needs_a_key(small):
    api = small.api()
    for method, route in ROUTES:
        if method != "GET":
            for key in ("", " ", "x" * 201, "a b"):
                wrong = {"idempotency-key": key} if key else {}
                refused = api.client.request(method, route.path_format.format(**PLACES), headers={**api.headers, **wrong}, json={})
                assert (refused.status_code, refused.json()["type"]) == (400, "urn:quaestor:key-missing")


def test_a_stale_step_is_told_where_the_session_stands(world):
    world.publish()
    api = world.api("sessions")
    state = begin(api)
    after = api.post("/sessions/1/answers", {"step": 1, "entry": right(state["question"])}).json()
    for step in (1, 3):
        stale = api.post("/sessions/1/answers", {"step": step, "entry": right(state["question"])})
        assert (stale.status_code, stale.json()["step"]) == (409, 2)
        assert stale.json()["state"]["question"] == after["question"]
    take(api, after)
    over = api.post("/sessions/1/answers", {"step": 4, "entry": "1"})
    assert (over.status_code, over.json()["type"], over.json()["state"]["over"]) == (409, "urn:quaestor:over", True)


def test_a_result_is_read_after_the_end(small):
    small.publish()
    platform, teacher = small.api("sessions"), small.api("results")
    state = begin(platform)
    early = platform.get("/sessions/1/result")
    assert (early.status_code, early.json()["type"]) == (409, "urn:quaestor:running")
    assert teacher.get("/sessions/1/result").json()["over"] is False
    take(platform, state)
    assert platform.get("/sessions/1/result").json() == teacher.get("/sessions/1/result").json()


def test_time_runs_out(world, monkeypatch):
    world.publish(minutes=5)
    api = world.api()
    state = begin(api)
    monkeypatch.setattr(sittings, "now", lambda: clock.now() + timedelta(minutes=6))
    late = api.post("/sessions/1/answers", {"step": 1, "entry": right(state["question"])})
    assert (late.status_code, late.json()["type"]) == (409, "urn:quaestor:over")
    shown = api.get("/sessions/1").json()
    assert (shown["over"], shown["reason"], shown["question"], shown["seconds_left"]) == (True, "The time is up.", None, None)
    assert shown["ended"] is not None
    assert api.get("/tests/1/results").json()["results"][0]["state"] == "over"


def test_tests_that_cannot_be_begun(small):
    api = small.api()
    small.publish(closes=clock.now() - timedelta(hours=1))
    closed = api.post("/sessions", {"test": 1, "name": "Ada"})
    assert (closed.status_code, closed.json()["type"], closed.json()["detail"]) == (409, "urn:quaestor:closed", "this test is closed")
    small.publish(by_list=True)
    assert api.post("/sessions", {"test": 2, "name": "Ada"}).status_code == 409
    with small.database.work() as work:
        (pupil,) = publishing.add_pupils(work, publishing.published(work, small.teacher, 2), ["Bob"])
    first = api.post("/sessions", {"test": 2, "code": pupil.code.lower()}).json()
    again = api.post("/sessions", {"test": 2, "code": pupil.code}).json()
    assert first["session"] == again["session"]
    assert api.get(f"/sessions/{first['session']}").json()["name"] == "Bob"
    assert api.post("/sessions", {"test": 1, "code": pupil.code}).status_code == 422
    for body in ({"test": 2}, {"test": 2, "name": "Bob", "code": pupil.code}):
        assert "one of the two is given" in api.post("/sessions", body).json()["detail"]


def test_rules_may_forbid_to_skip(small):
    small.publish()
    api = small.api()
    test = api.post("/tests", {"bank": 1, "rules": {"may_skip": False}}).json()
    state = begin(api, test["id"])
    assert state["may_skip"] is False
    refused = api.post(f"/sessions/{state['session']}/skips", {"step": 1})
    assert refused.status_code == 422
    assert "let no question be skipped" in refused.json()["detail"]


def test_deleted_sessions_leave_nothing(world):
    world.publish(mode="practice")
    api = world.api()
    state = begin(api)
    body = {"step": 1, "entry": right(state["question"])}
    api.post("/sessions/1/answers", body, key="answer")
    assert api.call("DELETE", "/sessions/1", key="gone").status_code == 204
    assert api.call("DELETE", "/sessions/1", key="gone").status_code == 204
    assert api.call("DELETE", "/sessions/1").status_code == 404
    assert api.post("/sessions/1/answers", body, key="answer").status_code == 404
    assert api.get("/sessions/1").status_code == 404
    with world.database.read() as work:
        assert work.scalar(select(func.count()).select_from(Event)) == 0
        assert "explanation" not in json.dumps([kept.body for kept in work.scalars(select(Reply))])


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


def test_an_error_that_nobody_foresaw(small, monkeypatch):
    api = small.api()

    def broken():
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(small.database, "read", broken)
    failed = api.get("/tests")
    assert (failed.status_code, failed.json()["type"]) == (500, "urn:quaestor:error")
    assert "secret" not in failed.text


def test_examples_fit_their_shapes():
    found = [shape for shape in vars(shapes).values() if isinstance(shape, type) and issubclass(shape, shapes.BaseModel)]
    for shape in found:
        if "json_schema_extra" in shape.model_config and shape not in (shapes.Asked, shapes.Sent):
            shape.model_validate(_example(shape))
    assert qs.formats.load_bytes(_example(shapes.NewBank)["content"].encode(), ".yaml").warnings == ()


def test_everything_is_described(small):
    shown = small.api().client.get(f"{PREFIX}/openapi.json").json()
    assert shown == document()
    for method, route in ROUTES:
        operation = shown["paths"][route.path_format][method.lower()]
        assert operation["summary"]
        assert operation["security"]
        for status, response in operation["responses"].items():
            assert response["description"]
            assert all("example" in content for content in response.get("content", {}).values())
            assert list(response.get("content", {})) == ["application/problem+json"] or int(status) < 300
        if "requestBody" in operation:
            assert "example" in operation["requestBody"]["content"]["application/json"]


def test_the_docs_name_every_route_scope_and_type():
    text = (ROOT / "docs" / "http-api.md").read_text(encoding="utf-8")
    for method, route in ROUTES:
        assert f"| `{method} {route.path_format.removeprefix(PREFIX)}` | {', '.join(route.scopes)} |" in text
    for kind in TYPES:
        assert re.search(rf"^\| {kind.status} \| .*`{kind.name}`", text, re.MULTILINE), kind


def test_the_page_for_people(small):
    page = small.api().client.get(PREFIX)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for method, route in ROUTES:
        assert f"{method} {route.path_format}" in page.text


def test_below_a_path_prefix(small):
    small.publish()
    token = small.api().headers
    client = TestClient(small.app, root_path="/quaestor")
    assert client.get(f"{PREFIX}/openapi.json").json()["servers"] == [{"url": "/quaestor"}]
    assert client.get(f"{PREFIX}/nothing", headers=token).headers["content-type"] == "application/problem+json"
    assert client.get(f"{PREFIX}/tests/1", headers=token).json()["link"].startswith("http://testserver/quaestor/c/")


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_client(make_database, kind):
    database = make_database(kind)
    world = World(database)
    test = world.publish("multiplication", 2)
    token = world.api("sessions").headers["authorization"].removeprefix("Bearer ")
    with Server(database.engine.url.render_as_string(hide_password=False)) as server:
        command = [sys.executable, str(ROOT / "examples" / "api_client.py"), f"http://127.0.0.1:{server.port}", token, str(test), "Ada"]
        done = subprocess.run(command, input="50\n\n", capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "Multiplying whole numbers: yes (75% to 75%, not sure yet)"
    with database.read() as work:
        assert work.execute(select(Event.question, Event.answer).order_by(Event.step)).all() == [("Q1", "right"), ("Q2", None)]
