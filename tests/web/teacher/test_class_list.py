"""A class list: names that stand there twice are refused, those on the list already are told, and a test for a list has one way in."""

import re
import tracemalloc
from html import unescape

import pytest

from helpers.teacher_pages import count, one, put_test
from quaestor.store.models import Published, Pupil
from quaestor.web.teacher import class_list


@pytest.fixture
def where(ada):
    return put_test(ada).headers["location"]


def sent(ada, where, names, **more):
    """The response to names that were sent, and the page after it."""
    response = ada.fill(f"{where}/pupils", {"names": names}, **more)
    page = ada.get(response.headers["location"]) if response.status_code == 303 else response
    return response, unescape(page.text)


def field(page):
    return re.search(r'<textarea id="names"[^>]*>(.*?)</textarea>', page, re.S)[1]


def test_equal_names_are_refused_with_their_lines_and_kept(kept, ada, where):
    names = "Anna Berg\nBen\nCleo\n\nANNA  berg\nDora\nBen\nBen"
    response, page = sent(ada, where, names)
    assert response.status_code == 303
    words = "These names stand there more than once: Anna Berg (lines 1 and 4) and Ben (lines 2, 6 and 7); add what tells them apart."
    assert words in page
    assert field(page).split("\n") == ["Anna Berg", "Ben", "Cleo", "ANNA berg", "Dora", "Ben", "Ben"]
    assert count(kept, Pupil) == 0
    _, page = sent(ada, where, "Anna Berg\nCleo\nAnna Berg (7b)")
    assert "3 names were added to the class list." in page
    assert "more than once" not in page
    assert field(page) == ""
    assert "were added" not in ada.get(where).text


def test_a_name_in_the_field_and_in_the_file(kept, ada, where):
    file = ("file", ("class.csv", b"first name,last name\nBen,Ott\nAnna,Berg\n"))
    _, page = sent(ada, where, "Anna Berg", files=[file])
    assert "This name stands there more than once: Anna Berg (lines 1 and 3); add what tells them apart." in page
    assert field(page).split("\n") == ["Anna Berg", "Ben Ott", "Anna Berg"]


def test_many_equal_names_are_counted(ada, where):
    _, page = sent(ada, where, "\n".join([f"Pupil {number}" for number in range(12)] * 2))
    assert page.count("(lines ") == 10
    assert "Pupil 9 (lines 10 and 22) and 2 more; add what tells them apart." in page


def test_names_on_the_list_already_are_told(kept, ada, where):
    sent(ada, where, "Anna Berg\nBen")
    _, page = sent(ada, where, "ben\nCleo\nanna berg")
    told = "1 name was added to the class list. 2 names were on the list already and were not added again: ben and anna berg."
    assert told in page
    assert count(kept, Pupil) == 3
    _, page = sent(ada, where, "Cleo")
    assert "0 names were added to the class list. 1 name was on the list already and was not added again: Cleo." in page


def test_a_long_list_that_is_refused_is_kept_too(ada, where):
    """Names of a whole year fit into the note; more come back on the page itself, and sending that again changes nothing."""
    for length, status in ((200, 303), (1900, 400)):
        names = [f"{number * 7919 % 100_003:05} Pupil" for number in range(length)]
        response, page = sent(ada, where, "\n".join([*names, names[0]]))
        assert response.status_code == status
        assert f"(lines 1 and {length + 1})" in page
        assert field(page).split("\n") == [*names, names[0]]


def test_a_class_list_test_shows_a_link_that_asks_for_ones_own_code_and_no_shared_code(kept, ada, visit):
    where = put_test(ada, by_list="yes").headers["location"]
    code = one(kept, Published).code
    page = ada.get(where).text
    assert "This link is the same for all: it asks for one’s own code." in page
    assert f"http://localhost/c/{code}" in page
    assert f">{code}<" not in page
    for path in ("/teacher", "/teacher/banks/1"):
        assert code not in ada.get(path).text
        assert "own codes" in ada.get(path).text
    pupil = visit().get(f"/c/{code}").text
    assert "Enter your own code: it is on your card." in pupil
    assert re.search(r'<input id="code" name="code"', pupil)
    assert 'name="once"' not in pupil


def test_a_file_of_empty_lines_takes_no_memory():
    tracemalloc.start()
    try:
        assert class_list.from_file("class.csv", b"name\n" + b"\n" * 200_000 + b"Ada\n") == ["Ada"]
        assert tracemalloc.get_traced_memory()[1] < 5_000_000  # a list a line would take three times as much
    finally:
        tracemalloc.stop()
