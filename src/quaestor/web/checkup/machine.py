"""Checks of the machine: Python and its libraries, fonts, cores and memory. Nothing of the extra `web` is imported: it may be missing."""

import importlib.util
import os
import platform
import re
from importlib import metadata
from pathlib import Path

from quaestor.version import VERSION
from quaestor.web.checkup.finding import Finding, advice, fine, in_words, wrong
from quaestor.web.settings import Settings

BASE = 250_000_000  # bytes of a worker besides its cache
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)(?:; extra == ['\"](\w+)['\"])?")
_ITSELF = re.compile(r"quaestor\[([\w,]+)\]; extra == ['\"]web['\"]")  # extras that the extra `web` brings along
FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")


def libraries() -> list[Finding]:
    """Whether the libraries of the package and of its extra `web` are there, and new enough."""
    bad, count = [], 0
    required = [stated.replace(" ;", ";") for stated in metadata.requires("quaestor") or []]
    extras = {"web", *(extra for stated in required if (found := _ITSELF.fullmatch(stated)) for extra in found[1].split(","))}
    for stated in required:
        found = _REQUIREMENT.fullmatch(stated)
        if found is None or found[3] not in (None, *extras):
            continue
        count += 1
        try:
            version = metadata.version(found[1])
        except metadata.PackageNotFoundError:
            bad.append(f"{found[1]} is missing")
            continue
        if _numbers(version) < _numbers(found[2]):
            bad.append(f"{found[1]} is version {version}, at least {found[2]} is needed")
    mend = "Install the package anew, with what it needs: pip install --upgrade 'quaestor[web]'"
    return wrong("libraries", f"Of {count} libraries {'; '.join(bad)}.", mend) if bad else fine("libraries", _versions(count))


def _versions(count: int) -> str:
    return f"Quaestor {VERSION} on Python {platform.python_version()}; all {count} libraries are there and new enough."


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version.partition("+")[0])]


def fonts() -> list[Finding]:
    """Whether letters can be made as PDF."""
    place = importlib.util.find_spec("matplotlib")
    folder = Path(place.origin).parent / "mpl-data" / "fonts" / "ttf" if place is not None and place.origin else Path()
    missing = [name for name in FONTS if not (folder / name).is_file()]
    if missing:
        words = f"Letters cannot be made as PDF: the font {missing[0]} is missing, which comes with matplotlib."
        return wrong("fonts", words, "Install matplotlib from its own package: pip install --force-reinstall matplotlib")
    return fine("fonts", "The font of the letters is there.")


def workers(settings: Settings) -> list[Finding]:
    """Whether the machine has the cores and the memory for what the settings ask for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    needed, there = settings.workers * (BASE + settings.cache * 1_000_000), _memory()
    if there and needed > there:
        asked = f"{_count(settings.workers)} with a cache of {settings.cache} MB each"
        words = f"{asked} can need {in_words(needed)}; the machine has {in_words(there)}."
        return wrong("workers", words, "Set fewer workers (--workers) or a smaller cache (--cache).")
    if settings.workers > 2 * cores:
        words = f"{_count(settings.workers)} share {cores} core{'s' * (cores != 1)}: more than two for each core make nothing faster."
        return advice("workers", words, f"Set --workers {cores}.")
    has = f", which has {in_words(there)} of memory" if there else ""
    return fine("workers", f"{_count(settings.workers)} on a machine with {cores} core{'s' * (cores != 1)}{has}.")


def _count(workers: int) -> str:
    return f"{workers} worker{'s' * (workers != 1)}"


def _memory() -> int:
    """The memory of the machine, or what a container may use of it, in bytes; 0 where nobody tells."""
    found = []
    for file, name in (("/proc/meminfo", "MemTotal:"), ("/sys/fs/cgroup/memory.max", "")):
        try:
            number = Path(file).read_text().partition(name)[2].split()[0] if name else Path(file).read_text().strip()
        except (OSError, IndexError):
            continue
        if number.isdigit():
            found.append(int(number) * (1024 if name else 1))
    return min(found, default=0)
