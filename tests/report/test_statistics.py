"""What the answers tell of the questions: counts against cases counted by hand, flags that few answers never raise, the pages."""

import re
from html import unescape

import pytest
from scipy.stats import binom

import quaestor as qs
from helpers.browsing import Browser, application, give
from helpers.classroom import sign_in, take, words
from quaestor.report import flags
from quaestor.report.statistics import probabilities, statistics, tally
from quaestor.report.tallies import AtLevel
from quaestor.store import publishing, teachers
from quaestor.store.attempts import answers, taking
from quaestor.store.attempts.answers import Given
from quaestor.store.attempts.state import state_of
from quaestor.store.classes import class_lists
from quaestor.store.models import Published
from quaestor.store.outcomes import results
from quaestor.web.render import class_colours

BANK = qs.Bank(
    {
        "skills": {"s": {"levels": ["no", "yes"]}, "t": {"levels": ["low", "mid", "top"]}},
        "questions": {
            "choice": {"text": "?", "options": ["a", "b", "c"], "correct": "a", "skill": "s", "right": [0.2, 0.9]},
            "credal": {"text": "?", "options": ["a", "b"], "correct": "a", "skill": "s", "right": [[0.2, 0.4], [0.7, 0.9]]},
            "several": {
                "text": "?",
                "kind": "choices",
                "options": ["a", "b", "c"],
                "correct": ["a", "b"],
                "skill": "s",
                "right": [0.2, 0.9],
            },
            "number": {"text": "?", "kind": "number", "correct": "0.5", "skill": "s", "right": [0.2, 0.9]},
            "word": {"text": "?", "kind": "text", "correct": "Paris", "skill": "s", "right": [0.2, 0.9]},
            "both": {"text": "?", "options": ["a", "b"], "correct": "a", "skills": ["s", "t"], "needs": "all", "slip": 0.1, "guess": 0.2},
        },
    }
)
SURE = {
    "no": (1.0, 0.0),
    "yes": (0.0, 1.0),
    "?": (0.9, 0.1),
}  # without a wrong answer to a question of 0.2 and 0.9 the last one is not sure


def counted(question, *given):
    """The tally of lines (level, answer, entry, seconds), each of another taker."""
    lines = [Given(number, question, *(list(line[1:]) + [None, 10.0][len(line) - 2 :])) for number, line in enumerate(given)]
    found = {number: {"s": SURE[line[0]], "t": (0.0, 0.0, 1.0)} for number, line in enumerate(given)}
    return tally(BANK, BANK.questions[question], lines, found)


def raised(question, *given):
    return flags.flags([counted(question, *given)])[0]


def test_counts_by_hand():
    found = counted(
        "choice",
        ("no", "wrong", "b", 30.0),
        ("no", "right", "a", 10.0),
        ("yes", "right", "a", 20.0),
        ("yes", "wrong", "c", 40.0),
        ("yes", "right", "a", 12.0),
        ("?", "wrong", "b", 50.0),
        ("?", None, None, 99.0),
    )
    assert (found.asked, found.skipped, found.answered, found.seconds, found.strong) == (7, 1, 6, 25.0, 3)
    assert [(share.levels, share.right, share.count) for share in found.shares] == [(("no",), 1, 2), (("yes",), 2, 3)]
    assert [(share.low, share.high) for share in found.shares] == [(0.2, 0.2), (0.9, 0.9)]
    assert [(option.text, option.count, option.strong, option.right) for option in found.options] == [
        ("a", 3, 2, True),
        ("b", 2, 0, False),
        ("c", 1, 1, False),
    ]


def test_bands_of_credal_tables():
    assert [(share.low, share.high) for share in counted("credal", ("no", "right", "a")).shares] == [(0.2, 0.4), (0.7, 0.9)]


def test_an_answer_is_left_out_before_it_is_judged():
    """P(yes | all) = 0.9 and a right answer (0.9 against 0.2): without it the odds are 9 / 4.5 = 2, which is not sure."""
    lines = [Given(1, "choice", "right", "a", 1.0), Given(2, "choice", "wrong", "b", 1.0)]
    found = {1: {"s": (0.1, 0.9)}, 2: {"s": (0.1, 0.9)}}
    made = tally(BANK, BANK.questions["choice"], lines, found)
    assert [share.count for share in made.shares] == [0, 1]
    assert made.strong == 1
    odds = 9 * 0.8 / 0.1  # of the one who was wrong
    assert made.shares[1].least == pytest.approx((0.2 + 0.9 * odds) / (1 + odds))


def test_two_skills_have_all_combinations():
    made = counted("both", ("yes", "right", "a"), ("no", "wrong", "b"))
    assert [share.levels for share in made.shares][:3] == [("no", "low"), ("no", "mid"), ("no", "top")]
    assert {share.levels: (share.right, share.count) for share in made.shares if share.count} == {
        ("yes", "top"): (1, 1),
        ("no", "top"): (0, 1),
    }
    assert made.strong == 1


def test_ticks_are_counted_one_by_one():
    made = counted("several", ("yes", "right", "a | b"), ("yes", "wrong", "a | c"), ("no", "wrong", "C"))
    assert [(option.text, option.count, option.strong, option.right) for option in made.options] == [
        ("a", 2, 2, True),
        ("b", 1, 1, True),
        ("c", 2, 1, False),
    ]


def test_entries_that_mean_the_same_are_one():
    made = counted(
        "number", ("yes", "wrong", "2"), ("no", "wrong", " 4/2 "), ("no", "wrong", "2"), ("yes", "right", "1/2"), ("no", "wrong", "7")
    )
    assert [(option.text, option.count, option.strong) for option in made.options] == [("2", 3, 1), ("7", 1, 0)]
    made = counted("word", ("yes", "wrong", "LYON"), ("no", "wrong", "lyon"), ("no", "wrong", "Lyon "), ("no", "wrong", "Lyon"))
    assert [(option.text, option.count, option.strong) for option in made.options] == [("Lyon", 4, 1)]


def test_answers_without_a_level_or_an_entry_count_too():
    made = tally(BANK, BANK.questions["choice"], [Given(5, "choice", "right", None, 1.0)], {})
    assert (made.asked, made.strong, [share.count for share in made.shares]) == (1, 0, [0, 0])


@pytest.mark.parametrize("question", BANK.questions)
@pytest.mark.parametrize("answer", ["right", "wrong", None])
def test_three_answers_raise_no_alarm(question, answer):
    entry = None if answer is None else {"right": "a", "wrong": "c"}[answer]
    for level in SURE:
        assert not raised(question, *[(level, answer, entry)] * 3)


def test_another_share_than_the_table_says():
    assert not raised("choice", *[("yes", "wrong", None)] * 9)
    (flag,) = raised("choice", *[("yes", "wrong", None)] * 10)
    assert flag == "At level “yes” 0 of 10 were right; the table says 90 %: have a look at the key, the text and the difficulty."
    assert not raised("choice", *[("yes", "wrong", None)] * 4, *[("yes", "right", None)] * 12)  # 75 %: chance may do it
    assert not raised("choice", *[("yes", "wrong", None)] * 200, *[("yes", "right", None)] * 800)  # 80 %: not chance, but near enough
    assert not raised("credal", *[("yes", "right", None)] * 13, *[("yes", "wrong", None)] * 7)  # 65 %, 5 points below the band


def test_chances_are_binomial_tails():
    below, within, above = (
        AtLevel(("yes",), 20, 8, 0.9, 0.9, 0.7, 0.8),
        AtLevel(("yes",), 20, 15, 0, 0, 0.7, 0.8),
        AtLevel(("no",), 20, 19, 0, 0, 0.2, 0.5),
    )
    tails = [2 * sum(binom.pmf(k, 20, 0.7) for k in range(9)), 1, 2 * sum(binom.pmf(k, 20, 0.5) for k in (19, 20))]
    assert flags._p_values([below, within, above]) == pytest.approx(tails)


def test_many_comparisons_make_one_harder_to_flag():
    odd = [("yes", "wrong", None)] * 5 + [("yes", "right", None)] * 7
    usual = [("yes", "right", None)] * 11 + [("yes", "wrong", None)]
    alone, among = counted("choice", *odd), [counted("choice", *usual)] * 300
    assert len(flags.flags([alone])[0]) == 1
    assert not any(flags.flags([alone, *among]))


def test_options_that_attract_the_strong():
    right, wrong = ("yes", "right", "a"), ("yes", "wrong", "b")
    assert not any("chose" in flag for flag in raised("choice", *[right] * 3, *[wrong] * 4))
    found = raised("choice", *[right] * 8, *[wrong] * 5)
    assert "5 of 13 strong takers chose “b”, which counts as wrong: is the key right, or is the text unclear?" in found
    assert not any("chose" in flag for flag in raised("choice", *[right] * 11, *[wrong] * 5))
    assert not any("chose" in flag for flag in raised("choice", *[("no", "wrong", "b")] * 50, *[right] * 8))


def test_entries_that_the_key_may_lack():
    strong, weak = ("yes", "wrong", "1/3"), ("no", "wrong", "2")
    assert any("typed “1/3”, 5 of them strong" in flag for flag in raised("number", *[strong] * 5, *[("yes", "right", "0.5")] * 15))
    assert not raised("number", *[strong] * 4, *[("yes", "right", "0.5")] * 16)
    assert any("8 of 16 typed “2”, 0 of them strong" in flag for flag in raised("number", *[weak] * 8, *[("no", "right", "0.5")] * 8))
    assert not any("typed" in flag for flag in raised("number", *[weak] * 7, *[("no", "right", "0.5")] * 7))


def test_questions_that_are_skipped():
    skip, answer = ("?", None), ("?", "right", "a")
    assert raised("choice", *[skip] * 3, *[answer] * 7) == ("3 of 10 skipped it: is it understood, and is it taught already?",)
    assert not raised("choice", *[skip] * 3, *[answer] * 6)
    assert not raised("choice", *[skip] * 3, *[answer] * 8)


def test_flagged_ones_first_then_those_asked_most():
    given = [Given(number, "word", "right", "paris", 1.0) for number in range(12)]
    given += [Given(number, "choice", None, None, 1.0) for number in range(10)] + [Given(1, "number", "right", "1/2", 1.0)]
    assert [(one.tally.question.id, len(one.flags)) for one in statistics(BANK, given, {})] == [("choice", 1), ("word", 0), ("number", 0)]


def test_intervals_of_shares():
    assert AtLevel((), 10, 5, 0, 0, 0, 0).interval == pytest.approx((0.2366, 0.7634), abs=1e-4)  # Wilson, 95 %
    assert AtLevel((), 10, 0, 0, 0, 0, 0).interval == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert AtLevel((), 0, 0, 0, 0, 0, 0).interval == (0.0, 1.0)


def test_pictures_have_no_styles_and_say_what_they_show():
    made = class_colours.against({"language": "en"}, AtLevel(("yes",), 10, 5, 0.9, 0.9, 0.9, 0.9))
    assert 'aria-label="50% / 90%"' in made  # as CLDR has it in English; German and French have a space
    assert 'class="seen" cx="120.0"' in made
    stack = class_colours.stack([("<no>", 1, 1), ("yes", 3, 0)])
    assert 'aria-label="&lt;no&gt;: 1, yes: 3"' in stack
    assert re.findall(r'class="(shade\d)" x="([\d.]+)" width="([\d.]+)"', stack) == [("shade0", "0.0", "60.0"), ("shade4", "60.0", "180.0")]
    assert "style" not in made + stack
    assert [class_colours.shade(level, "abc") for level in "abc"] == ["shade0", "shade2", "shade4"]
    assert class_colours.shade("a", ["a"]) == "shade0"


@pytest.fixture
def app(database):
    return application(database)


def test_rows_of_the_database(database):
    code = give(database)
    take(database, code, "Ada", 4)
    with database.work() as work:
        taking.skip(work, taking.enter(work, code, "Bob"), 1)
    with database.read() as work:
        test = work.get(Published, 1)
        given = answers.given(work, test)
        found = statistics(publishing.open_bank(test.bank), given, probabilities(results.outcomes(work, test)))
    assert [(line.attempt, line.question, line.answer) for line in given][3:] == [(1, "word", "right"), (2, "one", None)]
    assert (found[0].tally.question.id, found[0].tally.asked, found[0].tally.skipped) == ("one", 2, 1)


def test_the_statistics_page(app, database):
    code = give(database)
    browser = sign_in(app, database)
    assert "No question was answered yet." in words(browser.go("/teacher/tests/1/questions"))
    with database.work() as work:
        for number in range(10):
            attempt = taking.enter(work, code, f"taker {number}")
            for step, entry in enumerate(("2/6", ["two"], "<i>7</i>" if number == 9 else "7", "Rome"), 1):
                if entry == "<i>7</i>":
                    taking.skip(work, attempt, step)
                else:
                    taking.answer(work, attempt, step, entry)
    page = browser.go("/teacher/tests/1/questions")
    said = words(page)
    assert "4 questions were asked 40 times in all 0 were never asked" in said
    assert "9 of 9 typed “7”, 0 of them strong; it counts as wrong" in said
    assert "asked 10 skipped 1" in said
    assert "The capital of <France>?" in said
    assert "<France>" not in page.text
    assert "style=" not in page.text
    assert "<mfrac>" in page.text


def test_what_changed_while_answers_came_in(app, database):
    """A question that everybody gets right after half of the takers is named; a pilot has its ranges"""
    stated = {f"q{n}": {"text": f"Nr {n}", "options": ["a", "b"], "correct": "a", "skill": "s", "right": [0.3, 0.7]} for n in range(4)}
    stated["q3"]["pilot"] = True
    code = give(database, qs.Bank({"skills": {"s": {}}, "questions": stated}), qs.Rules(score="order", pilots=1))
    with database.work() as work:
        for number in range(56):
            attempt = taking.enter(work, code, f"taker {number}")
            step = 1
            while (asked := state_of(work, attempt).session.next) is not None:
                taking.answer(work, attempt, step, ("a" if number >= 28 else "b") if asked.id == "q0" else "ab"[(number + step) % 2])
                step += 1
    browser = sign_in(app, database)
    said = words(browser.go("/teacher/tests/1/questions"))
    assert "It has become easier: of takers like these, " in said
    assert said.count("has become") == 1
    assert re.search(r"It is being tried out and does not count\. \d+ answers say: right at level “no” \d+ to \d+", said)
    with database.read() as work:
        lines = answers.in_time(work, work.get(Published, 1))
    assert [line.attempt for line in lines] == sorted(line.attempt for line in lines)
    assert len(lines) >= 3 * 56


def test_pages_of_fifty_questions(app, database):
    questions = {f"q{n}": {"text": f"Nr {n}", "options": ["a", "b"], "correct": "a", "skill": "s", "right": [0.4, 0.6]} for n in range(60)}
    code = give(database, qs.Bank({"skills": {"s": {}}, "questions": questions}), qs.Rules(score="order"))
    browser = sign_in(app, database)
    take(database, code, "Ada", 60)
    assert len(re.findall("<section", browser.go("/teacher/tests/1/questions").text)) == 50
    assert 'href="?sheet=2"' in browser.page.text
    assert len(re.findall("<section", browser.go("/teacher/tests/1/questions?sheet=2").text)) == 10
    assert browser.go("/teacher/tests/1/questions?sheet=99").status_code == 200


def test_the_report(app, database):
    code = give(database, by_list=True)
    with database.work() as work:
        test = publishing.published_by(work, teachers.owner(work, ""))[0]
        codes = [pupil.code for pupil in class_lists.add_pupils(work, test, ["Ada", "Bob <b>", "Kim"])]
    browser = sign_in(app, database)
    assert "Nobody has finished the test yet." in words(browser.go("/teacher/tests/1/report"))
    take(database, codes[0], "", 4)
    take(database, codes[1], "", 1)
    said = words(browser.go("/teacher/tests/1/report"))
    assert "1 finished 1 under way 1 not begun 3 on the class list" in said
    assert "No question stands out" in said
    assert "Each pupil" not in said
    said = words(browser.go("/teacher/tests/1/report?pupils=yes"))
    assert "Each pupil Ada 4 questions, 0 minutes" in said
    assert "Bob" not in said
    assert "style=" not in unescape(browser.page.text)
    assert code


def test_links_to_the_pages(app, database):
    give(database)
    page = sign_in(app, database).go("/teacher/tests/1")
    for path in ("live", "questions", "report"):
        assert f'href="/teacher/tests/1/{path}"' in page.text
    assert Browser(app).go("/teacher/tests/1").url.path == "/sign-in"
