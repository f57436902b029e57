"""The wheel: built from the checkout and installed in an empty environment it has the command and the bundled banks."""

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from helpers.environments import BIN, fresh, run
from helpers.paths import ROOT
from quaestor import __version__, bundled_banks
from quaestor.web.render.language import LANGUAGES

PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def repository():
    """The files of the repository, but for caches and what starts with a dot."""
    top = {path for path in ROOT.iterdir() if not path.name.startswith(".")}
    return top | {path for path in (ROOT / "src").rglob("*") if "__pycache__" not in path.parts}


def interpreter(version):
    """A Python of this version, on the path or where pyenv keeps them; None where there is none."""
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
    for found in (shutil.which(f"python{version}"), *map(str, kept)):
        if found and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0:
            return found
    return None


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
@pytest.mark.parametrize("version", PYTHONS)
def test_the_bare_wheel_works_from_another_folder(wheel, version, tmp_path):
    """With the newest versions of what it needs, on every Python that is there."""
    found = interpreter(version)
    if found is None:
        pytest.skip(f"no Python {version} here")
    run(found, "-m", "venv", "environment", folder=tmp_path)
    python, command = (str(tmp_path / "environment" / BIN / name) for name in ("python", "quaestor"))
    run(python, "-m", "pip", "install", "--quiet", str(wheel), folder=tmp_path)
    brought = run(python, "-m", "pip", "list", "--format=freeze", folder=tmp_path).lower()
    assert {line.split("==")[0] for line in brought.split()} - {"pip", "setuptools"} == {
        *("array-api-compat", "numpy", "pyyaml", "quaestor", "scipy")
    }
    checked = run(command, "check", *bundled_banks(), folder=tmp_path)
    assert checked.count("no errors, no warnings") == len(bundled_banks())
    program = "import quaestor; print(len(quaestor.load('fractions').questions)); print(quaestor.__file__)"
    questions, place = run(python, "-W", "error", "-c", program, folder=tmp_path).splitlines()
    assert questions == "44"
    assert Path(place).is_relative_to(tmp_path / "environment")
    for words, extra in (("show fractions", "terminal"), ("serve --data data", "web"), ("convert fractions copy.xlsx", "sheets")):
        done = subprocess.run([command, *words.split()], cwd=tmp_path, env=fresh(), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith(f'pip install "quaestor[{extra}]"\n')
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.long
def test_what_is_published_is_in_order(tmp_path):
    """Wheel and sdist as twine wants them, and a citation that is valid."""
    venv.create(tmp_path / "environment", with_pip=True)
    python = str(tmp_path / "environment" / BIN / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "build", "cffconvert", "twine"]
    if subprocess.run(pip, cwd=tmp_path, env=fresh(), capture_output=True, check=False).returncode:
        pytest.skip("no package index is reachable, so build, twine and cffconvert cannot be installed")
    run(python, "-m", "build", "--outdir", str(tmp_path / "dist"), str(ROOT), folder=tmp_path)
    files = sorted(map(str, (tmp_path / "dist").iterdir()))
    assert len(files) == 2
    assert run(python, "-m", "twine", "check", "--strict", *files, folder=tmp_path).count("PASSED") == 2
    converted = str(tmp_path / "environment" / BIN / "cffconvert")
    run(converted, "--validate", "-i", str(ROOT / "CITATION.cff"), folder=tmp_path)
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()
