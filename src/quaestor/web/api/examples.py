"""The examples in the description of the API: one school, one test, one taker."""

from typing import Any

NAME = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "\\S", "examples": ["Ada"]}
BANK = """quaestor: 1
title: Integer multiplication
skills:
  multiplication: {levels: [no, yes], prior: [0.5, 0.5]}
questions:
  Q1:
    text: What is $10 \\times 5$?
    options: ["15", "50", "105"]
    correct: "50"
    skill: multiplication
    right: [0.3, 0.9]
"""
_RULES = {"score": "mode", "stop": {"any_of": [{"max_questions": 20}, {"probability_above": 0.9}]}}
NEW_TEST = {"bank": 1, "title": "Multiplication, class 5b", "rules": _RULES, "mode": "practice", "minutes": 30, "retakes": "any"}
_OPTIONS: dict[str, Any] = {"options": ["15", "50", "105"], "parts": []}
QUESTION = {"id": "Q1", "kind": "choice", "text": "What is $10 \\times 5$?", **_OPTIONS, "image": None, "sound": None, "alt": ""}
STATE: dict[str, Any] = {
    "session": 12,
    "step": 1,
    "over": False,
    "reason": "",
    "question": QUESTION,
    "may_skip": True,
    "seconds_left": 1799.5,
    "most_left": 20,
}
SESSION = {
    **STATE,
    "test": 3,
    "code": "7KMRX2PQ",
    "link": "https://tests.school.example/c/7KMRX2PQ",
    "name": "Ada",
    "mode": "practice",
    "started": "2026-09-01T08:00:00Z",
    "ended": None,
    "asked": 0,
    "skills": 1,
    "sure": 0,
}
FEEDBACK = {"question": "Q1", "value": "right", "correct": ["50"], "explanation": "Ten fives are fifty.", "parts": {}}
FOUND = {
    "skill": "multiplication",
    "title": "Multiplying whole numbers",
    "enough": True,
    "level": "yes",
    "lower": 0.75,
    "upper": 0.75,
    "sure": False,
    "cut": False,
    "others": [],
    "levels": [{"level": "no", "lower": 0.25, "upper": 0.25}, {"level": "yes", "lower": 0.75, "upper": 0.75}],
}
RESULT = {
    "session": 12,
    "test": 3,
    "over": True,
    "reason": "No question is left.",
    "asked": 1,
    "skills": [FOUND],
    "practise": [],
}
ANSWERED = {
    **STATE,
    "step": 2,
    "over": True,
    "reason": "No question is left.",
    "question": None,
    "feedback": FEEDBACK,
    "result": RESULT,
}
_BEFORE = {
    **FOUND,
    "enough": False,
    "level": "no",
    "lower": 0.5,
    "upper": 0.5,
    "others": ["yes"],
    "levels": [{"level": level, "lower": 0.5, "upper": 0.5} for level in ("no", "yes")],
}
CHANGE = {
    "skill": "multiplication",
    "before": {"level": "yes", "lower": 0.5, "upper": 0.5},
    "after": {"level": "yes", "lower": 0.75, "upper": 0.75},
    "text": "“Multiplying whole numbers”, 'yes': from 50 % to 75 %.",
}
LINE = {
    "step": 1,
    "question": "Q1",
    "text": "What is $10 \\times 5$?",
    "entry": "50",
    "answer": "right",
    "value": "right",
    "seconds": 8.2,
    "at": "2026-09-01T08:00:08Z",
    "why": "Why Q1, a question on multiplication: it is the only question left.",
    "numbers": "Its gain is 0.250.",
    "changes": [CHANGE],
    "before": [_BEFORE],
    "after": [FOUND],
}
WRONG = {
    "place": "questions.Q1.right",
    "rule": "a number for each of 2 levels is expected",
    "value": "3 values",
    "hint": "",
    "where": "line 11",
}
BANK_SUMMARY = {
    "id": 1,
    "title": "Integer multiplication",
    "version": "8f3c6f0f6c1d3b52",
    "model_version": "1a0b9c3d2e4f5a6b",
    "questions": 1,
    "images": [],
    "created": "2026-08-30T16:00:00Z",
}
BANK_REPLY = {
    **BANK_SUMMARY,
    "skills": [{"skill": "multiplication", "title": "multiplication", "levels": ["no", "yes"]}],
    "warnings": [],
}
CORRECTION = {"revision": 1, "kind": "key", "question": "Q1", "note": "50 is right, not 15.", "at": "2026-09-02T10:00:00Z"}
PUBLISHED = {
    "id": 3,
    "title": "Multiplication, class 5b",
    "bank": 1,
    "bank_version": "8f3c6f0f6c1d3b52",
    "code": "K7QRX2",
    "link": "https://tests.school.example/c/K7QRX2",
    "rules": _RULES,
    "mode": "practice",
    "minutes": 30,
    "opens": None,
    "closes": None,
    "retakes": "any",
    "by_list": False,
    "keep_days": None,
    "results": "at once",
    "per_browser": None,
    "per_address": None,
    "class_id": None,
    "half_life": None,
    "revision": 1,
    "corrections": [CORRECTION],
    "created": "2026-08-30T16:05:00Z",
}
ROW = {
    "session": 12,
    "pupil": None,
    "counts": True,
    "name": "Ada",
    "code": "7KMRX2PQ",
    "state": "over",
    "started": "2026-09-01T08:00:00Z",
    "ended": "2026-09-01T08:00:08Z",
    "minutes": 0.1,
    "questions": 1,
    "counted": 1,
    "right": 1,
    "points": 1.0,
    "grade": None,
    "reason": "No question is left.",
    "look": False,
    "skills": [{"skill": "multiplication", "answers": 1, "level": "yes", "lower": 0.75, "upper": 0.75, "sure": False}],
}
PUPIL = {
    "id": 7,
    "name": "Ada Berg",
    "code": "7KMRX2PQ",
    "link": "https://tests.school.example/c/7KMRX2PQ",
    "source": "",
    "time_factor": 1.5,
    "extra_minutes": 0.0,
}
CLASS = {"id": 1, "title": "5a", "source": "", "created": "2026-08-30T16:00:00Z", "archived": None}
GROWN = {
    "skill": "multiplication",
    "title": "multiplication",
    "levels": ["no", "yes"],
    "points": [
        {
            "test": 3,
            "at": "2026-09-01T08:00:08Z",
            "answers": 4,
            "level": "yes",
            "lower": [0.1, 0.9],
            "upper": [0.1, 0.9],
            "sure": True,
            "starts": False,
        }
    ],
}
PROBLEM = {
    "type": "urn:quaestor:stale-step",
    "title": "The step was answered already",
    "status": 409,
    "detail": "this question was answered already; the test stands at step 2",
    "step": 2,
    "state": {**STATE, "step": 2},
}
