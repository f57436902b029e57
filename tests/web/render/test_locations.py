"""Places in a bank, as pages name them."""

import pytest
from markupsafe import Markup

from quaestor.web.render.language import translate
from quaestor.web.render.locations import place


@pytest.mark.parametrize(
    ("text", "english", "german"),
    [
        ("questions.Q1.difficulty", "Question Q1 · difficulty", "Frage Q1 · Schwierigkeit"),
        ("questions.Q1", "Question Q1", "Frage Q1"),
        ("questions.1.2.right[1]", "Question 1.2 · right 2", "Frage 1.2 · richtig 2"),
        ("skills.a b.table.no, yes[0]", "Skill a b · table · no, yes 1", "Fähigkeit a b · Tabelle · no, yes 1"),
        ("templates.easy.right[0][1]", "Template easy · right 1 2", "Vorlage easy · richtig 1 2"),
        ("skills", "skills", "Fähigkeiten"),
        ("difficulty", "difficulty", "Schwierigkeit"),
        ("imprecision", "imprecision", "Unsicherheit aller Zahlen"),
    ],
)
def test_a_place_in_words(text, english, german):
    made = place(text)
    assert (str(made), translate("de", made)) == (english, german)


def test_what_is_no_part_of_a_bank_stays_as_it_is():
    assert place("stop.any_of[0]") == Markup("<code>stop.any_of[0]</code>")
    assert place("<b>") == Markup("<code>&lt;b&gt;</code>")
    assert place("questions.<b>") == "Question <b>"  # the page escapes it, as any sentence
