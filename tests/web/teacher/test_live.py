"""Watching a class: who is where, groups, the rows that are fetched again, and the stream that tells when."""

import asyncio
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

import quaestor as qs
from helpers.browsing import Browser, application, give
from helpers.classroom import sign_in, take, words
from quaestor.report import classroom
from quaestor.report.groups import Member, groups, next_skills, spread
from quaestor.store import publishing, teachers
from quaestor.store.attempts import answers, taking
from quaestor.store.attempts.answers import Clock
from quaestor.store.classes import class_lists
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Event, Published
from quaestor.store.outcomes.outcome import Finding, Outcome
from quaestor.web.teacher import live

START = datetime(2026, 5, 4, 9, 0, 0)


@pytest.fixture
def app(database):
    return application(database)


def long_ago(database, attempt, minutes):
    with database.work() as work:
        passed = timedelta(minutes=minutes)
        row = work.get(Attempt, attempt)
        row.started -= passed
        work.execute(update(Event).where(Event.attempt_id == attempt).values(at=now() - passed, seconds=20.0))


def outcome(number, state="running", questions=3, started=START, pupil=None, name="Ada", **skills):
    found = {skill: finding(skill, level, sure) for skill, (level, sure) in skills.items()}
    ended = started + timedelta(minutes=9) if state == "over" else None
    return Outcome(number, pupil, name, "ABCD", state, started, ended, 9, questions, 2, "", found, None)


def finding(skill, level, sure=True):
    levels = FRACTIONS.skills[skill].levels
    low = 0.9 if sure else 0.6
    lows = tuple(low if one == level else (1 - low) / (len(levels) - 1) for one in levels)
    return Finding(level, levels, lows, lows, 3, 2, 0.8)


@pytest.mark.parametrize(
    ("idle", "seconds", "state"),
    [
        (1.9, [10, 10, 10], "on it"),  # three times the median, but no two minutes
        (2.1, [10, 10, 10], "stuck"),
        (2.1, [40, 50, 90], "on it"),
        (2.6, [40, 50, 90], "stuck"),
        (14.9, [300, 300], "on it"),
        (15, [300, 300], "gone"),
        (15, [1], "gone"),
    ],
)
def test_stuck_and_gone(idle, seconds, state):
    moment = START + timedelta(minutes=30)
    clock = Clock(moment - timedelta(minutes=idle), tuple(seconds))
    (seat,) = classroom.seats([outcome(1)], {1: clock}, [], moment)
    assert (seat.state, seat.question) == (state, 4)
    assert seat.idle == pytest.approx(idle)


def test_before_the_first_answer_the_class_is_the_measure():
    moment = START + timedelta(minutes=4)
    slow = {2: Clock(moment, (100.0, 100.0, 100.0))}
    found = [outcome(1, questions=0), outcome(2)]
    assert [seat.state for seat in classroom.seats(found, slow, [], moment)] == ["on it", "on it"]
    assert {seat.state for seat in classroom.seats(found[:1], {}, [], moment)} == {"stuck"}


def test_those_who_may_need_somebody_come_first():
    found = [outcome(1, "over", name="Ada"), outcome(2, name="Bob", started=START - timedelta(hours=1)), outcome(3, name="Eve")]
    seats = classroom.seats(found, {3: Clock(START, (1.0,))}, ["Kim"], START)
    assert [(seat.name, seat.state) for seat in seats] == [("Bob", "gone"), ("Eve", "on it"), ("Ada", "finished"), ("Kim", "not begun")]
    assert classroom.counts(seats) == {"stuck": 0, "gone": 1, "on it": 1, "finished": 1, "not begun": 1}


def test_the_latest_attempt_of_a_pupil_is_shown():
    found = [outcome(1, "over", pupil=7), outcome(2), outcome(3, pupil=7), outcome(4)]
    assert sorted(one.attempt_id for one in classroom.present(found)) == [2, 3, 4]


FRACTIONS = qs.load("fractions")
TOP = {skill.id: (skill.levels[-1], True) for skill in FRACTIONS.skills.values()}


def test_groups_by_what_to_practise_next():
    people = {
        "through": TOP,
        "begins": TOP | {"parts": ("no", True), "equivalence": ("no", True)},
        "divides": TOP | {"division": ("no", False)},
        "adds": TOP | {"addition": ("no", True), "division": ("no", True)},  # both ready: the order of the bank decides
    }
    members = [Member(name, outcome(1, **skills).skills) for name, skills in people.items()]
    members.append(Member("new", {skill: replace(finding(skill, level), answers=1) for skill, (level, _) in TOP.items()}))
    made = [(group.kind, group.skill, [(place.name, place.sure) for place in group.members]) for group in groups(FRACTIONS, members)]
    assert made == [
        ("practise", "parts", [("begins", True)]),
        ("practise", "addition", [("adds", True)]),
        ("practise", "division", [("divides", False)]),
        ("done", "", [("through", True)]),
        ("early", "", [("new", True)]),
    ]
    assert next_skills(FRACTIONS, members[1].skills) == ["parts", "equivalence"]


def test_levels_of_a_class():
    takers = [Member("", outcome(1, **TOP).skills), Member("", outcome(2, **TOP | {"parts": ("no", False)}).skills)]
    takers.append(
        Member(
            "hardly began",
            {"parts": replace(finding("parts", "yes"), answers=1)}
            | {skill: found for skill, found in outcome(3, **TOP).skills.items() if skill != "parts"},
        )
    )
    assert spread(FRACTIONS, takers)["parts"] == [("no", 1, 0), ("yes", 1, 1)]


def test_the_live_view(app, database):
    code = give(database, by_list=True, title="A <i>test</i>")
    with database.work() as work:
        test = publishing.published_by(work, teachers.owner(work, ""))[0]
        listed = class_lists.add_pupils(work, test, ["Ada <b>", "Bob", "Eve", "Kim", "Zoe"])
        codes = {pupil.name: pupil.code for pupil in listed}
    take(database, codes["Ada <b>"], "", 4)
    long_ago(database, take(database, codes["Bob"], "", 1), 5)
    long_ago(database, take(database, codes["Eve"], "", 2), 40)
    take(database, codes["Kim"], "", 3)
    assert code
    page = sign_in(app, database).go(f"/teacher/tests/{test.id}/live")
    rows = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"<tr>.*?</tr>", page.text, re.S)]
    assert rows[1].startswith("Bob stuck 2 5 min ")
    assert rows[2].startswith("Eve gone 3 40 min ")
    assert rows[3].startswith("Kim on it 4 just now ")
    assert rows[4].startswith("Ada &lt;b&gt; finished 4 just now 0 / 1 yes&nbsp; ?")
    assert rows[5] == "Zoe not begun – – – –"
    assert 'data-said="1 stuck, 1 gone, 1 on it, 1 finished, 1 not begun"' in page.text
    assert "<b>" not in page.text
    assert "<i>" not in page.text
    assert "style=" not in page.text
    assert re.search(r'<td class="shaded shade\d unsure" lang="en">\w+&nbsp;<abbr title="not yet sure">\?</abbr></td>', page.text)
    assert "no answer for 15 minutes" in words(page)
    assert '<noscript><meta http-equiv="refresh"' in page.text


def test_a_level_has_one_colour_in_all_pages_however_sure(app, database):
    """The colour tells the level; how sure it is, a question mark and a dashed edge tell."""
    code = give(database)
    given = {"Ada": ["1/8", "three", "1", "Rome"], "Bob": ["1/8", "three", "7/2", "Rome"], "Eve": ["3/4", ["two", "four"], "7/2", "Paris"]}
    given["Kim"] = ["3/4", "three", "7/2", "Paris"]
    for name, entries in given.items():
        with database.work() as work:
            attempt = taking.enter(work, code, name)
            for step, entry in enumerate(entries, 1):
                taking.answer(work, attempt, step, entry)
    browser = sign_in(app, database)
    live = re.findall(r'<td class="shaded (shade\d)[^>]*>(\w+)', browser.go("/teacher/tests/1/live").text)
    assert len(live) == 4
    assert len({level for _, level in live}) < 4
    report = browser.go("/teacher/tests/1/report?pupils=yes").text
    samples = re.findall(r'<span class="sample (shade\d)[^>]*>(\w+)', report)
    keys = re.findall(r'<span class="key (shade\d)"></span><span lang="en">(\w+)<', report)
    assert {(shade, level) for shade, level in [*live, *samples]} <= set(keys)
    assert [level for _, level in keys] == ["no", "partly", "yes"]
    assert len({shade for shade, _ in keys}) == 3


def test_rows_are_sent_only_when_they_changed(app, database):
    browser = sign_in(app, database)
    code = give(database)
    assert "Nobody has begun the test yet." in words(browser.go("/teacher/tests/1/live"))
    seen = set()
    for name in ("Ada", "Bob"):
        take(database, code, name, 1)
        page = browser.go("/teacher/tests/1/live/rows")
        assert "<html" not in page.text
        mark = re.search(r'data-mark="(\w+)"', page.text)[1]
        assert mark not in seen
        seen.add(mark)
        assert browser.go(f"/teacher/tests/1/live/rows?mark={mark}").status_code in (204, 200)  # 200 when a minute begins just now


def test_the_pulse_follows_answers_and_minutes(database, monkeypatch):
    code = give(database)
    moment = now().replace(second=10)
    monkeypatch.setattr(answers, "now", lambda: moment)

    def pulse():
        with database.read() as work:
            return answers.pulse(work, work.get(Published, 1))

    seen = [pulse()]
    attempt = take(database, code, "Ada", 0)
    seen.append(pulse())
    with database.work() as work:
        taking.answer(work, work.get(Attempt, attempt), 1, "3/4")
    seen.append(pulse())
    assert pulse() == seen[-1]
    monkeypatch.setattr(answers, "now", lambda: moment + timedelta(minutes=1))
    seen.append(pulse())
    assert len(set(seen)) == 4


def test_only_the_own_tests(app, database):
    give(database)
    with database.work() as work:
        work.add(publishing.Teacher(email="other@school.example", name="", password=None, is_owner=False, created=START))
    stranger = sign_in(app, database, "other@school.example")
    for path in ("live", "live/rows", "live/events", "questions", "report"):
        assert stranger.go(f"/teacher/tests/1/{path}").status_code == 404
        assert Browser(app).client.get(f"/teacher/tests/1/{path}", follow_redirects=False).headers["location"].endswith("/sign-in")


class Stream:
    """A client of the stream that reads while it is being sent, and may go away."""

    def __init__(self, app, cookie, path):
        self.app, self.parts, self.gone = app, asyncio.Queue(), asyncio.Event()
        headers = [(b"cookie", f"teacher={cookie}".encode()), (b"host", b"localhost")]
        self.scope = {
            **{"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers},
            **{"http_version": "1.1", "scheme": "http", "root_path": "", "server": ("localhost", 80), "client": ("here", 1)},
            "asgi": {"version": "3.0", "spec_version": "2.3"},
        }
        self.task = asyncio.create_task(app(self.scope, self.receive, self.send))
        self.begun = False

    async def receive(self):
        if not self.begun:
            self.begun = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        if message["type"] == "http.response.start":
            self.headers = dict(message["headers"])
        elif message.get("body"):
            await self.parts.put(message["body"].decode())

    async def part(self):
        return await asyncio.wait_for(self.parts.get(), 20)


def test_the_stream_tells_when_something_changed(app, database, monkeypatch):
    monkeypatch.setattr(live, "LOOK", 0.05)
    monkeypatch.setattr(live, "BEAT", 0.2)
    code = give(database)
    browser = sign_in(app, database)
    cookie = browser.client.cookies["teacher"]

    async def watch():
        stream = Stream(app, cookie, "/teacher/tests/1/live/events")
        assert await stream.part() == "retry: 5000\n\n"
        first = await stream.part()
        assert re.fullmatch(r"id: (\w+)\nevent: changed\ndata: \1\n\n", first)
        assert stream.headers[b"content-type"].startswith(b"text/event-stream")
        assert await stream.part() == ": still here\n\n"
        waiting = [database.engine.pool.checkedout() for _ in range(20) if await asyncio.sleep(0.01) is None]
        assert min(waiting) == 0
        await asyncio.to_thread(take, database, code, "Ada", 1)
        told = [await stream.part() for _ in range(3)]
        assert any("event: changed" in part and part != first for part in told)
        stream.gone.set()
        await asyncio.wait_for(stream.task, 20)

        again = Stream(app, cookie, "/teacher/tests/1/live/events")
        await again.part()
        with database.work() as work:
            teachers.log_out(work, cookie)
        await asyncio.wait_for(again.task, 20)

    asyncio.run(watch())
