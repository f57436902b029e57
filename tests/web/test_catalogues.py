"""The catalogues of all languages: they have what the sources say and nothing else, and every message can be said.

What fails here after a change of English words is mended by `make translations`, and by whoever speaks the language.
"""

import re
import string
from datetime import datetime

import pytest
from babel.messages.pofile import read_po

from helpers import translations
from quaestor.bankfile.words import ELSEWHERE
from quaestor.i18n import Said
from quaestor.web.editor.vocabulary import WORDS
from quaestor.web.render.language import LANGUAGES, catalogue, translate
from quaestor.web.render.writing import writing

OTHERS = [language for language in LANGUAGES if language != "en"]
QUOTES = {"de": "„“", "fr": "«»"}


@pytest.fixture(scope="module", params=OTHERS)
def kept(request):
    """A catalogue as its file has it."""
    return translations.read(request.param)


def test_every_message_has_words_and_no_words_are_left_over(kept):
    assert [text for text in translations.messages() if text not in kept] == [], "run `make translations`"
    assert translations.unused(kept, translations.messages()) == [], "run `make translations`"
    assert translations.missing(kept) == []
    assert translations.fuzzy(kept) == []
    assert not kept.obsolete


def test_the_template_has_every_message():
    with translations.TEMPLATE.open("rb") as content:
        found = read_po(content)
    assert [str(one.id) for one in found if one.id] == list(translations.messages()), "run `make translations`"


@pytest.mark.parametrize("language", OTHERS)
def test_every_word_of_the_bank_file_has_one_in_every_language(language):
    assert set(ELSEWHERE[language]) == {word for words in WORDS.values() for word in words}
    assert all(ELSEWHERE[language].values())


def samples(*patterns):
    """Values for the names of patterns: numbers of all sizes, so that every form of a plural is chosen, and a moment where one is named."""
    fields = [(name, form) for pattern in patterns for _, name, form, _ in string.Formatter().parse(pattern) if name]
    whole = any(form and form[-1] in "dx" for _, form in fields)
    for number in (0, 1, 2, 11, 1234) if whole else (0, 1, 1.5, 2, 11, 1234):
        yield {name: datetime(2026, 3, 4, 8, 30) if form == "moment" else number for name, form in fields}


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_can_be_said_with_the_same_values(language):
    for text in translations.messages():
        words = catalogue(language)[text]
        assert translations.names(words) == translations.names(text), text
        for values in samples(text, words):
            assert translate(language, Said(text, values)).strip(), text


@pytest.mark.parametrize("language", OTHERS)
def test_plurals_have_as_many_forms_as_the_language(language):
    for text, words in catalogue(language).items():
        assert {len(forms) for _, forms in translations.plurals(words)} <= {len(writing(language).forms)}, text
        assert {name for name, _ in translations.plurals(words)} <= {name for _, name, *_ in string.Formatter().parse(text) if name}, text


@pytest.mark.parametrize("language", OTHERS)
def test_messages_end_alike_and_have_the_quotes_of_the_language(language):
    first, last = QUOTES[language]
    for text, words in catalogue(language).items():
        assert words[-1] == text[-1] or text[-1] not in ".?!:" or (text[-3:], words[-1]) == ("...", "…"), text
        assert words.count(first) == words.count(last), text
        assert not re.search('[“”"]' if language == "fr" else '["”]', words), text
        assert "  " not in words, text


def test_a_german_message_has_other_words_than_the_english_one():
    alike = {text for text, words in catalogue("de").items() if words == text}
    assert {text for text in alike if len(re.findall(r"[a-z]{3,}", re.sub(r"\{[^}]*\}", "", text))) > 1} == set()


def test_french_has_narrow_spaces_where_french_has_them():
    for text, words in catalogue("fr").items():
        plain = re.sub(r"\{[^}|]*\}", "x", words)
        assert not re.search(r"[ \u00a0][;:!?»]|«[ \u00a0]|[^\u202f][!?»]|«[^\u202f]| %", plain), text
        assert "'" not in words or "['a', 'b']" in words, text
    assert translate("fr", Said("{place}: {words}", {"place": "Q1", "words": "x: y ?"})) == "Q1\u202f: x: y ?"
    assert translate("fr", Said("{one}; {other}", {"one": "a", "other": "b"})) == "a\u202f; b"
    assert translate("fr", Said("Right!", {})) == "Juste\u202f!"
    assert translate("fr", Said("“{title}”", {"title": "Les « grands » nombres"})) == "«\u202fLes « grands » nombres\u202f»"


# The command


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The catalogues in a folder of their own, and three messages."""
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    monkeypatch.setattr(translations, "TEMPLATE", tmp_path / "quaestor.pot")
    monkeypatch.setattr(translations, "LANGUAGES", {"en": "English", "fr": "Français"})

    def say(*texts):
        monkeypatch.setattr(translations, "messages", lambda: {text: ["x.py"] for text in texts})

    say("one apple", "two {count} pears", "three plums in all")
    return say


def test_a_language_is_begun_and_brought_up_to_date(elsewhere, capsys):
    assert translations.main(["it"]) == 0
    assert "it: 3 missing" in capsys.readouterr().out
    assert "fr: 3 missing" in (translations.main([]), capsys.readouterr().out)[1]
    file = translations.catalogue_file("fr")
    words = {"one apple": "une pomme", "two {count} pears": "deux {count} poires", "three plums in all": "trois prunes"}
    made = translations.read("fr")
    for one in made:
        one.string = words.get(one.id, one.string)
    translations.write(made, file)
    before = file.read_text(encoding="utf-8")
    translations.main([])
    assert file.read_text(encoding="utf-8") == before
    assert "fr: 0 missing\nfr: 0 fuzzy\nfr: 0 no longer used" in capsys.readouterr().out
    elsewhere("one apple", "two {count} small pears", "something else altogether")
    translations.main([])
    told = capsys.readouterr().out
    assert "fr: 1 missing\n    something else altogether\nfr: 1 fuzzy\n    two {count} small pears\nfr: 2 no longer used" in told
    kept = translations.read("fr")
    assert (kept["one apple"].string, kept["two {count} small pears"].string) == ("une pomme", "deux {count} poires")
    assert [str(one.id) for one in kept if one.id] == ["one apple", "two {count} small pears", "something else altogether"]


def test_messages_are_found_however_they_are_written(tmp_path):
    file = tmp_path / "x.py"
    file.write_text('say("one" " and two", x=say("inside {y}", y=translate(language, "deep")))\nsay(name)\nother("no")\n')
    with file.open("rb") as content:
        found = {text for _, _, text, _ in translations.sentences(content, {}, (), {})}
    assert found == {"one and two", "inside {y}", "deep"}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("{share} %", False), ("{a}: {b}", False), ("“{title}”", True), ("{count} {count:day|days}", True), ("{n:.3g}", False), ("min", True)],
)
def test_what_has_words(pattern, expected):
    assert translations.has_words(pattern) is expected
