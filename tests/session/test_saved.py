"""Sessions that are saved and go on elsewhere: JSON out and in, a new process, another bank, broken files."""

import json
import subprocess
import sys

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from quaestor.errors import QuaestorError
from quaestor.selection.rules import RulesError
from quaestor.selection.scores.known import SCORES
from quaestor.session.session import SessionError

ALL_SCORES = ", ".join(SCORES)
BANK = sessions.bank()
CREDAL = BANK.widen(0.05)


GOES_ON = """
import json, sys
import quaestor as qs
found = []
for text, ids in json.load(sys.stdin):
    bank = qs.load(sys.argv[1])
    session = qs.Session.from_json(bank, text)
    for answer in ids:
        found_next = session.next.id
        session = session.answer(found_next, answer) if answer is not None else session.skip(found_next)
    beliefs = {skill: [bounds.lower.tolist(), bounds.upper.tolist()] for skill, bounds in session.beliefs.items()}
    stopped = session.stopped.reason if session.stopped else None
    found.append([session.to_json(), session.next.id if session.next else None, stopped, beliefs])
json.dump(found, sys.stdout)
"""


@pytest.mark.parametrize("kind", ["precise", "credal"])
def test_a_session_saved_after_each_step_goes_on_identically_in_a_new_process(kind, tmp_path):
    bank = sessions.bank({"b1": {"minutes": 3}}, pilots=2)
    bank = bank if kind == "precise" else bank.widen(0.04)
    rules = qs.Rules(
        score="entropy",
        among=2,
        pilots=1,
        exposure=qs.Exposure(chances={"a1": 0.5}),
        content=(qs.Content("b", least=2),),
        variety=qs.Variety(),
        robust=qs.Robust(networks=4),
        skips="wrong",
        stop=qs.any_of(qs.max_questions(5), qs.minutes(30), qs.entropy_below(0.05)),
    )
    replies = ["right", None, "wrong", "right", "wrong", "right", "wrong"]
    session = qs.Session(bank, rules, seed=11).late("b", [0.4, 0.6], "a hunch")
    steps = [session]
    for reply in replies:
        if session.next is None:
            break
        session = session.answer(session.next.id, reply) if reply else session.skip(session.next.id)
        steps.append(session)
    assert len(steps) > 5
    assert session.stopped
    qs.dump(bank, tmp_path / "bank.yaml")
    work = [[step.to_json(), replies[number : len(steps) - 1]] for number, step in enumerate(steps)]
    ended = subprocess.run(
        [sys.executable, "-c", GOES_ON, str(tmp_path / "bank.yaml")],
        input=json.dumps(work),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    for text, following, stopped, beliefs in json.loads(ended.stdout):
        assert text == session.to_json()
        assert following is None
        assert stopped == session.stopped.reason
        for skill, (lower, upper) in beliefs.items():
            np.testing.assert_allclose(lower, session.beliefs[skill].lower, rtol=0, atol=1e-12)
            np.testing.assert_allclose(upper, session.beliefs[skill].upper, rtol=0, atol=1e-12)


def test_json_round_trips_keep_everything():
    session = qs.Session(CREDAL, qs.Rules(target=["a"], variety=qs.Variety(of=["skill"]), exposure=qs.Exposure(rates={"a1": 0.5})), 3)
    session = session.answer("a1", "right", minutes=0).skip("a2", minutes=1.5).late("b", [(0.1, 0.2), 1], "é “quoted”")
    again = qs.Session.from_json(CREDAL, session.to_json())
    assert sessions.same(again, session)
    assert again.to_json() == session.to_json()
    document = json.loads(session.to_json())
    assert list(document) == ["session", "bank", "rules", "seed", "log"]
    assert document["bank"] == {"title": "Six questions", "version": CREDAL.version, "model_version": CREDAL.model_version}
    assert document["log"] == [
        {"question": "a1", "answer": "right", "minutes": 0.0},
        {"question": "a2", "answer": None, "minutes": 1.5},
        {"skill": "b", "likelihood": [[0.1, 0.2], 1.0], "note": "é “quoted”"},
    ]


def test_half_a_letter_can_be_saved():
    question = {"skill": "a", "right": [0.1, 0.9], "kind": "text", "correct": "x"}
    bank = qs.Bank({"skills": {"a": {}}, "questions": {"t": question}})
    session = qs.Session(bank).enter("t", "caf\udce9 é")
    assert qs.Session.from_json(bank, session.to_json().encode().decode()) == session


def test_a_session_that_went_beyond_its_rules_can_still_be_loaded():
    rules = qs.Rules(stop=qs.max_questions(3))
    long = sessions.played(qs.Session(BANK, rules))
    tight = json.loads(long.to_json())
    tight["rules"] = qs.Rules(stop=qs.max_questions(1), only_next=True).document
    loaded = qs.Session.from_json(BANK, json.dumps(tight))
    assert loaded.log == long.log
    assert loaded.stopped.reason == "3 questions were asked; the limit is 1."


def test_another_model_version_is_refused_with_both_versions_named():
    text = qs.Session(BANK).answer("a1", "right").to_json()
    document = BANK.document
    document["questions"]["a1"]["right"] = [0.1, 0.91]
    other = qs.Bank(document)
    with pytest.raises(SessionError) as caught:
        qs.Session.from_json(other, text)
    assert str(caught.value) == (
        f"the session was taken with model version {BANK.model_version} of 'Six questions' and goes on only with that one,"
        f" got version {other.model_version} of 'Six questions'"
    )


def test_a_changed_text_alone_is_accepted():
    session = qs.Session(BANK).answer("a1", "right")
    document = BANK.document
    document["questions"]["a1"]["text"] = "A text without its typo"
    mended = qs.Bank(document)
    assert mended.version != BANK.version
    again = qs.Session.from_json(mended, session.to_json())
    assert again.log == session.log
    assert again.next.id == session.next.id


def broken(change):
    """A saved session with something changed."""
    document = json.loads(qs.Session(BANK).answer("a1", "right").late("b", [0.5, 1]).to_json())
    change(document)
    return json.dumps(document)


def line(**fields):
    return lambda document: document["log"].append(fields)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a saved session is JSON, got Expecting value: line 1 column 1 (char 0)"),
        ("{", "a saved session is JSON, got Expecting property name enclosed in double quotes"),
        ("[" * 100_000, "a saved session is JSON, got "),
        ("1" * 5000, "a saved session is JSON, got "),
        ("[]", "a saved session of format 1 is expected, got []"),
        ("null", "a saved session of format 1 is expected, got None"),
        ('{"session": 3}', "a saved session of format 1 is expected, got 3"),
        ('{"session": 1}', "bank: a saved session has it as dict, got None"),
        (broken(lambda d: d.pop("log")), "log: a saved session has it as list, got None"),
        (broken(lambda d: d.update(seed="x")), "seed: a saved session has it as int, got 'x'"),
        (broken(lambda d: d.update(seed=-3)), "a seed is a whole number of at least 0, got -3"),
        (broken(lambda d: d.update(seed=True)), "a seed is a whole number of at least 0, got True"),
        (broken(lambda d: d.update(rules=[])), "rules: a saved session has it as dict, got []"),
        (broken(lambda d: d.update(bank={})), "the session was taken with model version None of ''"),
        (broken(lambda d: d["log"].append(3)), "log[2]: a line is an answer or what was seen of a skill, got 3"),
        (broken(line()), "log[2]: a line is an answer or what was seen of a skill, got {}"),
        (broken(line(question="a2")), "log[2]: a line is an answer or what was seen of a skill, got {'question': 'a2'}"),
        (broken(line(question="a2", answer="right", mood=1)), "log[2]: a line is an answer or what was seen of a skill, got {"),
        (broken(line(question="a1", answer="right")), "log[2]: a question of the bank, each once, got 'a1'"),
        (broken(line(question="q", answer="right")), "log[2]: a question of the bank, each once, got 'q'"),
        (broken(line(question=["a2"], answer="right")), "log[2]: a question of the bank, each once, got ['a2']"),
        (broken(line(question="a2", answer="good")), "log[2]: a2: an answer class is one of wrong, right, got 'good'"),
        (broken(line(question="a2", answer=[])), "log[2]: a2: an answer class is one of wrong, right, got []"),
        (broken(line(question="a2", answer=7)), "log[2]: a2: an answer class is one of wrong, right, got 7"),
        (broken(line(question="a2", answer="right", entry=3)), "log[2]: a2: an entry is a text, got 3"),
        (broken(line(question="a2", answer="right", minutes="3")), "log[2]: minutes are a number of at least 0, got '3'"),
        (broken(line(question="a2", answer="right", minutes=10**400)), "log[2]: minutes are a number of at least 0, got 1000"),
        (broken(line(skill="c", likelihood=[1, 1])), "log[2]: unknown skill, got 'c'"),
        (broken(line(skill=["a"], likelihood=[1, 1])), "log[2]: unknown skill, got ['a']"),
        (broken(line(skill="a", likelihood=3)), "log[2]: a: a level, or a weight for each of no, yes, got 3"),
        (broken(line(skill="a", likelihood=None)), "log[2]: a: a level, or a weight for each of no, yes, got None"),
        (broken(line(skill="a", likelihood=[[1, 2, 3], 1])), "log[2]: a: a weight is a number between 0 and 1"),
        (broken(line(skill="a", likelihood=[0, 0])), "log[2]: these answers cannot be given together"),
    ],
)
def test_a_broken_file_is_refused_in_words(text, said):
    with pytest.raises(SessionError) as caught:
        qs.Session.from_json(BANK, text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"score": "x"}, f"score: one of {ALL_SCORES} is expected, got 'x'"),
        ({"first": ["x"]}, "first: a question of the bank, got 'x'"),
    ],
)
def test_broken_rules_in_a_file_are_refused_in_words(rules, said):
    with pytest.raises(RulesError) as caught:
        qs.Session.from_json(BANK, broken(lambda document: document.update(rules=rules)))
    assert str(caught.value).startswith(said)


def test_numbered_answers_in_a_file_become_names():
    loaded = qs.Session.from_json(BANK, broken(line(question="a2", answer=1)))
    assert loaded.answers["a2"] == "right"


def test_changed_bytes_never_end_in_a_foreign_error():
    text = qs.Session(CREDAL, qs.Rules(stop=qs.any_of(qs.max_questions(3)))).answer("a1", "right").late("b", [0.5, 1]).skip("b1").to_json()
    rng = np.random.default_rng(8)
    loaded = 0
    for _ in range(400):
        letters = list(text)
        for place in rng.integers(len(letters), size=int(rng.integers(1, 4))):
            letters[place] = str(rng.choice(list('{}[]",:0123456789abnotrue -.e')))
        try:
            loaded += qs.Session.from_json(CREDAL, "".join(letters)).beliefs is not None
        except QuaestorError:
            continue
    assert 0 < loaded < 400
