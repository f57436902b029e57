"""Small files made by hand, and what loading them says."""

import io
import zipfile
from time import process_time

import openpyxl
import pytest

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError
from quaestor.formats.files import load_bytes

PATIENCE = 5  # seconds of the processor that the worst file may cost


def loaded(content: str | bytes, ending: str) -> Bank:
    """The bank in a file with this content and ending."""
    return load_bytes(content.encode() if isinstance(content, str) else content, ending)


def problems(content: str | bytes, ending: str) -> list[str]:
    """What is wrong with a file, a line a problem; the test fails when it loads."""
    started = process_time()
    with pytest.raises(BankError) as caught:
        loaded(content, ending)
    assert process_time() - started < PATIENCE
    return [str(problem) for problem in caught.value.problems]


def workbook(**sheets: list[list[object]]) -> bytes:
    """An XLSX file with these sheets, each a list of rows, as a spreadsheet program would write it."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def repacked(data: bytes, part: str, old: bytes, new: bytes) -> bytes:
    """A workbook in which a piece of one of its parts is replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            content = source.read(name)
            if name == part:
                assert old in content, f"{old!r} is not in {part}"
                content = content.replace(old, new)
            target.writestr(name, content)
    return buffer.getvalue()
