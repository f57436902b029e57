"""Workbooks and CSV files of hostile shapes: they are measured before they are read, and refused in a second or so."""

import io
import zipfile

import pytest

from helpers.bank_files import loaded, problems, repacked, workbook
from quaestor.formats import measure, sheets

HEADER, ROW = ["id", "skill", "right"], ["Q1", "m", "0.3 | 0.9"]
SHEET, STYLES = "xl/worksheets/sheet1.xml", "xl/styles.xml"
PLAIN = workbook(questions=[HEADER, ROW])


def with_rows(*rows, data=PLAIN):
    return repacked(data, SHEET, b"</sheetData>", "".join(rows).encode() + b"</sheetData>")


def row(number, *columns, inside="<v>1</v>"):
    cells = "".join(f'<c r="{column}{number}" s="0">{inside}</c>' for column in columns)
    return f'<row r="{number}">{cells}</row>'


def test_cells_in_the_last_column_of_thousands_of_rows_are_refused_at_once():
    data = with_rows(*(row(number, "XFD") for number in range(3, 3003)))
    assert len(data) < 40_000
    assert problems(data, ".xlsx") == ["file: a sheet has at most 500 columns, got a value in column XFD [sheet1.xml, row 3]"]


def test_cells_far_to_the_right_without_a_value_are_read_over():
    data = with_rows(*(row(number, "XFD", inside="") for number in range(3, 3003)))
    assert loaded(data, ".xlsx") == loaded(PLAIN, ".xlsx")


def test_the_last_column_that_is_allowed_is_read():
    assert problems(with_rows(row(3, "SF")), ".xlsx") == problems(with_rows(row(3, "D")), ".xlsx")


def test_too_many_cells_are_refused_where_they_become_too_many():
    rows = (f'<row r="{number}">{"<c><v>1</v></c>" * 100}</row>' for number in range(3, 6_003))
    assert problems(with_rows(*rows), ".xlsx") == ["file: a workbook has at most 500,000 cells, got more [sheet1.xml, row 5002]"]


def test_cells_are_counted_whatever_prefix_their_names_have(monkeypatch):
    monkeypatch.setattr(measure, "MOST_CELLS", 10)
    data = with_rows('<x:row r="3">' + "<x:c/>" * 5 + "</x:row>")
    assert problems(data, ".xlsx") == ["file: a workbook has at most 10 cells, got more [sheet1.xml, row 3]"]


def test_a_part_in_another_encoding_is_measured_too():
    wide = repacked(PLAIN, SHEET, b"</sheetData>", row(3, "XFD").encode() + b"</sheetData>")
    wide = repacked(wide, SHEET, b"<worksheet ", b'<?xml version="1.0" encoding="utf-8"?><worksheet ')
    assert "at most 500 columns" in problems(_in_utf_16(wide), ".xlsx")[0]


def _in_utf_16(data):
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        content = source.read(SHEET)
    return repacked(data, SHEET, content, content.decode().replace("utf-8", "utf-16").encode("utf-16"))


def test_a_huge_tree_of_styles_is_refused():
    data = repacked(PLAIN, STYLES, b"</cellXfs>", b"<xf />" * 250_000 + b"</cellXfs>")
    assert problems(data, ".xlsx") == ["file: a part of a workbook has at most 200,000 elements, got more [styles.xml]"]


def test_elements_of_any_kind_are_counted(monkeypatch):
    monkeypatch.setattr(measure, "MOST_VALUES", 1000)
    data = repacked(PLAIN, SHEET, b"</sheetData>", b"<x/>" * 1000 + b"</sheetData>")
    assert problems(data, ".xlsx") == ["file: a workbook has at most 1,000 elements, got more [sheet1.xml, row 2]"]


def test_many_parts_are_refused():
    made = io.BytesIO(PLAIN)
    with zipfile.ZipFile(made, "a") as archive:
        for number in range(2001):
            archive.writestr(f"xl/media/{number}.png", b"")
    count = 2001 + len(zipfile.ZipFile(io.BytesIO(PLAIN)).namelist())
    assert problems(made.getvalue(), ".xlsx") == [f"file: a workbook has at most 2,000 parts, got {count:,}"]


def test_images_in_a_sheet_are_read_over():
    made = io.BytesIO(PLAIN)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("xl/media/image1.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
        archive.writestr("xl/drawings/drawing1.xml", b"<wsDr><not closed>")
    assert loaded(made.getvalue(), ".xlsx") == loaded(PLAIN, ".xlsx")


def test_a_long_text_that_many_cells_share_is_counted_each_time(monkeypatch):
    monkeypatch.setattr(sheets, "LARGEST_FILE", 100_000)
    data = with_rows(
        *(row(number, "A", inside=f"<is><t>{'x' * 30_000}</t></is>").replace('s="0"', 't="inlineStr"') for number in range(3, 7))
    )
    (problem,) = problems(data, ".xlsx")
    assert problem == "file: the cells of a sheet hold at most 100,000 characters, got more [sheet questions, row 6]"


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"\n" * 2_000_000, "a sheet has at most 1,048,576 rows"),
        (b"id,text\n" + b",\n" * 2_000_000, "a sheet has at most 1,048,576 rows"),
        (b"id,text\n" + b",," * 3_000_000, "a file has at most 5,000,000 values"),
        (b"id,text\n" + b"," * 1000 * 1000 + b"\n" + b"," * 4_200_000, "a file has at most 5,000,000 values"),
    ],
)
def test_csv_files_of_nothing_but_separators_are_refused(content, rule):
    assert problems(content, ".csv") == [f"file: {rule}, got more"]
