"""CAT 1.0: a delivery system uses this server as its adaptive engine, by the calls and payloads of the standard."""

import json
import shutil
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

import quaestor as qs
from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.store import publishing, teachers
from quaestor.store.database import Database
from quaestor.web.app import create
from quaestor.web.cat.endpoint import described
from quaestor.web.cat.item_scores import answer_class, with_results
from quaestor.web.cat.payloads import ItemResult
from quaestor.web.settings import Settings

BASE = "/ims/cat/v1p0"
RULES = qs.Rules(score="entropy", stop=qs.any_of(qs.max_questions(6), qs.entropy_below(0.2)))


@pytest.fixture(scope="module")
def world(migrated_file, tmp_path_factory):
    """A client with a token, and the number of a test."""
    path = tmp_path_factory.mktemp("cat") / "quaestor.db"
    shutil.copy(migrated_file, path)
    database = Database(f"sqlite:///{path}")
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, owner, qs.load("fractions"))
        test = publishing.publish(work, owner, kept, RULES, publishing.Conditions())
        token = teachers.api_token(work, owner, "delivery", ["sessions", "tests"])
        number, bank = test.id, kept.id
    client = TestClient(create(Settings(), database), base_url="http://localhost", headers={"authorization": f"Bearer {token}"})
    yield client, number, bank
    database.close()


def encoded(configuration):
    return b64encode(json.dumps(configuration).encode()).decode()


@pytest.fixture(scope="module")
def section(world):
    client, test, _ = world
    made = client.post(f"{BASE}/sections", json={"sectionConfiguration": encoded({"test": test})})
    assert made.status_code == 201, made.text
    assert set(made.json()) == {"sectionIdentifier"}
    return f"{BASE}/sections/{made.json()['sectionIdentifier']}"


def begun(client, section):
    made = client.post(f"{section}/sessions", json={})
    assert made.status_code == 201, made.text
    assert set(made.json()) == {"sessionIdentifier", "nextItems", "sessionState"}
    return f"{section}/sessions/{made.json()['sessionIdentifier']}", made.json()


def scored(item, score, **more):
    """A result as the standard has it, with nothing but a score."""
    outcome = {"identifier": "SCORE", "cardinality": "single", "baseType": "float", "value": [{"value": str(score)}]}
    return {"identifier": item, "datestamp": "2026-11-17T09:00:00Z", "sessionStatus": "final", "outcomeVariables": [outcome], **more}


def sent(client, session, state, *results):
    return client.post(f"{session}/results", json={"assessmentResult": {"itemResult": list(results)}, "sessionState": state})


def test_a_section_tells_its_pool_and_what_was_sent(world, section):
    client, test, _ = world
    shown = client.get(section).json()
    assert shown["section"] == {"sectionConfiguration": encoded({"test": test})}
    assert shown["items"]["itemIdentifiers"] == list(qs.load("fractions").questions)


def test_items_come_as_the_engine_picks_them_until_the_list_is_empty(world, section):
    client, _, _ = world
    session, told = begun(client, section)
    own = qs.Session(qs.load("fractions"), RULES)
    for step in range(7):
        expected = [own.next.id] if own.next is not None else []
        assert told["nextItems"]["itemIdentifiers"] == expected
        if not expected:
            break
        assert told["nextItems"]["stageLength"] == 1
        score = step % 2
        reply = sent(client, session, told["sessionState"], scored(expected[0], score))
        assert reply.status_code == 201, reply.text
        told = reply.json()
        assert set(told) == {"nextItems", "assessmentResult", "sessionState"}
        own = own.answer(expected[0], "right" if score else "wrong")
    assert own.next is None
    variables = {one["identifier"]: one["value"][0]["value"] for one in told["assessmentResult"]["testResult"]["outcomeVariables"]}
    for skill, bounds in own.beliefs.items():
        level = variables[f"LEVEL.{skill}"]
        assert float(variables[f"LOWER.{skill}"]) == pytest.approx(bounds.lower[bounds.states.index(level)], abs=1e-6)


def test_a_stage_that_is_sent_twice_counts_once(world, section):
    client, _, _ = world
    session, told = begun(client, section)
    item = told["nextItems"]["itemIdentifiers"][0]
    first = sent(client, session, told["sessionState"], scored(item, 1)).json()
    again = sent(client, session, told["sessionState"], scored(item, 1)).json()
    assert again["nextItems"] == first["nextItems"]
    assert again["sessionState"] == first["sessionState"] == "1"
    other = sent(client, session, first["sessionState"], scored(item, 0))
    assert other.status_code == 400
    assert "one result" in other.json()["imsx_description"]


def test_what_clients_send_in_practice(world, section):
    """Capitals, null for what is absent, trace variables, no state, metadata as text."""
    client, test, _ = world
    configured = {"sectionConfiguration": encoded({"test": test}), "qtiUsagedata": None, "qtiMetadata": "PHhtbC8+"}
    assert client.post(f"{BASE}/sections", json=configured).status_code == 201
    session, told = begun(client, section)
    item = scored(told["nextItems"]["itemIdentifiers"][0], 1, sessionStatus="FINAL", responseVariables=None, traceVariables=[])
    item["outcomeVariables"][0]["baseType"] = "FLOAT"
    reply = client.post(f"{session}/results", json={"assessmentResult": {"context": None, "itemResult": [item], "testResult": None}})
    assert reply.status_code == 201, reply.text
    assert (
        client.post(f"{section}/sessions", json={"priorData": [{"key": "theta", "value": "0.3"}], "demographics": "e30="}).status_code
        == 201
    )


def test_a_bank_travels_in_the_configuration(world):
    client, _, bank = world
    document = {"quaestor": 1, **qs.load("multiplication").document}
    for configuration in ({"bank": document, "rules": {"score": "order"}}, {"bank": bank, "rules": {"score": "order"}}):
        made = client.post(f"{BASE}/sections", json={"sectionConfiguration": encoded(configuration)})
        assert made.status_code == 201, made.text
        _, told = begun(client, f"{BASE}/sections/{made.json()['sectionIdentifier']}")
        assert len(told["nextItems"]["itemIdentifiers"]) == 1


@pytest.mark.parametrize(
    "configuration",
    [
        "no base64!", "e30=", encoded([1]), encoded("test"), encoded({"test": 1, "bank": 1}), encoded({"test": "1"}),
        encoded({"test": True}),
        encoded({"bank": {"quaestor": 1}}), encoded({"bank": 1, "rules": {"scor": "mode"}}), encoded({"test": 1, "colour": "red"}), "",
        b64encode(b"[" * 100_000).decode(), encoded({"bank": -1}), encoded({"bank": 10**30}),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_is_refused(world, configuration):
    reply = world[0].post(f"{BASE}/sections", json={"sectionConfiguration": configuration})
    judged(reply, 400, "invaliddata")


def judged(reply, status, code):
    """An error in the form of the standard."""
    assert reply.status_code == status, reply.text
    told = reply.json()
    assert (told["imsx_codeMajor"], told["imsx_severity"]) == ("failure", "error")
    assert told["imsx_description"]
    (field,) = told["imsx_codeMinor"]["imsx_codeMinorField"]
    assert field["imsx_codeMinorFieldValue"] == code
    assert field["imsx_codeMinorFieldName"]


@pytest.mark.parametrize("name", ["999999", "x", "0", "-1", "9" * 40, "1.5", "%00"])
def test_what_is_not_there(world, section, name):
    client, _, _ = world
    judged(client.get(f"{BASE}/sections/{name}"), 404, "unknownobject")
    judged(client.post(f"{BASE}/sections/{name}/sessions", json={}), 404, "unknownobject")
    judged(sent(client, f"{section}/sessions/{name}", "0"), 404, "unknownobject")
    judged(client.delete(f"{section}/sessions/{name}"), 404, "unknownobject")


def test_a_session_belongs_to_its_section(world, section):
    client, test, _ = world
    other = client.post(f"{BASE}/sections", json={"sectionConfiguration": encoded({"test": test})}).json()["sectionIdentifier"]
    session, _ = begun(client, section)
    elsewhere = session.replace(section, f"{BASE}/sections/{other}")
    judged(client.delete(elsewhere), 404, "unknownobject")


def test_what_has_ended_is_not_there(world):
    client, test, _ = world
    made = client.post(f"{BASE}/sections", json={"sectionConfiguration": encoded({"test": test})}).json()
    section = f"{BASE}/sections/{made['sectionIdentifier']}"
    session, _ = begun(client, section)
    other, told = begun(client, section)
    assert client.delete(session).status_code == 204
    judged(client.delete(session), 404, "unknownobject")
    assert client.delete(section).status_code == 204
    judged(sent(client, other, told["sessionState"]), 404, "unknownobject")


def test_tokens(world, section):
    client, _, _ = world
    judged(client.get(section, headers={"authorization": ""}), 401, "unauthorisedrequest")
    judged(client.get(section, headers={"authorization": "Bearer forged"}), 401, "unauthorisedrequest")


@pytest.mark.parametrize(
    "body",
    [
        {}, {"assessmentResult": None}, {"assessmentResult": {"itemResult": 3}}, {"assessmentResult": {"itemResult": [{}]}},
        {"assessmentResult": {"itemResult": [scored("nothing", 1)]}}, {"assessmentResult": {"itemResult": [scored("M3", "many")]}},
        {"assessmentResult": {"itemResult": [scored("M3", "nan")]}}, {"assessmentResult": {}, "sessionState": 5},
        {"assessmentResult": {"itemResult": [{"identifier": "M3", "sessionStatus": "pendingResponseProcessing"}]}},
        {"assessmentResult": {"itemResult": [scored("M3", 1), scored("M3", 0)]}},
    ],
)  # fmt: skip
def test_results_that_cannot_be_are_refused_and_change_nothing(world, section, body):
    client, _, _ = world
    session, told = begun(client, section)
    judged(client.post(f"{session}/results", json=body), 400, "invaliddata")
    assert sent(client, session, told["sessionState"]).json()["nextItems"] == told["nextItems"]


def test_no_json_and_too_much(world, section):
    client, _, _ = world
    judged(client.post(f"{section}/sessions", content=b"{", headers={"content-type": "application/json"}), 400, "invaliddata")
    judged(client.post(f"{section}/sessions", content=b"x", headers={"content-type": "text/plain"}), 415, "invaliddata")


QUESTION = Bank(
    {
        "skills": {"s": {}},
        "questions": {
            "Q": {"options": {"a": "none", "b": "half", "c": "all"}, "classes": ["none", "half", "all"], "skill": "s",
                  "table": {"no": [0.6, 0.3, 0.1], "yes": [0.1, 0.3, 0.6]}}
        },
    }
).questions["Q"]  # fmt: skip


@given(st.floats(-10, 10), st.floats(0.1, 10))
def test_a_score_becomes_the_class_of_its_share(score, most):
    maximum = {"identifier": "MAXSCORE", "value": [{"value": most}]}
    result = scored("Q", score)
    result["outcomeVariables"].append(maximum)
    found = answer_class(QUESTION, ItemResult.model_validate(result))
    share = score / most
    assert found == ("none" if share < 0.5 - 1e-9 else "half" if share < 1 - 1e-9 else "all")


def test_responses_count_where_there_is_no_score():
    response = {"identifier": "RESPONSE", "cardinality": "single", "candidateResponse": {"value": [{"value": "b"}]}}
    assert answer_class(QUESTION, ItemResult.model_validate({"identifier": "Q", "responseVariables": [response]})) == "half"
    response["candidateResponse"] = None
    assert answer_class(QUESTION, ItemResult.model_validate({"identifier": "Q", "responseVariables": [response]})) is None


def test_an_item_without_an_answer_is_skipped_where_the_rules_allow_it():
    bank = qs.load("multiplication")
    empty = [ItemResult(identifier="Q1")]
    after = with_results(qs.Session(bank, qs.Rules(may_skip=True)), empty)
    assert (after.asked, after.answers) == (("Q1",), {})
    with pytest.raises(QuaestorError):
        with_results(qs.Session(bank, qs.Rules(may_skip=False)), empty)


def test_every_operation_is_described():
    found = described()
    assert {path.removeprefix(BASE): set(operations) for path, operations in found["paths"].items()} == {
        "/sections": {"post"},
        "/sections/{sectionIdentifier}": {"get", "delete"},
        "/sections/{sectionIdentifier}/sessions": {"post"},
        "/sections/{sectionIdentifier}/sessions/{sessionIdentifier}": {"delete"},
        "/sections/{sectionIdentifier}/sessions/{sessionIdentifier}/results": {"post"},
    }
    for operations in found["paths"].values():
        for operation in operations.values():
            assert operation["security"]
            assert {"400", "401", "404", "500"} <= set(operation["responses"])
