"""Replies of the API: the same request again gets the same reply, whatever happens at the same moment."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from quaestor.store import clock, replies, teachers
from quaestor.store.database import Database
from quaestor.store.models import Reply, Token


@pytest.fixture
def token(database):
    with database.work() as work:
        teachers.api_token(work, teachers.owner(work, "owner@school.example"), "platform", ["sessions"])
        return work.scalar(select(Token))


def test_the_same_request_gets_the_same_reply(database, token):
    with database.work() as work:
        assert replies.earlier(work, token, "a", "/answers", "hash") is None
        replies.keep(work, token, "a", "/answers", "hash", 201, {"step": 2, "name": "Ä"})
    with database.read() as work:
        assert replies.earlier(work, token, "a", "/answers", "hash") == replies.Earlier(201, {"step": 2, "name": "Ä"})
        assert replies.earlier(work, token, "b", "/answers", "hash") is None
        for route, request in (("/answers", "other"), ("/skips", "hash")):
            with pytest.raises(
                replies.ReplayError, match="an idempotency key is used for one request, got 'a' with another one within 24 hours"
            ):
                replies.earlier(work, token, "a", route, request)


def test_a_reply_is_forgotten_after_a_day(database, token, monkeypatch):
    with database.work() as work:
        replies.keep(work, token, "a", "/answers", "hash", 201, None)
    monkeypatch.setattr(replies, "now", lambda: clock.now() + timedelta(hours=25))
    with database.work() as work:
        assert replies.earlier(work, token, "a", "/answers", "other") is None
        replies.keep(work, token, "b", "/answers", "hash", 200, [1])
        replies.forget_old(work, replies.now())
        assert work.scalars(select(Reply.key)).all() == ["b"]


def test_a_key_may_be_used_again_just_after_a_day(database, token, monkeypatch):
    """The old reply is still there: it is deleted within an hour only."""
    with database.work() as work:
        replies.keep(work, token, "a", "/answers", "hash", 201, "old")
    later = clock.now() + timedelta(hours=24, seconds=1)
    monkeypatch.setattr(replies, "now", lambda: later)
    with database.work() as work:
        replies.keep(work, token, "a", "/skips", "other", 200, "new")
    with database.read() as work:
        assert replies.earlier(work, token, "a", "/skips", "other") == replies.Earlier(200, "new")
        assert work.scalar(select(Reply.created)) == later
    with pytest.raises(replies.ReplayError, match="is being answered at this moment"), database.work() as work:
        replies.keep(work, token, "a", "/skips", "other", 200, "once more")


def test_of_two_equal_requests_at_once_one_is_undone(database, token):
    other = Database(database.engine.url.render_as_string(hide_password=False))
    with database.work() as work:
        replies.keep(work, token, "a", "/answers", "hash", 201, 1)
    with (
        pytest.raises(replies.ReplayError, match="is being answered at this moment, got 'a' again; send it once more"),
        other.work() as work,
    ):
        replies.keep(work, token, "a", "/answers", "hash", 201, 2)
    other.close()
    with database.read() as work:
        assert work.scalar(select(func.count()).select_from(Reply)) == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "a\0b", "ä"])
def test_keys_that_are_none(database, token, key):
    with database.read() as work, pytest.raises(replies.ReplayError, match="1 to 200 printable letters"):
        replies.earlier(work, token, key, "/answers", "hash")
