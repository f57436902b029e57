"""Every write is done once: it carries a key, and the same key with the same request gets the reply that the first one got.

The reply is kept in the unit of work that does the write, so there is never one without the other. Of two that come at the same moment
one does the work; the other finds, after its own was undone, what the first one was told. A refusal changes nothing and is not kept: the
same request may be sent again. A reply that tells of a session is deleted with it.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Header, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session as Work
from starlette.responses import Response

from quaestor.store import replies
from quaestor.store.attempts.taking import EntryError, StaleError
from quaestor.store.models import Token
from quaestor.store.publishing import MissingError
from quaestor.store.secrets import hashed
from quaestor.web.api.tokens import Bearer, reading, writing
from quaestor.web.render.problems import KEY, reply

Key = Annotated[
    str,
    Header(alias=KEY, min_length=1, max_length=200, pattern="^[!-~]+$", description="any text of yours, another one for each write"),
]
Write = Callable[[Work], tuple[int, dict[str, Any] | None]]
Plan = Callable[[Work, Token], Write]


def once(request: Request, bearer: Bearer, key: str, body: BaseModel | None, plan: Plan) -> Response:
    """Do a write unless it was done before.

    `plan` looks at what is there and works out all it can, while only reading; what it returns then writes, in as little time as
    possible, and gives the status and the body of the reply.
    """
    route = f"{request.method} {request.scope['path']}"
    sent = json.dumps(body.model_dump() if body is not None else None, sort_keys=True, default=str)
    asked = hashed(f"{bearer.secret}\n{sent}")  # with the secret, of which only a hash is stored: names could be tried out
    there = None
    try:
        with reading(request, bearer) as (work, token):
            there = replies.earlier(work, token, key, route, asked)
            write = plan(work, token) if there is None else None
        if write is not None:
            with writing(request, bearer) as (work, token):
                there = replies.Earlier(*write(work))
                told_of = there.body.get("session") if there.body is not None else None
                replies.keep(work, token, key, route, asked, there.status, there.body, told_of)
    except (StaleError, MissingError, EntryError, replies.ReplayError):  # perhaps the same request, at the same moment
        with reading(request, bearer) as (work, token):
            there = replies.earlier(work, token, key, route, asked)
        if there is None:
            raise
    assert there is not None
    return Response(status_code=there.status) if there.body is None else reply(there.body, there.status)
