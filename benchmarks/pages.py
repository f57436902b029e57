"""The teacher's pages on a filled database: a bank of 1,000 questions, 200 takers with 20 answers each; milliseconds to the first byte.

Each page is asked for once after a start (nothing is cached yet), then 15 times, each time after another answer came in; `CPU` is what
the server's process used of it, whatever else the machine was doing. The questions are drawn, not chosen, so nearly all of the bank was
asked: more than a real class would touch. Needs the folder `tests` on its path.
"""

import http.client
import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
from machine import describe
from made_banks import answers_of

import quaestor as qs
from helpers.servers import Server
from quaestor.store import publishing, teachers
from quaestor.store.attempts import taking
from quaestor.store.clock import now
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Event
from quaestor.store.outcomes import rescoring

QUESTIONS, TAKERS, ANSWERS, REPEATS = 1000, 200, 20, 15
PAGES = ("", "live", "live/rows", "questions", "report", "report?pupils=yes", "results", "letters", "takers/3")


def bank(questions: int = QUESTIONS) -> qs.Bank:
    """Six skills of three levels in a tree, questions with texts and options."""
    random = np.random.default_rng(1)
    skills: dict[str, dict[str, object]] = {"s0": {"levels": ["no", "partly", "yes"]}}
    for number in range(1, 6):
        skills[f"s{number}"] = {"levels": ["no", "partly", "yes"], "parents": [f"s{(number - 1) // 2}"], "strength": 0.6}
    right = np.sort(random.uniform(0.1, 0.95, (questions, 3)), axis=1).round(3)
    asked = {
        f"Q{number}": {
            "text": rf"Question {number}: what is $\frac{{{number}}}{{7}} + \frac{{1}}{{2}}$?",
            "options": ["right", "wrong", "also wrong", "wrong too"],
            "correct": "right",
            "skill": f"s{number % 6}",
            "right": right[number].tolist(),
        }
        for number in range(questions)
    }
    return qs.Bank({"title": "A large bank", "skills": skills, "questions": asked})


def fill(database: Database, made: qs.Bank, takers: int = TAKERS, answers: int = ANSWERS) -> tuple[int, str]:
    """A published test with its takers, two thirds of them through; its number, and the cookie of its teacher."""
    with database.work() as work:
        teacher = teachers.owner(work, "owner@localhost")
        kept = publishing.keep_bank(work, teacher, made)
        rules = qs.Rules(stop=qs.max_questions(answers))
        test = publishing.publish(work, teacher, kept, rules, publishing.Conditions())
        for number in range(takers):
            is_through = number % 3 > 0
            started = now() - timedelta(minutes=12)
            attempt = Attempt(
                key=f"taker {number}",
                code=f"T{number:05d}",
                test_id=test.id,
                name=f"Taker {number}",
                seed=number,
                started=started,
                reason="",
            )
            attempt.ended = started + timedelta(minutes=10) if is_through else None
            work.add(attempt)
            work.flush()
            given = answers_of(made, answers if is_through else answers // 2, seed=number)
            for step, (question, answer) in enumerate(given.items(), 1):
                add(work, attempt.id, step, made, question, answer, started + timedelta(seconds=30 * step))
        login = teachers.log_in(work, teacher)
    rescoring.score_all(database, test.id, lambda share: True)
    return test.id, login


def add(work, attempt, step, made, question, answer, at) -> None:
    asked = made.questions[question]
    entry = asked.options[0 if answer else 1]
    work.add(Event(attempt_id=attempt, step=step, question=question, answer=asked.classes[answer], entry=entry, seconds=30.0, at=at))


def answer_one(database: Database, number: int) -> None:
    """One more answer of somebody who is under way; at the end of the test nothing."""
    with database.work() as work:
        attempt = work.get_one(Attempt, number)
        state = taking.state_of(work, attempt)
        if state.session.next is not None:
            taking.answer(work, attempt, state.step, "right")


def first_byte(port: int, path: str, cookie: str) -> float:
    """Milliseconds to the first byte of a page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.connect()
    began = time.perf_counter()
    connection.request("GET", path, headers={"Cookie": f"teacher={cookie}"})
    reply = connection.getresponse()
    reply.read(1)
    took = 1000 * (time.perf_counter() - began)
    assert reply.status == 200, (path, reply.status)
    reply.read()
    connection.close()
    return took


def cpu(server: Server) -> float:
    """Milliseconds of processor time that the server has used."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    print(describe())
    print(f"\n{QUESTIONS} questions, {TAKERS} takers; milliseconds to the first byte.\n")
    print("| page | first | CPU | then: median | slowest | CPU |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/pages.db"
        database = Database(url)
        database.migrate()
        made = bank()
        test, cookie = fill(database, made)
        for page in PAGES:
            with Server(url) as server:
                path = f"/teacher/tests/{test}/{page}".rstrip("/")
                start = cpu(server)
                cold = first_byte(server.port, path, cookie)
                times, used = [], cpu(server)
                for number in range(REPEATS):
                    answer_one(database, 3 * number + 1)
                    times.append(first_byte(server.port, path, cookie))
                spent = (cpu(server) - used) / REPEATS
            print(
                f"| {page or 'the test'} | {cold:.0f} | {used - start:.0f} | {np.median(times):.0f} | {max(times):.0f} | {spent:.0f} |",
                flush=True,
            )
        database.close()


if __name__ == "__main__":
    main()
