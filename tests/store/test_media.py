"""Images of a bank: by content, by their first bytes, with limits."""

import pytest
from sqlalchemy import func, select

from quaestor.formats.files import load_bytes
from quaestor.store import media, publishing, teachers
from quaestor.store.models import BankVersion, Media

PNG, JPEG = b"\x89PNG\r\n\x1a\n" + b"1" * 20, b"\xff\xd8\xff" + b"2" * 20
GIF, WEBP = b"GIF89a" + b"3" * 20, b"RIFF\x10\0\0\0WEBP" + b"4" * 20
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def bank(*names):
    questions = "".join(
        f"  Q{n}: {{text: What is it?, options: [a, b], correct: a, skill: s, right: [0.2, 0.8], media: {name}, alt: it}}\n"
        for n, name in enumerate(names, 1)
    )
    return load_bytes(f"quaestor: 1\ntitle: Pictures\nskills:\n  s: {{prior: [0.5, 0.5]}}\nquestions:\n{questions}".encode(), ".yaml")


def keep(database, made, images):
    with database.work() as work:
        kept = publishing.keep_bank(work, teachers.owner(work, "owner@school.example"), made, images)
        return kept.id, kept.media


def test_images_are_kept_and_found_by_name(database):
    images = {"a.png": PNG, "b.jpg": JPEG, "pictures/c.gif": GIF, "d.webp": WEBP, "unused.png": PNG + b"0"}
    number, names = keep(database, bank("a.png", "b.jpg", "pictures/c.gif", "d.webp"), images)
    assert set(names) == {"a.png", "b.jpg", "pictures/c.gif", "d.webp"}
    with database.read() as work:
        kept = work.get(BankVersion, number)
        assert media.image(work, kept, "a.png") == ("image/png", PNG)
        assert media.image(work, kept, "b.jpg") == ("image/jpeg", JPEG)
        assert media.image(work, kept, "pictures/c.gif") == ("image/gif", GIF)
        assert media.image(work, kept, "d.webp") == ("image/webp", WEBP)
        for name in ("unused.png", "../a.png", "", "a.png\0"):
            with pytest.raises(media.MediaError, match="the bank has an image of this name, got none for"):
                media.image(work, kept, name)


def test_other_images_make_another_row_and_the_same_ones_do_not(database):
    made = bank("a.png")
    first, second, third = (keep(database, made, {"a.png": content})[0] for content in (PNG, JPEG, PNG))
    assert first == third != second
    with database.read() as work:
        assert work.scalar(select(func.count()).select_from(Media)) == 2


def test_a_content_is_kept_once(database):
    keep(database, bank("a.png", "b.png"), {"a.png": PNG, "b.png": PNG})
    with database.read() as work:
        assert work.scalar(select(func.count()).select_from(Media)) == 1


def test_a_file_of_the_same_name_in_another_folder(database):
    _, names = keep(database, bank("pictures/a.png"), {"a.png": PNG})
    assert set(names) == {"pictures/a.png"}
    with pytest.raises(media.MediaError):
        keep(database, bank("a.png"), {"one/a.png": PNG, "two/a.png": PNG})


@pytest.mark.parametrize(
    ("images", "words"),
    [
        ({}, "questions.Q1.media: the image comes with the bank, got no file for 'a.png'"),
        ({"a.png": SVG}, "questions.Q1.media: an image is a PNG, JPEG, GIF or WebP file, got another kind of file in 'a.png'"),
        ({"a.png": b""}, "questions.Q1.media: an image is a PNG, JPEG, GIF or WebP file, got another kind of file in 'a.png'"),
        ({"a.png": PNG + b"0" * 2_000_000}, "questions.Q1.media: an image has at most 2 MB, got 2.0 MB in 'a.png'"),
    ],
)
def test_images_that_are_refused(images, words):
    with pytest.raises(media.MediaError) as error:
        media.chosen(bank("a.png"), images)
    assert str(error.value) == words


def test_all_images_of_a_bank_together(monkeypatch):
    monkeypatch.setattr(media, "MOST_IN_ALL", 1_000_000)
    with pytest.raises(media.MediaError, match=r"media: the images of a bank have at most 1 MB, got 1\.5 MB"):
        media.chosen(bank("a.png", "b.png"), {"a.png": PNG + b"0" * 750_000, "b.png": JPEG + b"0" * 750_000})
