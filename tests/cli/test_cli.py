"""The command line: what each command prints, its exit codes, and that no error of a user ends in a traceback."""

import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from quaestor import __version__, dump, load, read_network, write_network
from quaestor.cli import COMMANDS, main, tour

BROKEN = "skills: {m: {}}\nquestions:\n  Q1: {skill: m, right: [0.3, 1.9]}\n  Q2: {skil: m, right: [0.3, 0.9]}\n"
DOUBTFUL = "skills: {m: {}}\nquestions:\n  Q1: {skill: m, right: [0.9, 0.3]}\n"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command; its exit code, standard output and standard error."""

    def command(*arguments):
        try:
            code = main(arguments)
        except SystemExit as leaving:  # how argparse ends
            code = leaving.code
        return code, *capsys.readouterr()

    return command


def in_a_process(*arguments, **settings):
    """Run a command as a user does, with output that is buffered."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | settings.pop("environment", {})
    return subprocess.run([sys.executable, "-m", "quaestor", *arguments], env=environment, timeout=60, check=False, **settings)


# check


def test_check_says_what_is_in_a_good_bank(run):
    assert run("check", "multiplication") == (0, "multiplication: 1 skill, 2 questions; no errors, no warnings\n", "")


def test_check_prints_every_problem_with_its_file_and_place(run, in_an_empty_folder):
    (in_an_empty_folder / "bank.yaml").write_text(BROKEN)
    code, out, err = run("check", "bank.yaml")
    assert (code, err) == (1, "")
    first, *others, last = out.splitlines()
    assert first == "bank.yaml:questions.Q1.right[1]: a probability lies between 0 and 1, got 1.9 [line 3]"
    assert any("unknown field, got 'skil' (did you mean 'skill'?)" in line for line in others)
    assert last == f"bank.yaml: {len(others) + 1} errors, no warnings"


def test_check_passes_a_bank_with_warnings(run, in_an_empty_folder):
    (in_an_empty_folder / "bank.yaml").write_text(DOUBTFUL)
    code, out, _ = run("check", "bank.yaml")
    assert code == 0
    first, last = out.splitlines()
    assert first.startswith("bank.yaml:warning: questions.Q1: the best answer is not less likely at a higher level of m: check the key")
    assert last == "bank.yaml: 1 skill, 1 question; no errors, 1 warning"


def test_check_warns_of_slow_steps(run, monkeypatch):
    assert "warning:" not in run("check", "fractions")[1]
    monkeypatch.setattr("quaestor.report.slowness.SLOW", 1e-6)
    code, out, err = run("check", "fractions")
    assert (code, err) == (0, "")
    first, last = out.splitlines()
    assert first.startswith("fractions:warning: questions: a step of a test should take at most 1e-06 s of computing, got up to ")
    assert last == "fractions: 5 skills, 44 questions; no errors, 1 warning"


def test_check_prints_json(run, in_an_empty_folder):
    (in_an_empty_folder / "bad.yaml").write_text(BROKEN)
    (in_an_empty_folder / "doubtful.yaml").write_text(DOUBTFUL)
    code, out, err = run("check", "--json", "multiplication", "bad.yaml", "doubtful.yaml")
    assert (code, err) == (1, "")
    good, bad, doubtful = json.loads(out)
    assert good == {"file": "multiplication", "problems": []}
    assert bad["problems"][0] == {
        "place": "questions.Q1.right[1]",
        "rule": "a probability lies between 0 and 1",
        "value": "1.9",
        "hint": "",
        "severity": "error",
        "where": "line 3",
    }
    assert [problem["severity"] for problem in doubtful["problems"]] == ["warning"]
    assert run("check", "--json", "doubtful.yaml")[0] == 0


def test_check_goes_on_after_a_bad_file(run, in_an_empty_folder):
    (in_an_empty_folder / "bank.yaml").write_text(BROKEN)
    code, out, _ = run("check", "bank.yaml", "missing.json", "fractions")
    assert code == 1
    assert "missing.json:file: a file that exists is expected, got none\nmissing.json: 1 error, no warnings\n" in out
    assert out.endswith("fractions: 5 skills, 44 questions; no errors, no warnings\n")


def test_check_reads_networks(run, in_an_empty_folder):
    write_network(load("multiplication").network, "x.bif")
    assert run("check", "x.bif") == (0, "x.bif: 3 variables; no errors, no warnings\n", "")
    (in_an_empty_folder / "y.uai").write_text("BAYES 1 2 1 1 0 2 .1 .8")
    code, out, _ = run("check", "y.uai")
    assert code == 1
    assert "y.uai:network: a network file follows its format, got variable 0: row 0: a row sums to 1" in out


# show


def test_show_prints_a_bank(run):
    code, out, err = run("show", "fractions")
    bank = load("fractions")
    assert (code, err) == (0, "")
    assert f"version {bank.version}" in out
    assert "│  └─ addition (Adding and subtracting): 14 questions" in out
    assert all(f"\n {name} " in out for name in bank.questions)
    assert max(map(len, out.splitlines())) <= 100


def test_show_prints_a_network(run):
    write_network(load("multiplication").widen(0.05).network, "x.uai")
    code, out, err = run("show", "x.uai")
    assert (code, err) == (0, "")
    assert "3 variables (credal)" in out
    assert "0.650 0.250" in out


def test_show_prints_json(run):
    code, out, err = run("show", "german", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == load("german").document


def test_show_draws_every_skill(run, in_an_empty_folder):
    assert run("show", "fractions", "--svg", "skills.svg") == (0, "wrote skills.svg\n", "")
    drawn = ElementTree.parse(in_an_empty_folder / "skills.svg").getroot()
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    tips = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert tips[1:] == [f"{skill.title} ({skill.id})" for skill in load("fractions").skills.values()]


# convert

ENDINGS = (".yaml", ".yml", ".json", ".csv", ".xlsx")


@pytest.mark.parametrize("target", ENDINGS)
@pytest.mark.parametrize("source", ENDINGS)
def test_convert_keeps_the_bank(run, source, target):
    bank = load("multiplication").widen(0.05)
    dump(bank, f"a{source}")
    assert run("convert", f"a{source}", f"b{target}") == (0, f"wrote b{target}\n", "")
    assert load(f"b{target}") == bank


def test_convert_takes_bundled_banks_and_keeps_their_comments(run, in_an_empty_folder):
    assert run("convert", "fractions", "mine.yaml")[0] == 0
    assert (in_an_empty_folder / "mine.yaml").read_text(encoding="utf-8").startswith("# Fractions: a bundled example bank.")


def test_convert_makes_networks_of_banks_and_of_networks(run):
    bank = load("fractions")
    assert run("convert", "fractions", "x.bif")[0] == 0
    assert read_network("x.bif") == bank.network
    assert run("convert", "x.bif", "x.uai")[0] == 0
    assert run("convert", "x.uai", "y.BIF")[0] == 0
    assert [variable.table for variable in read_network("y.BIF").variables] == [variable.table for variable in bank.network.variables]


def test_convert_makes_a_bank_of_a_network(run):
    bank = load("fractions")
    assert run("convert", "fractions", "x.bif")[0] == 0
    assert run("convert", "x.bif", "b.yaml", "--skills", ", ".join(bank.skills)) == (0, "wrote b.yaml\n", "")
    assert (load("b.yaml").model_version, load("b.yaml").title) == (bank.model_version, "x")
    hidden = [question for question in bank.questions if question not in ("A1", "M3")]
    assert run("convert", "x.bif", "c.yaml", "--skills", ",".join(bank.skills), "--hidden", ",".join(hidden))[0] == 0
    assert list(load("c.yaml").questions) == ["A1", "M3"]


def test_convert_writes_a_template(run):
    for ending in ENDINGS:
        assert run("convert", "--template", f"form{ending}") == (0, f"wrote form{ending}\n", "")
        assert load(f"form{ending}").warnings == ()
    assert len({load(f"form{ending}").version for ending in ENDINGS}) == 1


# Errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "missing.yaml"], "missing.yaml:file: a file that exists is expected, got none"),
        (["show", "fractoins"], "fractoins:file: a file, or the name of a bundled bank, got 'fractoins' (did you mean 'fractions'?)"),
        (["show", "quaestor.pdf"], "quaestor.pdf:file: a bank file ends in one of .yaml, .yml, .json, .csv, .xlsx, "),
        (["show", "."], ".:file: a bank file ends in one of .yaml, .yml, .json, .csv, .xlsx, "),
        (["show", "folder.yaml"], "folder.yaml:file: the file can be read, got Is a directory"),
        (["show", "x" * 300], "bundled banks: animals, four-skills, fractions"),
        (["show", "x" * 300 + ".yaml"], "file: the file can be read, got File name too long"),
        (["show", "missing.uai"], "missing.uai: file: a file that exists is expected, got none"),
        (["show", "x.uai", "--json"], "x.uai: --svg and --json are for banks, got a network"),
        (["show", "german", "--svg", "nowhere/x.svg"], "nowhere/x.svg: the file can be written, got No such file or directory"),
        (["convert", "missing.json", "b.yaml"], "missing.json:file: a file that exists is expected, got none"),
        (["convert", "german", "nowhere/b.yaml"], "nowhere/b.yaml: the file can be written, got No such file or directory"),
        (["convert", "german", "folder.yaml"], "folder.yaml: the file can be written, got Is a directory"),
        (
            ["convert", "german", "b.doc"],
            "b.doc:file: a bank file ends in one of .yaml, .yml, .json, .csv, .xlsx, .xml, .gift, .zip, got '.doc'",
        ),
        (["convert", "x.uai", "b.yaml"], "b.yaml: a network becomes a bank with --skills, the names of the variables to measure, got none"),
        (["convert", "x.uai", "b.yaml", "--skills", "0,Q9"], "unknown variable, got 'Q9'"),
        (["convert", "x.uai", "b.doc"], "b.doc: a network file ends in one of .uai, .bif, got '.doc'"),
        (["convert", "x.uai", "b.bif"], "BIF holds exact numbers only, got a credal network (write .uai, or its centre)"),
        (["convert", "german"], "convert needs a file to read and a file to write, got one"),
        (["convert", "--template", "a.yaml", "b.yaml"], "--template writes one file, got two names"),
        (["convert", "--template", "b.uai"], "b.uai:file: a bank file ends in one of .yaml, .yml, .json, .csv, .xlsx, got '.uai'"),
    ],
)
def test_an_error_is_one_line_and_exit_code_1(run, in_an_empty_folder, arguments, said):
    write_network(load("multiplication").widen(0.05).network, "x.uai")
    (in_an_empty_folder / "folder.yaml").mkdir()
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_folder_named_like_a_bundled_bank_does_not_hide_it(run, in_an_empty_folder):
    (in_an_empty_folder / "german").mkdir()
    assert run("check", "german")[0] == 0


@pytest.mark.parametrize(
    "arguments", [[], ["nope"], ["check"], ["show", "german", "--svg", "x.svg", "--json"], ["check", "--nope", "german"]]
)
def test_a_command_that_is_none_has_exit_code_2(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("usage: quaestor")


# All the others


def test_the_tour_shows_something_real(run):
    code, out, err = run("tour")
    assert (code, err) == (0, "")
    assert "What is 10 × 5?" in out
    assert "A taker who enters ' 50 ' to Q1 is right." in out
    assert "17 to 19 times in 20" in out


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"quaestor {__version__}\n", "")


def test_help_names_every_command(run):
    code, out, _ = run("--help")
    assert code == 0
    assert all(re.search(rf"^    {name}\s", out, flags=re.MULTILINE) for name in COMMANDS)
    assert all(run(name, "--help")[0] == 0 for name in COMMANDS)


@pytest.mark.parametrize("program", ["from quaestor.cli import main; main(['check', 'german'])", "import quaestor.web.app"])
def test_a_start_does_not_wait_for_what_it_does_not_need(program):
    """They take seconds to import on a slow machine."""
    slow = {"pandas", "pyarrow", "matplotlib", "scipy.stats", "scipy.spatial", "scipy.optimize", "fpdf"}
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; import sys; print(sorted({slow!r} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_interrupt_is_no_traceback(run, monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(tour, "run", interrupted)
    assert run("tour") == (130, "", "")


@pytest.mark.parametrize("arguments", [["show", "german"], ["show", "german", "--json"], ["check", "german"], ["tour"]])
def test_a_closed_pipe_ends_quietly(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as out:
        ended = in_a_process(*arguments, stdout=out, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_terminal_without_all_letters_shows_the_others():
    ended = in_a_process("show", "fractions", capture_output=True, environment={"PYTHONIOENCODING": "ascii"})
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"addition (Adding and subtracting): 14 questions" in ended.stdout


def test_a_name_that_is_no_text_can_be_shown():
    name = b"caf\xe9.yaml"
    ended = in_a_process("check", os.fsdecode(name), capture_output=True, environment={"PYTHONIOENCODING": "utf-8"})
    assert ended.returncode == 1
    assert b"a file that exists is expected" in ended.stdout
    assert b"Traceback" not in ended.stderr
