"""Images of a test: their addresses tell nothing of the author's file names, and only those of questions that were put are handed out."""

import hashlib
import io
import re
from base64 import b64encode

import pytest
from PIL import Image

import quaestor as qs
from helpers.browsing import ORDER, PICTURE, application, enter, give
from helpers.school import opened
from quaestor.formats.files import dump_bytes
from quaestor.store import media, publishing
from quaestor.store.models import BankVersion

OTHER = PICTURE[:-1] + b"\x83"
HASHES = {name: hashlib.sha256(content).hexdigest() for name, content in {"oak-leaf.png": PICTURE, "elm-leaf.png": OTHER}.items()}
SHOWN = {"text": "Which tree is this?", "kind": "text", "skill": "trees", "right": [0.2, 0.9]}
IMAGES = {"oak-leaf.png": PICTURE, "elm-leaf.png": OTHER}


def leaves(*trees):
    """A bank that asks for trees by their leaves."""
    questions = {tree: {**SHOWN, "correct": tree, "media": f"{tree}-leaf.png"} for tree in trees}
    return qs.Bank({"title": "Leaves", "skills": {"trees": {}}, "questions": questions})


LEAVES = leaves("oak", "elm")


def test_the_address_of_an_image_does_not_tell_its_name(database):
    browser = enter(application(database), give(database, LEAVES, ORDER, IMAGES, mode="practice"))
    assert "leaf" not in browser.page.text
    source = re.search(r'<img class="media" src="([^"]*)"', browser.page.text)[1]
    assert browser.client.get(source).content == PICTURE
    browser.fill("/answer", entry="birch")
    assert "leaf" not in browser.page.text
    assert f'src="{source}"' in browser.page.text


def test_only_images_of_questions_that_were_put_are_shown(database):
    browser = enter(application(database), give(database, LEAVES, ORDER, IMAGES))
    assert [browser.client.get(f"/take/1/media/{one}").status_code for one in HASHES.values()] == [200, 404]
    assert [browser.client.get(f"/take/1/media/{one}").status_code for one in HASHES] == [404, 404]
    browser.fill("/answer", entry="birch")
    assert [browser.client.get(f"/take/1/media/{one}").status_code for one in HASHES.values()] == [200, 200]
    browser.fill("/answer", entry="birch")
    assert [browser.client.get(f"/take/1/media/{one}").status_code for one in HASHES.values()] == [200, 200]


def test_an_image_of_another_bank_is_not_there(database):
    give(database, LEAVES, ORDER, IMAGES)
    browser = enter(application(database), give(database, leaves("elm"), ORDER, {"elm-leaf.png": OTHER}))
    assert [browser.client.get(f"/take/1/media/{one}").status_code for one in HASHES.values()] == [404, 200]


def test_a_question_without_an_image_has_no_address(database):
    browser = enter(application(database), give(database))
    browser.fill("/answer", skip="1")
    assert "<img" not in browser.page.text
    assert browser.client.get("/take/1/media/").status_code == 404


@pytest.fixture(scope="module")
def school(tmp_path_factory, migrated_file):
    with opened(tmp_path_factory.mktemp("school"), migrated_file) as made:
        yield made


def test_a_program_gets_no_other_images_than_a_taker(school):
    with school.database.work() as work:
        kept = publishing.keep_bank(work, school.people["teacher"], LEAVES, IMAGES)
        test = publishing.publish(work, school.people["teacher"], kept, ORDER, publishing.Conditions()).id
    token = school.tokens["sessions"]
    begun = school.call("POST", "/api/v1/sessions", token, {"test": test, "name": "Ada"}).json()
    home, image = f"/api/v1/sessions/{begun['session']}", begun["question"]["image"]
    assert image == f"{home}/images/{HASHES['oak-leaf.png']}"
    assert school.call("GET", image, token).content == PICTURE
    assert school.call("GET", f"{home}/images/oak-leaf.png", token).status_code == 404
    assert school.call("GET", f"{home}/images/{HASHES['elm-leaf.png']}", token).status_code == 404
    answered = school.call("POST", f"{home}/answers", token, {"step": 1, "entry": "oak"}).json()
    assert school.call("GET", answered["question"]["image"], token).content == OTHER
    stale = school.call("POST", f"{home}/answers", token, {"step": 1, "entry": "oak"}).json()
    assert stale["state"]["question"]["image"] == answered["question"]["image"]
    assert school.call("GET", home, token).json()["question"]["image"] == answered["question"]["image"]
    school.restore()


def photograph():
    exif = Image.Exif()
    exif[0x010F] = "Secret Camera"
    made = io.BytesIO()
    Image.new("RGB", (30, 20), "green").save(made, "JPEG", exif=exif)
    assert b"Secret" in made.getvalue()
    return made.getvalue()


def test_an_uploaded_image_keeps_nothing_but_its_pixels(school):
    draft = school.places["draft"]
    school.post("teacher", f"/teacher/drafts/{draft}/images", {}, {"images": ("leaf.jpg", photograph())})
    assert_clean(school.get("teacher", f"/teacher/drafts/{draft}/media/leaf.jpg").content)
    written = dump_bytes(
        qs.Bank({**leaves("oak").document, "questions": {"oak": {**SHOWN, "correct": "oak", "media": "leaf.jpg"}}}), ".yaml"
    )
    page = school.post("teacher", "/teacher/banks", {}, {"file": ("bank.yaml", written), "images": ("leaf.jpg", photograph())})
    assert_clean(school.get("teacher", f"{page.headers['location']}/media/leaf.jpg").content)
    body = {"content": written.decode(), "ending": ".yaml", "images": {"leaf.jpg": b64encode(photograph()).decode()}}
    kept = school.call("POST", "/api/v1/banks", school.tokens["banks"], body).json()["id"]
    with school.database.read() as work:
        assert_clean(media.image(work, work.get_one(BankVersion, kept), "leaf.jpg")[1])
    school.restore()


def assert_clean(content):
    assert b"Secret" not in content
    assert Image.open(io.BytesIO(content)).size == (30, 20)


def test_an_image_that_cannot_be_shown_is_refused_in_words(school):
    page = school.post("teacher", f"/teacher/drafts/{school.places['draft']}/images", {}, {"images": ("leaf.jpg", photograph()[:-200])})
    assert page.status_code == 400
    assert "an image can be shown, got a damaged one in &#39;leaf.jpg&#39;" in page.text
