"""The documentation as Chromium shows it under the server's content security policy: nothing refused, axe content, search works."""

import pytest

from helpers.chromium import DESKTOP, PHONE
from quaestor.web.documentation import SITE

PAGES = ("index", "tutorials/researcher", "how-to/tasks", "mathematics", "notebooks/the-paper", "api", "http-api")
GRAVE = ("moderate", "serious", "critical")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the documentation is not built; `make docs` builds it"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_pages_break_no_grave_rule(site, browse, size, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed").Axe()
    page = browse(viewport=size, color_scheme=scheme)
    found = []
    for name in PAGES:
        page.goto(site / f"docs/{name}.html")
        rules = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
        found += [f"{name}: {rule['id']}: {rule['nodes'][0]['html'][:160]}" for rule in rules if rule["impact"] in GRAVE]
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
    assert found == []


def test_search_finds_a_page(site, browse):
    page = browse()
    page.goto(site / "docs")
    page.fill("input[name=q]", "Sympson")
    page.press("input[name=q]", "Enter")
    page.click("#search-results a:has-text('decision graphs')")
    assert "policy.html" in page.url
