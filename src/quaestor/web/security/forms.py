"""Forms: each is a model that pydantic checks; what is wrong is said beside its field, in the reader's words.

The type of a field says what may stand in it: `Line`, `Tick`, `Annotated[int | None, whole(1, 500)]`. An empty field is one that was not
filled in: it gets its default, or the words of its `Needed`. All that is wrong is found at once (`FormError`); what only the store can tell
comes as an error with a place. `again` makes of either the form that is shown once more.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple, TypeVar, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError, create_model
from pydantic.fields import FieldInfo
from starlette.datastructures import FormData

from quaestor.errors import Problem, QuaestorError
from quaestor.i18n import Said, say, together
from quaestor.store.texts import line
from quaestor.web.security import browsers

WHOLE_FORM = "form"  # where words stand that are about no single field
EMPTY, CHOOSE = say("please fill this in"), say("please choose one of these")
MOMENT = say("please enter a date and a time, such as 2026-09-01 08:00")
MOST_DIGITS, FAR = 9, 20 * 60  # of a whole number; minutes that a clock can be behind UTC


class Form(BaseModel):
    """The base of all forms."""

    model_config = ConfigDict(frozen=True, extra="ignore", validate_default=False)


F = TypeVar("F", bound=Form)


class FormError(QuaestorError):
    """A form that was not filled in as it should be: what is wrong, by field; `problems`: with rules that were written in one of them."""

    def __init__(self, wrong: Mapping[str, str], problems: Sequence[Problem] = ()) -> None:
        self.wrong, self.problems = dict(wrong), tuple(problems)
        super().__init__(together(list(self.wrong.values()), "; "))


class WrongError(ValueError):
    """What a check of a field found, in words, or `problems` with what was written there."""

    def __init__(self, words: str, problems: Sequence[Problem] = ()) -> None:
        self.words, self.problems = words, tuple(problems)
        super().__init__(words)


class Needed(NamedTuple):
    """Said beside a field that may not be empty."""

    words: str


class AsTyped:
    """A field that is taken as it was typed, with the spaces around it."""


class Secret(AsTyped):
    """The same, and never shown again."""


@dataclass
class Filled:
    """A form as a page shows it: what stands in its fields, and what is wrong, by field."""

    filled: Mapping[str, str] = field(default_factory=lambda: defaultdict(str))
    wrong: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def of_page(back: Mapping[str, Filled]) -> Mapping[str, Filled]:
    """The forms of a page by name: those that come back, and any other one as it is shown first."""
    return defaultdict(Filled, back)


def read(kind: type[F], form: FormData, prefix: str = "", **known: Any) -> F:
    """The form that was sent; `known`: what its checks have to know besides. FormError with all that is wrong."""
    sent = {name: value for name in _fields(kind) if (value := _value(kind, form, name, prefix))}
    try:
        return kind.model_validate(sent, context=known)
    except ValidationError as error:
        found = [(str((*one["loc"], WHOLE_FORM)[0]), _found(kind, one)) for one in error.errors()]
        raise FormError({place: one.words for place, one in found}, [each for _, one in found for each in one.problems]) from error


def again(error: QuaestorError, kind: type[Form], form: FormData, where: str = WHOLE_FORM, prefix: str = "") -> Filled:
    """The form as it was filled in, with what is wrong beside its fields; an error that names none of them is said at `where`.

    An error that has an answer of its own (signed out, database away) goes on to it.
    """
    wrong = wrong_in(error, kind, where)
    problems = error.problems if isinstance(error, FormError) else ()
    shown = [(name, found) for name, found in _fields(kind).items() if not _is(kind, name, Secret)]
    usual = {name: found.default if isinstance(found.default, str) else "" for name, found in shown}
    return Filled({name: browsers.field(form, prefix + name) or usual[name] for name in usual}, wrong, problems)


def attempt(kind: type[F], form: FormData, prefix: str = "", **known: Any) -> tuple[F | None, Filled]:
    """The form that was sent, None when something is wrong with it, and how it is shown again."""
    try:
        found, error = read(kind, form, prefix, **known), FormError({})
    except FormError as wrong:
        found, error = None, wrong
    return found, again(error, kind, form, prefix=prefix)


def wrong_in(error: QuaestorError, kind: type[Form], where: str = WHOLE_FORM) -> dict[str, str]:
    """What is wrong with a form, by field."""
    if isinstance(error, FormError):
        return error.wrong
    if type(error) is not QuaestorError:
        raise error
    return {error.place if error.place in _fields(kind) else where: error.words}


def _fields(kind: type[Form]) -> dict[str, FieldInfo]:
    """The fields of a form by their names on the page."""
    return {found.alias or name: found for name, found in kind.model_fields.items()}


def _value(kind: type[Form], form: FormData, name: str, prefix: str) -> Any:
    if get_origin(_fields(kind)[name].annotation) is list:
        return browsers.fields(form, prefix + name)
    if _is(kind, name, AsTyped):
        return str(form.get(prefix + name, ""))
    return browsers.field(form, prefix + name)


def _is(kind: type[Form], name: str, of: type) -> bool:
    return any(isinstance(one, of) for one in _fields(kind)[name].metadata)


def _found(kind: type[Form], wrong: Any) -> WrongError:
    """What a check found: one of ours, or one of pydantic's own."""
    found = wrong.get("ctx", {}).get("error")
    if isinstance(found, WrongError):
        return found
    if wrong["type"] == "missing":
        return WrongError(next((one.words for one in _fields(kind)[wrong["loc"][0]].metadata if isinstance(one, Needed)), EMPTY))
    return WrongError(CHOOSE)


def checked(wrong: Callable[[Any], str]) -> AfterValidator:
    """A check of a field: what is wrong with its value, or nothing."""

    def check(value: Any) -> Any:
        if words := wrong(value):
            raise WrongError(words)
        return value

    return AfterValidator(check)


def one_of(known: Collection[str]) -> AfterValidator:
    """A text that is one of those that were shown."""
    return checked(lambda value: "" if value in known else CHOOSE)


def whole(least: int, most: int) -> BeforeValidator:
    """A whole number within limits."""

    def check(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if not value.isdecimal() or len(value) > MOST_DIGITS or not least <= int(value) <= most:
            raise WrongError(say("please enter a whole number from {least} to {most}", least=least, most=most))
        return int(value)

    return BeforeValidator(check)


def a_number(words: Said, least: float, most: float) -> BeforeValidator:
    """A number within limits, with a comma or a point."""

    def check(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            found = float(value.replace(",", "."))
        except ValueError as error:
            raise WrongError(words) from error
        if not least <= found <= most:
            raise WrongError(words)
        return found

    return BeforeValidator(check)


def _moment(value: Any) -> Any:
    """A time as the browser's clock has it, in UTC: the browser says how many minutes it is behind, or else it is UTC."""
    if not isinstance(value, tuple):
        return value
    written, offset = value
    try:
        behind = int(offset) if offset and len(offset) < 6 else 0
        found = datetime.fromisoformat(written)
        if found.tzinfo is not None or not 2000 <= found.year <= 2999 or abs(behind) > FAR:
            raise ValueError(written)
        return found + timedelta(minutes=behind)
    except ValueError as error:
        raise WrongError(MOMENT) from error


def at_clock(sent: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The fields of a form with each moment beside the offset of the browser's clock, for `Moment`."""
    return {**sent, **{name: (sent[name], sent.get(f"{name}_offset", "")) for name in names if isinstance(sent.get(name), str)}}


Line = Annotated[str, AfterValidator(lambda text: line(text, 200))]
Text = Annotated[str, AfterValidator(lambda text: text.replace("\r\n", "\n"))]
Tick = Annotated[bool, BeforeValidator(bool)]
Sure = Annotated[bool, BeforeValidator(bool), Needed(say("please tick that you are sure"))]
Id = Annotated[int, BeforeValidator(lambda text: browsers.whole(text) if isinstance(text, str) else text)]
Moment = Annotated[datetime | None, BeforeValidator(_moment)]


def with_texts(kind: type[F], names: Iterable[str]) -> type[F]:
    """A form with further fields that are texts, named where what they belong to is described, and checked with it."""
    return create_model(kind.__name__, __base__=kind, **dict.fromkeys(names, (Text, "")))  # type: ignore[call-overload,no-any-return]
