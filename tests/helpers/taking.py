"""Steps of a test that is published and taken, for tests of the store."""

from datetime import timedelta

from sqlalchemy import func, select

import quaestor as qs
from quaestor.store import clock, publishing, teachers
from quaestor.store.attempts import entry, invitations, state, taking
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt

RULES = qs.Rules(score="order", stop=qs.max_questions(8))


def publish(database, bank=None, rules=RULES, **conditions):
    with database.work() as work:
        teacher = teachers.owner(work, "owner@school.example")
        kept = publishing.keep_bank(work, teacher, bank or qs.load("german"))
        return publishing.publish(work, teacher, kept, rules, publishing.Conditions(**conditions))


def pupil_of(database, test, name="Ada"):
    with database.work() as work:
        return class_lists.add_pupils(work, test, [name])[0].code


def begin(database, code, name="Ada", form=""):
    with database.work() as work:
        return taking.enter(work, code, name, form).key


def stands(database, key):
    with database.read() as work:
        return taking.state_of(work, taking.by_key(work, key))


def put(database, key, step, value=None):
    with database.work() as work:
        attempt = taking.by_key(work, key)
        question = taking.state_of(work, attempt).session.next
        return taking.answer(work, attempt, step, entry_of(question) if value is None and question is not None else value or "1")


def entry_of(question):
    return question.options[0] if question.options else "1"


def finish(database, key):
    while not (now := stands(database, key)).over:
        put(database, key, now.step)


def count(database, table=Attempt):
    with database.read() as work:
        return work.scalar(select(func.count()).select_from(table))


def url(database):
    return database.engine.url.render_as_string(hide_password=False)


def later(monkeypatch, **passed):
    moment = clock.now() + timedelta(**passed)
    for module in (taking, state, entry, invitations):
        monkeypatch.setattr(module, "now", lambda: moment)
