"""The form by which the time of a published test is changed: another time limit, another moment of closing, open again.

A test that everybody with the code can take also gets other limits by it, as its takers may stand before them at this moment.
"""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ValidationInfo, field_validator, model_validator

from quaestor.i18n import say
from quaestor.store.models import Published
from quaestor.web.security.forms import CHOOSE, MOMENT, Form, Moment, Needed, WrongError, at_clock, checked, one_of, whole
from quaestor.web.teacher.publish_form import LONGEST, MOST_BEGUN, TOO_EARLY, is_over
from quaestor.web.teacher.rules_form import known_to

SAME, NEVER, AT = "same", "never", "at"  # when it closes: as it is, when the teacher closes it, at a moment


def blank_time(test: Published) -> dict[str, str]:
    """The form as it is shown first."""
    numbers = {name: "" if (value := getattr(test, name)) is None else f"{value:g}" for name in ("minutes", "per_browser", "per_address")}
    return {**numbers, "closing": SAME, "closes": ""}


class TimeFields(Form):
    """Another time. What its checks know: the `test`, of which what is not changed stays, also a limit of 7.5 minutes from a program."""

    minutes: Annotated[float | None, whole(1, LONGEST)] = None
    closing: Annotated[str, one_of((SAME, NEVER, AT)), Needed(CHOOSE)]
    closes: Annotated[Moment, checked(is_over)] = None
    closes_offset: str = ""
    per_browser: Annotated[int | None, whole(1, MOST_BEGUN)] = None
    per_address: Annotated[int | None, whole(1, MOST_BEGUN)] = None

    @model_validator(mode="before")
    @classmethod
    def _kept(cls, sent: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        test: Published = known_to(info)["test"]
        sent = at_clock({"closes": None, **sent}, "closes")
        if sent.get("minutes", "") == blank_time(test)["minutes"]:
            sent["minutes"] = test.minutes
        return {**sent, "per_browser": test.per_browser, "per_address": test.per_address} if test.by_list else sent

    @field_validator("closes")
    @classmethod
    def _one_of_two(cls, moment: datetime | None, info: ValidationInfo) -> datetime | None:
        """The moment of closing."""
        test: Published = known_to(info)["test"]
        closing = info.data.get("closing")
        if closing == NEVER and moment is not None:
            raise WrongError(say("please choose one of the two: a moment, or none"))
        if closing == AT and moment is None:
            raise WrongError(MOMENT)
        closes = test.closes if closing == SAME and moment is None else moment
        if closes is not None and test.opens is not None and closes <= test.opens:
            raise WrongError(TOO_EARLY)
        return closes
