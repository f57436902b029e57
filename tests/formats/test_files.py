"""Loading and dumping by name: endings, bundled banks, files that are missing, too large or cannot be written."""

import pytest

from quaestor import Bank, BankError, QuaestorError, bundled_banks, dump, load
from quaestor.formats.limits import LARGEST_FILE

BANK = Bank({"title": "T", "skills": {"m": {}}, "questions": {"Q1": {"skill": "m", "right": [0.3, 0.9]}}})


def said(error, action, *arguments):
    """What an action says when it fails."""
    with pytest.raises(error) as caught:
        action(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("ending", [".yaml", ".YML", ".Json", ".CSV", ".xlsx"])
def test_the_ending_names_the_format_in_any_case(tmp_path, ending):
    dump(BANK, tmp_path / f"bank{ending}")
    assert load(tmp_path / f"bank{ending}") == load(str(tmp_path / f"bank{ending}")) == BANK


def test_a_bare_name_is_a_bundled_bank():
    assert all(load(name).title for name in bundled_banks())


def test_an_unknown_name_lists_or_proposes_the_bundled_banks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said(BankError, load, "germna").endswith("got 'germna' (did you mean 'german'?)")
    assert said(BankError, load, "history").endswith(f"got 'history' (bundled banks: {', '.join(bundled_banks())})")


def test_a_file_without_ending_is_not_taken_for_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "history").write_text("title: H\n")
    assert said(BankError, load, "history").startswith("history:file: a bank file ends in one of .yaml, ")


def test_a_path_is_never_a_bundled_bank(tmp_path):
    assert "a bank file ends in one of" in said(BankError, load, tmp_path / "german")


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    assert said(BankError, load, path) == f"{path}:file: a file has at most 50,000,000 bytes, got 50,000,001 bytes"


def test_every_problem_names_the_file(tmp_path):
    path = tmp_path / "bank.json"
    path.write_text('{"skills": {"m": {"prior": [2]}}, "questions": {"Q1": {"skill": "n"}}}')
    lines = said(BankError, load, path).splitlines()
    assert len(lines) > 1
    assert all(line.startswith(f"{path}:") for line in lines)


def test_a_name_with_a_null_character_is_an_error_of_ours():
    assert said(BankError, load, "a\0.yaml").endswith("the file can be read, got embedded null byte")
    assert said(QuaestorError, dump, BANK, "a\0.yaml").endswith("the file can be written, got embedded null byte")


def test_a_failed_dump_leaves_the_old_file(tmp_path):
    path = tmp_path / "bank.xlsx"
    dump(BANK, path)
    before = path.read_bytes()
    question = {"skill": "m", "right": [0.3, 0.9], "kind": "text", "accept": [f"{'x' * 190}{number}" for number in range(200)]}
    assert said(BankError, dump, Bank({"skills": {"m": {}}, "questions": {"Q1": question}}), path).startswith(
        f"{path}:questions.Q1.accept: "
    )
    assert path.read_bytes() == before


def test_a_dump_to_another_ending_is_refused(tmp_path):
    path = tmp_path / "bank.docx"
    endings = ".yaml, .yml, .json, .csv, .xlsx, .xml, .gift, .zip"
    assert said(BankError, dump, BANK, path) == f"{path}:file: a bank file ends in one of {endings}, got '.docx'"
    assert not path.exists()
