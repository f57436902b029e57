"""The teacher's pages: signing in, people, the account."""

import json
import re
import zlib
from base64 import urlsafe_b64encode

from helpers.teacher_pages import PASSWORD, count, one, put_bank, put_test
from quaestor.store import teachers
from quaestor.store.models import Link, Login, Published, Teacher, Token

# Signing in


def test_without_signing_in_every_page_leads_to_the_sign_in(visit):
    for path in ("/teacher", "/teacher/banks", "/teacher/banks/1", "/teacher/tests/1/results", "/teacher/account", "/teacher/people"):
        response = visit().get(path, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert put_bank(visit()).status_code == 403
    assert visit().fill("/teacher/tests/1/close").status_code == 403


def test_a_link_is_used_by_the_button_and_once(kept, join, visit):
    join()
    with kept.work() as work:
        secret = teachers.sign_in_link(work, work.query(Teacher).one())
    browser = visit()
    for _ in range(3):
        assert "signs you in once" in browser.get(f"/sign-in/{secret}").text
    before = browser.cookies["visit"]
    assert browser.fill(f"/sign-in/{secret}").headers["location"] == "/teacher"
    assert browser.cookies["visit"] != before
    assert "Hello, Ada" in browser.get("/teacher").text
    again = visit()
    assert "used already" in again.get(f"/sign-in/{secret}").text
    assert again.fill(f"/sign-in/{secret}").status_code == 400


def test_a_link_may_set_a_password_and_a_short_one_does_not_use_it_up(kept, join, visit):
    join()
    with kept.work() as work:
        secret = teachers.sign_in_link(work, work.query(Teacher).one())
    browser = visit()
    assert "At least 10 characters" in browser.fill(f"/sign-in/{secret}", {"password": "short"}).text
    assert browser.fill(f"/sign-in/{secret}", {"password": PASSWORD}).status_code == 303
    browser = visit()
    response = browser.fill("/sign-in", {"email": "Ada@School.example ", "password": PASSWORD})
    assert response.headers["location"] == "/teacher"
    assert "httponly" in response.headers["set-cookie"].lower()
    assert browser.get("/sign-in", follow_redirects=False).headers["location"] == "/teacher"


def test_wrong_passwords_sound_alike_and_are_limited(kept, join, visit):
    join()
    with kept.work() as work:
        teachers.set_password(work, work.query(Teacher).one(), teachers.new_password(PASSWORD))
    browser = visit()
    known = browser.fill("/sign-in", {"email": "ada@school.example", "password": "wrong"})
    unknown = browser.fill("/sign-in", {"email": "eve@school.example", "password": "wrong"})
    said = [re.search(r'role="alert"[^>]*>([^<]+)', response.text)[1] for response in (known, unknown)]
    assert said[0] == said[1]
    assert known.status_code == unknown.status_code == 400
    for _ in range(10):
        last = browser.fill("/sign-in", {"email": "ada@school.example", "password": "wrong"})
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) > 60
    assert browser.fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD}).status_code == 429


def test_signing_out_forgets_the_browser(kept, ada):
    cookie = ada.cookies["teacher"]
    assert ada.fill("/sign-out").headers["location"] == "/"
    assert count(kept, Login) == 0
    ada.cookies.set("teacher", cookie)
    assert ada.get("/teacher", follow_redirects=False).headers["location"] == "/sign-in"


def test_every_form_needs_its_token(kept, ada):
    put_test(ada)
    with ada.app.state.database.read() as work:
        tokens = work.query(Token).count()
    paths = ["/sign-in", "/sign-out", "/teacher/banks", "/teacher/banks/bundled", "/teacher/banks/1/delete", "/teacher/banks/1/publish"]
    paths += ["/teacher/tests/1/pupils", "/teacher/tests/1/close", "/teacher/tests/1/delete", "/teacher/tests/1/takers/1/delete"]
    paths += ["/teacher/people", "/teacher/account/name", "/teacher/account/password", "/teacher/account/tokens"]
    for path in paths:
        assert ada.post(path, data={"form_token": "0" * 64}).status_code == 403, path
        assert ada.post(path).status_code == 403, path
    assert (count(kept, Published), count(kept, Token)) == (1, tokens)


# People and the account


def test_the_owner_invites_a_teacher_who_chooses_name_and_password(kept, join, visit):
    owner = join("owner@school.example", owner=True)
    link = link_of(owner, owner.fill("/teacher/people", {"email": "Eve@School.example"}))
    eve = visit()
    assert "eve@school.example" in eve.get(link).text
    assert "please enter your name" in eve.fill(link, {"name": " ", "password": PASSWORD}).text.lower()
    assert "At least 10 characters" in eve.fill(link, {"name": "Eve", "password": "short"}).text
    assert count(kept, Teacher) == 1
    assert eve.fill(link, {"name": "Eve", "password": PASSWORD}).headers["location"] == "/teacher"
    assert "Hello, Eve" in eve.get("/teacher").text
    assert "Three steps" in eve.get("/teacher").text
    assert eve.get("/teacher/people").status_code == 403
    assert eve.fill("/teacher/people", {"email": "x@y.example"}).status_code == 403
    assert "An address such as" in owner.fill("/teacher/people", {"email": "nonsense"}).text
    number = next(teacher.id for teacher in kept_teachers(kept) if teacher.name == "Eve")
    assert eve.fill(f"/teacher/people/{number}/link").status_code == 403
    again = link_of(owner, owner.fill(f"/teacher/people/{number}/link"))
    assert visit().fill(again).headers["location"] == "/teacher"
    assert owner.fill("/teacher/people/99/link").status_code == 404


def link_of(owner, made):
    """The link that is shown after a form."""
    assert made.headers["location"] == "/teacher/people"
    return re.search(r'value="http://localhost(/sign-in/[^"]+)"', owner.get("/teacher/people").text)[1]


def test_loading_the_page_again_makes_no_second_link_or_token_and_shows_none(kept, join):
    """What made it is answered with a redirect; the page after it shows the secret once."""
    owner = join("owner@school.example", owner=True)
    links = count(kept, Link)
    link = link_of(owner, owner.fill("/teacher/people", {"email": "eve@school.example"}))
    assert link not in owner.get("/teacher/people").text
    assert count(kept, Link) == links + 1
    assert owner.fill("/teacher/account/tokens", {"name": "Moodle", "scope": "banks"}).headers["location"] == "/teacher/account"
    assert "shown only this once" in owner.get("/teacher/account").text
    assert "shown only this once" not in owner.get("/teacher/account").text
    assert count(kept, Token) == 1


def test_a_forged_note_shows_no_link_and_no_token(kept, join):
    """Only secrets that open something here are shown, so a note from elsewhere tells nobody to send a strange link."""
    owner = join("owner@school.example", owner=True)
    other = join("other@school.example")
    other.fill("/teacher/account/tokens", {"name": "theirs", "scope": "banks"})
    for path, note in (
        ("/teacher/account", other.cookies["note"]),
        ("/teacher/people", as_note({"link": "x"})),
        ("/teacher/people", as_note([1])),
    ):
        page = owner.get(path, headers={"cookie": f"teacher={owner.cookies['teacher']}; note={note}"})
        assert page.status_code == 200
        assert 'class="secret"' not in page.text


def as_note(content):
    return urlsafe_b64encode(zlib.compress(json.dumps(content).encode())).decode()


def kept_teachers(kept):
    with kept.read() as work:
        return work.query(Teacher).all()


def test_name_and_password_change(kept, ada, visit):
    ada.fill("/teacher/account/name", {"name": "Ada  L."})
    assert "Hello, Ada L." in ada.get("/teacher").text
    assert "At least 10 characters" in ada.fill("/teacher/account/password", {"password": "short"}).text
    changed = ada.fill("/teacher/account/password", {"password": PASSWORD})
    assert changed.status_code == 303  # a reload sends no password
    words = "The password was changed; all other browsers are signed out, and all tokens have ended."
    assert words in ada.get(changed.headers["location"]).text
    other = visit()
    other.fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD})
    assert "present password is wrong" in ada.fill("/teacher/account/password", {"present": "x", "password": PASSWORD + "!"}).text
    assert ada.fill("/teacher/account/password", {"present": PASSWORD, "password": PASSWORD + "!"}).status_code == 303
    assert ada.get("/teacher").status_code == 200
    assert other.get("/teacher", follow_redirects=False).status_code == 303


def test_tokens_are_shown_once_and_withdrawn(kept, ada):
    assert "choose what the token may do" in ada.fill("/teacher/account/tokens", {"name": "Moodle"}).text
    assert "one or more of" in ada.fill("/teacher/account/tokens", {"name": "Moodle", "scope": "all"}).text.lower()
    assert "say what the token is for" in ada.fill("/teacher/account/tokens", {"name": "", "scope": "banks"}).text
    ada.fill("/teacher/account/tokens", {"name": "Moodle", "scope": ["banks", "results"]})
    page = ada.get("/teacher/account").text
    secret = re.search(r'class="secret" readonly value="([^"]+)"', page)[1]
    with kept.work() as work:
        assert teachers.by_token(work, secret, "banks")
    assert secret not in ada.get("/teacher/account").text
    assert ada.fill(f"/teacher/account/tokens/{one(kept, Token).id}/delete").headers["location"] == "/teacher/account"
    assert count(kept, Token) == 0
    assert ada.fill("/teacher/account/tokens/1/delete").status_code == 404


def test_a_new_password_ends_all_tokens_and_the_pages_say_so(kept, ada, visit):
    says = "all your tokens for programs end"
    assert says in ada.get("/teacher/account").text
    ada.fill("/teacher/account/tokens", {"name": "Moodle", "scope": "banks"})
    ada.fill("/teacher/account/password", {"password": PASSWORD})
    assert count(kept, Token) == 0
    ada.fill("/teacher/account/tokens", {"name": "Moodle", "scope": "banks"})
    with kept.work() as work:
        first, second = (teachers.sign_in_link(work, work.query(Teacher).one()) for _ in range(2))
    assert visit().fill(f"/sign-in/{first}").status_code == 303
    assert count(kept, Token) == 1  # signing in alone ends nothing
    assert says in visit().get(f"/sign-in/{second}").text
    assert visit().fill(f"/sign-in/{second}", {"password": PASSWORD}).status_code == 303
    assert count(kept, Token) == 0
    with kept.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        again, first = teachers.invitation(work, owner, "ada@school.example"), teachers.invitation(work, owner, "eve@school.example")
    assert says in visit().get(f"/sign-in/{again}").text  # for somebody who has an account
    assert says not in visit().get(f"/sign-in/{first}").text
