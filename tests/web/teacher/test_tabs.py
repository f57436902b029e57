"""The pages of a test: tabs that are links, and the page for the wall of a classroom."""

import re

import pytest

from helpers.teacher_pages import one, put_test, take
from quaestor.store.models import Published

TABS = ["Code", "Live", "Results", "Questions", "Report"]
WHERE = ["", "/live", "/results", "/questions", "/report"]


@pytest.mark.parametrize("at", range(5))
def test_every_page_of_a_test_has_the_same_tabs_and_marks_its_own(ada, at):
    test = put_test(ada).headers["location"]
    page = ada.get(f"{test}{WHERE[at]}").text
    tabs = re.search(r'<nav class="tabs.*?</nav>', page, re.DOTALL).group()
    links = re.findall(r'<a href="([^"]*)"( aria-current="page")?>.*?</svg> (\w+)</a>', tabs, re.DOTALL)
    assert [(where, name) for where, _, name in links] == [(test + where, name) for where, name in zip(WHERE, TABS, strict=True)]
    assert [bool(current) for _, current, _ in links] == [number == at for number in range(5)]


def test_the_wall_shows_the_code_and_how_many_are_in(kept, ada):
    test = put_test(ada).headers["location"]
    code = one(kept, Published).code
    page = ada.get(f"{test}/projector").text
    assert f'<p class="code wallcode">{code}</p>' in page
    assert 'class="qr"' in page
    assert "0 are in" in page
    mark = re.search(r'data-mark="([^"]*)"', page).group(1)
    assert ada.get(f"{test}/projector/count?mark={mark}").status_code == 204
    take(kept, "Bea")
    changed = ada.get(f"{test}/projector/count?mark={mark}")
    assert changed.status_code == 200
    assert "1 is in" in changed.text


def test_the_wall_counts_against_the_class_list(ada):
    test = put_test(ada).headers["location"]
    ada.fill(f"{test}/pupils", {"names": "Bea\nCem\nDan"})
    assert "0 of 3 are in" in ada.get(f"{test}/projector").text
