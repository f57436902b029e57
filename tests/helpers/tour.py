"""Every page of the application with something on it: the demo class, a bank of every kind, a trial, a colleague, a taker in the middle of
a test. Tests look at all of them with axe; `make screenshots` draws the main ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

import quaestor as qs
from helpers.browsing import KINDS, ORDER, give
from helpers.chromium import Site, follow
from helpers.paths import ROOT
from helpers.school import PLATFORM
from quaestor.store import drafts, leaving, publishing, sharing, teachers
from quaestor.store.classes import class_lists
from quaestor.store.models import Attempt, Draft, Published, Teacher
from quaestor.store.platforms import registrations
from quaestor.store.platforms.registrations import Registration
from quaestor.web.operations import demo

FAULTY = {"quaestor": 1, "title": "A bank with faults", "skills": {"sums": {}}, "questions": {"Q1": {"skill": "sum", "dificulty": "easy"}}}
QUIZ = ROOT / "docs" / "examples" / "moodle-quiz.xml"
LONG = "A very long title of a test on adding, subtracting, multiplying and dividing fractions, mixed numbers and decimals"


@dataclass(frozen=True)
class Stop:
    """A page of the tour. `main`: worth a picture; `who`: the browser that may see it; `status`: what it answers with."""

    name: str
    path: str
    who: str = "teacher"
    main: bool = True
    status: int = 200


class Tour:
    """Browsers and addresses of a site that is filled with the demo class."""

    def __init__(self, site: Site, opened: Any) -> None:
        self.site, self.opened = site, opened
        self.demo = demo.add(site.database)
        self.empty = give(site.database, qs.load("fractions"), ORDER, title=LONG, email="owner@localhost", by_list=False)
        self.kinds = give(site.database, KINDS, ORDER, title="All kinds", email="owner@localhost", minutes=30)
        self.held = give(site.database, KINDS, ORDER, title="Told later", email="owner@localhost", results="closed")
        self.practice = give(site.database, KINDS, ORDER, title="Practice", email="owner@localhost", mode="practice")
        with site.database.work() as work:
            owner = work.scalars(select(Teacher).where(Teacher.is_owner)).one()
            self.link = teachers.sign_in_link(work, owner)
            self.invitation = teachers.invitation(work, owner, "colleague@school.example")
            self.colleague, self.locked = (
                teachers.use_link(work, teachers.invitation(work, owner, f"{who}@school.example")).id for who in ("ada", "grace")
            )
            leaving.lock(work, self.locked)
            ada = work.get_one(Teacher, self.colleague)
            self.cookies = {who: teachers.log_in(work, person) for who, person in (("teacher", owner), ("colleague", ada))}
            self.platform = registrations.register(work, Registration.read(PLATFORM)).id
            self.registering = registrations.self_registration(work, owner)
            self.faulty = drafts.begin_draft(work, owner, FAULTY, "a bank with faults").id
            self.bare = drafts.begin_draft(work, owner, {"quaestor": 1, "title": "An empty bank"}, "begun from nothing").id
            self.draft = work.scalars(select(Draft.id).where(Draft.title.like("Fraction%"))).first()
            self.bank = work.scalars(select(Published.bank_id).where(Published.id == self.demo)).one()
            self.quiet = work.scalars(select(Published.id).where(Published.code == self.empty)).one()
            self.practising = work.scalars(select(Published.id).where(Published.code == self.practice)).one()
            self.path = work.scalars(select(Attempt.id).where(Attempt.test_id == self.demo, Attempt.ended.is_not(None))).first()
            for thing in (work.get_one(Published, self.demo), work.get_one(Draft, self.draft)):
                sharing.share(work, thing, ada, sharing.LOOK)
            first = work.get(Published, self.demo)
            pupil = class_lists.pupils_of(work, first)[0]
            self.class_, self.pupil, self.own = pupil.class_id, pupil.id, pupil.code
            conditions = publishing.Conditions(by_list=True, class_id=self.class_, half_life=90)
            publishing.publish(work, owner, first.bank, ORDER, conditions, "Fractions in spring")
            self.bare_class = class_lists.make_class(work, owner, "5b").id

    def browser(self, who: str, **settings: Any) -> Any:
        """A page of a browser: a `guest`, the `teacher`, a `colleague` who may look, or a taker at a kind of question or at a result."""
        page = self.opened(**settings)
        if who in self.cookies:
            page.context.add_cookies([{"name": "teacher", "value": self.cookies[who], "url": self.site.address}])
        return page

    def worked_out(self, page: Any) -> tuple[str, str, str]:
        """The paths of a trial, of a comparison and of proposals from the answers of the demo class; each is waited for."""
        found = []
        for part, other, button, heading in (
            ("try", None, "Start the trial", "How long is it?"),
            ("try", "Compare with other rules, on the same students", "Start the trial", "Side by side, on the same students"),
            ("improve", None, None, None),
        ):
            page.goto(self.site / f"teacher/drafts/{self.draft}/{part}")
            if other:
                page.get_by_label(other).check()
            for box in page.locator("[name=test]").all():
                box.check()
            follow(page.get_by_role("button", name=button) if button else page.locator("main button.main").first)
            ended = page.get_by_role("heading", name=heading) if heading else page.locator("main form .card, main .notice").first
            ended.wait_for()
            found.append(page.url.removeprefix(self.site.address + "/"))
        return found[0], found[1], found[2]

    def stops(self, page: Any) -> Iterator[Stop]:
        """The pages that an address opens. `page`: one of the teacher's, to do what takes time."""
        yield from self.at_once()
        trial, comparison, proposals = self.worked_out(page)
        yield Stop("trial", trial)
        yield Stop("trial-comparison", comparison)
        yield Stop("improve-proposals", proposals)

    def of_classes(self) -> Iterator[Stop]:
        """Classes and pupils, and what a pupil's own code opens."""
        of_class = f"teacher/classes/{self.class_}"
        pupil = f"{of_class}/pupils/{self.pupil}"
        yield Stop("taker-tests", f"c/{self.own}", "guest")
        yield Stop("classes", "teacher/classes")
        yield Stop("class", of_class)
        yield Stop("class-empty", f"teacher/classes/{self.bare_class}", main=False)
        yield Stop("class-growth", f"{of_class}/growth")
        yield Stop("class-growth-empty", f"teacher/classes/{self.bare_class}/growth", main=False)
        yield Stop("class-cards", f"{of_class}/cards", main=False)
        yield Stop("class-erase", f"{of_class}/delete", main=False)
        yield Stop("pupil", pupil)
        yield Stop("pupil-data", f"{pupil}/data", main=False)
        yield Stop("pupil-erase", f"{pupil}/erase")

    def at_once(self) -> Iterator[Stop]:
        """Those that are there without waiting."""
        test, draft, quiet = f"teacher/tests/{self.demo}", f"teacher/drafts/{self.draft}", f"teacher/tests/{self.quiet}"
        yield Stop("home", "", "guest")
        yield Stop("home-invited", f"c/{self.kinds}", "guest")
        yield Stop("home-wrong-code", "c/QQQQQQ", "guest", False, 404)
        yield Stop("sign-in", "sign-in", "guest")
        yield Stop("sign-in-link", f"sign-in/{self.link}", "guest", False)
        yield Stop("sign-in-invited", f"sign-in/{self.invitation}", "guest", False)
        yield Stop("five-minutes", "five-minutes", "guest")
        yield Stop("api", "api/v1", "guest")
        yield Stop("error-no-such-page", "no-such-page", "guest", True, 404)
        yield Stop("error-taker", "take/1", "guest", False, 403)
        yield Stop("error-teacher", "teacher/tests/9999", "teacher", False, 404)
        yield Stop("tests", "teacher")
        yield Stop("people", "teacher/people", main=False)
        yield Stop("person", f"teacher/people/{self.colleague}", main=False)
        yield Stop("person-locked", f"teacher/people/{self.locked}", main=False)
        yield Stop("account", "teacher/account", main=False)
        yield Stop("sharing-test", f"{test}/sharing")
        yield Stop("sharing-draft", f"{draft}/sharing", main=False)
        yield Stop("shared-tests", "teacher", "colleague", False)
        yield Stop("shared-test", test, "colleague")
        yield Stop("shared-question", f"{draft}/questions/M3", "colleague", False)
        yield Stop("shared-sharing", f"{test}/sharing", "colleague", False)
        yield Stop("done", "done", "guest")
        yield Stop("platforms", "teacher/platforms")
        yield Stop("platform", f"teacher/platforms/{self.platform}", main=False)
        yield Stop("platform-refused", "lti/launch", "guest", False, 400)
        yield Stop("platform-register", f"lti/register/{self.registering}?openid_configuration=https://moodle.example/c", "guest", False)
        yield from self.of_classes()
        yield Stop("banks", "teacher/banks")
        yield Stop("bring-questions", "teacher/import", main=False)
        yield Stop("bank", f"teacher/banks/{self.bank}")
        yield Stop("publish", f"teacher/banks/{self.bank}/publish")
        yield Stop("test", test)
        yield Stop("test-long-title", quiet, main=False)
        yield Stop("test-cards", f"{test}/cards", main=False)
        yield Stop("test-delete", f"{test}/delete", main=False)
        yield Stop("correct", f"{test}/correct/M3")
        yield Stop("results", f"{test}/results")
        yield Stop("letters", f"{test}/letters")
        yield Stop("grades", f"{test}/grades", main=False)
        yield Stop("results-empty", f"{quiet}/results", main=False)
        yield Stop("results-columns", f"{test}/results/columns", main=False)
        yield Stop("path", f"{test}/takers/{self.path}")
        yield Stop("path-why", f"{test}/takers/{self.path}/why/2", main=False)
        yield Stop("path-delete", f"{test}/takers/{self.path}/delete", main=False)
        yield Stop("path-time", f"{test}/takers/{self.path}/time", main=False)
        yield Stop("path-again", f"{test}/takers/{self.path}/again", main=False)
        yield Stop("live", f"{test}/live")
        yield Stop("live-empty", f"{quiet}/live", main=False)
        yield Stop("projector", f"{test}/projector")
        yield Stop("statistics", f"{test}/questions")
        yield Stop("statistics-empty", f"{quiet}/questions", main=False)
        yield Stop("report", f"{test}/report?pupils=yes")
        yield Stop("editor", draft)
        yield Stop("editor-faults", f"teacher/drafts/{self.faulty}", main=False)
        yield Stop("editor-empty", f"teacher/drafts/{self.bare}", main=False)
        yield Stop("editor-skills", f"{draft}/skills")
        yield Stop("editor-skill", f"{draft}/skills/division")
        yield Stop("editor-skill-new", f"{draft}/skills/~new", main=False)
        yield Stop("editor-questions", f"{draft}/questions")
        yield Stop("editor-question", f"{draft}/questions/M3")
        yield Stop("editor-question-new", f"{draft}/questions/~new", main=False)
        yield Stop("editor-question-faults", f"teacher/drafts/{self.faulty}/questions/Q1", main=False)
        yield Stop("editor-templates", f"{draft}/templates", main=False)
        yield Stop("editor-versions", f"{draft}/versions")
        yield Stop("editor-compare", f"{draft}/versions/compare?old=1&new=1", main=False)
        yield Stop("improve", f"{draft}/improve")
        yield Stop("trial-form", f"{draft}/try")
        yield Stop("trial-faults", f"teacher/drafts/{self.faulty}/try", main=False)

    def sending(self, page: Any) -> Iterator[str]:
        """Pages that come after something was sent: what was understood of a file with questions, and of results that came back."""
        page.goto(self.site / "teacher/import")
        page.locator("#file").set_input_files(QUIZ)
        follow(page.locator("main button.main"))
        yield "questions-understood"
        page.goto(self.site / f"teacher/tests/{self.practising}/collect")
        yield "collect"
        page.locator("#codes").fill("QUAESTOR1 of another test")
        follow(page.locator("main button.main"))
        yield "collected"

    def taking(self, page: Any) -> Iterator[str]:
        """A taker's pages one after the other: every kind of question, an entry that is refused, a result now and later; then practice."""
        for code, kind in ((self.kinds, "exam"), (self.held, "held"), (self.practice, "practice")):
            page.goto(self.site / f"c/{code}")
            page.locator("#name").fill("Wilhelmina Featherstonehaugh-Cholmondeley of Dulwich")
            follow(page.locator("main button"))
            for name in ("choice", "choices", "number", "text"):
                if kind == "exam":
                    yield f"question-{name}"
                if name == "number" and kind == "exam":
                    page.watch.expected.add(400)
                    page.locator("[name=entry]").fill("about three")
                    follow(page.locator("main button.main"))
                    yield "question-refused"
                options = page.locator(".options input")
                options.first.check() if options.count() else page.locator("[name=entry]").fill("3.5")
                follow(page.locator("main button.main"))
                if kind == "practice":
                    yield f"feedback-{name}"
                    follow(page.locator("main a.main"))
            yield f"result-{kind}"
