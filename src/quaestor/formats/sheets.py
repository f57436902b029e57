"""Banks as sheets: of questions, skills and templates, with a row each, and of the fields of the bank itself.

An XLSX file has the sheets `bank`, `skills`, `templates` and `questions`; only the last is required. Sheets of questions and skills are
also found by their columns, whatever they are called. A CSV file stacks the sheets, with a first column `sheet`; without that column
every row is a question. In a file without skills, those that the questions name have levels no and yes.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

from quaestor.bankfile.readers import UNREADABLE
from quaestor.bankfile.schema import BANK_FIELDS, QUESTION_FIELDS, SKILL_FIELDS, TEMPLATE_FIELDS
from quaestor.errors import BankError, Locate, Problem, closest, format_value, nearest
from quaestor.extras import from_extra
from quaestor.formats.cells import read_cell, write_cell
from quaestor.formats.limits import LARGEST_FILE, MOST_VALUES, refusal
from quaestor.formats.workbooks import TIMES, worksheets
from quaestor.i18n import Said, say, together

SECTIONS = {"skills": SKILL_FIELDS, "templates": TEMPLATE_FIELDS, "questions": QUESTION_FIELDS}
SHEETS: dict[str, tuple[str, ...]] = {
    "bank": ("field", "value"),
    **{section: ("id", *fields) for section, fields in SECTIONS.items()},
}
_BANK = [field for field in BANK_FIELDS if field not in SECTIONS]
_MOST_COLUMNS, _MOST_ROWS = 200, 1_048_576  # columns with a name; rows, which is the limit of spreadsheet programs
_HIGHEST_HEADER = 20  # the last row in which a sheet of another name has the names of its columns
_BY_COLUMNS = ("questions", "skills")
_LONGEST_CELL = {".csv": 131_072, ".xlsx": 32_767}  # characters; the limits of the csv module and of XLSX
_WIDTHS = {"text": 60, "explanation": 60, "description": 60, "options": 40, "pairs": 40, "gaps": 40, "table": 40, "value": 60}

Sheets = dict[str, list[dict[str, Any]]]
Header = list[str | None]  # the column of each cell: '' where it has no name, None where its name is unknown or there twice


class Read(NamedTuple):
    """What was read of a file: its document, a function from a place to its row and column, and what could not be read.

    A field that could not be read is `UNREADABLE` in the document.
    """

    document: dict[str, Any]
    locate: Locate
    problems: list[Problem]


class Line(NamedTuple):
    """A row: what it is a row of, the sheet's title (empty in a CSV file), its number, its cells by column, and where the columns are."""

    section: str
    title: str
    number: int
    cells: dict[str, Any]
    header: Header

    def where(self, column: str = "") -> Said:
        """The row, and perhaps the column, in words."""
        named = column in self.header
        values: dict[str, Any] = {"row": self.number} | ({"column": _letters(self.header.index(column) + 1)} if named else {})
        if not self.title:
            return say("row {row}, column {column}", **values) if named else say("row {row}", **values)
        if named:
            return say("sheet {sheet}, row {row}, column {column}", sheet=self.title, **values)
        return say("sheet {sheet}, row {row}", sheet=self.title, **values)


def read_csv(text: str) -> Read:
    """What is in a CSV file."""
    first = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    lines: list[tuple[int, list[str]]] = []  # those with something in them
    count = 0
    try:
        for number, line in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), start=1):
            count += len(line)
            if count > MOST_VALUES:
                raise refusal(say("a file has at most {most:,} values", most=MOST_VALUES), say("more"))
            if number > _MOST_ROWS:
                raise refusal(say("a sheet has at most {most:,} rows", most=_MOST_ROWS), say("more"))
            if any(written := [cell.strip() for cell in line]):
                lines.append((number, written))
    except csv.Error as error:
        raise refusal(say("the file is valid CSV"), error) from error
    if not lines:
        raise refusal(say("a file has content"), say("an empty file"))
    known = {"sheet", *(column for columns in SHEETS.values() for column in columns)}
    header, problems = _header("file", "", lines[0][1], known, lines[0][0])
    found = []
    for number, line in lines[1:]:
        cells = _by_column(header, line)
        found.append(Line(str(cells.pop("sheet", "")).lower() or "questions", "", number, cells, header))
    return _assemble(found, problems)


def read_xlsx(data: bytes) -> Read:
    """What is in an XLSX file: in sheets of the names in `SHEETS`, or, of questions and skills, in those with such columns."""
    found: list[Line] = []
    problems: list[Problem] = []
    with worksheets(data) as (pages, width):
        for page, section in _sections(pages, width):
            lines, wrong = _xlsx_lines(section, page, width)
            found += lines
            problems += wrong
        titles = [page.title for page in pages]
    if not problems and not any(line.section == "questions" for line in found):
        rule = say("a workbook has a sheet of questions: one with the columns id, skill, text and others")
        raise refusal(rule, say("the sheets {names}", names=", ".join(f"'{title}'" for title in titles)))
    return _assemble(found, problems)


def _sections(pages: Sequence[Any], width: int) -> Iterator[tuple[Any, str]]:
    """The worksheets that hold something, each with what: by name, or by its columns where no sheet has that name."""
    named = {page.title.strip().lower() for page in pages} & set(SHEETS)
    for page in pages:
        title = page.title.strip().lower()
        if title in SHEETS:
            yield page, title
        else:
            first = page.iter_rows(max_row=_HIGHEST_HEADER, max_col=width, values_only=True)
            top = next((line for line in first if any(map(_is_written, line))), ())
            columns = {str(cell).strip().lower() for cell in top if _is_written(cell)}
            likely = max(_BY_COLUMNS, key=lambda section: len(columns & set(SHEETS[section])))
            if "id" in columns and likely not in named and len(columns & set(SHEETS[likely])) > max(1, len(columns) / 2):
                yield page, likely


def _is_written(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _xlsx_lines(section: str, page: Any, width: int) -> tuple[list[Line], list[Problem]]:
    header: Header = []
    found: list[Line] = []
    problems: list[Problem] = []
    title, letters = page.title.strip(), 0
    for number, line in enumerate(page.iter_rows(max_col=width, values_only=True), start=1):
        if number > _MOST_ROWS:
            raise refusal(say("a sheet has at most {most:,} rows", most=_MOST_ROWS), say("more"))
        if not header:
            header, problems = _header(section, title, [str(cell or "").strip() for cell in line], SHEETS[section], number)
        elif line.count(None) < len(line):
            cells = _by_column(header, [_cell_text(value) for value in line])
            if any(cells.values()):
                found.append(Line(section, title, number, cells, header))
                letters += sum(len(cell) for cell in cells.values() if isinstance(cell, str))
                if letters > LARGEST_FILE:  # a text that many cells share is there once in the file
                    rule = say("the cells of a sheet hold at most {most:,} characters", most=LARGEST_FILE)
                    raise refusal(rule, say("more"), where=found[-1].where())
    return found, problems


def _by_column(header: Sequence[str | None], line: Sequence[Any]) -> dict[str, Any]:
    """The cells of a row by column; the first cell without a column name has the key ''."""
    pairs = list(itertools.zip_longest(header, line, fillvalue=""))
    cells = {column: cell for column, cell in pairs if column}
    cells[""] = next((cell for column, cell in pairs if cell and column == ""), "")
    return cells


def _cell_text(value: Any) -> Any:
    """What a cell holds as text; what a spreadsheet program took for a date is left as it is."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, TIMES) else str(value).strip()


def _header(sheet: str, title: str, line: Sequence[str], known: Iterable[str], row: int) -> tuple[Header, list[Problem]]:
    """The columns of a sheet, and those that are unknown or repeated; one that is near a known column is read as that one.

    The hint lists the known ones, for a CSV file without `sheet` those of questions.
    """
    names, known = [cell.lower() for cell in line], list(known)
    while names and not names[-1]:
        names.pop()
    if sum(map(bool, names)) > _MOST_COLUMNS:
        raise refusal(say("a sheet has at most {most} columns", most=_MOST_COLUMNS), f"{sum(map(bool, names)):,}")
    listed = SHEETS["questions"] if sheet == "file" and "sheet" not in names else known
    hint = say("known columns: {columns}", columns=", ".join(listed))
    header: Header = []
    problems = []
    for name in names:
        meant = closest(name, known) if name and name not in known else name
        taken = meant in header or (meant != name and meant in names)
        header.append(None if meant and taken else meant or (None if name else ""))
        where = Line(sheet, title, row, {}, [*[""] * (len(header) - 1), name]).where(name)
        if name and name not in known:
            hints = [text for text in (nearest(name, known), hint) if text]
            problems.append(Problem(sheet, say("unknown column"), f"'{name}'", together(hints, " "), where=where))
        elif name and taken:
            problems.append(Problem(sheet, say("each column is there once"), f"'{name}'", where=where))
    return header, problems


def _assemble(lines: Iterable[Line], problems: list[Problem]) -> Read:
    """The document of some rows; `problems`: those of the headers."""
    document: dict[str, Any] = {}
    rows: dict[str, Line] = {}
    for line in lines:
        section, cells = line.section, line.cells
        if dated := [column for column in ("id", "field", "value") if isinstance(cells.get(column), TIMES)]:
            problems.append(_a_date(section, line, dated[0]))
            continue
        if stray := cells.pop("", ""):
            hint = "" if line.title else say("text with a separator in it is put between quotes")
            rule = say("each cell has a column's name above it")
            problems.append(Problem(section, rule, format_value(str(stray)), hint, where=line.where()))
        if section == "bank":
            name = place = str(cells.get("field", ""))
            target, content = document, cells.get("value", "")
            if name not in _BANK:
                problems.append(Problem("bank", say("unknown field"), f"'{name}'", nearest(name, _BANK), where=line.where("field")))
                continue
        elif section in SECTIONS:
            name, target = str(cells.pop("id", "")), document.setdefault(section, {})
            place = f"{section}.{name}"
            content, wrong = _fields(place, line)
            problems += wrong
        else:
            rule = say("one of {words} is expected", words=", ".join(SHEETS))
            problems.append(Problem("sheet", rule, f"'{section}'", where=line.where("sheet")))
            continue
        if not name:
            problems.append(Problem(section, say("each row has an id"), say("none"), where=line.where("id")))
        elif name in target:
            problems.append(Problem(place, say("each id is used once"), f"'{name}'", where=line.where("id")))
        else:
            target[name] = content
            rows[place] = line
    _add_skills(document)

    def locate(place: str) -> str:
        entry = place
        while entry and entry not in rows:
            entry = entry[: max(entry.rfind("."), entry.rfind("["), 0)]
        column = re.split(r"[.\[]", place[len(entry) + 1 :])[0]
        return rows[entry].where(column) if entry else ""

    return Read(document, locate, problems)


def _a_date(place: str, line: Line, column: str) -> Problem:
    found, hint = say("a date, {date}", date=line.cells[column]), say("format the column as text")
    return Problem(place, say("a cell holds text or a number"), found, hint, where=line.where(column))


def _fields(place: str, line: Line) -> tuple[dict[str, Any], list[Problem]]:
    """The fields of a row, and what is wrong with its cells."""
    content: dict[str, Any] = {}
    problems: list[Problem] = []
    for column, value in line.cells.items():
        if isinstance(value, TIMES):
            problems.append(_a_date(f"{place}.{column}", line, column))
            content[column] = UNREADABLE
        elif value != "":
            try:
                content[column] = read_cell(column, value)
            except BankError as error:
                problems += [Problem(f"{place}.{column}", p.rule, p.value, p.hint, where=line.where(column)) for p in error.problems]
                content[column] = UNREADABLE
    return content, problems


def _add_skills(document: dict[str, Any]) -> None:
    """Without any sheet of skills, add the skills that questions and templates name, with default fields."""
    skills = document.setdefault("skills", {})
    described = bool(skills)
    for fields in (*document.get("questions", {}).values(), *document.get("templates", {}).values()):
        names = fields.get("skills", [fields["skill"]] if "skill" in fields else [])
        if not described and isinstance(names, list):
            for name in names:
                skills.setdefault(str(name), {})


def _sheets(document: dict[str, Any], ending: str) -> Sheets:
    """The rows of each sheet of a bank; empty sheets are left out."""
    sheets: Sheets = {"bank": [{"field": name, "value": document[name]} for name in _BANK if name in document]}
    for section in SECTIONS:
        entries = document.get(section, {})
        sheets[section] = [
            {"id": name, **{field: write_cell(field, value) for field, value in fields.items()}} for name, fields in entries.items()
        ]
    rule = say("a cell of {ending} has at most {most:,} characters", ending=ending, most=_LONGEST_CELL[ending])
    problems = [
        Problem(f"{sheet}.{row['id']}.{column}", rule, f"{len(cell):,}")
        for sheet in SECTIONS
        for row in sheets[sheet]
        for column, cell in row.items()
        if isinstance(cell, str) and len(cell) > _LONGEST_CELL[ending]
    ]
    if problems:
        raise BankError(problems)
    return {sheet: rows for sheet, rows in sheets.items() if rows}


def _columns(sheet: str, rows: Iterable[dict[str, Any]]) -> list[str]:
    used = {column for row in rows for column in row}
    return [column for column in SHEETS[sheet] if column in used]


def write_csv(document: dict[str, Any]) -> str:
    """A document as one CSV table with a first column `sheet`."""
    sheets = _sheets(document, ".csv")
    columns = list(dict.fromkeys(column for sheet, rows in sheets.items() for column in _columns(sheet, rows)))
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, ["sheet", *columns])
    writer.writeheader()
    for sheet, rows in sheets.items():
        writer.writerows({"sheet": sheet, **row} for row in rows)
    return buffer.getvalue()


def write_xlsx(document: dict[str, Any], every_column: bool = False, about: tuple[str, list[list[str]]] | None = None) -> bytes:
    """A document as a workbook; `every_column`: with the columns that no row uses, as a form to fill in; `about`: a last sheet of notes."""
    with from_extra():
        from openpyxl import Workbook

    book = Workbook(write_only=True)
    for sheet, rows in _sheets(document, ".xlsx").items():
        columns = list(SHEETS[sheet]) if every_column else _columns(sheet, rows)
        page = book.create_sheet(sheet)
        page.freeze_panes = "B2"
        for number, column in enumerate(columns):
            page.column_dimensions[_letters(number + 1)].width = _WIDTHS.get(column, 18)
        page.append([_text_cell(page, column, bold=True) for column in columns])
        for row in rows:
            page.append([_text_cell(page, row.get(column)) for column in columns])
    if about is not None:
        page = book.create_sheet(about[0])
        page.freeze_panes = "A2"
        page.column_dimensions["C"].width = 90
        for number, texts in enumerate(about[1]):
            page.append([_text_cell(page, text, bold=not number) for text in texts])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _letters(column: int) -> str:
    """A column as spreadsheet programs name it: 1 as A, 27 as AA."""
    more, last = divmod(column - 1, 26)
    return (_letters(more) if more else "") + ascii_uppercase[last]


def _text_cell(page: Any, value: Any, bold: bool = False) -> Any:
    """A cell; texts have the text format, so that a spreadsheet program does not turn `1/2` into a date or `=x` into a formula."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font

    if isinstance(value, float) and float(f"{value:.16g}") != value:
        value = repr(value)  # openpyxl writes 16 digits, this number needs 17
    cell = WriteOnlyCell(page, value=value)
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    cell.font = Font(bold=bold)
    if value is None or isinstance(value, str):
        cell.number_format = "@"
    if isinstance(value, str):
        cell.data_type = "s"
    return cell
