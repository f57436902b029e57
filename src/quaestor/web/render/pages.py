"""Pages made of templates: what every page knows, and how it is sent."""

import hashlib
from collections.abc import Callable
from functools import cache, lru_cache, partial
from importlib import resources
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.routing import Route

from quaestor.i18n import Said, prepared
from quaestor.model.question import Question
from quaestor.report.marking import right_answers
from quaestor.session.explain.wording import percent
from quaestor.store.database import Database
from quaestor.store.models import BankVersion, Teacher
from quaestor.store.secrets import token
from quaestor.store.sharing import LOOK, OWN
from quaestor.web.render import pictures, prose
from quaestor.web.render.language import LANGUAGES, chosen, day, moment, number, translate
from quaestor.web.render.locations import place
from quaestor.web.render.writing import writing
from quaestor.web.security.browsers import form_token, remember, root, site_root
from quaestor.web.settings import Settings

FRAME = "quaestor.frame"  # where a request knows that it comes from inside a platform's frame (`web.lti.framed`)
LANGUAGE = "language"  # the cookie of a language chosen by hand
WAYS: dict[str, Callable[..., str]] = {"day": day, "moment": moment, "number": number}  # filters that write as the language does


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("quaestor.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_in_the_language,
    )
    made.filters.update(
        prose=prose.block, short=prose.inline, answer=_answer, place=place, **{name: _spoken(said) for name, said in WAYS.items()}
    )
    made.globals.update(pictures=pictures, percent=percent, right_answers=right_answers)
    made.globals.update(gapped=prose.gapped, needs_drawing=prose.needs_drawing, truths=prose.TRUTHS)
    return made


def read_templates() -> None:
    """Read every template now, not when somebody opens the first page made of it."""
    for name in _templates().list_templates(["html"]):
        _templates().get_template(name)


@pass_context
def _in_the_language(context: Context, value: object) -> object:
    """What a template prints: a sentence of the engine is said in the language of the page, a picture of a bank gets its address."""
    if isinstance(value, Markup) and 'src="media:' in value:
        return prose.with_pictures(value, context.get("picture") or (lambda name: ""))
    return translate(context["language"], value) if isinstance(value, Said) else value


@pass_context
def _answer(context: Context, text: str, question: Question) -> Markup:
    """An answer to a question, with the words of this page's language."""
    return prose.answer(text, question, partial(translate, context["language"]))


def _spoken(said: Callable[..., str]) -> Callable[..., str]:
    """A filter that writes a value in the way of the page's language."""

    @pass_context
    def write(context: Context, *values: Any) -> str:
        return said(context["language"], *values)

    return write


def _sentence(text: str) -> str:
    """A message as a sentence: errors begin with a small letter and end without a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def database(request: Request) -> Database:
    """The database of this server."""
    kept: Database = request.app.state.database
    return kept


def settings(request: Request) -> Settings:
    """The settings of this server."""
    kept: Settings = request.app.state.settings
    return kept


def language(request: Request) -> str:
    """The language of this browser."""
    return chosen(request.cookies.get(LANGUAGE), request.headers.get("accept-language", ""))


def url(request: Request, name: str, /, **places: object) -> str:
    """The address of a route, with the path prefix of a reverse proxy."""
    return root(request) + _path(request.app, name, **places)


def addresses(request: Request, kept: BankVersion) -> Callable[[str], str]:
    """Where a teacher finds the pictures of a bank, by their names; empty for what it has not."""
    return lambda name: url(request, "bank-media", number=kept.id, name=name) if name in kept.media else ""


@lru_cache(maxsize=10_000)
def _path(app: FastAPI, name: str, /, **places: object) -> str:
    """The path of a route: what people chose (an id, the name of an image) leads nowhere else, whatever signs it has."""
    quoted = {key: quote(str(value), safe="~" if climbs(str(value)) else "/~") for key, value in places.items()}
    return str(app.url_path_for(name, **quoted))


def here(request: Request) -> str:
    """An address that opens the present page, or after a form the nearest page above the address that it was sent to."""
    path, query = request.url.path, request.url.query
    if request.method in ("GET", "HEAD"):
        return f"{path}?{query}" if query else path
    template = str(getattr(request.scope.get("route"), "path", ""))
    while template and template not in _openable(request.app):
        template, path = template.rpartition("/")[0], path.rpartition("/")[0]
    return path if template else root(request) + "/"


@cache
def _openable(app: FastAPI) -> frozenset[str]:
    """The paths of the routes that show something."""
    routers = [getattr(one, "original_router", None) for one in app.routes]
    routes = [*app.routes, *(route for router in routers if router is not None for route in router.routes)]
    return frozenset(route.path for route in routes if isinstance(route, Route) and "GET" in (route.methods or ()))


def climbs(name: str) -> bool:
    """Whether a browser would take a name in a path for a way to somewhere else (`../delete`)."""
    return any(part in (".", "..") for part in name.replace("\\", "/").split("/"))


def public_url(request: Request, name: str, /, **places: object) -> str:
    """The address of a route as people elsewhere would type it: for links and QR codes."""
    stated = settings(request).address.rstrip("/")
    here = f"{request.url.scheme}://{request.url.netloc}{site_root(request)}"
    return (stated or here) + _path(request.app, name, **places)


@cache
def _static(name: str) -> str:
    content = (resources.files("quaestor.web") / "static" / name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:8]}"


def page(request: Request, template: str, status: int = 200, *, teacher: Teacher | None = None, **values: object) -> HTMLResponse:
    """A page made of a template."""
    tongue = language(request)
    extent = getattr(request.state, "extent", OWN)  # what the teacher may do with the thing that the page is about

    def interface(text: str, **filled: object) -> Markup:
        """A text that stands in a template: it is ours, its values are escaped."""
        values = {key: translate(tongue, value) if isinstance(value, Said) else value for key, value in filled.items()}
        return Markup(translate(tongue, text)).format(**prepared(values, writing(tongue)))

    def message(text: str, sentence: bool = True) -> str:
        """A message from below: it may quote what people wrote, so it is escaped like any other value."""
        return _sentence(translate(tongue, text)) if sentence and text else translate(tongue, text)

    context = {
        "t": interface,
        "said": message,
        "url": partial(url, request),
        "static": lambda name: site_root(request) + _static(name),
        "form_token": form_token(request),
        "language": tongue,
        "languages": LANGUAGES,
        "teacher": teacher,
        "may_edit": extent != LOOK,
        "is_own": extent == OWN,
        "whose": getattr(request.state, "whose", ""),
        "here": here(request),
        "once": token,
        "framed": request.scope.get(FRAME),
        **values,
    }
    response = HTMLResponse(_templates().get_template(template).render(context), status)
    remember(request, response)
    return response


def go(request: Request, name: str, /, **places: object) -> RedirectResponse:
    """After a form: to the page that shows what came of it."""
    return RedirectResponse(url(request, name, **places), 303)
