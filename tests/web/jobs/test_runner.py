"""Work in the background: claimed once, taken up again when its worker died, done in a process beside the server."""

import json
import os
import signal
import threading
import time
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import select, update

import quaestor as qs
from helpers.servers import Server, is_running, until
from helpers.slow_banks import slow_document
from quaestor.errors import QuaestorError
from quaestor.i18n import unpacked
from quaestor.simulate.trial import FIRST, try_out
from quaestor.store import job_queue, publishing, teachers
from quaestor.store.clock import now
from quaestor.store.database import UnavailableError
from quaestor.store.models import Job, Teacher
from quaestor.web.jobs import runner as foremen
from quaestor.web.jobs import worker as work_process
from quaestor.web.jobs.runner import Foreman

RULES = qs.Rules(stop=qs.max_questions(2))


@pytest.fixture
def ask(database):
    """Ask for a trial of a bundled bank; gives its number."""
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, owner, qs.load("multiplication"))

    def make(students=20, source=None, sets=(RULES,)):
        asked = {"title": "Times", "source": source or {"bank": kept.id}, "students": students, "seed": 1}
        with database.work() as work:
            return job_queue.ask(work, owner, "trial", "bank 1", {**asked, "sets": [{"rules": one.document} for one in sets]}).id

    return make


def look(database, number):
    with database.read() as work:
        found = work.get(Job, number)
        return found and (found.asked, found.found) and found  # all of it loaded while the work is open


def claim(database, worker):
    with database.work() as work:
        return job_queue.claim(work, worker)


def silence(database, number):
    """As if its worker had been silent for long."""
    with database.work() as work:
        work.execute(update(Job).where(Job.id == number).values(beat=now() - timedelta(seconds=job_queue.SILENT + 1)))


def test_a_job_is_worked_off(database, ask):
    number = ask()
    assert look(database, number).state == job_queue.WAITING
    assert claim(database, "a") == number
    assert look(database, number).state == job_queue.RUNNING
    assert claim(database, "b") is None
    work_process.work_off(database, number, "a")
    found = look(database, number)
    assert (found.state, found.share) == (job_queue.DONE, 1.0)
    tried = json.loads(json.dumps(try_out(qs.load("multiplication"), [RULES], 20, 1)))
    assert {name: value for name, value in found.found.items() if name != "shortfalls"} == tried  # how much it lacks comes after it


def test_many_threads_claim_each_job_once(database, ask, monkeypatch):
    monkeypatch.setattr(job_queue, "MOST_OPEN", 100)
    numbers = [ask() for _ in range(12)]
    taken, start = [], threading.Barrier(4)

    def work(name):
        start.wait()
        while (number := claim(database, f"{name} {len(taken)}")) is not None:
            taken.append(number)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == numbers


def test_a_job_whose_worker_is_silent_is_taken_up_again(database, ask):
    number = ask()
    assert claim(database, "dead") == number
    silence(database, number)
    assert claim(database, "alive") == number
    for write in (
        lambda work: job_queue.beat(work, number, "dead", 0.5),
        lambda work: job_queue.finish(work, number, "dead", {"wrong": 1}),
    ):
        with pytest.raises(job_queue.LostError), database.work() as work:
            write(work)
    with pytest.raises(job_queue.LostError):
        work_process.work_off(database, number, "dead")
    work_process.work_off(database, number, "alive")
    assert look(database, number).found["students"] == 20


def test_a_job_that_breaks_off_every_time_is_given_up(database, ask):
    number, later = ask(), ask()
    for worker in "abc":
        assert claim(database, worker) == number
        with database.work() as work:
            job_queue.give_back(work, number, worker, is_try=True)
    assert claim(database, "d") == later
    found = look(database, number)
    assert found.state == job_queue.FAILED
    assert "begun 3 times" in unpacked(found.words)


def test_being_stopped_is_no_try(database, ask):
    number = ask()
    for _ in range(5):
        assert claim(database, "a") == number
        with database.work() as work:
            job_queue.give_back(work, number, "a", is_try=False)
    assert look(database, number).state == job_queue.WAITING


def test_failures_say_why(database, ask, monkeypatch):
    number = ask(source={"bank": 999})
    claim(database, "a")
    work_process.work_off(database, number, "a")
    assert (look(database, number).state, unpacked(look(database, number).words)) == (job_queue.FAILED, "the bank was deleted meanwhile")
    other = ask()
    claim(database, "b")
    monkeypatch.setitem(work_process.KINDS, "trial", lambda *_: 1 / 0)
    work_process.work_off(database, other, "b")
    assert "something went wrong that we did not foresee" in look(database, other).words


def test_a_deleted_job_stops_its_worker(database, ask, monkeypatch):
    monkeypatch.setattr(job_queue, "BEAT", 0.02)
    number = ask(students=10_000)
    claim(database, "a")

    def endless(database, asked, go_on):
        while go_on(0.5):
            time.sleep(0.01)

    monkeypatch.setitem(work_process.KINDS, "trial", endless)

    def work_off():
        with pytest.raises(job_queue.LostError):
            work_process.work_off(database, number, "a")

    thread = threading.Thread(target=work_off)
    thread.start()
    until(lambda: look(database, number).share == 0.5, 20)
    with database.work() as work:
        job_queue.drop(work, work.get(Job, number))
    thread.join(20)
    assert not thread.is_alive()


def test_a_job_that_takes_too_long_ends_with_what_it_has(database, ask):
    number = ask(students=1000)
    claim(database, "a")
    work_process.work_off(database, number, "a", longest=0)
    found = look(database, number).found
    assert (found["students"], found["wanted"]) == (FIRST, 1000)
    assert found["sets"] == try_out(qs.load("multiplication"), [RULES], FIRST, 1)["sets"]


def test_unfinished_jobs_are_few_and_old_ones_are_forgotten(database, ask):
    old = ask()
    with database.work() as work:
        work.execute(update(Job).values(created=now() - job_queue.KEPT - timedelta(days=1)))
        job_queue.forget_old(work, now())
    for _ in range(job_queue.MOST_OPEN):
        ask()
    assert look(database, old) is None
    with pytest.raises(QuaestorError, match="5 of your trials are not finished yet"):
        ask()


@pytest.fixture
def foreman(database):
    made = Foreman(database, work_process.LONG)
    made.start()
    yield made
    made.stop()


def test_a_foreman_has_jobs_done_in_a_process(database, ask, foreman):
    numbers = [ask(), ask()]
    foreman.wake()
    until(lambda: all(look(database, number).state == job_queue.DONE for number in numbers), 60)
    assert look(database, numbers[0]).found == look(database, numbers[1]).found


def test_a_killed_process_is_replaced_and_comes_to_the_same(database, ask, monkeypatch):
    started = []
    begun = foremen._begun
    monkeypatch.setattr(foremen, "_begun", lambda *given: started.append(begun(*given)) or started[-1])
    number = ask(students=10_000)
    foreman = Foreman(database, work_process.LONG)
    foreman.start()
    try:
        until(lambda: look(database, number).share > 0 or look(database, number).state == job_queue.DONE, 60)
        os.kill(started[0].pid, signal.SIGKILL)
        until(lambda: look(database, number).state == job_queue.DONE, 90)
    finally:
        foreman.stop()
    found = look(database, number)
    assert found.found["students"] == 10_000
    assert len(started) == found.tries


@pytest.fixture
def stuck(database):
    """A function that asks for a trial that says nothing for minutes, as its bank is too slow; gives its number."""

    def make(email="owner@school.example"):
        with database.work() as work:
            teacher = work.scalar(select(Teacher).where(Teacher.email == email))
            if teacher is None:
                teacher = Teacher(email=email, name="", password=None, is_owner=False, created=now())
                work.add(teacher)
                work.flush()
            kept = publishing.keep_bank(work, teacher, qs.Bank(slow_document(5, 3)))
            sets = [{"rules": qs.Rules(stop=qs.max_questions(9)).document}]
            asked = {"title": "Slow", "source": {"bank": kept.id}, "students": 1000, "seed": 1, "sets": sets}
            return job_queue.ask(work, teacher, "trial", "bank 9", asked).id

    return make


@pytest.fixture
def begun(monkeypatch):
    """The processes that foremen begin."""
    found, begin = [], foremen._begun
    monkeypatch.setattr(foremen, "_begun", lambda *given: found.append(begin(*given)) or found[-1])
    return found


@pytest.mark.long
def test_a_cancelled_job_is_ended_and_the_next_one_begins(database, ask, stuck, foreman, begun):
    number = stuck()
    foreman.wake()
    until(lambda: bool(begun), 60)
    time.sleep(1.5)  # it is in the middle of something that does not look up
    after = ask()
    with database.work() as work:
        job_queue.drop(work, work.get(Job, number))
    until(lambda: begun[0].poll() is not None, 5)
    until(lambda: look(database, after).state == job_queue.DONE, 60)


def test_a_job_that_does_not_end_is_ended_at_its_limit(database, stuck, monkeypatch):
    monkeypatch.setattr(foremen, "GRACE", 0.5)
    number = stuck()
    foreman = Foreman(database, work_process.LONG, longest=0.5)
    foreman.start()
    try:
        until(lambda: look(database, number).state == job_queue.FAILED, 30)
    finally:
        foreman.stop()
    assert "was ended" in unpacked(look(database, number).words)


@pytest.mark.long
def test_a_stuck_job_holds_nobody_elses(database, ask, stuck):
    numbers = [stuck("slow@school.example"), stuck("slow@school.example"), ask()]
    made = [Foreman(database, work_process.LONG, each=1) for _ in range(2)]
    for foreman in made:
        foreman.start()
    try:
        until(lambda: look(database, numbers[2]).state == job_queue.DONE, 60)
        assert [look(database, number).state for number in numbers[:2]] == [job_queue.RUNNING, job_queue.WAITING]
    finally:
        for foreman in made:
            foreman.stop()


def test_a_job_that_needs_too_much_memory_says_so(database, ask, monkeypatch):
    number = ask()
    claim(database, "a")

    def large(*_):
        raise MemoryError

    monkeypatch.setitem(work_process.KINDS, "trial", large)
    work_process.work_off(database, number, "a")
    assert "more memory than a job may have" in look(database, number).words


def test_a_foreman_who_is_stopped_gives_the_job_back(database, ask):
    number = ask(students=10_000)
    first = Foreman(database, work_process.LONG)
    first.start()
    until(lambda: look(database, number).state == job_queue.RUNNING, 30)
    first.stop()
    found = look(database, number)
    assert (found.state, found.tries) in ((job_queue.WAITING, 0), (job_queue.DONE, 1))


def test_a_foreman_waits_for_a_database_that_is_away(database, ask, monkeypatch):
    monkeypatch.setattr(foremen, "POLL", 0.02)
    number, read, times = ask(students=10), database.read, []

    def away():
        times.append(1) if threading.current_thread().name == "jobs" else None
        if threading.current_thread().name == "jobs" and len(times) < 3:
            raise UnavailableError
        return read()

    monkeypatch.setattr(database, "read", away)
    foreman = Foreman(database, work_process.LONG)
    foreman.start()
    try:
        until(lambda: look(database, number).state == job_queue.DONE, 60)
    finally:
        foreman.stop()


@pytest.mark.long
def test_a_job_survives_the_death_of_the_whole_server(database, ask):
    number = ask(students=10_000)
    url = database.engine.url.render_as_string(hide_password=False)
    with Server(url) as server:
        until(lambda: look(database, number).state != job_queue.WAITING, 60)
        server.kill()
        assert look(database, number).state == job_queue.RUNNING
        silence(database, number)
        server.start()
        until(lambda: look(database, number).state == job_queue.DONE, 120)
    found = look(database, number)
    assert found.tries == 2
    tried = json.loads(json.dumps(try_out(qs.load("multiplication"), [RULES], 10_000, 1)))
    assert {name: value for name, value in found.found.items() if name != "shortfalls"} == tried  # how much it lacks comes after it


@pytest.mark.long
def test_workers_and_jobs_leave_when_only_their_parent_is_killed_and_a_restart_works_at_once(database, ask):
    number = ask(students=10_000)
    with Server(database.engine.url.render_as_string(hide_password=False), workers=2) as server:
        until(lambda: look(database, number).state == job_queue.RUNNING, 60)
        others = server.kill_parent()
        try:
            server.start()  # on the same port
            assert len(others) >= 3  # two workers, one job
            assert not any(is_running(one) for one in others)
        finally:
            for one in others:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
