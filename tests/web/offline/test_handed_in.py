"""Results that come back: read, checked, worked out again; every other text is refused with words."""

import json
import random

import pytest

import quaestor as qs
from quaestor.cli import main
from quaestor.cli.export import _usual
from quaestor.web.offline.file import html_of, identity
from quaestor.web.offline.handed_in import HandedInError, check_sum, outcome_of, read_results, read_test, taken

BANK = qs.load("fractions")
RULES = _usual(BANK)
NAMES = list(BANK.questions)


def code(answers, name="Ada", when="20260901T0800", bank=BANK, rules=RULES):
    told = f"{when} {answers} {name}"
    return f"QUAESTOR1 {identity(bank, rules)} {check_sum(bank, rules, told)} {told}"


def answered(seed=1, skips=False):
    """A whole session and its answers as a result has them."""
    session, rng, given = qs.Session(BANK, RULES), random.Random(seed), []
    while (question := session.next) is not None:
        if skips and rng.random() < 0.2:
            session = session.skip(question.id)
            given.append(f"{NAMES.index(question.id)}=-")
        else:
            answer = rng.randrange(len(question.classes))
            session = session.answer(question.id, question.classes[answer])
            given.append(f"{NAMES.index(question.id)}={answer}")
    return session, ",".join(given)


def refused(text, saved=None):
    with pytest.raises(HandedInError) as error:
        taken(BANK, RULES, "here", text, saved or {})
    return str(error.value)


@pytest.mark.parametrize("skips", [False, True])
def test_a_result_is_worked_out_again(skips):
    session, answers = answered(skips=skips)
    found = taken(BANK, RULES, "here", code(answers), {"began": "2026-09-01T07:48:00.000Z", "ended": "2026-09-01T08:00:30.000Z"})
    assert found.session == session
    assert found.notes == ()
    outcome = outcome_of(1, found)
    assert outcome.minutes == 12.5
    assert outcome.questions == len(session.log)
    assert {skill: finding.lower for skill, finding in outcome.skills.items()} == pytest.approx(
        {skill: session.beliefs[skill].lower[finding.place] for skill, finding in outcome.skills.items()}
    )


def test_slips_and_results_of_other_tests_are_noticed():
    _, answers = answered()
    good = code(answers)
    assert "the check sum does not fit" in refused(good.replace("Ada", "Eva"))
    assert "the check sum does not fit" in refused(good.replace("20260901", "20260902"))
    other = code(answers, rules=qs.Rules())
    assert f"the result of this test ({identity(BANK, RULES)}) is expected, got {identity(BANK, qs.Rules())}" in refused(other)
    assert "a result begins with QUAESTOR1" in refused("hello")
    assert "a question of the test, got '999=1'" in refused(code("999=1"))
    assert f"an answer class of {NAMES[0]}, got '0=7'" in refused(code("0=7"))
    assert "the time of a result" in refused(code(answers, when="20261399T9999"))
    assert "a question is answered once" in refused(code("0=1,0=1"))


def test_what_is_odd_is_noted():
    session, answers = answered()
    short = taken(BANK, RULES, "here", code(answers.rsplit(",", 1)[0]), {})
    assert short.notes == ("it ends before the test does",)
    other = taken(BANK, RULES, "here", code("0=1"), {})
    assert "its questions are not those that this version of the software asks" in other.notes
    first = BANK.questions[session.asked[0]]
    wrong = next(str(n) for n, one in enumerate(first.options) if first.classify(one) != session.log[0].answer)
    assert taken(BANK, RULES, "here", code(answers), {"entries": [wrong]}).notes == (f"{first.id}: what was entered counts otherwise here",)


def test_the_command_reads_files_texts_and_folders(tmp_path, capsys):
    test = tmp_path / "test.html"
    test.write_text(html_of(BANK, RULES), encoding="utf-8")
    folder = tmp_path / "handed in"
    folder.mkdir()
    _, first = answered(1)
    _, second = answered(2)
    (folder / "ada.json").write_text(json.dumps({"quaestor": "result", "code": code(first), "entries": []}), encoding="utf-8")
    (folder / "scans.txt").write_text(f"{code(second, 'Bo')}\n\n{code(first)}\nnonsense\n", encoding="utf-8")
    (folder / "notes.pdf").write_text("no result")
    assert main(["collect", str(test), str(folder), "--out", str(tmp_path / "all.csv")]) == 1
    told = capsys.readouterr().err
    assert "scans.txt:4: a result begins with QUAESTOR1" in told
    assert "2 results taken, 1 refused" in told
    rows = (tmp_path / "all.csv").read_text(encoding="utf-8-sig").splitlines()
    assert [row.split(",")[0] for row in rows] == ["name", "Ada", "Bo"]
    assert main(["collect", str(test), str(folder / "ada.json"), "--out", str(tmp_path / "all.xlsx")]) == 0
    assert main(["collect", str(test), str(folder / "ada.json")]) == 0
    assert "Ada" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["{", '{"code": 3}', "[]", "", "\x00\x01", '{"a":' * 5000])
def test_files_that_are_no_results_are_refused_with_words(tmp_path, content, capsys):
    test, path = tmp_path / "test.html", tmp_path / "x.json"
    test.write_text(html_of(BANK, RULES), encoding="utf-8")
    path.write_text(content)
    assert main(["collect", str(test), str(path)]) == 1
    assert "0 results taken, 1 refused" in capsys.readouterr().err


def test_other_pages_are_no_tests(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<html></html>")
    with pytest.raises(HandedInError, match="this is not a test that was written by 'quaestor export --html'"):
        read_test(path)
    with pytest.raises(HandedInError):
        list(read_results(tmp_path / "missing.json"))


def test_the_command_writes_the_file(tmp_path, capsys):
    path = tmp_path / "test.html"
    assert main(["export", "fractions", "--html", "--language", "fr", "--out", str(path)]) == 0
    assert "for practice, not for exams" in capsys.readouterr().err
    assert '<html lang="fr">' in path.read_text(encoding="utf-8")
    assert main(["export", "fractions", "--html", "--exposure", "0.5"]) == 1
    assert main(["collect", str(path), str(path), "--out", str(tmp_path / "x.doc")]) == 1
