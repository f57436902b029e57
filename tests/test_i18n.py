"""Sentences that remember what they were made of."""

import copy
import json
import math
import pickle
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.errors import BankError, Problem, QuaestorError, format_value, got
from quaestor.i18n import Said, listed, packed, said, say, together, unpacked
from quaestor.web.render.language import translate
from quaestor.web.render.writing import writing

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(["{", "}", "{x}", "{{x}}", "{0}", "{x!r:>9}", "%s", "\\"])


def german(text):
    return translate("de", text)


@given(TEXTS, TEXTS, st.integers())
def test_values_stand_in_the_text_as_they_are_whatever_they_hold(one, other, number):
    made = say("{one} and {other}, {number:d} times {{x}}", one=one, other=other, number=number)
    assert made == f"{one} and {other}, {number:d} times {{x}}"
    assert made.again(lambda pattern: pattern) == made
    assert made.again(lambda pattern: "{number:d}: {other}, {one}") == f"{number:d}: {other}, {one}"


@given(TEXTS, TEXTS)
def test_a_value_is_never_formatted_again_however_deep_it_lies(one, between):
    inner = say("<{one}>", one=one)
    outer = say("[{inner}]", inner=together([inner, one], between))
    assert outer == f"[<{one}>{between}{one}]"
    assert outer.again(lambda pattern: pattern.replace("<", "«").replace(">", "»") if pattern == "<{one}>" else pattern) == (
        f"[«{one}»{between}{one}]"
    )


@given(TEXTS, st.floats(allow_nan=False))
def test_a_sentence_is_its_text_and_comes_through_pickle_copy_and_json(one, number):
    made = say("{one}: {inner}", one=one, inner=say("{number:g} left", number=number))
    assert (made, hash(made)) == (str(made), hash(str(made)))
    assert type(str(made)) is str
    assert json.loads(json.dumps(made)) == made
    for back in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert type(back) is Said
        assert (back, back.pattern, back.values) == (made, made.pattern, made.values)


@pytest.mark.parametrize(
    ("count", "english", "other"),
    [
        (0, "0 hints were found", "0 Hinweise"),
        (1, "1 hint was found", "1 Hinweis"),
        (1.0, "1 hint was found", "1 Hinweis"),
        (1.5, "1.5 hints were found", "1,5 Hinweise"),
        (1234, "1,234 hints were found", "1.234 Hinweise"),
    ],
)
def test_a_number_chooses_its_words_and_is_written_in_the_way_of_the_language(count, english, other):
    made = say("{count:,g} {count:hint was|hints were} found", count=count)
    assert made == english
    assert made.again(lambda _: "{count:,g} {count:Hinweis|Hinweise}", writing("de")) == other
    assert unpacked(packed(made)).again(lambda _: "{count:,g} {count:Hinweis|Hinweise}", writing("de")) == other


@pytest.mark.parametrize(
    ("language", "count", "chosen"),
    [
        *[("en", count, form) for count, form in ((0, "many"), (1, "one"), (1.0, "one"), (1.5, "many"), (2, "many"), (math.inf, "many"))],
        *[("de", count, form) for count, form in ((0, "many"), (1, "one"), (-1, "one"), (1.5, "many"), (10**400, "many"))],
        *[("fr", count, form) for count, form in ((0, "one"), (1, "one"), (1.5, "one"), (2, "many"), (10**6, "many"), (math.nan, "many"))],
    ],
)
def test_the_forms_of_a_word_are_those_of_the_language(language, count, chosen):
    """French has the singular for none, and for one and a half; whole millions have a form of their own there, which we leave out."""
    assert writing(language).forms == ["one", "other"]
    assert say("{count:x|y}", count=count).again(lambda _: "{count:one|many}", writing(language)) == chosen


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("pl", {1: "one", 3: "few", 5: "many", 22: "few", 1.5: "other"}),
        ("ar", {0: "zero", 1: "one", 2: "two", 5: "few", 11: "many", 100: "other"}),
    ],
)
def test_a_language_may_have_more_forms_or_fewer(language, forms):
    pattern = "{count:" + "|".join(writing(language).forms) + "}"
    assert {count: say("{count:x|y}", count=count).again(lambda _: pattern, writing(language)) for count in forms} == forms
    assert say("{count:x|y}", count=11).again(lambda words: words, writing(language)) == "y"  # what nobody has translated
    assert writing("ja").forms == ["other"]


def test_a_moment_is_written_in_the_way_of_the_language():
    made = say("opens on {at:moment}", at=datetime(2026, 3, 4, 8, 30))
    assert made == "opens on 4 March 2026, 08:30 UTC"
    told = {language: translate(language, made) for language in ("en", "de", "fr")}
    assert told == {
        "en": "opens on 4 March 2026, 08:30 UTC",
        "de": "opens on 4. März 2026, 08:30 UTC",
        "fr": "opens on 4 mars 2026, 08:30 UTC",
    }


def test_a_number_in_a_text_stays_as_somebody_wrote_it():
    made = say("{name} has {share:.1f} %", name="v1.2,3", share=12.25)
    assert german(made) == "v1.2,3 has 12,2\u00a0%"


def test_what_is_no_sentence_stays_as_it_is():
    assert say("{one}", one="right").again({"{one}": "{one}", "right": "richtig"}.__getitem__) == "right"
    assert say("{one}", one=say("right")).again({"{one}": "{one}", "right": "richtig"}.__getitem__) == "richtig"


@pytest.mark.parametrize(("parts", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_lists(parts, text):
    assert listed(parts) == text
    assert german(listed(parts)) == text.replace(" and ", " und ")


def test_errors_keep_their_sentence():
    error = QuaestorError.at("Q1", got(say("unknown question"), format_value("Q1"), say("did you mean '{word}'?", word="Q2")))
    assert str(error) == said(error) == "Q1: unknown question, got 'Q1' (did you mean 'Q2'?)"
    assert german(said(error)) == "Q1: unbekannte Frage; gefunden: 'Q1' (meinten Sie „Q2“?)"
    assert (error.place, german(error.words)) == ("Q1", "unbekannte Frage; gefunden: 'Q1' (meinten Sie „Q2“?)")
    sent = pickle.loads(pickle.dumps(error))
    assert (sent.place, sent.words, str(sent)) == (error.place, error.words, str(error))
    plain = QuaestorError(say("a: b"))
    assert (plain.place, plain.words) == ("", "a: b")
    assert said(QuaestorError("a", "b")) == "('a', 'b')"


def test_a_value_in_words_is_shown_without_quotes_and_can_be_said_again():
    assert format_value(say("none")) == "none"
    assert german(format_value(say("none"))) == "nichts"
    assert format_value(say("no row '{row}'", row="x" * 100)) == f"no row '{'x' * 69}..."


def test_problems_are_said_as_a_whole():
    problem = Problem("questions.Q", say("unknown skill"), "'x'", say("did you mean '{word}'?", word="y"), where=say("line {line}", line=3))
    assert str(problem) == "questions.Q: unknown skill, got 'x' (did you mean 'y'?) [line 3]"
    assert german(problem.sentence) == "questions.Q: unbekannte Fähigkeit; gefunden: 'x' (meinten Sie „y“?) [Zeile 3]"
    error = BankError([problem, problem], "bank.yaml")
    assert str(error) == f"bank.yaml:{problem}\nbank.yaml:{problem}"
    assert german(said(error)) == f"bank.yaml:{german(problem.sentence)}\nbank.yaml:{german(problem.sentence)}"
