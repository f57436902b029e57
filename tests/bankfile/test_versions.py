"""Two versions of a bank: one changes with everything, the other with what inference sees; both are the same everywhere."""

import json
import os
import subprocess
import sys
from copy import deepcopy

import pytest

from quaestor.bankfile.bank import Bank

VERTICES = {"vertices": [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]}
ENVELOPE = [[0.2, 0.6], [0.2, 0.6], [0.2, 0.4]]
BASE = {
    "title": "T",
    "skills": {"a": {}, "b": {"parents": ["a"], "strength": 0.5}},
    "questions": {
        "Q1": {"text": "What?", "options": ["1", "2"], "correct": "1", "skill": "a", "right": [0.25, 0.75]},
        "Q2": {"skill": "a", "classes": ["x", "y", "z"], "table": {"no": VERTICES, "yes": ENVELOPE}},
    },
}


def changed(place, value):
    document = deepcopy(BASE)
    *steps, last = place.split(".")
    section = document
    for step in steps:
        section = section[step]
    section[last] = value
    return Bank(document)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("title", "U"),
        ("description", "new"),
        ("questions.Q1.text", "What??"),
        ("questions.Q1.options", ["1", "3"]),
        ("questions.Q1.correct", "2"),
        ("questions.Q1.explanation", "new"),
        ("questions.Q1.tags", ["new"]),
        ("questions.Q1.minutes", 3),
        ("questions.Q1.right", ["1/4", "likely"]),
        ("skills.a.title", "new"),
        ("skills.a.prior", "even"),
        ("skills.a.abilities", [-1, 1]),
        ("templates", {"t": {"minutes": 1}}),
        ("imprecision", 0),
    ],
)
def test_what_inference_does_not_see_changes_the_version_only(place, value):
    assert changed(place, value).version != Bank(BASE).version
    assert changed(place, value) != Bank(BASE)
    assert changed(place, value).model_version == Bank(BASE).model_version


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("questions.Q1.right", [0.25, 0.7500001]),
        ("questions.Q1.right", [0.25, [0.75, 0.76]]),
        ("questions.Q1.pilot", True),
        ("questions.Q1.skill", "b"),
        ("questions.Q2.classes", ["x", "y", "w"]),
        ("questions.Q2.table", {"no": ENVELOPE, "yes": VERTICES}),
        ("questions.Q2.table", {"no": VERTICES, "yes": VERTICES}),
        ("questions.Q3", {"skill": "a", "right": [0, 1]}),
        ("skills.a.levels", ["no", "Yes"]),
        ("skills.a.prior", [0.4, 0.6]),
        ("skills.b.strength", 0.6),
        ("skills.c", {}),
        ("imprecision", 0.01),
    ],
)
def test_what_inference_sees_changes_both_versions(place, value):
    document = deepcopy(BASE)
    if place == "skills.a.levels":
        document["questions"]["Q2"]["table"] = {"no": VERTICES, "Yes": ENVELOPE}
    other = (
        changed(place, value) if place != "skills.a.levels" else Bank({**document, "skills": {**BASE["skills"], "a": {"levels": value}}})
    )
    assert other.version != Bank(BASE).version
    assert other.model_version != Bank(BASE).model_version


def test_the_order_of_questions_is_part_of_the_model_and_the_order_of_fields_is_not():
    turned = Bank({**BASE, "questions": dict(reversed(BASE["questions"].items()))})
    assert turned.model_version != Bank(BASE).model_version
    fields_turned = {name: dict(reversed(fields.items())) for name, fields in BASE["questions"].items()}
    assert Bank({**dict(reversed(BASE.items())), "questions": fields_turned}).version == Bank(BASE).version


def test_versions_are_short_hexadecimal_words():
    for version in (Bank(BASE).version, Bank(BASE).model_version):
        assert len(version) == 16
        assert int(version, 16) >= 0


def test_versions_are_the_same_in_every_process():
    program = "import json, sys; from quaestor import Bank; b = Bank(json.load(sys.stdin)); print(b.version, b.model_version)"
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(BASE),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert printed == [[Bank(BASE).version, Bank(BASE).model_version]] * 2
