"""Rules as a value and as a file: round trips, every bad value with its place, and rules that do not fit a bank."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, fields

import pytest

import quaestor as qs
from helpers import sessions
from quaestor.errors import QuaestorError
from quaestor.formats import yaml_text
from quaestor.selection.rules import RulesError
from quaestor.selection.rules_file import FIELDS, read_rules
from quaestor.selection.scores.known import SCORES

ALL_SCORES = ", ".join(SCORES)
EACH = {
    "score": ["entropy", "gini", "right", "random", "order"],
    "then": [None, "gini", "random"],
    "bound": ["lower"],
    "target": ["all", "joint", ("a",), ("a", "b"), {"a": 1, "b": 0.5}],
    "per": ["minute"],
    "stop": [qs.dominant(), qs.any_of(qs.max_questions(20), qs.all_of(qs.min_questions(5), qs.entropy_below(0.25)))],
    "first": [("a3", "b1")],
    "first_among": [3],
    "mandatory": [("b2",)],
    "among": [4],
    "progressive": [1, 0.5],
    "proportional": [2],
    "exposure": [
        qs.Exposure(most=0.25),
        qs.Exposure(most=1, rates={"a1": 0.4, "b1": 0}),
        qs.Exposure(chances={"a1": 0.5, "12": 1}),
    ],
    "content": [(qs.Content("a", least=2, most=3), qs.Content("b", share=0.25)), (qs.Content("word problems", most=0),)],
    "exclude": [(("a1", "a2"), ("b1", "b2", "b3"))],
    "testlets": [(("a2", "a1"),)],
    "pilots": [2],
    "variety": [qs.Variety(), qs.Variety(after=3, give_up=0), qs.Variety(of=("group",)), qs.Variety(1, 0.5, ("template", "skill"))],
    "robust": [qs.Robust(), qs.Robust(networks=8, choose="least exposed", seed=3)],
    "retire": [qs.probability_above(0.95), qs.any_of(qs.dominant(), qs.mode_below(0.1))],
    "skips": ["wrong", "left out"],
    "may_skip": [False],
    "only_next": [True],
    "withdrawn": [("a3",), ("a3", "b1")],
    "least_answers": [1, 3],
    "ahead": [],  # test_deeper
    "shadow": [],  # test_shadow
}
ALONE = ("progressive", "proportional", "ahead", "shadow")  # which do not go with whatever else there is
OWN = "one of your own is registered by qs.register.score first: import its module"
CASES = [(name, value) for name, values in EACH.items() for value in values]


def loaded(text, path, ending=".yaml"):
    path = path / f"rules{ending}"
    path.write_text(text, encoding="utf-8")
    return qs.load_rules(path)


# Round trips


def test_every_field_is_tried():
    assert [*EACH, "narrow"] == list(FIELDS) == [field.name for field in fields(qs.Rules)]


@pytest.mark.parametrize(("name", "value"), CASES)
def test_rules_are_the_same_from_a_file(name, value, tmp_path):
    rules = qs.Rules(**{name: value})
    assert rules != qs.Rules()
    assert list(rules.document) == [name]
    assert read_rules(rules.document) == rules
    assert loaded(yaml_text.write(rules.document), tmp_path) == rules
    assert loaded(json.dumps(rules.document), tmp_path, ".json") == rules
    assert read_rules(rules.document).document == rules.document


@pytest.mark.parametrize(("name", "value"), CASES)
def test_rules_are_hashable_frozen_and_can_be_pickled(name, value):
    rules, same = qs.Rules(**{name: value}), qs.Rules(**{name: copy.deepcopy(value)})
    assert len({rules, same, pickle.loads(pickle.dumps(rules)), copy.deepcopy(rules), read_rules(rules.document)}) == 1
    with pytest.raises(FrozenInstanceError):
        setattr(rules, name, value)


def test_all_fields_together_are_the_same_from_a_file(tmp_path):
    rules = qs.Rules(**{name: values[-1] for name, values in EACH.items() if name not in ALONE})
    assert loaded(yaml_text.write(rules.document), tmp_path) == rules
    assert rules.document.keys() == EACH.keys() - set(ALONE)


def test_the_defaults_leave_an_empty_document(tmp_path):
    assert qs.Rules().document == {}
    assert read_rules({}) == loaded("{}", tmp_path) == loaded("{}", tmp_path, ".json") == qs.Rules()
    assert read_rules({"score": "mode", "then": "auto", "among": 1, "exposure": {}, "pilots": 0, "only_next": False}) == qs.Rules()


def test_a_file_is_read_as_people_write_it(tmp_path):
    text = """
score: entropy
then: none
target: {a: 2, b: 1/2}
stop:
  any_of:
    - max_questions: 20
    - all_of: [{min_questions: 5}, {entropy_below: 25%}]
    - dominant
content:
  - {of: a, least: 2, most: 6}
first: [12, no]     # ids are text
variety: {after: 2}
only_next: true
"""
    assert loaded(text, tmp_path) == qs.Rules(
        score="entropy",
        then=None,
        target={"a": 2, "b": 0.5},
        stop=qs.any_of(qs.max_questions(20), qs.all_of(qs.min_questions(5), qs.entropy_below(0.25)), qs.dominant()),
        content=(qs.Content("a", least=2, most=6),),
        first=("12", "no"),
        variety=qs.Variety(),
        only_next=True,
    )


def test_lists_become_tuples():
    rules = qs.Rules(first=["a1"], exclude=[["a1", "a2"]], content=[qs.Content("a")], target=["a"], variety=qs.Variety(of=["skill"]))
    assert rules.first == ("a1",)
    assert rules.exclude == (("a1", "a2"),)
    assert rules.target == ("a",)
    assert rules.variety.of == ("skill",)
    assert rules == qs.Rules(
        first=("a1",), exclude=(("a1", "a2"),), content=(qs.Content("a"),), target=("a",), variety=qs.Variety(of=("skill",))
    )


def test_rates_and_chances_cannot_be_changed_behind_the_rules_back():
    rates = {"a1": 0.5}
    rules = qs.Rules(exposure=qs.Exposure(most=0.4, rates=rates))
    rates["a1"] = 0.1
    assert rules.exposure.rates == {"a1": 0.5}
    with pytest.raises(TypeError):
        qs.Rules().exposure.rates["a1"] = 1.0


@pytest.mark.parametrize(
    ("fields", "drawn"),
    [
        ({}, False),
        ({"among": 2}, True),
        ({"first_among": 2}, True),
        ({"pilots": 1}, True),
        ({"score": "random"}, True),
        ({"then": "random"}, True),
        ({"exposure": qs.Exposure(chances={"a1": 0.5})}, True),
        ({"exposure": qs.Exposure(most=0.5, rates={"a1": 0.6}), "robust": qs.Robust()}, False),
    ],
)
def test_rules_know_whether_anything_is_drawn(fields, drawn):
    assert qs.Rules(**fields).is_random is drawn


# Bad values from Python


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"score": "mod"}, f"score is one of {ALL_SCORES}, got 'mod' (did you mean 'mode'?)"),
        ({"bound": "up"}, "bound is one of upper, lower, got 'up'"),
        (
            {"then": "x"},
            f"then is one of auto, {ALL_SCORES}, got 'x' ({OWN})",
        ),
        ({"per": "hour"}, "per is one of minute, got 'hour'"),
        ({"target": []}, "target: a target names at least one skill, got none"),
        ({"target": {}}, "target: a target names at least one skill, got none"),
        ({"target": 5}, "target: scope, all, joint, skills, or weights by skill, got 5"),
        ({"target": {"a": "x", "b": 0}}, "target.a: a weight above 0, got 'x'\ntarget.b: a weight above 0, got 0"),
        ({"target": {"a": float("inf")}}, "target.a: a weight above 0, got inf"),
        ({"first": None}, "first: a list is expected, got None"),
        ({"content": [{"of": "a"}]}, "content[0]: a Content is expected, got {'of': 'a'}"),
        ({"exposure": None}, "exposure: Exposure(...) is expected, got None"),
        ({"variety": 2}, "variety: Variety(...) is expected, got 2"),
        ({"robust": True}, "robust: Robust(...) is expected, got True"),
        ({"may_skip": 1}, "may_skip: true or false is expected, got 1"),
        ({"only_next": "no"}, "only_next: true or false is expected, got 'no'"),
        ({"withdrawn": "Q1"}, "withdrawn: a list is expected, got 'Q1'"),
        ({"least_answers": 0}, "least_answers: a whole number of at least 1, got 0"),
        ({"least_answers": 1.5}, "least_answers: a whole number of at least 1, got 1.5"),
        ({"stop": 20}, "stop: a criterion such as max_questions(20) is expected, got 20"),
        ({"retire": "dominant"}, "retire: a criterion such as max_questions(20) is expected, got 'dominant'"),
        (
            {"retire": qs.any_of(qs.dominant(), qs.minutes(3))},
            "retire: a criterion on one skill: entropy_below, mode_below, gini_below, probability_above, dominant, got 'minutes'",
        ),
        ({"first": "a1"}, "first: a list is expected, got 'a1'"),
        ({"mandatory": "a1"}, "mandatory: a list is expected, got 'a1'"),
        ({"exclude": ["a1", "a2"]}, "exclude[0]: a list is expected, got 'a1'\nexclude[1]: a list is expected, got 'a2'"),
        ({"testlets": "a1"}, "testlets: a list is expected, got 'a1'"),
        ({"first_among": 0}, "first_among: a whole number of at least 1, got 0"),
        ({"among": 1.5}, "among: a whole number of at least 1, got 1.5"),
        ({"among": True}, "among: a whole number of at least 1, got True"),
        ({"pilots": -1}, "pilots: a whole number of at least 0, got -1"),
        ({"content": [qs.Content("a", least=-1)]}, "content[0].least: a whole number of at least 0, got -1"),
        (
            {"content": [qs.Content("b"), qs.Content("a", least=3, most=2)]},
            "content[1].most: a whole number that is not below the least, got 2",
        ),
        (
            {"content": [qs.Content("a", share=1.5)]},
            "content[0].share: a share between 0 and 1, got 1.5\ncontent: shares sum to at most 1, got 1.5",
        ),
        ({"content": [qs.Content("a", share=0.75), qs.Content("b", share=0.5)]}, "content: shares sum to at most 1, got 1.25"),
        ({"exclude": [["a1"]]}, "exclude[0]: two or more different questions, got a1"),
        ({"exclude": [["a1", "a2"], []]}, "exclude[1]: two or more different questions, got none"),
        (
            {"testlets": [["a1", "a1"]]},
            "testlets[0]: two or more different questions, got a1, a1\ntestlets: a question is in one testlet, got 'a1'",
        ),
        ({"testlets": [["a1", "a2"], ["a2", "a3"]]}, "testlets: a question is in one testlet, got 'a2'"),
        ({"variety": qs.Variety(after=0)}, "variety.after: a whole number of at least 1, got 0"),
        ({"variety": qs.Variety(give_up=2)}, "variety.give_up: a share between 0 and 1, got 2"),
        ({"variety": qs.Variety(of=("skills",))}, "variety.of: one of skill, group, template is expected, got 'skills'"),
        ({"variety": qs.Variety(of="skills")}, "variety.of: one of skill, group, template is expected, got 'skills'"),
        ({"robust": qs.Robust(networks=0)}, "robust.networks: a whole number of at least 1, got 0"),
        ({"robust": qs.Robust(choose="best")}, "robust.choose: one of most, least exposed is expected, got 'best'"),
        ({"robust": qs.Robust(seed=-1)}, "robust.seed: a whole number of at least 0, got -1"),
        ({"exposure": qs.Exposure(most=0)}, "exposure.most: a rate above 0 and at most 1, got 0"),
        ({"exposure": qs.Exposure(rates={"a1": 2})}, "exposure.rates.a1: a number between 0 and 1, got 2"),
        ({"exposure": qs.Exposure(chances={"a1": -0.5})}, "exposure.chances.a1: a number between 0 and 1, got -0.5"),
    ],
)
def test_a_bad_value_is_refused_with_place_rule_and_value(fields, said):
    with pytest.raises(QuaestorError) as caught:
        qs.Rules(**fields)
    assert str(caught.value) == said


def test_all_problems_come_together():
    with pytest.raises(RulesError) as caught:
        qs.Rules(among=0, pilots=-1, variety=qs.Variety(after=0))
    assert [problem.place for problem in caught.value.problems] == ["among", "pilots", "variety.after"]


# Bad files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("score: mod", f"score: one of {ALL_SCORES} is expected, got 'mod' (did you mean 'mode'?) [line 1]"),
        ("\nscor: mode", "scor: unknown field, got 'scor' (did you mean 'score'?) [line 2]"),
        (
            "then: nothing",
            f"then: one of auto, none, {ALL_SCORES} is expected, got 'nothing' ({OWN}) [line 1]",
        ),
        ("bound: middle", "bound: one of upper, lower is expected, got 'middle' [line 1]"),
        ("target: every", "target: one of scope, all, joint is expected, got 'every' [line 1]"),
        ("target: {a: much}", "target.a: a number is expected, got 'much' [line 1]"),
        ("target: [a, a]", "target: each is listed once, got 'a' [line 1]"),
        ("per: hour", "per: one of minute is expected, got 'hour' [line 1]"),
        ("stop: [20]", "stop: one criterion is expected, such as max_questions: 20, got ['20'] [line 1]"),
        ("stop: {minutes: 3, dominant: }", "stop: one criterion is expected, such as max_questions: 20, got {"),
        ("stop:\n  max_question: 3", "stop: a known criterion is expected, got 'max_question' (did you mean 'max_questions'?) [line 1]"),
        ("stop: x", "stop: a known criterion is expected, got 'x' (known: max_questions, min_questions, entropy_below,"),
        ("stop: {max_questions: 0}", "stop.max_questions: a whole number of at least 1, got '0' [line 1]"),
        ("stop: {max_questions: many}", "stop.max_questions: a whole number of at least 1, got 'many' [line 1]"),
        ("stop: max_questions", "stop.max_questions: the settings are n, skill, got {} [line 1]"),
        ("stop: {max_questions: {n: 3, skil: a}}", "stop.max_questions: the settings are n, skill, got {"),
        ("stop: {dominant: 3}", "stop.dominant: the settings are none, got '3' [line 1]"),
        ("stop: {any_of: []}", "stop.any_of: the list is not empty, got [] [line 1]"),
        ("stop: {any_of: {minutes: 3}}", "stop.any_of: a list is expected, got {'minutes': "),
        (
            "stop:\n  any_of:\n    - dominant\n    - entropy_below: {threshold: 0.1, over: one}",
            "stop.any_of[1].entropy_below: over is one of mean, largest, joint, got 'one' [line 4]",
        ),
        (
            "retire: {minutes: 3}",
            "retire: a criterion on one skill: entropy_below, mode_below, gini_below, probability_above, dominant, got 'minutes' [line 1]",
        ),
        ("first: a1", "first: a list is expected, got 'a1' [line 1]"),
        ("first: [a1, a1]", "first: each is listed once, got 'a1' [line 1]"),
        ("first_among: 2.5", "first_among: a whole number is expected, got 2.5 [line 1]"),
        ("mandatory: []", "mandatory: the list is not empty, got [] [line 1]"),
        ("score: gini\namong: 0", "among: a whole number of at least 1, got 0 [line 2]"),
        ("exposure:\n  mots: 0.5", "exposure.mots: unknown field, got 'mots' (did you mean 'most'?) [line 2]"),
        ("exposure:\n  most: 0.3\n  rates:\n    a1: 1.5", "exposure.rates.a1: a number between 0 and 1, got 1.5 [line 4]"),
        ("content:\n  - {of: a}\n  - {least: 2}", "content[1]: a skill or a group is named: of, got none [line 3]"),
        ("content: [{of: a, at_least: 2}]", "content[0].at_least: unknown field, got 'at_least' (did you mean 'least'?) [line 1]"),
        ("content: [{of: a, most: -1}]", "content[0].most: a whole number that is not below the least, got -1 [line 1]"),
        ("exclude: [[a1]]", "exclude[0]: two or more different questions, got a1 [line 1]"),
        ("testlets: [a1, a2]", "testlets[0]: a list is expected, got 'a1' [line 1]"),
        ("pilots: some", "pilots: a number is expected, got 'some' [line 1]"),
        (
            "variety: {of: [skill, skils]}",
            "variety.of[1]: one of skill, group, template is expected, got 'skils' (did you mean 'skill'?) [line 1]",
        ),
        ("variety: 2", "variety: a map of fields is expected, got '2' [line 1]"),
        ("robust: {choose: least}", "robust.choose: one of most, least exposed is expected, got 'least' [line 1]"),
        ("robust: {networks: 0}", "robust.networks: a whole number of at least 1, got 0 [line 1]"),
        ("skips: [a]", "skips: text is expected, got ['a'] [line 1]"),
        ("only_next: yes", "only_next: true or false is expected, got 'yes' [line 1]"),
        ("[score]", "rules: a map of fields is expected, got ['score']"),
        ("just text", "rules: a map of fields is expected, got 'just text'"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_place_rule_value_and_line(text, said, tmp_path):
    with pytest.raises(RulesError) as caught:
        loaded(text, tmp_path)
    assert str(caught.value).splitlines()[0].removeprefix(f"{tmp_path / 'rules.yaml'}:").startswith(said)
    assert caught.value.source == str(tmp_path / "rules.yaml")


def test_all_problems_of_a_file_come_together(tmp_path):
    with pytest.raises(RulesError) as caught:
        loaded("score: x\namong: x\nvariety: {after: x}\n", tmp_path)
    assert [problem.place for problem in caught.value.problems] == ["score", "among", "variety.after"]
    assert [problem.where for problem in caught.value.problems] == ["line 1", "line 2", "line 3"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.yaml", None, "file: a file that exists is expected, got none"),
        ("rules.txt", "{}", "file: a file ends in one of .yaml, .yml, .json, got '.txt'"),
        ("rules.yaml", "score: [", "file: "),
        ("rules.json", "{", "file: "),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_of_rules(name, content, said, tmp_path):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(RulesError) as caught:
        qs.load_rules(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}:{said}")


# Rules that do not fit a bank


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"first": ["b1x"]}, "first: a question of the bank, got 'b1x' (did you mean 'b1'?)"),
        ({"mandatory": ["nothing"]}, "mandatory: a question of the bank, got 'nothing'"),
        ({"testlets": [["p1", "a1"]]}, "testlets[0]: a testlet begins with a question that counts, not a pilot question, got 'p1'"),
        ({"mandatory": ["p1"]}, "mandatory: a question that counts, not a pilot question, got 'p1'"),
        ({"exclude": [["a1", "a2"], ["a1", "A2"]]}, "exclude[1]: a question of the bank, got 'A2'"),
        ({"testlets": [["a1", "xx"]]}, "testlets[0]: a question of the bank, got 'xx'"),
        ({"exposure": qs.Exposure(rates={"x": 0.5})}, "exposure.rates: a question of the bank, got 'x'"),
        ({"exposure": qs.Exposure(chances={"x": 0.5})}, "exposure.chances: a question of the bank, got 'x'"),
        (
            {"content": [qs.Content("a"), qs.Content("wrods")]},
            "content[1].of: a skill or a group of the bank, got 'wrods' (did you mean 'words'?)",
        ),
        ({"pilots": 2}, "pilots: at most as many pilot questions as the bank has, got 2 of 1"),
        ({"skips": "blank"}, "skips: missing, wrong, or an answer class that every question has (not a1), got 'blank'"),
        ({"target": ["c"]}, "target: unknown skill, got 'c'"),
        ({"target": "skills"}, "target: a target is 'scope', 'all', 'joint', a list of skills or weights by skill, got 'skills'"),
        ({"stop": qs.any_of(qs.dominant(), qs.max_questions(2, skill="c"))}, "stop: a skill of the bank, or each, got 'c'"),
        ({"stop": qs.min_questions(2, skill="every")}, "stop: a skill of the bank, or each, got 'every'"),
    ],
)
def test_rules_that_do_not_fit_a_bank_are_refused(fields, said):
    made = sessions.bank({"b1": {"group": "words"}}, pilots=1)
    rules = qs.Rules(**fields)
    for act in (lambda: rules.check(made), lambda: qs.Session(made, rules)):
        with pytest.raises(RulesError) as caught:
            act()
        assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"stop": qs.any_of(qs.entropy_below(0.1, over="joint"))}, "stop: the joint uncertainty is for precise banks, got a credal bank"),
        ({"target": "joint"}, "target: target 'joint' is for precise banks, got a credal one; use 'scope', 'all' or skills"),
    ],
)
def test_what_is_for_precise_banks_is_refused_for_credal_ones(fields, said):
    qs.Rules(**fields).check(sessions.bank())
    with pytest.raises(RulesError) as caught:
        qs.Rules(**fields).check(sessions.bank().widen(0.05))
    assert str(caught.value) == said


def test_rules_that_fit_are_let_through():
    made = sessions.bank({"b1": {"group": "words"}}, pilots=2)
    rules = {name: values[0] for name, values in EACH.items() if name not in ("content", "skips", *ALONE)}
    qs.Rules(**rules, content=[qs.Content("words"), qs.Content("a")], skips="right").check(made)
