"""Published tests and their results as programs send and read them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from quaestor.web.api import examples
from quaestor.web.api.fields import Asked, Number, Probability, Sent, Time, example, finite, whole


class NewTest(Asked):
    """What is published: a bank, rules as in a rules file (docs/rules.md), and the conditions of the test."""

    model_config = example(**examples.NEW_TEST)
    bank: Number
    title: str = Field(default="", max_length=200)
    rules: Annotated[dict[str, Any], AfterValidator(finite)] = Field(default_factory=dict)
    mode: Literal["exam", "practice"] = "exam"
    minutes: Annotated[float, Field(gt=0, le=24 * 60)] | None = None
    opens: Time | None = None
    closes: Time | None = None
    retakes: Literal["none", "any", "best"] = "none"
    by_list: bool = False
    keep_days: Annotated[int, BeforeValidator(whole), Field(ge=1, le=36500)] | None = None
    results: Literal["at once", "closed"] = "at once"
    per_browser: Annotated[int, BeforeValidator(whole), Field(ge=1, le=100_000)] | None = None
    per_address: Annotated[int, BeforeValidator(whole), Field(ge=1, le=100_000)] | None = None
    class_id: Number | None = None
    half_life: Annotated[float, Field(gt=0, le=3650)] | None = None


class CorrectionShape(Sent):
    """A correction of a test: the `key` of a question was put right, or it was `withdrawn` or `restored`; `note`: why."""

    model_config = example(**examples.CORRECTION)
    revision: int
    kind: Literal["key", "withdrawn", "restored"]
    question: str
    note: str
    at: datetime


class PublishedShape(Sent):
    """A published test. `code` and `link` let takers in; `revision`: how often it was corrected, `corrections`: each of them."""

    model_config = example(**examples.PUBLISHED)
    id: int
    title: str
    bank: int
    bank_version: str
    code: str
    link: str
    rules: dict[str, Any]
    mode: Literal["exam", "practice"]
    minutes: float | None
    opens: datetime | None
    closes: datetime | None
    retakes: Literal["none", "any", "best"]
    by_list: bool
    keep_days: int | None
    results: Literal["at once", "closed"]
    per_browser: int | None
    per_address: int | None
    class_id: int | None
    half_life: float | None
    revision: int
    corrections: list[CorrectionShape]
    created: datetime


class PublishedList(Sent):
    """The tests of a teacher, the newest first."""

    model_config = example(tests=[examples.PUBLISHED])
    tests: list[PublishedShape]


class ResultSkill(Sent):
    """The level that was found of a skill, and whether it is sure; null while there are too few `answers` to tell."""

    skill: str
    answers: int
    level: str | None
    lower: Probability | None
    upper: Probability | None
    sure: bool


class ResultRow(Sent):
    """A session at a glance. `pupil`: the number of the pupil on the class list; `counts`: whether it is the session that counts for them.

    `questions` were put, `counted` of them count, `right` of them were answered in the best way; `points`: partly right ones count in
    part; `grade`: by the scheme of the test, if it has one. `look`: whether the answers fit together so badly that somebody should have a
    look; null while it runs, and until it is known.
    """

    model_config = example(**examples.ROW)
    session: int
    pupil: int | None
    counts: bool
    name: str
    code: str
    state: Literal["running", "over"]
    started: datetime
    ended: datetime | None
    minutes: float
    questions: int
    counted: int
    right: int
    points: float
    grade: str | None
    reason: str
    look: bool | None
    skills: list[ResultSkill]


class Results(Sent):
    """The results of a test, a row a session."""

    model_config = example(test=3, results=[examples.ROW])
    test: int
    results: list[ResultRow]
