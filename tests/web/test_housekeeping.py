"""What is done whoever is there: it goes on whatever goes wrong."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from helpers.browsing import give
from quaestor.errors import QuaestorError
from quaestor.store import attempts, clock, privacy
from quaestor.store.models import Attempt
from quaestor.web import housekeeping


@pytest.mark.parametrize("error", [QuaestorError("the database is away"), ValueError("nobody foresaw this")])
def test_the_house_is_kept_whatever_goes_wrong(monkeypatch, caplog, error):
    tidied = []

    def tidy(database):
        tidied.append(database)
        if len(tidied) == 1:
            raise error

    async def two_times():
        keeping = asyncio.create_task(housekeeping.keep_house("a database"))
        while len(tidied) < 2 and not keeping.done():
            await asyncio.sleep(0.01)
        keeping.cancel()

    monkeypatch.setattr(housekeeping, "tidy", tidy)
    monkeypatch.setattr(housekeeping, "EVERY", 0)
    asyncio.run(two_times())
    assert len(tidied) >= 2
    assert str(error) in caplog.text


def test_a_test_whose_names_cannot_be_erased_holds_up_no_other(make_database, monkeypatch, caplog):
    database = make_database("sqlite")
    for name in ("Ada", "Ben"):
        code = give(database, keep_days=1)
        with database.work() as work:
            attempts.enter(work, code, name)
    real = privacy.open_bank

    def damaged(bank):
        monkeypatch.setattr(privacy, "open_bank", real)
        raise RuntimeError("the bank is damaged")

    monkeypatch.setattr(privacy, "open_bank", damaged)
    monkeypatch.setattr(housekeeping, "now", lambda: clock.now() + timedelta(days=2))
    housekeeping.tidy(database)
    with database.read() as work:
        assert work.scalars(select(Attempt.name).order_by(Attempt.id)).all() == ["Ada", "erased"]
    assert "names of test 1 were not erased" in caplog.text
    housekeeping.tidy(database)
    with database.read() as work:
        assert set(work.scalars(select(Attempt.name))) == {"erased"}
