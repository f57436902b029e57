"""What the engine really says, of tests, banks, rules and refusals: all can be said in German and French, with no English left."""

import re
from datetime import datetime

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from helpers.broken_banks import GONE, VALID, with_changes
from helpers.browsing import KINDS, Browser, application, give
from quaestor.bankfile.sentences import question_sentence, skill_sentence
from quaestor.errors import BankError, QuaestorError
from quaestor.formats.files import load_bytes
from quaestor.i18n import Said, said, say
from quaestor.selection.rules import RulesError
from quaestor.selection.rules_file import read_rules
from quaestor.session.explain.changes import changes
from quaestor.store import limits, media, publishing, teachers
from quaestor.store.attempts import taking
from quaestor.store.database import DamagedError, UnavailableError
from quaestor.web.render.language import translate


def german(text):
    return translate("de", text)


ENGLISH = set(  # not those that are German words too: an, was
    re.findall(
        r"\w+",
        "the of is were are with and or not this that these it its which who has have be been by on at to from for if than least"
        " most each every one level skill skills question questions answer answers bank rules test answered asked expected number list map"
        " unknown would could may cannot there here more less right wrong skipped",
    )
)


FRENCH_TOO = {"on", "or", "question", "questions", "test"}


def english_left(text):
    """English words in another language's text, outside of what is quoted, of names in code and of file formats' own words."""
    plain = re.sub(r"„[^“]*“|«[^»]*»|'[^']*'|\[[^]]*\]", " ", text)
    return {word for word in re.findall(r"(?<![\w.-])[a-z]+(?![\w.-]|\()", plain) if word in ENGLISH}


def check_said(text, allowed=()):
    """A sentence of the engine: it is one, its German and its French are other texts, and nothing of them is English."""
    assert type(text) is Said, text
    told = german(text)
    assert told != text
    assert not english_left(told) - set(allowed), (told, text)
    french = translate("fr", text)
    assert french != text
    assert not english_left(french) - FRENCH_TOO - set(allowed), (french, text)
    return told


def quoted(text):
    """Words that are the author's own, or of the file format: they may stand in a German sentence."""
    return set(re.findall(r"[a-z]+", text))


def check_explained(session):
    explanation = qs.explain(session)
    levels = quoted(" ".join(level for skill in session.bank.skills.values() for level in skill.levels))
    for text in (explanation.text, explanation.sure, explanation.stop, explanation.hint):
        if text:
            check_said(text, levels)
    for why in (explanation.question, *explanation.results.values()):
        if why is not None:
            check_said(why.text, levels)
            if why.numbers:
                check_said(why.numbers, levels)
    for change in (one for changed in changes(session) for one in changed):
        check_said(change.text, levels)
    if session.stopped:
        check_said(session.stopped.reason)
    if session.choice is not None:
        for note in session.choice.narrowed:
            check_said(note.text)
    if session.rules.stop is not None:
        check_said(session.rules.stop.words)
    return german(explanation.text)


@pytest.mark.parametrize("kind", ["precise", "credal"])
@pytest.mark.parametrize("seed", range(25))
def test_everything_that_is_said_of_a_test_can_be_said_in_german(seed, kind):
    rng = np.random.default_rng(seed)
    bank = sessions.random_bank(rng, kind)
    session = qs.Session(bank, sessions.random_rules(rng, bank), seed)
    check_explained(session)
    while session.next is not None:
        question = session.next
        session = session.skip(question.id) if rng.random() < 0.2 else session.answer(question.id, int(rng.integers(len(question.classes))))
    check_explained(session)


RULES = [
    {"content": (qs.Content("a", most=1), qs.Content("b", least=2))},
    {"content": (qs.Content("a", share=0.8),)},
    {"content": (qs.Content("a", most=2),), "among": 3},
    {"exclude": (("a1", "a2"),), "mandatory": ("b3",)},
    {"first": ("b3",), "testlets": (("a1", "a2", "a3"),)},
    {"pilots": 1, "first": ("a1", "a2", "a3", "b1", "b2")},
    {"retire": qs.probability_above(0.6), "score": "right"},
    {"variety": qs.Variety(after=1, give_up=1.0), "score": "order"},
    {"variety": qs.Variety(after=1, give_up=1.0, of="group"), "score": "random"},
    {"exposure": qs.Exposure(most=0.5, rates={"a1": 0.7}, chances={"a2": 0.0})},
    {"robust": qs.Robust(networks=8)},
    {"robust": qs.Robust(networks=8, choose="least exposed")},
]


@pytest.mark.parametrize("fields", RULES, ids=lambda fields: "-".join(fields))
@pytest.mark.parametrize("width", [0, 0.05])
def test_what_rules_do_can_be_said_in_german(fields, width):
    bank = sessions.bank({name: {"group": "g"} for name in sessions.RIGHT}, pilots=2).widen(width)
    session = qs.Session(bank, qs.Rules(stop=qs.max_questions(5), **fields))
    while session.next is not None:
        check_explained(session)
        session = session.answer(session.next.id, "right")
    check_explained(session)


CRITERIA = [
    *(qs.max_questions(n, skill) for n in (1, 2) for skill in ("", "each", "a")),
    *(qs.all_of(qs.min_questions(n, skill), qs.max_questions(3)) for n in (1, 2) for skill in ("", "each", "a")),
    *(kind(0.99, over) for kind in (qs.entropy_below, qs.mode_below, qs.gini_below) for over in ("mean", "largest", "joint")),
    *(qs.probability_above(0.6), qs.gain_below(1.0), qs.dominant(), qs.right_answers(1), qs.right_answers(2)),
    *(qs.minutes(1), qs.minutes(2.5), qs.any_of(qs.max_questions(2), qs.dominant())),
    qs.all_of(qs.any_of(qs.max_questions(2), qs.right_answers(1)), qs.minutes(2)),
]


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda criterion: criterion.words)
def test_criteria_and_their_reasons_can_be_said_in_german(criterion):
    check_said(criterion.words)
    session = sessions.played(qs.Session(sessions.bank(), qs.Rules(stop=criterion)))
    check_said(session.stopped.reason)


def test_late_evidence_and_a_misfit_can_be_said_in_german():
    bank = qs.load("fractions")
    session = qs.Session(bank, qs.Rules(skips="wrong")).late("division", {"no": 0.2, "yes": 0.8}).skip("M3")
    assert "Nachgetragenes (gesehen zu division) senkte die Wahrscheinlichkeit von" in check_explained(session)
    assert "M3 (übersprungen) senkte die Wahrscheinlichkeit von" in check_explained(session)
    adding = [question for question in bank.questions.values() if question.skills == ("addition",) and len(question.classes) == 2]
    ordered = sorted(adding, key=lambda question: -float(question.table.lower[..., -1].mean()))
    session = qs.Session(bank)
    for question in (*ordered[:3], *ordered[-3:]):
        session = session.answer(question.id, "wrong" if question in ordered[:3] else "right")
    assert check_said(qs.explain(session).hint).startswith("Nur ein Hinweis: Diese Antworten passen schlecht zusammen.")


def test_tables_can_be_said_back_in_german():
    for name in qs.formats.files.bundled_banks():
        bank = qs.load(name)
        own = quoted(" ".join([*bank.skills, *(level for skill in bank.skills.values() for level in skill.levels)]))
        own |= {word for question in bank.questions.values() for word in quoted(" ".join(question.classes))}
        for question in bank.questions.values():
            check_said(question_sentence(question, bank.skills), own - {"right", "wrong"})
        for skill in bank.skills.values():
            if skill.parents:
                check_said(skill_sentence(skill, bank.skills), own)


CODE = quoted(
    "questions slip guess table prior shares strength needs level skill skills all any at_least right wrong number text of each most"
)
BAD = [
    {"imprecision": 2, "titel": "x", "skills.b.prior": [0.25, 0.5, 0.3], "skills.c.parents": ["x"], "templates.t.minutes": -1},
    {"questions.Q.right": [0.25, 1.75], "questions.O.correct": "z", "questions.M.tags": ["x", "x"], "questions.N.tolerance": -1},
    {"questions.W.accept": {"six": "half"}, "questions.D.discrimination": "huge", "questions.I.irt": {"a": 0, "b": 0}},
    {"questions.T.table": {"no": [0.5, 0.6], "yes": [0.5, 0.7]}, "questions.Q.text": "x" * 20_001, "title": " "},
    {"questions.Q.text": ["x"], "questions.Q.media": "/a.png", "questions.Q.pilot": "yes", "imprecision": 10**5000},
    {"questions": GONE, "skills.b.prior": "evne"},
    {"questions.Q.right": [0.5], "questions.T.table": {"no": [0.5, 0.5], "yse": [0.5, 0.5]}, "questions.S.slip": GONE},
    {"questions.Q.right": GONE, "questions.D.table": {"no": [0.5, 0.5]}, "questions.O.options": {"x": "right", "y": "best"}},
    {"skills.c.table": {"no": [0.5, 0.5]}, "skills.a": {"levels": ["x"]}, "questions.Q.kind": "numbr", "quaestor": 7},
    {"skills.a": {"parents": ["c"]}, "questions.Q.skill": "d", "questions.N.correct": "five", "questions.W.correct": GONE},
    {"skills.c.prior": [0.5, 0.5], "skills.a": {"shares": [0, 0]}, "questions.S.at_least": {"a": "maybe"}, "questions.Q.skills": ["a"]},
    {"questions.Q.right": [[0.5, 0.4], 0.5], "skills.b.prior": [[0.5, 0.6], [0.5, 0.6], 0.25], "questions.T.classes": ["one"]},
]


@pytest.mark.parametrize("changes", BAD, ids=lambda changes: ", ".join(changes))
def test_what_is_wrong_with_a_bank_can_be_said_in_german(changes):
    with pytest.raises(BankError) as error:
        qs.Bank(with_changes(changes))
    check_said(said(error.value), CODE)
    for problem in error.value.problems:
        check_said(problem.rule, CODE)
        check_said(problem.sentence, CODE)
        if problem.hint:
            check_said(problem.hint, CODE)


def test_warnings_can_be_said_in_german():
    changes = {"questions.Q.right": [0.5, 0.5], "questions.D": {"skill": "a", "right": [0.9, 0.1]}, "questions.O.options": ["x", "X"]}
    warnings = qs.Bank(with_changes(changes)).warnings
    assert len(warnings) == 3
    for warning in warnings:
        check_said(warning.sentence, CODE)


@pytest.mark.parametrize(
    ("data", "ending"),
    [
        (b"", ".yaml"),
        (b"\xff", ".yaml"),
        (b"a: [", ".yaml"),
        (b"a: *b", ".yaml"),
        (b"a: 1\na: 2", ".yaml"),
        (b"a: 1\n---\nb: 2", ".yaml"),
        (b"[" * 50 + b"]" * 50, ".json"),
        (b"{", ".json"),
        (b"", ".csv"),
        (b"id,skill,rihgt\nQ,a,1", ".csv"),
        (b"id,skill,right\nQ,a,0.1 | 0.9\nQ,a,0.1 | 0.9\n,a,0.1 | 0.9\nR,a,0.1,x", ".csv"),
        (b"id,skill,table\nQ,a,[1", ".csv"),
        (b"no workbook", ".xlsx"),
    ],
)
def test_what_is_wrong_with_a_file_can_be_said_in_german(data, ending):
    with pytest.raises(BankError) as error:
        load_bytes(data, ending)
    for problem in error.value.problems:
        check_said(problem.rule, CODE)
        assert german(problem.sentence) != problem.sentence


@pytest.mark.parametrize(
    "document",
    [
        {"stop": {"max_question": 3}},
        {"stop": {"max_questions": 0}},
        {"stop": {"entropy_below": {"threshold": 2, "over": "all"}}},
        {"stop": {"entropy_below": {"threshold": 0.5, "over": "all"}}},
        {"stop": {"dominant": 3}},
        {"stop": {"minutes": 0}},
        {"stop": [], "content": [{"least": 1}], "among": 0.5, "score": "entropie", "only_next": "yes"},
        {"content": [{"of": "a", "least": 3, "most": 2, "share": 2}, {"of": "b", "share": 0.9}, {"of": "b", "share": 0.9}]},
        {"retire": {"max_questions": 3}, "among": 0, "pilots": -1, "exclude": [["a"]], "testlets": [["a", "b"], ["b", "c"]]},
        {"variety": {"after": 0, "give_up": 2}, "robust": {"networks": 0}, "exposure": {"most": 0, "rates": {"a": 2}}},
        {"target": {"a": 0}},
    ],
    ids=str,
)
def test_what_is_wrong_with_rules_can_be_said_in_german(document):
    with pytest.raises(RulesError) as error:
        read_rules(document)
    for problem in error.value.problems:
        check_said(problem.rule, CODE)


@pytest.mark.parametrize(
    "fields",
    [
        {"first": ("q",)},
        {"mandatory": ("p1",), "testlets": (("p1", "a1"),), "pilots": 5},
        {"content": (qs.Content("c"),)},
        {"skips": "half"},
        {"target": "a1"},
        {"target": ("c",)},
        {"target": "joint"},
        {"stop": qs.max_questions(3, "c")},
        {"stop": qs.entropy_below(0.5, "joint")},
    ],
    ids=str,
)
def test_rules_that_do_not_fit_a_bank_can_be_said_in_german(fields):
    with pytest.raises(RulesError) as error:
        qs.Session(sessions.bank(pilots=1).widen(0.05), qs.Rules(**fields))
    for problem in error.value.problems:
        check_said(problem.sentence, CODE | {"a", "one"})


ACTS = {
    "empty": lambda s: s.enter("N", " "),
    "no number": lambda s: s.enter("N", "x"),
    "no option": lambda s: s.enter("O", "z"),
    "no options": lambda s: s.enter("Q", "z"),
    "list": lambda s: s.enter("O", ["x"]),
    "no list": lambda s: s.enter("M", [1]),
    "class": lambda s: s.answer("Q", "best"),
    "unknown": lambda s: s.answer("QQ", "right"),
    "twice": lambda s: s.answer("Q", "right").answer("Q", "right"),
    "undo": lambda s: s.undo(),
    "minutes": lambda s: s.answer("Q", "right", minutes=-1),
    "skill": lambda s: s.late("x", "no"),
    "level": lambda s: s.late("a", "x"),
    "weights": lambda s: s.late("a", [1.0]),
    "map": lambda s: s.late("a", {"x": 1}),
    "weight": lambda s: s.late("a", [1.0, 2.0]),
    "pairs": lambda s: s.late("a", [(0.1, 0.2), 1.0]),
    "nothing": lambda s: s.late("a", 3),
    "json": lambda s: qs.Session.from_json(s.bank, "{"),
    "format": lambda s: qs.Session.from_json(s.bank, "{}"),
    "other bank": lambda s: qs.Session.from_json(s.bank.widen(0.1), s.to_json()),
    "log": lambda s: qs.Session.from_json(s.bank, s.answer("Q", "right").to_json().replace('"Q"', '"QQ"')),
    "seed": lambda s: qs.Session(s.bank, seed=-1),
    "over": lambda s: qs.Session(s.bank, qs.Rules(stop=qs.max_questions(1))).answer("Q", "right").answer("O", "right"),
    "next": lambda s: qs.Session(s.bank, qs.Rules(only_next=True, first=("Q",))).answer("O", "right"),
    "skip": lambda s: qs.Session(s.bank, qs.Rules(may_skip=False)).skip("Q"),
    "impossible": lambda s: s.late("a", "no").late("a", "yes"),
}


@pytest.mark.parametrize("act", ACTS)
def test_what_a_session_refuses_can_be_said_in_german(act):
    with pytest.raises(QuaestorError) as error:
        ACTS[act](qs.Session(qs.Bank(VALID)))
    assert str(error.value) == said(error.value)
    check_said(said(error.value), CODE | {"a", "no", "column", "char"})


STORE = {
    "mode": lambda: publishing.Conditions(mode="x"),
    "retakes": lambda: publishing.Conditions(retakes="x"),
    "minutes": lambda: publishing.Conditions(minutes=0),
    "closes": lambda: publishing.Conditions(opens=datetime(2026, 1, 2), closes=datetime(2026, 1, 1)),
    "keep": lambda: publishing.Conditions(keep_days=0),
    "password": lambda: teachers.new_password("short"),
    "image": lambda: media.chosen(KINDS, {}),
    "kind": lambda: media.chosen(KINDS, {"pie.png": b"GIF"}),
    "size": lambda: media.chosen(KINDS, {"pie.png": b"x" * 3_000_000}),
    "stale": lambda: raised(taking.StaleError(3)),
    "minute": lambda: raised(limits.LimitError(30)),
    "wait": lambda: raised(limits.LimitError(300)),
    "away": lambda: raised(UnavailableError()),
    "damaged": lambda: raised(DamagedError()),
}


def raised(error):
    raise error


@pytest.mark.parametrize("act", STORE)
def test_what_the_store_refuses_can_be_said_in_german(act):
    with pytest.raises(QuaestorError) as error:
        STORE[act]()
    assert str(error.value) == said(error.value)
    check_said(said(error.value))


def test_a_date_is_written_in_the_way_of_the_language():
    words = say("this test opens on {opens:moment}", opens=datetime(2026, 3, 4, 8, 30))
    assert words == "this test opens on 4 March 2026, 08:30 UTC"  # as CLDR has it, and as all pages have it
    assert german(words) == "dieser Test öffnet am 4. März 2026, 08:30 UTC"


def test_a_taker_reads_german(database):
    browser = Browser(application(database))
    browser.client.headers["accept-language"] = "de-AT,de;q=0.9,en;q=0.5"
    browser.go("/c/WRONG1")
    assert "Zu diesem Code gibt es keinen Test; bitte prüfe ihn." in browser.page.text
    browser.go(f"/c/{give(database)}")
    browser.fill("/enter", name="Ada")
    for entry in ("3/4", ["two", "four"]):
        browser.fill("/answer", entry=entry)
    browser.fill("/answer", entry="about three")
    wanted = "Wir können „about three“ nicht als Zahl lesen. Bitte schreib sie so: 12, 0,75, 3/4 oder 1 1/2."
    assert wanted in browser.page.text
    for entry in ("7/2", "Paris"):
        browser.fill("/answer", entry=entry)
    for _ in range(2):  # the reason is noted in words, and said again by the session
        assert translate("de", say("This test asks no more questions.")) in browser.page.text
        browser.go("/take/1/result")
