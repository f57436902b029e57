"""The teacher's desk: signing in, people, the account."""

import re

from helpers.desk import PASSWORD, count, one, put_bank, put_test
from quaestor.store import teachers
from quaestor.store.models import Login, Published, Teacher, Token

# Signing in


def test_without_signing_in_every_page_leads_to_the_sign_in(visit):
    for path in ("/desk", "/desk/banks", "/desk/banks/1", "/desk/tests/1/results", "/desk/account", "/desk/people"):
        response = visit().get(path, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert put_bank(visit()).status_code == 403
    assert visit().fill("/desk/tests/1/close").status_code == 403


def test_a_link_is_used_by_the_button_and_once(kept, join, visit):
    join()
    with kept.work() as work:
        secret = teachers.sign_in_link(work, work.query(Teacher).one())
    browser = visit()
    for _ in range(3):
        assert "signs you in once" in browser.get(f"/sign-in/{secret}").text
    before = browser.cookies["visit"]
    assert browser.fill(f"/sign-in/{secret}").headers["location"] == "/desk"
    assert browser.cookies["visit"] != before
    assert "Hello, Ada" in browser.get("/desk").text
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
    assert response.headers["location"] == "/desk"
    assert "httponly" in response.headers["set-cookie"].lower()
    assert browser.get("/sign-in", follow_redirects=False).headers["location"] == "/desk"


def test_wrong_passwords_sound_alike_and_are_limited(kept, join, visit):
    join()
    with kept.work() as work:
        teachers.set_password(work, work.query(Teacher).one(), PASSWORD)
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
    assert ada.get("/desk", follow_redirects=False).headers["location"] == "/sign-in"


def test_every_form_needs_its_token(kept, ada):
    put_test(ada)
    with ada.app.state.database.read() as work:
        tokens = work.query(Token).count()
    paths = ["/sign-in", "/sign-out", "/desk/banks", "/desk/banks/bundled", "/desk/banks/1/delete", "/desk/banks/1/publish"]
    paths += ["/desk/tests/1/pupils", "/desk/tests/1/close", "/desk/tests/1/delete", "/desk/tests/1/takers/1/delete"]
    paths += ["/desk/people", "/desk/account/name", "/desk/account/password", "/desk/account/tokens"]
    for path in paths:
        assert ada.post(path, data={"form_token": "0" * 64}).status_code == 403, path
        assert ada.post(path).status_code == 403, path
    assert (count(kept, Published), count(kept, Token)) == (1, tokens)


# People and the account


def test_the_owner_invites_a_teacher_who_chooses_name_and_password(kept, join, visit):
    owner = join("owner@school.example", owner=True)
    link = re.search(r'value="http://localhost(/sign-in/[^"]+)"', owner.fill("/desk/people", {"email": "Eve@School.example"}).text)[1]
    eve = visit()
    assert "eve@school.example" in eve.get(link).text
    assert "please enter your name" in eve.fill(link, {"name": " ", "password": PASSWORD}).text.lower()
    assert "At least 10 characters" in eve.fill(link, {"name": "Eve", "password": "short"}).text
    assert count(kept, Teacher) == 1
    assert eve.fill(link, {"name": "Eve", "password": PASSWORD}).headers["location"] == "/desk"
    assert "Hello, Eve" in eve.get("/desk").text
    assert "Three steps" in eve.get("/desk").text
    assert eve.get("/desk/people").status_code == 403
    assert eve.fill("/desk/people", {"email": "x@y.example"}).status_code == 403
    assert "An address such as" in owner.fill("/desk/people", {"email": "nonsense"}).text
    number = next(teacher.id for teacher in kept_teachers(kept) if teacher.name == "Eve")
    assert eve.fill(f"/desk/people/{number}/link").status_code == 403
    again = re.search(r'value="http://localhost(/sign-in/[^"]+)"', owner.fill(f"/desk/people/{number}/link").text)[1]
    assert visit().fill(again).headers["location"] == "/desk"
    assert owner.fill("/desk/people/99/link").status_code == 404


def kept_teachers(kept):
    with kept.read() as work:
        return work.query(Teacher).all()


def test_name_and_password_change(kept, ada, visit):
    ada.fill("/desk/account/name", {"name": "Ada  L."})
    assert "Hello, Ada L." in ada.get("/desk").text
    assert "At least 10 characters" in ada.fill("/desk/account/password", {"password": "short"}).text
    changed = ada.fill("/desk/account/password", {"password": PASSWORD})
    assert changed.status_code == 303  # a reload sends no password
    assert "The password was changed; all other browsers are signed out." in ada.get(changed.headers["location"]).text
    other = visit()
    other.fill("/sign-in", {"email": "ada@school.example", "password": PASSWORD})
    assert "present password is wrong" in ada.fill("/desk/account/password", {"present": "x", "password": PASSWORD + "!"}).text
    assert ada.fill("/desk/account/password", {"present": PASSWORD, "password": PASSWORD + "!"}).status_code == 303
    assert ada.get("/desk").status_code == 200
    assert other.get("/desk", follow_redirects=False).status_code == 303


def test_tokens_are_shown_once_and_withdrawn(kept, ada):
    assert "choose what the token may do" in ada.fill("/desk/account/tokens", {"name": "Moodle"}).text
    assert "one or more of" in ada.fill("/desk/account/tokens", {"name": "Moodle", "scope": "all"}).text.lower()
    assert "say what the token is for" in ada.fill("/desk/account/tokens", {"name": "", "scope": "banks"}).text
    page = ada.fill("/desk/account/tokens", {"name": "Moodle", "scope": ["banks", "results"]}).text
    secret = re.search(r'class="secret" readonly value="([^"]+)"', page)[1]
    with kept.work() as work:
        assert teachers.by_token(work, secret, "banks")
    assert secret not in ada.get("/desk/account").text
    assert ada.fill(f"/desk/account/tokens/{one(kept, Token).id}/delete").headers["location"] == "/desk/account"
    assert count(kept, Token) == 0
