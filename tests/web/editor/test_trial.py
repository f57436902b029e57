"""A bank tried on simulated students: the numbers against the engine's own, the words, and the pages without JavaScript."""

import re
from html import unescape

import numpy as np
import pytest

import quaestor as qs
from helpers.browsing import Browser, application
from quaestor.errors import QuaestorError
from quaestor.report.shares import wilson
from quaestor.report.trial import compared, told_of, too_short, verdict
from quaestor.simulate.trial import FIRST, alike, try_out
from quaestor.store import drafts, job_queue, publishing, teachers
from quaestor.store.models import BankVersion, Job
from quaestor.web.jobs import worker
from quaestor.web.render.language import translate

QUICK = qs.Rules(stop=qs.any_of(qs.max_questions(4), qs.probability_above(0.9)))
LONG = qs.Rules(stop=qs.max_questions(8))
FRACTIONS = qs.load("fractions")
ENOUGH = tuple(qs.Content(skill, least=2) for skill in FRACTIONS.skills)  # what a test that ends when it is sure asks in any case
BLIND = qs.Bank(
    {
        "title": "Cannot tell",
        "skills": {"s": {"levels": ["low", "middle", "high"], "prior": [0.3, 0.4, 0.3]}},
        "questions": {f"Q{n}": {"skill": "s", "right": [0.2, 0.8, 0.8]} for n in range(5)},
    }
)


# --- the numbers ---


@pytest.fixture(scope="module")
def both():
    return try_out(FRACTIONS, [QUICK, LONG], 300, 1), [qs.simulate(FRACTIONS, rules, 300, 1) for rules in (QUICK, LONG)]


def test_a_trial_counts_what_a_simulation_gives(both):
    found, simulated = both
    for one, x in zip(found["sets"], simulated, strict=True):
        assert one["lengths"] == np.bincount(x.lengths).tolist()
        assert one["right"] == pytest.approx([x.accuracy[-1], x.error()[-1]], abs=1e-6)
        assert one["asked"] == (x.exposure * 300).round().astype(int).tolist()
        assert one["stops"] == x.stops
        levels = [np.diag(np.array(table)) / np.array(table).sum(axis=1) for table in one["levels"]]
        expected = [x.by_level()[-1, skill, : len(shares)] for skill, shares in enumerate(levels)]
        assert np.concatenate(levels) == pytest.approx(np.concatenate(expected))
        assert [row[3] / 300 for row in one["sure"]] == pytest.approx(x.determinate_by_skill[-1])


def test_differences_are_those_of_the_same_students(both):
    found, (quick, long) = both
    mean, error = long.difference(quick)
    assert found["difference"]["right"] == pytest.approx([mean[-1], error[-1]], abs=1e-6)
    apart = long.lengths - quick.lengths
    assert found["difference"]["length"] == pytest.approx([apart.mean(), apart.std(ddof=1) / np.sqrt(300)])


def test_a_trial_is_near_what_is_expected_without_sampling():
    bank = qs.load("multiplication")
    exact = qs.expected(bank, LONG)
    found = try_out(bank, [LONG], 2000, 3)["sets"][0]
    mean, error = found["right"]
    assert abs(mean - exact.accuracy[-1]) < 4 * error


def test_a_credal_bank_says_how_often_one_level_is_left():
    bank = qs.load("single-skill").widen(0.1)
    found = try_out(bank, [QUICK], 30, 1)
    x = qs.simulate(bank, QUICK, 30, 1)
    assert not found["precise"]
    assert found["sets"][0]["sure"][0][3] == pytest.approx(30 * x.determinate[-1])
    assert 0 < found["sets"][0]["sure"][0][3] < 30


def test_progress_rises_to_one_and_the_trial_may_be_ended():
    shares = []
    assert try_out(FRACTIONS, [QUICK, QUICK], 250, 1, lambda share: shares.append(share) or True)["students"] == 250
    assert shares == sorted(shares)
    assert len(shares) >= 4  # batches grow as long as they are quick
    assert shares[-1] == 1.0
    early = try_out(FRACTIONS, [QUICK], 250, 1, lambda share: False)
    assert (early["students"], early["wanted"]) == (FIRST, 250)
    assert early["sets"] == try_out(FRACTIONS, [QUICK], FIRST, 1)["sets"]


def test_rules_must_fit_the_bank():
    with pytest.raises(QuaestorError, match="first"):
        try_out(FRACTIONS, [qs.Rules(first=("nothing",))], 10, 1)


# --- the words ---


def test_levels_that_no_question_tells_apart_are_named():
    assert alike(BLIND) == [["s", 1, 2]]
    assert alike(FRACTIONS) == []
    side = told_of(try_out(BLIND, [LONG], 400, 1))[0]
    assert side.alike == ("s: every question is answered alike at “middle” and at “high”, so no question can tell them apart",)
    assert any(re.fullmatch(r"s: of 100 students who are at “high”, \d+ are found at “middle”", words) for words in side.mixed)


def test_a_trial_in_words(both):
    quick, long = told_of(both[0])
    assert long.length == "Nearly all students are asked 8 questions"
    assert re.fullmatch(r"Of 100 students who have the skill, \d+ are found to have it", quick.skills[0].levels[1].words)
    assert re.match(r"Of 100 students who are at “partly”, \d+ are found there", quick.skills[1].levels[1].words)
    assert set(quick.never) == {name for name, share in quick.asked if share == 0}
    assert [words for words, _ in long.ends] == ["the number of questions was reached"]
    longer, better = compared(both[0], [quick, long])
    assert longer.startswith("The second asks ")
    assert better.startswith("Of 100 levels the second finds ")


def test_a_skill_with_german_levels_is_one_that_students_have_or_have_not():
    bank = qs.Bank({"skills": {"s": {"levels": ["nein", "ja"]}}, "questions": {"Q": {"skill": "s", "right": [0.2, 0.9]}}})
    levels = told_of(try_out(bank, [LONG], 100, 1))[0].skills[0].levels
    assert re.fullmatch(r"Of 100 students who have the skill, \d+ are found to have it", levels[1].words)
    said = translate("de", levels[0].words)
    assert re.fullmatch(r"Von 100 simulierten Personen, die die Fähigkeit nicht haben, wird das bei \d+ erkannt", said)


def test_too_few_students_are_said_to_be_too_few():
    side = told_of(try_out(FRACTIONS, [QUICK], 10, 1))[0]
    assert side.skills[0].levels[0].words.endswith("too few to tell")
    assert side.mixed == ()


def test_rules_that_come_to_the_same_are_said_to():
    found = try_out(FRACTIONS, [QUICK, QUICK], 30, 1)
    assert compared(found, told_of(found))[0] == "Both ask about as many questions"


def test_the_interval_of_a_share():
    share = wilson(87, 100)  # as in the tables: 0.790 to 0.922
    assert (share.low, share.high) == pytest.approx((0.790, 0.922), abs=1e-3)
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)
    assert wilson(20, 20).high == pytest.approx(1)


# --- the pages ---


@pytest.fixture
def school(database):
    """A teacher's browser, a draft, a draft with faults, a kept bank, and a stranger's browser."""
    with database.work() as work:
        owner = teachers.owner(work, "owner@school.example")
        other = teachers.use_link(work, teachers.invitation(work, owner, "other@school.example"))
        draft = drafts.begin_draft(work, owner, FRACTIONS.document, "begun").id
        faulty = drafts.begin_draft(work, owner, {"title": "Faulty", "skills": {"a": {}}, "questions": {"Q": {"skill": "b"}}}, "begun").id
        kept = publishing.keep_bank(work, owner, FRACTIONS).id
        links = [teachers.sign_in_link(work, teacher) for teacher in (owner, other)]
    app, browsers = application(database), []
    for link in links:
        browsers.append(Browser(app))
        browsers[-1].go(f"/sign-in/{link}")
        browsers[-1].fill(f"/sign-in/{link}")
    return browsers, draft, faulty, kept


def work_off(database):
    with database.work() as work:
        number = job_queue.claim(work, "tests")
    worker.work_off(database, number, "tests")


def words(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def test_a_draft_is_tried_and_published_with_the_same_rules(database, school):
    (ada, eve), draft, _, _ = school
    ada.go(f"/teacher/drafts/{draft}/try")
    assert "Try it on simulated students" in ada.page.text
    assert f'<a href="/teacher/drafts/{draft}/try" aria-current="page">' in ada.page.text  # the tabs of the editor stay
    ada.fill("/try", pace="own", most="5", sure="80", join="first", students="250", seed="2")
    assert re.fullmatch(r"/teacher/trials/\d+", ada.path)
    trial, progress = ada.path, f"/teacher/jobs/{ada.path.rpartition('/')[2]}/progress"
    assert f'data-progress="{progress}"' in ada.page.text
    assert '<noscript><meta http-equiv="refresh" content="2">' in ada.page.text
    assert ada.client.get(progress).json() == {"state": "waiting", "share": 0.0}
    assert eve.go(trial).status_code == eve.go(progress).status_code == eve.go(f"/teacher/drafts/{draft}/try").status_code == 404
    work_off(database)
    assert ada.client.get(progress).json() == {"state": "done", "share": 1.0}
    ada.go(trial)
    said = words(ada.page)
    rules = qs.Rules(stop=qs.any_of(qs.max_questions(5), qs.probability_above(0.8)), content=ENOUGH)
    found = try_out(FRACTIONS, [rules], 250, 2)
    side = told_of(found)[0]
    assert side.length in said
    assert all(level.words in said for skill in side.skills for level in skill.levels)
    assert "250 simulated students took this test." in said
    assert said.index("Is it long enough?") < said.index("How long is it?")
    short = [found["skills"][place]["title"] for place in too_short(found, 0)]
    assert short
    assert all(f"Too short for {title}: about " in said for title in short)
    doubtful = verdict({**found, "shortfalls": [[]]}, 0)  # of so few students chance may be the reason
    assert doubtful
    assert all(one.startswith("Perhaps too short for ") and one in said for one in map(str, doubtful))
    assert "max_questions: 5" in said
    assert "style=" not in ada.page.text
    assert "http-equiv" not in ada.page.text
    ada.fill("/publish", side="0")
    assert re.fullmatch(r"/teacher/banks/\d+/publish", ada.path)
    assert re.search(r'name="pace" value="own" checked', ada.page.text)
    assert re.search(r'name="most"[^>]* value="5"', ada.page.text)
    assert re.search(r'value="80" selected', ada.page.text)
    ada.go(f"/teacher/drafts/{draft}/try")
    assert f'href="{trial}"' in ada.page.text


def test_two_sets_of_rules_side_by_side(database, school):
    (ada, _), _, _, kept = school
    ada.go(f"/teacher/banks/{kept}/try")
    ada.fill("/try", pace="quick", compare="yes", other_rules="score: entropy\nstop: {max_questions: 3}", students="40")
    trial = ada.path
    work_off(database)
    ada.go(trial)
    assert "Side by side" in words(ada.page)
    assert "Second: Written rules" in words(ada.page)
    with database.read() as work:
        before = work.query(BankVersion).count()
    ada.fill("/publish", side="1")
    assert "score: entropy" in ada.page.text
    with database.read() as work:
        assert work.query(BankVersion).count() == before
    assert ada.go(f"/teacher/banks/{kept}/publish?trial={trial.rpartition('/')[2]}&side=7").status_code == 404


def test_a_faulty_draft_shows_its_problems_instead(school):
    (ada, _), _, faulty, _ = school
    ada.go(f"/teacher/drafts/{faulty}/try")
    assert "to mend first" in words(ada.page)
    assert "Start the trial" not in ada.page.text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pace": "own", "most": "0", "sure": "90"}, "whole number from 1 to 500"),
        ({"pace": "hasty"}, "choose one of these"),
        ({"pace": "careful", "students": "5"}, "whole number from 10 to 10000"),
        ({"pace": "careful", "rules": "stop: {max_question: 3}"}, "max_questions"),
        ({"pace": "careful", "compare": "yes", "other_pace": "own", "other_most": "x", "other_sure": "90"}, "whole number from 1 to 500"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_started(database, school, fields, message):
    (ada, _), draft, _, _ = school
    ada.go(f"/teacher/drafts/{draft}/try")
    assert ada.fill("/try", **fields).status_code == 400
    assert message in words(ada.page)
    with database.read() as work:
        assert work.query(Job).count() == 0


def test_a_trial_is_cancelled(database, school):
    (ada, eve), draft, _, _ = school
    ada.go(f"/teacher/drafts/{draft}/try")
    ada.fill("/try", pace="careful")
    trial = ada.path
    eve.go("/teacher")
    token = re.search(r'name="form_token" value="([^"]+)"', eve.page.text)[1]
    assert eve.client.post(f"{trial}/delete", data={"form_token": token}).status_code == 404
    ada.fill("/delete")
    assert ada.path == f"/teacher/drafts/{draft}/try"
    assert ada.go(trial).status_code == 404


def test_a_failed_trial_says_why(database, school):
    (ada, _), draft, _, _ = school
    ada.go(f"/teacher/drafts/{draft}/try")
    ada.fill("/try", pace="careful", students="10")
    with database.work() as work:
        number = job_queue.claim(work, "tests")
        job_queue.fail(work, number, "tests", "the bank was deleted meanwhile")
    ada.go(ada.path)
    assert "The bank was deleted meanwhile." in words(ada.page)


def test_a_kept_bank_is_tried_until_both_hold(database, school):
    (ada, _), _, _, kept = school
    ada.go(f"/teacher/banks/{kept}/try")
    ada.fill("/try", pace="own", most="3", sure="80", join="both", students="10")
    with database.read() as work:
        assert job_queue.jobs_of(work, teachers.owner(work, ""), "trial", f"bank {kept}")[0].asked["sets"][0]["rules"] == {
            "stop": {"all_of": [{"min_questions": 3}, {"probability_above": 0.8}]},
            "content": [{"of": skill, "least": 2} for skill in FRACTIONS.skills],
        }
    work_off(database)
    assert "At least 3 questions" in words(ada.go(ada.path))
