"""Which tests have steps that may take long, and what steps of these came to.

The steps of most banks are quick whatever was answered: exact numbers and few skills, or intervals where a closed form serves. All others
may take very long, some only late in a test: a server has these worked out elsewhere (`store.serving`), and finds them here.
"""

import hashlib
from dataclasses import replace
from time import thread_time
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.inference.engines.odds import applies
from quaestor.inference.joint import LARGEST
from quaestor.inference.layout import layout_of
from quaestor.selection.rules import Rules
from quaestor.session.limited import KINDS, PATH, STEP, WHY
from quaestor.session.session import Session
from quaestor.store import counters
from quaestor.store.memory import Memory
from quaestor.store.serving import SlowError, is_serving

MOST = 2_000_000  # numbers that a quick step may go through: some 20 ms
MOST_SKILLS, MOST_PARENTS = 60, 3  # of a credal bank with quick steps
SECONDS = 10.0  # of a step, where nobody waits for it
_found: Memory[str, tuple[Any]] = Memory(50_000_000)
_WEIGHTS = {PATH: 500_000, WHY: 20_000}  # bytes, roughly; of others 5,000


def is_quick(bank: Bank, rules: Rules | None = None) -> bool:
    """Whether steps are quick whatever was answered: those of the bank are, and the rules look no further than one question."""
    if rules is not None and rules.looks_far:
        return False
    if "_is_quick" not in bank.__dict__:
        bank.__dict__["_is_quick"] = _is_quick(bank)
    return bool(bank.__dict__["_is_quick"])


def _is_quick(bank: Bank) -> bool:
    layout = layout_of(bank)
    numbers = sum(batch.low.size for batch in layout.batches)
    if layout.is_precise:
        return layout.model.joint_size <= LARGEST and numbers + layout.model.joint_size * len(layout.batches) <= MOST
    few = len(bank.skills) <= MOST_SKILLS and max(map(len, layout.model.parents)) <= MOST_PARENTS and 10 * numbers <= MOST
    return few and applies(layout.model) and all(len(batch.scope) == 1 for batch in layout.batches)


def work_out(session: Session) -> None:
    """Work out what every page needs, so that the session has it when it is shown: the next question, and what is known."""
    if is_quick(session.bank, session.rules):
        begun = thread_time()
        session.next, session.beliefs  # noqa: B018
        counters.STEPS.observe(thread_time() - begun)
    elif "beliefs" not in session.__dict__:
        found(STEP, session).into(session)


def found(kind: str, session: Session) -> Any:
    """What something that may take long came to: a step of a session, or another of `limited.KINDS`."""
    key = key_of(kind, session)
    kept = _found.get(key)
    if kept is not None:
        return kept[0]
    if is_serving.get():
        raise SlowError(kind, session.bank.version, session, key)
    return KINDS[kind](session, SECONDS)


def keep_found(key: str, value: Any) -> None:
    """Remember what it came to, by the key of the `SlowError`."""
    _found.put(key, (value,), _WEIGHTS.get(key.partition(" ")[0], 5_000))


def key_of(kind: str, session: Session) -> str:
    """A sign of it: takers who begin a test that draws nothing share the first step."""
    if not session.log and not session.rules.is_random:
        session = replace(session, seed=0)
    return f"{kind} {hashlib.sha256(session.to_json().encode()).hexdigest()}"
