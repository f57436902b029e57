"""Banks as programs send and read them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from quaestor.web.api import examples
from quaestor.web.api.fields import Asked, Sent, example
from quaestor.web.api.session_shapes import Wrong

Ending = Literal[".yaml", ".yml", ".json", ".csv", ".xlsx"]


class NewBank(Asked):
    """A bank file: its ending, its content as text (or base64, as XLSX needs), and the images that its questions name, in base64."""

    model_config = example(ending=".yaml", content=examples.BANK)
    ending: Ending
    content: str
    encoding: Literal["text", "base64"] = "text"
    images: dict[str, str] = Field(default_factory=dict, max_length=500)


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
