"""Mutations: whatever happens to a bank file, loading it gives a BankError or a valid bank, never anything else, and soon."""

import io
import random
import re
import zipfile
from functools import cache
from time import process_time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helpers.bank_files import PATIENCE
from helpers.strategies import documents
from quaestor import Bank, BankError, load
from quaestor.bankfile.schema import BANK_FIELDS, QUESTION_FIELDS, SKILL_FIELDS
from quaestor.formats.files import dump_bytes, load_bytes

ENDINGS = (".yaml", ".json", ".csv", ".xlsx")
SEEDS = range(8)
NUMBER = re.compile(rb"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
NASTY = [
    *(b"1e400", b"-1e400", b"1e-400", b"NaN", b"nan", b".inf", b"-inf", b"Infinity", b"9" * 400, b"-1", b"-0.0", b"1.0000001", b"2"),
    *(
        b"1/0",
        b"50 %",
        b"half",
        b"null",
        b"",
        b"\xc2\xbd",
        b"\x00",
        b"0x7F",
        b"1_0",
        b"true",
        b"{}",
        b"[]",
        b"'",
        b'"',
        b"=1/0",
        b"..",
        b"0..2",
    ),
]


def truncated(data, rng):
    return data[: rng.randrange(len(data))]


def flipped(data, rng):
    changed = bytearray(data)
    for _ in range(rng.randint(1, 20)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def filled_with_noise(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.randint(1, 50)) + data[at:]


def with_other_lines(data, rng):
    """Lines swapped, deleted and repeated."""
    lines = data.splitlines(keepends=True)
    for _ in range(rng.randint(1, 6)):
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        what = rng.choice(["swap", "delete", "repeat"])
        if what == "swap":
            lines[one], lines[other] = lines[other], lines[one]
        elif what == "repeat" or len(lines) == 1:
            lines.insert(one, lines[other])
        else:
            del lines[one]
    return b"".join(lines)


def in_another_encoding(data, rng):
    text = data.decode("utf-8", errors="replace").replace("a", "ä", 3)
    return text.encode(rng.choice(["utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7"]), errors="replace")


def with_nasty_numbers(data, rng):
    return replaced(data, NUMBER, rng, lambda: rng.choice(NASTY))


def with_scalars_for_lists(data, rng):
    return replaced(
        data, re.compile(rb"\[[^\[\]]*\]|[^,\"\n|]+(?: \| [^,\"\n|]+)+"), rng, lambda: rng.choice([b"7", b"word", b"''", b"{a: b}"])
    )


def with_lists_for_scalars(data, rng):
    return replaced(data, NUMBER, rng, lambda: rng.choice([b"[1, 2]", b"[[1], [2]]", b"1 | 2", b"[[[]]]", b'{"a": [1]}', b"a -> b"]))


def nested_deeply(data, rng):
    depth = rng.choice([10, 30, 300, 30_000])
    opened, closed = rng.choice([(b"[", b"]"), (b'{"a": ', b"}"), (b"- ", b"")])
    return replaced(data, NUMBER, rng, lambda: opened * depth + b"1" + closed * depth)


def with_other_marks(data, rng):
    return replaced(data, re.compile(rb"[\[\]{}:,;|>\"'&*#<-]"), rng, lambda: rng.choice(b"[]{}:,;|>\"'&*#!%@`\t\n<-".decode()).encode())


def replaced(data, pattern, rng, value):
    """Up to five of the places that the pattern finds, each with a new value."""
    found = list(pattern.finditer(data))
    for match in sorted(rng.sample(found, min(len(found), rng.randint(1, 5))), key=re.Match.start, reverse=True):
        data = data[: match.start()] + value() + data[match.end() :]
    return data


MUTATIONS = [
    truncated,
    flipped,
    filled_with_noise,
    with_other_lines,
    in_another_encoding,
    with_nasty_numbers,
    with_scalars_for_lists,
    with_lists_for_scalars,
    nested_deeply,
    with_other_marks,
]


@cache
def original(name, ending):
    return dump_bytes(load(name), ending)


def mutated(data, ending, mutation, rng):
    """The file after a mutation; half of the workbooks are changed inside one of their parts, since a changed archive rarely opens."""
    if ending != ".xlsx" or rng.random() < 0.5:
        return mutation(data, rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        chosen = rng.choice([name for name in source.namelist() if "sheet" in name] * 3 + source.namelist())
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, mutation(content, rng) if name == chosen else content)
    return buffer.getvalue()


def assert_bank_or_problems(make):
    """Call `make`: it gives problems that can be shown or a bank that can be used; any other exception fails the test by itself."""
    started = process_time()
    found = outcome(make)
    assert process_time() - started < PATIENCE
    if isinstance(found, BankError):
        assert found.problems
        assert all(problem.place and problem.rule and problem.severity == "error" for problem in found.problems)
    else:
        assert found.network.names == (*found.skills, *found.questions)
        assert Bank(found.document) == found


def outcome(make):
    try:
        return make()
    except BankError as error:
        return error


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_mutated_file(ending, mutation, seed):
    rng = random.Random(f"{ending} {mutation.__name__} {seed}")
    data = original(rng.choice(["fractions", "german", "four-skills", "multiplication"]), ending)
    changed = mutated(data, ending, mutation, rng)
    assert_bank_or_problems(lambda: load_bytes(changed, ending))


def test_there_are_enough_mutated_files():
    assert len(ENDINGS) * len(MUTATIONS) * len(SEEDS) >= 200


def test_mutations_break_some_files_and_spare_others():
    rng = random.Random(7)
    files = [mutation(original("multiplication", ".yaml"), rng) for mutation in MUTATIONS * 3]
    found = [outcome(lambda file=file: load_bytes(file, ".yaml")) for file in files]
    places_of_errors = {error.problems[0].place for error in found if isinstance(error, BankError)}
    assert "file" in places_of_errors
    assert len(places_of_errors) > 3
    assert any(isinstance(bank, Bank) for bank in found)


@pytest.mark.parametrize("ending", ENDINGS)
@example(b"")
@example(b"\x00")
@example(b"\xef\xbb\xbf")
@example(b"PK\x03\x04")
@given(data=st.binary(max_size=200))
def test_any_bytes(ending, data):
    assert_bank_or_problems(lambda: load_bytes(data, ending))


@pytest.mark.parametrize("ending", [".yaml", ".json", ".csv"])
@given(text=st.text(alphabet=st.sampled_from("abQ1.0-[]{}:,;|>\"'&*#!%@`\t\n ~?<"), max_size=60))
def test_any_text_of_marks(ending, text):
    assert_bank_or_problems(lambda: load_bytes(text.encode(), ending))


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([10**400, "1/0", "9" * 300, "very likely", "m"]),
)
KEYS = st.one_of(st.sampled_from([*BANK_FIELDS, *SKILL_FIELDS, *QUESTION_FIELDS, "m", "no", "vertices"]), st.text(max_size=3))
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)), max_leaves=12
)


@given(VALUES)
def test_any_value_as_a_document(value):
    assert_bank_or_problems(lambda: Bank(value))


@given(skills=VALUES, questions=VALUES, templates=VALUES)
def test_any_values_as_sections(skills, questions, templates):
    assert_bank_or_problems(lambda: Bank({"skills": skills, "questions": questions, "templates": templates}))


def places(value, path=()):
    """The paths to everything in a document."""
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def changed_at(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed_at(value[path[0]], path[1:], new)
    return copy


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_valid_document_with_any_value_in_any_place(data):
    document = data.draw(documents(most_skills=3, most_questions=2))
    place = data.draw(st.sampled_from(list(places(document))))
    assert_bank_or_problems(lambda: Bank(changed_at(document, place, data.draw(VALUES))))
