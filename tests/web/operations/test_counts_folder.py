"""The folder of the counts of several workers: it goes with the server, also with one that was killed."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from quaestor.web.operations.counts_folder import PREFIX, clear_abandoned, counts_folder

OWNER = """
import sys
from pathlib import Path
from quaestor.web.operations.counts_folder import counts_folder
with counts_folder() as folder:
    (Path(folder) / "counter_1.db").write_text("1")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield tmp_path
    tempfile.tempdir = None


def test_the_folder_goes_with_the_server():
    with counts_folder() as folder:
        clear_abandoned()
        assert Path(folder).is_dir()
    assert not Path(folder).exists()


def test_the_folder_of_a_server_that_was_killed_goes_at_the_next_start(temporary):
    (temporary / "another-folder").mkdir()
    (temporary / f"{PREFIX}link").symlink_to(temporary / "another-folder")
    with subprocess.Popen([sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        folder = Path(owner.stdout.readline().strip())
        assert folder.parent == temporary
        clear_abandoned()
        assert (folder / "counter_1.db").exists(), "it lives"
        owner.kill()
    assert folder.exists()
    clear_abandoned()
    assert sorted(path.name for path in temporary.iterdir()) == ["another-folder", f"{PREFIX}link"]
