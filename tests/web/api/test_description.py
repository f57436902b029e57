"""The API's description, its page for people, and the example client."""

import re
import subprocess
import sys

import pytest
from pydantic import BaseModel
from sqlalchemy import select
from starlette.testclient import TestClient

import quaestor as qs
from helpers.api_calls import ROUTES, World
from helpers.databases import KINDS
from helpers.paths import ROOT
from helpers.servers import Server
from quaestor.store.models import Event
from quaestor.web.api import PREFIX, bank_shapes, class_shapes, fields, publication_shapes, session_shapes
from quaestor.web.api.description import TYPES, _example
from quaestor.web.api.routes import document


def test_examples_fit_their_shapes():
    files = (bank_shapes, class_shapes, publication_shapes, session_shapes)
    found = [shape for file in files for shape in vars(file).values() if isinstance(shape, type) and issubclass(shape, BaseModel)]
    for shape in found:
        if "json_schema_extra" in shape.model_config and shape not in (fields.Asked, fields.Sent):
            shape.model_validate(_example(shape))
    assert qs.formats.files.load_bytes(_example(bank_shapes.NewBank)["content"].encode(), ".yaml").warnings == ()


def test_everything_is_described(small):
    shown = small.api().client.get(f"{PREFIX}/openapi.json").json()
    assert shown == document()
    for method, route in ROUTES:
        operation = shown["paths"][route.path_format][method.lower()]
        assert operation["summary"]
        assert operation["security"]
        for status, response in operation["responses"].items():
            assert response["description"]
            assert all("example" in content for content in response.get("content", {}).values())
            assert list(response.get("content", {})) == ["application/problem+json"] or int(status) < 300
        if "requestBody" in operation:
            assert "example" in operation["requestBody"]["content"]["application/json"]


def test_the_docs_name_every_route_scope_and_type():
    text = (ROOT / "docs" / "http-api.md").read_text(encoding="utf-8")
    for method, route in ROUTES:
        assert f"| `{method} {route.path_format.removeprefix(PREFIX)}` | {', '.join(route.scopes)} |" in text
    for kind in TYPES:
        assert re.search(rf"^\| {kind.status} \| .*`{kind.name}`", text, re.MULTILINE), kind


def test_the_page_for_people(small):
    page = small.api().client.get(PREFIX)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for method, route in ROUTES:
        assert f"{method} {route.path_format}" in page.text


def test_below_a_path_prefix(small):
    small.publish()
    token = small.api().headers
    client = TestClient(small.app, root_path="/quaestor")
    assert client.get(f"{PREFIX}/openapi.json").json()["servers"] == [{"url": "/quaestor"}]
    assert client.get(f"{PREFIX}/nothing", headers=token).headers["content-type"] == "application/problem+json"
    assert client.get(f"{PREFIX}/tests/1", headers=token).json()["link"].startswith("http://testserver/quaestor/c/")


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_client(make_database, kind):
    database = make_database(kind)
    world = World(database)
    test = world.publish("multiplication", 2)
    token = world.api("sessions").headers["authorization"].removeprefix("Bearer ")
    with Server(database.engine.url.render_as_string(hide_password=False)) as server:
        command = [sys.executable, str(ROOT / "examples" / "api_client.py"), f"http://127.0.0.1:{server.port}", token, str(test), "Ada"]
        done = subprocess.run(command, input="50\n\n", capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "Multiplying whole numbers: too few answers"
    with database.read() as work:
        assert work.execute(select(Event.question, Event.answer).order_by(Event.step)).all() == [("Q1", "right"), ("Q2", None)]
