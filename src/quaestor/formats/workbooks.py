"""XLSX files, opened within limits: for banks as sheets, and for sheets of other systems."""

import datetime
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from quaestor.errors import BankError
from quaestor.extras import from_extra
from quaestor.formats.limits import refusal
from quaestor.formats.measure import widest
from quaestor.i18n import say

TIMES = (datetime.datetime, datetime.date, datetime.time, datetime.timedelta)  # what a spreadsheet program took `3/4` for


@contextmanager
def worksheets(data: bytes) -> Iterator[tuple[list[Any], int]]:
    """The worksheets of a workbook, and the last column in which one has a value; BankError where the file is broken, also further on."""
    with from_extra():
        from openpyxl import load_workbook  # only here: it takes long to import

    try:
        width = widest(io.BytesIO(data))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of unknown styles and extensions, which are not read
            book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            for page in book.worksheets:
                page.reset_dimensions()  # some programs write wrong dimensions, and openpyxl would stop there
            yield list(book.worksheets), width
            book.close()
    except (BankError, MemoryError):
        raise
    except Exception as error:  # a damaged workbook can raise almost anything in zipfile, the XML parser or openpyxl
        rule, value = say("the file is a valid XLSX workbook"), say("a file that is broken or is no workbook")
        raise refusal(rule, value, say("open it in a spreadsheet program and save it again as XLSX")) from error
