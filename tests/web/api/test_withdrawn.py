"""A token that is withdrawn, and a teacher who is locked or removed, while a request is under way: it is refused as any other, with 401."""

import pytest

from helpers.rights import BANK
from helpers.school import steady
from quaestor.store import leaving
from quaestor.store.models import Teacher
from quaestor.web.api import banks, once


def withdraw(school):
    assert school.post("teacher", f"/teacher/account/tokens/{school.places['token']}/delete").status_code == 303


def lock(school):
    with school.database.work() as work:
        leaving.lock(work, school.places["person"])


def remove(school):
    with school.database.work() as work:
        leaving.remove(work, school.places["person"], work.get_one(Teacher, school.people["owner"].id))


def upload(school):
    return school.call("POST", "/api/v1/banks", school.tokens["token"], {"ending": ".yaml", "content": BANK.decode()})


def is_refused(reply):
    asks_for_a_token = reply.headers["www-authenticate"] == 'Bearer realm="quaestor"'
    return (reply.status_code, reply.json()["type"], asks_for_a_token) == (401, "urn:quaestor:token", True)


@pytest.mark.parametrize("end", [withdraw, lock, remove])
def test_before_the_write(school, monkeypatch, end):
    """What was read is kept no more: the token is gone between reading and writing."""
    read = banks.read_bank

    def read_and_end(*arguments):
        bank = read(*arguments)
        end(school)
        ended.append(steady(school.dump()))
        return bank

    ended = []
    monkeypatch.setattr(banks, "read_bank", read_and_end)
    reply = upload(school)
    assert is_refused(reply), reply.text
    assert [steady(school.dump())] == ended  # the request itself wrote nothing


@pytest.mark.parametrize("end", [withdraw, lock, remove])
def test_after_the_token_was_first_looked_up(school, monkeypatch, end):
    earlier = once.once

    def end_and_do(*arguments):
        end(school)
        return earlier(*arguments)

    monkeypatch.setattr(banks, "once", end_and_do)
    assert is_refused(upload(school))


@pytest.mark.parametrize("end", [withdraw, lock, remove])
def test_before_the_request(school, end):
    end(school)
    assert is_refused(upload(school))
    assert is_refused(school.call("GET", "/api/v1/banks", school.tokens["token"]))
