"""YAML: text stays text, problems have lines, hostile files are refused, and what is written reads the same everywhere."""

import pytest
import yaml
from hypothesis import given

from helpers.bank_files import loaded, problems
from helpers.strategies import documents
from quaestor import Bank, dump, load
from quaestor.formats.files import dump_bytes

SMALL = """\
skills:
  m: {levels: [no, yes]}
questions:
  Q1: {skill: m, right: [0.3, 0.9]}
"""
WORDS = [
    "no",
    "yes",
    "on",
    "012",
    "1:30",
    "50",
    "50.0",
    "1e3",
    "0x1F",
    "0o14",
    "1_000",
    "2024-01-01",
    "null",
    "~",
    "true",
    "NaN",
    ".inf",
    "=",
    "y",
    "N",
]


def with_options(word):
    return f"skills: {{m: {{}}}}\nquestions:\n  Q1: {{skill: m, right: [0.3, 0.9], options: [{word}, other], correct: {word}}}\n"


@pytest.mark.parametrize("word", WORDS)
def test_words_stay_as_written(word):
    question = loaded(with_options(word), ".yaml").questions["Q1"]
    assert question.options == (word, "other")
    assert question.correct == (word,)


def test_levels_and_ids_are_words():
    bank = loaded("skills:\n  010: {levels: [no, 1:30, null]}\nquestions:\n  true: {skill: 010, right: [0.1, 0.2, 0.3]}\n", ".yaml")
    assert bank.skills["010"].levels == ("no", "1:30", "null")
    assert list(bank.questions) == ["true"]


@pytest.mark.parametrize(("word", "meaning"), [("true", True), ("false", False)])
def test_true_and_false_are_booleans(word, meaning):
    assert loaded(SMALL.replace("right:", f"pilot: {word}, right:"), ".yaml").questions["Q1"].pilot is meaning


@pytest.mark.parametrize("word", ["yes", "no", "on", "True", "FALSE", "1", "~"])
def test_nothing_else_is_a_boolean(word):
    assert problems(SMALL.replace("right:", f"pilot: {word}, right:"), ".yaml") == [
        f"questions.Q1.pilot: true or false is expected, got '{word}' [line 4]"
    ]


def test_an_empty_field_is_left_out_and_there_is_no_null():
    assert loaded("title:\n" + SMALL, ".yaml").document == loaded(SMALL, ".yaml").document
    assert loaded("title: null\n" + SMALL, ".yaml").title == "null"


def test_repeated_keys_are_all_reported_with_their_lines():
    text = SMALL + "  Q1: {skill: m, right: [0.2, 0.8], skill: m}\ntitle: a\ntitle: b\n"
    assert problems(text, ".yaml") == [
        "questions: each key is used once, got 'Q1' [line 5]",
        "questions.Q1: each key is used once, got 'skill' [line 5]",
        "file: each key is used once, got 'title' [line 7]",
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "\ufeff"])
def test_an_empty_file_is_refused(text):
    assert problems(text, ".yaml") == ["file: a file has content, got an empty file"]


def test_two_documents_are_refused():
    assert problems(f"{SMALL}---\n{SMALL}", ".yaml") == ["file: a file holds one YAML document, got several"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SMALL + "  Q2: {skill: [m}\n", 5),
        ("skills:\n\tm: {}\n", 2),
        ('title: "open\n', 2),
        ("title: @x\n", 1),
        (SMALL + "\n\ntitle: a: b\n", 7),
    ],
)
def test_a_syntax_error_has_its_line(text, line):
    (problem,) = problems(text, ".yaml")
    assert problem.startswith("file: the file is valid YAML, got ")
    assert problem.endswith(f"[line {line}]")


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_another_encoding_is_named(encoding):
    (problem,) = problems(("title: Größe\n" + SMALL).encode(encoding), ".yaml")
    assert problem.startswith("file: text is encoded as UTF-8, got byte 0x")
    assert "save the file as UTF-8" in problem


def test_a_byte_order_mark_is_no_text():
    assert loaded("\ufefftitle: T\n" + SMALL, ".yaml").title == "T"


def test_anchors_and_aliases_work():
    text = """\
skills: {m: &m {levels: [no, yes]}, n: *m}
questions:
  Q1: &q {skill: m, right: &r [0.3, 0.9]}
  Q2: {skill: n, right: *r}
  Q3: *q
"""
    bank = loaded(text, ".yaml")
    assert bank.skills["n"].levels == ("no", "yes")
    assert bank.questions["Q2"].table == bank.questions["Q1"].table
    assert bank.questions["Q3"].skills == ("m",)


def laughs(first, repeat, generations=9):
    """A 'billion laughs' file: each generation names the one before it nine times."""
    lines = [f"g0: &g0 {first}"]
    for number in range(1, generations + 1):
        lines.append(f"g{number}: &g{number} " + repeat([f"*g{number - 1}"] * 9))
    return "\n".join(lines) + "\n"


def as_list(names):
    return f"[{', '.join(names)}]"


def as_map(names):
    return "{" + ", ".join(f"k{number}: {name}" for number, name in enumerate(names)) + "}"


def as_nested_lists(names):
    return f"[[{', '.join(names)}], [{', '.join(names)}]]"


@pytest.mark.parametrize("repeat", [as_list, as_map, as_nested_lists])
def test_an_alias_bomb_is_refused(repeat):
    assert problems(laughs("lol", repeat), ".yaml") == ["file: a file has at most 5,000,000 values, aliases included, got more"]


def test_an_alias_bomb_of_one_long_text_is_refused():
    questions = "".join(f"  Q{number}: {{skill: m, text: *long, right: [0.3, 0.9]}}\n" for number in range(2_000))
    text = f"skills: {{m: {{description: &long {'x' * 100_000}}}}}\nquestions:\n{questions}"
    assert problems(text, ".yaml") == ["file: a file has at most 5,000,000 values, aliases included, got more"]


def test_a_file_full_of_aliases_below_the_limit_is_still_quick():
    text = SMALL + "title: &a [x, x, x, x, x, x, x, x, x]\ndescription: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
    text += "language: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nauthor: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n"
    text += "licence: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nimprecision: [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n"
    assert len(problems(text, ".yaml")) >= 6


@pytest.mark.parametrize("text", ["title: &a [*a]\n", "&a {title: *a}\n", "title: *nobody\n"])
def test_an_alias_names_an_anchor_above_it(text):
    (problem,) = problems(text, ".yaml")
    assert problem.startswith("file: an alias names an anchor above it, got ")
    assert problem.endswith("[line 1]")


@pytest.mark.parametrize(
    "text", ["\n" + "[" * 21 + "a" + "]" * 21, "\n" + "{a: " * 21 + "}" * 21, "\n" + "- " * 21 + "a", "\n" + "[" * 100_000]
)
def test_deep_nesting_is_refused(text):
    assert problems(text, ".yaml") == ["file: values are nested at most 20 deep, got more [line 2]"]


def test_nesting_up_to_the_limit_is_read():
    (problem,) = problems("[" * 20 + "a" + "]" * 20, ".yaml")
    assert "a map of fields is expected" in problem


@pytest.mark.parametrize("key", ["[a, b]", "{a: b}"])
def test_a_key_that_is_no_text_is_refused(key):
    assert problems(f"{SMALL}? {key}\n: c\n", ".yaml") == ["file: a key is text, got a list or map [line 5]"]


def test_a_merge_key_is_an_unknown_field_like_any_other():
    text = SMALL + "  Q2:\n    <<: *q\n    right: [0.2, 0.9]\n"
    (problem,) = problems(text.replace("Q1: {", "Q1: &q {").replace("<<: *q", "skill: m\n    <<: *q"), ".yaml")
    assert problem.startswith("questions.Q2.<<: unknown field, got '<<' (known fields: template, ")
    assert problem.endswith("[line 7]")


def test_a_tag_runs_nothing(tmp_path):
    text = f"title: !!python/object/apply:os.mkdir [{tmp_path}/made]\n" + SMALL
    assert any(problem.startswith("title: ") for problem in problems(text, ".yaml"))
    assert list(tmp_path.iterdir()) == []


def test_problems_have_the_lines_of_their_places():
    text = """\
title: T

skills:
  m:
    levels: [no, yes]
    prior: [0.5, 0.6]
questions:
  Q1:
    skill: m
    right:
      - 0.3
      - 1.9
  Q2: {skill: n, right: [0.1, 0.2]}
"""
    lines = {problem.split(":")[0]: problem.rsplit("[", 1)[1] for problem in problems(text, ".yaml")}
    assert lines == {"skills.m.prior": "line 6]", "questions.Q1.right[1]": "line 12]", "questions.Q2.skill": "line 13]"}


def test_a_problem_inside_an_alias_has_the_line_of_the_alias():
    text = "skills: {m: {}}\nquestions:\n  Q1: {skill: m, right: &r [0.3, 1.9]}\n  Q2:\n    skill: m\n    right: *r\n"
    assert [problem[-8:] for problem in problems(text, ".yaml")] == ["[line 3]", "[line 6]"]


COMMENTED = """\
# A bank.\r

skills: # what it measures
  m:   {levels: [no, yes]}

questions:
  'Q1': {skill: m, right: [.30, 9e-1]}  # é 🎓
# end"""


def test_a_bank_loaded_and_dumped_keeps_every_byte(tmp_path):
    (tmp_path / "bank.yaml").write_bytes(COMMENTED.encode())
    dump(load(tmp_path / "bank.yaml"), tmp_path / "copy.yml")
    assert (tmp_path / "copy.yml").read_bytes() == COMMENTED.encode()


def test_a_changed_bank_does_not_keep_the_old_text():
    changed = loaded(COMMENTED, ".yaml").widen(0.1)
    text = dump_bytes(changed, ".yaml").decode()
    assert "# A bank." not in text
    assert loaded(text, ".yaml") == changed


DOCUMENT = {
    "title": "A bank: small",
    "imprecision": 0.05,
    "skills": {
        "m": {"levels": ["no", "yes"], "prior": "mostly high"},
        "k": {
            "levels": ["low", "middle", "high"],
            "parents": ["m"],
            "table": {"no": [0.7, 0.2, 0.1], "yes": [0.1, [0.2, 0.4], [0.5, 0.7]]},
        },
    },
    "templates": {"easy": {"skill": "m", "right": ["unlikely", 0.95]}},
    "questions": {
        "012": {"template": "easy", "text": "First line.\n\nWhat is $3 \\times 4$?", "kind": "number", "correct": 12, "tolerance": "1/2"},
        "Q2": {"skill": "m", "difficulty": 0.4, "options": {"1:30": "right", "a: b": "wrong", "y": "wrong"}, "pilot": True},
        "Q3": {"skill": "k", "table": {level: {"vertices": [[0.2, 0.8], [0.3, 0.7]]} for level in ("low", "middle", "high")}},
    },
}
WRITTEN = r"""quaestor: 1
title: 'A bank: small'
imprecision: 0.05
skills:
  m:
    levels: ['no', 'yes']
    prior: mostly high
  k:
    levels: [low, middle, high]
    parents: [m]
    table:
      'no': [0.7, 0.2, 0.1]
      'yes': [0.1, [0.2, 0.4], [0.5, 0.7]]
templates:
  easy:
    skill: m
    right: [unlikely, 0.95]
questions:
  '012':
    template: easy
    text: |-
      First line.

      What is $3 \times 4$?
    kind: number
    correct: '12'
    tolerance: 1/2
  Q2:
    options:
      '1:30': right
      'a: b': wrong
      'y': wrong
    skill: m
    difficulty: 0.4
    pilot: true
  Q3:
    skill: k
    table:
      low:
        vertices: [[0.2, 0.8], [0.3, 0.7]]
      middle:
        vertices: [[0.2, 0.8], [0.3, 0.7]]
      high:
        vertices: [[0.2, 0.8], [0.3, 0.7]]
"""


def test_a_written_bank_is_pleasant_to_read():
    assert dump_bytes(Bank(DOCUMENT), ".yaml").decode() == WRITTEN


def test_long_texts_are_broken_into_lines():
    text = " ".join(["word"] * 100)
    bank = Bank({"skills": {"m": {}}, "questions": {"Q1": {"skill": "m", "right": [0.3, 0.9], "text": text}}})
    written = dump_bytes(bank, ".yaml").decode()
    assert max(map(len, written.splitlines())) <= 140 + len(" word")  # a line ends with the word that reaches the limit
    assert loaded(written, ".yaml").questions["Q1"].text == text


@given(documents())
def test_another_reader_reads_what_we_write(document):
    bank = Bank(document)
    assert yaml.safe_load(dump_bytes(bank, ".yaml")) == bank.document


@pytest.mark.parametrize("word", ["y", "N", "1e3", "-1.5e3", "0o14", "012", "1:30", "no", "null", "~", "50"])
def test_words_that_some_reader_takes_for_something_else_are_quoted(word):
    bank = loaded(with_options(word), ".yaml").subset(["Q1"])
    assert f"correct: '{word}'\n" in dump_bytes(bank, ".yaml").decode()
