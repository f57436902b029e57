"""A browser without JavaScript for the tests: it follows links, fills in forms with their hidden fields, and keeps cookies."""

import re
from html import unescape

from fastapi.testclient import TestClient

import quaestor as qs
from quaestor.store import publishing, teachers
from quaestor.web.app import create
from quaestor.web.settings import Settings

# One question of every kind, with an image, LaTeX and words that a page must not take for markup.
KINDS = qs.Bank(
    {
        "title": "All kinds",
        "language": "en",
        "skills": {"sums": {"title": "Adding & more", "levels": ["no", "partly", "yes"], "prior": [0.3, 0.4, 0.3]}},
        "questions": {
            "one": {
                "text": r"What is $\frac{1}{2} + \frac{1}{4}$?",
                "options": ["3/4", "2/6", "1/8"],
                "correct": "3/4",
                "skill": "sums",
                "right": [0.2, 0.6, 0.9],
                "explanation": "Two quarters and **one** quarter.",
                "media": "pie.png",
                "alt": "A pie cut into four",
            },
            "several": {
                "text": "Which are even?",
                "kind": "choices",
                "options": ["two", "three", "four"],
                "correct": ["two", "four"],
                "skill": "sums",
                "right": [0.1, 0.5, 0.9],
            },
            "number": {"text": "Half of seven?", "kind": "number", "correct": "3.5", "skill": "sums", "right": [0.1, 0.6, 0.95]},
            "word": {"text": "The capital of <France>?", "kind": "text", "correct": "Paris", "skill": "sums", "right": [0.3, 0.4, 0.5]},
        },
    }
)
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
ORDER = qs.Rules(score="order", stop=qs.max_questions(4))


class Browser:
    """One browser: its cookies, the page it is on."""

    def __init__(self, app, **headers):
        self.client = TestClient(app, headers=headers, raise_server_exceptions=True)
        self.page = None

    def go(self, path):
        self.page = self.client.get(path)
        return self.page

    def fill(self, action, **fields):
        """Send the form of the present page whose action ends so, with its hidden fields."""
        forms = re.findall(r'<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>', self.page.text, re.S)
        target, inside = next((unescape(url), body) for url, body in forms if unescape(url).endswith(action))
        hidden = {
            unescape(re.search(r'name="([^"]*)"', field)[1]): unescape(re.search(r'value="([^"]*)"', field)[1])
            for field in re.findall(r'<input type="hidden"[^>]*>', inside)
        }
        self.page = self.client.post(target, data={**hidden, **fields})
        return self.page

    @property
    def path(self):
        return self.page.url.path

    @property
    def step(self):
        return int(re.search(r'name="step" value="(\d+)"', self.page.text)[1])


def application(database, **settings):
    return create(Settings(**settings), database)


def give(database, bank=KINDS, rules=ORDER, images=None, title="", email="owner@school.example", **conditions):
    """Publish a bank; gives its code."""
    with database.work() as work:
        teacher = teachers.owner(work, email)
        pictures = {"pie.png": PICTURE} if images is None and bank is KINDS else images or {}
        kept = publishing.keep_bank(work, teacher, bank, pictures)
        return publishing.publish(work, teacher, kept, rules, publishing.Conditions(**conditions), title).code


def enter(app, code, name="Ada"):
    """A browser on the first question of a test."""
    browser = Browser(app)
    browser.go(f"/c/{code}")
    browser.fill("/enter", name=name)
    return browser
