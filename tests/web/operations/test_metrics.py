"""What operators are shown: who may read it, that it is true, and that it holds nobody's data."""

import asyncio
import os
import re
import signal
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

import quaestor as qs
from helpers.browsing import application, enter, give
from helpers.servers import Server, publish, until
from helpers.takers import Taker
from quaestor.store import job_queue, limits, teachers
from quaestor.store.database import Database, UnavailableError
from quaestor.store.limits import LIMITS, LimitError
from quaestor.web.jobs.runner import _begun
from quaestor.web.operations import metrics

TOKEN = "a-token-of-24-characters"
MINE = {"authorization": f"Bearer {TOKEN}"}


def read(text):
    """The figures by name and labels."""
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def given(make_database, tmp_path):
    """An application with metrics, and its database."""
    database = make_database("sqlite")
    return application(database, metrics=TOKEN, data=str(tmp_path)), database


def seen(app):
    response = TestClient(app).get("/metrics", headers=MINE)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain; version=")
    return read(response.text)


def test_without_a_token_in_the_settings_there_is_no_such_page(make_database):
    app = application(make_database("sqlite"))
    assert TestClient(app).get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize("sent", [{}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}, {"authorization": f"Bearer {TOKEN}é"}])
def test_only_those_who_send_the_token_see_it(given, sent):
    app, _ = given
    refused = TestClient(app).get("/metrics", headers={name: value.encode() for name, value in sent.items()})
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert "quaestor_" not in refused.text


def test_requests_answers_steps_and_caches_are_counted(given):
    app, database = given
    code = give(database, qs.load("german"), qs.Rules(stop=qs.max_questions(3)))
    before = seen(app)
    browser = enter(app, code)
    for _ in range(3):
        browser.fill("/answer", skip="1")
    TestClient(app).get("/nowhere/at/all")
    TestClient(app).get("/static/quaestor.css")
    after = seen(app)

    def more(name, *labels):
        return after.get((name, *sorted(labels)), 0) - before.get((name, *sorted(labels)), 0)

    assert more("quaestor_answers_total") == 3
    assert more("quaestor_step_seconds_count") >= 4
    assert more("quaestor_requests_total", "3xx", "POST", "/take/{attempt}/answer") == 3
    assert more("quaestor_request_seconds_count", "/take/{attempt}/answer") == 3
    assert more("quaestor_requests_total", "4xx", "GET", "no route") == 1
    assert more("quaestor_requests_total", "2xx", "GET", "/static") == 1
    assert more("quaestor_cache_reads_total", "session", "yes") >= 3
    assert after["quaestor_cache_bytes", "session"] > 0
    assert after["quaestor_cache_entries", "bank"] >= 1
    assert after["quaestor_memory_bytes",] > 10_000_000
    assert after["quaestor_workers",] == 1
    assert after["quaestor_disk_free_bytes",] <= after["quaestor_disk_bytes",]
    assert after["quaestor_info", qs.__version__] == 1
    assert after["quaestor_database_up",] == 1
    assert {labels[0] for name, *labels in after if name == "quaestor_jobs"} == {"waiting", "running", "done", "failed"}
    assert code not in str(after)
    assert "Ada" not in str(after)


def test_strange_methods_and_addresses_make_no_new_labels(given):
    app, _ = given
    client, before = TestClient(app), seen(app)
    for number in range(5):
        client.request(f"ODD{number}", f"/strange/{number}")
    after = {name: count for name, count in seen(app).items() if name[0] == "quaestor_requests_total" and "/metrics" not in name}
    assert {name[1:]: count - before.get(name, 0) for name, count in after.items() if count != before.get(name, 0)} == {
        ("4xx", "no route", "other"): 5
    }


def test_refusals_and_errors_of_the_database_are_counted(given, monkeypatch):
    app, database = given
    before = seen(app)
    with database.work() as work:
        for _ in range(LIMITS["token"].failures):
            limits.count(work, "token", "somebody")
    with database.read() as work, pytest.raises(LimitError):
        limits.refuse(work, "token", "somebody")
    away = Database("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(UnavailableError), away.read() as work:
        work.connection()
    after = seen(app)
    assert after["quaestor_refusals_total", "token"] == before.get(("quaestor_refusals_total", "token"), 0) + 1
    assert after["quaestor_database_errors_total",] == before["quaestor_database_errors_total",] + 1
    assert "somebody" not in str(after)


def test_a_database_that_is_away_is_a_figure_not_an_error(given, tmp_path):
    app, _ = given
    away = Database("postgresql+psycopg://nobody@127.0.0.1:1/none")
    found = read(metrics.written(app.state.settings, away).decode())
    assert found["quaestor_database_up",] == 0
    assert not any(name[0] == "quaestor_jobs" for name in found)


def test_failed_jobs_are_seen(given):
    app, database = given
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        job_queue.ask(work, teacher, "trial", "x", {})
        number = job_queue.claim(work, "me")
        job_queue.fail(work, number, "me", "too large")
        job_queue.ask(work, teacher, "trial", "y", {})
    found = seen(app)
    assert (found["quaestor_jobs", "failed"], found["quaestor_jobs", "waiting"]) == (1, 1)


def test_processes_of_jobs_do_not_count(make_database, monkeypatch):
    """Each would leave its files in the folder of the counts."""
    environments = []
    monkeypatch.setenv(metrics.FOLDER, "somewhere")
    monkeypatch.setattr("subprocess.Popen", lambda *_, env, **__: environments.append(env))
    _begun(make_database("sqlite"), 1, "me")
    assert metrics.FOLDER not in environments[0]


def asked(port, token=TOKEN):
    request = Request(f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urlopen(request, timeout=20) as response:
        return read(response.read().decode())


@pytest.mark.long
def test_workers_are_summed_and_one_that_died_keeps_its_counts(make_database, monkeypatch):
    """Whichever of two workers is asked says the same; what a killed one had counted stays, its memory and caches do not."""
    monkeypatch.setenv("QUAESTOR_METRICS", TOKEN)
    database = make_database("sqlite")
    code = publish(database, qs.load("german"), 5)
    with Server(database.engine.url.render_as_string(hide_password=False), 2) as server:
        until(lambda: asked(server.port)["quaestor_workers",] == 2, 30, server.said)
        takers = [Taker(server.port, code, f"taker {number}") for number in range(10)]

        async def take():
            await asyncio.gather(*(taker.take() for taker in takers))

        asyncio.run(take())
        counts = {asked(server.port)["quaestor_answers_total",] for _ in range(8)}
        assert counts == {50}
        memory = asked(server.port)["quaestor_memory_bytes",]
        victim = server.worker_ids()[0]
        os.kill(victim, signal.SIGKILL)
        until(lambda: victim not in server.worker_ids() and len(server.worker_ids()) == 2, 60, server.said)
        until(lambda: asked(server.port)["quaestor_workers",] == 2, 60, server.said)
        after = asked(server.port)
        assert after["quaestor_answers_total",] == 50
        assert after["quaestor_memory_bytes",] < 1.3 * memory
        with pytest.raises(HTTPError, match="401"):
            asked(server.port, "another-token-of-some-length")
        folder = re.search(f"{metrics.FOLDER}=([^\0]+)", Path(f"/proc/{server.worker_ids()[0]}/environ").read_text())[1]
        assert os.path.isdir(folder)
        os.kill(server.process.pid, signal.SIGTERM)
        server.process.wait(30)
        assert not os.path.exists(folder)
