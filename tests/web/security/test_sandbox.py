"""Work in a process with limits on its time and memory: it is ended hard, in a sentence, and whoever waits goes on."""

import os
import subprocess
import sys
import time
from threading import BoundedSemaphore

import pytest

import quaestor as qs
from helpers import piecework
from helpers.paths import TESTS
from helpers.servers import descendants, is_running, until
from quaestor.errors import BankError
from quaestor.formats.files import dump_bytes
from quaestor.i18n import Said, said
from quaestor.store.database import UnavailableError
from quaestor.web.security import sandbox as working_apart
from quaestor.web.security import uploads
from quaestor.web.security.sandbox import LimitsError, apart

GOOD = dump_bytes(qs.load("multiplication"), ".yaml")


def test_what_a_function_gives_comes_back():
    words, who = apart(piecework.told, ["a", {"b": 1.5}], seconds=30, megabytes=100)
    assert (words, who == os.getpid()) == (["a", {"b": 1.5}], False)


def test_work_without_an_end_is_ended():
    began = time.monotonic()
    with pytest.raises(LimitsError) as caught:
        apart(piecework.spin, seconds=0.3, megabytes=100)
    assert time.monotonic() - began < 10
    assert said(caught.value) == "this is done within 0.3 seconds and 100 MB of memory, got more time"


def test_work_that_needs_too_much_memory_is_ended():
    assert apart(piecework.hoard, 50, seconds=30, megabytes=200) == 50_000_000
    with pytest.raises(LimitsError, match="this is done within 30 seconds and 200 MB of memory, got more memory"):
        apart(piecework.hoard, 300, seconds=30, megabytes=200)


def test_a_process_that_falls_takes_nobody_along():
    with pytest.raises(LimitsError, match="got more memory"):
        apart(piecework.fall, seconds=30, megabytes=100)


def test_refusals_come_back_as_they_were_said():
    with pytest.raises(BankError) as caught:
        apart(piecework.refuse, seconds=30, megabytes=100)
    (problem,) = caught.value.problems
    assert isinstance(problem.rule, Said)
    assert str(caught.value) == "x.yaml:file: a rule of 3, got nothing"


def test_what_nobody_foresaw_is_no_refusal():
    with pytest.raises(RuntimeError, match="ZeroDivisionError: nobody foresaw this"):
        apart(piecework.stumble, seconds=30, megabytes=100)


def test_only_so_much_is_done_at_a_time(monkeypatch):
    monkeypatch.setattr(working_apart, "_room", BoundedSemaphore(1))
    with working_apart._room, pytest.raises(UnavailableError, match="busy with other files"):
        apart(piecework.told, 1, seconds=0.05, megabytes=100)
    assert apart(piecework.told, 1, seconds=30, megabytes=100)[0] == 1


def test_a_bank_that_takes_too_long_is_refused_in_words(monkeypatch):
    assert uploads.read_bank(GOOD, ".yaml") == qs.load("multiplication")
    monkeypatch.setattr(uploads, "SECONDS", 0.2)
    slow = b"questions: [" + b"a," * 1_000_000 + b"a]"
    with pytest.raises(BankError, match=r"^file: this is done within 0\.2 seconds and 1,000 MB of memory, got more time \(split the file"):
        uploads.read_bank(slow, ".yaml")


PARENT = """
from threading import Thread
from helpers import piecework
from quaestor.web.security.sandbox import apart
Thread(target=apart, args=(piecework.announce,), kwargs={"seconds": 60, "megabytes": 200}).start()
"""


@pytest.mark.long
def test_work_ends_with_the_process_that_waits_for_it():
    """Also what it was forked off; all of them hold the output open, and that they end is seen there."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout.readline() == "here\n"
        others = descendants(parent.pid)
        parent.kill()
        assert len(others) >= 2
        assert parent.communicate(timeout=10) == ("", None)
        until(lambda: not any(map(is_running, others)), 5)
