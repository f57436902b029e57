"""The API: a test from its bank to its result, each request done once, clocks and rules."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select

import quaestor as qs
from helpers import browsing
from helpers.api_calls import KINDS_BANK, PLACES, ROUTES, begin, right, take
from quaestor.formats.files import dump_bytes
from quaestor.store import clock, corrections, publishing, teachers
from quaestor.store.attempts import state as attempt_state
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Event, Published, Reply
from quaestor.store.outcomes import rescoring
from quaestor.web.api import PREFIX
from quaestor.web.jobs import execution

KEYS = {"correct", "accept", "option_classes", "explanation", "table", "classes", "gain", "probability", "skill", "skills"}


def test_questions_of_several_parts_take_maps_lists_and_texts(world):
    api = world.api()
    bank = api.post("/banks", {"ending": ".yaml", "content": dump_bytes(qs.load("animals"), ".yaml").decode()}).json()
    rules = {"score": "order", "first": ["G3", "L1", "G4"], "stop": {"max_questions": 3}}
    test = api.post("/tests", {"bank": bank["id"], "rules": rules, "mode": "practice"}).json()
    state = begin(api, test["id"], "Ada")
    number, asked = state["session"], state["question"]
    assert [part["name"] for part in asked["parts"]] == ["frog", "cat", "sparrow", "adder"]
    assert asked["parts"][0]["options"] == asked["options"]
    wrong = api.post(f"/sessions/{number}/answers", {"step": 1, "entry": {"frog": "fish"}})
    assert (wrong.status_code, "G3: cat: the entry is empty" in wrong.json()["detail"]) == (422, True)
    entry = {"frog": "fish", "cat": "mammals", "sparrow": "birds", "adder": "reptiles"}
    state = api.post(f"/sessions/{number}/answers", {"step": 1, "entry": entry}).json()
    assert (state["feedback"]["value"], state["feedback"]["parts"]["frog"], state["feedback"]["parts"]["cat"]) == ("partly", False, True)
    assert json.loads(state["feedback"]["correct"][0]) == {"frog": "amphibians", "cat": "mammals", "sparrow": "birds", "adder": "reptiles"}
    items = list(qs.load("animals").questions["L1"].options)
    assert sorted(state["question"]["options"]) == sorted(items)
    state = api.post(f"/sessions/{number}/answers", {"step": 2, "entry": items}).json()
    assert (state["feedback"]["value"], state["question"]["parts"][0]) == ("right", {"name": "legs", "kind": "number", "options": []})
    state = api.post(f"/sessions/{number}/answers", {"step": 3, "entry": json.dumps({"legs": "8", "what": "no insect"})}).json()
    assert (state["over"], state["feedback"]["value"]) == (True, "right")


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
    told = [found for found in result["skills"] if found["enough"]]
    assert told
    assert [found for found in lines[-1]["after"] if found["enough"]] == told
    assert {found["level"] for found in result["skills"] if not found["enough"]} == {None}
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
        assert qs.formats.files.load_bytes(again.content, ending).version == bank.version
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
    assert api.get("/sessions/1/images/pie.png").status_code == 404
    assert (
        api.post("/banks", {"ending": ".yaml", "content": content, "images": {"pie.png": "%"}}).json()["problems"][0]["place"]
        == "images.pie.png"
    )


@pytest.mark.parametrize("mode", ["exam", "practice"])
def test_nothing_is_told_before_the_answer(small, mode):
    small.publish(qs.formats.files.load_bytes(KINDS_BANK.encode(), ".yaml"), 4, mode=mode)
    api, watcher = small.api("sessions"), small.api("results", "tests")
    bank = qs.formats.files.load_bytes(KINDS_BANK.encode(), ".yaml")
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


def test_what_was_asked_is_kept_so_that_it_cannot_be_tried_out(small):
    small.publish()
    small.api().post("/sessions", {"test": 1, "name": "Ada"}, key="one")
    small.api().post("/sessions", {"test": 1, "name": "Ada"}, key="two")  # with another token
    with small.database.read() as work:
        assert len(set(work.scalars(select(Reply.request)))) == 2


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
    with api.client, ThreadPoolExecutor(8) as pool:  # one event loop for all, as in a server
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


def test_a_corrected_test_tells_so_and_takes_no_answer_for_another(world):
    number = world.publish()
    api = world.api()
    assert (api.get(f"/tests/{number}").json()["revision"], api.get(f"/tests/{number}").json()["corrections"]) == (0, [])
    asked = begin(api)["question"]["id"]
    with world.database.work() as work:
        corrections.withdraw(work, work.get(Published, number), asked, "It was not taught.")
    told = api.get(f"/tests/{number}").json()
    assert told["revision"] == 1
    assert [(one["kind"], one["question"], one["note"]) for one in told["corrections"]] == [("withdrawn", asked, "It was not taught.")]
    assert api.get("/tests").json()["tests"] == [told]
    late = api.post("/sessions/1/answers", {"step": 1, "question": asked, "entry": "1"})
    assert (late.status_code, late.json()["type"], late.json()["step"]) == (409, "urn:quaestor:changed-question", 1)
    now = late.json()["state"]["question"]
    assert now["id"] != asked
    taken = api.post("/sessions/1/answers", {"step": 1, "question": now["id"], "entry": right(now)})
    assert (taken.status_code, taken.json()["step"]) == (200, 2)


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
    for module in (attempt_state, execution):
        monkeypatch.setattr(module, "now", lambda: clock.now() + timedelta(minutes=6))
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
        (pupil,) = class_lists.add_pupils(work, publishing.published(work, small.teacher, 2), ["Bob"])
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


def test_results_tell_which_session_counts_and_the_csv_is_that_of_the_pages(small):
    api, test = small.api(), small.publish(by_list=True, retakes="any")
    with small.database.work() as work:
        pupil = class_lists.add_pupils(work, work.get(Published, test), ["Ada"])[0]
    for _ in range(2):
        take(api, api.post("/sessions", {"test": test, "code": pupil.code}).json())
    rescoring.score_all(small.database, test, lambda share: True)
    rows = api.get(f"/tests/{test}/results").json()["results"]
    assert [(row["pupil"], row["name"], row["code"], row["counts"]) for row in rows] == [
        (pupil.id, "Ada", pupil.code, False),
        (pupil.id, "Ada", pupil.code, True),
    ]
    assert api.get(f"/tests/{test}/results?first=1&most=5").json()["results"] == rows[1:]
    assert api.get(f"/tests/{test}/results?most=1").json()["results"] == rows[:1]
    assert api.get(f"/tests/{test}/results?most=0").status_code == 422
    assert None not in [row["look"] for row in rows]
    with small.database.work() as work:
        login = teachers.log_in(work, small.teacher)
    for every, count in (("", 2), ("?every=true", 3)):
        sheet = api.get(f"/tests/{test}/results.csv{every}")
        assert len(sheet.text.splitlines()) == count
        signed_in = api.client.get(f"/teacher/tests/{test}/results.csv{every}", headers={"cookie": f"teacher={login}"})
        assert sheet.content == signed_in.content
    assert api.get(f"/tests/{test}/results.csv?every=perhaps").status_code == 422
