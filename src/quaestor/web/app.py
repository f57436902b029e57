"""The application: routes, what stands before them, and what every error becomes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import resources

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from quaestor import __version__
from quaestor.errors import QuaestorError
from quaestor.parent import leave_with_parent
from quaestor.store import limits
from quaestor.store.database import Database
from quaestor.store.memory import MEGABYTE, cached
from quaestor.store.publishing import open_latest
from quaestor.web import documentation
from quaestor.web.api import routes as api
from quaestor.web.cat import endpoint as cat
from quaestor.web.editor import improvement, listing, new_bank, overview, part_pages, question_files, trial, versions
from quaestor.web.jobs import worker
from quaestor.web.jobs.housekeeping import keep_house, keep_looking, keep_purging, keep_scoring
from quaestor.web.jobs.runner import Foreman
from quaestor.web.jobs.slow_steps import SlowSteps
from quaestor.web.lti import login, registration, start
from quaestor.web.lti.framed import Framed
from quaestor.web.lti.sending import keep_sending
from quaestor.web.operations import logs, metrics
from quaestor.web.operations.garbage import spare_survivors
from quaestor.web.operations.health import wrong
from quaestor.web.render import failures
from quaestor.web.render.language import read_catalogues
from quaestor.web.render.pages import read_templates
from quaestor.web.security import hosts
from quaestor.web.security.guard import Guard
from quaestor.web.security.openid import provider_of
from quaestor.web.settings import Settings, from_environment
from quaestor.web.taker import attempt_pages, device, front_page
from quaestor.web.teacher import (
    account,
    class_pages,
    colleagues,
    collection,
    correcting,
    frozen_banks,
    gradebook_files,
    grading,
    home,
    job_progress,
    letters,
    live,
    offline_file,
    path,
    people,
    projector,
    provider,
    publish_page,
    published,
    pupil_pages,
    results_table,
    sign_in,
    statistics,
    time_changes,
)

TAKERS = (front_page, device, attempt_pages)
SHOWN = (results_table, path, live, projector, statistics, offline_file, collection, gradebook_files)
TESTS = (publish_page, published, time_changes, correcting, letters, grading, *SHOWN)
CLASSES = (class_pages, pupil_pages)
TEACHERS = (sign_in, provider, home, colleagues, frozen_banks, *TESTS, *CLASSES, people, account, job_progress)
BANKS = (trial, question_files, new_bank, overview, versions, improvement)
EDITORS = (*BANKS, listing, part_pages)  # the last two take any section: they come last
PLATFORMS = (login, start, registration)
PAGES = (*TAKERS, *PLATFORMS, *TEACHERS, *EDITORS)
WEEK = 7 * 24 * 3600


class _Static(StaticFiles):
    """Style sheet and script: their address changes with their content, so browsers may keep them."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["cache-control"] = f"public, max-age={WEEK}, immutable"
        return response


def create(settings: Settings, database: Database | None = None) -> FastAPI:
    """The application on a database; the database of the settings unless another is handed over."""
    kept = database or Database(settings.database_url)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await kept.get_ready()
        tasks = [asyncio.create_task(keep(kept)) for keep in (keep_house, keep_purging, keep_scoring)]
        tasks += [asyncio.create_task(keep()) for keep in (metrics.keep_stock, keep_looking)]
        tasks.append(asyncio.create_task(keep_sending(kept, settings)))
        app.state.foremen = [*(Foreman(kept, worker.LONG, each=1) for _ in range(2)), Foreman(kept, worker.SHORT)]
        for foreman in app.state.foremen:
            foreman.start()
        yield
        for task in tasks:
            task.cancel()
        for foreman in app.state.foremen:
            await asyncio.to_thread(foreman.stop)
        await asyncio.to_thread(app.state.slow_steps.close)
        await asyncio.to_thread(kept.close)

    app = FastAPI(title="Quaestor", version=__version__, lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.settings, app.state.database, app.state.provider = settings, kept, provider_of(settings)
    app.state.slow_steps = SlowSteps(settings.step_seconds, settings.step_memory)
    app.state.looks = asyncio.Semaphore(limits.looks_at_once(settings.workers))
    for part in PAGES:
        app.include_router(part.routes, include_in_schema=False)
    api.add(app)
    cat.add(app)
    documentation.add(app)
    app.mount("/static", _Static(directory=str(resources.files("quaestor.web") / "static")), name="static")
    metrics.add(app, settings, kept)
    failures.handle(app)
    app.add_middleware(Framed, database=kept)
    app.add_middleware(Guard, largest=settings.upload * MEGABYTE, is_known=hosts.known(settings), answer=failures.answer)

    @app.get("/health", include_in_schema=False)
    def health() -> Response:
        """For those who watch over the server: it answers, so does the database, and there is room to write; else what is wrong."""
        found = wrong(kept)
        told = {"status": "unwell", "wrong": found} if found else {"status": "well"}
        return JSONResponse({**told, "version": __version__}, 503 if found else 200)

    return app


def served() -> FastAPI:
    """The application as worker processes make it: all they know is in the environment.

    A worker leaves with the process that started it: it would keep the port.
    """
    settings = from_environment()
    logs.set_up(settings.log)
    leave_with_parent()
    cached.limit(settings.cache * MEGABYTE)
    app = create(settings)
    read_templates()
    read_catalogues()
    with suppress(QuaestorError), app.state.database.read() as work:  # a database that is away now may be there later
        open_latest(work)
    spare_survivors()
    return app
