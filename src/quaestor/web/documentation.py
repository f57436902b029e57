"""The documentation at `/docs`: the site that `make docs` builds, with the wheel or in a checkout; where there is none, how to make it."""

from importlib import resources
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.staticfiles import StaticFiles

from quaestor.i18n import say
from quaestor.store.publishing import MissingError

SITE = Path(str(resources.files("quaestor.web"))) / "site"


def add(app: FastAPI) -> None:
    """Serve it, or say that it is not there."""

    @app.get("/docs", include_in_schema=False, name="docs")
    def front() -> RedirectResponse:
        """The first page."""
        return RedirectResponse("docs/")

    if (SITE / "index.html").exists():
        app.mount("/docs", StaticFiles(directory=SITE, html=True), name="site")
        return

    @app.get("/docs/{path:path}", include_in_schema=False)
    def missing(path: str) -> None:
        """How to make it."""
        raise MissingError(say("the documentation was not built for this server; in a copy of the repository “make docs” builds it"))
