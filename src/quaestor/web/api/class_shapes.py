"""Classes, pupils and growth as programs send and read them."""

from datetime import datetime

from pydantic import Field

from quaestor.web.api import examples
from quaestor.web.api.fields import Asked, Name, Probability, Sent, example


class NewClass(Asked):
    """A class: its title, the names of its pupils, and its id in your own system, if you have one."""

    model_config = example(title="5a", names=["Ada Berg", "Ben Ott"])
    title: Name
    names: list[Name] = Field(default_factory=list, max_length=2000)
    source: str = Field(default="", max_length=200)


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
