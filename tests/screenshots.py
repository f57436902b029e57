"""`make screenshots`: every main page at 390 and 1280 px, light and dark, with the demo class, into the folder `screenshots/`.

A name after the command draws only the pages whose names begin so.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from browsers import DESKTOP, PHONE, serve, started, windows
from tour import Tour

from quaestor.store.database import Database

FOLDER = Path("screenshots")
WAYS = [(size, scheme) for size in (PHONE, DESKTOP) for scheme in ("light", "dark")]


def draw(page: Any, name: str) -> None:
    """One page in all four ways."""
    if not name.startswith(tuple(sys.argv[1:]) or ""):
        return
    for size, scheme in WAYS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=FOLDER / f"{name}-{size['width']}-{scheme}.png", full_page=True, animations="disabled")


def main() -> int:
    """Fill a server, open its pages, draw them."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.db"
        database = Database(f"sqlite:///{empty}")
        database.migrate()
        database.close()
        served = serve(Path(folder), empty)
        with started() as chromium, windows(chromium) as opened:
            tour = Tour(next(served), opened)
            browsers = {who: tour.browser(who) for who in ("guest", "teacher", "taker")}
            for stop in tour.stops(browsers["teacher"]):
                page = browsers[stop.who]
                page.watch.expected = {stop.status}
                if stop.main:
                    page.goto(tour.site / stop.path)
                    draw(page, stop.name)
            for name in tour.taking(browsers["taker"]):
                draw(browsers["taker"], name)
        served.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
