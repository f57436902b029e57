"""Class lists of a school's own system: zips of CSV files after OneRoster 1.1 and 1.2.

Read are `classes.csv`, `users.csv`, `enrollments.csv` and, in 1.2, `roles.csv`: which pupils are in which class, by name and by their id
there. Everything else stays where it is, passwords first of all. What is left out is told: teachers and guardians are no pupils, who is
disabled there gets no code here, and an enrolment of nobody is named.
"""

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from quaestor.errors import QuaestorError, format_value, got
from quaestor.formats.name_lists import MOST_NAMES
from quaestor.i18n import listed, say

VERSIONS = ("1.1", "1.2")
MOST_CLASSES, MOST_ROWS = 500, 200_000
LARGEST = 50_000_000  # bytes of all files when unpacked
_MOST_PARTS = 200
_MOST_NAMED = 10  # in one sentence
_READ = ("manifest", "classes", "users", "enrollments", "roles")
_COLUMNS = {
    "manifest": ("propertyName", "value"),
    "classes": ("sourcedId", "status", "title", "classCode"),
    "users": ("sourcedId", "status", "enabledUser", "role", "givenName", "familyName", "preferredGivenName", "preferredFamilyName"),
    "enrollments": ("sourcedId", "status", "classSourcedId", "userSourcedId", "role"),
    "roles": ("status", "userSourcedId", "role"),
}
_PUPIL, _GONE = "student", "tobedeleted"
Row = dict[str, str]


@dataclass(frozen=True)
class RosterPupil:
    """A pupil, by the id in the school's own system."""

    source: str
    name: str


@dataclass(frozen=True)
class RosterClass:
    """A class, by its id there."""

    source: str
    title: str
    pupils: tuple[RosterPupil, ...]


@dataclass(frozen=True)
class Roster:
    """The classes of a file, and what of it was left out or looks wrong, in words."""

    classes: tuple[RosterClass, ...]
    notes: tuple[str, ...]


def read_roster(content: bytes) -> Roster:
    """The classes of a OneRoster zip with their pupils; QuaestorError where it cannot be read."""
    files = _files(content)
    for name in ("classes", "users", "enrollments"):
        if name not in files:
            raise QuaestorError(got(say("a OneRoster file has {name}", name=f"{name}.csv"), say("none")))
    version = next((row["value"] for row in files.get("manifest", ()) if row["propertyName"] == "oneroster.version"), "")
    if version and version not in VERSIONS:
        raise QuaestorError(got(say("version {versions} of OneRoster", versions=", ".join(VERSIONS)), format_value(version)))
    return _assembled(files)


def _assembled(files: Mapping[str, list[Row]]) -> Roster:
    """The classes of the rows that were read."""
    users = {row["sourcedId"]: row for row in files["users"] if row["status"].lower() != _GONE}
    roles: dict[str, set[str]] = {}
    for row in (*files.get("roles", ()), *({**row, "userSourcedId": row["sourcedId"]} for row in files["users"])):
        if row["role"] and row["status"].lower() != _GONE:
            roles.setdefault(row["userSourcedId"], set()).add(row["role"].lower())
    seen = _Seen(users, roles)
    titles = {row["sourcedId"]: row["title"] or row["classCode"] or row["sourcedId"] for row in files["classes"] if _is_there(row)}
    if len(titles) > MOST_CLASSES:
        raise QuaestorError(got(say("a OneRoster file has at most {most} classes here", most=MOST_CLASSES), f"{len(titles):,}"))
    members: dict[str, dict[str, RosterPupil]] = {source: {} for source in titles}
    for row in filter(_is_there, files["enrollments"]):
        if row["classSourcedId"] not in titles:
            seen.nowhere.append(row["sourcedId"])
        elif (pupil := seen.pupil(row)) is not None:
            members[row["classSourcedId"]][pupil.source] = pupil
    classes = tuple(RosterClass(source, title, _told_apart(members[source].values())) for source, title in titles.items())
    for one in classes:
        if len(one.pupils) > MOST_NAMES:
            raise QuaestorError(got(say("a class list has at most {most} names", most=MOST_NAMES), f"{len(one.pupils)}: {one.title}"))
    return Roster(classes, tuple(seen.notes()))


def _is_there(row: Row) -> bool:
    return row["status"].lower() != _GONE and bool(row["sourcedId"])


def _told_apart(pupils: Iterable[RosterPupil]) -> tuple[RosterPupil, ...]:
    """Pupils of one name get their ids behind it."""
    found = tuple(pupils)
    names = Counter(one.name.casefold() for one in found)
    return tuple(RosterPupil(one.source, f"{one.name} ({one.source})") if names[one.name.casefold()] > 1 else one for one in found)


@dataclass
class _Seen:
    """Who is met in enrolments, and what is to be told of it."""

    users: Mapping[str, Row]
    roles: Mapping[str, set[str]]
    nobody: list[str] = field(default_factory=list)
    nowhere: list[str] = field(default_factory=list)
    disabled: dict[str, None] = field(default_factory=dict)
    nameless: list[str] = field(default_factory=list)
    preferred: dict[str, None] = field(default_factory=dict)
    others: dict[str, None] = field(default_factory=dict)

    def pupil(self, row: Row) -> RosterPupil | None:
        """The pupil of an enrolment; None where it is of somebody else, or of nobody."""
        number, role = row["userSourcedId"], row["role"].lower()
        user = self.users.get(number)
        if user is None:
            self.nobody.append(f"{row['sourcedId']} ({number})")
            return None
        name = " ".join(f"{user['givenName']} {user['familyName']}".split())
        known = self.roles.get(number, set())
        if (role or _PUPIL) != _PUPIL or (known and _PUPIL not in known):
            self.others[name or number] = None
        elif user["enabledUser"].lower() == "false":
            self.disabled[name or number] = None
        elif not name:
            self.nameless.append(number)
        else:
            if user["preferredGivenName"] or user["preferredFamilyName"]:
                self.preferred[name] = None
            return RosterPupil(number, name)
        return None

    def notes(self) -> Iterator[str]:
        """What is to be told."""
        if self.nobody:
            yield say("{count} {count:enrolment names|enrolments name} somebody who is not in the file: {names}.", **_few(self.nobody))
        if self.nowhere:
            yield say("{count} {count:enrolment names|enrolments name} a class that is not in the file: {names}.", **_few(self.nowhere))
        if self.disabled:
            yield say("{count} {count:pupil is|pupils are} disabled in that system and left out: {names}.", **_few(self.disabled))
        if self.nameless:
            yield say("{count} {count:pupil has|pupils have} no name and {count:is|are} left out: {names}.", **_few(self.nameless))
        if self.others:
            yield say("{count} in these classes {count:is no pupil|are no pupils} and left out: {names}.", **_few(self.others))
        if self.preferred:
            yield say("{count} {count:pupil has|pupils have} another preferred name, which is not used: {names}.", **_few(self.preferred))


def _few(names: Iterable[str]) -> dict[str, object]:
    some = list(names)
    more = [say("{count} more", count=len(some) - _MOST_NAMED)] if len(some) > _MOST_NAMED else []
    return {"count": len(some), "names": listed([*some[:_MOST_NAMED], *more])}


def _called(part: str) -> str:
    """The name of a part of the zip, without folder and ending; empty for what is none of ours."""
    name = part.replace("\\", "/").rpartition("/")[2].lower()
    return name.removesuffix(".csv") if name.endswith(".csv") else ""


def _files(content: bytes) -> dict[str, list[Row]]:
    """The rows of the files that are read; sizes are counted as they unpack, whatever the zip says of them."""
    left, found = LARGEST, {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            parts = packed.infolist()
            if len(parts) > _MOST_PARTS:
                raise QuaestorError(got(say("a OneRoster file has at most {most} parts", most=_MOST_PARTS), f"{len(parts):,}"))
            for part in parts:
                name = _called(part.filename)
                if name not in _READ or name in found:
                    continue
                with packed.open(part) as stream:
                    data = stream.read(left + 1)
                left -= len(data)
                if left < 0:
                    raise QuaestorError(got(say("a OneRoster file has at most {most:,} bytes when unpacked", most=LARGEST), say("more")))
                found[name] = list(_rows(name, data))
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, ValueError) as error:
        raise QuaestorError(say("the file is no zip that can be read; export it again from your school's system")) from error
    return found


def _rows(name: str, data: bytes) -> Iterator[Row]:
    """The rows of one file, with the columns that are read and no others: passwords are never looked at."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = say("byte {byte:#04x} at position {position}", byte=data[error.start], position=error.start)
        raise QuaestorError(got(say("{name} is encoded as UTF-8", name=f"{name}.csv"), found)) from error
    try:
        lines = csv.reader(io.StringIO(text, newline=""))
        header = [cell.strip() for cell in next(lines, [])]
        places = {column: header.index(column) for column in _COLUMNS[name] if column in header}
        for number, line in enumerate(lines, 1):
            if number > MOST_ROWS:
                raise QuaestorError(got(say("{name} has at most {most:,} rows here", name=f"{name}.csv", most=MOST_ROWS), say("more")))
            if line:
                yield {column: _cell(line, places.get(column)) for column in _COLUMNS[name]}
    except csv.Error as error:
        raise QuaestorError(got(say("{name} is valid CSV", name=f"{name}.csv"), str(error))) from error


def _cell(line: list[str], place: int | None) -> str:
    return " ".join(line[place].split())[:200] if place is not None and place < len(line) else ""
