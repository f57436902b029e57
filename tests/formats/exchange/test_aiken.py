"""Aiken: plain texts with lettered options."""

import pytest

from helpers.paths import SHARED
from quaestor.formats.exchange.registry import read_questions, read_questions_bytes

FOLDER = SHARED / "exchange" / "aiken"


def read(text, name="quiz.txt"):
    return read_questions_bytes(text.encode(), name)


def test_a_question_with_options_of_either_form():
    found = read("What is\n2 * 3?\n\nA) *5*\nB. 6\n of course\nANSWER: B\n")
    assert found.questions == {
        "What is 2 3": {"text": "What is\n2 * 3?", "options": ["\\*5\\*", "6 of course"], "correct": "6 of course"},
    }
    assert (found.title, found.places) == ("quiz", {"What is 2 3": "line 1"})


def test_what_is_wrong_is_told_with_its_line():
    found = read("Q\nA) a\nB) b\nANSWER: B\n\nR\nA) a\nB) b\nANSWER: C\n")
    assert [str(note.sentence) for note in found.refused] == ["R: the answer is the letter of an option, got 'C' [line 6]"]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the files of ../shared/exchange are not here")
def test_real_files_are_understood():
    found = read_questions(FOLDER / "questions.aiken.txt")
    assert [fields["correct"] for fields in found.questions.values()] == ["Martin Dougiamas", "True"]
    assert '<html class="cool"> & images' in [*found.questions.values()][1]["text"]
    found = read_questions(FOLDER / "aiken_errors.txt")
    assert found.count == 7
    assert [fields["correct"] for fields in found.questions.values()] == ["Correct", "Correct (No space)", "Correct (< > &)"]
    assert [(note.place, str(note.words)) for note in found.refused] == [
        ("line 1", "a question has at least two options, got 1"),
        ("line 5", "there is no question above the options"),
        ("line 7", "there is no question above the options"),
        ("line 14", "there is no line that begins with 'ANSWER:'"),
    ]
