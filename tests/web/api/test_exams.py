"""Exams by the API: the same limits, no word of how sure we are, and results that are held back."""

from helpers.api_calls import begin, take


def test_a_program_learns_of_an_exam_no_more_than_its_takers(small):
    small.publish(results="closed")
    every, only = small.api(), small.api("sessions")
    state = begin(only)
    place = f"/sessions/{state['session']}"
    assert only.get(place).json()["sure"] is None
    done = take(only, state)
    assert (done["over"], done["result"]) == (True, None)
    assert only.get(place).json()["sure"] is None
    held = only.get(f"{place}/result")
    assert (held.status_code, held.json()["type"]) == (409, "urn:quaestor:held")
    assert "once the test is closed" in held.json()["detail"]
    assert every.get(f"{place}/result").json()["over"], "a program that reads results reads them at any time"


def test_a_program_reads_how_sure_we_are_in_practice_and_after_an_exam(small):
    api = small.api("sessions")
    for number, mode in enumerate(("practice", "exam"), 1):
        state = begin(api, small.publish(mode=mode))
        assert (api.get(f"/sessions/{state['session']}").json()["sure"] is None) == (mode == "exam")
        take(api, state)
        assert api.get(f"/sessions/{number}").json()["sure"] is not None


def test_sessions_of_a_program_obey_the_limits_of_the_test(small):
    api = small.api()
    bank = api.post("/banks", {"ending": ".yaml", "content": BANK}).json()["id"]
    wanted = {"results": "closed", "per_browser": 1, "per_address": 2}
    test = api.post("/tests", {"bank": bank, "rules": {"stop": {"max_questions": 1}}, **wanted}).json()
    assert {name: test[name] for name in wanted} == wanted

    def status(**who):
        return api.post("/sessions", {"test": test["id"], "name": "Ada", **who}).status_code

    assert [status(), status(), status()] == [201, 201, 429], "without an address it is that of the program"
    assert [status(address="192.0.2.1", taker="Ada's phone") for _ in range(2)] == [201, 429]
    assert status(address="192.0.2.1", taker="Ben's phone") == 201
    refused = api.post("/sessions", {"test": test["id"], "name": "Cleo", "address": "192.0.2.1"})
    assert (refused.json()["type"], refused.headers["retry-after"].isdecimal()) == ("urn:quaestor:limit", True)
    assert "2 times from your school or home within a day" in refused.json()["detail"]


BANK = """
quaestor: 1
skills: {sums: {}}
questions:
  Q1: {text: One and one?, options: ["2", "3"], correct: "2", skill: sums, right: [0.3, 0.9]}
"""
