"""What ten different results say to a child, to a parent and to a colleague, in every language, as golden files.

After a change of words that is meant, write them anew with `WRITE_GOLDEN=1 pytest tests/web/test_told.py`, and read every line.
"""

import os
import re
from datetime import timedelta
from html import unescape

import pytest

import quaestor as qs
from helpers.browsing import Browser, application
from helpers.paths import TESTS
from quaestor.store import corrections, publishing, teachers
from quaestor.store.attempts import taking
from quaestor.store.models import Attempt, Published
from quaestor.store.outcomes import rescoring
from quaestor.web.render.language import LANGUAGES

GOLDEN = TESTS / "golden" / "told"
SKILLS = {
    "angles": {"title": "Measuring angles", "levels": ["beginner", "middle", "expert"], "prior": [0.3, 0.4, 0.3]},
    "sums": {"title": "Adding fractions", "prior": [0.5, 0.5], "link": "https://practise.example/sums"},
}


def bank(imprecision=0.0, explained=False):
    questions = {}
    for number in range(1, 5):
        told = {"explanation": "Turn it until it lies on the other."} if explained else {}
        questions[f"A{number}"] = {
            "text": f"How wide is angle {number}?",
            "options": ["30°", "60°", "90°"],
            "correct": "60°",
            "skill": "angles",
            "right": [0.2, 0.55, 0.9],
            **told,
        }
        questions[f"S{number}"] = {
            "text": f"What is 1/{number + 1} + 1/{number + 1}?",
            "kind": "number",
            "correct": f"2/{number + 1}",
            "skill": "sums",
            "right": [0.1, 0.9],
        }
    document = {"title": "Angles and fractions", "language": "en", "skills": SKILLS, "questions": questions}
    return qs.Bank({**document, **({"imprecision": imprecision} if imprecision else {})})


def right(question):
    return question.correct[0]


def wrong(question):
    return "90°" if question.options else "7"


def mixed(question):
    return right(question) if question.id in ("A2", "A4", "S1", "S4") else wrong(question)


def skipping(question):
    return None if question.id.startswith("A") else right(question)


ALL = qs.Rules(score="order", stop=qs.max_questions(8))
SURE = qs.Rules(score="order", stop=qs.any_of(qs.max_questions(8), qs.probability_above(0.9)))
CASES = {  # the bank, the rules, the conditions, how it is answered, and how many questions
    "sure": (bank(), SURE, {}, right, 8),
    "unsure": (bank(), qs.Rules(score="order", stop=qs.max_questions(4)), {}, mixed, 4),
    "contradicting": (bank(), ALL, {}, mixed, 8),
    "too few": (bank(), qs.Rules(score="order", stop=qs.max_questions(4)), {}, skipping, 4),
    "credal": (bank(0.1), qs.Rules(score="order", stop=qs.max_questions(4)), {}, right, 4),
    "out of time": (bank(), ALL, {"minutes": 10}, right, 3),
    "all right": (bank(), ALL, {}, right, 8),
    "all wrong": (bank(), ALL, {}, wrong, 8),
    "practice": (bank(explained=True), qs.Rules(score="order", stop=qs.max_questions(3)), {"mode": "practice"}, mixed, 3),
    "corrected key": (bank(), ALL, {}, wrong, 8),
}


def taken(database, case):
    """The number of a test and of an attempt at it, whose results are as the case says."""
    made, rules, conditions, how, count = CASES[case]
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        test = publishing.publish(work, teacher, publishing.keep_bank(work, teacher, made), rules, publishing.Conditions(**conditions))
        attempt = taking.enter(work, test.code, "Ada")
        for step in range(1, count + 1):
            question = taking.state_of(work, attempt).session.next
            if question is None:
                break
            entry = how(question)
            taking.skip(work, attempt, step) if entry is None else taking.answer(work, attempt, step, entry)
    if case == "out of time":
        with database.work() as work:
            late = work.get(Attempt, attempt.id)
            late.started, late.due = late.started - timedelta(hours=1), late.due - timedelta(hours=1)
    if case == "corrected key":
        with database.work() as work:
            corrections.correct_key(work, work.get(Published, test.id), "A1", ["90°"], note="The picture showed a right angle.")
    rescoring.score_all(database, test.id, lambda share: True)
    with database.read() as work:
        return test.id, work.get(Attempt, attempt.id)


def text_of(page, attempt):
    """What stands on a page, a line a block; without what differs every time."""
    main = re.search(r"<main[^>]*>(.*)</main>", page.text, re.S)[1]
    main = re.sub(r"<(script|style).*?</\1>|<svg.*?</svg>", " ", main, flags=re.S)
    main = re.sub(r"<form.*?</form>", " ", main, flags=re.S)
    main = re.sub(r"</?(p|h\d|li|section|tr|summary|table|div|dt|dd|ol|ul|article|details)\b[^>]*>", "\n", main)
    words = unescape(re.sub(r"<[^>]+>", " ", main)).replace(attempt.code, "CODE")
    words = re.sub(r"\d{1,2}\.? [^\W\d_]+ 20\d\d(, \d\d:\d\d UTC)?", "DATE", words)
    words = re.sub(r"\b\d+ s\b", "0 s", words)
    lines = [" ".join(line.split()) for line in words.splitlines()]
    return "\n".join(line for line in lines if line and line != "·") + "\n"


def readers(database, test, attempt, language):
    """The pages that a child, a parent and a colleague read."""
    app = application(database)
    child = Browser(app, **{"accept-language": language, "cookie": f"taker={attempt.key}"})
    with database.work() as work:
        login = teachers.log_in(work, teachers.owner(work, "owner@school.example"))
    teacher = Browser(app, **{"accept-language": language, "cookie": f"teacher={login}"})
    return {
        "child": child.go(f"/take/{attempt.id}/result"),
        "parent": teacher.go(f"/teacher/tests/{test}/letters?attempt={attempt.id}"),
        "colleague": teacher.go(f"/teacher/tests/{test}/takers/{attempt.id}"),
    }


@pytest.mark.parametrize("case", CASES)
def test_what_each_reader_is_told(database, case):
    if database.engine.dialect.name != "sqlite":
        pytest.skip("the words do not depend on the database")
    test, attempt = taken(database, case)
    for language in LANGUAGES:
        for reader, page in readers(database, test, attempt, language).items():
            assert page.status_code == 200
            told, file = text_of(page, attempt), GOLDEN / f"{case.replace(' ', '-')}-{reader}-{language}.txt"
            if os.environ.get("WRITE_GOLDEN"):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(told, encoding="utf-8")
            assert told == file.read_text(encoding="utf-8"), f"{file.name}: look at the change, then write it anew with WRITE_GOLDEN=1"
