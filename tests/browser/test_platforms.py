"""The tool inside a frame of a platform at another origin, in Chromium: with cookies, and in a browser that keeps none at all."""

import json
import os
import re
import shutil
import threading
import urllib.parse
import urllib.request
from contextlib import contextmanager
from http.cookiejar import CookieJar

import pytest
from sqlalchemy import select, update

from helpers.chromium import ARGUMENTS, CHROMIUM, PATIENCE, Watch, serve
from helpers.lti_platform import DEEP, SCOPES, User, platform_for
from helpers.lti_tool import placed_test
from helpers.servers import Server, until
from quaestor.store import clock
from quaestor.store.attempts import taking
from quaestor.store.database import Database
from quaestor.store.models import Attempt
from quaestor.store.platform_tables import Platform, Seat
from quaestor.store.platforms import seats


@pytest.fixture(scope="module")
def tool(tmp_path_factory, migrated_file):
    """A server that may ask a platform on this machine."""
    os.environ["QUAESTOR_INNER_HOSTS"] = "localhost"
    try:
        yield from serve(tmp_path_factory.mktemp("tool"), migrated_file)
    finally:
        del os.environ["QUAESTOR_INNER_HOSTS"]


@pytest.fixture(scope="module")
def shared(tool):
    """A platform at `localhost` with a test in its course; the tool is at 127.0.0.1: another site."""
    with platform_for(tool.address) as made:
        placed_test(tool.database, made, retakes="any")
        yield made


@pytest.fixture
def platform(shared):
    shared.storage = False
    yield shared
    assert not shared.complaints


@contextmanager
def without_cookies(chromium, folder):
    """A page of a Chromium in which cookies are switched off altogether."""
    (folder / "Default").mkdir()
    (folder / "Default" / "Preferences").write_text(json.dumps({"profile": {"default_content_setting_values": {"cookies": 2}}}))
    settings = {"executable_path": CHROMIUM, "args": ARGUMENTS.split(), "locale": "en-GB"}
    context = chromium.browser_type.launch_persistent_context(str(folder), **settings)
    context.set_default_timeout(PATIENCE)
    watch = Watch()
    page = context.new_page()
    watch.page(page)
    yield page
    context.close()
    assert not watch.troubles, "\n".join(watch.troubles)


class Unfollowed(urllib.request.HTTPErrorProcessor):
    """Redirects are shown, not followed."""

    def http_response(self, request, response):
        return response


class Silent(list):
    """What the console says is expected."""

    def append(self, text):
        assert "frame-ancestors" in text or "chrome-error" in text, text


def opened(page, platform, user, link=""):
    """The course with the tool in its frame; the frame."""
    page.goto(f"{platform.origin}/course?user={user}&link={link}")
    return page.frame_locator("iframe[name=tool]")


def take(frame, answers=("50", "182")):
    """Begin, or begin again, and answer to the end."""
    frame.get_by_role("button", name=re.compile("^(Begin|Take the test again)$")).click()
    for answer in answers:
        frame.locator(f".options input[value='{answer}']").check()
        frame.get_by_role("button", name="Answer").click()
    frame.get_by_role("heading", name=re.compile("result|Result|Done|Thank", re.I)).first.wait_for()


def graded(platform, sub):
    return [one for one in platform.taken if one["userId"] == sub]


@pytest.mark.long
def test_a_learner_takes_a_test_in_the_frame_and_the_grade_arrives(tool, platform, browse):
    page = browse()
    platform.users["ada-1"] = User("ada-1", "Ada One")
    take(opened(page, platform, "ada-1", "link-1"))
    until(lambda: len(graded(platform, "ada-1")) == 1, 60)
    assert graded(platform, "ada-1")[0]["gradingProgress"] == "FullyGraded"


@pytest.mark.long
def test_a_teacher_picks_a_test_in_the_frame(tool, platform, browse):
    page = browse()
    frame = opened(page, platform, "tess")
    frame.get_by_text("Week 3").first.click()
    frame.get_by_role("button", name="Use this test").click()
    frame.get_by_text("1 items were taken").wait_for()
    (item,) = platform.responses[-1][f"{DEEP}content_items"]
    platform.place("picked", item)
    platform.users["bob"] = User("bob", "Bob")
    take(opened(page, platform, "bob", "picked"))
    until(lambda: len(graded(platform, "bob")) == 1, 60)


@pytest.mark.long
def test_a_teacher_makes_a_test_in_the_frame_and_picks_it(tool, platform, browse):
    page = browse()
    platform.users["new"] = User("new", "New Teacher", ("Instructor",))
    frame = opened(page, platform, "new")
    frame.get_by_role("link", name="Upload or add a bank").click()
    frame.get_by_role("button", name=re.compile("Integer multiplication|multiplication", re.I)).first.click()
    frame.get_by_role("heading", level=1).wait_for()
    frame.get_by_role("link", name=re.compile("Choose a test")).click()
    frame.get_by_role("link", name=re.compile("^Publish “")).first.wait_for()


@pytest.mark.long
def test_a_teacher_sees_results_in_the_frame(tool, platform, browse):
    frame = opened(browse(), platform, "tess", "link-1")
    frame.get_by_role("link", name="Results").first.click()
    frame.get_by_role("heading", level=1).wait_for()


def test_a_browser_without_any_cookies_is_asked_once_and_goes_on(tool, platform, chromium, tmp_path):
    platform.users["ada-2"] = User("ada-2", "Ada Two")
    with without_cookies(chromium, tmp_path) as page:
        frame = opened(page, platform, "ada-2", "link-1")
        frame.get_by_text("says that you are Ada Two").wait_for()
        frame.get_by_role("button", name="Yes, go on").click()
        take(frame)
        assert page.context.cookies() == []
    until(lambda: len(graded(platform, "ada-2")) == 1, 60)


@pytest.mark.long
def test_the_storage_of_the_platform_stands_for_cookies(tool, platform, chromium, tmp_path):
    platform.storage = True
    platform.users["ada-3"] = User("ada-3", "Ada Three")
    with without_cookies(chromium, tmp_path) as page:
        take(opened(page, platform, "ada-3", "link-1"))
        assert page.context.cookies() == []
    until(lambda: len(graded(platform, "ada-3")) == 1, 60)


@pytest.mark.long
def test_another_site_cannot_show_it_in_a_frame(tool, platform, browse):
    page = browse()
    opened(page, platform, "ada", "link-1").get_by_role("button", name="Begin").wait_for()
    inside = next(frame.url for frame in page.frames if "/framed/" in frame.url)
    stranger = browse()
    shown = f'<iframe src="{inside}"></iframe>'
    stranger.route("**/elsewhere", lambda route: route.fulfill(body=shown, content_type="text/html"))
    stranger.watch.expected.add(403)
    stranger.watch.troubles = Silent()  # the browser says that it refuses
    stranger.goto("http://evil.localhost/elsewhere")
    until(lambda: stranger.wait_for_timeout(50) is None and stranger.frames[1].url.startswith("chrome-error:"), 20)


@pytest.mark.long
def test_25_launches_at_once(tool, platform, browse):
    """A class comes in at the same moment; every one gets their own seat, test and grade."""
    names = [f"class-{number}" for number in range(25)]
    platform.users |= {name: User(name, name.title()) for name in names}
    gate, wrong = threading.Barrier(25), []

    def come(name):
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()), Unfollowed)
        gate.wait()
        try:
            sent = opener.open(f"{tool.address}/lti/login?{urllib.parse.urlencode(platform.login(name, 'link-1'))}", timeout=60)
            asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(sent.headers["location"]).query))
            fields = {**platform.authorise(asked), "sure": "yes"}
            body = urllib.parse.urlencode(fields).encode()
            request = urllib.request.Request(f"{tool.address}/lti/launch", body, {"origin": tool.address})
            inside = opener.open(request, timeout=60).headers["location"]
            page = urllib.request.urlopen(tool.address + inside, timeout=60).read().decode()
            if f"Hello, {name.title()}." not in page:
                wrong.append((name, page))
        except Exception as error:
            wrong.append((name, repr(error)))

    threads = [threading.Thread(target=come, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]
    with tool.database.read() as work:
        seats = work.scalars(select(Seat).where(Seat.sub.in_(names))).all()
        assert sorted(seat.sub for seat in seats) == sorted(names)
        assert len({seat.pupil_id for seat in seats}) == 25
        assert work.scalars(select(Attempt).where(Attempt.pupil_id.in_([seat.pupil_id for seat in seats]))).all() == []


@pytest.mark.long
def test_grades_survive_a_server_that_is_killed_and_a_platform_that_is_away(tmp_path, migrated_file, monkeypatch):
    """Learners finish while the platform is away; the server is killed meanwhile; afterwards every grade is there once."""
    monkeypatch.setenv("QUAESTOR_INNER_HOSTS", "localhost")
    shutil.copy(migrated_file, tmp_path / "quaestor.db")
    database = Database(f"sqlite:///{tmp_path / 'quaestor.db'}")
    names = [f"pupil-{number}" for number in range(8)]
    with Server(str(database.engine.url), workers=2) as server, platform_for(f"http://127.0.0.1:{server.port}") as platform:
        test = placed_test(database, platform)
        platform.users |= {name: User(name, name) for name in names}
        with database.work() as work:
            placement = seats.placed(work, work.scalars(select(Platform)).one(), activity(platform), test)
            codes = [seats.seated(work, placement, name, name).pupil.code for name in names]
        platform.away = True
        for place, code in enumerate(codes):
            with database.work() as work:
                attempt = taking.enter(work, code)
                for step, entry in enumerate(("50", "182"), 1):
                    taking.answer(work, attempt, step, entry)
            if place == 4:
                until(lambda: "POST /token" in platform.asked, 60)
                server.kill()
        server.start()
        assert not platform.received
        platform.away = False
        with database.work() as work:  # time passes
            work.execute(update(Seat).where(Seat.due.is_not(None)).values(due=clock.now()))
        until(lambda: len(platform.grades) == len(names), 120, lambda: str(platform.received))
        until(lambda: not owed(database), 30)
        assert sorted(one["userId"] for one in platform.taken) == names
        assert not platform.complaints
    database.close()


def activity(platform):
    column = f"{platform.origin}/lineitems/link-1/lineitem?type_id=3"
    return seats.Activity("7", "course-1", "link-1", lineitem=column, scopes=tuple(SCOPES))


def owed(database):
    with database.read() as work:
        return work.scalars(select(Seat.id).where(Seat.due.is_not(None))).all()
