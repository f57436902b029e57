"""Files of strangers that are damaged or meant to do harm: a documented error or a valid bank, soon, and never anything else."""

import io
import random
import zipfile
from functools import cache
from time import process_time

import pytest

from helpers.bank_files import PATIENCE
from helpers.paths import ROOT, SHARED
from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError
from quaestor.formats.exchange import gift_writer, moodle_writer
from quaestor.formats.exchange.imported import to_document
from quaestor.formats.exchange.registry import read_questions_bytes
from quaestor.formats.files import load

MARKS = [
    *(
        b"<![CDATA[",
        b"]]>",
        b"<!DOCTYPE x [<!ENTITY y 'z'>]>",
        b"&y;",
        b"&#0;",
        b"&#xD800;",
        b"<question type='multichoice'>",
        b"</text>",
        b"<quiz>",
    ),
    *(
        b"{",
        b"}",
        b"=",
        b"~",
        b"%50%",
        b"%999999%",
        b"####",
        b"->",
        b"::",
        b"//",
        b"\\",
        b"{1:MULTICHOICE:",
        b"{1:NUMERICAL:=1e9999:1}",
        b"[[1]]",
    ),
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"$$",
        b"\\(",
        b"<script>",
        b"<b>" * 300,
        b"\n\n",
        b"ANSWER: Z",
        b"A)",
        b"-" * 5000,
        b"9" * 400,
    ),
    *(b"quaestor: {", b'<!-- quaestor: {"fields": {"kind": 3}, "seen": ""} -->', b'// quaestor: {"bank": {"skills": 7}}\n', b"1/0", b"nan"),
]


@cache
def samples():
    """Files of every format that lie here, and what we write ourselves."""
    fractions = load("fractions")
    found = {
        "quiz.xml": (ROOT / "docs" / "examples" / "moodle-quiz.xml").read_bytes(),
        "capitals.gift": (ROOT / "docs" / "examples" / "capitals.gift").read_bytes(),
        "our.xml": moodle_writer.write(fractions, {}).data,
        "our.gift": gift_writer.write(fractions, {}).data,
        "quiz.txt": b"What?\nA) this\nB) that\nANSWER: B\n\nAnd what?\nA. this\nB. that\nANSWER: A\n",
    }
    folder = SHARED / "exchange"
    if folder.is_dir():
        paths = [
            path
            for path in sorted(folder.glob("*/*"))
            if path.is_file() and path.stat().st_size < 200_000 and path.parent.name != "oneroster"
        ]
        found |= {path.name: path.read_bytes() for path in paths}
    return found


def mutated(data, rng):
    """A file in which a few things were changed, taken away, put in or repeated."""
    for _ in range(rng.randint(1, 4)):
        at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        to = min(to, at + rng.choice([1, 10, 200]))
        what = rng.randrange(5)
        if what == 0:
            data = data[:at] + data[to:]
        elif what == 1:
            data = data[:at] + rng.choice(MARKS) + data[at:]
        elif what == 2:
            data = data[:at] + data[at:to] * 3 + data[to:]
        elif what == 3:
            data = data[:at] + bytes(byte ^ (1 << rng.randrange(8)) for byte in data[at:to]) + data[to:]
        else:
            data = data[:at] if rng.random() < 0.3 else data[:at] + data[to : to + 300] + data[at:]
        data = data or b"x"
    return data


def endure(data, name):
    """Read a file: all of its questions make a bank, or an error names what is wrong."""
    before = process_time()
    try:
        found = read_questions_bytes(data, name)
    except BankError as error:
        found, problems = None, error.problems
    if found is None:
        assert problems
        assert all(problem.rule and problem.place for problem in problems)
    elif found.questions:
        assert [*Bank(to_document(found)).questions] == [*found.questions]
        assert all(str(note.sentence) for note in (*found.notes, *found.refused))
    assert process_time() - before < PATIENCE


def endure_many(seeds):
    names = sorted(samples())
    for seed in seeds:
        rng = random.Random(seed)
        name = rng.choice(names)
        data = mutated(samples()[name], rng)
        try:
            endure(data, name)
        except Exception as error:  # so that the file can be made again
            raise AssertionError(f"seed {seed}, {name}: {error!r}") from error


def test_some_mutated_files_give_documented_errors_only():
    endure_many(range(40))


@pytest.mark.long
def test_many_mutated_files_give_documented_errors_only():
    endure_many(range(1000, 1600))


def question(text, name="Q"):
    stem = f"<name><text>{name}</text></name><questiontext format='html'><text>{text}</text></questiontext>"
    return f"<quiz><question type='truefalse'>{stem}<answer fraction='100'><text>true</text></answer></question></quiz>".encode()


def test_names_of_a_thousand_letters_are_cut():
    found = read_questions_bytes(question("?", "n" * 1000), "x" * 1000 + ".xml")
    assert [*found.questions] == ["n" * 80]
    assert Bank(to_document(found)).skills


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("unclosed braces", "{" * 100_000),
        ("gaps that never end", "{1:SHORTANSWER:" * 10_000),
        ("backslashes", "\\" * 100_000),
        ("formulas that never end", "\\(" * 50_000),
        ("dollars", "$$" * 50_001),
        ("open tags", "<" * 100_000),
        ("underscores", "_a" * 50_000),
        ("comments", "<!--" * 20_000),
        ("declarations", "<!x" * 30_000 + "<?y" * 5_000),
        ("beginnings of tags", "<a href=' " * 10_000),
        ("ends of tags", "</a" * 30_000),
        ("nested lists", "<ul><li>" * 10_000),
        ("closing signs", ">" * 100_000),
        ("emphasis", "*a **b " * 10_000),
        ("entities", "&amp;" * 20_000),
    ],
)
def test_texts_that_would_take_for_ever_are_read_soon(name, text):
    endure(f"::Q::{text}{{=a ~b}}".encode(), "x.gift")
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    endure(question(escaped).replace(b"truefalse", b"cloze"), "x.xml")


def test_a_package_in_a_package_and_a_bomb_are_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("imsmanifest.xml", b"<manifest>" + b" " * 5_000_000 + b"</manifest>")
    with pytest.raises(BankError, match="times as large when unpacked"):
        read_questions_bytes(made.getvalue(), "bomb.zip")
    with zipfile.ZipFile(made := io.BytesIO(), "w") as target:
        target.writestr("imsmanifest.xml", "<manifest/>")
        target.writestr("../../evil.xml", "<quiz/>")
    with pytest.raises(BankError, match="has a name below its folder"):
        read_questions_bytes(made.getvalue(), "slip.zip")


def test_the_billion_laughs_and_a_deep_file_are_refused_as_files_of_questions():
    with pytest.raises(BankError, match="declares nothing of its own"):
        read_questions_bytes(b"<!DOCTYPE quiz [<!ENTITY a 'b'>]><quiz>&a;</quiz>", "x.xml")
    with pytest.raises(BankError, match="nested at most 200 deep"):
        read_questions_bytes(b"<quiz>" + b"<a>" * 10_000 + b"</a>" * 10_000 + b"</quiz>", "x.xml")
