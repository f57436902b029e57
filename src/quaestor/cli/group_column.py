"""The column of a file of answers that says which group a person belongs to: it is read beside the answers and is no question."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from quaestor.errors import QuaestorError, format_value, nearest
from quaestor.learn.answers import Answers, is_long
from quaestor.learn.membership import grouped


@dataclass
class GroupColumn:
    """The column `name` of a file, collected as the file is read in parts; `person`: the column that names the people, if there is one."""

    path: str
    name: str
    person: str | None = None
    parts: "list[pd.Series[Any]]" = field(default_factory=list)
    is_long: bool = False

    def taken(self, frames: "Iterable[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
        """The parts of the table without the column."""
        for frame in frames:
            if self.name not in frame.columns or self.name == self.person:
                hint = nearest(self.name, [str(one) for one in frame.columns])
                shown = format_value(self.name) + (f" ({hint})" if hint else "")
                raise QuaestorError(f"{self.path}: --group names a column that is no question and no name, got {shown}")
            column, others = frame[self.name], frame.drop(columns=self.name)
            named = others.rename(columns={self.person: "person"}) if self.person is not None else others
            self.is_long = is_long(named)
            self.parts.append(column.set_axis(pd.Index(named["person"])) if self.is_long else column)
            yield others

    def labels(self, answers: Answers) -> list[Any]:
        """The label of each row of the answers, checked before anything is learnt."""
        if self.name in answers.columns:
            raise QuaestorError(f"{self.path}: --group names a column that is no question and no name, got {format_value(self.name)}")
        column = pd.concat(self.parts)
        labels: list[Any] = column.to_list()
        if self.is_long:
            pairs = column.dropna().reset_index().drop_duplicates()
            twice = pairs[pairs["person"].duplicated()]
            if len(twice):
                raise QuaestorError(f"{self.path}: a person belongs to one group, got two of {format_value(twice['person'].iloc[0])}")
            known = dict(zip(pairs["person"], pairs[self.name], strict=True))
            labels = [known.get(name) for name in answers.names.tolist()]
        grouped([label for label, count in zip(labels, answers.counts, strict=True) if count])
        return labels
