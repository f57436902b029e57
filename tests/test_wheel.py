"""The wheel: built from the checkout and installed in an empty environment it has the command and the bundled banks."""

import sys
import venv
import zipfile
from pathlib import Path

import pytest

from helpers.environments import BIN, run
from helpers.paths import ROOT
from quaestor import __version__, bundled_banks
from quaestor.web.render.language import LANGUAGES


def repository():
    """The files of the repository, but for caches and what starts with a dot."""
    top = {path for path in ROOT.iterdir() if not path.name.startswith(".")}
    return top | {path for path in (ROOT / "src").rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    before = repository()
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT), folder=folder)
    assert repository() == before
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert {f"quaestor/banks/{name}.yaml" for name in bundled_banks()} <= set(names)
    assert "quaestor/py.typed" in names
    assert {f"quaestor/web/locale/{language}/LC_MESSAGES/quaestor.po" for language in LANGUAGES if language != "en"} <= set(names)
    printed = ("table-1", "single-skill-accuracy", "single-skill-brier", "multi-skill-accuracy")
    assert {f"quaestor/published/{name}.csv" for name in printed} <= set(names)
    assert {name.split("/")[0] for name in names} == {"quaestor", f"quaestor-{__version__}.dist-info"}


@pytest.mark.long
def test_the_installed_wheel_works_from_another_folder(wheel, tmp_path):
    venv.create(tmp_path / "environment", with_pip=True)
    python, command = (str(tmp_path / "environment" / BIN / name) for name in ("python", "quaestor"))
    constraints = ROOT / "constraints.txt"
    limits = ["--constraint", str(constraints)] if constraints.exists() else []
    run(python, "-m", "pip", "install", "--quiet", *limits, str(wheel), folder=tmp_path)

    checked = run(command, "check", *bundled_banks(), folder=tmp_path)
    assert checked.count("no errors, no warnings") == len(bundled_banks())
    program = "import quaestor; print(len(quaestor.load('fractions').questions)); print(quaestor.__file__)"
    questions, place = run(python, "-c", program, folder=tmp_path).splitlines()
    assert questions == "44"
    assert Path(place).is_relative_to(tmp_path / "environment")
