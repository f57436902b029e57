"""Who may do what: a row for every route of the application, what each kind of person and program may expect of it, and its request."""

import base64
import re
import zlib
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import quaestor as qs
from helpers.browsing import PICTURE
from helpers.school import FORM, PASSWORD, PLATFORM
from quaestor.formats.files import dump_bytes

OK, SIGN_IN, MISSING = "ok", "sign-in", 404
GUESTS = dict.fromkeys(("taker", "other_taker", "anonymous", "token"), SIGN_IN)  # `token`: a program that tries a page with its token
STAFF = ("owner", "teacher", "colleague", "other")


def _who(**expected: Any) -> dict[str, Any]:
    return {**dict.fromkeys(STAFF, MISSING), **GUESTS, **expected}


# What each role may expect: OK, to be sent to the sign-in page, or a status.
ANYONE = dict.fromkeys((*STAFF, *GUESTS), OK)
TEACHERS = _who(**dict.fromkeys(STAFF, OK))
OWNER = _who(owner=OK, teacher=403, colleague=403, other=403)
OWN = _who(teacher=OK)  # things of one teacher: not even the owner of the installation sees them
SHARED = _who(teacher=OK, colleague=OK)
AUTHOR = _who(teacher=OK, colleague=400)
REFUSED, OUTSIDE = dict.fromkeys(ANYONE, 400), dict.fromkeys(ANYONE, 403)  # of whom no platform says who they are
TAKER = {**dict.fromkeys(ANYONE, 403), "taker": OK}
# Programs: the right scope, every other scope, another teacher's token, none, a forged one, a signed-in browser without a token.
API = {"right": OK, "wrong": 403, "other": 404, "none": 401, "forged": 401, "browser": 401}
API_LIST = {**API, "other": OK}  # another teacher's token finds that teacher's things


@dataclass(frozen=True)
class Row:
    """What is expected of a route. `sent`: fields of a form, or the body of a call; `at`: what stands in its path; `ok`: its status when
    all is well; `changes`: whether it then writes something (None: perhaps)."""

    who: dict[str, Any]
    sent: dict[str, Any] | None = None
    ok: int = 0
    changes: bool | None = True
    scope: str = ""
    files: Any = None
    at: dict[str, str] = field(default_factory=dict)


def row(who, sent=None, ok=0, changes=True, scope="", files=None, **at):
    return Row(who, sent, ok, changes, scope, files, at)


RENAMED = {"id": "one", "text": "Another text?", "kind": "text", "correct": "2", "skills": "sums", "seen": "2"}
RENAMED |= {"way": "shares", "right": "0.1 | 0.4 | 0.8"}
BANK = dump_bytes(qs.load("multiplication"), ".yaml")
QUESTIONS = b"::Q::2+2?{=4 ~5}"
PACKED = base64.b64encode(zlib.compress(QUESTIONS)).decode()
TEST, BANKS, DRAFT = "/desk/tests/{number}", "/desk/banks/{number}", "/desk/drafts/{draft}"
CLASS, PUPIL = "/desk/classes/{number}", "/desk/classes/{number}/pupils/{pupil}"
ROSTER = '[{"source": "c1", "title": "6d", "pupils": [{"source": "u1", "name": "Eve"}]}]'
SESSION = "/api/v1/sessions/{session}"
CAT = "/ims/cat/v1p0/sections"
STAGE = {"itemResult": [{"identifier": "one", "outcomeVariables": [{"identifier": "SCORE", "value": [{"value": "1"}]}]}]}
ROWS = {
    # Everybody
    "GET /": row(ANYONE),
    "GET /health": row(ANYONE),
    "GET /static": row(ANYONE, path="/static/quaestor.css"),
    "GET /five-minutes": row(ANYONE),
    "GET /c/{code}": row(ANYONE),
    "POST /enter": row(ANYONE, {"code": "{code}", "name": "Eve", "once": "x"}),
    "POST /language": row(ANYONE, {"language": "de", "back": "/"}, changes=False),
    "GET /sign-in": row({**ANYONE, **dict.fromkeys(STAFF, 303)}),
    "POST /sign-in": row(ANYONE, {"email": "other@school.example", "password": PASSWORD}),
    "GET /sign-in/{secret}": row(ANYONE),
    "POST /sign-in/{secret}": row(ANYONE, {"name": "New", "password": PASSWORD}),
    "POST /sign-out": row(ANYONE, changes=None),
    "GET /api/v1": row(ANYONE),
    "GET /api/v1/openapi.json": row(ANYONE),
    # Learning platforms: without a message of one nobody gets anywhere
    "GET /lti/keys": row(ANYONE),
    "GET /lti/login": row(REFUSED),
    "POST /lti/login": row(REFUSED),
    "GET /lti/launch": row(REFUSED),
    "POST /lti/launch": row(REFUSED, {"state": "x", "id_token": "y"}),
    "GET /lti/register/{secret}": row(OUTSIDE),
    "POST /lti/register/{secret}": row(OUTSIDE, {"openid_configuration": "https://moodle.example"}),
    "GET /framed/{secret}/{rest:path}": row(OUTSIDE, rest="desk"),
    "POST /framed/{secret}/{rest:path}": row(OUTSIDE, rest="desk"),
    "GET /lti/start": row(OUTSIDE),
    "GET /lti/choose": row(OUTSIDE),
    "POST /lti/choose": row(OUTSIDE, {"test": "{test}"}),
    "POST /lti/none": row(OUTSIDE),
    "POST /lti/connect": row(OUTSIDE, {"code": "x"}),
    f"POST {TEST}/members/{{placement}}": row(_who(), placement="1"),
    "GET /desk/platforms": row(OWNER),
    "POST /desk/platforms": row(OWNER, {**PLATFORM, "client_id": "another"}),
    "POST /desk/platforms/link": row(OWNER),
    "GET /desk/platforms/{number}": row(OWNER),
    "POST /desk/platforms/{number}": row(OWNER, {**PLATFORM, "name": "Another name"}),
    "POST /desk/platforms/{number}/remove": row(OWNER),
    "POST /desk/account/connect": row(TEACHERS),
    # Takers
    "GET /take/{attempt}": row(TAKER),
    "POST /take/{attempt}/answer": row(TAKER, {"step": "2", "entry": "two"}),
    "GET /take/{attempt}/feedback/{step}": row(TAKER),
    "GET /take/{attempt}/result": row(TAKER, attempt="over"),
    "GET /take/{attempt}/media/{image}": row(TAKER),
    # The desk
    "GET /desk": row(TEACHERS),
    "GET /desk/account": row(TEACHERS),
    "POST /desk/account/name": row(TEACHERS, {"name": "Ada"}),
    "POST /desk/account/password": row({**TEACHERS, "other": 400}, {"present": "wrong", "password": PASSWORD}),
    "POST /desk/account/tokens": row(TEACHERS, {"name": "mine", "scope": "banks"}),
    "POST /desk/account/tokens/{number}/delete": row(OWN, number="token"),
    "GET /desk/people": row(OWNER),
    "POST /desk/people": row(OWNER, {"email": "eve@school.example"}),
    "POST /desk/people/{number}/link": row(OWNER, number="person"),
    "GET /desk/people/{number}": row(OWNER, number="person"),
    "POST /desk/people/{number}/lock": row(OWNER, number="person"),
    "POST /desk/people/{number}/unlock": row(OWNER, number="locked"),
    "POST /desk/people/{number}/remove": row(OWNER, {"email": "teacher@school.example"}, number="person"),
    # Banks
    "GET /desk/banks": row(TEACHERS),
    "GET /desk/banks/template/{ending}": row(TEACHERS, ending="csv"),
    "POST /desk/banks": row(TEACHERS, files={"file": ("bank.yaml", BANK)}),
    "GET /desk/import": row(TEACHERS),
    "POST /desk/import": row(TEACHERS, files={"file": ("x.gift", QUESTIONS)}, ok=200, changes=False),
    "POST /desk/import/keep": row(TEACHERS, {"name": "x.gift", "packed": PACKED, "question": "Q", "skills_by": "one", "one": "s"}),
    "POST /desk/banks/new": row(TEACHERS, {"title": "Mine"}),
    "POST /desk/banks/bundled": row(TEACHERS, {"name": "fractions"}),
    "POST /desk/banks/pasted": row(TEACHERS, {"rows": "id\ttext\tskill\nQ1\tWhat?\tsums"}),
    f"GET {BANKS}": row(OWN),
    f"GET {BANKS}/file.{{ending}}": row(OWN),
    f"GET {BANKS}/media/{{name:path}}": row(OWN),
    f"POST {BANKS}/delete": row(OWN, number="spare"),
    f"GET {BANKS}/publish": row(OWN),
    f"POST {BANKS}/publish": row(OWN, FORM),
    f"GET {BANKS}/try": row(OWN),
    f"POST {BANKS}/try": row(OWN, {**FORM, "students": "10"}),
    # Drafts
    f"GET {DRAFT}": row(SHARED),
    f"POST {DRAFT}/fields": row(SHARED, {"title": "Another title", "seen": "2"}),
    f"POST {DRAFT}/images": row(SHARED, files={"images": ("new.png", PICTURE)}),
    f"GET {DRAFT}/media/{{name:path}}": row(SHARED),
    f"POST {DRAFT}/share": row(AUTHOR, {"email": "other@school.example"}),
    f"POST {DRAFT}/delete": row(AUTHOR, {"sure": "yes"}),
    f"POST {DRAFT}/publish": row(SHARED),
    f"GET {DRAFT}/versions": row(SHARED),
    f"GET {DRAFT}/versions/compare": row(SHARED),
    f"POST {DRAFT}/versions/restore": row(SHARED, {"number": "1"}),
    f"GET {DRAFT}/versions/{{number}}/file.{{ending}}": row(SHARED, number="first"),
    f"GET {DRAFT}/try": row(SHARED),
    f"POST {DRAFT}/try": row(SHARED, {**FORM, "students": "10"}),
    f"GET {DRAFT}/{{section}}": row(SHARED),
    f"GET {DRAFT}/{{section}}/{{name:path}}": row(SHARED, name="question"),
    f"POST {DRAFT}/{{section}}/~preview": row(SHARED, RENAMED, ok=200, changes=False),
    f"POST {DRAFT}/{{section}}/{{name:path}}": row(SHARED, RENAMED, name="question"),
    f"GET {DRAFT}/improve": row(SHARED),
    f"POST {DRAFT}/improve": row({**SHARED, "colleague": 400}, {"test": "{test}", "weight": "some"}),  # a colleague has no tests here
    f"GET {DRAFT}/improve/{{job}}": row(OWN, job="learning"),
    f"POST {DRAFT}/improve/{{job}}": row(OWN, {"proposal": "questions.number"}, job="learning"),
    # Trials
    "GET /desk/trials/{job}": row(OWN),
    "GET /desk/jobs/{job}/progress": row(OWN),
    "POST /desk/trials/{job}/delete": row(OWN),
    "POST /desk/trials/{job}/publish": row(OWN),
    # Published tests
    f"GET {TEST}": row(OWN),
    f"GET {TEST}/qr.svg": row(OWN),
    f"POST {TEST}/pupils": row(OWN, {"names": "Eve"}),
    f"GET {TEST}/cards": row(OWN),
    f"POST {TEST}/class": row(OWN, {"class": "{class}"}, number="second"),
    f"POST {TEST}/close": row(OWN),
    f"POST {TEST}/time": row(OWN, {"minutes": "30", "closing": "same"}),
    f"GET {TEST}/correct/{{question:path}}": row(OWN),
    f"POST {TEST}/correct/{{question:path}}": row(OWN, {"act": "withdrawn", "seen": "0", "sure": "yes"}),
    f"GET {TEST}/delete": row(OWN),
    f"POST {TEST}/delete": row(OWN, {"code": "{code}"}),
    f"GET {TEST}/letters": row(OWN),
    f"GET {TEST}/letters.pdf": row(OWN),
    f"GET {TEST}/grades": row(OWN),
    f"POST {TEST}/grades": row(OWN, {"grades_by": "points", "grades": "50 passed\n0 failed"}),
    f"GET {TEST}/results": row(OWN),
    f"GET {TEST}/results.{{ending}}": row(OWN, ending="csv"),
    f"GET {TEST}/results/columns": row(OWN),
    f"GET {TEST}/offline.html": row(OWN),
    f"GET {TEST}/grades/{{system}}": row(OWN, system="moodle"),
    f"GET {TEST}/takers/{{attempt}}": row(OWN),
    f"GET {TEST}/takers/{{attempt}}/why/{{step}}": row(OWN),
    f"GET {TEST}/takers/{{attempt}}/export.json": row(OWN),
    f"GET {TEST}/takers/{{attempt}}/time": row(OWN),
    f"POST {TEST}/takers/{{attempt}}/time": row(OWN, {"extra": "10"}),
    f"GET {TEST}/takers/{{attempt}}/again": row(OWN),
    f"POST {TEST}/takers/{{attempt}}/again": row(OWN),
    f"POST {TEST}/takers/{{attempt}}/count": row(OWN, attempt="aside"),
    f"GET {TEST}/takers/{{attempt}}/delete": row(OWN),
    f"POST {TEST}/takers/{{attempt}}/delete": row(OWN),
    f"GET {TEST}/live": row(OWN),
    f"GET {TEST}/live/rows": row(OWN),
    f"GET {TEST}/live/events": row(OWN),
    f"GET {TEST}/projector": row(OWN),
    f"GET {TEST}/projector/count": row(OWN),
    f"GET {TEST}/questions": row(OWN),
    f"GET {TEST}/report": row(OWN),
    # Classes
    "GET /desk/classes": row(TEACHERS),
    "POST /desk/classes": row(TEACHERS, {"title": "6c", "names": "Eve"}),
    "POST /desk/classes/roster": row(TEACHERS, {"roster": ROSTER, "class": "c1"}),
    f"GET {CLASS}": row(OWN),
    f"POST {CLASS}/pupils": row(OWN, {"names": "Eve"}),
    f"POST {CLASS}/title": row(OWN, {"title": "6c"}),
    f"POST {CLASS}/archive": row(OWN),
    f"GET {CLASS}/cards": row(OWN),
    f"GET {CLASS}/growth": row(OWN),
    f"GET {CLASS}/delete": row(OWN),
    f"POST {CLASS}/delete": row(OWN, {"title": "Sums of 5b"}),
    f"GET {PUPIL}": row(OWN),
    f"POST {PUPIL}/name": row(OWN, {"name": "Eve"}),
    f"POST {PUPIL}/time": row(OWN, {"extra": "10", "factor": "1.5"}),
    f"POST {PUPIL}/move": row(OWN, {"class": "{spare_class}"}),
    f"GET {PUPIL}/data": row(OWN),
    f"GET {PUPIL}/data.json": row(OWN),
    f"GET {PUPIL}/erase": row(OWN),
    f"POST {PUPIL}/erase": row(OWN, {"name": "Grace Hopper"}),
    # Programs
    "POST /api/v1/sessions": row(API, {"test": "{test}", "name": "Eve"}, scope="sessions", ok=201),
    f"GET {SESSION}": row(API, scope="sessions"),
    f"GET {SESSION}/next": row(API, scope="sessions"),
    f"POST {SESSION}/answers": row(API, {"step": 2, "entry": ["two"]}, scope="sessions", ok=200),
    f"POST {SESSION}/skips": row(API, {"step": 2}, scope="sessions", ok=200),
    f"GET {SESSION}/result": row(API, scope="sessions, results", session="over"),
    f"GET {SESSION}/history": row(API, scope="results"),
    f"GET {SESSION}/images/{{image}}": row(API, scope="sessions"),
    f"DELETE {SESSION}": row(API, scope="results", ok=204),
    f"POST {CAT}": row(API, {"sectionConfiguration": "{section_of_test}"}, scope="tests", ok=201),
    f"GET {CAT}/{{sectionIdentifier}}": row(API, scope="tests"),
    f"DELETE {CAT}/{{sectionIdentifier}}": row(API, scope="tests", ok=204),
    f"POST {CAT}/{{sectionIdentifier}}/sessions": row(API, {}, scope="sessions", ok=201),
    f"POST {CAT}/{{sectionIdentifier}}/sessions/{{sessionIdentifier}}/results": row(
        API, {"assessmentResult": STAGE}, scope="sessions", ok=201
    ),
    f"DELETE {CAT}/{{sectionIdentifier}}/sessions/{{sessionIdentifier}}": row(API, scope="sessions", ok=204),
    "GET /ims/cat/v1p0/openapi.json": row(ANYONE),
    "POST /api/v1/banks": row(API_LIST, {"ending": ".yaml", "content": BANK.decode()}, scope="banks", ok=201),
    "GET /api/v1/banks": row(API_LIST, scope="banks"),
    "GET /api/v1/banks/{bank}": row(API, scope="banks"),
    "GET /api/v1/banks/{bank}/content": row(API, scope="banks"),
    "POST /api/v1/tests": row(API, {"bank": "{bank}"}, scope="tests", ok=201),
    "GET /api/v1/tests": row(API_LIST, scope="tests"),
    "GET /api/v1/tests/{test}": row(API, scope="tests"),
    "GET /api/v1/tests/{test}/results": row(API, scope="results"),
    "GET /api/v1/tests/{test}/results.csv": row(API, scope="results"),
    "POST /api/v1/classes": row(API_LIST, {"title": "6c", "names": ["Eve"]}, scope="tests", ok=201),
    "GET /api/v1/classes": row(API_LIST, scope="tests"),
    "GET /api/v1/classes/{class}": row(API, scope="tests"),
    "GET /api/v1/classes/{class}/pupils/{pupil}/growth": row(API, scope="results"),
    "DELETE /api/v1/classes/{class}/pupils/{pupil}": row(API, scope="results", ok=204),
}
PAGES = [key for key, one in ROWS.items() if "right" not in one.who]
CALLS = [key for key, one in ROWS.items() if "right" in one.who]
FORMS = [key for key in PAGES if key.startswith("POST ")]
THINGS = [key for key in ROWS if ROWS[key].who["other"] == MISSING or ROWS[key].who is TAKER]
FIXED = {"step": "1", "ending": "yaml", "section": "questions", "question": "one", "first": "1", "name": "pie.png", "session": ""}
FIXED["image"] = sha256(PICTURE).hexdigest()


def methods_and_paths(app):
    """Every route of an application, as the rows name them."""
    for one in app.routes:
        inside = getattr(one, "original_router", None)
        for route in inside.routes if inside is not None else [one]:
            for method in getattr(route, "methods", None) or ["GET"]:
                yield f"{method} {route.path}"


def where(school, key, **changed):
    """What stands in the path of a row: {number} means another thing below each prefix."""
    path, at = key.partition(" ")[2], ROWS[key].at
    kinds = {
        "/desk/platforms": "platform",
        "/desk/tests": "test",
        "/desk/banks": "bank",
        "/desk/people": "person",
        "/desk/classes": "class",
    }
    usual = next((kind for prefix, kind in kinds.items() if path.startswith(prefix)), "")
    places = {**FIXED, **school.places, "session": school.places["attempt"], "number": school.places.get(usual, "")}
    for name, thing in at.items():
        places[name] = school.places.get(thing) or FIXED.get(thing, thing)
    return {**places, **changed}


def address(key, places):
    """The path of a row with everything in its place."""
    return ROWS[key].at.get("path") or re.sub(r"\{(\w+)(:path)?\}", lambda part: str(places[part[1]]), key.partition(" ")[2])


def send(school, key, who, **changed):
    """The request of a row from somebody."""
    method, _, path = key.partition(" ")
    one, places = ROWS[key], where(school, key, **changed)
    target = address(key, places)
    sent = {name: filled(value, places) for name, value in one.sent.items()} if one.sent is not None else None
    if one.scope:
        return _call(school, one, method, target, who, sent)
    attempt = places["attempt"] if "{attempt}" in path else None
    if method == "GET":
        return school.get(who, target, attempt)
    return school.post(who, target, sent, one.files, attempt)


def filled(value, places):
    if isinstance(value, str) and (named := re.fullmatch(r"\{(\w+)\}", value)):
        return places[named[1]]
    return value


def _call(school, one, method, path, who, body):
    if who == "browser":
        return school.client.request(method, path, json=body, headers={**school.headers("teacher"), "idempotency-key": "x"})
    right = one.scope.partition(", ")[0]
    tokens = {"right": school.tokens[right], "wrong": school.tokens[f"not {one.scope}"], "other": school.tokens["other"]}
    return school.call(method, path, {**tokens, "none": None, "forged": "forged"}[who], body)
