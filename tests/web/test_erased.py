"""A real server of several workers: what a teacher deletes on a page is gone from all files while it runs."""

import re
from pathlib import Path

import httpx2
import pytest

from helpers.servers import Server, publish
from quaestor.formats.files import load_bytes
from quaestor.store import teachers
from quaestor.store.attempts import taking
from quaestor.store.models import Attempt

BANK = b"""
quaestor: 1
title: Who
skills: {s: {prior: [0.5, 0.5]}}
questions:
  Q1: {text: Who?, kind: text, accept: [Ada], skill: s, right: [0.2, 0.8]}
"""
NAME, TYPED = "Ada Unmistakable", "12 Secret Street"


@pytest.mark.long
@pytest.mark.parametrize("deleted", ["taker", "test"])
def test_what_a_teacher_deletes_is_gone_at_once(make_database, deleted):
    database = make_database("sqlite")
    code = publish(database, load_bytes(BANK, ".yaml"), 1)
    with database.work() as work:
        cookie = teachers.log_in(work, teachers.owner(work, ""))
    file = Path(database.engine.url.database)

    def left():
        content = b"".join(one.read_bytes() for one in file.parent.glob(f"{file.name}*"))
        return content.count(NAME.encode()) + content.count(TYPED.encode())

    with Server(str(database.engine.url), workers=2) as server:
        site = f"http://127.0.0.1:{server.port}"
        with httpx2.Client(base_url=site, follow_redirects=True) as taker:
            send(taker, f"/c/{code}", "/enter", name=NAME)
            send(taker, taker.last, "/answer", entry=TYPED)
        with database.read() as work:
            attempt = work.query(Attempt).one()
            assert taking.state_of(work, attempt).session.log[0].entry == TYPED
        assert left() >= 2
        with httpx2.Client(base_url=site, follow_redirects=True, cookies={"teacher": cookie}) as teacher:
            for _ in range(10):  # pages of both workers
                assert NAME in teacher.get(f"/teacher/tests/{attempt.test_id}/results").text
            page = f"/teacher/tests/{attempt.test_id}/" + (f"takers/{attempt.id}/delete" if deleted == "taker" else "delete")
            send(teacher, page, "/delete", code=code)
        assert left() == 0


def send(client, page, action, **fields):
    """Open a page and send its form."""
    shown = client.get(page)
    forms = re.findall(r'<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>', shown.text, re.S)
    target, inside = next(found for found in forms if found[0].endswith(action))
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', inside))
    answer = client.post(target, data={**hidden, **fields})
    assert answer.status_code == 200, answer.text
    client.last = str(answer.url)
