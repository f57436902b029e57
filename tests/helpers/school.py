"""A small school for tests of rights: everybody and everything that a route can be about, and browsers of each kind of person.

Cookies are sent as they stand, without a jar that would keep some back: whoever has a secret sends it everywhere.
"""

import json
import shutil
from base64 import b64encode
from contextlib import contextmanager
from itertools import count

import pytest
from anyio.from_thread import start_blocking_portal
from argon2 import PasswordHasher
from sqlalchemy import insert, select
from starlette.testclient import TestClient

import quaestor as qs
from helpers.browsing import KINDS, ORDER, PICTURE
from quaestor.i18n import packed
from quaestor.store import drafts, job_queue, leaving, publishing, secrets, sections, sharing, teachers, timing
from quaestor.store.attempts import session_cache, taking
from quaestor.store.classes import class_lists
from quaestor.store.database import Database
from quaestor.store.models import Base, Job, SchoolClass, Teacher, Token
from quaestor.store.platforms import registrations
from quaestor.store.platforms.registrations import Registration
from quaestor.store.secrets import hashed
from quaestor.web.app import create
from quaestor.web.settings import Settings
from quaestor.web.teacher import live

PLATFORM = {"issuer": "https://moodle.example", "client_id": "client", "deployments": "1", "name": "Moodle", "frames": ""}
PLATFORM |= {name: f"https://moodle.example/{name}" for name in ("auth_url", "token_url", "jwks_url")}
PASSWORD = "four plain words here"
TITLE, NAMES = "Sums of 5b", ("Grace Hopper", "Alan Turing", "Emmy Noether")
FORM = {"title": "Week 3", "most": "2", "sure": "no", "mode": "exam", "retakes": "none"}
UNSTEADY = {"tries": None, "token": "used"}  # tables and columns that a refused request may change
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
_key = count()


class School:
    """A server with an owner; a teacher with tests and takers, all of it shared with a colleague, who may edit it, and with one who may
    look (`looker`); another teacher; and browsers and tokens of two who are `locked` and `removed` since.
    """

    def __init__(self, database, bank=KINDS, title=TITLE, names=NAMES) -> None:
        session_cache.forget_all()
        self.database, self.bank, self.title, self.names = database, bank, title, names
        self.app = create(Settings(), database)
        self.places: dict[str, int | str] = {}
        self.cookies: dict[str, str] = {}
        self.keys: dict[int, str] = {}
        self.tokens: dict[str, str] = {}
        self._portal = start_blocking_portal()
        self.client = TestClient(self.app, follow_redirects=False)
        self.client.portal = self._portal.__enter__()  # one loop for all requests: a new one for each takes longer than the request
        self._people()
        self._things()
        self._ask_for_a_trial()
        self._learn()
        self.pristine = self.dump()

    def close(self) -> None:
        self._portal.__exit__(None, None, None)

    def _people(self) -> None:
        with self.database.work() as work:
            self.owner = teachers.owner(work, "owner@school.example")
            staff = ("teacher", "colleague", "looker", "other")
            invitations = {who: teachers.invitation(work, self.owner, f"{who}@school.example") for who in staff}
            self.people = {"owner": self.owner, **{who: teachers.use_link(work, link) for who, link in invitations.items()}}
            self.people["other"].password = teachers.password_hash(PASSWORD)
            self.cookies = {who: teachers.log_in(work, person) for who, person in self.people.items()}
            self.places["secret"] = teachers.invitation(work, self.owner, "new@school.example")
            for who in ("colleague", "looker"):
                self.tokens[who] = teachers.api_token(work, self.people[who], "a platform of theirs", teachers.SCOPES)
            away, gone = (self._was_here(work, who) for who in ("locked", "removed"))
            leaving.lock(work, away.id)
            leaving.remove(work, gone.id, self.owner)
            self.places["platform"] = registrations.register(work, Registration.read(PLATFORM)).id
            self.places |= {"person": self.people["teacher"].id, "colleague": self.people["colleague"].id, "locked": away.id}

    def _was_here(self, work, who: str) -> Teacher:
        """Somebody who is signed in and has a token."""
        found = teachers.use_link(work, teachers.invitation(work, self.owner, f"{who}@school.example"))
        self.cookies[who] = teachers.log_in(work, found)
        self.tokens[who] = teachers.api_token(work, found, "a platform of theirs", teachers.SCOPES)
        return found

    def _things(self) -> None:
        with self.database.work() as work:
            teacher, pictures = self.people["teacher"], {"pie.png": PICTURE}
            kept = publishing.keep_bank(work, teacher, self.bank, pictures)
            document = self.bank.document
            spare = publishing.keep_bank(work, teacher, qs.Bank({**document, "title": "A spare bank"}), pictures)
            conditions = publishing.Conditions(mode="practice", by_list=False)
            test = publishing.publish(work, teacher, kept, ORDER, conditions, self.title)
            second = publishing.publish(work, teacher, kept, ORDER, conditions, "Another test")
            pupil = class_lists.add_pupils(work, test, [self.names[0]])[0]
            running = taking.enter(work, pupil.code)
            taking.answer(work, running, 1, "3/4")
            over = taking.enter(work, test.code, self.names[1])
            for step in range(1, 5):
                taking.skip(work, over, step)
            strange = taking.enter(work, test.code, self.names[2])
            aside = taking.enter(work, test.code, self.names[1])
            timing.set_aside(work, aside)
            elsewhere = taking.enter(work, second.code, "Somebody")
            draft = drafts.begin_draft(work, teacher, document, "begun", pictures)
            drafts.change(work, draft, teacher, 1, ("questions", "word"), None, "shorter")
            for thing in (test, second, kept, spare, draft, work.get_one(SchoolClass, test.class_id)):
                sharing.share(work, thing, self.people["colleague"], sharing.EDIT)
                sharing.share(work, thing, self.people["looker"], sharing.LOOK)
            self.tokens["token"] = teachers.api_token(work, teacher, "a platform", teachers.SCOPES)
            self.tokens["other"] = teachers.api_token(work, self.people["other"], "another platform", teachers.SCOPES)
            for scope in teachers.SCOPES:
                others = [one for one in teachers.SCOPES if one != scope]
                self.tokens[scope] = teachers.api_token(work, teacher, scope, [scope])
                self.tokens[f"not {scope}"] = teachers.api_token(work, teacher, f"not {scope}", others)
            self.tokens["not sessions, results"] = teachers.api_token(work, teacher, "neither", ["banks", "tests"])
            self.keys = {one.id: one.key for one in (running, over)}
            self.cookies["other_taker"] = strange.key
            self.secrets = [self.title, *self.names, test.code, pupil.code, running.code, over.code, "Paris", "teacher@school.example"]
            spare_class = class_lists.make_class(work, teacher, "Another class")
            self.places |= {"class": pupil.class_id, "spare_class": spare_class.id}
            self.places |= {"test": test.id, "second": second.id, "bank": kept.id, "spare": spare.id, "draft": draft.id}
            section = sections.make(work, teacher, kept, ORDER, {})
            self.places["section_of_test"] = b64encode(json.dumps({"test": test.id}).encode()).decode()
            self.places |= {
                "sectionIdentifier": section.id,
                "sessionIdentifier": sections.keep(work, section, sections.begun(section, 1)).id,
            }
            self.places |= {"pupil": pupil.id, "attempt": running.id, "over": over.id, "aside": aside.id, "elsewhere": elsewhere.id}
            self.places |= {"token": work.scalar(select(Token.id).where(Token.name == "a platform")), "code": test.code}

    def _ask_for_a_trial(self) -> None:
        for kind in ("draft", "bank"):
            path = f"/teacher/{kind}s/{self.places[kind]}/try"
            made = self.post("teacher", path, {**FORM, "students": "10", "seed": "1"})
            assert made.status_code == 303, made.text
        with self.database.read() as work:
            self.places["job"] = work.scalar(select(Job.id).where(Job.subject == f"draft {self.places['draft']}"))

    def _learn(self) -> None:
        """A job that learnt something from answers: one proposal for the draft."""
        with self.database.work() as work:
            teacher = work.get_one(Teacher, self.people["teacher"].id)
            asked = {"draft": self.places["draft"], "edition": 2, "tests": [self.places["test"]], "weight": "some", "intervals": False}
            made = job_queue.ask(work, teacher, "improve", f"draft {self.places['draft']}", asked)
            entry = {**self.bank.document["questions"]["number"], "right": [0.2, 0.5, 0.9]}
            told = {"section": "questions", "id": "number", "entry": entry, "before": packed("before"), "after": packed("after")}
            told |= {"words": [packed("few answers")], "change": 0.1, "answers": 12, "shares": [[], []]}
            made.found = {"proposals": [told], "people": 12, "answers": 12, "warnings": []}
            made.state, made.share = job_queue.DONE, 1.0
            self.places["learning"] = made.id

    def headers(self, who: str, attempt: int | None = None) -> dict[str, str]:
        """What the browser (or the program) of somebody sends. A taker has the cookie of the attempt that is asked for."""
        if who == "token":
            return {"authorization": f"Bearer {self.tokens['token']}", "cookie": "visit=program"}
        secret = {"taker": f"; taker={self.keys.get(attempt or 0, '')}", "other_taker": f"; taker={self.cookies['other_taker']}"}
        mine = secret[who] if who in secret else f"; teacher={self.cookies[who]}" if who in self.cookies else ""
        return {"cookie": f"visit={who}{mine}"}

    def get(self, who: str, path: str, attempt: int | None = None):
        return self.client.get(path, headers=self.headers(who, attempt))

    def post(self, who: str, path: str, data=None, files=None, attempt: int | None = None, form_token: str | None = None):
        """Send a form with the token of this browser, or another one; `form_token=""` sends none."""
        visit = "program" if who == "token" else who
        carried = hashed(f"form {visit}") if form_token is None else form_token
        fields = {**(data or {}), **({"form_token": carried} if carried else {})}
        return self.client.post(path, data=fields, files=files, headers=self.headers(who, attempt))

    def call(self, method: str, path: str, token: str | None, body=None):
        """Call the API."""
        headers = {"authorization": f"Bearer {token}"} if token is not None else {}
        headers |= {"idempotency-key": f"right-{next(_key)}"} if method != "GET" else {}
        return self.client.request(method, path, headers=headers, **({"json": body} if body is not None else {}))

    def dump(self) -> dict[str, list[tuple]]:
        """All rows of all tables."""
        with self.database.engine.connect() as connection:
            return {table.name: sorted(map(tuple, connection.execute(select(table))), key=repr) for table in Base.metadata.sorted_tables}

    def restore(self) -> None:
        """Everything as it was in the beginning."""
        with self.database.engine.begin() as connection:
            for table in reversed(Base.metadata.sorted_tables):
                connection.execute(table.delete())
            for table in Base.metadata.sorted_tables:
                rows = [dict(zip(table.columns.keys(), row, strict=True)) for row in self.pristine[table.name]]
                if rows:
                    connection.execute(insert(table), rows)
        session_cache.forget_all()


def steady(dump: dict[str, list[tuple]]) -> dict[str, list[tuple]]:
    """A dump without what every request may change: counters of the rate limits, when a token was last used."""
    found = {name: rows for name, rows in dump.items() if UNSTEADY.get(name, "") is not None}
    for name, column in UNSTEADY.items():
        if column is not None:
            place = list(Base.metadata.tables[name].columns.keys()).index(column)
            found[name] = [row[:place] + row[place + 1 :] for row in found[name]]
    return found


@contextmanager
def opened(folder, migrated_file, **changed):
    """A school on SQLite, in a folder, from a migrated file; passwords are quick there, and streams of events end at once."""
    shutil.copy(migrated_file, folder / "quaestor.db")
    database = Database(f"sqlite:///{folder / 'quaestor.db'}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "_hasher", QUICK)
        patch.setattr(live, "LIFE", -1.0)
        patch.setattr(live, "LOOK", 0.0)
        made = School(database, **changed)
        yield made
        made.close()
    database.close()


@pytest.fixture(scope="module")
def shared_school(tmp_path_factory, migrated_file):
    """A school for all tests of a module."""
    with opened(tmp_path_factory.mktemp("school"), migrated_file) as made:
        yield made


@pytest.fixture
def school(shared_school):
    """The same, each time as it was in the beginning."""
    shared_school.restore()
    yield shared_school
    shared_school.restore()
