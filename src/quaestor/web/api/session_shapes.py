"""Sessions as programs send and read them: what is asked and answered, what came of it, and what went wrong."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from quaestor.store.attempts.taking import LONGEST
from quaestor.web.api import examples
from quaestor.web.api.fields import Asked, Name, Number, Probability, Sent, example


class NewSession(Asked):
    """Who takes which test. `code`: a pupil's own code, instead of the name, where the test is for a class list.

    `taker`: any text by which you know the person, or their browser, again, and `address`: from where they come, as the limits of the
    test count them; without an address it is yours.
    """

    model_config = example(test=3, name="Ada")
    test: Number
    name: Name | None = None
    code: Annotated[str, Field(min_length=1, max_length=40)] | None = None
    taker: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    address: Annotated[str, Field(min_length=1, max_length=200)] | None = None


Entry = Annotated[str, Field(max_length=LONGEST)]


class NewAnswer(Asked):
    """The answer to the question of a step: what was typed, or the option that was chosen; a list where several may be. A question of
    several parts takes a map from the names of its parts to entries, or a list with an entry for each.

    `question`: its id; an answer to a question that a correction of the test has replaced meanwhile is then refused.
    """

    model_config = example(step=1, question="Q1", entry="50")
    step: Number
    question: str = Field(default="", max_length=200)
    entry: Entry | Annotated[list[Entry], Field(max_length=200)] | Annotated[dict[Entry, Entry], Field(max_length=200)]


class NewSkip(Asked):
    """The step whose question is skipped."""

    model_config = example(step=2)
    step: Number


class PartShape(Sent):
    """A part of a question: what is to be matched, a place in an order, or a gap, which stands in the text as `[[name]]`."""

    name: str
    kind: Literal["choice", "number", "text"]
    options: list[str]


class Question(Sent):
    """A question as a taker may see it. `text` and `options` are Markdown with LaTeX between `$`; `image` and `sound` are paths here.

    `parts`: of `matching`, `ordering` and `gaps`, which take an entry for each of them.
    """

    model_config = example(**examples.QUESTION)
    id: str
    kind: Literal["choice", "choices", "number", "text", "truefalse", "matching", "ordering", "gaps"]
    text: str
    options: list[str]
    parts: list[PartShape]
    image: str | None
    sound: str | None
    alt: str


class State(Sent):
    """Where a session stands: the step and its question, or why it is over. `most_left`: how many questions the rules can ask at most."""

    model_config = example(**examples.STATE)
    session: int
    step: int
    over: bool
    reason: str
    question: Question | None
    may_skip: bool
    seconds_left: float | None
    most_left: int | None


class Begun(State):
    """A session that has begun. `code`: with it the taker can go on in a browser, at `link`; a pupil's own code, where they have one."""

    model_config = example(**examples.STATE, test=3, code="7KMRX2PQ", link="https://tests.school.example/c/7KMRX2PQ")
    test: int
    code: str
    link: str


class SessionShape(Begun):
    """A session with all that is known of it. `sure`: of how many skills the level is sure; null in an exam until the result is told."""

    model_config = example(**examples.SESSION)
    name: str
    mode: Literal["exam", "practice"]
    started: datetime
    ended: datetime | None
    asked: int
    skills: int
    sure: int | None


class Feedback(Sent):
    """What an answer was worth; only in practice mode. `parts`: of a question of several parts, which of them were right."""

    model_config = example(**examples.FEEDBACK)
    question: str
    value: Literal["right", "partly", "wrong", "skipped"]
    correct: list[str]
    explanation: str
    parts: dict[str, bool]


class Level(Sent):
    """The bounds of the probability of a level; equal where the bank is precise."""

    level: str
    lower: Probability
    upper: Probability


class Found(Sent):
    """What was found of a skill: the level, whether it is sure, which others are possible; `levels`: all bounds, lowest first.

    While there are not `enough` answers to tell, the level and its bounds are null, and the lists are empty. `cut`: the bounds are true but
    rough, as finer ones take longer to work out than the server allows.
    """

    skill: str
    title: str
    enough: bool
    level: str | None
    lower: Probability | None
    upper: Probability | None
    sure: bool
    cut: bool
    others: list[str]
    levels: list[Level]


class Result(Sent):
    """The result of a session; `practise`: the skills to practise, in this order."""

    model_config = example(**examples.RESULT)
    session: int
    test: int
    over: bool
    reason: str
    asked: int
    skills: list[Found]
    practise: list[str]


class Answered(State):
    """After an answer or a skip: where the session stands, feedback in practice mode, and the result when it is over and may be told."""

    model_config = example(**examples.ANSWERED)
    feedback: Feedback | None
    result: Result | None


class Change(Sent):
    """What an answer changed of a skill, for the level found in the end, or where that one looks the same for one that changed."""

    model_config = example(**examples.CHANGE)
    skill: str
    before: Level
    after: Level
    text: str


class Line(Sent):
    """A line of a session's log: `answer` is the answer class (null: skipped), `why` tells why the question was asked, `numbers` the
    numbers behind that, `changes` what the answer changed; skills that look the same in whole per cent are left out.
    """

    model_config = example(**examples.LINE)
    step: int
    question: str
    text: str
    entry: str | None
    answer: str | None
    value: Literal["right", "partly", "wrong", "skipped"]
    seconds: float
    at: datetime
    why: str
    numbers: str
    changes: list[Change]
    before: list[Found]
    after: list[Found]


class History(Sent):
    """What happened in a session."""

    model_config = example(session=12, lines=[examples.LINE])
    session: int
    lines: list[Line]


class Wrong(Sent):
    """A broken rule: where, which, what was found there; perhaps a hint, and the line or row of the file."""

    model_config = example(**examples.WRONG)
    place: str
    rule: str
    value: str
    hint: str
    where: str


class ProblemShape(BaseModel):
    """An error (RFC 9457). `problems`: each broken rule of a bank, of rules or of the request; `step`, `state`: where a session stands."""

    model_config = example(**examples.PROBLEM)
    type: str
    title: str
    status: int
    detail: str
    problems: list[Wrong] | None = None
    step: int | None = None
    state: State | None = None
