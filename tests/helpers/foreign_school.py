"""A school whose every word is told apart from ours, and a reader that finds words of the interface which no catalogue has.

All that people and banks bring along has the letter ħ in every word. Whatever comes out of the catalogue stands between marks.
What is left, but for numbers, codes and a few names, was written where no translation reaches it: in a template without `t`, say.
"""

import re
import string
from datetime import timedelta
from html.parser import HTMLParser

from babel import Locale
from sqlalchemy import select

import quaestor as qs
from helpers.browsing import PICTURE, Browser
from quaestor.formats.files import bundled_banks
from quaestor.i18n import say
from quaestor.store import clock, corrections, drafts, identities, job_queue, leaving, publishing, sharing, teachers, timing
from quaestor.store.attempts import scoring, taking
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, BankVersion, Event, Job, Published, Pupil, SchoolClass
from quaestor.web.app import create
from quaestor.web.jobs.worker import work_off
from quaestor.web.security.openid import Provider
from quaestor.web.settings import Settings

OPEN, CLOSE, OURS = "⟦", "⟧", "ħ"
NAMES = {
    "Quaestor",
    "English",
    "Deutsch",
    "Français",
    "UTC",
    "Excel",
    "CSV",
    "YAML",
    "XLSX",
    "JSON",
    "API",
    "QR",
    "Ada",
    "h",
    "s",
    "en",
    "de",
    "fr",
    "png",
    *("Q", "S", "T"),  # ids that are proposed
    *(
        "Moodle",
        "Canvas",
        "OneRoster",
        "xAPI",
        "XML",
        "GIFT",
        "QTI",
        "LTI",
        "AdapQuest",
        "Kahoot",
        "Quizizz",
        "Google",
        "Forms",
        "Word",
        "Aiken",
    ),
    *(month for language in ("de", "fr") for month in Locale(language).months["format"]["wide"].values()),
}
SHOWN = ("aria-label", "placeholder", "title", "alt", "label", "data-said", "data-label")
UNSEEN = {"script", "style", "code", "pre"}  # what files and programs say stands in `code`
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "rect", "line", "circle", "path"}
PLAIN = {"title": "Titleħ", "language": "fr", "description": "Aboutħ itħ", "author": "Whoħ"}
LEVELS = ["lowħ", "midħ", "highħ"]
SKILLS = {
    "aħ": {"title": "Skillħ oneħ", "levels": LEVELS, "prior": "mostly middle", "confidence": "certain"},
    "bħ": {"title": "Skillħ twoħ", "levels": ["noħ", "yesħ"], "parents": ["aħ"], "strength": 0.6},
}
ONE = {"text": "Whichħ?", "options": ["goodħ", "badħ", "awfulħ"], "correct": "goodħ", "skill": "aħ", "explanation": "Soħ."}
QUESTIONS = {
    "qħ": {**ONE, "difficulty": "easy", "discrimination": "strong", "confidence": "certain", "media": "pħ.png", "alt": "Pictureħ"},
    "wħ": {**ONE, "text": "Whatħ?", "kind": "choices", "correct": ["goodħ", "badħ"], "right": [0.1, 0.5, 0.9], "tags": ["tagħ"]},
    "nħ": {"text": "Howħ?", "kind": "number", "correct": "7", "skill": "bħ", "right": [0.3, 0.9], "group": "groupħ"},
    "tħ": {"text": "Whoħ?", "kind": "text", "correct": "heħ", "skills": ["aħ", "bħ"], "needs": "all", "slip": 0.1, "guess": 0.2},
    "cħ": {
        **{name: ONE[name] for name in ("text", "skill")},
        "classes": ["wrongħ", "halfħ", "rightħ"],
        "options": {"goodħ": "rightħ", "badħ": "halfħ", "awfulħ": "wrongħ"},
        "table": {"lowħ": [0.6, 0.3, 0.1], "midħ": [0.4, 0.3, 0.3], "highħ": [0.1, 0.2, 0.7]},
    },
    "pħ": {**ONE, "right": [0.2, 0.5, 0.8], "pilot": True},
    "zħ": {"text": "Whyħ?", "kind": "text", "correct": "itħ", "skill": "aħ", "template": "tmħ"},
}
DOCUMENT = {**PLAIN, "skills": SKILLS, "templates": {"tmħ": {"right": [0.2, 0.5, 0.8]}}, "questions": QUESTIONS}
FAULTY = {**DOCUMENT, "title": "Faultyħ", "questions": {**QUESTIONS, "fħ": {"text": "Thatħ?", "difficulty": "eazy", "skill": "għ"}}}
RULES = qs.Rules(score="order", stop=qs.max_questions(6))
ENTRIES = {"qħ": "goodħ", "wħ": ["goodħ"], "nħ": "7", "tħ": "sheħ", "cħ": "badħ", "zħ": "itħ"}


def marked(pattern):
    """A pattern with marks around all its words, its values left out."""
    parts = []
    for words, name, form, change in string.Formatter().parse(pattern):
        plain = words.replace("{", "{{").replace("}", "}}")
        parts.append(f"{OPEN}{plain}{CLOSE}" if plain.strip() else plain)
        if name is not None and "|" in form:
            parts.append(f"{{{name}:{'|'.join(f'{OPEN}{words}{CLOSE}' for words in form.split('|'))}}}")
        elif name is not None:
            parts.append(f"{{{name}{f'!{change}' if change else ''}{f':{form}' if form else ''}}}")
    return "".join(parts)


class Reader(HTMLParser):
    """Reads a page: `strange` are words that nobody translated, `misplaced` ours where the page says that another language is spoken."""

    def __init__(self, known=(), ours="de"):
        super().__init__()
        self.stack, self.depth = [], 0
        self.known, self.ours = known, ours
        self.strange, self.misplaced, self.seen = [], [], 0

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        language = given.get("lang") or (self.stack[-1][1] if self.stack else self.ours)
        is_code = tag in UNSEEN or "code" in (given.get("class") or "").split() or any(inside for *_, inside in self.stack[-1:])
        shown = [given[name] for name in SHOWN if given.get(name)]
        if tag == "input" and given.get("type", "text") in ("text", "search") and "secret" not in (given.get("class") or ""):
            shown.append(given.get("value") or "")
        if not is_code and language != "en":
            for text in shown:
                self.strange += [f"{tag}: {word}" for word in self.words(text)]
                assert self.depth == 0 or CLOSE not in text
        if tag not in VOID:
            self.stack.append((tag, language, is_code))

    def handle_endtag(self, tag):
        if tag not in VOID:
            open_tag, *_ = self.stack.pop()
            assert open_tag == tag, f"{open_tag} is closed by {tag}"

    def handle_data(self, data):
        _, language, is_code = self.stack[-1] if self.stack else ("", self.ours, False)
        if is_code or language == "en":  # the name of another language, bundled banks, the description of the API
            self.misplaced += [data] if OPEN in data and not is_code else []
            return
        if OPEN in data and language != self.ours:
            self.misplaced.append(data)
        self.strange += self.words(data)

    def words(self, text):
        """The words outside of marks that are neither content nor names."""
        rest, depth = [], 0
        for letter in re.sub(rf"((?:Spalte|colonne) {CLOSE})[A-Z]+\b", r"\1", text):  # the letter of a column is no word
            depth += (letter == OPEN) - (letter == CLOSE)
            rest.append(letter if depth == 0 and letter != CLOSE else " ")
        self.seen += text.count(OPEN)
        plain = "".join(rest)
        for code in self.known:
            plain = plain.replace(code, " ")
        plain = re.sub(r"https?://\S+|\S+@\S+|\b[0-9a-f]{8}\b", " ", plain)
        return [word for word in re.findall(r"[^\W\d_]+", plain) if OURS not in word and word not in NAMES]


def read(page, known=(), ours="de"):
    """What a page in a language shows."""
    reader = Reader(known, ours)
    reader.feed(page)
    return reader


class Place:
    """A server with something of everything on it, and browsers of a teacher, of the owner and of takers."""

    def __init__(self, database):
        self.database, self.language = database, "de"
        self.app = create(Settings(upload=1), database)
        self.app.state.provider = Provider("http://127.0.0.1:9", "quaestor", "", "Loginħ")  # nobody answers there
        with database.work() as work:
            self.owner = teachers.owner(work, "owner@school.example")
            self.owner.name, self.owner.password = "Ownerħ", "set"
            invited = teachers.invitation(work, self.owner, "colleague@school.example")
            self.colleague = teachers.use_link(work, invited)
            self.colleague.name = "Colleagueħ"
            self.locked = teachers.use_link(work, teachers.invitation(work, self.owner, "locked@school.example"))
            self.locked.name = "Lockedħ"
            leaving.lock(work, self.locked.id)
            self.invitation = teachers.invitation(work, self.owner, "new@school.example")
            self.link = teachers.sign_in_link(work, self.owner)
            identities.connect(work, self.colleague, identities.Person("http://127.0.0.1:9", "1"))
            teachers.api_token(work, self.owner, "Platformħ", ["banks", "results"])
            self.cookies = {who: teachers.log_in(work, person) for who, person in (("owner", self.owner), ("colleague", self.colleague))}
        self._tests()
        self._drafts()
        self._jobs()
        with database.read() as work:
            codes = [*work.scalars(select(Published.code)), *work.scalars(select(Pupil.code)), *work.scalars(select(Attempt.code))]
            versions = [version[:6] for version in work.scalars(select(BankVersion.version))]
            versions += [found["version"] for found in work.scalars(select(Job.found)) if found and "version" in found]
        bundled = [qs.load(name).title for name in bundled_banks()]
        self.known = sorted(["eazy", *bundled, *codes, *(f"{code[:4]} {code[4:]}" for code in codes), *versions], key=len, reverse=True)

    def _tests(self):
        with self.database.work() as work:
            kept = publishing.keep_bank(work, self.owner, qs.Bank(DOCUMENT), {"pħ.png": PICTURE})
            credal = publishing.keep_bank(work, self.owner, qs.Bank({**DOCUMENT, "title": "Wideħ"}).widen(0.05), {"pħ.png": PICTURE})
            spare = publishing.keep_bank(work, self.owner, qs.Bank({**DOCUMENT, "title": "Spareħ"}), {"pħ.png": PICTURE})
            practice = publishing.Conditions(mode="practice", retakes="any", minutes=30)
            self.test = publishing.publish(work, self.owner, kept, RULES, practice, "Testħ")
            self.listed = publishing.publish(work, self.owner, credal, RULES, publishing.Conditions(by_list=True, keep_days=9), "Listedħ")
            soon = publishing.Conditions(opens=clock.now() + timedelta(days=1), closes=clock.now() + timedelta(days=2))
            self.later = publishing.publish(work, self.owner, kept, qs.Rules(), soon, "Laterħ")
            self.empty = publishing.publish(work, self.owner, kept, qs.Rules(may_skip=False), publishing.Conditions(), "Emptyħ")
            self.pupils = class_lists.add_pupils(work, self.listed, [f"Pupilħ {number}" for number in range(5)])
            self.closed = publishing.publish(work, self.owner, kept, RULES, publishing.Conditions(), "Closedħ")
            people = [taking.enter(work, self.test.code, f"Personħ {number}") for number in range(14)]
            for place, attempt in enumerate(people):
                self._answer(work, attempt, 6 if place < 12 else 3, place)
            self.over, self.running = people[0], people[13]
            work.get(Attempt, people[1].id).name = ""
            self.pupil_over, self.pupil_running, self.pupil_stuck = (taking.enter(work, pupil.code) for pupil in self.pupils[:3])
            self._answer(work, self.pupil_over, 6, 1)
            self._answer(work, self.pupil_running, 2, 1)
            self._answer(work, self.pupil_stuck, 2, 2)
            for minutes, attempt in ((20, people[12]), (7, self.pupil_stuck)):
                for event in work.scalars(select(Event).where(Event.attempt_id == attempt.id)):
                    event.at -= timedelta(minutes=minutes)
                attempt.started -= timedelta(minutes=minutes)
            timing.give_time(work, self.pupils[0], 5)
            self.aside = taking.enter(work, self.closed.code, "Asideħ")
            timing.set_aside(work, self.aside)
            self.closed.closes = clock.now() - timedelta(minutes=1)
            self._corrected(work, kept)
            self.bank, self.credal, self.spare = kept.id, credal.id, spare.id

    def _corrected(self, work, kept):
        """A test with corrections of every kind, of which the last is not scored yet."""
        self.anew = publishing.publish(work, self.owner, kept, RULES, publishing.Conditions(), "Anewħ")
        self.before, self.untouched = (taking.enter(work, self.anew.code, name) for name in ("Beforeħ", "Sameħ"))
        self._answer(work, self.before, 6, 1)
        taking.skip(work, self.untouched, 1)
        self.untouched.ended = clock.now()
        corrections.correct_key(work, self.anew, "qħ", ["awfulħ"], "Noteħ")
        for attempt in (self.before, self.untouched):
            scoring.keep(work, attempt, taking.state_of(work, attempt).session, clock.now())
        corrections.withdraw(work, self.anew, "nħ")
        corrections.withdraw(work, self.anew, "nħ", again=True)
        scoring.keep(work, self.before, taking.state_of(work, self.before).session, clock.now())
        corrections.withdraw(work, self.anew, "tħ")

    def _answer(self, work, attempt, count, person):
        for step in range(1, count + 1):
            asked = taking.state_of(work, attempt).session.next.id
            wrong = {"qħ": "awfulħ", "wħ": ["goodħ", "badħ"], "nħ": "8", "zħ": "whoħ"}
            if (step + person) % 5 == 0:
                taking.skip(work, attempt, step)
            else:
                taking.answer(work, attempt, step, (wrong if (step + person) % 3 == 0 else {}).get(asked, ENTRIES[asked]))

    def _drafts(self):
        with self.database.work() as work:
            self.draft = drafts.begin_draft(work, self.owner, DOCUMENT, say("begun from nothing"), {"pħ.png": PICTURE}).id
            changed = {**QUESTIONS["qħ"], "difficulty": "hard", "tags": ["moreħ"]}
            draft = sharing.draft_for(work, self.owner, self.draft)
            drafts.change(work, draft, self.owner, 1, ("questions", "qħ"), changed, say("question {name}", name="qħ"))
            sharing.share(work, draft, self.colleague, sharing.EDIT)
            shared = (
                work.get_one(Published, self.test.id),
                work.get_one(BankVersion, self.bank),
                work.get_one(SchoolClass, self.pupils[0].class_id),
            )
            for thing in shared:
                sharing.share(work, thing, self.colleague, sharing.LOOK)
            self.faulty = drafts.begin_draft(work, self.owner, FAULTY, say("begun from nothing")).id
            self.fresh = drafts.begin_draft(work, self.owner, {"quaestor": 1, "title": "Freshħ"}, say("begun from nothing")).id

    def _jobs(self):
        browser = self.browser("owner")
        careful = {"pace": "careful", "join": "first", "students": "20", "seed": "1"}
        compared = {"compare": "yes", "other_pace": "own", "other_most": "3", "other_sure": "no", "other_join": "first"}
        forms = [
            (f"/teacher/drafts/{self.draft}/try", careful),
            (f"/teacher/banks/{self.credal}/try", {**careful, **compared, "students": "10"}),
        ]
        self.trials = [self._done(browser, path, "/try", **fields) for path, fields in forms]
        self.improved = self._done(browser, f"/teacher/drafts/{self.draft}/improve", "/improve", weight="little", test=str(self.test.id))
        self.failed = self._asked(browser, forms[0][0], "/try", **careful)
        with self.database.work() as work:
            job_queue.fail(work, job_queue.claim(work, "worker"), "worker", say("the bank was deleted meanwhile"))
        self.waiting = [self._asked(browser, path, "/try", **fields) for path, fields in forms[:1]]
        self.waiting += [self._asked(browser, f"/teacher/drafts/{self.draft}/improve", "/improve", weight="some", test=str(self.test.id))]

    def _asked(self, browser, path, action, **fields):
        browser.go(path)
        page = browser.fill(action, **fields)
        assert page.status_code == 200, page.text
        return browser.path

    def _done(self, browser, path, action, **fields):
        where = self._asked(browser, path, action, **fields)
        with self.database.work() as work:
            number = job_queue.claim(work, "worker")
        work_off(self.database, number, "worker")
        return where

    def browser(self, who="", attempt=None):
        """A browser in the language of the place: of somebody who is signed in, of a taker, or of nobody."""
        made = Browser(self.app, **{"accept-language": f"{self.language}-XX,{self.language};q=0.9,en;q=0.5"})
        if who:
            made.client.cookies.set("teacher", self.cookies[who])
        if attempt is not None:
            made.client.cookies.set("taker", attempt.key)
        return made
