"""Kinds of fields in requests and replies: how they are checked, and what all requests and all replies have in common.

What goes over the wire is described to programs by shapes (`bank_shapes`, `class_shapes`, `publication_shapes`, `session_shapes`). Nothing
is guessed: a number is no text, a field that is not known is refused. A test holds every reply against its shape.
"""

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from quaestor.store.texts import line
from quaestor.web.api import examples

MOST = 2**31 - 1  # the largest whole number that every database takes


def moment(value: datetime | None) -> str | None:
    """A time of the database as programs read it."""
    return value.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z") if value is not None else None


def whole(value: Any) -> Any:
    """JSON has one kind of number: 3.0 is a whole one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def finite(value: dict[str, Any]) -> dict[str, Any]:
    """Plain data without numbers that JSON does not have."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise ValueError("a number is finite") from error
    return value


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("a time is a text such as 2026-09-01T08:00:00Z")
    return value


def _kept(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError as error:
        raise ValueError("a time is one that a calendar has in every zone") from error


def _not_blank(value: str) -> str:
    if not line(value):
        raise ValueError("a name has at least one letter")
    return value


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_not_blank), WithJsonSchema(examples.NAME)]
Time = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_text), AfterValidator(_kept)]
Number = Annotated[int, BeforeValidator(whole), Field(ge=1, le=MOST)]
Probability = Annotated[float, Field(ge=0, le=1)]


class Asked(BaseModel):
    """The base of requests: strict."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Sent(BaseModel):
    """The base of replies: nothing that is not described."""

    model_config = ConfigDict(extra="forbid")


def example(**fields: Any) -> ConfigDict:
    """An example of a shape."""
    return ConfigDict(json_schema_extra={"examples": [fields]})
