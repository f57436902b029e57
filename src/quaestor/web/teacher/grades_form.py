"""The part of a form that holds a scheme of grades; publishing a test and the page of its grades have the same."""

from typing import Annotated

from pydantic import ValidationInfo, field_validator

from quaestor.errors import QuaestorError
from quaestor.i18n import said
from quaestor.store.outcomes.grades import LEVELS, POINTS, Scheme
from quaestor.store.outcomes.grades import read as read_scheme
from quaestor.web.security.forms import Form, WrongError, one_of


class Grading(Form):
    """A scheme of grades; an empty one means none."""

    grades_by: Annotated[str, one_of((POINTS, LEVELS))] = POINTS
    grades: str = ""

    @field_validator("grades")
    @classmethod
    def _scheme_is_readable(cls, written: str, info: ValidationInfo) -> str:
        try:
            read_scheme(written, info.data.get("grades_by", POINTS))
        except QuaestorError as error:
            raise WrongError(said(error)) from error
        return written

    @property
    def scheme(self) -> Scheme | None:
        """The scheme, if one was written."""
        return read_scheme(self.grades, self.grades_by)
