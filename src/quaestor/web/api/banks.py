"""Banks: upload one, read what is kept of it, download it again in any format."""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from sqlalchemy import select
from sqlalchemy.orm import Session as Work
from starlette.responses import Response

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError, Problem
from quaestor.formats.files import dump_bytes
from quaestor.store.media import chosen
from quaestor.store.models import BankVersion, Token
from quaestor.store.publishing import bank_of, keep_bank, open_bank
from quaestor.web.api import PREFIX, bank_shapes, fields
from quaestor.web.api.once import Key, Write, once
from quaestor.web.api.tokens import ForBanks, Route, reading
from quaestor.web.render.problems import listed, reply
from quaestor.web.security.uploads import draw_anew, read_bank

routes = APIRouter(prefix=f"{PREFIX}/banks", tags=["banks"], route_class=Route)
Number = Annotated[int, Path(alias="bank", ge=1, le=fields.MOST, description="the number of the bank", examples=[1])]
KINDS = {
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".json": "application/json",
    ".csv": "text/csv",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


@routes.post("", status_code=201, response_model=bank_shapes.BankShape, summary="Upload a bank")
def upload(request: Request, body: bank_shapes.NewBank, bearer: ForBanks, key: Key) -> Response:
    """Keep a bank; the same bank twice is kept once. Every problem of a bank that breaks rules is listed with its place."""

    def plan(work: Work, token: Token) -> Write:
        content = _decoded("content", body.content) if body.encoding == "base64" else body.content.encode(errors="backslashreplace")
        bank = read_bank(content, body.ending)
        images = draw_anew(chosen(bank, {name: _decoded(f"images.{name}", text) for name, text in body.images.items()}))
        teacher = token.teacher
        return lambda work: (201, _told(keep_bank(work, teacher, bank, images), bank))

    return once(request, bearer, key, body, plan)


def _decoded(place: str, text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError) as error:
        raise BankError([Problem(place, "text in base64 is expected", "something else")]) from error


@routes.get("", response_model=bank_shapes.BankList, summary="List the banks")
def index(request: Request, bearer: ForBanks) -> Response:
    """All banks of the token's teacher, the newest first."""
    with reading(request, bearer) as (work, token):
        rows = work.scalars(select(BankVersion).where(BankVersion.teacher_id == token.teacher_id).order_by(BankVersion.id.desc())).all()
    return reply({"banks": [_summary(kept) for kept in rows]})


@routes.get("/{bank}", response_model=bank_shapes.BankShape, summary="Read a bank")
def show(request: Request, number: Number, bearer: ForBanks) -> Response:
    """What is known of a bank: versions, skills, what may be a mistake in it."""
    with reading(request, bearer) as (work, token):
        kept = bank_of(work, token.teacher, number)
        bank = open_bank(kept)
    return reply(_told(kept, bank))


@routes.get("/{bank}/content", response_class=Response, summary="Download a bank")
def download(
    request: Request, number: Number, bearer: ForBanks, ending: Annotated[bank_shapes.Ending, Query(description="the format")] = ".yaml"
) -> Response:
    """The bank file: as it was uploaded in YAML, or written anew in another format."""
    with reading(request, bearer) as (work, token):
        kept = bank_of(work, token.teacher, number)
        bank = open_bank(kept)
    named = {"content-disposition": f'attachment; filename="bank-{kept.version}{ending}"'}
    return Response(dump_bytes(bank, ending), media_type=KINDS[ending], headers=named)


def _summary(kept: BankVersion) -> dict[str, Any]:
    media: Mapping[str, str] = kept.media
    return {
        "id": kept.id,
        "title": kept.title,
        "version": kept.version,
        "model_version": kept.model_version,
        "questions": kept.questions,
        "images": sorted(media),
        "created": fields.moment(kept.created),
    }


def _told(kept: BankVersion, bank: Bank) -> dict[str, Any]:
    skills = [{"skill": skill.id, "title": skill.title or skill.id, "levels": list(skill.levels)} for skill in bank.skills.values()]
    return {**_summary(kept), "skills": skills, "warnings": [listed(one) for one in bank.warnings]}
