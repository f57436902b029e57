"""Class lists out of files: names in text, CSV and XLSX, and OneRoster zips; hostile ones are refused in words."""

import io
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook

from helpers.paths import SHARED
from quaestor.errors import QuaestorError
from quaestor.formats import oneroster
from quaestor.formats.name_lists import MOST_NAMES, from_file, pasted, refuse_formulas
from quaestor.formats.oneroster import read_roster

USERS = "sourcedId,status,enabledUser,role,givenName,familyName,password\n"
ENROLMENTS = "sourcedId,status,classSourcedId,userSourcedId,role\n"
CLASSES = "sourcedId,status,title,classCode\n"


def sheet(*rows):
    book = Workbook()
    for row in rows:
        book.active.append(row)
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def zipped(**files):
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(f"{name}.csv", content)
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.txt", b"Ada Berg\n\nBen  Ott\n"),
        ("list.csv", "Vorname;Nachname;Klasse\r\nAda;Berg;5a\r\nBen;Ott;5a\r\n".encode("utf-8-sig")),
        ("list.csv", "Nom,Prénom\nBerg,Ada\nOtt,Ben\n".encode("cp1252")),
        ("list.csv", "Ada\tBerg\nBen\tOtt\n".encode("utf-16")),
        ("LIST.XLSX", sheet(["No", "First name", "Last name"], [1, "Ada", "Berg"], [None, None, None], [2, "Ben", "Ott"])),
        ("list.xlsx", sheet(["Ada Berg"], ["Ben", "Ott"])),
    ],
)
def test_names_in_files(name, content):
    assert from_file(name, content) == ["Ada Berg", "Ben Ott"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("list.txt", b"\x00\x01\x02\x03" * 10, "the file is no text that can be read"),
        ("list.csv", b"Ada\n\x81\x8d\n", "the file is no text that can be read"),
        ("list.xlsx", b"PK\x03\x04 nothing", "the file is no valid XLSX workbook"),
        ("list.csv", b"Ada,B\n" * 1_000_000, "a class list has at most 2000 names, got more"),
        ("list.txt", b"Ada\n" * 1_000_000, "a class list has at most 2000 names, got more"),
        ("list.xlsx", sheet(*([f"Pupil {number}"] for number in range(MOST_NAMES + 1))), "a class list has at most 2000 names, got more"),
    ],
)
def test_files_that_are_no_class_list_are_refused_in_words(name, content, words):
    with pytest.raises(QuaestorError, match=words):
        from_file(name, content)


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "+49"])
def test_a_formula_is_no_name(name):
    with pytest.raises(QuaestorError, match=r"a name does not begin with =, \+ or @, as a formula does, got .* \(line 2\)"):
        refuse_formulas(["Ada", name])
    assert pasted(f"Ada\n{name}") == ["Ada", name]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the samples of the exchange formats are not there (../shared)")
@pytest.mark.parametrize("version", ["1p1", "1p2"])
def test_the_samples(version):
    content = (SHARED / "exchange" / "oneroster" / f"roster-{version}.zip").read_bytes()
    roster = read_roster(content)
    assert [(one.title, [pupil.name for pupil in one.pupils]) for one in roster.classes] == [
        ("Mathematics 5a", ["Pupil One", "Pupil Two"]),
        ("Mathematics 5b, evening", []),
    ]
    assert [pupil.source for pupil in roster.classes[0].pupils] == ["user-1", "user-2"]
    told = " ".join(roster.notes)
    assert "1 enrolment names somebody who is not in the file: enr-6 (user-9)." in told
    assert "1 pupil is disabled in that system and left out: Pupil Three." in told
    assert "1 in these classes is no pupil and left out: Teacher One." in told
    assert ("another preferred name" in told) == (version == "1p2")
    assert "Guardian" not in repr(roster)


def test_a_roster_never_holds_a_password_and_tells_pupils_of_one_name_apart():
    users = USERS + "u1,,true,student,Ada,Berg,hunter2\nu2,,true,student,ada,berg,hunter2\nu3,tobedeleted,true,student,Old,One,hunter2\n"
    users += "u4,,true,guardian,Mum,Berg,\nu5,,true,student,,,\n"
    enrolments = ENROLMENTS + "".join(f"e{number},,c1,u{number},student\n" for number in range(1, 6)) + "e6,,c9,u1,student\n"
    roster = read_roster(zipped(classes=CLASSES + "c1,,,MA5\n", users=users, enrollments=enrolments))
    assert [pupil.name for pupil in roster.classes[0].pupils] == ["Ada Berg (u1)", "ada berg (u2)"]
    assert roster.classes[0].title == "MA5"
    assert "hunter2" not in repr(roster)
    told = " ".join(roster.notes)
    for words in (
        "e3 (u3)",
        "no pupil and left out: Mum Berg",
        "1 pupil has no name and is left out: u5",
        "a class that is not in the file: e6",
    ):
        assert words in told


def test_hostile_rosters_are_refused_in_words(monkeypatch):
    good = {"classes": CLASSES + "c1,,5a,\n", "users": USERS, "enrollments": ENROLMENTS}
    bomb = zipped(**{**good, "users": USERS + "x" * 60_000_000})
    assert len(bomb) < 200_000
    locked = zipped(**good).replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01")
    rows = zipped(**{**good, "enrollments": ENROLMENTS + "e,,c1,u1,student\n" * 200_001})
    classes = zipped(**{**good, "classes": CLASSES + "".join(f"c{number},,5a,\n" for number in range(501))})
    for content, words in (
        (b"PK\x03\x04 nothing", "no zip that can be read"),
        (zipped(classes=CLASSES, users=USERS), "a OneRoster file has enrollments.csv, got none"),
        (bomb, "at most 50,000,000 bytes when unpacked, got more"),
        (locked, "no zip that can be read"),
        (rows, "enrollments.csv has at most 200,000 rows here, got more"),
        (classes, "a OneRoster file has at most 500 classes here, got 501"),
        (
            zipped(**{**good, "users": (USERS + "u1,,true,student,Zoë,B,\n").encode("cp1252")}),
            "users.csv is encoded as UTF-8, got byte 0xeb",
        ),
        (zipped(**{**good, "manifest": "propertyName,value\noneroster.version,2.0\n"}), "version 1.1, 1.2 of OneRoster, got '2.0'"),
        (zipped(**good, **{f"x{number}": "" for number in range(200)}), "at most 200 parts, got 203"),
        (zipped(**{**good, "users": USERS + '"' + "x" * 200_000}), "users.csv is valid CSV, got field larger"),
    ):
        with pytest.raises(QuaestorError, match=words):
            read_roster(content)
    monkeypatch.setattr(oneroster, "MOST_NAMES", 0)
    many = {**good, "users": USERS + "u1,,true,student,Ada,B,\n", "enrollments": ENROLMENTS + "e1,,c1,u1,student\n"}
    with pytest.raises(QuaestorError, match="a class list has at most 0 names, got 1: 5a"):
        read_roster(zipped(**many))
