"""Images are drawn anew: nothing of a file stays but its pixels, and too many of them are refused before they are decoded."""

import io
import struct
import zlib

import pytest
from PIL import Image, ImageChops, PngImagePlugin

from quaestor.store import media, pixels

KINDS = {"PNG": "a.png", "JPEG": "a.jpg", "GIF": "a.gif", "WEBP": "a.webp"}


def picture(mode="RGB", size=(8, 6)):
    made = Image.radial_gradient("L").resize(size).convert(mode)
    made.putpixel((0, 0), 0 if mode in ("L", "P", "1") else (255, 0, 0, 255)[: len(mode)])
    return made


def written(image, kind, **options):
    made = io.BytesIO()
    image.save(made, kind, **options)
    return made.getvalue()


def drawn(content, name="a"):
    return pixels.drawn_anew({name: content})[name]


def opened(content):
    return Image.open(io.BytesIO(content))


def position():
    """What a camera writes: where and with what the photograph was taken."""
    exif = Image.Exif()
    exif[0x010F] = "Secret Camera"
    exif.get_ifd(0x8825)[1] = "N"
    return exif


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_file_says_beside_its_pixels_is_gone(kind):
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "Secret note")
    options = {"PNG": {"exif": position(), "pnginfo": notes, "icc_profile": b"Secret profile"}, "GIF": {"comment": b"Secret note"}}
    usual = {"exif": position(), "icc_profile": b"Secret profile", "comment": b"Secret note"}
    image = picture("P" if kind == "GIF" else "RGB")
    content = written(image, kind, **options.get(kind, usual)) + b"Secret after the end"
    found = drawn(content)
    assert b"Secret" in content
    assert b"Secret" not in found
    assert not opened(found).getexif()
    assert media.kind_of(found) == media.kind_of(content)
    assert opened(found).size == image.size
    assert drawn(content) == found  # twice the same


@pytest.mark.parametrize("kind", ["PNG", "GIF"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA"])
def test_every_pixel_stays(kind, mode):
    content = written(picture(mode), kind)
    before, after = opened(content).convert("RGBA"), opened(drawn(content)).convert("RGBA")
    assert ImageChops.difference(before, after).getbbox(alpha_only=False) is None


def test_a_transparent_colour_stays_transparent():
    content = written(picture("P"), "PNG", transparency=0)
    assert opened(content).convert("RGBA").getpixel((0, 0))[3] == 0
    assert opened(drawn(content)).convert("RGBA").getpixel((0, 0))[3] == 0


def test_a_photograph_keeps_its_colours_and_is_turned():
    turned = Image.Exif()
    turned[0x0112] = 6
    content = written(picture(size=(64, 48)), "JPEG", exif=turned, quality=70)
    found = opened(drawn(content))
    assert found.size == (48, 64)
    assert found.quantization == opened(content).quantization
    before = opened(content).transpose(Image.Transpose.ROTATE_270)
    assert max(high for _, high in ImageChops.difference(before, found).getextrema()) < 40


def test_colours_of_printers_become_those_of_screens():
    assert opened(drawn(written(picture().convert("CMYK"), "JPEG"))).mode == "RGB"


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP"])
def test_animations_stay(kind):
    frames = [Image.new("RGB", (9, 9), colour) for colour in ("red", "green", "blue")]
    content = written(frames[0], kind, save_all=True, append_images=frames[1:], duration=[100, 200, 300], loop=2, lossless=True)
    found = opened(drawn(content))
    assert (found.n_frames, found.info["loop"]) == (3, opened(content).info["loop"])
    found.seek(2)
    found.load()
    assert found.convert("RGB").getpixel((4, 4)) == (0, 0, 255)
    assert found.info["duration"] == 300


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def bomb(side):
    """A small file of very many pixels."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


def test_too_many_pixels_are_refused_before_they_are_decoded():
    for side, found in ((5_000, "25,000,000 pixels"), (10_000, "more"), (60_000, "more")):
        with pytest.raises(media.MediaError) as caught:
            drawn(bomb(side), "map.png")
        assert str(caught.value) == f"images: an image has at most 20,000,000 pixels, got {found} in 'map.png'"


def test_frames_count_too(monkeypatch):
    monkeypatch.setattr(pixels, "MOST_PIXELS", 200)
    frames = [Image.new("L", (9, 9), shade) for shade in (0, 100, 200)]
    with pytest.raises(media.MediaError, match="at most 200 pixels, got 243 pixels in 'a'"):
        drawn(written(frames[0], "GIF", save_all=True, append_images=frames[1:]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_image_is_refused(kind):
    content = written(picture(size=(200, 200)), kind)
    with pytest.raises(media.MediaError, match="images: an image can be shown, got a damaged one in 'a'"):
        drawn(content[: len(content) // 2])


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\x10\0\0\0WEBP"])
def test_first_bytes_alone_are_no_image(content):
    with pytest.raises(media.MediaError, match="an image can be shown"):
        drawn(content + b"0" * 50)


def test_other_kinds_are_refused_as_before():
    for content in (b"<svg xmlns='http://www.w3.org/2000/svg'/>", written(picture(), "TIFF"), written(picture(), "BMP"), b""):
        with pytest.raises(media.MediaError, match="an image is a PNG, JPEG, GIF or WebP file"):
            drawn(content)


def test_an_image_that_grows_too_large_says_so(monkeypatch):
    content = written(picture(size=(60, 60)), "JPEG")
    monkeypatch.setattr(pixels, "MOST_BYTES", 100)
    with pytest.raises(media.MediaError, match="MB in 'a' once it is written anew"):
        drawn(content)
