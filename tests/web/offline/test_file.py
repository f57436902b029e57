"""A test as one file: what is in it, what cannot be written so, and that nothing in a bank can break out of it."""

import json
import re

import pytest

import quaestor as qs
from quaestor.bankfile.bank import Bank
from quaestor.cli.export import _usual
from quaestor.web.offline import file
from quaestor.web.offline.file import html_of, identity
from quaestor.web.offline.handed_in import read_test

HOSTILE = "</script><script>alert(1)</script><!-- & <img src=x onerror=alert(1)>"


def content(text):
    return json.loads(text.split('id="test">')[1].split("</script>")[0])


def small(**question):
    fields = {"text": "2 + 2?", "options": ["4", "5"], "correct": "4", "skill": "sums", "right": [0.2, 0.9], **question}
    return Bank({"quaestor": 1, "title": "Sums", "skills": {"sums": {}}, "questions": {"Q1": fields}})


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_fractions_are_small_enough_to_send(language):
    bank = qs.load("fractions")
    text = html_of(bank, _usual(bank), language)
    assert len(text.encode()) < 300_000
    assert f'<html lang="{language}">' in text
    assert not re.search(r'(?:src|href)="?https?:', text), "nothing comes from elsewhere"


def test_all_words_are_in_the_language():
    words, others = (content(html_of(qs.load("multiplication"), qs.Rules(), one))["words"] for one in ("en", "de"))
    same = {text for text, said in words.items() if others[text] == said}
    assert same <= {"Start", "{share} %"}


def test_nothing_in_a_bank_can_break_out():
    text = html_of(small(text=HOSTILE, options=[HOSTILE, "5"], correct=HOSTILE), qs.Rules())
    assert text.count("</script>") == 3
    assert "onerror=alert" not in re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
    question = content(text)["questions"][0]
    assert "<script" not in question["html"]
    assert "<img" not in question["options"][0]["html"]


def test_the_bank_comes_back_from_the_file(tmp_path):
    bank = qs.load("fractions")
    path = tmp_path / "test.html"
    path.write_text(html_of(bank, _usual(bank)), encoding="utf-8")
    again, rules = read_test(path)
    assert (again.version, rules) == (bank.version, _usual(bank))
    assert identity(again, rules) == identity(bank, _usual(bank)) != identity(bank, qs.Rules())


@pytest.mark.parametrize(
    ("bank", "rules", "words"),
    [
        (qs.load("fractions").widen(0.05), qs.Rules(), "the bank is credal"),
        (qs.load("fractions"), qs.Rules(among=3), "the rule 'among'"),
        (qs.load("fractions"), qs.Rules(score="random"), "the score 'random'"),
        (qs.load("fractions"), qs.Rules(stop=qs.minutes(60)), "the rule 'stop: minutes'"),
        (qs.load("fractions"), qs.Rules(stop=qs.entropy_below(0.1, "joint")), "the rule 'stop: entropy_below'"),
        (qs.load("fractions"), qs.Rules(target="joint", score="entropy"), "the rule 'target'"),
        (qs.load("fractions"), qs.Rules(content=(qs.Content("parts", share=0.5),)), "the rule 'content: share'"),
    ],
)
def test_what_the_file_cannot_do_is_refused_by_name(bank, rules, words, monkeypatch):
    monkeypatch.setattr(file, "MOST_NODES", 5)
    with pytest.raises(qs.QuaestorError, match=re.escape(f"a decision graph of at most 5 nodes, got {words}")):
        html_of(bank, rules)


def test_questions_for_paper_and_unknown_languages_are_refused():
    with pytest.raises(qs.QuaestorError, match="questions that can be entered, got Q1"):
        html_of(qs.load("single-skill"), qs.Rules())
    with pytest.raises(qs.QuaestorError, match="a language is one of en, de, fr, got 'xx'"):
        html_of(qs.load("multiplication"), qs.Rules(), "xx")


def test_a_missing_picture_is_named():
    with pytest.raises(qs.QuaestorError, match=r"no file for 'sum\.png'"):
        html_of(small(media="sum.png"), qs.Rules())


def test_pictures_are_in_the_file():
    image = b"\x89PNG\r\n\x1a\n" + b"0" * 20
    question = content(html_of(small(media="sum.png", alt="a sum"), qs.Rules(), images={"sum.png": image}))["questions"][0]
    assert question["media"].startswith("data:image/png;base64,")
    assert question["alt"] == "a sum"


FOUR = "4 ![four](sum.png)"


def test_pictures_in_texts_and_options_and_sounds_are_in_the_file():
    image, sound = b"\x89PNG\r\n\x1a\n" + b"0" * 20, b"ID3" + b"0" * 20
    bank = small(
        text="![a sum](sum.png)?", options=["4 ![four](sum.png)", "5"], correct="4 ![four](sum.png)", media="said.mp3", alt="two and two"
    )
    question = content(html_of(bank, qs.Rules(), images={"sum.png": image, "said.mp3": sound}))["questions"][0]
    assert 'src="data:image/png;base64,' in question["html"]
    assert 'src="data:image/png;base64,' in question["options"][0]["html"]
    assert question["media"].startswith("data:audio/mpeg;base64,")
    assert question["sound"] is True
    assert "[a sum]" in content(html_of(bank, qs.Rules(), images={"said.mp3": sound}))["questions"][0]["html"], "else what it shows"
