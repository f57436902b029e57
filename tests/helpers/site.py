"""The documentation as a site, built once for the tests that look at it."""

import subprocess
import sys

from helpers.paths import ROOT


def build(folder):
    """Build it there, as `make docs` does; what Sphinx warns of fails."""
    options = ["--quiet", "--fail-on-warning", "--keep-going", "-d", str(folder / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return folder / "site"
