"""Classes by the API: made once, used by tests, with one code; growth, and a child who is erased."""

import pytest
from sqlalchemy import func, select

from quaestor.store.models import Pupil, Reply, SchoolClass


@pytest.fixture
def made(small):
    """A class, by the API, and a test for it."""
    small.publish()
    api = small.api()
    found = api.post("/classes", {"title": "5a", "names": ["Ada Berg", "Ben Ott"], "source": "c1"}).json()
    test = api.post("/tests", {"bank": 1, "title": "Autumn", "by_list": True, "class_id": found["id"], "half_life": 90}).json()
    return api, found, test


def test_a_class_is_made_and_read(made):
    api, found, test = made
    assert [pupil["name"] for pupil in found["pupils"]] == ["Ada Berg", "Ben Ott"]
    assert (test["class_id"], test["half_life"]) == (found["id"], 90)
    assert api.get(f"/classes/{found['id']}").json() == {**found, "tests": [test["id"]]}
    (row,) = api.get("/classes").json()["classes"]
    assert (row["title"], row["pupils"], row["archived"]) == ("5a", 2, None)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"title": "5a", "names": ["Ada", "ada"]}, "this name stands there more than once"),
        ({"title": "5a", "names": ["=1"]}, "a name does not begin with ="),
        ({"title": " "}, "title"),
    ],
)
def test_a_class_that_cannot_be(small, body, words):
    small.publish()
    reply = small.api().post("/classes", body)
    assert reply.status_code == 400 or reply.status_code == 422
    assert words in reply.text
    with small.database.read() as work:
        assert work.scalar(select(func.count()).select_from(SchoolClass)) == 0


def test_half_a_life_needs_a_class(small):
    small.publish()
    reply = small.api().post("/tests", {"bank": 1, "half_life": 30})
    assert "only pupils of a class have earlier tests to start from" in reply.text
    assert "there is no such class" in small.api().post("/tests", {"bank": 1, "class_id": 99}).text


def test_a_pupil_takes_a_test_grows_and_is_erased(small, made):
    api, found, test = made
    ada = found["pupils"][0]
    begun = api.post("/sessions", {"test": test["id"], "code": ada["code"]}).json()
    assert begun["code"] == ada["code"]
    step = 1
    while not (now := api.post(f"/sessions/{begun['session']}/skips", {"step": step}).json()).get("over"):
        step += 1
    assert now["over"]
    path = f"/classes/{found['id']}/pupils/{ada['id']}"
    assert api.get(f"{path}/growth").json()["name"] == "Ada Berg"
    with small.database.read() as work:
        assert any("Ada Berg" in str(reply.body) for reply in work.scalars(select(Reply)))
    assert api.call("DELETE", path).status_code == 204
    with small.database.read() as work:
        assert work.scalars(select(Pupil.name)).all() == ["Ben Ott"]
        assert not any("Ada" in str(reply.body) for reply in work.scalars(select(Reply)))
    assert api.get(f"{path}/growth").status_code == 404
