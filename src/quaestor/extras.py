"""What comes with extras: where a library is missing, the error names the extra that brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

from quaestor.errors import QuaestorError
from quaestor.i18n import say

BRINGS = {
    "tables": ("pandas", "pyarrow"),
    "figures": ("matplotlib",),
    "sheets": ("openpyxl",),
    "terminal": ("rich",),
    "exchange": ("markdown_it",),
    "notebook": ("IPython", "ipywidgets"),
    "cluster": ("distributed",),
    "gpu": ("torch",),
    "openid": ("authlib", "httpx2"),
    "web": (
        *("alembic", "argon2", "babel", "cryptography", "fastapi", "fpdf", "httptools", "jinja2", "jwt", "latex2mathml"),
        *("nh3", "PIL", "prometheus_client", "psycopg", "python_multipart", "segno", "sqlalchemy", "starlette", "uvicorn"),
    ),
}
_EXTRA = {library: extra for extra, libraries in BRINGS.items() for library in libraries}


class MissingExtraError(QuaestorError, ImportError):
    """A library that is not installed, and the command that installs it."""


@contextmanager
def from_extra() -> Iterator[None]:
    """Around the import of what an extra brings: the error of a missing library says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _EXTRA:
            raise
        command = f'pip install "quaestor[{_EXTRA[library]}]"'
        raise MissingExtraError(say("{library} is not installed; this brings it: {command}", library=library, command=command)) from error
