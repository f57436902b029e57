"""Banks as sheets: of questions, skills and templates, with a row each, and of the fields of the bank itself.

An XLSX file has the sheets `bank`, `skills`, `templates` and `questions`; only the last is required. A CSV file stacks them, with a first
column `sheet`; without that column every row is a question. In a file without skills, those that the questions name have levels no and yes.
"""

import csv
import datetime
import io
import itertools
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from quaestor.bankfile.schema import BANK_FIELDS, QUESTION_FIELDS, SKILL_FIELDS, TEMPLATE_FIELDS
from quaestor.errors import BankError, Locate, Problem, format_value, nearest
from quaestor.formats.cells import read_cell, write_cell
from quaestor.formats.limits import LARGEST_SHEET, refusal
from quaestor.i18n import say, together

SECTIONS = {"skills": SKILL_FIELDS, "templates": TEMPLATE_FIELDS, "questions": QUESTION_FIELDS}
SHEETS: dict[str, tuple[str, ...]] = {
    "bank": ("field", "value"),
    **{section: ("id", *fields) for section, fields in SECTIONS.items()},
}
_BANK = [field for field in BANK_FIELDS if field not in SECTIONS]
_MOST_COLUMNS, _MOST_ROWS = 200, 1_048_576  # columns with a name; rows, which is the limit of spreadsheet programs
_LONGEST_CELL = {".csv": 131_072, ".xlsx": 32_767}  # characters; the limits of the csv module and of XLSX
_WIDTHS = {"text": 60, "explanation": 60, "description": 60, "options": 40, "table": 40, "value": 60}

Row = tuple[str, int, dict[str, str]]  # sheet, row number, cells by column
Sheets = dict[str, list[dict[str, Any]]]


def read_csv(text: str) -> tuple[dict[str, Any], Locate]:
    """The document in a CSV file, and a function from a place to its row."""
    first = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)]
    except csv.Error as error:
        raise refusal(say("the file is valid CSV"), error) from error
    top = next((number for number, line in enumerate(lines) if any(line)), None)
    if top is None:
        raise refusal(say("a file has content"), say("an empty file"))
    header = [column.lower() for column in lines[top]]
    known = {"sheet", *(column for columns in SHEETS.values() for column in columns)}
    _check_header("file", header, known, top + 1)
    rows: list[Row] = []
    for number, line in enumerate(lines[top + 1 :], start=top + 2):
        cells = _by_column(header, line)
        if any(line):
            rows.append((cells.pop("sheet", "").lower() or "questions", number, cells))
    return _assemble(rows, "row")


def read_xlsx(data: bytes) -> tuple[dict[str, Any], Locate]:
    """The document in an XLSX file, and a function from a place to its sheet and row."""
    from openpyxl import load_workbook  # only here, as below: it takes long to import

    rows: list[Row] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > LARGEST_SHEET:
            rule = say("a workbook has at most {most:,} bytes when unpacked", most=LARGEST_SHEET)
            raise refusal(rule, say("{count:,} {count:byte|bytes}", count=size))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of unknown styles and extensions, which are not read
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            for page in book.worksheets:
                sheet = page.title.strip().lower()
                if sheet in SHEETS:  # other sheets, such as notes, are ignored
                    page.reset_dimensions()  # some programs write wrong dimensions, and openpyxl would stop there
                    rows += _xlsx_rows(sheet, page.iter_rows(values_only=True))
            book.close()
    except BankError:
        raise
    except Exception as error:  # a damaged workbook can raise almost anything in zipfile, the XML parser or openpyxl
        raise refusal(say("the file is a valid XLSX workbook"), f"{type(error).__name__}: {error}") from error
    return _assemble(rows, "sheet")


def _xlsx_rows(sheet: str, lines: Iterable[tuple[Any, ...]]) -> Iterator[Row]:
    header: list[str] = []
    for number, line in enumerate(lines, start=1):
        if number > _MOST_ROWS:
            raise refusal(say("a sheet has at most {most:,} rows", most=_MOST_ROWS), say("more"))
        if not header:
            header = [str(cell or "").strip().lower() for cell in line]
            while header and not header[-1]:
                header.pop()
            _check_header(sheet, header, SHEETS[sheet], number)
            continue
        if line.count(None) < len(line):
            columns = [*header, *[""] * len(line)]
            texts = [_cell_text(value, sheet, number, column) for column, value in zip(columns, line, strict=False)]
            if any(texts):
                yield sheet, number, _by_column(header, texts)


def _by_column(header: Sequence[str], line: Sequence[str]) -> dict[str, str]:
    """The cells of a row by column; the first cell without a column name has the key ''."""
    cells = dict(zip(header, line, strict=False))
    cells[""] = next((cell for column, cell in itertools.zip_longest(header, line, fillvalue="") if cell and not column), "")
    return cells


def _cell_text(value: Any, sheet: str, number: int, column: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time, datetime.timedelta)):
        where = say("row {row}, {column}", row=number, column=column)
        found, hint = say("a date, {date}", date=value), say("format the column as text")
        raise BankError([Problem(sheet, say("a cell holds text or a number"), found, hint, where=where)])
    return str(value).strip()


def _check_header(sheet: str, header: Sequence[str], known: Iterable[str], row: int) -> None:
    """Refuse unknown and repeated columns; the hint lists the known ones, for a CSV file without `sheet` those of questions."""
    known = list(known)
    listed = SHEETS["questions"] if sheet == "file" and "sheet" not in header else known
    hint = say("known columns: {columns}", columns=", ".join(listed))
    if sum(map(bool, header)) > _MOST_COLUMNS:
        raise refusal(say("a sheet has at most {most} columns", most=_MOST_COLUMNS), f"{sum(map(bool, header)):,}")
    problems = [
        Problem(
            sheet,
            say("unknown column"),
            f"'{column}'",
            together([text for text in (nearest(column, known), hint) if text], " "),
            where=say("row {row}, column {column}", row=row, column=number),
        )
        for number, column in enumerate(header, start=1)
        if column and column not in known
    ]
    problems += [
        Problem(sheet, say("each column is there once"), f"'{column}'", where=say("row {row}", row=row))
        for column in dict.fromkeys(header)
        if header.count(column) > 1 and column
    ]
    if problems:
        raise BankError(problems)


def _assemble(rows: Iterable[Row], unit: str) -> tuple[dict[str, Any], Locate]:
    """The document of some rows, and a function from a place to its row; all problems are raised together."""
    document: dict[str, Any] = {}
    where: dict[str, str] = {}
    problems: list[Problem] = []
    for sheet, number, cells in rows:
        here = say("row {row}", row=number) if unit == "row" else say("sheet {sheet}, row {row}", sheet=sheet, row=number)
        if stray := cells.pop("", ""):
            hint = say("text with a separator in it is put between quotes") if unit == "row" else ""
            problems.append(Problem(sheet, say("each cell has a column's name above it"), format_value(stray), hint, where=here))
        if sheet == "bank":
            name, place, target = cells.get("field", ""), cells.get("field", ""), document
            content: Any = cells.get("value", "")
            if name not in _BANK:
                problems.append(Problem("bank", say("unknown field"), f"'{name}'", nearest(name, _BANK), where=here))
                continue
        elif sheet in SECTIONS:
            name, target = cells.pop("id", ""), document.setdefault(sheet, {})
            place = f"{sheet}.{name}"
            content = {}
            for column, text in ((column, text) for column, text in cells.items() if text):
                try:
                    content[column] = read_cell(column, text)
                except BankError as error:
                    problems += [Problem(f"{place}.{column}", p.rule, p.value, p.hint, where=here) for p in error.problems]
        elif unit == "row":
            problems.append(Problem("sheet", say("one of {words} is expected", words=", ".join(SHEETS)), f"'{sheet}'", where=here))
            continue
        else:
            continue
        where.setdefault(place, here)
        if not name:
            problems.append(Problem(sheet, say("each row has an id"), say("none"), where=here))
        elif name in target:
            problems.append(Problem(place, say("each id is used once"), f"'{name}'", where=here))
        else:
            target[name] = content
    if problems:
        raise BankError(problems)
    _add_skills(document)

    def locate(place: str) -> str:
        while place and place not in where:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return where.get(place, "")

    return document, locate


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


def write_xlsx(document: dict[str, Any], every_column: bool = False) -> bytes:
    """A document as a workbook; `every_column`: with the columns that no row uses, as a form to fill in."""
    from openpyxl import Workbook
    from openpyxl.utils import get_column_letter

    book = Workbook(write_only=True)
    for sheet, rows in _sheets(document, ".xlsx").items():
        columns = list(SHEETS[sheet]) if every_column else _columns(sheet, rows)
        page = book.create_sheet(sheet)
        page.freeze_panes = "B2"
        for number, column in enumerate(columns):
            page.column_dimensions[get_column_letter(number + 1)].width = _WIDTHS.get(column, 18)
        page.append([_text_cell(page, column, bold=True) for column in columns])
        for row in rows:
            page.append([_text_cell(page, row.get(column)) for column in columns])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


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
