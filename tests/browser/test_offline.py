"""The test in one file, in a real browser: its engine beside that in Python, its marking, its QR codes, a taker's way through it."""

import hashlib
import json
import random

import pytest
import segno

import quaestor as qs
from helpers.chromium import windows
from quaestor.bankfile.bank import Bank
from quaestor.cli.export import _usual
from quaestor.errors import AnswerError
from quaestor.numerals import read_number
from quaestor.session.sufficiency import asks_enough
from quaestor.web.offline.engine import engine_of
from quaestor.web.offline.file import html_of
from quaestor.web.offline.handed_in import outcome_of, read_results, read_test, taken

FOLLOW = """([test, logs]) => logs.map((log) => {
  const asked = [];
  for (let count = 0; count <= log.length; count++) {
    const now = stand(test, log.slice(0, count));
    asked.push(now.question);
    if (count === log.length) return [asked, now.rule, now.findings];
  }
})"""


def content(bank, rules=None):
    """What is in the file."""
    return json.loads(html_of(bank, rules or qs.Rules()).split('id="test">')[1].split("</script>")[0])


def some_rules(bank):
    """Rules of many kinds that the engine in the file knows."""
    return {
        "usual": _usual(bank),
        "default": qs.Rules(stop=qs.any_of(qs.max_questions(20), qs.entropy_below(0.25))),
        "skips are wrong": qs.Rules(
            score="entropy", stop=qs.all_of(qs.min_questions(5), qs.probability_above(0.8)), skips="wrong", target="all"
        ),
        "gain": qs.Rules(score="gini", then="right", stop=qs.any_of(qs.gain_below(0.01), qs.right_answers(6))),
        "content": qs.Rules(
            stop=qs.any_of(qs.max_questions(9), qs.dominant()),
            first=(list(bank.questions)[3],),
            content=(*asks_enough(bank), qs.Content(next(iter(bank.skills)), most=3)),
            may_skip=False,
        ),
        "plain mode": qs.Rules(then=None, stop=qs.any_of(qs.mode_below(0.3, "largest"), qs.max_questions(4, "each"), qs.max_questions(25))),
    }


def walk(bank, rules, rng):
    """A session answered at random: its log as numbers, the questions it asked, why it ended, what is known."""
    session, names = qs.Session(bank, rules), list(bank.questions)
    log, asked = [], []
    while session.next is not None:
        question = session.next
        asked.append(names.index(question.id))
        if rules.may_skip and rng.random() < 0.1:
            session, answer = session.skip(question.id), -1 if rules.skips == "missing" else 0
        else:
            answer = rng.randrange(len(question.classes))
            session = session.answer(question.id, question.classes[answer])
        log.append([asked[-1], answer])
    return log, asked, session


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    """A page with all scripts of a file."""
    path = tmp_path_factory.mktemp("offline") / "test.html"
    path.write_text(html_of(qs.load("multiplication"), qs.Rules()), encoding="utf-8")
    with windows(chromium) as opened:
        found = opened()
        found.goto(path.as_uri())
        yield found


def follows(page, bank, rules, count, seed):
    rng = random.Random(seed)
    walks = [walk(bank, rules, rng) for _ in range(count)]
    found = page.evaluate(FOLLOW, [{"engine": engine_of(bank, rules)}, [log for log, _, _ in walks]])
    for (_, asked, session), (theirs, rule, findings) in zip(walks, found, strict=True):
        assert theirs == [*asked, None]
        assert rule == session.stopped.rule
        for skill, finding in zip(bank.skills, findings, strict=True):
            assert finding["lower"] == pytest.approx(session.beliefs[skill].lower.tolist(), abs=1e-12)


@pytest.mark.parametrize("name", list(some_rules(qs.load("fractions"))))
def test_the_engine_in_the_file_asks_what_a_session_asks(page, name):
    bank = qs.load("fractions")
    follows(page, bank, some_rules(bank)[name], 4, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("bank", ["fractions", "german", "four-skills", "single-skill"])
@pytest.mark.parametrize("name", list(some_rules(qs.load("fractions"))))
def test_a_thousand_walks(page, bank, name):
    bank = qs.load(bank)
    follows(page, bank, some_rules(bank)[name], 42, seed=2)


def test_a_credal_test_follows_its_decision_graph(page):
    bank = qs.load("multiplication").widen(0.05)
    rules, rng = qs.Rules(stop=qs.max_questions(2)), random.Random(3)
    test = content(bank, rules)
    assert "graph" in test
    assert "engine" not in test
    walks = [walk(bank, rules, rng) for _ in range(8)]
    found = page.evaluate(FOLLOW, [test, [log for log, _, _ in walks]])
    for (_, asked, session), (theirs, rule, findings) in zip(walks, found, strict=True):
        assert theirs == [*asked, None]
        assert rule == session.stopped.reason
        assert findings[0]["lower"] == pytest.approx(session.beliefs["multiplication"].lower.tolist(), abs=1e-6)


NUMBER_TEXTS = "12| 0,75|.75|75 %|3/4|1 1/2|1½|-2|−2|1e-3|12 000|12'000|5²||a|1/0|1..2|+3|½ %|1 000 000/4"
NUMBERS = NUMBER_TEXTS.split("|")
TEXTS = ["Straße", "STRASSE", " the  Cat. ", "‘quoted’", "ﬁne", "Ελλάς", "ÉTÉ!", "no", "½", "x\u00a0y", "?", "..."]


def test_numbers_are_read_as_in_python(page):
    rng = random.Random(5)
    drawn = ["".join(rng.choice("0123456789 ,./%'-+e½²") for _ in range(rng.randrange(1, 9))) for _ in range(300)]
    found = page.evaluate("(texts) => texts.map((text) => readNumber(text)?.map(String) ?? null)", [*NUMBERS, *drawn])
    for text, pair in zip([*NUMBERS, *drawn], found, strict=True):
        value = read_number(text)
        assert (value is None) == (pair is None), text
        if value is not None:
            assert value * int(pair[1]) == int(pair[0]), text


def test_entries_are_marked_as_in_python(page):
    questions = qs.load("fractions").questions | qs.load("german").questions
    told = {one["id"]: one for name in ("fractions", "german") for one in content(qs.load(name))["questions"]}
    rng = random.Random(7)
    cases, expected = [], []
    for name, question in questions.items():
        for _ in range(6):
            if question.kind == "choice":
                entry = str(rng.randrange(len(question.options)))
                given = question.options[int(entry)]
            elif question.kind == "choices":
                entry = [str(n) for n in range(len(question.options)) if rng.random() < 0.5]
                given = [question.options[int(n)] for n in entry]
            else:
                entry = given = rng.choice([*question.accept, *NUMBERS, *TEXTS])
            cases.append([told[name], entry])
            try:
                expected.append(question.classes.index(question.classify(given)))
            except AnswerError:
                expected.append(None)
    assert page.evaluate("(cases) => cases.map(([question, entry]) => classify(question, entry))", cases) == expected


PARTS = {
    "M": {
        "kind": "matching",
        "text": "Who?",
        "pairs": {"frog": "amphibian", "cat": "mammal", "newt": "amphibian"},
        "options": ["amphibian", "mammal", "fish"],
    },
    "O": {
        "kind": "ordering",
        "text": "In order",
        "options": ["one", "two", "three"],
        "classes": ["wrong", "half", "right"],
        "table": {"no": [0.5, 0.3, 0.2], "yes": [0.1, 0.2, 0.7]},
    },
    "G": {
        "kind": "gaps",
        "text": "The [[1]] weighs **[[2]]** kg, says [[3]].",
        "gaps": {
            "1": {"options": ["cat", "dog"], "correct": "cat"},
            "2": {"kind": "number", "correct": "4", "tolerance": "0.5"},
            "3": {"kind": "text", "correct": "Ann", "accept": ["Anna"]},
        },
    },
    "T": {"kind": "truefalse", "text": "Is it?", "correct": True},
}


def bank_of_parts():
    numbers = {name: {} if "table" in fields else {"right": [0.2, 0.9]} for name, fields in PARTS.items()}
    return Bank(
        {
            "quaestor": 2,
            "title": "Parts",
            "skills": {"s": {}},
            "questions": {n: {"skill": "s", **numbers[n], **f} for n, f in PARTS.items()},
        }
    )


def test_questions_of_several_parts_are_marked_as_in_python(page):
    bank, rng = bank_of_parts(), random.Random(9)
    told, cases, expected = {one["id"]: one for one in content(bank)["questions"]}, [], []
    for name in "MOG":
        question = bank.questions[name]
        for _ in range(40):
            entry = [
                str(rng.randrange(len(part.options))) if part.kind == "choice" else rng.choice(["4.5", "3,4", "anna ", "Bob", "", "x"])
                for part in question.parts
            ]
            given = [part.options[int(one)] if part.kind == "choice" else one for part, one in zip(question.parts, entry, strict=True)]
            cases.append([told[name], entry])
            try:
                expected.append(question.classes.index(question.classify(given)))
            except AnswerError:
                expected.append(None)
    assert page.evaluate("(cases) => cases.map(([question, entry]) => classify(question, entry))", cases) == expected
    assert {0, 1, 2, None} <= set(expected)


def test_a_taker_answers_questions_of_several_parts(chromium, tmp_path):
    path, saved, bank = tmp_path / "test.html", tmp_path / "result.json", bank_of_parts()
    path.write_text(html_of(bank, qs.Rules(score="order")), encoding="utf-8")
    with windows(chromium) as opened:
        page = opened()
        page.goto(path.as_uri())
        page.fill("#name", "Bo")
        page.click("button.main")
        page.click("button.main")
        assert "every part" in page.locator("[role=alert]").inner_text()
        for place, right in enumerate(["amphibian", "mammal", "amphibian"]):
            page.locator(f"#part-{place}").select_option(label=right)
        page.click("button.main")
        for place, right in enumerate(["one", "two", "three"]):
            page.locator(f"#part-{place}").select_option(label=right)
        page.click("button.main")
        assert page.locator(".text").inner_text().replace("\n", " ").startswith("The ")
        page.locator("#part-0").select_option(label="cat")
        page.fill("strong #part-1", "4,2")
        page.fill("#part-2", "Anna")
        page.click("button.main")
        page.locator(".option", has_text="True").click()
        page.click("button.main")
        with page.expect_download() as download:
            page.click("button.main")
        download.value.save_as(saved)
    [(place, text, told)] = read_results(saved)
    found = taken(*read_test(path), place, text, told)
    assert found.notes == ()
    assert [line.answer for line in found.session.log] == ["right"] * 4


def test_tolerances_are_exact(page):
    question = {"kind": "number", "accept": [["1.0", 1]], "tolerance": ["1", "10"], "classes": 2}
    assert page.evaluate("(q) => ['1.1', '0.9', '1.10001', '11/10'].map((one) => classify(q, one))", question) == [1, 1, 0, 1]


def test_texts_are_compared_as_in_python(page):
    from quaestor.model.question import loose

    assert page.evaluate("(texts) => texts.map(loose)", TEXTS) == [loose(text) for text in TEXTS]


def test_check_sums(page):
    texts = ["", "abc", "Zoë" * 40, "x" * 55, "x" * 64]
    assert page.evaluate("(texts) => texts.map(sha256)", texts) == [hashlib.sha256(text.encode()).hexdigest() for text in texts]


@pytest.mark.parametrize("version", [1, 2, 6, 7, 9, 10, 14, 21, 32, 40])
def test_qr_codes_equal_those_of_another_encoder(page, version):
    """Texts that fill a version: with room left, segno pads by one word more than the standard needs."""
    length, rng = page.evaluate("qrRoom", version) - (2 if version < 10 else 3), random.Random(version)
    text, mask = "".join(rng.choice("abc =,-QZ0123456789") for _ in range(length)), version % 8
    made = segno.make(text, error="m", mode="byte", mask=mask, boost_error=False, micro=False, encoding="utf-8")
    assert made.version == version
    assert page.evaluate("([text, mask]) => qrCode(text, mask)", [text, mask]) == [list(row) for row in made.matrix]


def test_qr_codes_with_room_left_hold_the_text(page):
    text = "QUAESTOR1 Zoë Muster"
    words = page.evaluate("(text) => qrData([...new TextEncoder().encode(text)], 2)", text)
    bits = "".join(f"{word:08b}" for word in words)
    count = int(bits[4:12], 2)
    assert bits[:4] == "0100"
    assert bytes(int(bits[12 + 8 * n : 20 + 8 * n], 2) for n in range(count)).decode() == text
    assert words[count + 2 : 28] == ([0xEC, 0x11] * 14)[: 28 - count - 2]
    assert page.evaluate("(text) => clearestCode(text).length", text) == 25
    assert page.evaluate("clearestCode('x'.repeat(3000))") is None


def test_a_taker_goes_through_it_and_hands_in(chromium, tmp_path):
    bank = qs.load("fractions")
    path, saved = tmp_path / "test.html", tmp_path / "result.json"
    path.write_text(html_of(bank, _usual(bank), "de"), encoding="utf-8")
    with windows(chromium) as opened:
        page = opened()
        page.goto(path.as_uri())
        page.click("button.main")
        assert page.locator("[role=alert]").inner_text() == "Bitte gib deinen Namen ein."
        page.fill("#name", "  Zoë   <b>Muster</b> ")
        page.click("button.main")
        page.click("button.main")
        assert "Bitte antworte" in page.locator("[role=alert]").inner_text()
        page.click("button.plain")
        for number in range(40):
            if not page.locator("form.question").count():
                break
            if number == 2:
                page.reload()  # nothing is lost
            if page.locator("input[type=radio], input[type=checkbox]").count():
                page.locator(".option").nth(number % 2).click()
            else:
                page.fill("#entry", "3/4")
            page.click("button.main")
        assert page.locator("h1").inner_text() == "Ergebnis von Zoë <b>Muster</b>"
        code = page.locator("#code").text_content()
        with page.expect_download() as download:
            page.click("button.main")
        download.value.save_as(saved)
        page.on("dialog", lambda dialog: dialog.accept())
        page.locator("button.plain").click()
        assert page.locator("#name").input_value() == ""
        page.reload()
        assert page.locator("#name").input_value() == ""
    read_bank, rules = read_test(path)
    [(place, text, told)] = read_results(saved)
    assert text == code
    found = taken(read_bank, rules, place, text, told)
    assert found.notes == ()
    assert found.name == "Zoë <b>Muster</b>"
    assert found.session.stopped is not None
    assert outcome_of(1, found).skipped == 1
