"""What the steps of a test with a bank will cost, said before anybody takes it."""

from fastapi import Request

from quaestor.bankfile.bank import Bank
from quaestor.report.slowness import told_cost
from quaestor.session.limited import COST
from quaestor.session.session import Session
from quaestor.store.attempts.pace import found, is_quick
from quaestor.web.render.pages import settings


def cost_of(request: Request, bank: Bank) -> str:
    """What takers will feel of a bank, in words; empty where that is nothing."""
    return "" if is_quick(bank) else told_cost(bank, found(COST, Session(bank)), settings(request).step_seconds)
