"""The tool in a client without a real server, opened by a platform that has one."""

import re
import shutil
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from fastapi.testclient import TestClient
from sqlalchemy import delete, select

import quaestor as qs
from helpers.lti_platform import platform_for
from quaestor.store import publishing, teachers
from quaestor.store.database import Database
from quaestor.store.models import Base
from quaestor.store.platform_tables import Platform
from quaestor.store.platforms import instructors, registrations, seats
from quaestor.store.platforms.registrations import Registration
from quaestor.web.app import create
from quaestor.web.settings import Settings

TOOL = "https://localhost"
RULES = qs.Rules(score="order", stop=qs.max_questions(2))


def application(database, platform):
    """The tool; the platform reads its keys from it."""
    app = create(Settings(address=TOOL, inner_hosts="localhost"), database)
    app.state.keys_for_platforms = platform.tool_keys = lambda: browser(app).get("/lti/keys").json()
    return app


def emptied(database):
    """Take everything out of a database, so that numbers begin with 1 again."""
    with database.engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(delete(table))
        connection.exec_driver_sql("delete from sqlite_sequence")


@contextmanager
def platform_and_app(migrated, folder):
    """A platform and the tool on a database of their own."""
    shutil.copy(migrated, folder / "quaestor.db")
    database = Database(f"sqlite:///{folder / 'quaestor.db'}")
    with platform_for(TOOL) as platform:
        yield platform, application(database, platform), database
    database.close()


def browser(app, **headers):
    return TestClient(app, base_url=TOOL, headers=headers, follow_redirects=False)


def registered(database, platform, **changed):
    """The platform, entered by hand; its number."""
    with database.work() as work:
        return registrations.register(work, Registration.read({**platform.registration, **changed})).id


def begin(client, platform, user, link="", **more):
    """The login, up to the form with which the browser returns."""
    sent = client.get("/lti/login", params=platform.login(user, link, **more))
    assert sent.status_code == 302, sent.text
    assert sent.headers["location"].startswith(f"{platform.origin}/auth?")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(sent.headers["location"]).query).items()}
    return platform.authorise(asked)


def launch(client, platform, user, link="", **more):
    """A whole launch: the reply to the form."""
    return client.post("/lti/launch", data=begin(client, platform, user, link, **more), headers={"origin": platform.origin})


def inside(client, reply):
    """The page inside the frame that a launch leads to."""
    assert reply.status_code == 303, reply.text
    assert "/framed/" in reply.headers["location"]
    return client.get(reply.headers["location"], follow_redirects=True)


def published_for(database, platform_id, user, title="Week 3", **conditions):
    """A test that a teacher of the platform has published; its number and the token of a choice."""
    with database.work() as work:
        platform = work.get_one(Platform, platform_id)
        teacher = instructors.teacher_of(work, platform, user.sub, user.name)
        kept = publishing.keep_bank(work, teacher, qs.load("multiplication"))
        test = publishing.publish(work, teacher, kept, RULES, publishing.Conditions(**conditions), title)
        return test.id, seats.choose(work, platform, test)


def owner_of(database):
    with database.work() as work:
        return teachers.log_in(work, teachers.owner(work, "owner@school.example"))


def placed_test(database, platform, link="link-1", **conditions):
    """Register the platform and put a test of its teacher Tess into the course; the number of the test."""
    test, token = published_for(database, registered(database, platform), platform.users["tess"], **conditions)
    platform.place(link, {"title": "Week 3", "custom": {"quaestor_test": token}})
    return test


def counts(database, *tables):
    with database.read() as work:
        return [len(work.scalars(select(table)).all()) for table in tables]


def filled(page, action, **fields):
    """The target and the fields of a form of a page."""
    forms = re.findall(r'<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>', page.text, re.S)
    target, inner = next((to, body) for to, body in forms if to.endswith(action))
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', inner))
    return target, {**hidden, **fields}


def taken(client, page, entries=("50", "182")):
    """Begin a test inside the frame and answer it; the last page."""
    target, fields = filled(page, "/enter")
    page = client.post(target, data=fields, follow_redirects=True)
    for entry in entries:
        target, fields = filled(page, "/answer", entry=entry)
        page = client.post(target, data=fields, follow_redirects=True)
    return page
