"""Who may do what: a row for every route of the application, what each kind of person and program may expect of it, and its request."""

import re
import zlib
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import quaestor as qs
from helpers.browsing import PICTURE
from helpers.school import FORM, PASSWORD, PLATFORM
from quaestor.formats.files import dump_bytes

OK, SIGN_IN, MISSING = "ok", "sign-in", 404
# `locked`, `removed`: the browsers of teachers who were signed in before; `token`: a program that tries a page with its token.
GUESTS = dict.fromkeys(("locked", "removed", "taker", "other_taker", "anonymous", "token"), SIGN_IN)
# `teacher` has the things; `colleague` may edit them, `looker` may look at them, `other` shares nothing.
STAFF = ("owner", "teacher", "colleague", "looker", "other")


def _who(**expected: Any) -> dict[str, Any]:
    return {**dict.fromkeys(STAFF, MISSING), **GUESTS, **expected}


# What each role may expect: OK, to be sent to the sign-in page, or a status.
ANYONE = dict.fromkeys((*STAFF, *GUESTS), OK)
ABSENT = dict.fromkeys(ANYONE, MISSING)  # pages that a server has only where its settings say so
TEACHERS = _who(**dict.fromkeys(STAFF, OK))
OWNER = _who(**dict.fromkeys(STAFF, 403) | {"owner": OK})
MINE = _who(teacher=OK)  # what cannot be shared: not even the owner of the installation sees it
LOOK = _who(teacher=OK, colleague=OK, looker=OK)
EDIT = {**LOOK, "looker": 403}
OWN = {**EDIT, "colleague": 403}
REFUSED, OUTSIDE = dict.fromkeys(ANYONE, 400), dict.fromkeys(ANYONE, 403)  # of whom no platform says who they are
TAKER = {**dict.fromkeys(ANYONE, 403), "taker": OK}
# Programs: the right scope, every other scope, another teacher's token, tokens of those with whom it is shared, those of teachers who were
# locked or removed, none, a forged one, a signed-in browser without a token. A token reaches what is its teacher's own, and nothing shared.
API = {"right": OK, "wrong": 403, "other": 404, "colleague": 404, "looker": 404}
API |= dict.fromkeys(("locked", "removed", "none", "forged", "browser"), 401)
API_LIST = {**API, **dict.fromkeys(("other", "colleague", "looker"), OK)}  # another teacher's token finds that teacher's things


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
CHOSEN = {"name": "questions.gift", "question": "Two and two", "skills_by": "one", "one": "sums"}
CHOSEN["packed"] = b64encode(zlib.compress(b"Two and two? {=4 ~5}")).decode()
BANK = dump_bytes(qs.load("multiplication"), ".yaml")
TEST, BANKS, DRAFT = "/teacher/tests/{number}", "/teacher/banks/{number}", "/teacher/drafts/{draft}"
CLASS, PUPIL = "/teacher/classes/{number}", "/teacher/classes/{number}/pupils/{pupil}"
ROSTER = '[{"source": "c1", "title": "6d", "pupils": [{"source": "u1", "name": "Eve"}]}]'
SESSION = "/api/v1/sessions/{session}"
CAT = "/ims/cat/v1p0/sections"
STAGE = {"itemResult": [{"identifier": "one", "outcomeVariables": [{"identifier": "SCORE", "value": [{"value": "1"}]}]}]}
ROWS = {
    # Everybody
    "GET /": row(ANYONE),
    "GET /health": row(ANYONE),
    "GET /static": row(ANYONE, path="/static/quaestor.css"),
    "GET /docs": row(ANYONE, ok=307),
    "GET /docs/{path:path}": row(ABSENT, path="/docs/no-such-page.html"),  # its pages, where it was built: tests/test_site.py
    "GET /five-minutes": row(ANYONE),
    "GET /done": row(ANYONE),
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
    "POST /lti/login": row(REFUSED, {"iss": "https://unknown.example", "login_hint": "x", "target_link_uri": "x", "client_id": "x"}),
    "GET /lti/launch": row(REFUSED),
    "POST /lti/launch": row(REFUSED, {"state": "x", "id_token": "y"}),
    "GET /lti/register/{secret}": row(OUTSIDE),
    "POST /lti/register/{secret}": row(OUTSIDE, {"openid_configuration": "https://moodle.example"}),
    "GET /framed/{secret}/{rest:path}": row(OUTSIDE, rest="teacher"),
    "POST /framed/{secret}/{rest:path}": row(OUTSIDE, rest="teacher"),
    "GET /lti/start": row(OUTSIDE),
    "GET /lti/choose": row(OUTSIDE),
    "POST /lti/choose": row(OUTSIDE, {"test": "{test}"}),
    "POST /lti/none": row(OUTSIDE),
    "POST /lti/connect": row(OUTSIDE, {"code": "x"}),
    f"POST {TEST}/members/{{placement}}": row(_who(), placement="1"),
    "GET /teacher/platforms": row(OWNER),
    "POST /teacher/platforms": row(OWNER, {**PLATFORM, "client_id": "another"}),
    "POST /teacher/platforms/link": row(OWNER),
    "GET /teacher/platforms/{number}": row(OWNER),
    "POST /teacher/platforms/{number}": row(OWNER, {**PLATFORM, "name": "Another name"}),
    "POST /teacher/platforms/{number}/remove": row(OWNER),
    "POST /teacher/account/connect": row(TEACHERS),
    # Takers
    "GET /take/{attempt}": row(TAKER),
    "POST /take/{attempt}/answer": row(TAKER, {"step": "2", "entry": "two"}),
    "GET /take/{attempt}/feedback/{step}": row(TAKER),
    "GET /take/{attempt}/result": row(TAKER, attempt="over"),
    "GET /take/{attempt}/media/{image}": row(TAKER),
    "POST /take/{attempt}/done": row(TAKER),
    # Teachers; whoever follows an earlier address is only told the present one
    "GET /desk{rest:path}": row(dict.fromkeys(ANYONE, 308), rest="/tests/1"),
    "POST /desk{rest:path}": row(dict.fromkeys(ANYONE, 308), {}, rest="/tests/1/close"),
    "GET /teacher": row(TEACHERS),
    "GET /teacher/account": row(TEACHERS),
    "POST /teacher/account/disconnect": row({**TEACHERS, **dict.fromkeys(STAFF[:-1], 400)}, changes=False),  # who has no password needs it
    "POST /teacher/account/name": row(TEACHERS, {"name": "Ada"}),
    "POST /teacher/account/password": row({**TEACHERS, "other": 400}, {"present": "wrong", "password": PASSWORD}),
    "POST /teacher/account/tokens": row(TEACHERS, {"name": "mine", "scope": "banks"}),
    "POST /teacher/account/tokens/{number}/delete": row(MINE, number="token"),
    "GET /teacher/people": row(OWNER),
    "POST /teacher/people": row(OWNER, {"email": "eve@school.example"}),
    "POST /teacher/people/{number}/link": row(OWNER, number="person"),
    "GET /teacher/people/{number}": row(OWNER, number="person"),
    "POST /teacher/people/{number}/lock": row(OWNER, number="person"),
    "POST /teacher/people/{number}/unlock": row(OWNER, number="locked"),
    "POST /teacher/people/{number}/remove": row(OWNER, {"email": "teacher@school.example"}, number="person"),
    # Banks
    "GET /teacher/banks": row(TEACHERS),
    "GET /teacher/banks/template/{ending}": row(TEACHERS, ending="csv"),
    "POST /teacher/banks": row(TEACHERS, files={"file": ("bank.yaml", BANK)}),
    "POST /teacher/banks/new": row(TEACHERS, {"title": "Mine"}),
    "POST /teacher/banks/bundled": row(TEACHERS, {"name": "fractions"}),
    "GET /teacher/import": row(TEACHERS),
    "POST /teacher/import": row(TEACHERS, files={"file": ("questions.gift", b"Two and two? {=4 ~5}")}, ok=200, changes=False),
    "POST /teacher/import/keep": row(TEACHERS, CHOSEN),
    "POST /teacher/banks/pasted": row(TEACHERS, {"rows": "id\ttext\tskill\nQ1\tWhat?\tsums"}),
    f"GET {BANKS}": row(LOOK),
    f"GET {BANKS}/file.{{ending}}": row(LOOK),
    f"GET {BANKS}/media/{{name:path}}": row(LOOK),
    f"POST {BANKS}/delete": row(OWN, number="spare"),
    f"GET {BANKS}/publish": row(EDIT),
    f"POST {BANKS}/publish": row(EDIT, FORM),
    f"GET {BANKS}/try": row(EDIT),
    f"POST {BANKS}/try": row(EDIT, {**FORM, "students": "10"}),
    # Drafts
    f"GET {DRAFT}": row(LOOK),
    f"POST {DRAFT}/fields": row(EDIT, {"title": "Another title", "seen": "2"}),
    f"POST {DRAFT}/images": row(EDIT, files={"images": ("new.png", PICTURE)}),
    f"GET {DRAFT}/media/{{name:path}}": row(LOOK),
    f"POST {DRAFT}/delete": row(OWN, {"sure": "yes"}),
    f"POST {DRAFT}/publish": row(EDIT),
    f"GET {DRAFT}/versions": row(LOOK),
    f"GET {DRAFT}/versions/compare": row(LOOK),
    f"POST {DRAFT}/versions/restore": row(EDIT, {"number": "1"}),
    f"GET {DRAFT}/versions/{{number}}/file.{{ending}}": row(LOOK, number="first"),
    f"GET {DRAFT}/try": row(EDIT),
    f"POST {DRAFT}/try": row(EDIT, {**FORM, "students": "10"}),
    f"GET {DRAFT}/{{section}}": row(LOOK),
    f"GET {DRAFT}/{{section}}/{{name:path}}": row(LOOK, name="question"),
    f"POST {DRAFT}/{{section}}/~preview": row(LOOK, RENAMED, ok=200, changes=False),
    f"POST {DRAFT}/{{section}}/{{name:path}}": row(EDIT, RENAMED, name="question"),
    f"GET {DRAFT}/improve": row(EDIT),
    f"POST {DRAFT}/improve": row({**EDIT, "colleague": 400}, {"test": "{test}", "weight": "some"}),  # a colleague has no tests here
    f"GET {DRAFT}/improve/{{job}}": row({**MINE, "looker": 403}, job="learning"),
    f"POST {DRAFT}/improve/{{job}}": row({**MINE, "looker": 403}, {"proposal": "questions.number"}, job="learning"),
    # Sharing, and handing over
    **{
        f"{method} /teacher/{kind}s/{{number}}/sharing{path}": row(who, sent)
        for kind in ("test", "bank", "draft", "classe")
        for method, path, who, sent in (
            ("GET", "", LOOK, None),
            ("POST", "", OWN, {"email": "other@school.example", "extent": "look"}),
            ("POST", "/end", {**OWN, "colleague": OK}, {"teacher": "{colleague}"}),  # a colleague may leave
            ("POST", "/hand-over", OWN, {"email": "other@school.example", "sure": "yes"}),
        )
        if (kind, path) != ("bank", "/hand-over")
    },
    "POST /teacher/account/hand-over": row({**TEACHERS, "other": 400}, {"email": "other@school.example", "sure": "yes"}, changes=None),
    "POST /teacher/people/{number}/hand-over": row(OWNER, {"to": "other@school.example"}, number="person"),
    # A provider of OpenID Connect: this server has none
    "GET /openid": row(ABSENT),
    "GET /openid/back": row(ABSENT),
    "GET /openid/signed-out": row(ABSENT),
    # Trials
    "GET /teacher/trials/{job}": row(MINE),
    "GET /teacher/jobs/{job}/progress": row(MINE),
    "POST /teacher/trials/{job}/delete": row(MINE),
    "POST /teacher/trials/{job}/publish": row(MINE),
    # Published tests
    f"GET {TEST}": row(LOOK),
    f"GET {TEST}/qr.svg": row(LOOK),
    f"POST {TEST}/pupils": row(EDIT, {"names": "Eve"}),
    f"GET {TEST}/cards": row(EDIT),
    f"POST {TEST}/class": row(OWN, {"class": "{class}"}, number="second"),
    f"POST {TEST}/close": row(EDIT),
    f"POST {TEST}/time": row(EDIT, {"minutes": "30", "closing": "same"}),
    f"GET {TEST}/correct/{{question:path}}": row(EDIT),
    f"POST {TEST}/correct/{{question:path}}": row(EDIT, {"act": "withdrawn", "seen": "0", "sure": "yes"}),
    f"GET {TEST}/delete": row(OWN),
    f"POST {TEST}/delete": row(OWN, {"code": "{code}"}),
    f"GET {TEST}/letters": row(LOOK),
    f"GET {TEST}/letters.pdf": row(LOOK),
    f"GET {TEST}/grades": row(EDIT),
    f"POST {TEST}/grades": row(EDIT, {"grades_by": "points", "grades": "50 passed\n0 failed"}),
    f"GET {TEST}/results": row(LOOK),
    f"GET {TEST}/results.{{ending}}": row(LOOK, ending="csv"),
    f"GET {TEST}/results/columns": row(LOOK),
    f"GET {TEST}/offline.html": row(LOOK),
    f"GET {TEST}/collect": row(EDIT),
    f"POST {TEST}/collect": row(EDIT, {"codes": "nonsense"}, ok=200, changes=False),
    f"GET {TEST}/grades/{{system}}": row(LOOK, system="moodle"),
    f"GET {TEST}/takers/{{attempt}}": row(LOOK),
    f"GET {TEST}/takers/{{attempt}}/why/{{step}}": row(LOOK),
    f"GET {TEST}/takers/{{attempt}}/export.json": row(LOOK),
    f"GET {TEST}/takers/{{attempt}}/time": row(EDIT),
    f"POST {TEST}/takers/{{attempt}}/time": row(EDIT, {"extra": "10"}),
    f"GET {TEST}/takers/{{attempt}}/again": row(EDIT),
    f"POST {TEST}/takers/{{attempt}}/again": row(EDIT),
    f"POST {TEST}/takers/{{attempt}}/count": row(EDIT, attempt="aside"),
    f"GET {TEST}/takers/{{attempt}}/delete": row(EDIT),
    f"POST {TEST}/takers/{{attempt}}/delete": row(EDIT),
    f"GET {TEST}/live": row(LOOK),
    f"GET {TEST}/live/rows": row(LOOK),
    f"GET {TEST}/live/events": row(LOOK),
    f"GET {TEST}/projector": row(LOOK),
    f"GET {TEST}/projector/count": row(LOOK),
    f"GET {TEST}/questions": row(LOOK),
    f"GET {TEST}/report": row(LOOK),
    # Classes
    "GET /teacher/classes": row(TEACHERS),
    "POST /teacher/classes": row(TEACHERS, {"title": "6c", "names": "Eve"}),
    "POST /teacher/classes/roster": row(TEACHERS, {"roster": ROSTER, "class": "c1"}),
    f"GET {CLASS}": row(LOOK),
    f"POST {CLASS}/pupils": row(EDIT, {"names": "Eve"}),
    f"POST {CLASS}/title": row(EDIT, {"title": "6c"}),
    f"POST {CLASS}/archive": row(EDIT),
    f"GET {CLASS}/cards": row(EDIT),
    f"GET {CLASS}/growth": row(LOOK),
    f"GET {CLASS}/delete": row(OWN),
    f"POST {CLASS}/delete": row(OWN, {"title": "Sums of 5b"}),
    f"GET {PUPIL}": row(LOOK),
    f"POST {PUPIL}/name": row(EDIT, {"name": "Eve"}),
    f"POST {PUPIL}/time": row(EDIT, {"extra": "10", "factor": "1.5"}),
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
FORMS = [key for key in PAGES if key.startswith("POST ") and OK in ROWS[key].who.values()]  # that somebody may use without a platform
THINGS = [key for key in ROWS if (ROWS[key].who["other"] == MISSING and ROWS[key].who is not ABSENT) or ROWS[key].who is TAKER]
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
        "/teacher/platforms": "platform",
        "/teacher/tests": "test",
        "/teacher/banks": "bank",
        "/teacher/drafts": "draft",
        "/teacher/people": "person",
        "/teacher/classes": "class",
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
    tokens = {"right": school.tokens[right], "wrong": school.tokens[f"not {one.scope}"], "none": None, "forged": "forged"}
    return school.call(method, path, {**school.tokens, **tokens}[who], body)
