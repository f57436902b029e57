"""What tests let a process with limits do: a new process imports it from here by name."""

import os
import signal

from quaestor.errors import BankError, Problem
from quaestor.i18n import say


def told(words):
    """Gives back what it was given, and who did it."""
    return words, os.getpid()


def spin():
    while True:
        pass


def hoard(megabytes):
    return len(bytearray(megabytes * 1_000_000))


def refuse():
    raise BankError([Problem("file", say("a rule of {count}", count=3), "nothing")], "x.yaml")


def stumble():
    raise ZeroDivisionError("nobody foresaw this")


def fall():
    os.kill(os.getpid(), signal.SIGSEGV)


def announce():
    """Says that it is there, and stays."""
    os.write(1, b"here\n")
    spin()
