"""Programs run as from a fresh shell, in environments of their own."""

import os
import subprocess

BIN = "Scripts" if os.name == "nt" else "bin"


def fresh():
    """The variables of this process, but for those of Python: another environment must not find our source."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(*command, folder):
    """Run a program; what it printed."""
    done = subprocess.run(command, cwd=folder, env=fresh(), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
