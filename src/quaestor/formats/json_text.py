"""JSON, read with numbers as text, so that they keep the form they were written in."""

import json
from collections import Counter
from typing import Any

from quaestor.errors import BankError, Problem
from quaestor.formats.limits import check_nesting, refusal
from quaestor.i18n import say


def parse(text: str) -> Any:
    """The document as dicts, lists, strings, booleans and None."""
    repeated: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) < len(found):
            repeated.extend(key for key, count in Counter(key for key, _ in found).items() if count > 1)
        return made

    try:
        document = json.loads(text, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise BankError([Problem("file", say("the file is valid JSON"), error.msg, where=say("line {line}", line=error.lineno))]) from error
    except RecursionError as error:
        raise refusal(say("values are not nested so deeply"), say("more than the reader can follow")) from error
    check_nesting(document)
    if repeated:
        raise BankError(Problem("file", say("each key is used once"), f"'{key}'") for key in dict.fromkeys(repeated))
    return document


def write(document: dict[str, Any]) -> str:
    """A document as JSON, indented."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
