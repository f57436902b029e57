"""The six operations of the standard, on the session engine.

A section is made from what its configuration names: a published test, or a bank with rules. A session is stored, so a client may hand
back `sessionState` or not; a stage that is sent twice counts once.
"""

import json
from base64 import b64decode
from binascii import Error as Base64Error
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from sqlalchemy import delete
from sqlalchemy.orm import Session as Work
from starlette.responses import Response

from quaestor import __version__
from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import read_rules
from quaestor.store import sections
from quaestor.store.attempts.pace import work_out
from quaestor.store.models import BankVersion, Teacher
from quaestor.store.platform_tables import AdaptiveSection, AdaptiveSession
from quaestor.store.publishing import bank_of, keep_bank, open_bank, published
from quaestor.web.api.tokens import ForSessions, ForTests, Route, reading, writing
from quaestor.web.cat import PREFIX, payloads
from quaestor.web.cat.item_scores import assessment, stage, with_results
from quaestor.web.cat.status_info import CODES, CatRoute
from quaestor.web.jobs.execution import seed
from quaestor.web.render.problems import reply
from quaestor.web.security.browsers import root
from quaestor.web.security.uploads import read_bank

routes = APIRouter(prefix=PREFIX, tags=["CAT 1.0"], route_class=CatRoute)
about = APIRouter(prefix=PREFIX)
KNOWN = {"test", "bank", "rules"}


@routes.post("/sections", status_code=201, response_model=payloads.SectionMade, summary="createSection")
def create_section(request: Request, body: payloads.Section, bearer: ForTests) -> Response:
    """Make a section of a published test, or of a bank with rules."""
    asked = _configuration(body.sectionConfiguration)
    with reading(request, bearer) as (work, token):
        bank, rules = _read(work, token.teacher, asked)
        rules.check(bank if isinstance(bank, Bank) else open_bank(bank))
    with writing(request, bearer) as (work, token):
        teacher = token.teacher
        kept = keep_bank(work, teacher, bank) if isinstance(bank, Bank) else bank_of(work, teacher, bank.id)
        made = sections.make(work, teacher, kept, rules, body.model_dump(exclude_none=True))
        name = str(made.id)
    return reply({"sectionIdentifier": name}, 201)


def _configuration(text: str) -> dict[str, Any]:
    try:
        found = json.loads(b64decode(text, validate=True))
    except (Base64Error, ValueError, RecursionError) as error:
        raise QuaestorError("sectionConfiguration: Base64 of JSON is expected, got something else") from error
    if not isinstance(found, dict) or set(found) - KNOWN or ("test" in found) == ("bank" in found):
        got = ", ".join(map(str, found))[:80] if isinstance(found, dict) else ""
        raise QuaestorError(f"sectionConfiguration: either test, or bank with rules is expected, got {got or 'none of them'}")
    return found


def _read(work: Work, teacher: Teacher, asked: dict[str, Any]) -> tuple[Bank | BankVersion, Rules]:
    """The bank and the rules that a configuration names; a bank that it holds itself is read as an upload is."""
    if "test" in asked:
        test = published(work, teacher, _number("test", asked["test"]))
        return test.bank, read_rules(test.rules)
    rules = read_rules(asked.get("rules") or {})
    if isinstance(asked["bank"], dict):
        return read_bank(json.dumps(asked["bank"]).encode(), ".json"), rules
    return bank_of(work, teacher, _number("bank", asked["bank"])), rules


def _number(place: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < sections.LARGEST:
        raise QuaestorError(f"sectionConfiguration.{place}: the number of one is expected, got {str(value)[:80]!r}")
    return value


@routes.get("/sections/{sectionIdentifier}", response_model=payloads.SectionShown, summary="getSection")
def get_section(request: Request, sectionIdentifier: str, bearer: ForTests) -> Response:  # noqa: N803
    """The section as it was sent, and its pool of items as the engine has it."""
    with reading(request, bearer) as (work, token):
        section = sections.section_of(work, token.teacher, sectionIdentifier)
        items = list(open_bank(section.bank).questions)
    return reply({"items": {"itemIdentifiers": items}, "section": section.sent})


@routes.delete("/sections/{sectionIdentifier}", status_code=204, summary="endSection")
def end_section(request: Request, sectionIdentifier: str, bearer: ForTests) -> Response:  # noqa: N803
    """End a section and its sessions."""
    with writing(request, bearer) as (work, token):
        section = sections.section_of(work, token.teacher, sectionIdentifier)
        work.execute(delete(AdaptiveSection).where(AdaptiveSection.id == section.id))
    return Response(status_code=204)


@routes.post("/sections/{sectionIdentifier}/sessions", status_code=201, response_model=payloads.SessionMade, summary="createSession")
def create_session(request: Request, sectionIdentifier: str, body: payloads.NewSession, bearer: ForSessions) -> Response:  # noqa: N803
    """A candidate begins; nothing that the body says of them is stored."""
    with reading(request, bearer) as (work, token):
        session = sections.begun(sections.section_of(work, token.teacher, sectionIdentifier), seed(request))
        work_out(session)
    with writing(request, bearer) as (work, token):
        kept = sections.keep(work, sections.section_of(work, token.teacher, sectionIdentifier), session)
        name = str(kept.id)
    return reply({"sessionIdentifier": name, "nextItems": stage(session), "sessionState": _state(len(session.log))}, 201)


@routes.post(
    "/sections/{sectionIdentifier}/sessions/{sessionIdentifier}/results",
    status_code=201,
    response_model=payloads.ResultsTaken,
    summary="submitResults",
)
def submit_results(
    request: Request,
    sectionIdentifier: str,  # noqa: N803
    sessionIdentifier: str,  # noqa: N803
    body: payloads.Results,
    bearer: ForSessions,
) -> Response:
    """The results of a stage; the reply has the next one, empty at the end, and what is known by now."""
    with reading(request, bearer) as (work, token):
        _, before = sections.session_of(work, sections.section_of(work, token.teacher, sectionIdentifier), sessionIdentifier)
        after = with_results(before, body.assessmentResult.itemResult)
        work_out(after)
    with writing(request, bearer) as (work, token):
        section = sections.section_of(work, token.teacher, sectionIdentifier)
        kept, present = sections.session_of(work, section, sessionIdentifier, lock=True)
        if present.log != before.log:  # somebody else went on with it at this moment
            after = with_results(present, body.assessmentResult.itemResult)
        sections.go_on(work, kept, after)
    told = {"nextItems": stage(after), "assessmentResult": assessment(after, sectionIdentifier, sessionIdentifier)}
    return reply({**told, "sessionState": _state(len(after.log))}, 201)


def _state(steps: int) -> str:
    """What a client hands back: how many items have a result. It needs not, as sessions are stored."""
    return str(steps)


@routes.delete("/sections/{sectionIdentifier}/sessions/{sessionIdentifier}", status_code=204, summary="endSession")
def end_session(request: Request, sectionIdentifier: str, sessionIdentifier: str, bearer: ForSessions) -> Response:  # noqa: N803
    """End a session; its answers are deleted."""
    with writing(request, bearer) as (work, token):
        section = sections.section_of(work, token.teacher, sectionIdentifier)
        kept, _ = sections.session_of(work, section, sessionIdentifier)
        work.execute(delete(AdaptiveSession).where(AdaptiveSession.id == kept.id))
    return Response(status_code=204)


def add(app: FastAPI) -> None:
    """Put the routes and their description into an application."""
    app.include_router(routes)
    app.include_router(about, include_in_schema=False)


@about.get("/openapi.json", name="cat-openapi")
def openapi(request: Request) -> Response:
    """The description for programs."""
    return reply({**described(), "servers": [{"url": root(request) or "/"}]})


def described() -> dict[str, Any]:
    """The OpenAPI document of the six operations, with the errors of the standard."""
    known = [route for route in routes.routes if isinstance(route, Route)]
    words = "The REST binding of CAT 1.0. Every request carries a token of the API (`Authorization: Bearer ...`)."
    document = get_openapi(title="Quaestor as an adaptive engine", version=__version__, description=words, routes=known)
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    schemas = document["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["imsx_StatusInfo"] = {
        "type": "object",
        "required": ["imsx_codeMajor", "imsx_severity"],
        "properties": {name: {"type": "string"} for name in ("imsx_codeMajor", "imsx_severity", "imsx_description")}
        | {"imsx_codeMinor": {"type": "object"}},
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/imsx_StatusInfo"}}}
    for route in known:
        for method in route.methods or ():
            operation = document["paths"][route.path_format][method.lower()]
            operation["security"] = [{"token": [scope]} for scope in route.scopes]
            operation["responses"].pop("422", None)
            operation["responses"] |= {str(status): {"description": code, "content": content} for status, code in CODES.items()}
    return document
