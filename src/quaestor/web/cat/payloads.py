"""The payloads of the standard. Reading is lenient: unknown fields, capitals and `null` for what is absent, as clients send them."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

EXAMPLE = "eyJ0ZXN0IjogM30="  # {"test": 3} in Base64
ITEMS = {"itemIdentifiers": ["Q7"], "stageLength": 1}


def _listed(value: Any) -> Any:
    return [] if value is None else value


def _plain(value: Any) -> Any:
    """A number or a truth value where the standard has text."""
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int | float) else value


Text = Annotated[str, BeforeValidator(_plain), Field(max_length=10_000)]


def _shape(example: Any) -> ConfigDict:
    return ConfigDict(extra="ignore", json_schema_extra={"examples": [example]})


class Value(BaseModel):
    """One value of a variable."""

    value: Text


def _values(value: Any) -> Any:
    """A list of values, each perhaps without its wrapping."""
    if not isinstance(value, list):
        return _listed(value)
    return [one if isinstance(one, dict) else {"value": one} for one in value if one is not None]


Values = Annotated[list[Value], BeforeValidator(_values), Field(max_length=1000)]


class Response(BaseModel):
    """What a candidate answered."""

    value: Values = []


class ResponseVariable(BaseModel):
    """A response variable of an item."""

    identifier: str
    candidateResponse: Annotated[Response, BeforeValidator(lambda value: value or {})] = Response()  # noqa: N815


class OutcomeVariable(BaseModel):
    """An outcome variable of an item; `SCORE` counts."""

    identifier: str
    value: Values = []
    normalMaximum: float | None = None  # noqa: N815


class ItemResult(BaseModel):
    """The result of an item."""

    identifier: str
    sessionStatus: str = "final"  # noqa: N815
    sequenceIndex: int | None = None  # noqa: N815
    responseVariables: Annotated[list[ResponseVariable], BeforeValidator(_listed)] = []  # noqa: N815
    outcomeVariables: Annotated[list[OutcomeVariable], BeforeValidator(_listed)] = []  # noqa: N815


class AssessmentResult(BaseModel):
    """The results of the items of a stage."""

    itemResult: Annotated[list[ItemResult], BeforeValidator(_listed), Field(max_length=1000)] = []  # noqa: N815


ITEM = {
    "identifier": "Q7",
    "datestamp": "2026-11-17T09:00:00Z",
    "sessionStatus": "final",
    "outcomeVariables": [{"identifier": "SCORE", "cardinality": "single", "baseType": "float", "value": [{"value": "1"}]}],
}


class Section(BaseModel):
    """A section as a delivery system makes it."""

    model_config = _shape({"sectionConfiguration": EXAMPLE})

    sectionConfiguration: str = Field(description="Base64 of JSON: `test`, or `bank` with `rules`")  # noqa: N815
    qtiUsagedata: str | None = None  # noqa: N815
    qtiMetadata: dict[str, Any] | str | None = None  # noqa: N815


class NewSession(BaseModel):
    """A candidate; what it says of them is taken and not stored."""

    model_config = _shape({})

    personalNeedsAndPreferences: str | None = None  # noqa: N815
    demographics: str | None = None
    priorData: list[dict[str, Any]] | None = None  # noqa: N815


class Results(BaseModel):
    """The results of a stage."""

    model_config = _shape({"assessmentResult": {"itemResult": [ITEM]}, "sessionState": "1"})

    assessmentResult: AssessmentResult  # noqa: N815
    sessionState: str | None = None  # noqa: N815


class SectionMade(BaseModel):
    """The name of a new section."""

    model_config = _shape({"sectionIdentifier": "4"})

    sectionIdentifier: str  # noqa: N815


class SectionShown(BaseModel):
    """A section with its pool of items."""

    model_config = _shape({"items": {"itemIdentifiers": ["Q1", "Q7"]}, "section": {"sectionConfiguration": EXAMPLE}})

    items: dict[str, list[str]]
    section: dict[str, Any]


class Stage(BaseModel):
    """The items to show before the next call; none: the section has ended."""

    itemIdentifiers: list[str]  # noqa: N815
    stageLength: int  # noqa: N815


class SessionMade(BaseModel):
    """A new session with its first stage."""

    model_config = _shape({"sessionIdentifier": "9", "nextItems": ITEMS, "sessionState": "0"})

    sessionIdentifier: str  # noqa: N815
    nextItems: Stage  # noqa: N815
    sessionState: str  # noqa: N815


class ResultsTaken(BaseModel):
    """The next stage, and what is known by now as outcome variables of the test."""

    model_config = _shape({"nextItems": ITEMS, "assessmentResult": {}, "sessionState": "1"})

    nextItems: Stage  # noqa: N815
    assessmentResult: dict[str, Any]  # noqa: N815
    sessionState: str  # noqa: N815
