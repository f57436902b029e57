"""`quaestor take` and `quaestor rank` as a user meets them: what is typed, what is printed, what is saved, exit codes."""

import io
import json
import os
import re
import subprocess
import sys

import pytest

import quaestor as qs
from helpers import sessions
from quaestor.cli import main
from quaestor.formats import yaml_text
from quaestor.selection.scores.known import SCORES
from quaestor.session.option_order import option_order

ALL_SCORES = ", ".join(SCORES)
QUESTIONS = {
    "c": {
        "text": "What is $10 \\times 5$?",
        "options": ["15", "50", "105"],
        "correct": "50",
        "skill": "a",
        "right": [0.1, 0.9],
    },
    "m": {
        "text": "Which are even?",
        "kind": "choices",
        "options": ["2", "3", "4 or so"],
        "correct": ["2", "4 or so"],
        "skill": "a",
        "right": [0.2, 0.8],
    },
    "n": {"text": "Half of ten?", "kind": "number", "correct": 5, "skill": "b", "right": [0.2, 0.8]},
    "t": {"text": "Say five", "kind": "text", "correct": "five", "skill": "b", "right": [0.3, 0.8]},
    "p": {"text": "From paper", "skill": "b", "right": [0.3, 0.7]},
}
ORDERED = "score: order\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    qs.dump(bank(), "bank.yaml")
    (tmp_path / "order.yaml").write_text(ORDERED)
    return tmp_path


def bank():
    return qs.Bank({"title": "Five kinds", "skills": {"a": {}, "b": {"title": "The other skill"}}, "questions": QUESTIONS})


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command with these lines typed; its exit code, standard output and standard error."""

    def command(*arguments, typed=()):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        try:
            code = main(arguments)
        except SystemExit as leaving:  # how argparse ends
            code = leaving.code
        return code, *capsys.readouterr()

    return command


@pytest.fixture
def take(run):
    """Take the bank in its order."""
    return lambda *typed, options=(): run("take", "bank.yaml", "--rules", "order.yaml", *options, typed=typed)


def saved(name="s.json", made=None):
    with open(name, encoding="utf-8") as file:
        return qs.Session.from_json(made or bank(), file.read())


def unwrapped(text):
    """The text with line breaks and indents taken out."""
    return " ".join(text.split())


# Answers


def test_a_test_from_the_first_question_to_the_result(take):
    code, out, err = take("b", "a c", "5", "five", "b")
    assert (code, err) == (0, "")
    assert out.startswith(
        "Five kinds\nThe test ends when no question is left.\nType your answer, or one of  /skip  /undo  /why  /numbers  /quit\n"
    )
    for shown in ("1. What is 10 × 5?", "   a) 15", "   b) 50", "2. Which are even?", "   (one or more, e.g.  a c)", "3. Half of ten?"):
        assert f"{shown}\n" in out
    assert "5. From paper\n   a) wrong\n   b) right\n" in out
    assert "Result" in out
    assert "The other skill" in out
    assert "What each answer did" in out
    assert "of at most" not in out
    assert all(f"{name} right" in out for name in QUESTIONS)
    assert "The test is over: No question is left." in out


@pytest.mark.parametrize(
    ("typed", "question", "entry", "answer"),
    [
        (["b"], "c", "50", "right"),
        (["B"], "c", "50", "right"),
        ([" 50 "], "c", "50", "right"),
        (["a"], "c", "15", "wrong"),
        (["105"], "c", "105", "wrong"),
        (["b", "a c"], "m", "2 | 4 or so", "right"),
        (["b", "C,a"], "m", "4 or so | 2", "right"),
        (["b", "2 | 4 or so"], "m", "2 | 4 or so", "right"),
        (["b", "4 or so"], "m", "4 or so", "wrong"),
        (["b", "a, b, c"], "m", "2 | 3 | 4 or so", "wrong"),
        (["b", "a", "5.0"], "n", "5.0", "right"),
        (["b", "a", "10/2"], "n", "10/2", "right"),
        (["b", "a", "-5"], "n", "-5", "wrong"),
        (["b", "a", "5", "Five!"], "t", "Five!", "right"),
        (["b", "a", "5", "a"], "t", "a", "wrong"),
        (["b", "a", "5", "five", "b"], "p", None, "right"),
        (["b", "a", "5", "five", "wrong"], "p", None, "wrong"),
    ],
)
def test_letters_texts_numbers_and_several_choices_are_understood(take, typed, question, entry, answer):
    code, _, err = take(*typed, options=["--session", "s.json"])
    assert (code, err) == (0, "")
    line = next(event for event in saved().log if event.question == question)
    assert (line.entry, line.answer) == (entry, answer)


PARTS = {
    "truth": {"text": "Whales are fish.", "kind": "truefalse", "correct": False, "skill": "a", "difficulty": "easy"},
    "match": {"text": "What?", "kind": "matching", "pairs": {"frog": "wet", "cat": "dry"}, "skill": "a", "difficulty": "easy"},
    "order": {"text": "Sort!", "kind": "ordering", "options": ["one", "two", "three"], "skill": "a", "difficulty": "easy"},
    "gaps": {
        "text": "[[n]] legs, [[w]].",
        "kind": "gaps",
        "gaps": {"n": {"kind": "number", "correct": 8}, "w": {"options": ["so", "not"], "correct": "so"}},
        "skill": "a",
        "difficulty": "easy",
    },
}


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_questions_of_several_parts_are_answered_by_letters(run, seed):
    made = qs.Bank({"quaestor": 2, "title": "Parts", "skills": {"a": {}}, "questions": PARTS})
    qs.dump(made, "parts.yaml")

    def letter(name, option, part=None):
        return "abc"[option_order(seed, made.questions[name], part).index(option)]

    typed = ["b", f"{letter('match', 'wet')} {letter('match', 'dry')}", *(["a a b", "a b"] if seed == 0 else [])]
    typed += [
        " ".join(letter("order", one) for one in ("one", "two", "three")),
        f"8; {letter('gaps', 'so', made.questions['gaps'].parts[1])}",
    ]
    code, out, err = run("take", "parts.yaml", "--rules", "order.yaml", "--session", "s.json", "--seed", str(seed), typed=typed)
    assert (code, err) == (0, "")
    assert [line.answer for line in saved(made=made).log] == ["right"] * 4
    assert [line.entry for line in saved(made=made).log][1:] == [
        '{"frog": "wet", "cat": "dry"}',
        '["one", "two", "three"]',
        '{"n": "8", "w": "so"}',
    ]
    assert "   (1) frog\n   (2) cat\n" in out
    assert "4. [1 …] legs, [2 …].\n   (2) a)" in out
    assert ("order: 2: each is listed once" in out, "order: an entry for each of 1 | 2 | 3 is expected" in out) == (seed == 0,) * 2


def test_an_option_that_is_a_letter_is_meant_as_it_stands(run):
    questions = {
        "one": {"skill": "a", "right": [0.1, 0.9], "options": ["b", "a"], "correct": "a"},
        "some": {"skill": "a", "right": [0.2, 0.9], "kind": "choices", "options": ["b", "a"], "correct": ["a"]},
        "none": {"skill": "a", "classes": ["b", "a"], "table": {"no": [0.7, 0.3], "yes": [0.2, 0.8]}},
    }
    made = qs.Bank({"skills": {"a": {}}, "questions": questions})
    qs.dump(made, "letters.yaml")
    run("take", "letters.yaml", "--rules", "order.yaml", "--session", "s.json", typed=["a", "a", "a"])
    assert [event.answer for event in saved(made=made).log] == ["right", "right", "a"]


def test_what_cannot_be_understood_is_said_and_asked_again(take):
    code, out, err = take("z", "", "/help", "b", "x y", "a c", "five", "5", "/quit", options=["--session", "s.json"])
    assert (code, err) == (0, "")
    assert "c: one of 15 | 50 | 105 is expected, got 'z'" in out
    assert "A command is one of  /skip  /undo  /why  /numbers  /quit" in out
    assert "m: one of 2 | 3 | 4 or so is expected, got 'x y'" in out
    assert "n: a number is expected, such as 12, 0.75, 3/4 or 1 1/2, got 'five'" in out
    assert [event.answer for event in saved().log] == ["right", "right", "right"]


def test_what_was_typed_is_said_as_typed(take):
    assert "got '[b]:x:[/b] 2*3'" in take("b", "a c", "[b]:x:[/b] 2*3", "5")[1]


def test_letters_beyond_the_alphabet_are_no_traceback(run):
    options = [f"option {number}" for number in range(30)]
    question = {"skill": "a", "right": [0.1, 0.9], "options": options, "correct": "option 29"}
    made = qs.Bank({"skills": {"a": {}}, "questions": {"q": question}})
    qs.dump(made, "many.yaml")
    code, _, err = run("take", "many.yaml", "--session", "s.json", typed=["option 29"])
    assert (code, err) == (0, "")
    assert saved(made=made).answers == {"q": "right"}


# Commands


def test_skip_undo_why(take):
    code, out, err = take("/undo", "b", "/skip", "/undo", "a", "/why", "5", "/undo", "4", "/quit", options=["--session", "s.json"])
    assert (code, err) == (0, "")
    assert "there is nothing to undo: the log is empty" in out
    assert "Why n, a question on" in unwrapped(out)
    log = saved().log
    assert [(event.question, event.answer) for event in log] == [("c", "right"), ("m", "wrong"), ("n", "wrong")]


def test_a_skip_is_saved_as_one(take):
    take("/skip", "/quit", options=["--session", "s.json"])
    assert [(event.question, event.answer) for event in saved().log] == [("c", None)]


def test_why_before_every_question_and_in_the_result(run):
    code, out, err = run("take", "multiplication", "--why", typed=["b", "d"])
    assert (code, err) == (0, "")
    assert out.count("Why Q") == 2
    assert "How sure: the bank states exact numbers" in out


def test_quit_and_resume(run, take):
    code, out, err = take("b", "/quit", options=["--session", "s.json"])
    assert (code, err) == (0, "")
    assert out.endswith("Saved after 1 question. Go on with:  quaestor take bank.yaml --session s.json\n")
    code, out, err = run("take", "bank.yaml", "--session", "s.json", typed=["a c", "/quit"])
    assert (code, err) == (0, "")
    assert "Going on after 1 question.\n" in out
    assert "2. Which are even?" in out
    assert "1. What is" not in out
    assert "Saved after 2 questions." in out
    code, out, err = run("take", "bank.yaml", "--session", "s.json", typed=["5", "five", "b"])
    assert code == 0
    assert "Result" in out
    finished = run("take", "bank.yaml", "--session", "s.json")
    assert finished[0] == 0
    assert "Result" in finished[1]


def test_the_end_of_input_is_like_quit(take, folder):
    code, out, err = take("b")
    assert (code, err) == (0, "")
    assert out.endswith("Saved after 1 question. Go on with:  quaestor take bank.yaml --session quaestor-session.json\n")
    assert saved("quaestor-session.json").answers == {"c": "right"}


def test_the_way_to_go_on_names_how_the_bank_was_widened(run):
    code, out, _ = run("take", "bank.yaml", "--widen", "0.05", "--session", "s.json", typed=["/quit"])
    assert code == 0
    assert "quaestor take bank.yaml --widen 0.05 --session s.json" in unwrapped(out)
    code, _, err = run("take", "bank.yaml", "--session", "s.json", typed=["/quit"])
    assert code == 1
    assert err.startswith("s.json: the session was taken with model version ")


def test_every_answer_is_saved_at_once(monkeypatch, capsys):
    seen = []
    replies = iter(["b", "a c", "/undo", "/skip"])

    def reply(prompt):
        if os.path.exists("s.json"):
            seen.append(len(saved().log))
        try:
            return next(replies)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("builtins.input", reply)
    assert main(["take", "bank.yaml", "--rules", "order.yaml", "--session", "s.json"]) == 130
    assert seen == [0, 1, 2, 1, 2]
    assert [event.answer for event in saved().log] == ["right", None]


# Rules and seeds


def test_rules_from_a_file_are_followed_and_kept(run, folder):
    rules = qs.Rules(score="order", first=("t",), stop=qs.max_questions(2), skips="wrong")
    (folder / "rules.yaml").write_text(yaml_text.write(rules.document))
    code, out, err = run("take", "bank.yaml", "--rules", "rules.yaml", "--session", "s.json", typed=["five", "/skip"])
    assert (code, err) == (0, "")
    assert "The test stops when 2 questions were asked.\n" in out
    assert "The test is over: 2 questions were asked; the limit is 2." in out
    assert saved().rules == rules
    assert saved().answers == {"t": "right", "c": "wrong"}


def test_the_default_stops_at_twenty_questions_or_when_enough_is_known(run):
    code, out, _ = run("take", "single-skill", typed=["right"] * 30)
    assert code == 0
    limits = "The test stops when 20 questions were asked or the mean uncertainty over the skills (entropy) is below 0.25."
    assert limits in unwrapped(out)
    assert "The test is over: The mean uncertainty over the skills (entropy) is 0." in out


def test_the_seed_is_used_and_saved(run, folder):
    (folder / "drawn.yaml").write_text("score: random\n")
    firsts = set()
    for seed in range(6):
        code, out, _ = run("take", "bank.yaml", "--rules", "drawn.yaml", "--seed", str(seed), "--session", f"{seed}.json", typed=["/quit"])
        assert code == 0
        assert saved(f"{seed}.json").seed == seed
        firsts.add(out.split("1. ")[1].splitlines()[0])
    assert len(firsts) > 1


# Errors


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nothing.yaml"], "nothing.yaml:file: a file that exists is expected, got none"),
        (["bank.yaml", "--rules", "none.yaml"], "none.yaml:file: a file that exists is expected, got none"),
        (["bank.yaml", "--rules", "bad.yaml"], "bad.yaml:among: a whole number of at least 1, got 0 [line 1]"),
        (["bank.yaml", "--rules", "other.yaml"], "first: a question of the bank, got 'Q77'"),
        (["bank.yaml", "--session", "bad.json"], "bad.json: a saved session is JSON, got Expecting value"),
        (["bank.yaml", "--session", "bytes.json"], "bytes.json: a saved session can be read, got 'utf-8' codec"),
        (["bank.yaml", "--session", "folder"], "folder: a saved session can be read, got "),
        (["bank.yaml", "--session", "other.json"], "other.json: the session was taken with model version "),
        (
            ["bank.yaml", "--session", "good.json", "--rules", "order.yaml"],
            "good.json: a test goes on by the rules it began with, got --rules",
        ),
        (["bank.yaml", "--seed", "-1"], "a seed is a whole number of at least 0, got -1"),
        (["bank.yaml", "--widen", "2"], "a table is widened by a number between 0 and 1, got 2.0"),
    ],
)
def test_an_error_is_one_line_and_exit_code_1(run, folder, options, said):
    (folder / "bad.yaml").write_text("among: 0\n")
    (folder / "other.yaml").write_text("first: [Q77]\n")
    (folder / "bad.json").write_text("no")
    (folder / "bytes.json").write_bytes(b"\xff\xfe")
    (folder / "folder").mkdir()
    (folder / "good.json").write_text(qs.Session(bank()).to_json())
    (folder / "other.json").write_text(qs.Session(sessions.bank()).to_json())
    code, out, err = run("take", *options, typed=["b"])
    assert (code, out) == (1, "")
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_a_session_that_cannot_be_saved_is_an_error(run):
    code, _, err = run("take", "bank.yaml", "--session", "nowhere/s.json", typed=["b"])
    assert (code, err) == (1, "nowhere/s.json: the file can be written, got No such file or directory\n")


@pytest.mark.parametrize("arguments", [["take"], ["take", "bank.yaml", "--seed", "x"], ["rank"], ["rank", "bank.yaml", "--score", "x"]])
def test_a_command_that_is_none_has_exit_code_2(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("usage: quaestor")


@pytest.mark.parametrize("settings", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_bytes_that_are_no_text_are_no_traceback(settings):
    ended = subprocess.run(
        [sys.executable, "-m", "quaestor", "take", "bank.yaml", "--rules", "order.yaml", "--session", "s.json"],
        input=b"\xff\nb\na c\n5\nf\xe9ve\n",
        capture_output=True,
        env={**os.environ, **settings},
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr
    assert [event.answer for event in saved().log] == ["right", "right", "right", "wrong"]


# rank


def test_rank_prints_the_best_questions_with_bars(run):
    code, out, err = run("rank", "bank.yaml", "--score", "entropy", "--top", "2")
    ranking = qs.rank(bank(), score="entropy")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.strip() and line.split()[0] in QUESTIONS]
    assert [row[:3] for row in rows] == [[one.question.id, one.question.skills[0], f"{one.gain:.4f}"] for one in ranking[:2]]
    assert rows[0][3] == "█" * 30
    assert "3 more questions; --top 5 shows all" in out
    assert "more questions" not in run("rank", "bank.yaml")[1]


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], {}),
        (["--score", "gini", "--then", "entropy"], {"score": "gini", "then": "entropy"}),
        (["--widen", "0.05", "--bound", "lower"], {"widen": 0.05, "bound": "lower"}),
        (["--answers", "c=right, n=wrong"], {"answers": {"c": "right", "n": "wrong"}}),
        (["--target", "all"], {"target": "all"}),
        (["--target", "joint", "--score", "entropy"], {"target": "joint", "score": "entropy"}),
        (["--target", "a, b"], {"target": ["a", "b"]}),
        (["--target", "b", "--then", "none"], {"target": ["b"], "then": None}),
        (["--score", "random", "--seed", "3"], {"score": "random", "seed": 3}),
        (["--score", "order", "--per", "minute"], {"score": "order", "per": "minute"}),
    ],
)
def test_rank_prints_json(run, options, settings):
    code, out, err = run("rank", "bank.yaml", "--json", *options)
    assert (code, err) == (0, "")
    widen = settings.pop("widen", None)
    ranking = qs.rank(bank() if widen is None else bank().widen(widen), **settings)
    assert json.loads(out) == [{"question": one.question.id, "gain": one.gain, "by_skill": one.by_skill} for one in ranking]


def test_rank_of_a_finished_test_says_so(run):
    answers = ",".join(f"{name}=right" for name in QUESTIONS)
    assert run("rank", "bank.yaml", "--answers", answers)[1].endswith("No question is left.\n")
    assert run("rank", "bank.yaml", "--json", "--answers", answers) == (0, "[]\n", "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--answers", "c"], "--answers: each answer is written question=class, got 'c'"),
        (["--answers", "c=right,c=wrong"], "--answers: each question is answered once, got 'c' twice"),
        (["--answers", "x=right"], "unknown question, got 'x'"),
        (["--answers", "c=good"], "c: an answer class is one of wrong, right, got 'good'"),
        (["--target", "every"], "unknown skill, got 'every'"),
        (["--target", "joint", "--widen", "0.1"], "target 'joint' is for precise banks, got a credal one"),
        (["--then", "x"], f"then is one of auto, {ALL_SCORES}, got 'x'"),
        (["--seed", "-1"], "--seed: a whole number of at least 0, got -1"),
        (["--top", "-1"], "--top: a whole number of at least 0, got -1"),
        (["--widen", "nan"], "a table is widened by a number between 0 and 1, got nan"),
    ],
)
def test_an_error_of_rank_is_one_line_and_exit_code_1(run, options, said):
    code, out, err = run("rank", "bank.yaml", *options)
    assert (code, out) == (1, "")
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_how_far_the_test_is_and_the_numbers_on_demand(run, folder):
    (folder / "short.yaml").write_text("score: order\nstop: {max_questions: 3}\n")
    code, out, _ = run("take", "bank.yaml", "--rules", "short.yaml", typed=("/why", "/numbers", "b", "/skip", "5"))
    assert code == 0
    assert re.findall(r"Question \d+ of at most \d+", out) == [f"Question {number} of at most 3" for number in (1, 2, 3)]
    reason, _, numbers = unwrapped(out).partition("Why c, a question on a: of the 5 open questions it is the first.")
    assert "would put it at" not in reason
    assert "The answer 'right' (probability 50 %) would put it at 'yes' with 90 %." in numbers
