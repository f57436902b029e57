"""The form by which the time of a published test is changed: another time limit, another moment of closing, open again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.models import Published
from quaestor.store.publishing import Conditions
from quaestor.web.desk.offer import Offer

SAME, NEVER, AT = "same", "never", "at"  # when it closes: as it is, when the teacher closes it, at a moment


def blank_time(test: Published) -> dict[str, str]:
    """The form as it is shown first."""
    return {"minutes": f"{test.minutes:g}" if test.minutes is not None else "", "closing": SAME, "closes": ""}


@dataclass
class TimeForm(Offer):
    """A form that was sent: the fields of the form for publishing that have to do with time, and `closing`."""

    def time_of(self, test: Published) -> tuple[float | None, datetime | None] | None:
        """The time limit and the moment of closing; None when something is wrong with them."""
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
        return minutes, closes


def sent_time(test: Published, value: Callable[[str], str]) -> TimeForm:
    """The form as it was sent; `value` gives the text of a field."""
    return TimeForm({name: value(name) for name in blank_time(test)}, offsets={"closes": value("closes_offset")})
