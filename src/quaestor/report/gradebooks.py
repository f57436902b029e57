"""Grades in the forms that other systems take: tables for Moodle's and Canvas' grade books, OneRoster results, xAPI statements.

A score is a percentage (`store` says of what); who has none has an empty cell, never a zero. People are matched by the id that they have in
the school's own system, which came with the class list; codes, with which one signs in, are in none of these files.
"""

import csv
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO, StringIO
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from quaestor.store.outcomes.sheets import neutral

_LEVELS = "xapi/levels"  # what an xAPI statement calls the levels found, below the address of the server
_BEGIN = (1980, 1, 1, 0, 0, 0)  # the same grades give the same file


@dataclass(frozen=True)
class Line:
    """What is told of one taker: the score in per cent (None: none), the grade in words, levels by skill, and when the test ended.

    `source`: the id in the school's own system, empty where it has none; `attempt` names the attempt, `revision` its last correction.
    """

    name: str
    source: str
    score: float | None
    grade: str
    ended: datetime | None
    minutes: float
    levels: dict[str, str]
    attempt: str
    revision: int = 0


@dataclass(frozen=True)
class Sheet:
    """The grades of a test: its title, its address (which names it), the class's id in the school's system, and a line for each taker."""

    title: str
    address: str
    lines: Sequence[Line]
    source: str = ""


def moodle(sheet: Sheet) -> bytes:
    """A table for Moodle (Grades, Import, CSV file): people by ID number, the score from 0 to 100 as a grade item named like the test."""
    rows = [["ID number", "Name", sheet.title, "Grade in words"]]
    rows += [[line.source, line.name, _score(line), line.grade] for line in sheet.lines]
    return _csv(rows)


def canvas(sheet: Sheet) -> bytes:
    """A table for Canvas (Grades, Import): people by SIS User ID, the score as an assignment of 100 points named like the test."""
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", sheet.title], ["    Points Possible", "", "", "", "", "100"]]
    rows += [[line.name, "", line.source, "", "", _score(line)] for line in sheet.lines]
    return _csv(rows)


def oneroster(sheet: Sheet) -> bytes:
    """A zip of OneRoster 1.1 CSV files: a line item for the test, a result for each taker who has an id in the school's system."""
    item, category = (str(uuid5(NAMESPACE_URL, f"{sheet.address} {part}")) for part in ("item", "category"))
    day = min((line.ended for line in sheet.lines if line.ended is not None), default=None)
    dates = [day.strftime("%Y-%m-%d") if day is not None else ""] * 2
    files = {
        "manifest.csv": [
            ["propertyName", "value"],
            ["manifest.version", "1.0"],
            ["oneroster.version", "1.1"],
            *([f"file.{name}", "absent"] for name in ("academicSessions", "classes", "classResources", "courses", "courseResources")),
            *([f"file.{name}", "absent"] for name in ("demographics", "enrollments", "orgs", "resources", "users")),
            *([f"file.{name}", "bulk"] for name in ("categories", "lineItems", "results")),
            ["source.systemName", "Quaestor"],
        ],
        "categories.csv": [["sourcedId", "status", "dateLastModified", "title"], [category, "", "", "Tests"]],
        "lineItems.csv": [
            [
                *("sourcedId", "status", "dateLastModified", "title", "description", "assignDate", "dueDate"),
                *("classSourcedId", "categorySourcedId", "gradingPeriodSourcedId", "resultValueMin", "resultValueMax"),
            ],
            [item, "", "", sheet.title, "", *dates, sheet.source, category, "", "0", "100"],
        ],
        "results.csv": [
            [
                "sourcedId",
                "status",
                "dateLastModified",
                "lineItemSourcedId",
                "studentSourcedId",
                "scoreStatus",
                "score",
                "scoreDate",
                "comment",
            ],
            *(_result(item, line) for line in sheet.lines if line.source),
        ],
    }
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        for name, rows in files.items():
            made.writestr(zipfile.ZipInfo(name, _BEGIN), _csv(rows, mark=False))
    return written.getvalue()


def _result(item: str, line: Line) -> list[str]:
    state = "not submitted" if line.ended is None else "submitted" if line.score is None else "fully graded"
    day = line.ended.strftime("%Y-%m-%d") if line.ended is not None else ""
    return [str(uuid5(NAMESPACE_URL, f"{item} {line.source}")), "", "", item, line.source, state, _score(line), day, line.grade]


def xapi(sheet: Sheet) -> bytes:
    """xAPI 1.0.3 statements as JSON, one for each attempt that is over. An actor is the id in the school's system, or a name for the
    attempt that says nothing of the person; a corrected result is a statement of its own.
    """
    home = sheet.address.rsplit("/", 2)[0]
    definition = {"type": "http://adlnet.gov/expapi/activities/assessment", "name": {"und": sheet.title}}
    test = {"objectType": "Activity", "id": sheet.address, "definition": definition}
    statements: list[dict[str, Any]] = []
    for line in sheet.lines:
        if line.ended is None:
            continue
        who = line.source or str(uuid5(NAMESPACE_URL, f"{sheet.address} {line.attempt}"))
        result: dict[str, Any] = {
            "completion": True,
            "duration": f"PT{round(60 * line.minutes)}S",
            "extensions": {f"{home}/{_LEVELS}": line.levels},
        }
        if line.score is not None:
            result["score"] = {"scaled": round(line.score / 100, 4), "raw": line.score, "min": 0, "max": 100}
        statements.append(
            {
                "id": str(uuid5(NAMESPACE_URL, f"{sheet.address} {line.attempt} {line.revision}")),
                "actor": {"objectType": "Agent", "account": {"homePage": home, "name": who}},
                "verb": {"id": "http://adlnet.gov/expapi/verbs/completed", "display": {"en": "completed"}},
                "object": test,
                "result": result,
                "context": {"platform": "Quaestor"},
                "timestamp": line.ended.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        )
    return json.dumps(statements, ensure_ascii=False, indent=1).encode()


def _score(line: Line) -> str:
    return "" if line.score is None else f"{line.score:.2f}"


def _csv(rows: Sequence[Sequence[str]], mark: bool = True) -> bytes:
    written = StringIO()
    csv.writer(written, lineterminator="\r\n").writerows([neutral(cell) for cell in row] for row in rows)
    return written.getvalue().encode("utf-8-sig" if mark else "utf-8")
