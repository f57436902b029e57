"""The editor for tests: teachers who are signed in, a bank begun or copied, and the fields of a form as a browser would send them."""

import re
from html import unescape

from helpers.browsing import Browser
from quaestor.store import drafts, teachers
from quaestor.store.models import Draft


def sign_in(app, database, email="owner@school.example"):
    """A teacher's browser, signed in."""
    browser = Browser(app)
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        known = teachers.by_email(work, email)
        person = known or teachers.use_link(work, teachers.invitation(work, owner, email))
        browser.client.cookies.set("teacher", teachers.log_in(work, person))
    return browser


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def begin(browser, title="Sums"):
    browser.go("/teacher/banks")
    browser.fill("/teacher/banks/new", title=title)
    return browser.path


def copied(browser, name="fractions"):
    browser.go("/teacher/banks")
    browser.fill("/teacher/banks/bundled", name=name)
    return browser.path


def put(database, document, email="owner@school.example"):
    """A bank of a teacher; the address of its draft."""
    with database.work() as work:
        owner = teachers.by_email(work, email) or teachers.owner(work, email)
        return f"/teacher/drafts/{drafts.begin_draft(work, owner, document, 'begun').id}"


def latest(database, home):
    """The number and the document of the latest version of a draft."""
    with database.read() as work:
        draft = work.get(Draft, int(home.rsplit("/", 1)[1]))
        return draft.head, drafts.document_of(drafts.edition(work, draft))


def fields_of(page, action):
    """What a browser would send of a form if nobody touched it."""
    body = next(
        inside
        for url, inside in re.findall(r'<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>', page.text, re.S)
        if unescape(url).endswith(action)
    )
    found = {}
    for tag in re.findall(r"<input\b[^>]*>", body):
        about = {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        if about.get("type") not in ("checkbox", "radio") or re.search(r"\schecked\b", tag):
            found.setdefault(about["name"], []).append(about.get("value", "on" if about.get("type") == "checkbox" else ""))
    for name, text in re.findall(r'<textarea\b[^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', body, re.S):
        found.setdefault(name, []).append(unescape(text).replace("\n", "\r\n"))
    for name, inside in re.findall(r'<select\b[^>]*name="([^"]*)"[^>]*>(.*?)</select>', body, re.S):
        options = re.findall(r"<option\b([^>]*)>(.*?)</option>", inside, re.S)
        chosen = next((one for one in options if re.search(r"\bselected\b", one[0])), options[0])
        stated = re.search(r'value="([^"]*)"', chosen[0])
        found.setdefault(name, []).append(unescape(stated[1] if stated else chosen[1]))
    return found


def share(author, home, email="second@school.example"):
    """Share a draft with a colleague, who may edit it."""
    author.go(f"{home}/sharing")
    author.fill("/sharing", email=email, extent="edit")
