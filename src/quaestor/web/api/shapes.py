"""What goes over the wire, as it is described to programs: the bodies of requests, which are also checked by these shapes, and of replies.

Nothing is guessed: a number is no text, a field that is not known is refused. Replies are made by the files of their nouns; a test holds
every reply against its shape.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from quaestor.store.attempts.taking import LONGEST
from quaestor.web.api import examples
from quaestor.web.api.fields import MOST as MOST
from quaestor.web.api.fields import Asked, Name, Number, Probability, Sent, Time, example, finite, whole
from quaestor.web.api.fields import moment as moment

Ending = Literal[".yaml", ".yml", ".json", ".csv", ".xlsx"]


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


class NewBank(Asked):
    """A bank file: its ending, its content as text (or base64, as XLSX needs), and the images that its questions name, in base64."""

    model_config = example(ending=".yaml", content=examples.BANK)
    ending: Ending
    content: str
    encoding: Literal["text", "base64"] = "text"
    images: dict[str, str] = Field(default_factory=dict, max_length=500)


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


class NewClass(Asked):
    """A class: its title, the names of its pupils, and its id in your own system, if you have one."""

    model_config = example(title="5a", names=["Ada Berg", "Ben Ott"])
    title: Name
    names: list[Name] = Field(default_factory=list, max_length=2000)
    source: str = Field(default="", max_length=200)


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


class BankSummary(Sent):
    """A bank that is kept: one version of it, which never changes."""

    model_config = example(**examples.BANK_SUMMARY)
    id: int
    title: str
    version: str
    model_version: str
    questions: int
    images: list[str]
    created: datetime


class BankSkill(Sent):
    """A skill of a bank, its levels the lowest first."""

    skill: str
    title: str
    levels: list[str]


class BankShape(BankSummary):
    """A bank with its skills, and what may be a mistake in it."""

    model_config = example(**examples.BANK_REPLY)
    skills: list[BankSkill]
    warnings: list[Wrong]


class BankList(Sent):
    """The banks of a teacher, the newest first."""

    model_config = example(banks=[examples.BANK_SUMMARY])
    banks: list[BankSummary]


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


class PupilShape(Sent):
    """A pupil of a class. `code` and `link` open all tests of the class; `source`: the id in the school's own system.

    More time than the others: `time_factor` times the limit of every test, and `extra_minutes`.
    """

    model_config = example(**examples.PUPIL)
    id: int
    name: str
    code: str
    link: str
    source: str
    time_factor: float
    extra_minutes: float


class ClassSummary(Sent):
    """A class, how many `pupils` it has, and since when it is archived, if it is."""

    model_config = example(**examples.CLASS, pupils=2)
    id: int
    title: str
    source: str
    created: datetime
    archived: datetime | None
    pupils: int


class ClassList(Sent):
    """The classes of a teacher by title, archived ones last."""

    model_config = example(classes=[{**examples.CLASS, "pupils": 2}])
    classes: list[ClassSummary]


class ClassShape(Sent):
    """A class with its pupils, and the numbers of its `tests`, the newest first."""

    model_config = example(**examples.CLASS, pupils=[examples.PUPIL], tests=[3])
    id: int
    title: str
    source: str
    created: datetime
    archived: datetime | None
    pupils: list[PupilShape]
    tests: list[int]


class GrowthPoint(Sent):
    """What one test told of a skill: bounds of its levels, the lowest first, empty where there were too few answers to tell.

    `starts`: whether the test began with what earlier ones told.
    """

    test: int
    at: datetime
    answers: int
    level: str | None
    lower: list[Probability]
    upper: list[Probability]
    sure: bool
    starts: bool


class GrownSkill(Sent):
    """A skill over all tests that measured it: those whose banks have it with the same id and the same levels."""

    skill: str
    title: str
    levels: list[str]
    points: list[GrowthPoint]


class GrowthShape(Sent):
    """How a pupil grows."""

    model_config = example(pupil=7, name="Ada Berg", skills=[examples.GROWN])
    pupil: int
    name: str
    skills: list[GrownSkill]


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
