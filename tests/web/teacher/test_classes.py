"""Pages of classes: made once, used by tests; one code, growth, what is kept of a child."""

import io
import json
import re
from html import unescape
from zipfile import ZipFile

import pytest
from openpyxl import Workbook

from helpers.teacher_pages import count, one, put_test
from quaestor.store.attempts.taking import answer, enter, state_of
from quaestor.store.models import Attempt, Published, Pupil, SchoolClass


@pytest.fixture
def where(ada):
    """The address of a class of three."""
    return ada.fill("/teacher/classes", {"title": "5a", "names": "Anna\nBen\nCleo"}).headers["location"]


def zipped(names="Ann,One\nBo,Two\n", more=""):
    made = io.BytesIO()
    users = "".join(f"u{number},,true,student,{name},secret\n" for number, name in enumerate(names.split()))
    with ZipFile(made, "w") as packed:
        packed.writestr("classes.csv", "sourcedId,status,title\nc1,,6b\nc2,,6c\n")
        packed.writestr("users.csv", f"sourcedId,status,enabledUser,role,givenName,familyName,password\n{users}")
        rows = f"e1,,c1,u0,student\ne2,,c2,u1,student\ne3,,c1,u9,\n{more}"
        packed.writestr("enrollments.csv", f"sourcedId,status,classSourcedId,userSourcedId,role\n{rows}")
    return made.getvalue()


def take(kept, name, test, right=True):
    with kept.work() as work:
        attempt = enter(work, work.query(Pupil).filter_by(name=name).one().code, test=test)
        while not (now := state_of(work, attempt)).over:
            answer(work, attempt, now.step, {"Q1": ("15", "50"), "Q2": ("11", "12")}[now.session.next.id][right])
    return attempt


def publish(kept, ada, **fields):
    response = put_test(ada, **{"by_list": "yes", "class": "1", **fields})
    assert response.status_code == 303, response.text
    return int(response.headers["location"].rpartition("/")[2])


def test_a_class_is_made_by_hand_and_from_a_file(kept, ada, where):
    assert where == "/teacher/classes/1"
    page = ada.get(where).text
    assert all(name in page for name in ("5a", "Anna", "Ben", "Cleo"))
    assert "No test yet" in page
    assert "5a" in ada.get("/teacher/classes").text
    book = Workbook()
    for row in (["First name", "Last name"], ["Dora", "Eid"]):
        book.active.append(row)
    made = io.BytesIO()
    book.save(made)
    response = ada.fill(f"{where}/pupils", {"names": "ben"}, files=[("file", ("list.xlsx", made.getvalue()))])
    page = ada.get(response.headers["location"]).text
    assert "1 name was added to the class list. 1 name was on the list already and was not added again: ben." in page
    assert "Dora Eid" in page
    assert "were added" not in ada.get(where).text
    cards = ada.get(f"{where}/cards").text
    assert cards.count('class="qr"') == 4


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"title": "", "names": "Anna"}, "Please enter what the class is called"),
        ({"title": "5a", "names": "Anna\nanna"}, "This name stands there more than once"),
        ({"title": "5a", "names": "=1+1"}, "A name does not begin with =, + or @, as a formula does, got '=1+1' (line 1)"),
    ],
)
def test_a_class_that_cannot_be_made_is_told_and_nothing_is_lost(kept, ada, sent, words):
    page = ada.fill("/teacher/classes", sent)
    assert page.status_code == 400
    assert words in unescape(page.text)
    assert sent["names"] in unescape(page.text)
    assert (count(kept, SchoolClass), count(kept, Pupil)) == (0, 0)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("list.zip", b"PK nothing", "The file is no zip that can be read"),
        ("list.xlsx", b"PK nothing", "The file is no valid XLSX workbook"),
        ("list.csv", b"\x81\x8d", "The file is no text that can be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(ada, where, name, content, words):
    for path in ("/teacher/classes", f"{where}/pupils"):
        page = ada.fill(path, {"title": "6a", "names": "Zoe"}, files=[("file", (name, content))])
        assert page.status_code == 400
        assert words in page.text
        assert "Zoe" in page.text


def test_a_roster_is_shown_before_it_is_taken(kept, ada):
    page = ada.fill("/teacher/classes", {"title": ""}, files=[("file", ("roster.zip", zipped()))])
    assert page.status_code == 200
    assert "1 enrolment names somebody who is not in the file: e3 (u9)." in page.text
    assert "secret" not in page.text
    assert count(kept, SchoolClass) == 0
    carried = unescape(re.search(r'name="roster" value="([^"]*)"', page.text)[1])
    assert ada.fill("/teacher/classes/roster", {"roster": carried, "class": ["c1"]}).headers["location"] == "/teacher/classes"
    assert "1 class is up to date: 1 pupil was added." in ada.get("/teacher/classes").text
    assert (one(kept, SchoolClass).title, one(kept, Pupil).name, one(kept, Pupil).source) == ("6b", "Ann One", "u0")
    assert "did not arrive whole" in ada.fill("/teacher/classes/roster", {"roster": "[{}]"}).text
    page = ada.fill("/teacher/classes/1/pupils", {"names": ""}, files=[("file", ("roster.zip", zipped()))])
    assert "send it on the page of all classes" in page.text


def test_who_is_in_two_classes_is_named_linked_and_erased_on_both_lists(kept, ada):
    twice = "e4,,c2,u0,student\n"
    page = ada.fill("/teacher/classes", {"title": ""}, files=[("file", ("roster.zip", zipped(more=twice)))])
    assert "1 pupil is in several of these classes: Ann One." in page.text
    carried = unescape(re.search(r'name="roster" value="([^"]*)"', page.text)[1])
    ada.fill("/teacher/classes/roster", {"roster": carried, "class": ["c1", "c2"]})
    with kept.read() as work:
        first, second = work.query(Pupil).filter_by(name="Ann One").order_by(Pupil.id)
    where = [f"/teacher/classes/{one.class_id}/pupils/{one.id}" for one in (first, second)]
    assert f'href="{where[1]}"' in ada.get(where[0]).text
    assert f'href="{where[0]}"' in ada.get(where[1]).text
    assert json.loads(ada.get(f"{where[0]}/data.json").content)["also_in"] == [{"name": "Ann One", "code": second.code, "class": "6c"}]
    assert second.code in ada.get(f"{where[0]}/data").text
    assert "The same on the list of 6c" in ada.get(f"{where[0]}/erase").text
    ada.fill(f"{where[0]}/erase", {"name": "Ann One"})
    assert [ada.get(path).status_code for path in where] == [404, 404]
    assert one(kept, Pupil).name == "Bo Two"


def test_erasing_a_class_leaves_other_lists_alone(kept, ada):
    page = ada.fill("/teacher/classes", {"title": ""}, files=[("file", ("roster.zip", zipped(more="e4,,c2,u0,student\n")))])
    carried = unescape(re.search(r'name="roster" value="([^"]*)"', page.text)[1])
    ada.fill("/teacher/classes/roster", {"roster": carried, "class": ["c1", "c2"]})
    assert ada.fill("/teacher/classes/1/delete", {"title": "6b"}).status_code == 303
    with kept.read() as work:
        assert sorted(pupil.name for pupil in work.query(Pupil)) == ["Ann One", "Bo Two"]


def test_a_test_is_published_for_a_class_and_one_code_opens_all(kept, ada, visit, where):
    first = publish(kept, ada, title="Autumn")
    with kept.read() as work:
        assert work.get(Published, first).class_id == 1
        code = work.query(Pupil).filter_by(name="Anna").one().code
    pupil = visit()
    assert "Begin" in pupil.get(f"/c/{code}").text
    second = publish(kept, ada, title="Winter", minutes="20")
    page = pupil.get(f"/c/{code}").text
    assert all(words in page for words in ("Hello, Anna.", "Autumn", "Winter"))
    assert pupil.fill("/enter", {"code": code}).headers["location"] == f"/c/{code}"
    ada.fill(f"{where}/pupils/1/time", {"factor": "1.5"})
    page = pupil.get(f"/c/{code}?test={second}").text
    assert "You have 30 minutes." in page
    begun = pupil.fill("/enter", {"code": code, "test": second, "once": "x"})
    assert begun.headers["location"] == f"/take/{one(kept, Attempt).id}"
    assert one(kept, Attempt).test_id == second
    page = ada.get(where).text
    assert all(words in page for words in ("Autumn", "Winter", "time × 1.5"))
    assert pupil.get(f"/c/{code}?test=99").status_code == 200  # the list again
    assert "class" in ada.get(f"/teacher/tests/{second}").text
    assert ada.fill("/teacher/banks/1/publish", {"title": "x", "class": "99"}).status_code == 400


def test_a_test_without_a_class_gets_one(kept, ada, where):
    test = put_test(ada, title="Later").headers["location"]
    assert "One of your classes takes it" in ada.get(test).text
    assert ada.fill(f"{test}/class", {"class": "1"}).status_code == 303
    page = ada.get(test).text
    assert "One of your classes takes it" not in page
    assert "Anna" in page
    assert ada.fill(f"{test}/class", {"class": "1"}).status_code == 400
    assert ada.fill(f"{test}/class", {"class": "x"}).status_code == 404


def test_growth_is_a_picture_and_a_table(kept, ada, where):
    assert "Nothing to show yet" in ada.get(f"{where}/growth").text
    first, second = publish(kept, ada, title="Autumn"), publish(kept, ada, title="Winter", half_life="90")
    take(kept, "Anna", first, right=False)
    begun = take(kept, "Anna", second)
    page = unescape(ada.get(f"{where}/pupils/1").text)
    assert page.count('class="ladder"') == 1
    assert page.count('class="path"') == 1
    for words in ("Autumn", "→ Winter", "The same as a table", "began with what earlier tests told", "Two tests measured the same skill"):
        assert words in page
    page = unescape(ada.get(f"{where}/growth").text)
    assert page.count('class="ladder"') == 1
    assert "Pupils" in page
    page = unescape(ada.get(f"/teacher/tests/{second}/takers/{begun.id}").text)
    assert "Started from what was known" in page
    assert "Autumn: 0 days before, counts 100%" in page
    assert "after 90 days that counts half" in ada.get(f"/teacher/tests/{second}").text


def test_too_few_answers_draw_nothing(kept, ada, where):
    test = publish(kept, ada, title="Short", most="1")
    take(kept, "Anna", test)
    page = ada.get(f"{where}/pupils/1").text
    assert 'class="unknown"' in page
    assert 'class="is"' not in page
    assert "too few answers to tell" in page


def test_starting_from_what_is_known_is_a_choice_and_told(kept, ada, visit, where):
    response = put_test(ada, half_life="30")
    assert response.status_code == 400
    assert "choose a class" in response.text
    test = publish(kept, ada, title="Spring", half_life="30")
    with kept.read() as work:
        code = work.query(Pupil).filter_by(name="Ben").one().code
        assert work.get(Published, test).half_life == 30
    assert "This test starts from what your earlier tests showed" in visit().get(f"/c/{code}").text
    words = "this rests on what these showed as well"
    take(kept, "Ben", first := publish(kept, ada, title="Autumn"))
    take(kept, "Ben", test)
    assert words in ada.get(f"/teacher/tests/{test}/letters").text
    assert words not in ada.get(f"/teacher/tests/{first}/letters").text


def test_a_pupil_moves_is_renamed_and_a_class_archived(kept, ada, where):
    other = ada.fill("/teacher/classes", {"title": "5b"}).headers["location"]
    pupil = f"{where}/pupils/1"
    assert ada.fill(f"{pupil}/name", {"name": "Anna Berg"}).headers["location"] == pupil
    assert "there is a pupil called Ben" in ada.fill(f"{pupil}/name", {"name": "Ben"}).text.replace("There", "there")
    assert ada.fill(f"{pupil}/move", {"class": "2"}).headers["location"] == f"{other}/pupils/1"
    assert ada.get(pupil).status_code == 404
    assert "Anna Berg" in ada.get(other).text
    page = ada.get(f"{other}/growth").text  # even if Anna had finished tests of 5a
    assert "nobody has finished a test of this class" in page
    assert 'href="/teacher/banks"' in page.partition("<main")[2]
    assert ada.fill(f"{where}/archive").headers["location"] == where
    assert "Take the class up again" in ada.get(where).text
    assert "1 archived class" in ada.get("/teacher/classes").text
    assert "archived" in ada.fill(f"{other}/pupils/1/move", {"class": "1"}).text
    assert ada.fill(f"{where}/archive", {"over": "no"}).status_code == 303
    assert ada.fill(f"{where}/title", {"title": "6a"}).headers["location"] == where
    assert ada.fill(f"{where}/title", {"title": " "}).status_code == 400
    assert "nothing was erased" in ada.fill(f"{where}/delete", {"title": "5a"}).text
    assert ada.fill(f"{where}/delete", {"title": "6a"}).headers["location"] == "/teacher/classes"
    assert ada.get(where).status_code == 404


def test_what_is_kept_of_a_child_is_read_and_erased(kept, ada, where):
    test = publish(kept, ada, title="Autumn", by_list="no")
    take(kept, "Anna", test)
    with kept.work() as work:
        loose = [enter(work, work.get(Published, test).code, name).id for name in ("anna", "ANNA")]
    pupil = f"{where}/pupils/1"
    page = ada.get(f"{pupil}/data").text
    assert all(words in page for words in ("Autumn", "Q1", "What is", "50", "multiplication", "no more than the others"))
    assert "<math" in page
    assert "$" not in page
    assert not re.search(r"\d{4}-\d{2}-\d{2}", page.partition("<main")[2])
    found = json.loads(ada.get(f"{pupil}/data.json").content)
    assert found["name"] == "Anna"
    assert {line["question"]: line["entry"] for line in found["attempts"][0]["log"]} == {"Q1": "50", "Q2": "12"}  # whichever came first
    page = ada.get(f"{pupil}/erase").text
    assert all(f'value="{number}"' in page for number in loose)
    assert "back-ups" in page
    assert ada.fill(f"{pupil}/erase", {"name": "Anna", "also": str(loose[0])}).headers["location"] == where
    with kept.read() as work:
        assert [attempt.id for attempt in work.query(Attempt)] == [loose[1]]
    assert ada.get(pupil).status_code == 404


def test_deleting_a_test_may_erase_its_own_list(kept, ada, where):
    test = publish(kept, ada, title="Autumn")
    assert "Erase the class list 5a too" in ada.get(f"/teacher/tests/{test}/delete").text
    with kept.read() as work:
        code = work.get(Published, test).code
    assert ada.fill(f"/teacher/tests/{test}/delete", {"code": code, "class": "1"}).headers["location"] == "/teacher"
    assert (count(kept, SchoolClass), count(kept, Pupil), count(kept, Published)) == (0, 0, 0)
