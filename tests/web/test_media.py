"""Pictures in texts and options, and sounds: what they are is told by their content; takers get those of the questions they were asked."""

import re
from html import unescape

import pytest

import quaestor as qs
from helpers.browsing import PICTURE, application, enter, give
from quaestor.store.media import MOST_OF_SOUND, MediaError, chosen, kind_of
from quaestor.store.pixels import drawn_anew

SOUNDS = {
    "a.mp3": (b"ID3\x04\x00" + bytes(40), "audio/mpeg"),
    "bare.mp3": (b"\xff\xfb\x90\x00" + bytes(40), "audio/mpeg"),
    "a.ogg": (b"OggS\x00\x02" + bytes(40), "audio/ogg"),
    "a.wav": (b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(40), "audio/wav"),
    "a.m4a": (b"\x00\x00\x00\x20ftypM4A " + bytes(40), "audio/mp4"),
}


def bank():
    questions = {
        "heard": {"text": "What is it?", "media": "a.mp3", "alt": "A bell <rings>", "options": ["bell", "dog"], "correct": "bell"},
        "seen": {"text": "Which is a pie? ![a sign](sign.png)", "options": ["![half a pie](pie.png)", "none"], "correct": "none"},
        "match": {"text": "Which?", "kind": "matching", "pairs": {"$x^2$": '![a "pie"](pie.png)', "![sign](sign.png)": "none"}},
        "lost": {"text": "![not there](lost.png) here", "options": ["a", "b"], "correct": "a"},
    }
    stated = {name: {"skill": "s", "difficulty": "easy", **fields} for name, fields in questions.items()}
    return qs.Bank({"quaestor": 2, "title": "Pictures", "skills": {"s": {}}, "questions": stated})


FILES = {"a.mp3": SOUNDS["a.mp3"][0], "pie.png": PICTURE, "sign.png": PICTURE[:-1] + b"\x83", "unused.png": PICTURE}


@pytest.mark.parametrize("name", SOUNDS)
def test_a_sound_is_known_by_its_content(name):
    content, kind = SOUNDS[name]
    assert kind_of(content) == kind
    assert drawn_anew({name: content}) == {name: content}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.mp3", PICTURE, "images: a sound is an MP3, Ogg, WAV or M4A file, got another kind of file in 'a.mp3'"),
        ("a.mp3", b"<script>", "a sound is an MP3, Ogg, WAV or M4A file"),
        ("a.mp3", b"", "a sound is an MP3, Ogg, WAV or M4A file"),
        ("a.MP3", b"ID3" + bytes(MOST_OF_SOUND), "images: a sound has at most 5 MB, got 5.0 MB in 'a.MP3'"),
        ("a.png", SOUNDS["a.mp3"][0], "an image is a PNG, JPEG, GIF or WebP file, got another kind of file in 'a.png'"),
        ("a.svg", b"<svg onload=alert(1)>", "an image is a PNG, JPEG, GIF or WebP file"),
        ("a.mp3", b"\x00\x00\x00\x20ftypqt  ", "a sound is an MP3, Ogg, WAV or M4A file"),
    ],
)
def test_what_is_no_sound_is_refused(name, content, words):
    with pytest.raises(MediaError) as caught:
        drawn_anew({name: content})
    assert words in str(caught.value)


def test_a_question_names_its_files():
    questions = bank().questions
    assert questions["seen"].files == ("sign.png", "pie.png")
    assert set(questions["match"].files) == {"sign.png", "pie.png"}
    assert (questions["heard"].has_sound, questions["seen"].has_sound) == (True, False)
    assert set(chosen(bank(), FILES)) == {"a.mp3", "pie.png", "sign.png"}  # what a text names may be missing, `media` may not
    with pytest.raises(MediaError, match=r"no file for 'a\.mp3'"):
        chosen(bank(), {})


def test_takers_hear_and_see_what_their_questions_have(make_database):
    database = make_database("sqlite")
    browser = enter(application(database), give(database, bank(), qs.Rules(score="order"), images=FILES, mode="practice"))
    source = re.search(r'<audio class="sound" controls preload="metadata" src="([^"]+)" aria-label="Sound">', browser.page.text)[1]
    assert "<p>A bell &lt;rings&gt;</p>" in browser.page.text
    assert "a.mp3" not in browser.page.text  # a name may tell the answer
    heard = browser.client.get(source)
    assert (heard.headers["content-type"], heard.content) == ("audio/mpeg", FILES["a.mp3"])
    assert heard.headers["x-content-type-options"] == "nosniff"
    assert "media-src 'self'" in browser.page.headers["content-security-policy"]
    later = browser.client.get(source.rpartition("/")[0] + "/" + "0" * 64)
    assert later.status_code == 404
    browser.fill("/answer", entry="bell")
    assert "<audio" in browser.page.text
    browser.go("/take/1")
    pictures = [tuple(map(unescape, found)) for found in re.findall(r'<img class="inset" src="([^"]+)" alt="([^"]*)">', browser.page.text)]
    assert sorted(alt for _, alt in pictures) == ["a sign", "half a pie"]
    assert all(browser.client.get(at).headers["content-type"] == "image/png" for at, _ in pictures)
    browser.fill("/answer", entry="![half a pie](pie.png)")
    assert browser.page.text.count('alt="half a pie"') == 1
    browser.go("/take/1")
    page = browser.page.text
    assert '<ol class="lettered" type="A">' in page
    assert re.findall(r"<option value=[^>]*>([AB])</option>", page) == ["A", "B"] * 2
    assert 'alt="a &#34;pie&#34;"' in page
    browser.fill("/answer", part=['![a "pie"](pie.png)', "none"])
    assert "Right!" in browser.page.text
    browser.go("/take/1")
    assert "[not there] here" in browser.page.text
