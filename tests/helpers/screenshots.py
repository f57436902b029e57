"""`make screenshots`: every main page at 390 and 1280 px, light and dark, with the demo class, into the folder `screenshots/`.

Names after the command draw only the pages that begin so; `readme` draws the four pictures of README.md into `docs/pictures/`.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from helpers.chromium import DESKTOP, PHONE, serve, started, windows
from helpers.tour import Tour
from quaestor.store.database import Database
from quaestor.store.models import Attempt

FOLDER, PICTURES = Path("screenshots"), Path("docs", "pictures")
WAYS = [(size, scheme) for size in (PHONE, DESKTOP) for scheme in ("light", "dark")]


def draw(page: Any, name: str) -> None:
    """One page in all four ways."""
    if not name.startswith(tuple(sys.argv[1:]) or ""):
        return
    for size, scheme in WAYS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=FOLDER / f"{name}-{size['width']}-{scheme}.png", full_page=True, animations="disabled")


def all_of_them(tour: Tour) -> None:
    """Every main page."""
    FOLDER.mkdir(exist_ok=True)
    browsers = {who: tour.browser(who) for who in ("guest", "teacher", "colleague", "taker")}
    for stop in tour.stops(browsers["teacher"]):
        page = browsers[stop.who]
        page.watch.expected = {stop.status}
        if stop.main:
            page.goto(tour.site / stop.path)
            draw(page, stop.name)
    for name in tour.sending(browsers["teacher"]):
        draw(browsers["teacher"], name)
    for name in tour.taking(browsers["taker"]):
        draw(browsers["taker"], name)


def readme(tour: Tour) -> None:
    """The pictures of README.md: a question being written, a class at work; on a phone a question and a result."""
    teacher = tour.browser("teacher", viewport={"width": 1280, "height": 900})
    teacher.goto(tour.site / f"teacher/drafts/{tour.draft}/questions/M3")
    teacher.screenshot(path=PICTURES / "editor.png")
    teacher.goto(tour.site / f"teacher/tests/{tour.demo}/live")
    teacher.screenshot(path=PICTURES / "live.png")
    with tour.site.database.read() as work:
        sittings = work.query(Attempt).filter(Attempt.test_id == tour.demo).order_by(Attempt.ended.is_not(None)).all()
    taker = tour.browser("taker", viewport=PHONE, device_scale_factor=2)
    for state in sittings:
        where = tour.site / f"take/{state.id}"
        taker.context.add_cookies([{"name": "taker", "value": state.key, "url": where}])
        taker.goto(where)
        if taker.locator(".options math").count():
            taker.locator(".options input").nth(1).check()
            taker.screenshot(path=PICTURES / "question.png")
        elif state.ended:
            taker.screenshot(path=PICTURES / "result.png")
            return


def main() -> int:
    """Fill a server, open its pages, draw them."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.db"
        database = Database(f"sqlite:///{empty}")
        database.migrate()
        database.close()
        served = serve(Path(folder), empty)
        with started() as chromium, windows(chromium) as opened:
            tour = Tour(next(served), opened)
            readme(tour) if "readme" in sys.argv[1:] else all_of_them(tour)
        served.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
