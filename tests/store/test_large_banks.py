"""Banks that take long to read: where others wait they are read elsewhere, however short they are written."""

import pytest

import quaestor as qs
from helpers.taking import publish
from quaestor.formats.files import load_bytes
from quaestor.store import publishing
from quaestor.store.attempts import session_cache
from quaestor.store.memory import cached
from quaestor.store.serving import SlowError, is_serving

BANK = """
quaestor: 2
skills: {s: {prior: [0.5, 0.5]}}
questions:
  Q1: {text: One?, options: &few [a, b, c], correct: a, skill: s, right: [0.2, 0.8]}
  Q2: {text: Two?, options: *few, correct: b, skill: s, right: [0.3, 0.8]}
"""


def test_a_bank_that_repeats_itself_by_name_is_read_elsewhere(make_database):
    database = make_database("sqlite")
    test = publish(database, load_bytes(BANK.encode(), ".yaml"))
    session_cache.forget_all()
    with database.work() as work:
        kept = work.merge(test).bank
        kept.content = BANK  # as an upload leaves it
    with database.read() as work:
        publishing.open_latest(work)
    assert cached.get(("bank", kept.version)) is None
    serving = is_serving.set(True)
    try:
        with pytest.raises(SlowError):
            publishing.open_bank(kept)
    finally:
        is_serving.reset(serving)
    assert isinstance(publishing.open_bank(kept), qs.Bank)


@pytest.mark.parametrize("text", ["**bold**", "2 * 3", "a*b", "- one", "2*x*y"])
def test_texts_with_stars_are_no_repetition(text):
    assert not publishing.is_large(f"questions:\n  Q1: {{text: '{text}'}}\n")
