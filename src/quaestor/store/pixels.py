"""Images drawn anew: decoded, limited in pixels, and written again with nothing but their pixels.

What else a file may hold goes: where and with what a photograph was taken, comments, colour profiles, bytes after its end. A photograph
that is to be turned is turned. Frames of an animation stay, with their times. The work of decoding is bounded by the number of pixels,
and by whoever calls (`web.security.uploads`).
"""

import io
import warnings
from collections.abc import Mapping
from typing import Any

from PIL import Image, ImageOps, ImageSequence
from PIL.JpegImagePlugin import get_sampling

from quaestor.errors import format_value, got
from quaestor.i18n import say
from quaestor.store.media import MOST_BYTES, MediaError, check_image, kind_of

MOST_PIXELS = 20_000_000  # of all frames of an image
READ = ("PNG", "JPEG", "GIF", "WEBP")
MODES = {  # the kinds of pixels that a format is written with; others are changed
    "PNG": ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"),
    "JPEG": ("L", "RGB"),
    "GIF": ("1", "L", "P", "RGB", "RGBA"),
    "WEBP": ("RGB", "RGBA"),
}


def drawn_anew(images: Mapping[str, bytes]) -> dict[str, bytes]:
    """Images by name, with nothing but their pixels (sounds as they are); MediaError for one that cannot be shown or has too many."""
    return {name: _drawn(name, content) for name, content in images.items()}


def _drawn(name: str, content: bytes) -> bytes:
    check_image("images", name, content)
    if kind_of(content).startswith("audio/"):
        return content
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is odd in a file does not matter when it is written anew
            warnings.simplefilter("error", Image.DecompressionBombWarning)  # the library's own limits on pixels, far above ours
            with Image.open(io.BytesIO(content), formats=READ) as image:
                pixels = image.width * image.height * _frames(image)
                if pixels > MOST_PIXELS:
                    raise _too_many(say("{count:,} pixels in {name}", count=pixels, name=format_value(name)))
                made = _written(image, b"VP8L" in content)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise _too_many(say("more in {name}", name=format_value(name))) from error
    except (MediaError, MemoryError):
        raise
    except Exception as error:  # a damaged image can raise almost anything
        found = say("a damaged one in {name}", name=format_value(name))
        raise MediaError.at("images", got(say("an image can be shown"), found)) from error
    if len(made) > MOST_BYTES:
        found = say("{size:.1f} MB in {name} once it is written anew", size=len(made) / 1e6, name=format_value(name))
        raise MediaError.at("images", got(say("an image has at most {most} MB", most=MOST_BYTES // 1_000_000), found))
    return made


def _too_many(found: str) -> MediaError:
    return MediaError.at("images", got(say("an image has at most {most:,} pixels", most=MOST_PIXELS), found))


def _frames(image: Image.Image) -> int:
    """How many frames an image has; of what some cameras put beside a photograph, nothing."""
    return 1 if image.format in ("JPEG", "MPO") else getattr(image, "n_frames", 1)


def _written(image: Image.Image, lossless: bool) -> bytes:
    kind, made = "JPEG" if image.format == "MPO" else str(image.format), io.BytesIO()
    options: dict[str, Any] = {"lossless": lossless, "quality": 90} if kind == "WEBP" else {}
    if kind == "JPEG":
        image.load()
        options = {"optimize": True, "quality": 90}
        if image.mode in MODES[kind]:  # written as finely as it was
            options = {"optimize": True, "qtables": image.quantization, "subsampling": get_sampling(image)}  # type: ignore[attr-defined]
    if _frames(image) == 1:
        _plain(ImageOps.exif_transpose(image), kind).save(made, kind, **options)
        return made.getvalue()
    loop = {"loop": image.info["loop"]} if "loop" in image.info else {}
    times, frames = [], []
    for frame in ImageSequence.Iterator(image):
        frame.load()  # before that its time is not known
        times.append(frame.info.get("duration") or 100)
        frames.append(_plain(frame, kind))
    if kind == "GIF" and any(frame.has_transparency_data for frame in frames):
        options["disposal"] = 2  # what was there before is gone, or it would shine through
    frames[0].save(made, kind, save_all=True, append_images=frames[1:], duration=times, **loop, **options)
    return made.getvalue()


def _plain(image: Image.Image, kind: str) -> Image.Image:
    """A copy of the pixels, with nothing that the file said beside them but which colour is transparent."""
    made = image.copy()
    made.info = {name: value for name, value in image.info.items() if name == "transparency"}
    if made.mode not in MODES[kind]:
        made = made.convert("RGBA" if made.has_transparency_data and kind != "JPEG" else "RGB")
    return made
