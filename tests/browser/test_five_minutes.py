"""The page "Your first adaptive test in five minutes", followed to the letter from an empty database.

The test knows nothing of the application but its address: it reads the steps from the page, presses, fills in and looks for what they
name, in their order. A button that is renamed, moved or lost breaks the walk.
"""

import pytest

from helpers.chromium import follow, serve

MARKS = ".walk b, .walk kbd, .walk a"
QUESTIONS = 10  # more than the test of the page has


@pytest.fixture
def empty(tmp_path, migrated_file):
    yield from serve(tmp_path, migrated_file)


def steps(page):
    """What the page tells to do: (step, kind, words) in order, where a link's words are its address.

    A field may have a longer name than the page shows (`right` in the second row is `right 2`): the walk checks that both are right.
    """
    return page.eval_on_selector_all(
        MARKS,
        """found => found.map(e => [[...document.querySelectorAll(".walk > li")].indexOf(e.closest("li")) + 1,
           e.tagName == "KBD" ? "write" : e.tagName == "A" ? "go" : e.classList.contains("answer") ? "answer" : e.className,
           e.tagName == "A" ? e.href : e.dataset.named || e.textContent])""",
    )


class Walk:
    """Somebody who does what a page says. `within`: the part of the page that was named last, until the page changes."""

    def __init__(self, page, shown):
        self.page, self.within, self.into, self.shown = page, page, None, shown

    def go(self, address):
        self.page.goto(address)
        self.within = self.page

    def place(self, words):
        heading = self.page.get_by_role("heading", name=words, exact=True)
        self.within = self.page.locator("section", has=heading).last

    def press(self, words):
        inside, self.within = self.within, self.page
        found = inside.get_by_role("button", name=words, exact=True).or_(inside.get_by_role("link", name=words, exact=True))
        follow(found.first)

    def field(self, words):
        self.into = self.within.get_by_label(words, exact=True)
        if words in self.shown:
            row = self.into.locator("xpath=ancestor::label")
            assert row.inner_text().strip().startswith(self.shown[words]), "the field shows the words of the page"
        if self.into.get_attribute("type") in ("checkbox", "radio"):
            self.into.check()

    def write(self, words):
        if self.into.evaluate("e => e.tagName") == "SELECT":
            self.into.select_option(label=words)
        else:
            self.into.fill(words)

    def see(self, words):
        self.page.get_by_role("heading", name=words, exact=True).first.wait_for()

    def below(self, words):
        follow(self.page.get_by_text(words, exact=True).locator("xpath=following::a[1]"))

    def answer(self, words):
        button = self.page.get_by_role("button", name=words, exact=True)
        for _ in range(QUESTIONS):
            if not button.count():
                return
            option = self.page.get_by_role("radio")
            option.first.check() if option.count() else self.page.locator("[name=entry]").fill("7")
            follow(button)
        raise AssertionError(f"still a question after {QUESTIONS} answers")


@pytest.mark.parametrize("locale", ["en-GB", *(pytest.param(one, marks=pytest.mark.long) for one in ("de-DE", "fr-FR"))])
def test_the_page_can_be_followed_from_an_empty_database(empty, browse, locale):
    page = browse(locale=locale)
    page.goto(empty / "sign-in")
    follow(page.locator("main a[href$='/five-minutes']"))
    told = steps(page)
    assert len(told) > 30
    assert {step for step, _, _ in told} == set(range(1, page.locator(".walk > li").count() + 1)), "every step names something to do"
    shown = dict(page.eval_on_selector_all(".walk b[data-named]", "found => found.map(e => [e.dataset.named, e.textContent])"))
    walk = Walk(page, shown)
    walk.go(empty.link)
    for step, kind, words in told:
        try:
            getattr(walk, kind)(words)
        except Exception as error:
            raise AssertionError(f"step {step} cannot be followed: {kind} “{words}” at {page.url}: {error}") from error
    assert page.locator(".path > li").count() >= 2
    follow(page.locator("footer a[href$='/five-minutes']"))


def test_a_teacher_without_tests_is_led_to_the_page(site, browse):
    page = browse()
    page.goto(site.link)
    follow(page.get_by_role("button", name="Sign in"))
    follow(page.get_by_role("link", name="Your first adaptive test in five minutes").first)
    assert page.locator("h1").inner_text() == "Your first adaptive test in five minutes"
