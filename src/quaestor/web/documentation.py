"""The documentation at `/docs`: the site that `make docs` builds, with the wheel or in a checkout; where there is none, how to make it."""

from importlib import resources
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from quaestor.i18n import say
from quaestor.store.publishing import MissingError

SITE = Path(str(resources.files("quaestor.web"))) / "site"


def add(app: FastAPI) -> None:
    """Serve it, or say that it is not there."""

    site = StaticFiles(directory=SITE, html=True) if (SITE / "index.html").exists() else None

    @app.get("/docs", include_in_schema=False, name="docs")
    def front() -> RedirectResponse:
        """The first page."""
        return RedirectResponse("docs/")

    @app.get("/docs/{path:path}", include_in_schema=False)
    async def page(request: Request, path: str) -> Response:
        """A page or file of it; or how to make it."""
        if site is None:
            raise MissingError(say("the documentation was not built for this server; in a copy of the repository “make docs” builds it"))
        return await site.get_response(site.get_path({**request.scope, "path": path, "root_path": ""}), request.scope)
