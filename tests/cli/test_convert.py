"""`quaestor convert` with questions of other systems."""

import json

import pytest

import quaestor as qs
from helpers.paths import ROOT
from quaestor.cli import main

SAMPLE = ROOT / "docs" / "examples" / "moodle-quiz.xml"


@pytest.fixture
def convert(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main(["convert", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_questions_become_a_bank_and_the_report_adds_up(convert):
    code, out, _ = convert(SAMPLE, "bank.yaml", "--json")
    report = json.loads(out)
    assert code == 0
    assert (report["wrote"], report["understood"], len(report["refused"])) == ("bank.yaml", 4, 1)
    assert report["refused"][0] == {"question": "Explain", "place": "line 53", "words": "answers are written freely and marked by people"}
    assert {note["question"] for note in report["notes"]} == {"Halves", "Amphibians"}
    assert [*qs.load("bank.yaml").skills] == ["Fractions", "Animals"]


@pytest.mark.parametrize(("by", "skills"), [("tag", ["grade 5", "moodle-quiz"]), ("mathematics", ["mathematics"])])
def test_skills_come_from_tags_or_are_one(convert, by, skills):
    convert(SAMPLE, "bank.yaml", "--skills-by", by)
    assert [*qs.load("bank.yaml").skills] == skills


@pytest.mark.parametrize(("ending", "more"), [("xml", []), ("gift", []), ("zip", []), ("zip", ["--qti", "2.1"])])
def test_a_bank_goes_out_and_comes_back(convert, ending, more):
    code, out, _ = convert("fractions", f"quiz.{ending}", *more)
    assert (code, "what other programs will not see of it:" in out) == (0, True)
    assert convert(f"quiz.{ending}", "again.yaml")[0] == 0
    assert qs.load("again.yaml").version == qs.load("fractions").version


def test_pictures_lie_beside_the_bank_and_go_with_it(convert, tmp_path):
    picture = b"\x89PNG\r\n\x1a\n0000"
    (tmp_path / "sign.png").write_bytes(picture)
    question = {"skill": "a", "right": [0.1, 0.9], "kind": "number", "correct": 3, "media": "sign.png", "text": "![go](go.png)?"}
    (tmp_path / "go.png").write_bytes(picture + b"1")
    qs.dump(qs.Bank({"skills": {"a": {}}, "questions": {"Q": question}}), "bank.yaml")
    assert convert("bank.yaml", "quiz.xml")[1] == "wrote quiz.xml\n"
    (tmp_path / "there").mkdir()
    assert "wrote there/sign.png" in convert("quiz.xml", "there/bank.yaml")[1]
    assert (tmp_path / "there" / "sign.png").read_bytes() == picture
    assert (tmp_path / "there" / "go.png").read_bytes() == picture + b"1"
    (tmp_path / "own").mkdir()
    assert convert("bank.yaml", "own/bank.json")[1] == "wrote own/sign.png\nwrote own/go.png\nwrote own/bank.json\n"
    assert (tmp_path / "own" / "go.png").read_bytes() == picture + b"1"
    assert convert("bank.yaml", "bank.json")[1] == "wrote bank.json\n"


def test_a_bank_is_not_written_beside_another_picture_of_the_same_name(convert, tmp_path):
    question = {"skill": "a", "right": [0.1, 0.9], "kind": "number", "correct": 3, "media": "b.png", "text": "![a](a.png)?"}
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n0000" + name.encode())
    qs.dump(qs.Bank({"skills": {"a": {}}, "questions": {"q": question}}), tmp_path / "bank.yaml")
    convert("bank.yaml", "quiz.xml")
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "b.png").write_bytes(b"another")
    for source in ("quiz.xml", "bank.yaml"):
        code, _, wrong = convert(source, "there/bank.json")
        assert code != 0
        assert "there/b.png: this file is already there, with another content" in wrong
    assert [path.name for path in folder.iterdir()] == ["b.png"]
    assert convert("quiz.xml", "nowhere/bank.json")[0] != 0
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "there" / "sign.png").write_bytes(b"another")
    code, _, err = convert("quiz.xml", "there/bank.yaml")
    assert (code, "already there" in err) == (1, True)


def test_a_file_without_a_question_that_can_be_kept_is_refused(convert, tmp_path):
    (tmp_path / "essay.gift").write_text("::E::Why? {}")
    code, out, err = convert("essay.gift", "bank.yaml")
    why = "E: answers are written freely and marked by people [line 1]"
    assert (code, out) == (1, f"0 questions understood; 1 refused\nrefused:\n  {why}\n")
    assert err == f"file: at least one question can be kept, got 1 refused ({why})\n"


def test_load_warns_of_what_was_lost_and_dump_of_what_others_will_not_see(tmp_path):
    with pytest.warns(qs.ExchangeWarning, match="4 questions understood, 2 of them not in every respect; 1 refused; quaestor"):
        bank = qs.load(SAMPLE)
    assert len(bank.questions) == 4
    with pytest.warns(qs.ExchangeWarning, match="other programs give credit"):
        qs.dump(qs.load("fractions"), tmp_path / "x.gift")
    assert qs.load(tmp_path / "x.gift").version == qs.load("fractions").version


def test_the_page_shows_what_is_printed(convert):
    page = (ROOT / "docs" / "how-to" / "bring-questions-from-elsewhere.md").read_text(encoding="utf-8")
    shown = page.split("$ quaestor convert docs/examples/moodle-quiz.xml quiz.yaml\n")[1].split("```")[0]
    assert convert(SAMPLE, "quiz.yaml")[1] == shown
