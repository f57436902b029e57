"""The API as tests call it: every reply is held against the shape that its description promises."""

from itertools import count

import pytest
from starlette.testclient import TestClient

import quaestor as qs
from quaestor.store import publishing, teachers
from quaestor.store.attempts import session_cache
from quaestor.web.api import PREFIX
from quaestor.web.api.routes import PARTS
from quaestor.web.api.session_shapes import ProblemShape
from quaestor.web.app import create
from quaestor.web.render.problems import MEDIA_TYPE
from quaestor.web.settings import Settings

ROUTES = [(method, route) for part in PARTS for route in part.routes for method in route.methods]
PLACES = {"session": "1", "bank": "1", "test": "1", "image": "x", "class": "1", "pupil": "1"}
_key = count()
KINDS_BANK = """
quaestor: 1
title: All kinds
skills: {a: {levels: [no, yes], prior: [0.5, 0.5]}, b: {levels: [no, yes], prior: [0.5, 0.5]}}
questions:
  one:
    text: Which one?
    options: {left: wrong, right way: right, middle: half}
    classes: [wrong, half, right]
    skill: a
    table: {"no": [0.6, 0.2, 0.2], "yes": [0.1, 0.2, 0.7]}
    explanation: SECRET-one
  several:
    text: Which ones?
    kind: choices
    options: [w1, w2, w3]
    correct: [w1, w2]
    skill: b
    right: [0.1234567, 0.9]
    explanation: SECRET-several
  number: {text: How many?, kind: number, correct: 48151, skill: a, right: [0.1234568, 0.9], explanation: SECRET-number}
  word: {text: How is it called?, kind: text, accept: [xylophone], skill: b, right: [0.1234569, 0.9], explanation: SECRET-word}
"""


class Api:
    """Calls with a token; each write has a key of its own unless one is given."""

    def __init__(self, app, token: str | None) -> None:
        self.client = TestClient(app, raise_server_exceptions=False)
        self.headers = {"authorization": f"Bearer {token}"} if token is not None else {}
        self.replies: list[str] = []

    def call(self, method: str, path: str, body=None, key: str | None = None, **headers: str):
        keyed = {"idempotency-key": key or f"key-{next(_key)}"} if method != "GET" and key != "" else {}
        more = {"json": body} if body is not None else {}
        response = self.client.request(method, PREFIX + path, headers={**self.headers, **keyed, **headers}, **more)
        fits(method, PREFIX + path.partition("?")[0], response)
        self.replies.append(response.text)
        return response

    def get(self, path: str):
        return self.call("GET", path)

    def post(self, path: str, body, key: str | None = None):
        return self.call("POST", path, body, key)


def fits(method: str, path: str, response) -> None:
    """Hold a reply against the shape of its route, or of problems."""
    if response.status_code >= 400:
        assert response.headers["content-type"] == MEDIA_TYPE, response.text
        assert ProblemShape.model_validate(response.json()).status == response.status_code
        return
    (route,) = [route for kind, route in ROUTES if kind == method and route.path_regex.match(path)]
    assert response.status_code == (route.status_code or 200)
    if route.response_model is not None:
        route.response_model.model_validate(response.json())


class World:
    """A server with two teachers, and a test of the first one."""

    def __init__(self, database) -> None:
        session_cache.forget_all()
        self.database = database
        self.app = create(Settings(), database)
        with database.work() as work:
            self.teacher = teachers.owner(work, "owner@school.example")
            link = teachers.invitation(work, self.teacher, "other@school.example")
        with database.work() as work:
            self.other = teachers.use_link(work, link)

    def api(self, *scopes: str, teacher=None) -> Api:
        with self.database.work() as work:
            return Api(self.app, teachers.api_token(work, teacher or self.teacher, "a platform", scopes or teachers.SCOPES))

    def publish(self, bank: qs.Bank | str = "fractions", questions: int = 3, **conditions) -> int:
        rules = qs.Rules(score="order", stop=qs.max_questions(questions))
        with self.database.work() as work:
            kept = publishing.keep_bank(work, self.teacher, qs.load(bank) if isinstance(bank, str) else bank)
            return publishing.publish(work, self.teacher, kept, rules, publishing.Conditions(**conditions)).id


def right(question: dict, bank: str = "fractions"):
    """The right answer to a question of a bundled bank."""
    asked = qs.load(bank).questions[question["id"]]
    return list(asked.correct) if asked.kind == "choices" else asked.correct[0]


def begin(api, test=1, name="Ada"):
    made = api.post("/sessions", {"test": test, "name": name})
    assert made.status_code == 201, made.text
    return made.json()


def take(api, state):
    """Answer rightly until the end; the last reply."""
    while not state["over"]:
        body = {"step": state["step"], "entry": right(state["question"])}
        state = api.post(f"/sessions/{state['session']}/answers", body).json()
    return state


@pytest.fixture
def world(database):
    return World(database)


@pytest.fixture
def small(make_database):
    """For what does not depend on the database."""
    return World(make_database("sqlite"))
