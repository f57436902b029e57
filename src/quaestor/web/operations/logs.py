"""The log: lines for people, or with the setting `log=json` lines of JSON for programs, then also one for each request that went well.

Every request has a number: its response carries it in the header `x-request-id`, the lines that are logged meanwhile name it, and the page
of an unforeseen error shows it. Nothing personal is logged: routes, not addresses with codes; no names, no answers, nobody's address.
"""

import json
import logging
import secrets
from contextvars import ContextVar
from datetime import UTC, datetime

FIELDS = ("method", "route", "status", "ms")  # what the line of a request has besides
_number: ContextVar[str] = ContextVar("number of the request", default="")


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, event, the number of the request, and either the fields of a request or what was said."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", record.name),
        }
        if number := _number.get():
            line["request"] = number
        if hasattr(record, "event"):
            line.update({name: getattr(record, name) for name in FIELDS})
        else:
            line["message"] = record.getMessage()
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up(kind: str) -> None:
    """Log everything of this process to standard error; `kind`: text or json."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    if kind == "json":
        logging.getLogger("quaestor.web").setLevel(logging.DEBUG)
        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonLines())


def begin_request() -> str:
    """Give the present request its number."""
    number = secrets.token_hex(4)
    _number.set(number)
    return number


def number_of_request() -> str:
    """The number of the present request."""
    return _number.get()
