"""Texts that want to be markup, script, templates, formulas or headers, in every field of every form: shown, never obeyed.

The pages are those of `test_web_rights`, so a new page or form is looked at as soon as it has a row there.
"""

import csv
import io
import json
import re
from html import unescape
from urllib.parse import quote_plus

import openpyxl
import pytest

import quaestor as qs
from helpers import browsing
from helpers.browsing import PICTURE
from helpers.databases import KINDS
from helpers.hostile import HOSTILE, LONG, QUOTES, SCRIPT, SHORT, Inspector, harmless
from helpers.rights import FORMS, OK, PAGES, ROWS, address, send, where
from helpers.school import School, opened
from quaestor.store.models import Draft
from quaestor.store.secrets import hashed
from quaestor.web.offline.file import html_of
from quaestor.web.render import prose

FORMULAS = ("=1+1", "+1", "-1", "@SUM(1)", "\t=1", " =1", "=cmd|'/C calc'!A0")
GOOD = qs.formats.files.dump_bytes(
    qs.Bank({**browsing.KINDS.document, "questions": {"word": browsing.KINDS.document["questions"]["word"]}}), ".yaml"
)
ODD = {
    "right to left": "\u202eadA\u202c",
    "zero width": "A\u200bd\u200da\ufeff",
    "combining": "Z" + "\u0301" * 300,
    "long": "x" * 10_000,
    "nul": "A\x00da",
    "controls": "A\x1b[31mda\x07\r\nSet-Cookie: a=b",
    "halves": "A\ud800da",
    "sql": "Ada'); DROP TABLE teacher;--",
    "emoji": "👩‍👩‍👧" * 60,
}
OFFLINE = "GET /teacher/tests/{number}/offline.html"
HELD = re.compile(r'(<title>|<script type="application/json" id="\w+">)[^<]*')  # where the offline file has texts of a bank


def hostile_bank():
    """One question of every kind, every text of it hostile."""
    document = browsing.KINDS.document
    texts = {"text": LONG, "explanation": LONG, "alt": HOSTILE, "group": SHORT, "tags": [SHORT]}
    for question in document["questions"].values():
        question.update(texts, media="pie.png")
    document["questions"]["one"]["options"] = ["3/4", HOSTILE, "1/8"]
    document["questions"]["several"]["options"] = ["two", HOSTILE, "four"]
    document["questions"][f"Q {SHORT}"] = {**document["questions"]["word"], "skill": SHORT, "accept": [HOSTILE]}
    document["skills"][SHORT] = {"title": HOSTILE, "description": LONG, "levels": [SHORT, "a", "b"], "prior": [0.3, 0.4, 0.3]}
    fields = dict.fromkeys(("title", "description", "author", "licence"), HOSTILE)
    return qs.Bank({**document, **fields})


@pytest.fixture(scope="module")
def school(tmp_path_factory, migrated_file):
    names = tuple(f"{who} {HOSTILE}"[:190] for who in "abc")
    with opened(tmp_path_factory.mktemp("hostile"), migrated_file, bank=hostile_bank(), title=HOSTILE, names=names) as made:
        made.post("teacher", "/teacher/account/name", {"name": HOSTILE})
        made.post("teacher", "/teacher/account/tokens", {"name": HOSTILE, "scope": "banks"})
        made.pristine = made.dump()
        yield made


def test_the_inspector_finds_what_it_looks_for():
    for bad in (SCRIPT, QUOTES, '<a href=" javascript:x">', "<p style=x>", "<svg onload=x>", "<form action=//evil.example>"):
        assert Inspector(bad).found or "//evil" in bad
    assert Inspector(str(prose.block(LONG))).found == []
    assert Inspector('<script type="module" src="/static/quaestor.js"></script><a href="/x">').found == []


def allowed(key):
    """Somebody who may use a row; where nobody may, since it needs a platform or a provider, the refusal is a page as well."""
    return next((who for who in ("teacher", "taker", "owner", "anonymous", "other") if ROWS[key].who[who] in (OK, 303)), "teacher")


@pytest.mark.parametrize("key", [key for key in PAGES if key.startswith("GET") and key != OFFLINE])
def test_hostile_texts_are_shown_and_not_obeyed(school, key):
    harmless(send(school, key, allowed(key)))


def test_the_file_without_a_server_runs_nothing_but_its_own_script(school):
    """It is saved and not shown by the server, and has scripts by design: those of every such file. All texts of a bank are in its title
    and in JSON, where no element can begin or end; what its script takes from there for markup was cleaned."""
    sent = send(school, OFFLINE, "teacher")
    assert sent.headers["content-disposition"].startswith("attachment;")
    emptied = [HELD.subn(r"\1", text) for text in (sent.text, html_of(browsing.KINDS, browsing.ORDER, images={"pie.png": PICTURE}))]
    assert emptied[0] == emptied[1]
    test = json.loads(re.search(r' id="test">([^<]*)', sent.text)[1])
    assert "alert(7)" in test["title"]
    shown = [test["description"], *(question["html"] for question in test["questions"])]
    shown += [option["html"] for question in test["questions"] for option in question.get("options", ())]
    shown += [
        text for question in test["questions"] for part in question.get("parts", ()) for text in (part["label"], *part.get("options", ()))
    ]
    assert sum("alert(7)" in unescape(text) for text in shown) >= len(test["questions"])
    assert [Inspector(text).found for text in shown if Inspector(text).found] == []
    assert "1337" not in "".join(shown)


def test_they_really_are_on_the_pages(school):
    for key in (
        "GET /take/{attempt}",
        "GET /teacher",
        "GET /teacher/tests/{number}/results",
        "GET /teacher/banks/{number}",
        "GET /teacher/drafts/{draft}",
    ):
        who = "taker" if "take/" in key else "teacher"
        assert "alert(7)" in unescape(send(school, key, who).text), key


@pytest.mark.parametrize("key", [key for key in PAGES if key.startswith("POST")])
def test_hostile_fields_in_every_form(school, key):
    """Every field at once, and each by itself beside good ones."""
    who = allowed(key)
    places = where(school, key)
    path, sent = address(key, places), ROWS[key].sent or {}
    files = {name: (HOSTILE[:200], content) for name, (_, content) in (ROWS[key].files or {}).items()}
    changed = [dict.fromkeys(sent, HOSTILE), *({**sent, name: HOSTILE} for name in sent)]
    for fields in changed or [{}]:
        harmless(school.post(who, path, fields, files or None, places["attempt"]))
    harmless(send(school, "GET /teacher", "teacher"))
    school.restore()


FIELDS = ("text", "correct", "accept", "tolerance", "classes", "explanation", "media", "alt", "minutes", "group", "tags", "template")
FIELDS += ("title", "description", "levels", "prior", "strength", "abilities", "difficulty", "confidence", "statement", "right", "slip")


@pytest.mark.parametrize("section", ["questions", "skills", "templates"])
def test_hostile_fields_of_the_editor(school, section):
    path = f"/teacher/drafts/{school.places['draft']}/{section}"
    lists = {"option": [HOSTILE, "b"], "is_right": "0", "skills": [SHORT], "parents": [SHORT], "group_of": [HOSTILE, "b"]}
    for way in ("words", "shares", "needs", "written", "template", HOSTILE):
        for kind in ("choice", "choices", "number", "text", HOSTILE):
            fields = {**dict.fromkeys(FIELDS, HOSTILE), **lists, "id": f"{SHORT}2", "way": way, "kind": kind, "seen": "2"}
            harmless(school.post("teacher", f"{path}/~preview", {**fields, "old": HOSTILE}))
        harmless(school.post("teacher", f"{path}/~new", fields))
    for query in (f"{path}?q={HOSTILE}&tag={SHORT}&group={HOSTILE}&skill={HOSTILE}&faults={SHORT}", f"{path}/~new?copy={SHORT}", path):
        harmless(school.get("teacher", query))
    school.restore()


def test_hostile_addresses_and_queries(school):
    for path in (f"/c/{HOSTILE}", f"/sign-in/{HOSTILE}", f"/{HOSTILE}", f"/teacher/tests/1/results.{HOSTILE}", f"/static/{HOSTILE}"):
        for who in ("teacher", "anonymous"):
            harmless(school.get(who, path.replace("%", "%25").replace("#", "%23").replace("?", "%3F")))
    platform = f"iss={SHORT}&login_hint={SHORT}&target_link_uri={SHORT}&client_id={SHORT}"
    for path in (f"/lti/login?{platform}", f"/lti/launch?state={SHORT}", f"/lti/register/{SHORT}?openid_configuration={SHORT}"):
        harmless(school.get("anonymous", path))
    for path in (f"/framed/{SHORT}/{SHORT}", f"/openid/back?state={SHORT}&code={SHORT}", f"/openid/back?error={SHORT}"):
        harmless(school.get("anonymous", path))
    number = school.places["test"]
    for query in (
        f"live/rows?mark={SHORT}",
        f"questions?sheet={SHORT}",
        f"report?pupils={SHORT}",
        "questions?sheet=-999999999999999999999",
    ):
        harmless(school.get("teacher", f"/teacher/tests/{number}/{query}"))
    harmless(school.get("teacher", f"/teacher/banks/{school.places['bank']}?start=999999999999999999999999"))


def test_ids_cannot_lead_a_form_astray(school):
    """An id such as `../../../tests/1/close` in a shared draft must not make a colleague's form close a test."""
    evil, path = f"../../../tests/{school.places['test']}/close", f"/teacher/drafts/{school.places['draft']}"
    assert school.post("colleague", f"{path}/questions/~new", {"id": evil, "text": "?", "way": "words", "seen": "2"}).status_code == 400
    document = {**browsing.KINDS.document}
    document["questions"] = {evil: document["questions"]["number"], "..": document["questions"]["number"]}
    content = qs.formats.files.dump_bytes(qs.Bank(document), ".yaml")
    made = school.post("teacher", "/teacher/banks", {}, {"file": ("bank.yaml", content)})
    home = made.headers["location"]
    for page in (home, f"{home}/questions", f"{home}/questions/{evil.replace('/', '%2F')}", f"{home}/versions", f"{home}/versions/compare"):
        text = school.get("teacher", page).text
        for target in re.findall(r'(?:action|href|data-live)="([^"]*)"', text):
            assert "/../" not in unescape(target), page
    forms = re.findall(r'<form[^>]*action="([^"]*)"', school.get("teacher", f"{home}/questions/..%2F..%2F..%2Ftests%2F1%2Fclose").text)
    assert all(".." not in action for action in forms)
    school.restore()


def test_ids_with_the_signs_of_addresses_can_be_opened(school):
    home = f"/teacher/drafts/{school.places['draft']}"
    for odd in ("a?b#c", "50%", "a/b", "Ä ö", "a&b;c"):
        fields = {"id": odd, "text": "Why?", "kind": "text", "correct": "x", "skills": "sums", "way": "words", "difficulty": "easy"}
        made = school.post("teacher", f"{home}/questions/~new", {**fields, "seen": "2"})
        assert made.status_code == 303
        assert school.get("teacher", made.headers["location"]).status_code == 200
    school.restore()


@pytest.mark.parametrize("kind", KINDS)
def test_odd_letters_are_kept_or_refused_by_both_databases(make_database, kind):
    database = make_database(kind)
    app = browsing.application(database)
    code = browsing.give(database)
    for words in ODD.values():
        browser = browsing.Browser(app)
        browser.go(f"/c/{code}")
        page = browser.client.post(
            "/enter", content=_encoded({"code": code, "name": words, "once": words, "form_token": _token(browser)}), headers=FORM_HEADERS
        )
        assert page.status_code == 200, page.text
        browser.page = page
        for entry in ("3/4", ["two"], words, words):
            fields = {"form_token": _token(browser), "step": str(browser.step), "entry": entry}
            page = browser.client.post(f"{browser.path}/answer", content=_encoded(fields), headers=FORM_HEADERS)
            assert page.status_code in (200, 400)
            harmless(page)
            browser.page = page if page.status_code == 200 else browser.page
        assert browser.client.get(f"/c/{quote_plus(words[:200], errors='replace')}").status_code in (200, 404, 429)
        signing = browser.client.post(
            "/sign-in", content=_encoded({"email": words, "password": words, "form_token": _token(browser)}), headers=FORM_HEADERS
        )
        assert signing.status_code in (400, 429)


FORM_HEADERS = {"content-type": "application/x-www-form-urlencoded"}


def _token(browser):
    return hashed("form " + browser.client.cookies["visit"])


def _encoded(fields):
    """A form as a hostile program sends it: also half a letter."""
    pairs = [(name, one) for name, value in fields.items() for one in (value if isinstance(value, list) else [value])]
    return "&".join(f"{name}={quote_plus(value, errors='surrogatepass')}" for name, value in pairs).encode()


@pytest.mark.parametrize("kind", KINDS)
def test_odd_letters_of_a_teacher(make_database, kind):
    """In every form and as a bank: PostgreSQL takes no NUL, and no database half a letter."""
    school = School(make_database(kind))
    forms = [key for key in FORMS if key.startswith("POST /teacher") and "delete" not in key and ROWS[key].sent]
    try:
        for words in ODD.values():
            for key in forms:
                if ROWS[key].who["teacher"] == OK:
                    fields = {**dict.fromkeys(ROWS[key].sent, words), "form_token": hashed("form teacher")}
                    path, headers = address(key, where(school, key)), {**school.headers("teacher"), **FORM_HEADERS}
                    harmless(school.client.post(path, content=_encoded(fields), headers=headers))
            content = GOOD.replace(b"All kinds", words.encode("utf-8", "surrogatepass"))
            harmless(school.post("teacher", "/teacher/banks", {}, {"file": ("bank.yaml", content)}))
            for key in ("GET /teacher", "GET /teacher/banks", "GET /teacher/account", "GET /teacher/tests/{number}"):
                assert harmless(send(school, key, "teacher")).status_code == 200
            school.restore()
    finally:
        school.close()


def test_formulas_are_text_in_every_sheet(school):
    number = school.places["test"]
    for name in FORMULAS:
        made = school.post("anonymous", "/enter", {"code": school.places["code"], "name": name, "once": name})
        assert made.status_code == 303
    rows = list(
        csv.reader(io.StringIO(school.get("teacher", f"/teacher/tests/{number}/results.csv?every=true").content.decode("utf-8-sig")))
    )
    assert len(rows) >= len(FORMULAS)
    assert not [cell for row in rows for cell in row if re.match(r"\s*[=+@-]", cell) and not re.fullmatch(r"-?[\d.]+", cell)]
    book = openpyxl.load_workbook(io.BytesIO(school.get("teacher", f"/teacher/tests/{number}/results.xlsx?every=true").content))
    kept = openpyxl.load_workbook(io.BytesIO(school.get("teacher", f"/teacher/banks/{school.places['bank']}/file.xlsx").content))
    for sheet in (*book, *kept):
        assert not [cell.value for row in sheet for cell in row if cell.data_type == "f"]
    api = school.call("GET", f"/api/v1/tests/{number}/results.csv", school.tokens["results"]).content.decode("utf-8-sig")
    assert not re.search(r"(?m)^[=+@]", api)
    school.restore()


def test_names_of_files_and_headers_are_safe(school):
    """No quotes, lines or other letters of a title get into a header."""
    number, title = school.places["bank"], 'a"\r\nSet-Cookie: x=y; ../../é'
    made = school.post("teacher", f"/teacher/banks/{number}/publish", {**ROWS["POST /teacher/banks/{number}/publish"].sent, "title": title})
    test = made.headers["location"]
    for path in (f"{test}/results.csv", f"{test}/results.xlsx", f"/teacher/banks/{number}/file.yaml"):
        response = school.get("teacher", path)
        assert re.fullmatch(r'attachment; filename="[A-Za-z0-9-]+\.\w+"', response.headers["content-disposition"])
        assert "set-cookie" not in response.headers
    school.restore()


def test_images_are_what_their_bytes_say(school):
    home = f"/teacher/drafts/{school.places['draft']}"
    for content in (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(7)'/>", b"<html><script>alert(7)</script>", b"GIF", b"", b"BM"):
        refused = school.post("teacher", f"{home}/images", {}, {"images": ("x.png", content)})
        assert refused.status_code == 400
    mixed = PICTURE + SCRIPT.encode()
    school.post("teacher", f"{home}/images", {}, {"images": ("../../x.html", mixed)})
    shown = school.get("teacher", f"{home}/media/x.html")
    assert (shown.headers["content-type"], shown.headers["x-content-type-options"]) == ("image/png", "nosniff")
    with school.database.read() as work:
        assert work.get(Draft, school.places["draft"]).head == 3
    school.restore()
