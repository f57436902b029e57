"""Grades for other systems: the columns they expect, no zero for who has no score, no formula, no code."""

import csv
import json
import zipfile
from datetime import datetime
from io import BytesIO, StringIO

from quaestor.report.gradebooks import Line, Sheet, canvas, moodle, oneroster, xapi

ENDED = datetime(2026, 9, 1, 8, 12, 30)
LINES = [
    Line("Ada", "user-1", 87.5, "2", ENDED, 12.5, {"sums": "yes"}, "41"),
    Line("=cmd()", "", None, "", ENDED, 1.0, {}, "42"),
    Line("Bo, Jr.", "user-3", None, "", None, 0.0, {}, "43"),
]
SHEET = Sheet("Fractions", "https://school.example/tests/7", LINES, "class-1")


def rows(content, encoding="utf-8-sig"):
    return list(csv.reader(StringIO(content.decode(encoding))))


def test_moodle():
    assert rows(moodle(SHEET)) == [
        ["ID number", "Name", "Fractions", "Grade in words"],
        ["user-1", "Ada", "87.50", "2"],
        ["", "'=cmd()", "", ""],
        ["user-3", "Bo, Jr.", "", ""],
    ]


def test_canvas():
    found = rows(canvas(SHEET))
    assert found[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Fractions"]
    assert [cell.strip() for cell in found[1]] == ["Points Possible", "", "", "", "", "100"]
    assert found[2] == ["Ada", "", "user-1", "", "", "87.50"]
    assert found[3][5] == "", "no score is no zero"


def test_oneroster():
    with zipfile.ZipFile(BytesIO(oneroster(SHEET))) as made:
        files = {name: rows(made.read(name), "utf-8") for name in made.namelist()}
    assert set(files) == {"manifest.csv", "categories.csv", "lineItems.csv", "results.csv"}
    told = dict(files["manifest.csv"][1:])
    assert told["oneroster.version"] == "1.1"
    assert [told[f"file.{name}"] for name in ("results", "lineItems", "categories", "users")] == ["bulk", "bulk", "bulk", "absent"]
    [item] = [dict(zip(files["lineItems.csv"][0], row, strict=True)) for row in files["lineItems.csv"][1:]]
    results = [dict(zip(files["results.csv"][0], row, strict=True)) for row in files["results.csv"][1:]]
    assert item["classSourcedId"] == "class-1"
    assert item["categorySourcedId"] == files["categories.csv"][1][0]
    assert [(one["studentSourcedId"], one["scoreStatus"], one["score"]) for one in results] == [
        ("user-1", "fully graded", "87.50"),
        ("user-3", "not submitted", ""),
    ]
    assert {one["lineItemSourcedId"] for one in results} == {item["sourcedId"]}
    assert oneroster(SHEET) == oneroster(SHEET), "the same grades give the same file"


def test_xapi():
    first, second = json.loads(xapi(SHEET))
    assert first["actor"]["account"] == {"homePage": "https://school.example", "name": "user-1"}
    assert first["object"]["id"] == "https://school.example/tests/7"
    assert first["result"]["score"] == {"scaled": 0.875, "raw": 87.5, "min": 0, "max": 100}
    assert first["result"]["duration"] == "PT750S"
    assert first["timestamp"] == "2026-09-01T08:12:30Z"
    assert "score" not in second["result"]
    assert "cmd" not in json.dumps(second), "who has no id is not named"
    again = json.loads(xapi(Sheet(SHEET.title, SHEET.address, [Line(**{**vars(LINES[0]), "revision": 1})])))
    assert again[0]["id"] != first["id"], "a corrected result is another statement"
    assert json.loads(xapi(SHEET))[0]["id"] == first["id"]
