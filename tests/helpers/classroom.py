"""A class at work, for tests of what its teacher sees: a teacher who is signed in, takers with some answers, the words of a page."""

import re
from html import unescape

from helpers.browsing import Browser
from quaestor.store import teachers
from quaestor.store.attempts import taking

OWNER = "owner@school.example"


def sign_in(app, database, email=OWNER):
    browser = Browser(app)
    with database.work() as work:
        teacher = teachers.by_email(work, email) or teachers.owner(work, email)
        browser.client.cookies.set("teacher", teachers.log_in(work, teacher))
    return browser


def take(database, code, name, questions=2):
    """Somebody begins a test and answers some questions; the number of the attempt."""
    with database.work() as work:
        attempt = taking.enter(work, code, name)
        for step in range(1, questions + 1):
            question = taking.state_of(work, attempt).session.next
            taking.answer(work, attempt, step, list(question.correct) if question.kind == "choices" else question.correct[0])
        return attempt.id


def words(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())
