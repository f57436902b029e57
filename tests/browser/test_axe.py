"""Every page as axe sees it (the short run: the main ones), with all that is folded open: no violation above minor, at phone and desktop
width, in light and in dark.

Nothing sticks out of a page either.
"""

from itertools import cycle, islice
from operator import attrgetter

import pytest

from helpers.chromium import DESKTOP, PHONE
from helpers.tour import Tour

TURNS = [[(PHONE, "light")], [(DESKTOP, "dark")], [(PHONE, "dark")], [(DESKTOP, "light")]]  # pages share their parts: one way each will do
ALL_WAYS = [(size, scheme) for size in (PHONE, DESKTOP) for scheme in ("light", "dark")]
STICKS_OUT = """() => [...document.querySelectorAll("body *")].filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth)
    .map(one => one.outerHTML.slice(0, 160)).at(-1)"""  # the innermost element with something that does not fit into it
GRAVE = ("moderate", "serious", "critical")


class Eyes:
    """Looks at pages and notes what axe finds on them."""

    def __init__(self, ways):
        self.axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed").Axe()
        self.ways, self.found = cycle(ways), []

    def look(self, page, name):
        page.evaluate("for (const folded of [...document.querySelectorAll('details')].slice(0, 20)) folded.open = true")
        for size, scheme in next(self.ways):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            for rule in self.axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]:
                if rule["impact"] in GRAVE:
                    self.found.append(f"{name}, {size['width']}, {scheme}: {rule['id']}: {rule['nodes'][0]['html'][:160]}")
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > size["width"]:
                self.found.append(f"{name}, {size['width']}: {wide} wide: {page.evaluate(STICKS_OUT)}")


def walk(tour, eyes, all_pages):
    browsers = {who: tour.browser(who, bypass_csp=True) for who in ("guest", "teacher", "colleague", "taker")}
    some = islice(filter(attrgetter("main"), tour.at_once()), 0, None, 2)  # the rest in the long run
    for stop in tour.stops(browsers["teacher"]) if all_pages else some:
        page = browsers[stop.who]
        page.watch.expected = {stop.status}
        assert page.goto(tour.site / stop.path).status == stop.status, stop
        eyes.look(page, stop.name)
    browsers["teacher"].watch.expected = {200}
    for name in tour.sending(browsers["teacher"]):
        eyes.look(browsers["teacher"], name)
    for name in tour.taking(browsers["taker"]):
        eyes.look(browsers["taker"], name)
    assert not eyes.found, "\n".join(eyes.found)


def test_no_main_page_breaks_a_grave_rule(site, browse):
    walk(Tour(site, browse), Eyes(TURNS), all_pages=False)


@pytest.mark.long
def test_no_page_breaks_a_grave_rule_in_any_size_and_colours(site, browse):
    walk(Tour(site, browse), Eyes([ALL_WAYS]), all_pages=True)
