"""Deep linking and what else teachers do inside a platform: give an activity a test, fill the class list, connect an account."""

import html
import re

from sqlalchemy import select

import quaestor as qs
from helpers.lti_platform import DEEP, User
from helpers.lti_tool import RULES, TOOL, browser, counts, filled, inside, launch, published_for, registered
from quaestor.store import publishing, teachers
from quaestor.store.models import Published, Pupil, Teacher
from quaestor.store.platform_tables import Choice, Person, Placement, Seat
from quaestor.store.platforms import instructors


def answered(client, page, action="/lti/choose", **fields):
    """Send the choice; the message that goes to the platform, and the page that carries it."""
    target, sent = filled(page, action, **fields)
    reply = client.post(target, data=sent)
    assert reply.status_code == 200, reply.text
    return html.unescape(re.search(r'name="JWT" value="([^"]+)"', reply.text)[1]), reply


def test_a_picked_test_becomes_an_activity_that_opens_it(app, database, platform):
    number = registered(database, platform)
    test, _ = published_for(database, number, platform.users["tess"], title="Fractions & more")
    client = browser(app)
    page = inside(client, launch(client, platform, "tess"))
    assert "Fractions &amp; more" in page.text
    message, carrying = answered(client, page, test=str(test))
    assert f"form-action 'self' {platform.origin};" in carrying.headers["content-security-policy"]
    assert f'action="{platform.origin}/deep-return?course=1"' in carrying.text
    (item,) = platform.deep_response(message)[f"{DEEP}content_items"]
    assert (item["type"], item["title"], item["url"]) == ("ltiResourceLink", "Fractions & more", f"{TOOL}/lti/launch")
    assert item["lineItem"]["scoreMaximum"] == 100
    platform.place("picked", item)
    learner = browser(app)
    assert "Hello, Ada Lovelace" in inside(learner, launch(learner, platform, "ada", "picked")).text


def test_a_copied_course_opens_the_same_test_in_seats_of_its_own(app, database, platform, placed):
    platform.links["copy"] = platform.links["link-1"]
    for link in ("link-1", "copy"):
        inside(browser(app), launch(browser(app), platform, "ada", link))
    assert counts(database, Placement, Seat, Pupil) == [2, 2, 2]


def test_going_back_without_a_choice(app, database, platform):
    registered(database, platform)
    client = browser(app)
    message, _ = answered(client, inside(client, launch(client, platform, "tess")), "/lti/none")
    assert platform.deep_response(message)[f"{DEEP}content_items"] == []


def test_a_learner_picks_nothing(app, database, platform):
    registered(database, platform)
    assert launch(browser(app), platform, "ada").status_code == 400


def test_a_test_of_somebody_else_is_not_picked(app, database, platform, placed):
    platform.users["eve"] = User("eve", "Eve Else", ("Instructor",))
    client = browser(app)
    page = inside(client, launch(client, platform, "eve"))
    published_for(database, 1, platform.users["eve"], title="Hers")
    page = client.get(page.url)
    assert "Week 3" not in page.text
    target, fields = filled(page, "/lti/choose", test=str(placed))
    assert client.post(target, data=fields).status_code == 404
    assert counts(database, Choice) == [2]  # what the tests made themselves


def test_a_choice_opens_nothing_from_another_platform(app, database, platform, placed):
    """Somebody copies the custom parameter of a link into another platform."""
    registered(database, platform, client_id="another-client", deployments="9")
    with database.work() as work:
        work.scalars(select(Choice)).one().platform_id = 2
    assert "not made by this server" in launch(browser(app), platform, "ada", "link-1").text


def test_an_activity_made_by_hand_is_given_a_test(app, database, platform):
    number = registered(database, platform)
    test, _ = published_for(database, number, platform.users["tess"])
    platform.place("bare")
    client = browser(app)
    page = inside(client, launch(client, platform, "tess", "bare"))
    target, fields = filled(page, "/lti/choose", test=str(test))
    assert client.post(target, data=fields, follow_redirects=True).url.path.endswith(f"/teacher/tests/{test}")
    assert "Hello, Ada" in inside(browser(app), launch(browser(app), platform, "ada", "bare")).text


def test_another_teacher_takes_no_test_out_of_an_activity(app, database, platform, placed):
    platform.links["link-1"].custom = {}
    inside(browser(app), launch(browser(app), platform, "tess", "link-1"))
    with database.work() as work:
        work.scalars(select(Placement)).one().test_id = placed
    platform.users["eve"] = User("eve", "Eve Else", ("Instructor",))
    own, _ = published_for(database, 1, platform.users["eve"], title="Hers")
    client = browser(app)
    prefix = launch(client, platform, "eve", "link-1").headers["location"]
    page = client.get(f"{prefix}lti/choose")
    target, fields = filled(page, "/lti/choose", test=str(own))
    assert client.post(target, data=fields).status_code == 404
    with database.read() as work:
        assert work.scalars(select(Placement.test_id)).one() == placed


def test_the_learners_of_a_course_are_put_on_the_class_list(app, database, platform, placed):
    platform.users |= {name: User(name, name.title()) for name in ("bob", "cleo", "dan")}
    platform.users["dan"].status = "Inactive"
    client = browser(app)
    page = inside(client, launch(client, platform, "tess", "link-1"))
    for _ in range(2):  # twice is once
        target, fields = filled(page, "/members/1")
        page = client.post(target, data=fields, follow_redirects=True)
        assert page.status_code == 200
    with database.read() as work:
        assert sorted(work.scalars(select(Pupil.name))) == ["Ada Lovelace", "Bob", "Cleo"]
    assert platform.asked.count("POST /token") == 1
    assert not platform.complaints


def test_members_of_a_platform_that_is_away_are_told_so(app, platform, placed):
    client = browser(app)
    page = inside(client, launch(client, platform, "tess", "link-1"))
    platform.away = True
    target, fields = filled(page, "/members/1")
    reply = client.post(target, data=fields)
    assert reply.status_code == 400
    assert "access token" in reply.text


def account(database, email="grace@school.example"):
    """An account of somebody who has been here for longer, with a test."""
    with database.work() as work:
        made = Teacher(email=email, name="Grace", password=None, is_owner=False, created=publishing.now())
        work.add(made)
        work.flush()
        kept = publishing.keep_bank(work, made, qs.load("fractions"))
        publishing.publish(work, made, kept, RULES, publishing.Conditions(), "Mine")
        return made.id, teachers.log_in(work, made)


def test_an_account_is_connected_by_its_own_code(app, database, platform, placed):
    number, secret = account(database)
    signed_in = browser(app)
    signed_in.cookies.set("teacher", secret)
    page = signed_in.get("/teacher/account")
    target, fields = filled(page, "/teacher/account/connect")
    shown = signed_in.post(target, data=fields, follow_redirects=True)
    code = re.search(r'class="code bigcode">(\w+)<', shown.text)[1]
    client = browser(app)
    page = inside(client, launch(client, platform, "tess"))
    assert "Mine" not in page.text
    target, fields = filled(page, "/lti/connect", code=code.lower())
    page = client.post(target, data=fields, follow_redirects=True)
    assert "Mine" in page.text
    assert "Week 3" in page.text  # what was made there has come over
    with database.read() as work:
        person = work.scalars(select(Person)).one()
        assert (person.teacher_id, person.is_own) == (number, False)
        assert {test.teacher_id for test in work.scalars(select(Published))} == {number}
    again = inside(browser(app), launch(browser(app), platform, "tess"))
    assert "Mine" in again.text
    eve = browser(app)
    platform.users["eve"] = User("eve", "Eve", ("Instructor",))
    page = inside(eve, launch(eve, platform, "eve"))
    target, fields = filled(page, "/lti/connect", code=code)
    refused = eve.post(target, data=fields)
    assert "was used already" in refused.text
    assert "Mine" not in refused.text


def test_an_address_that_the_platform_states_connects_nothing(app, database, platform):
    registered(database, platform)
    account(database, "tess@school.example")
    true = platform.claims
    platform.claims = lambda *about: {**true(*about), "email": "tess@school.example", "email_verified": True}
    assert "Mine" not in inside(browser(app), launch(browser(app), platform, "tess")).text


def test_a_locked_teacher_does_not_come_in_by_the_platform(app, database, platform, placed):
    with database.work() as work:
        work.scalars(select(Teacher)).one().locked = publishing.now()
    assert "locked" in launch(browser(app), platform, "tess", "link-1").text


def test_codes_are_not_guessed(app, database, platform):
    registered(database, platform)
    client = browser(app)
    page = inside(client, launch(client, platform, "tess"))
    target, fields = filled(page, "/lti/connect", code="QQQQQQQQQQ")
    statuses = [client.post(target, data=fields).status_code for _ in range(12)]
    assert statuses[0] == 400
    assert statuses[-1] == 429
    assert instructors.LETTERS * 5 > 45  # bits of a code
