"""Numbers as people write them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.numerals import LONGEST, read_number

WRITTEN = {
    "0": 0,
    "007": 7,
    "-3": -3,
    "+3": 3,
    "- 3": -3,
    "  12  ": 12,
    "\t12\n": 12,
    "0.75": Fraction(3, 4),
    "0,75": Fraction(3, 4),
    ",5": Fraction(1, 2),
    ".5": Fraction(1, 2),
    "5.": 5,
    "5,": 5,
    "1,000": 1,  # a comma is a decimal comma, never a thousands separator
    "0.1": Fraction(1, 10),  # exactly, which no float is
    "3/4": Fraction(3, 4),
    "-3 / 4": Fraction(-3, 4),
    "6/8": Fraction(3, 4),
    "1.5/2": Fraction(3, 4),
    "1/.5": 2,
    "1 1/2": Fraction(3, 2),
    "-1 1/2": Fraction(-3, 2),
    "½": Fraction(1, 2),
    "1½": Fraction(3, 2),
    "1 ½": Fraction(3, 2),
    "-½": Fraction(-1, 2),
    "⅔": Fraction(2, 3),
    "1⁄2": Fraction(1, 2),
    "1∕2": Fraction(1, 2),
    "−2": -2,
    "–2": -2,
    "75%": Fraction(3, 4),
    "75 %": Fraction(3, 4),
    "½%": Fraction(1, 200),
    "1 1/2 %": Fraction(3, 200),
    "-5%": Fraction(-1, 20),
    "１２": 12,
    "٣": 3,
    "1e3": 1000,
    "1E3": 1000,
    "1.5e-3": Fraction(3, 2000),
    "1,5e+2": 150,
    "1e99": 10**99,
    "12 000": 12000,
    "12'000": 12000,
    "12’000": 12000,
    "12\u202f000": 12000,
    "12\u00a0000": 12000,
    "1 234 567": 1234567,
    "-1 234 567,5": Fraction(-2469135, 2),
    "1 000 1/2": Fraction(2001, 2),
    "1 234/5": Fraction(239, 5),  # a mixed number, not 1234/5
    "0.123 456": Fraction(123456, 10**6),
    "9" * LONGEST: 10**LONGEST - 1,
}
NOT_NUMBERS = [
    *(
        "",
        " ",
        "fifty",
        "x",
        "1x",
        "x1",
        "$5",
        "5 km",
        "--5",
        "+-5",
        "5-",
        "—5",
        ".",
        ",",
        "-",
        "%",
        "/",
        "e5",
        "1 e5",
        "1e",
        "1e+",
        "1e100",
    ),
    *("1/0", "1/0.0", "0/0", "1 1/0", "1/2/3", "1/", "/2", "1 2", "1.2.3", "1.000,5", "1,2,3", "1_000", "½½", "½5", "2⅟4"),
    *("5²", "5₂", "10⁻³", "²", "nan", "inf", "∞", "0x1F", "1:30", "12:000", "(5)", "5%%", "%5", "9" * (LONGEST + 1), " " * LONGEST + "1"),
]


@pytest.mark.parametrize("written", WRITTEN, ids=ascii)
def test_a_number_is_read_exactly(written):
    assert read_number(written) == WRITTEN[written]
    assert isinstance(read_number(written), Fraction)


@pytest.mark.parametrize("written", NOT_NUMBERS, ids=ascii)
def test_what_is_no_number_is_none(written):
    assert read_number(written) is None


@given(st.integers(-(10**30), 10**30))
def test_whole_numbers_are_read_as_python_writes_them(number):
    assert read_number(str(number)) == number


@given(st.integers(-(10**30), 10**30))
def test_grouped_digits_are_read_as_one_number(number):
    assert read_number(f"{number:,}".replace(",", " ")) == number
    assert read_number(f"{number:,}".replace(",", "'")) == number


@given(st.floats(-1e90, 1e90).filter(lambda number: number == 0 or abs(number) > 1e-90))
def test_floats_are_read_as_the_decimal_that_python_writes(number):
    assert float(read_number(repr(number))) == number


@given(st.fractions(max_denominator=10**6).filter(lambda number: abs(number) < 10**6))
def test_fractions_are_read_with_and_without_a_whole_part(number):
    whole, rest = divmod(abs(number), 1)
    sign = "-" if number < 0 else ""
    assert read_number(f"{number.numerator}/{number.denominator}") == number
    assert read_number(f"{sign}{whole} {rest.numerator}/{rest.denominator}") == number


@given(st.text(max_size=70))
def test_any_text_is_a_number_or_none(written):
    found = read_number(written)
    assert found is None or isinstance(found, Fraction)


@given(st.text(alphabet="0123456789 .,'/%eE+-−½", max_size=12))
def test_space_around_a_number_does_not_count(written):
    assert read_number(f"  {written} ") == read_number(written)
