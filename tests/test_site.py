"""The documentation as a site: every page has its place, its notebooks run, and nothing comes from elsewhere."""

import importlib.util
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import matplotlib as mpl
import pytest
from starlette.testclient import TestClient

from helpers.paths import ROOT
from helpers.site import build
from quaestor.store.database import Database
from quaestor.web import documentation
from quaestor.web.app import create
from quaestor.web.settings import Settings

DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
LINES = 15  # of the first program of a task
DATA = ROOT.parent / "shared" / "data" / "fraction_subtraction"


def tasks():
    """The pages that the table of tasks links to, with their first programs."""
    table = (DOCS / "how-to" / "tasks.md").read_text(encoding="utf-8").split("For teachers")[0]
    pages = [DOCS / "how-to" / link for link in re.findall(r"\]\(([\w-]+\.md)\)", table)]
    return {page.stem: re.search(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE) for page in pages}


def test_every_task_begins_with_a_short_program():
    """That they run is tested with all examples of the docs."""
    assert len(tasks()) >= 9
    counted = {name: len([line for line in found[1].splitlines() if line.strip()]) for name, found in tasks().items()}
    assert {name: lines for name, lines in counted.items() if lines > LINES} == {}


def test_first_programs_need_no_file_of_the_repository():
    """Whoever installed the package can run them."""
    assert {name for name, found in tasks().items() if re.search(r"[\"'](?:docs|examples|studies|tests)/", found[1])} == set()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, monkeypatch):
    """Their code, cell by cell, without a kernel; with one, and with what they show, in a long test."""
    monkeypatch.chdir(path.parent)
    mpl.use("Agg")
    names: dict[str, object] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), path.name, "exec"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_hold_no_place_of_a_machine(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w.])/(?:home|work|root|tmp|Users|usr|opt)/\S*|[A-Z]:\\\\", text) == []
    assert {key for cell in json.loads(text)["cells"] for key in cell["metadata"]} == set()


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_show_what_they_show(path):
    if path.stem == "learning" and not DATA.exists():
        pytest.skip("the answers of fraction subtraction are not in ../shared/data")
    pytest.importorskip("nbclient")
    spec = importlib.util.spec_from_file_location("run_notebooks", DOCS / "run_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = module.nbformat.read(path, as_version=4)
    assert module.printed(module.run(path)) == module.printed(stored), "run `make notebooks`"


class Links(HTMLParser):
    """What a page refers to, what can be referred to in it, and what stands inline."""

    def __init__(self, page):
        super().__init__()
        self.links, self.said, self.loaded, self.ids, self.inline = set(), set(), set(), set(), []  # said: links of the text itself
        self.inside = False
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.inside |= tag == "article"
        if self.inside and tag == "a":
            self.said.add(found.get("href", ""))
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        if found.get("href"):
            (self.loaded if tag == "link" else self.links).add(found["href"])
        if found.get("src"):
            self.loaded.add(found["src"])
        if (tag == "script" and "src" not in found) or tag == "style" or any(name == "style" or name.startswith("on") for name in found):
            self.inline.append(self.get_starttag_text())

    def handle_endtag(self, tag):
        self.inside &= tag != "article"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    return build(tmp_path_factory.mktemp("docs"))


def pages_linked(path):
    """The pages of the site that a page or notebook links to, as files of docs/."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")
    links = re.findall(
        r"(?<!!)\[[^\]]+\]\(([^)#:\s]+\.(?:md|ipynb))(?:#[^)]*)?\)", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    )
    return {found for link in links if (found := (path.parent / link).resolve()).is_relative_to(DOCS)}


SOURCES = [path for pattern in ("*.md", "*/*.md", "notebooks/*.ipynb") for path in sorted(DOCS.glob(pattern))]


def test_links_to_pages_stay_links_and_others_become_names():
    """Without building the site: what its configuration makes of a page before it is read."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("site_conf", DOCS / "conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    kept = "[a](../notebooks/study.ipynb), [b](../tutorials/teacher.md#x), [c](../policy.md), [d](add-a-score.md), "
    source = [f"{kept}[e](../../benchmarks/README.md#x)"]
    conf.only_inside(None, "how-to/tasks", source)
    assert source == [f"{kept}e (`benchmarks/README.md` in the repository)"]


@pytest.mark.long
def test_every_link_to_a_page_is_a_link_on_the_site(site):
    pages = {path: pages_linked(path) for path in SOURCES}
    assert len(pages) > 40
    assert {path.parent.name for found in pages.values() for path in found} >= {"docs", "how-to", "notebooks"}
    for path, wanted in pages.items():
        page = (site / path.relative_to(DOCS)).with_suffix(".html")
        found = {(page.parent / unquote(urlsplit(link).path)).resolve() for link in Links(page).said}
        assert {one.name for one in wanted if (site / one.relative_to(DOCS)).with_suffix(".html") not in found} == set(), path.name


@pytest.mark.long
def test_all_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    pages = {page: Links(page) for page in site.rglob("*.html")}
    assert len(pages) > 40
    for page, found in pages.items():
        assert found.inline == [], page.name
        assert re.findall(r"(?:<mi>\w</mi>){15,}", page.read_text(encoding="utf-8")) == [], f"{page.name}: prose taken for a formula"
        loaded = [urlsplit(one) for one in found.loaded if not one.startswith("data:image/")]
        assert [one for one in loaded if one.netloc or not (page.parent / unquote(one.path)).exists()] == []
        for link in found.links:
            parts = urlsplit(link)
            if parts.netloc or parts.scheme:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.exists(), f"{page.relative_to(site)}: {link}"
            known = pages.get(target)
            assert not parts.fragment or known is None or unquote(parts.fragment) in known.ids, f"{page.relative_to(site)}: {link}"
    scripts = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*", scripts) == []


def served(tmp_path, monkeypatch, site):
    monkeypatch.setattr(documentation, "SITE", site)
    database = Database(f"sqlite:///{tmp_path / 'kept.db'}")
    return TestClient(create(Settings(data=str(tmp_path)), database), base_url="http://127.0.0.1", follow_redirects=True)


def test_the_server_has_it_at_docs(tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "how-to").mkdir(parents=True)
    (site / "index.html").write_text("<h1>All pages</h1>")
    (site / "how-to" / "tasks.html").write_text("<h1>Tasks</h1>")
    browser = served(tmp_path, monkeypatch, site)
    for path, words in (("/docs", "All pages"), ("/docs/", "All pages"), ("/docs/how-to/tasks.html", "Tasks")):
        found = browser.get(path)
        assert (found.status_code, words in found.text) == (200, True)
        assert "script-src 'self';" in found.headers["content-security-policy"]
    assert browser.get("/docs/nothing.html").status_code == 404
    assert browser.get("/docs/../kept.db").status_code == 404


def test_where_it_was_not_built_the_server_says_how(tmp_path, monkeypatch):
    browser = served(tmp_path, monkeypatch, Path(tmp_path / "nowhere"))
    for path in ("/docs", "/docs/", "/docs/api.html"):
        found = browser.get(path, headers={"accept": "text/html"})
        assert found.status_code == 404
        assert "make docs" in found.text
