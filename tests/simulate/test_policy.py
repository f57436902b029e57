"""A test compiled to a graph: playing it asks what a session asks, and ends as it ends."""

import json
import subprocess
import sys

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from helpers.paths import ROOT
from quaestor.cli import main
from quaestor.simulate.policy import END, policy

PLAYER = ROOT / "examples" / "play_policy.py"
STOPS = qs.any_of(qs.max_questions(6), qs.all_of(qs.min_questions(2), qs.entropy_below(0.6)))
SMALL = {
    "skills": {"a": {}, "b": {"parents": ["a"], "table": {"no": [0.7, 0.3], "yes": [0.3, 0.7]}}},
    "questions": {
        **{f"p{n}": {"skill": "a", "right": [0.2, 0.9], "pilot": True} for n in (1, 2)},
        **{f"a{n}": {"skill": "a", "right": [0.2, 0.9], "minutes": 1 + n // 3, "group": f"g{n % 2}"} for n in (1, 2, 3, 4)},
        "b1": {"skill": "b", "right": [0.1, 0.7]},
        "b2": {"skill": "b", "right": [0.2, 0.7]},
        "c": {
            "skills": ["a", "b"],
            "classes": ["wrong", "half", "right"],
            "table": {"no, no": [0.7, 0.2, 0.1], "no, yes": [0.5, 0.3, 0.2], "yes, no": [0.4, 0.4, 0.2], "yes, yes": [0.1, 0.2, 0.7]},
        },
    },
}


def answered(session, answer):
    """The next question answered, or skipped."""
    return session.skip(session.next.id) if answer is None else session.answer(session.next.id, answer)


def walk(graph, session, rng, skips=0.0):
    """Play random answers in the graph and in a session side by side until the graph ends; the node there and the session."""
    node = graph["nodes"][0]
    while "ask" in node:
        assert session.next is not None
        assert session.next.id == node["ask"]
        assert tuple(node["then"]) == session.next.classes
        answer = None if rng.random() < skips else str(rng.choice(list(node["then"])))
        number = node["skip"] if answer is None else node["then"][answer]
        if number is None:
            with pytest.raises(qs.AnswerError):
                answered(session, answer)
            continue
        session = answered(session, answer)
        node = graph["nodes"][number]
    return node, session


def same_end(node, session, depth):
    """The graph ends as the session does."""
    if "stop" in node:
        assert session.stopped is not None
        assert node["stop"] == session.stopped.reason
    else:
        assert node["end"] == END
        assert session.stopped is None
        assert len(session.asked) == depth
    for skill, bounds in session.beliefs.items():
        known = node["beliefs"][skill]
        np.testing.assert_allclose(known["lower"], bounds.lower, atol=1e-6)
        np.testing.assert_allclose(known["upper"], bounds.upper, atol=1e-6)
        assert known["level"] == bounds.states[int(np.argmax(bounds.centre >= bounds.centre.max() - 1e-9))]
        assert known["level"] in known["possible"]


def check(bank, rules, depth, walks=15, skips=0.0):
    graph = policy(bank, rules, depth, skips=skips > 0)
    rng = np.random.default_rng(0)
    for _ in range(walks):
        same_end(*walk(graph, qs.Session(bank, rules), rng, skips), depth)
    return graph


@pytest.mark.parametrize("score", ["mode", "entropy", "gini", "right", "order"])
@pytest.mark.parametrize("name", ["single-skill", "four-skills", "fractions", "multiplication"])
def test_a_graph_plays_as_a_session_of_a_precise_bank(name, score):
    check(qs.load(name), qs.Rules(score=score, stop=STOPS), 5)


@pytest.mark.parametrize("score", ["mode", "entropy", "gini"])
@pytest.mark.parametrize("bound", ["upper", "lower"])
@pytest.mark.parametrize("name", ["single-skill", "german"])
def test_a_graph_plays_as_a_session_of_a_credal_bank(name, score, bound):
    check(qs.load(name).widen(0.04), qs.Rules(score=score, bound=bound, stop=STOPS), 6, walks=8)


STOPPING = [
    None,
    qs.max_questions(2, skill="a"),
    qs.right_answers(2),
    qs.minutes(4),
    qs.gain_below(0.04),
    qs.gini_below(0.7, over="joint"),
    qs.probability_above(0.85),
    qs.dominant(),
    qs.any_of(qs.all_of(qs.min_questions(2), qs.mode_below(0.5)), qs.minutes(5)),
]


@pytest.mark.parametrize("stop", STOPPING, ids=lambda stop: stop.name if stop else "none")
@pytest.mark.parametrize("per", [None, "minute"])
def test_every_criterion_stops_in_the_words_of_the_session(stop, per):
    check(qs.Bank(SMALL), qs.Rules(score="entropy", stop=stop, per=per), 9, skips=0.15)


OTHER = [
    {"first": ("b2", "p1")},
    {"mandatory": ("c", "b1")},
    {"content": (qs.Content("a", least=1, most=2), qs.Content("b", share=0.5))},
    {"exclude": (("a1", "b1"), ("a2", "c"))},
    {"testlets": (("b2", "a4", "a1"),)},
    {"variety": qs.Variety(after=1, give_up=0.9)},
    {"variety": qs.Variety(after=2, give_up=0.5, of=("group",)), "exposure": qs.Exposure(most=0.5, rates={"a1": 0.7})},
    {"retire": qs.probability_above(0.8)},
]


@pytest.mark.parametrize("fields", OTHER, ids=lambda fields: next(iter(fields)))
def test_other_rules_play_as_sessions_too(fields):
    check(qs.Bank(SMALL), qs.Rules(stop=qs.max_questions(6), **fields), 4, skips=0.1)


def test_robust_rules_play_as_sessions():
    bank = qs.Bank({**SMALL, "questions": {k: v for k, v in SMALL["questions"].items() if k != "c"}}).widen(0.05)
    check(bank, qs.Rules(robust=qs.Robust(networks=4)), 3)


@pytest.mark.parametrize("kind", ["precise", "credal"])
def test_random_rules_on_random_banks_play_as_sessions(kind):
    tried = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        bank = sessions.random_bank(rng, kind, zeros=0.15 * (seed % 2))
        rules = sessions.random_rules(rng, bank, orderly=seed % 3 > 0)
        if not rules.is_random:
            check(bank, rules, 4, walks=6, skips=0.2)
            tried += 1
    assert tried > 20


@pytest.mark.parametrize("skips", ["wrong", "right"])
def test_a_skip_that_counts_as_an_answer_needs_no_node(skips):
    bank = qs.Bank(SMALL)
    rules = qs.Rules(skips=skips, stop=qs.max_questions(3))
    graph = check(bank, rules, 3, skips=0.3)
    assert all(node["skip"] == node["then"][skips] for node in graph["nodes"] if "ask" in node)
    assert graph == policy(bank, rules, 3)
    assert len(graph["nodes"]) == len(policy(bank, qs.Rules(stop=qs.max_questions(3)), 3)["nodes"])


def test_skips_that_tell_nothing_are_left_out_unless_asked_for():
    graph = policy(qs.load("single-skill"), depth=3)
    assert not any("skip" in node for node in graph["nodes"])
    assert len(policy(qs.load("single-skill"), depth=3, skips=True)["nodes"]) > len(graph["nodes"])


def test_answers_that_cannot_be_lead_nowhere():
    sure = {"skill": "a", "right": [0, 1]}
    bank = qs.Bank({"skills": {"a": {}}, "questions": {"q1": sure, "q2": sure, "q3": {"skill": "a", "right": [0.2, 0.6]}}})
    for rules in (qs.Rules(score="order"), qs.Rules(score="order", first=("q1",))):
        graph = check(bank, rules, 3, walks=10)
        second = graph["nodes"][graph["nodes"][0]["then"]["right"]]
        assert second["ask"] == "q2"
        assert second["then"]["wrong"] is None


def test_paths_that_meet_are_merged():
    same = {f"q{n}": {"skill": "a", "right": [0.2, 0.8]} for n in range(10)}
    bank = qs.Bank({"skills": {"a": {}}, "questions": same})
    assert len(policy(bank, depth=10)["nodes"]) == sum(range(1, 12))  # only how many were right matters
    three = {f"q{n}": {"skill": "a", "right": [0.2 + n / 50, 0.8]} for n in range(3)}
    bank = qs.Bank({"skills": {"a": {}}, "questions": three})
    assert len(policy(bank, qs.Rules(score="order"), depth=3)["nodes"]) == 1 + 2 + 4 + 8
    check(bank, qs.Rules(mandatory=("q2",)), 3)


def test_every_node_is_reached_and_leads_on():
    graph = policy(qs.load("single-skill"), depth=6)
    led = [number for node in graph["nodes"] if "ask" in node for number in node["then"].values()]
    assert set(led) == set(range(1, len(graph["nodes"])))
    assert len(led) > len(set(led))


def test_many_nodes_at_once_are_the_same_in_parts(monkeypatch):
    bank, rules = qs.load("single-skill"), qs.Rules(stop=qs.entropy_below(0.4))
    whole = policy(bank, rules, 7)
    monkeypatch.setattr(sys.modules[policy.__module__], "TOGETHER", 5)
    assert policy(bank, rules, 7)["nodes"] == whole["nodes"]


def test_bounds_are_rounded_outwards():
    bank = qs.load("single-skill").widen(0.05)
    graph = policy(bank, depth=1)
    for answer, number in graph["nodes"][0]["then"].items():
        bounds, known = qs.posterior(bank, {graph["nodes"][0]["ask"]: answer})["S"], graph["nodes"][number]["beliefs"]["S"]
        assert (known["lower"] <= bounds.lower + 1e-12).all()
        assert (known["upper"] >= bounds.upper - 1e-12).all()


# Words


def test_what_is_said_of_a_graph_that_is_too_large():
    with pytest.raises(qs.QuaestorError, match=r"a policy has at most 20 nodes, got 40 at depth 4; lower the depth or raise the limit"):
        policy(qs.load("fractions"), depth=9, limit=20)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"among": 3}, "among: 3"),
        ({"first_among": 2}, "first_among: 2"),
        ({"pilots": 1}, "pilots: 1"),
        ({"score": "random"}, "score: random"),
        ({"then": "random"}, "then: random"),
        ({"exposure": qs.Exposure(chances={"a1": 0.5})}, "exposure.chances"),
    ],
)
def test_rules_that_draw_are_refused(fields, words):
    with pytest.raises(qs.QuaestorError, match=f"a policy is for rules that draw nothing at random, got {words}"):
        policy(qs.Bank(SMALL), qs.Rules(**fields))


@pytest.mark.parametrize("name", ["depth", "limit"])
@pytest.mark.parametrize("value", [0, -1, True, 2.5])
def test_depth_and_limit_are_whole_numbers(name, value):
    with pytest.raises(qs.QuaestorError, match=f"{name}: a whole number of at least 1, got"):
        policy(qs.load("multiplication"), **{name: value})


def test_rules_must_fit_the_bank():
    with pytest.raises(qs.RulesError):
        policy(qs.load("multiplication"), qs.Rules(first=("nobody",)))


# What is in it


def test_a_graph_is_plain_data_without_keys():
    bank = qs.load("fractions")
    graph = policy(bank, qs.Rules(stop=STOPS), 3, texts=True)
    assert json.loads(json.dumps(graph)) == graph
    assert graph["bank"] == {"title": "Fractions", "version": bank.version, "model_version": bank.model_version}
    assert graph["rules"] == qs.Rules(stop=STOPS).document
    asked = {node["ask"] for node in graph["nodes"] if "ask" in node}
    assert set(graph["questions"]) == asked
    assert all(set(question) <= {"text", "kind", "options"} for question in graph["questions"].values())
    assert "questions" not in policy(bank, depth=1)


def test_a_graph_tells_the_parts_of_questions_without_their_order():
    told = policy(qs.load("animals"), qs.Rules(score="order", stop=qs.max_questions(8)), 8, texts=True)["questions"]
    assert told["L1"]["options"] == sorted(qs.load("animals").questions["L1"].options)
    assert told["G3"]["parts"][0] == {"name": "frog", "kind": "choice"}
    assert told["G4"]["parts"] == [
        {"name": "legs", "kind": "number"},
        {"name": "what", "kind": "choice", "options": ["an insect", "no insect"]},
    ]
    assert told["G1"] == {"text": "Whales are fish.", "kind": "truefalse", "options": ["true", "false"]}


def test_a_test_that_is_over_before_it_begins():
    graph = policy(qs.load("multiplication"), qs.Rules(stop=qs.probability_above(0.5)), 3)
    assert graph["depth"] == 0
    assert [list(node) for node in graph["nodes"]] == [["stop", "beliefs"]]


# The command and the player


def test_the_command_writes_a_graph_that_thirty_lines_play(tmp_path, capsys):
    assert len(PLAYER.read_text(encoding="utf-8").splitlines()) <= 30
    path = tmp_path / "test.json"
    rules = tmp_path / "rules.yaml"
    rules.write_text("stop: {max_questions: 3}\nskips: wrong\n")
    assert main(["export", "fractions", "--rules", str(rules), "--depth", "4", "--with-texts", "--out", str(path)]) == 0
    out, err = capsys.readouterr()
    graph = json.loads(path.read_text(encoding="utf-8"))
    assert out == ""
    assert f"{len(graph['nodes'])} nodes" in err
    assert f"{path.stat().st_size:,} bytes" in err
    played = subprocess.run(
        [sys.executable, PLAYER, path], input="nonsense\nright\nskip\nright\n", capture_output=True, text=True, check=True, encoding="utf-8"
    )
    session = qs.Session(qs.load("fractions"), qs.load_rules(rules))
    for answer in ("right", None, "right"):
        assert session.next is not None
        assert session.next.id in played.stdout
        session = answered(session, answer)
    assert "One of these words, please." in played.stdout
    assert session.stopped.reason in played.stdout
    for skill, bounds in session.beliefs.items():
        assert f"{skill}: {bounds.states[int(np.argmax(bounds.centre))]}" in played.stdout


def test_the_player_says_when_the_answers_end(tmp_path, capsys):
    assert main(["export", "multiplication", "--depth", "2"]) == 0
    path = tmp_path / "test.json"
    path.write_text(capsys.readouterr().out)
    played = subprocess.run([sys.executable, PLAYER, path], input="right\n", capture_output=True, text=True, check=False)
    assert played.returncode == 1
    assert "The answers ended before the test." in played.stderr


def test_the_command_refuses_with_words(tmp_path, capsys):
    assert main(["export", "german", "--depth", "9", "--limit", "30"]) == 1
    assert "a policy has at most 30 nodes" in capsys.readouterr().err
    assert main(["export", "german", "--depth", "2", "--out", str(tmp_path)]) == 1
    assert "the file can be written" in capsys.readouterr().err
