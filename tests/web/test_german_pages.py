"""Pages in another language: no page of the application has English left, nor a form, nor what goes wrong."""

import ast
import shutil

import pytest
from argon2 import PasswordHasher
from jinja2 import nodes

from helpers import translations
from helpers.foreign_school import Place, marked, read
from helpers.interface_texts import calls, sources, templates
from helpers.rights import methods_and_paths
from quaestor.store import secrets
from quaestor.store.database import DamagedError, Database, UnavailableError
from quaestor.web.render import language
from quaestor.web.render.language import catalogue
from quaestor.web.taker import front_page

# Texts are written where they can be found


def test_what_a_template_says_is_written_there():
    """`t` takes a text that the scan above can see; what comes from elsewhere is a sentence and goes through `said`."""
    loose = [
        f"{name}:{call.lineno}"
        for name, tree in templates().items()
        for call in calls(tree, "t")
        if not isinstance(call.args[0], nodes.Const)
    ]
    assert loose == []


def test_a_pattern_is_written_where_it_is_said():
    loose = []
    for path in (path for path in translations.sources() if path.suffix == ".py" and path.name != "i18n.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "say":
                loose += [] if isinstance(call.args[0], ast.Constant) else [f"{path.name}:{call.lineno}"]
    assert loose == []


def test_errors_of_the_pages_are_sentences():
    """One word is no sentence: it is the code of a refusal, for the log."""
    plain = []
    for name, tree in sources().items():
        for raised in ast.walk(tree):
            if isinstance(raised, ast.Raise) and isinstance(raised.exc, ast.Call) and name != "jobs/worker.py":
                words = [
                    one
                    for one in raised.exc.args
                    if isinstance(one, ast.JoinedStr) or (isinstance(one, ast.Constant) and " " in str(one.value))
                ]
                plain += [f"{name}:{raised.lineno}" for _ in words]
    assert plain == []


# Every page


@pytest.fixture(scope="module")
def filled(tmp_path_factory, migrated_file):
    path = tmp_path_factory.mktemp("foreign") / "quaestor.db"
    shutil.copy(migrated_file, path)
    database = Database(f"sqlite:///{path}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield Place(database)
    database.close()


@pytest.fixture(params=["de", pytest.param("fr", marks=pytest.mark.long)])
def place(filled, monkeypatch, request):
    """The school, and a catalogue that marks all its words."""
    filled.language = request.param
    words = {text: marked(said) for text, said in catalogue(request.param).items()}
    monkeypatch.setattr(language, "catalogue", lambda name: words if name == request.param else {})
    return filled


def look(place, page, status=200):
    """Nothing on a page was left untranslated, and what is ours is said to be in its language."""
    assert page.status_code == status, page.text
    assert page.headers["content-type"].startswith("text/html")
    found = read(page.text, place.known, place.language)
    assert found.strange == [], (str(page.url), found.strange)
    assert found.misplaced == [], (str(page.url), found.misplaced)
    assert found.seen
    return page


@pytest.mark.parametrize(
    ("page", "strange", "misplaced"),
    [
        ("<p>⟦Hallo, ⟧Adaħ⟦!⟧ 3 <code>x</code></p>", [], []),
        ("<p>⟦Hallo⟧ there</p>", ["there"], []),
        ('<svg aria-label="Sure"><rect/></svg>', ["svg: Sure"], []),
        ('<input placeholder="⟦z. B. ⟧name" value="easy"><input type="hidden" value="x">', ["input: name", "input: easy"], []),
        ('<p lang="fr">Motħ <b>⟦Wort⟧</b> <b lang="de">⟦Wort⟧</b></p>', [], ["⟦Wort⟧"]),
    ],
)
def test_the_reader_finds_what_was_not_translated(page, strange, misplaced):
    found = read(page)
    assert (found.strange, found.misplaced) == (strange, misplaced)


CLASS, PUPIL = "/teacher/classes/{number}", "/teacher/classes/{number}/pupils/{pupil}"
TEST, BANK, DRAFT = "/teacher/tests/{number}", "/teacher/banks/{number}", "/teacher/drafts/{draft}"
FILES = {  # routes that send no page
    "/openid",
    "/openid/back",
    "/health",
    "/static",
    "/docs",
    "/docs/{path:path}",  # the documentation is English
    "/desk{rest:path}",
    "/take/{attempt}/media/{image}",
    "/teacher/banks/template/{ending}",
    f"{BANK}/file.{{ending}}",
    f"{BANK}/media/{{name:path}}",
    f"{DRAFT}/media/{{name:path}}",
    f"{DRAFT}/versions/{{number}}/file.{{ending}}",
    f"{TEST}/qr.svg",
    f"{TEST}/results.{{ending}}",
    f"{TEST}/letters.pdf",
    f"{TEST}/takers/{{attempt}}/export.json",
    f"{PUPIL}/data.json",
    f"{TEST}/live/events",
    f"{TEST}/offline.html",
    f"{TEST}/grades/{{system}}",
    f"{TEST}/projector/count",
    "/teacher/jobs/{job}/progress",
}

PLATFORMS = {  # what a learning platform opens, or has to be there for: tests/web/lti
    *("/lti/keys", "/lti/login", "/lti/launch", "/lti/register/{secret}", "/lti/start", "/lti/choose", "/framed/{secret}/{rest:path}"),
    "/teacher/platforms/{number}",
}


def pages(place):
    """Every page by its route: who opens it, and where; (attempt, path) for a taker."""
    tests = [place.test.id, place.listed.id, place.later.id, place.empty.id, place.closed.id, place.anew.id]
    of_tests = {
        f"{TEST}{end}": [f"/teacher/tests/{number}{end}" for number in tests]
        for end in (
            "",
            "/cards",
            "/delete",
            "/results",
            "/results/columns",
            "/letters",
            "/grades",
            "/live",
            "/live/rows",
            "/questions",
            "/projector",
        )
    }
    paths = [(place.test.id, place.over.id), (place.test.id, place.running.id), (place.listed.id, place.pupil_over.id)]
    paths += [(place.anew.id, place.before.id)]
    aside = [(place.closed.id, place.aside.id), (place.anew.id, place.untouched.id)]
    of_class = f"/teacher/classes/{place.pupils[0].class_id}"
    over = (place.over, place.pupil_over, place.before, place.untouched, place.aside)
    drafts = [place.draft, place.faulty, place.fresh]
    parts = ["questions/qħ", "questions/tħ", "questions/cħ", "questions/zħ", "questions/~new", "questions/~new?copy=nħ"]
    parts += ["skills/aħ", "skills/bħ", "skills/~new", "templates/tmħ", "templates/~new"]
    return of_tests | {
        "/": ["/"],
        "/five-minutes": ["/five-minutes"],
        "/done": ["/done"],
        "/openid/signed-out": ["/openid/signed-out"],
        "/teacher/tests/{number}/sharing": [(who, f"/teacher/tests/{place.test.id}/sharing") for who in ("owner", "colleague")],
        "/teacher/banks/{number}/sharing": [(who, f"/teacher/banks/{place.bank}/sharing") for who in ("owner", "colleague")],
        "/teacher/classes/{number}/sharing": [
            (who, f"/teacher/classes/{place.pupils[0].class_id}/sharing") for who in ("owner", "colleague")
        ],
        "/teacher/drafts/{number}/sharing": [(who, f"/teacher/drafts/{place.draft}/sharing") for who in ("owner", "colleague")],
        "/sign-in": [("", "/sign-in")],
        "/sign-in/{secret}": [("", f"/sign-in/{place.invitation}"), ("", f"/sign-in/{place.link}")],
        "/c/{code}": [("", f"/c/{code}") for code in (place.test.code, place.pupils[4].code, place.pupil_running.code)],
        "/api/v1": ["/api/v1"],
        "/take/{attempt}": [(one, f"/take/{one.id}") for one in (place.running, place.pupil_running)],
        "/take/{attempt}/feedback/{step}": [(place.over, f"/take/{place.over.id}/feedback/{step}") for step in range(1, 7)],
        "/take/{attempt}/result": [(one, f"/take/{one.id}/result") for one in over],
        "/teacher": ["/teacher", ("colleague", "/teacher")],
        "/teacher/account": ["/teacher/account", ("colleague", "/teacher/account")],
        "/teacher/people": ["/teacher/people"],
        "/teacher/people/{number}": [f"/teacher/people/{one.id}" for one in (place.owner, place.colleague, place.locked)],
        "/teacher/platforms": ["/teacher/platforms"],
        "/teacher/import": ["/teacher/import"],
        "/teacher/banks": ["/teacher/banks", ("colleague", "/teacher/banks")],
        BANK: [f"/teacher/banks/{number}" for number in (place.bank, place.credal, place.spare)]
        + [("colleague", f"/teacher/banks/{place.bank}")],
        f"{BANK}/publish": [f"/teacher/banks/{place.bank}/publish"],
        f"{BANK}/try": [f"/teacher/banks/{number}/try" for number in (place.bank, place.credal)],
        DRAFT: [f"/teacher/drafts/{number}" for number in drafts] + [("colleague", f"/teacher/drafts/{place.draft}")],
        f"{DRAFT}/versions": [f"/teacher/drafts/{place.draft}/versions"],
        f"{DRAFT}/versions/compare": [
            f"/teacher/drafts/{place.draft}/versions/compare",
            f"/teacher/drafts/{place.draft}/versions/compare?old=2",
        ],
        f"{DRAFT}/try": [f"/teacher/drafts/{number}/try" for number in drafts],
        f"{DRAFT}/improve": [f"/teacher/drafts/{number}/improve" for number in drafts],
        f"{DRAFT}/improve/{{job}}": [place.improved, place.waiting[1]],
        f"{DRAFT}/{{section}}": [
            f"/teacher/drafts/{number}/{section}" for number in drafts for section in ("skills", "questions?q=ħ", "templates", "questions")
        ],
        f"{DRAFT}/{{section}}/{{name:path}}": [f"/teacher/drafts/{place.draft}/{part}" for part in parts]
        + [f"/teacher/drafts/{place.faulty}/questions/fħ"],
        "/teacher/trials/{job}": [*place.trials, place.waiting[0], place.failed],
        "/teacher/classes": ["/teacher/classes"],
        CLASS: [of_class],
        **{f"{CLASS}/{part}": [f"{of_class}/{part}"] for part in ("cards", "growth", "delete")},
        PUPIL: [f"{of_class}/pupils/{pupil.id}" for pupil in (place.pupils[0], place.pupils[4])],
        **{f"{PUPIL}/{part}": [f"{of_class}/pupils/{place.pupils[0].id}/{part}"] for part in ("data", "erase")},
        f"{TEST}/takers/{{attempt}}/time": [f"/teacher/tests/{test}/takers/{attempt}/time" for test, attempt in paths],
        f"{TEST}/takers/{{attempt}}/again": [f"/teacher/tests/{test}/takers/{attempt}/again" for test, attempt in paths],
        f"{TEST}/correct/{{question:path}}": [f"/teacher/tests/{place.test.id}/correct/{name}" for name in ("qħ", "wħ", "nħ", "tħ", "zħ")]
        + [f"/teacher/tests/{place.anew.id}/correct/tħ"],
        f"{TEST}/takers/{{attempt}}": [f"/teacher/tests/{test}/takers/{attempt}" for test, attempt in paths + aside],
        f"{TEST}/takers/{{attempt}}/why/{{step}}": [f"/teacher/tests/{test}/takers/{attempt}/why/2" for test, attempt in paths],
        f"{TEST}/takers/{{attempt}}/delete": [f"/teacher/tests/{test}/takers/{attempt}/delete" for test, attempt in paths],
        f"{TEST}/collect": [f"/teacher/tests/{place.test.id}/collect"],
        f"{TEST}/report": [f"/teacher/tests/{number}/report{end}" for number in tests for end in ("", "?pupils=yes")],
    }


def test_every_route_that_sends_a_page_is_opened(place):
    there = {key.removeprefix("GET ") for key in methods_and_paths(place.app) if key.startswith("GET ")}
    there = {path for path in there if not path.startswith(("/api/v1/", "/ims/"))}  # for programs
    assert there - FILES - PLATFORMS == set(pages(place)), "a new page is added to `pages` above, a new file to FILES"


def opened(place, where):
    who, path = where if isinstance(where, tuple) else ("owner", where)
    browser = place.browser(who) if isinstance(who, str) else place.browser(attempt=who)
    return browser, browser.go(path)


def test_no_page_has_english_left(place):
    wrong = {}
    for listed in pages(place).values():
        for where in listed:
            _, page = opened(place, where)
            assert page.status_code == 200, (where, page.status_code)
            found = read(page.text, place.known, place.language)
            assert found.seen, where
            if found.strange or found.misplaced:
                wrong[str(page.url)] = (found.strange, found.misplaced)
    assert wrong == {}, "\n".join(f"{where}: {found}" for where, found in wrong.items())


# Forms that go wrong, and what comes of forms


def wrong_forms(place):
    """Who sends what from which page to which form, and with which status it comes back."""
    test, draft = f"/teacher/tests/{place.listed.id}", f"/teacher/drafts/{place.draft}"
    publish, tried = f"/teacher/banks/{place.bank}/publish", {"pace": "", "sure": "x", "join": "x", "students": "1", "seed": "x"}
    question = {"id": "qħ", "text": "Whichħ?", "kind": "text", "skills": "aħ", "way": "words", "difficulty": "eazy"}
    graded = {
        **question,
        "kind": "choice",
        "option": "goodħ",
        "classes": "wrongħ | halfħ | rightħ",
        "way": "shares",
        "right": "eazy | 0.3",
        "check": "yes",
    }
    rows = "id\ttext\tdifficulty\nqħ\tWhichħ?\teazy\nqħ\tWhatħ?\t[1"
    return [
        ("", "/", "/enter", {"code": "NOSUCH"}, 200),
        ("", "/", "/enter", {"code": place.later.code}, 200),
        ("", "/", "/enter", {"code": place.listed.code}, 200),
        ("", f"/c/{place.test.code}", "/enter", {"name": ""}, 200),
        ("", "/sign-in", "/sign-in", {"email": "x@school.example", "password": "x"}, 400),
        ("", f"/sign-in/{place.invitation}", f"/sign-in/{place.invitation}", {"name": "", "password": ""}, 400),
        ("", f"/sign-in/{place.invitation}", f"/sign-in/{place.invitation}", {"name": "Newħ", "password": "x"}, 400),
        (place.running, f"/take/{place.running.id}", "/answer", {}, 200),
        (place.running, f"/take/{place.running.id}", "/answer", {"step": "1", "entry": "lateħ"}, 200),
        (place.pupil_running, f"/take/{place.pupil_running.id}", "/answer", {"entry": "sevħen"}, 200),
        ("owner", "/teacher/account", "/password", {"present": "x", "password": "x"}, 400),
        ("colleague", "/teacher/account", "/password", {"password": "x"}, 400),
        ("colleague", "/teacher/account", "/tokens", {"name": ""}, 400),
        ("colleague", "/teacher/account", "/tokens", {"name": "Tokenħ"}, 400),
        ("colleague", "/teacher/account", "/tokens", {"name": "Tokenħ", "scope": "banks"}, 200),
        ("owner", "/teacher/people", "/people", {"email": "xħ"}, 400),
        ("owner", "/teacher/people", "/people", {"email": "eve@school.example"}, 200),
        ("owner", "/teacher/people", "/people", {"email": "locked@school.example"}, 400),
        ("owner", f"/teacher/people/{place.colleague.id}", "/remove", {"email": "x"}, 400),
        ("owner", f"/teacher/people/{place.colleague.id}", "/hand-over", {"to": "xħ"}, 400),
        ("owner", "/teacher/account", "/hand-over", {"email": "xħ", "sure": "yes"}, 400),
        ("owner", f"{test}/sharing", "/sharing", {"email": "xħ"}, 400),
        ("owner", f"{draft}/sharing", "/hand-over", {"email": "xħ", "sure": "yes"}, 400),
        ("owner", "/teacher/banks", "/banks", {}, 400),
        ("owner", "/teacher/banks", "/pasted", {"rows": rows}, 400),
        ("owner", publish, "/publish", {"title": "", "pace": "own", "most": "x", "minutes": "x", "opens": "x", "keep_days": "x"}, 400),
        ("owner", publish, "/publish", {"title": "Titleħ", "mode": "exam", "retakes": "none", "closes": "2020-01-01T10:00"}, 400),
        ("owner", publish, "/publish", {"title": "Titleħ", "rules": "stop: {max_questions: 0}\nvariety: 7\n"}, 400),
        ("owner", publish, "/publish", {"title": "Titleħ", "rules": "stop: [\n"}, 400),
        ("owner", f"{draft}/try", "/try", tried, 400),
        (
            "owner",
            f"{draft}/try",
            "/try",
            {"pace": "careful", "students": "20", "seed": "1", "rules": "stop: {max_questions: -1}"},
            400,
        ),
        ("owner", test, "/time", {"minutes": "xħ", "closing": "x", "closes": "xħ"}, 400),
        ("owner", test, "/time", {"closing": "never", "closes": "2040-01-01T10:00"}, 400),
        ("owner", f"/teacher/classes/{place.pupils[0].class_id}/pupils/{place.pupils[0].id}", "/time", {"extra": "xħ"}, 400),
        ("owner", f"{test}/correct/q%C4%A7", "/correct/q%C4%A7", {"act": "withdrawn"}, 200),
        ("owner", f"{test}/correct/q%C4%A7", "/correct/q%C4%A7", {"act": "key", "right": "awfulħ", "note": "Noteħ"}, 200),
        ("owner", f"{test}/correct/n%C4%A7", "/correct/n%C4%A7", {"act": "key", "typed": "xħ"}, 400),
        ("owner", f"{test}/correct/z%C4%A7", "/correct/z%C4%A7", {"act": "key", "typed": "itħ"}, 400),
        ("owner", f"{test}/correct/z%C4%A7", "/correct/z%C4%A7", {"act": "key", "typed": "xħ", "seen": "9", "sure": "yes"}, 400),
        ("owner", f"{test}/correct/z%C4%A7", "/correct/z%C4%A7", {"act": ""}, 400),
        ("owner", test, "/pupils", {"names": " "}, 200),
        ("owner", test, "/pupils", {"names": "Newħ\nNewħ"}, 200),
        ("owner", test, "/pupils", {"names": "Pupilħ 1\nNewħ"}, 200),
        ("owner", f"{test}/delete", "/delete", {"code": "x"}, 400),
        ("owner", draft, "/delete", {}, 400),
        ("colleague", draft, "/images", {}, 200),
        ("owner", f"{draft}/questions/q%C4%A7", "/questions/q%C4%A7", {**question, "check": "yes"}, 200),
        ("owner", f"{draft}/questions/q%C4%A7", "/questions/q%C4%A7", {**question, "id": "wħ"}, 409),
        ("owner", f"{draft}/questions/q%C4%A7", "/questions/q%C4%A7", graded, 200),
        ("owner", f"{draft}/questions/q%C4%A7", "/questions/q%C4%A7", {**question, "seen": "1"}, 409),
        ("owner", f"{draft}/skills/a%C4%A7", "/skills/a%C4%A7", {"id": "aħ", "levels": "oneħ", "prior": "eazy", "check": "yes"}, 200),
        ("owner", f"{draft}/improve", "/improve", {"weight": "some"}, 400),
        ("owner", place.improved, place.improved, {}, 400),
    ]


def test_no_form_that_comes_back_has_english_left(place):
    wrong = {}
    for who, path, action, fields, status in wrong_forms(place):
        browser, _ = opened(place, (who, path))
        try:
            page = browser.fill(action, **fields)
        except StopIteration:
            wrong[f"{path}: {action}"] = browser.page.status_code
            continue
        found = read(page.text, place.known, place.language)
        if page.status_code != status or found.strange or found.misplaced or not found.seen:
            wrong[f"{action} {fields}"] = (page.status_code, found.strange, found.misplaced)
    assert wrong == {}, "\n".join(f"{where}: {found}" for where, found in wrong.items())


def test_the_part_of_a_page_that_follows_what_is_typed(place):
    browser, _ = opened(place, f"/teacher/drafts/{place.draft}/questions/qħ")
    for fields in ({"difficulty": "sehr leicht"}, {"difficulty": "eazy", "confidence": "x"}):
        sent = {"id": "qħ", "text": "Whichħ?", "kind": "text", "correct": "heħ", "skills": "aħ", "way": "words", "discrimination": "0.3"}
        token = browser.page.text.partition('name="form_token" value="')[2].partition('"')[0]
        page = browser.client.post(
            f"/teacher/drafts/{place.draft}/questions/~preview", data={**sent, **fields, "old": "qħ", "form_token": token}
        )
        look(place, page)


# Things that go wrong


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nowhere", 404),
        ("/teacher/tests/99", 404),
        ("/teacher/tests/x", 404),
        ("/take/99", 403),
        ("/teacher/trials/99", 404),
        ("/teacher/drafts/1/x", 404),
    ],
)
def test_pages_that_are_not_there(place, path, status):
    look(place, opened(place, path)[1], status)


def test_refusals(place):
    look(place, opened(place, ("colleague", "/teacher/people"))[1], 403)
    look(place, opened(place, ("", "/openid"))[1], 503)
    look(place, opened(place, ("", "/openid/back?state=x"))[1], 400)
    look(place, opened(place, ("colleague", f"/teacher/tests/{place.test.id}/cards"))[1], 403)
    look(place, opened(place, ("colleague", f"/teacher/tests/{place.test.id}/delete"))[1], 403)
    look(place, opened(place, ("", f"/sign-in/{'x' * 20}"))[1], 400)
    look(place, opened(place, ("", "/c/NOSUCH"))[1], 404)
    browser = place.browser("owner")
    look(place, browser.client.post("/teacher/banks/new", data={"title": "x", "form_token": "forged"}), 403)
    look(place, browser.client.post("/teacher/banks/new", data={"title": "x" * 1_100_000}), 413)
    guest, _ = opened(place, ("", "/sign-in"))
    token = guest.page.text.partition('name="form_token" value="')[2].partition('"')[0]
    look(place, guest.client.post("/teacher/banks/new", data={"title": "x", "form_token": token}), 403)


@pytest.mark.parametrize(("error", "status"), [(UnavailableError(), 503), (DamagedError(), 500), (RuntimeError("oh"), 500)])
def test_the_database_is_away_or_nobody_foresaw_it(place, monkeypatch, error, status):
    def fail(*_, **__):
        raise error

    browser = place.browser()
    browser.client = type(browser.client)(place.app, headers=browser.client.headers, raise_server_exceptions=False)
    browser.go("/")
    monkeypatch.setattr(front_page, "invited", fail)
    look(place, browser.fill("/enter", code=place.test.code), status)
    look(place, browser.go(f"/c/{place.test.code}"), status)


def test_too_many_tries(place):
    browser = place.browser()
    for _ in range(40):
        page = browser.go("/c/NOSUCH")
        if page.status_code == 429:
            break
    look(place, page, 429)
