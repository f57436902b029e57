"""Classes above tests: one list and one code for many tests, more time that follows, moving, growing, starting from what is known."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

import quaestor as qs
from helpers.databases import KINDS
from quaestor.errors import QuaestorError
from quaestor.formats.oneroster import RosterClass, RosterPupil
from quaestor.store import clock, job_queue, leaving, publishing, sharing, teachers, timing
from quaestor.store.attempts import starting, taking
from quaestor.store.attempts.invitations import ChoiceError, EntryError, UnknownCodeError, choices_of, invited
from quaestor.store.attempts.session_cache import forget_all, start_of
from quaestor.store.classes import child, class_lists, growth, rosters
from quaestor.store.models import Attempt, Event, Published, Pupil, Reply, SchoolClass, Scoring, Teacher, Token
from quaestor.store.outcomes import verify
from quaestor.store.publishing import Conditions, MissingError

SKILLS = {"angles": {"levels": ["low", "high"], "prior": [0.5, 0.5]}}
NAMES = ["Ada", "Bob", "Cem"]


def bank(title="Angles", first=0, levels=("low", "high")):
    questions = {
        f"Q{number}": {"text": f"{number}?", "kind": "number", "correct": 1, "skill": "angles", "right": [0.3, 0.8]}
        for number in range(first, first + 4)
    }
    skills = {"angles": {**SKILLS["angles"], "levels": list(levels)}}
    return qs.Bank({"title": title, "skills": skills, "questions": questions})


class Year:
    """A teacher with a class, and tests for it."""

    def __init__(self, database):
        self.database = database
        with database.work() as work:
            self.teacher = teachers.owner(work, "owner@school.example")
            self.number = class_lists.make_class(work, self.teacher, "5a").id
            self.codes = {one.name: one.code for one in class_lists.add_names(work, work.get(SchoolClass, self.number), NAMES)}

    def publish(self, title="", questions=3, of=None, **conditions):
        with self.database.work() as work:
            kept = publishing.keep_bank(work, work.get(Teacher, self.teacher.id), of or bank())
            rules = qs.Rules(score="order", stop=qs.max_questions(questions))
            by = {"by_list": True, "class_id": self.number, **conditions}
            return publishing.publish(work, work.get(Teacher, self.teacher.id), kept, rules, Conditions(**by), title)

    def take(self, name, test, right=3, questions=3):
        with self.database.work() as work:
            attempt = taking.enter(work, self.codes[name], test=test.id)
            for step in range(1, questions + 1):
                taking.answer(work, attempt, step, "1" if step <= right else "2")
        return attempt.id

    def pupil(self, work, name):
        return work.scalars(select(Pupil).where(Pupil.name == name)).one()


EVERYWHERE = pytest.mark.parametrize("year", KINDS, indirect=True)


@pytest.fixture
def year(make_database, request):
    """On SQLite, or, for the tests that are marked so, on every kind of database."""
    return Year(make_database(getattr(request, "param", "sqlite")))


def opened(year, name):
    with year.database.read() as work:
        return [one.test.title for one in choices_of(work, year.pupil(work, name))]


# One code for all tests


@EVERYWHERE
def test_one_code_opens_all_tests_of_the_class(year):
    first = year.publish("Autumn")
    with year.database.read() as work:
        assert invited(work, year.codes["Ada"]).test.id == first.id
    second = year.publish("Winter")
    with year.database.read() as work, pytest.raises(ChoiceError, match="your code opens several tests; please choose one") as error:
        invited(work, year.codes["Ada"])
    assert [one.test.title for one in error.value.choices] == ["Winter", "Autumn"]
    numbers = [year.take("Ada", first), year.take("Ada", second, right=0)]
    with year.database.read() as work:
        assert [work.get(Attempt, number).test_id for number in numbers] == [first.id, second.id]
        assert {work.get(Attempt, number).pupil_id for number in numbers} == {year.pupil(work, "Ada").id}
        assert invited(work, year.codes["Ada"], test=first.id).over
        assert invited(work, year.codes["Bob"], test=first.id).may_begin
    other = year.publish("Not for them", class_id=None)
    with year.database.work() as work, pytest.raises(ChoiceError):
        taking.enter(work, year.codes["Ada"], test=other.id)


def test_a_closed_test_stays_with_those_who_took_it(year):
    test, later = year.publish("Autumn"), year.publish("Winter")
    year.take("Ada", test)
    with year.database.work() as work:
        timing.close(work, work.get(Published, test.id))
    assert (opened(year, "Ada"), opened(year, "Bob")) == (["Winter", "Autumn"], ["Winter"])
    with year.database.work() as work:
        timing.close(work, work.get(Published, later.id))
        found = invited(work, year.codes["Bob"])
        assert (found.test.title, str(found.shut)) == ("Winter", "this test is closed")
        class_lists.archive(work.get(SchoolClass, year.number))
    assert (opened(year, "Ada"), opened(year, "Bob")) == (["Autumn"], [])
    with year.database.read() as work, pytest.raises(ChoiceError, match="no test is open for you at present"):
        invited(work, year.codes["Bob"])


@EVERYWHERE
def test_a_pupil_moves_with_all_that_they_did(year):
    test = year.publish("Autumn")
    year.take("Ada", test)
    with year.database.work() as work:
        teacher = work.get(Teacher, year.teacher.id)
        other = class_lists.make_class(work, teacher, "5b")
        class_lists.move(work, year.pupil(work, "Ada"), other)
        class_lists.add_names(work, other, ["Bob"])
        with pytest.raises(QuaestorError, match="there is a pupil called Bob in this class already"):
            class_lists.move(work, work.scalars(select(Pupil).where(Pupil.code == year.codes["Bob"])).one(), other)
    there = year.publish("For 5b", class_id=other.id)
    year.publish("For 5a")
    assert opened(year, "Ada") == ["For 5b", "Autumn"]
    year.take("Ada", there, right=0)
    with year.database.read() as work:
        (angles,) = growth.growth_of(work, year.pupil(work, "Ada"))
        assert [point.title for point in angles.points] == ["Autumn", "For 5b"]
        (of_class,) = growth.class_growth(work, work.get(SchoolClass, year.number))
        assert [(point.title, point.pupils) for point in of_class.points] == [("Autumn", 1)]


@EVERYWHERE
def test_more_time_follows_into_every_test_with_a_limit(year):
    first, second = year.publish("Autumn", minutes=20), year.publish("Winter", closes=clock.now() + timedelta(days=1))
    with year.database.work() as work:
        timing.give_time(work, year.pupil(work, "Ada"), 5, 1.5)
        with pytest.raises(QuaestorError, match=r"factor: one of 1, 1\.25, 1\.5, 2, got 3"):
            timing.give_time(work, year.pupil(work, "Bob"), 0, 3)
    with year.database.work() as work:
        mine = taking.enter(work, year.codes["Ada"], test=first.id)
        other = taking.enter(work, year.codes["Bob"], test=first.id)
        unlimited = taking.enter(work, year.codes["Ada"], test=second.id)
        assert mine.due - mine.started == timedelta(minutes=35)
        assert other.due - other.started == timedelta(minutes=20)
        assert unlimited.due == second.closes + timedelta(minutes=5)
        timing.change_time(work, work.get(Published, first.id), 40, None)
        timing.give_time(work, year.pupil(work, "Ada"), 0, 2)
    with year.database.read() as work:
        found = work.get(Attempt, mine.id)
        assert found.due - found.started == timedelta(minutes=80)


# Classes


def test_a_class_belongs_to_its_teacher(year):
    with year.database.work() as work:
        link = teachers.invitation(work, work.get(Teacher, year.teacher.id), "other@school.example")
        other = teachers.use_link(work, link)
        with pytest.raises(MissingError, match="there is no such class"):
            sharing.class_for(work, other, year.number)
        kept, mine = publishing.keep_bank(work, other, bank()), class_lists.make_class(work, other, "Mine")
        with pytest.raises(MissingError, match="there is no such class"):
            publishing.publish(work, other, kept, qs.Rules(), Conditions(class_id=year.number))
        with pytest.raises(MissingError, match="there is no such pupil"):
            class_lists.pupil_in(work, mine, year.pupil(work, "Ada").id)
        leaving.remove(work, other.id, work.get(Teacher, year.teacher.id))
        assert work.get(SchoolClass, mine.id, populate_existing=True).teacher_id == year.teacher.id


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({"half_life": 0}, "half_life: a number of days above 0 and at most 3650, got 0"),
        ({"half_life": float("nan")}, "half_life: a number of days above 0 and at most 3650, got nan"),
        ({"half_life": 30}, "half_life: only pupils of a class have earlier tests to start from"),
    ],
)
def test_conditions_are_checked(conditions, words):
    with pytest.raises(QuaestorError, match=words):
        Conditions(**conditions)


def test_an_archived_class_takes_no_test_and_nobody(year):
    with year.database.work() as work:
        found = work.get(SchoolClass, year.number)
        class_lists.archive(found)
        other = class_lists.make_class(work, work.get(Teacher, year.teacher.id), "5b")
        somebody = class_lists.add_names(work, other, ["Eve"])[0]
        with pytest.raises(QuaestorError, match="this class is archived"):
            class_lists.move(work, somebody, found)
    with pytest.raises(QuaestorError, match="this class is archived"):
        year.publish()
    with year.database.read() as work:
        teacher = work.get(Teacher, year.teacher.id)
        assert [one.title for one in class_lists.classes_of(work, teacher)] == ["5b"]
        assert [one.title for one in class_lists.classes_of(work, teacher, archived=True)] == ["5a"]


def test_names_are_changed_one_by_one(year):
    with year.database.work() as work:
        class_lists.rename_pupil(work, year.pupil(work, "Ada"), " Ada  Berg ")
        for name, words in (("", "please enter a name"), ("BOB", "there is a pupil called BOB"), ("=1", "does not begin with =")):
            with pytest.raises(QuaestorError, match=words):
                class_lists.rename_pupil(work, year.pupil(work, "Ada Berg"), name)
        with pytest.raises(QuaestorError, match="please enter what the class is called"):
            class_lists.rename_class(work.get(SchoolClass, year.number), " ")


@EVERYWHERE
def test_a_roster_is_brought_up_to_date(year):
    def take(*classes):
        with year.database.work() as work:
            return rosters.take_classes(work, work.get(Teacher, year.teacher.id), classes)

    pupils = [RosterPupil(f"u{number}", f"Pupil {number}") for number in range(4)]
    one, two = RosterClass("c1", "5c", tuple(pupils[:2])), RosterClass("c2", "5d", tuple(pupils[2:]))
    assert [(taken.found.title, taken.added) for taken in take(one, two)] == [("5c", 2), ("5d", 2)]
    again = take(one, two)
    assert [(taken.added, taken.known) for taken in again] == [(0, 2), (0, 2)]
    moved = take(RosterClass("c1", "5c", tuple(pupils[:1])), RosterClass("c2", "5d", tuple(pupils[1:3])))
    assert [(taken.added, taken.moved, taken.known, taken.left) for taken in moved] == [(0, 0, 1, ()), (0, 1, 1, ("Pupil 3",))]
    with year.database.read() as work:
        assert work.scalar(select(func.count()).where(Pupil.source == "u1")) == 1
        assert work.scalar(select(func.count()).select_from(SchoolClass)) == 3


# Growth


@EVERYWHERE
def test_growth_names_no_level_where_there_were_too_few_answers(year):
    short, whole = year.publish("Short", questions=1), year.publish("Whole")
    year.take("Ada", short, questions=1)
    year.take("Ada", whole)
    year.take("Bob", whole, right=0)
    with year.database.read() as work:
        (angles,) = growth.growth_of(work, year.pupil(work, "Ada"))
        assert (angles.skill, angles.levels) == ("angles", ("low", "high"))
        assert [(point.is_known, point.level, point.answers) for point in angles.points] == [(False, "", 1), (True, "high", 3)]
        assert angles.points[1].lows == pytest.approx([0.027 / 0.539, 0.512 / 0.539])
        (of_class,) = growth.class_growth(work, work.get(SchoolClass, year.number))
        assert [(point.pupils, point.short) for point in of_class.points] == [(0, 1), (2, 0)]
        low = [0.027 / 0.539, 0.343 / 0.351]
        assert of_class.points[1].lows == pytest.approx([sum(low) / 2, 1 - sum(low) / 2])


def test_a_skill_with_other_levels_is_another_one(year):
    year.take("Ada", year.publish("Autumn"))
    year.take("Ada", year.publish("Winter", of=bank("Other", levels=("no", "yes"))))
    with year.database.read() as work:
        found = growth.growth_of(work, year.pupil(work, "Ada"))
        assert [(one.levels, len(one.points)) for one in found] == [(("low", "high"), 1), (("no", "yes"), 1)]


# Starting from what is known


def test_a_test_starts_from_what_is_known_only_where_that_was_chosen(year, monkeypatch):
    first = year.publish("Autumn")
    year.take("Ada", first)
    silent, chosen = year.publish("Winter"), year.publish("Spring", of=bank("Angles 2", first=4), half_life=30)
    moment = clock.now() + timedelta(days=30, hours=1)
    for module in (taking, starting):
        monkeypatch.setattr(module, "now", lambda: moment)
    with year.database.work() as work:
        plain = taking.enter(work, year.codes["Ada"], test=silent.id)
        begun = taking.enter(work, year.codes["Ada"], test=chosen.id)
        nobody = taking.enter(work, year.codes["Bob"], test=chosen.id)
        assert (plain.start, nobody.start) == (None, None)
        assert begun.start["tests"] == [{"test": first.id, "title": "Autumn", "days": 30, "counts": 0.5}]
        odds = (0.8 / 0.3) ** 1.5  # three right answers, which count half
        known = taking.state_of(work, begun).session.beliefs["angles"].lower
        assert known == pytest.approx([1 / (1 + odds), odds / (1 + odds)])
        assert taking.state_of(work, plain).session.beliefs["angles"].lower == pytest.approx([0.5, 0.5])


@EVERYWHERE
def test_what_was_started_from_is_stored_and_verified(year):
    year.take("Ada", year.publish("Autumn"))
    chosen = year.publish("Winter", half_life=30)
    number = year.take("Ada", chosen, right=0)
    forget_all()
    with year.database.read() as work:
        attempt = work.get(Attempt, number)
        session = taking.state_of(work, attempt).session
        assert session.start == start_of(attempt.start) != ()
        saved = qs.Session.from_json(session.bank, session.to_json())
        assert saved.beliefs["angles"].lower == pytest.approx(session.beliefs["angles"].lower)
        (row,) = verify.verify(work, work.get(Published, chosen.id))
        assert row.differences == ()
        (point,) = [one for one in growth.growth_of(work, year.pupil(work, "Ada"))[0].points if one.starts]
        assert point.title == "Winter"
    with year.database.work() as work:
        work.get(Attempt, number).start = None
    with year.database.read() as work:
        (row,) = verify.verify(work, work.get(Published, chosen.id))
        assert {what for what, _, _ in row.differences} >= {"angles lower", "angles upper"}


def test_what_is_looked_ahead_is_what_begins(year):
    from quaestor.store.attempts.entry import look_ahead

    year.take("Ada", year.publish("Autumn"))
    chosen = year.publish("Winter", half_life=30)
    with year.database.read() as work:
        first = look_ahead(work, year.codes["Ada"], 7, chosen.id)
    with year.database.work() as work:
        made = taking.enter(work, year.codes["Ada"], first=first, test=chosen.id)
        assert start_of(made.start) == first.start != ()


# One child


def test_all_that_is_kept_of_a_child_is_handed_out(year):
    test = year.publish("Autumn")
    year.take("Ada", test)
    with year.database.work() as work:
        timing.give_time(work, year.pupil(work, "Ada"), 0, 1.25)
    with year.database.read() as work:
        found = json.loads(json.dumps(child.export_child(work, year.pupil(work, "Ada"))))
    assert (found["name"], found["class"], found["code"], found["time_factor"]) == ("Ada", "5a", year.codes["Ada"], 1.25)
    assert [one["test"]["title"] for one in found["attempts"]] == ["Autumn"]
    assert found["growth"][0]["points"][0]["level"] == "high"
    assert "Bob" not in json.dumps(found)


@EVERYWHERE
def test_erasing_a_child_reaches_everything(year):
    first, second = year.publish("Autumn"), year.publish("Open to all", by_list=False)
    for test in (first, second):
        year.take("Ada", test)
    year.take("Bob", first)
    with year.database.work() as work:
        teacher = work.get(Teacher, year.teacher.id)
        mine = work.scalars(select(Attempt.id).where(Attempt.name == "Ada")).all()
        secret = teachers.api_token(work, teacher, "platform", ["sessions"])
        token = work.scalars(select(Token)).one()
        body = {"name": "Ada", "secret": secret[:4]}
        work.add(Reply(token_id=token.id, key="k", route="r", request="q", status=201, body=body, attempt_id=mine[0], created=clock.now()))
        job_queue.ask(work, teacher, "improve", "draft 1", {"draft": 1, "tests": [first.id]})
        job_queue.ask(work, teacher, "improve", "draft 2", {"draft": 2, "tests": [99]})
        loose = taking.enter(work, second.code, "ada")
        taking.answer(work, loose, 1, "1")
        (found,) = child.namesakes(work, teacher, year.pupil(work, "Ada"))
        assert found.id == loose.id
        class_lists.move(work, year.pupil(work, "Ada"), class_lists.make_class(work, teacher, "5b"))
    with year.database.work() as work:
        child.erase_child(work, year.pupil(work, "Ada"), child.namesakes(work, work.get(Teacher, year.teacher.id), year.pupil(work, "Ada")))
    with year.database.read() as work:
        assert work.scalars(select(Attempt.name)).all() == ["Bob"]
        assert set(work.scalars(select(Event.attempt_id))) == set(work.scalars(select(Attempt.id)))
        assert set(work.scalars(select(Scoring.attempt_id))) == set(work.scalars(select(Attempt.id)))
        assert work.scalars(select(Reply)).all() == []
        assert sorted(work.scalars(select(Pupil.name))) == ["Bob", "Cem"]
        assert [job.subject for job in work.scalars(select(job_queue.Job))] == ["draft 2"]
    with year.database.work() as work, pytest.raises(UnknownCodeError):
        taking.enter(work, year.codes["Ada"], "Ada")
    if year.database.is_file:
        for path in (year.database.engine.url.database, f"{year.database.engine.url.database}-wal"):
            content = Path(path).read_bytes()
            assert b"Ada" not in content
            assert year.codes["Ada"].encode() not in content


@EVERYWHERE
def test_a_class_is_erased_with_its_children_and_nobody_else(year):
    test = year.publish("Autumn", by_list=False)
    year.take("Ada", test)
    with year.database.work() as work:
        taking.enter(work, test.code, "A guest")
        assert child.erase_class(work, work.get(SchoolClass, year.number)) == 3
    with year.database.read() as work:
        assert work.scalars(select(Attempt.name)).all() == ["A guest"]
        assert [work.scalar(select(func.count()).select_from(table)) for table in (Pupil, SchoolClass)] == [0, 0]
        assert work.get(Published, test.id).class_id is None


@EVERYWHERE
def test_the_names_of_a_class_go_when_all_its_tests_are_long_past(year):
    from quaestor.store import privacy

    first, second = year.publish("Autumn", keep_days=30), year.publish("Winter", keep_days=300)
    year.take("Ada", first)
    year.take("Ada", second)

    def erase(days):
        with year.database.work() as work:
            return sum(privacy.erase_names(work, test, clock.now() + timedelta(days=days)) for test in privacy.forgetful(work))

    assert erase(days=31) == 2  # the attempt, and the pupil is untied from it
    with year.database.read() as work:
        assert [point.title for point in growth.growth_of(work, year.pupil(work, "Ada"))[0].points] == ["Winter"]
    assert erase(days=301) == 4  # the other attempt, and three names
    with year.database.read() as work:
        assert set(work.scalars(select(Pupil.name))) == {"erased"}
    assert erase(days=400) == 0
    with year.database.work() as work, pytest.raises(EntryError):
        taking.enter(work, year.codes["Ada"])


@EVERYWHERE
def test_class_lists_of_an_earlier_version_become_classes(year):
    """Back to when every test had a list of its own, and on again: who took what, and with which code, stays."""
    test = year.publish("Autumn")
    number = year.take("Ada", test)
    year.database.migrate("0005")
    year.database.migrate()
    with year.database.read() as work:
        found = work.scalars(select(SchoolClass)).one()
        assert (found.title, found.teacher_id) == ("Autumn", year.teacher.id)
        assert work.get(Published, test.id).class_id == found.id
        assert {one.name: one.code for one in class_lists.pupils_in(work, found.id)} == year.codes
        assert work.get(Attempt, number).pupil_id == year.pupil(work, "Ada").id
        assert invited(work, year.codes["Bob"]).test.id == test.id
