"""The form by which the time of a published test is changed: another time limit, another moment of closing, open again.

A test that everybody with the code can take also gets other limits by it, as its takers may stand before them at this moment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.models import Published
from quaestor.store.publishing import Conditions
from quaestor.web.teacher.publish_form import PublishForm

SAME, NEVER, AT = "same", "never", "at"  # when it closes: as it is, when the teacher closes it, at a moment


def blank_time(test: Published) -> dict[str, str]:
    """The form as it is shown first."""
    numbers = {name: "" if (value := getattr(test, name)) is None else f"{value:g}" for name in ("minutes", "per_browser", "per_address")}
    return {**numbers, "closing": SAME, "closes": ""}


@dataclass
class TimeForm(PublishForm):
    """A form that was sent: the fields of the form for publishing that have to do with time, and `closing`."""

    def time_of(self, test: Published) -> tuple[float | None, datetime | None, int | None, int | None] | None:
        """The time limit, the moment of closing and how often it may be begun; None when something is wrong with them."""
        per_browser, per_address = (test.per_browser, test.per_address) if test.by_list else self.limits()
        same = self.filled["minutes"] == blank_time(test)["minutes"]  # a program may have set 7.5
        minutes = test.minutes if same else self._whole("minutes", 1, 24 * 60)
        closing = self._one_of("closing", (SAME, NEVER, AT))
        moment = self._moment("closes")
        if closing == NEVER and self.filled["closes"]:
            self.wrong.setdefault("closes", say("please choose one of the two: a moment, or none"))
        elif closing == AT and not self.filled["closes"]:
            self.wrong["closes"] = say("please enter a date and a time, such as 2026-09-01 08:00")
        elif moment is not None and moment <= now():
            self.wrong["closes"] = say("this time is over; please choose a later one")
        closes = moment if moment is not None else test.closes if closing == SAME else None
        if self.wrong:
            return None
        try:
            Conditions(minutes=minutes, opens=test.opens, closes=closes)
        except QuaestorError:
            self.wrong["closes"] = say("please choose a time after it opens")
            return None
        return minutes, closes, per_browser, per_address


def sent_time(test: Published, value: Callable[[str], str]) -> TimeForm:
    """The form as it was sent; `value` gives the text of a field."""
    return TimeForm({name: value(name) for name in blank_time(test)}, offsets={"closes": value("closes_offset")})
