"""Processes leave with the one that started them, whatever became of it."""

import subprocess
import sys

CHILD = "import sys, time; from quaestor.parent import leave_with; leave_with(int(sys.argv[1])); print('here', flush=True); time.sleep(60)"
PARENT = f"import os, subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}, str(os.getpid())])"


def test_a_process_leaves_when_its_parent_was_killed():
    """The child holds its output open: that it ends is seen there."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "here\n"
        parent.kill()
        assert parent.communicate(timeout=20) == ("", None)


def test_a_process_that_comes_too_late_leaves_as_well():
    late = subprocess.run([sys.executable, "-c", CHILD, "1234567"], capture_output=True, timeout=20, check=False)
    assert late.returncode == 1
