"""Forms as models: what is read, what is wrong and where it is said, and that nothing that anybody sends is more than wrong."""

import pkgutil
from importlib import import_module
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from starlette.datastructures import FormData

import quaestor.web
from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.publishing import MissingError
from quaestor.web.editor.part_pages import PartFields
from quaestor.web.render.language import translate
from quaestor.web.security.forms import (
    Filled,
    Form,
    FormError,
    Id,
    Line,
    Moment,
    Needed,
    Secret,
    Sure,
    again,
    at_clock,
    attempt,
    one_of,
    read,
    whole,
)


class Example(Form):
    title: Annotated[Line, Needed(say("please enter a title"))]
    count: Annotated[int | None, whole(1, 5)] = None
    kind: Annotated[str, one_of(("a", "b"))] = "a"
    many: list[str] = Field(default_factory=list)
    number: Id = 0
    password: Annotated[str, Secret()] = ""
    sure: Sure


GOOD = {"title": " One  title ", "sure": "yes"}


def test_a_form_is_read():
    sent = FormData([*GOOD.items(), ("count", "3"), ("many", "x"), ("many", " y"), ("number", "12"), ("password", " p "), ("else", "z")])
    found = read(Example, sent)
    assert (found.title, found.count, found.kind, found.many, found.number) == ("One title", 3, "a", ["x", " y"], 12)
    assert (found.password, found.sure) == (" p ", True)


@pytest.mark.parametrize("text", ["0", "6", "-1", "x", "1.5", "٣x", "9" * 50, "²"])
def test_all_that_is_wrong_is_said_at_once_each_beside_its_field(text):
    with pytest.raises(FormError) as found:
        read(Example, FormData({"count": text, "kind": "c", "title": "  "}))
    assert dict(found.value.wrong) == {
        "title": "please enter a title",
        "count": "please enter a whole number from 1 to 5",
        "kind": "please choose one of these",
        "sure": "please tick that you are sure",
    }
    assert translate("de", found.value.wrong["count"]) == "bitte geben Sie eine ganze Zahl von 1 bis 5 ein"


def test_a_form_comes_back_as_it_was_filled_in_without_its_secret():
    sent = FormData({"title": "x", "count": "many", "password": "secret"})
    with pytest.raises(FormError) as found:
        read(Example, sent)
    shown = again(found.value, Example, sent)
    assert (shown.filled["title"], shown.filled["count"], shown.filled["kind"]) == ("x", "many", "a")
    assert "password" not in shown.filled
    assert not shown.good
    assert Filled().filled["anything"] == ""


def test_what_the_store_finds_is_said_beside_the_field_that_it_names():
    sent = FormData(GOOD)
    assert again(QuaestorError.at("title", say("no")), Example, sent).wrong == {"title": "no"}
    assert again(QuaestorError.at("elsewhere", say("no")), Example, sent).wrong == {"form": "no"}
    assert again(QuaestorError(say("no")), Example, sent, "count").wrong == {"count": "no"}
    with pytest.raises(MissingError):
        again(MissingError("gone"), Example, sent)


class Timed(Form):
    at: Moment = None
    at_offset: str = ""


@pytest.mark.parametrize(
    ("text", "offset", "hour"),
    [("2026-09-01T08:00", "", 8), ("2026-09-01T08:00", "-120", 6), ("2026-09-01 08:00", "60", 9), ("2026-09-01", "99999", None)],
)
def test_a_moment_is_that_of_the_browsers_clock(text, offset, hour):
    sent = at_clock({"at": text, "at_offset": offset}, "at")
    if hour is None:
        with pytest.raises(ValueError, match="date and a time"):
            Timed.model_validate(sent)
    else:
        assert Timed.model_validate(sent).at.hour == hour


def every_form(of=Form):
    for kind in of.__subclasses__():
        if kind.__module__.startswith("quaestor."):
            yield kind
            yield from every_form(kind)


for module in pkgutil.walk_packages(quaestor.web.__path__, "quaestor.web."):
    if ".operations." not in module.name:
        import_module(module.name)
FORMS = sorted(set(every_form()), key=lambda kind: (kind.__module__, kind.__name__))
ODD = st.one_of(
    st.text(max_size=20), st.sampled_from(["0", "-1", "1e999", "nan", "2026-13-01T00:00", "\x00", "\ud800", "9" * 5000, "a: [b", "²"])
)


@pytest.mark.parametrize("kind", FORMS, ids=lambda kind: f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}")
@given(st.data())
def test_whatever_is_sent_is_read_or_wrong_in_words(small_form_context, kind, data):
    names = [field.alias or name for name, field in kind.model_fields.items()]
    sent = FormData([(name, data.draw(ODD)) for name in names for _ in range(data.draw(st.integers(0, 2)))])
    shown = attempt(kind, sent, **small_form_context)[1]
    assert set(shown.wrong) <= {*names, "form"}
    assert all(translate("de", words) for words in shown.wrong.values())


@pytest.fixture(scope="module")
def small_form_context():
    """What the checks of some forms know besides."""
    test = type("Test", (), dict.fromkeys(("minutes", "per_browser", "per_address", "opens", "closes")) | {"by_list": False})
    return {"bank": quaestor.load("multiplication"), "classes": {"1": "5b"}, "test": test}


def test_the_form_of_an_entry_keeps_what_was_written_in_yaml_as_it_was_typed():
    sent = [
        ("id", " q\n1 "),
        ("copy", "q0"),
        ("statement", "  a: 1\n  b: 2\n"),
        ("text", " One?\r\nTwo? "),
        ("option", " x"),
        ("option", ""),
    ]
    found = read(PartFields, FormData([*sent, ("seen", "7"), ("strange", "y")]))
    assert (found.id, found.copied, found.seen, found.statement, found.option) == ("q 1", "q0", 7, "  a: 1\n  b: 2\n", [" x", ""])
    assert found.model_dump()["text"] == "One?\nTwo?"
    assert not hasattr(found, "strange")
