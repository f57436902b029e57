"""Every step of every simulated student on disk: one Parquet file a part, and what was simulated in `_simulation.json`, which readers of a
folder of Parquet (`pandas.read_parquet`) leave alone because of how its name begins.

A row a student and step (0: before the first question): `student`, `step`, `question`, `answer` (the class; empty for a skip), `rule`
(in the last row: what stopped the test), for each skill the true level, and for each level the lower and upper probability then; for
each question held out (`held out 0`, ...) the probability of the answer given. An interrupted run continues after the files that exist.
"""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, path_of
from quaestor.extras import from_extra
from quaestor.simulate.run import Record

if TYPE_CHECKING:
    import pyarrow as pa


class Folder:
    """The files of one simulation."""

    def __init__(self, path: str | Path, described: dict[str, Any]) -> None:
        self._path = path_of("out", path)
        about, older = self._path / "_simulation.json", self._path / "simulation.json"  # as earlier versions called it
        text = json.dumps(described, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            if older.exists() and not about.exists():
                older.replace(about)
            if about.exists() and about.read_text(encoding="utf-8") != text:
                raise QuaestorError(f"{about}: a folder holds one simulation, got another one there")
            about.write_text(text, encoding="utf-8")
        except OSError as error:
            raise QuaestorError(f"{path}: a folder that can be written, got {error.strerror or error}") from error

    def _file(self, number: int) -> Path:
        return self._path / f"part-{number:06d}.parquet"

    def has(self, number: int) -> bool:
        """Whether the file of a part exists."""
        return self._file(number).exists()

    def read(self, number: int, bank: Bank) -> Record:
        """The record of a part from its file."""
        with from_extra():
            import pyarrow as pa  # only here: it takes long to import
            import pyarrow.parquet as pq

        try:
            return from_table(pq.read_table(self._file(number)), bank)
        except (OSError, pa.ArrowInvalid, KeyError) as error:
            raise QuaestorError(f"{self._file(number)}: a part of the simulation, got {error}; delete it to work it out anew") from error

    def write(self, number: int, data: bytes) -> None:
        """Write the file of a part atomically."""
        waiting = self._file(number).with_suffix(".writing")
        waiting.write_bytes(data)
        waiting.replace(self._file(number))


def to_bytes(record: Record, bank: Bank) -> bytes:
    """A record as a Parquet file."""
    with from_extra():
        import pyarrow.parquet as pq  # only here: it takes long to import

    buffer = io.BytesIO()
    pq.write_table(to_table(record, bank), buffer, compression="zstd")
    return buffer.getvalue()


def to_table(record: Record, bank: Bank) -> "pa.Table":
    """A record as a table, with a row for each student and step of their test."""
    with from_extra():
        import pyarrow as pa  # only here: it takes long to import

    students = len(record.asked)
    there = np.concatenate([np.ones((students, 1), dtype=bool), record.asked >= 0], axis=1)
    row, step = np.nonzero(there)
    ids = np.array([*bank.questions, ""], dtype=object)
    classes = [question.classes for question in bank.questions.values()]
    asked = np.concatenate([np.full((students, 1), -1), record.asked], axis=1)[there]
    given = np.concatenate([np.full((students, 1), -1), record.answers], axis=1)[there]
    answers = [classes[place][answer] if answer >= 0 else "" for place, answer in zip(asked.tolist(), given.tolist(), strict=True)]
    last = step == record.lengths[row]
    columns: dict[str, Any] = {
        "student": record.numbers[row],
        "step": step.astype(np.int16),
        "question": pa.array(ids[asked].tolist(), pa.string()).dictionary_encode(),
        "answer": pa.array(answers, pa.string()).dictionary_encode(),
        "rule": pa.array(np.where(last, record.rule[row], "").tolist(), pa.string()).dictionary_encode(),
    }
    for number, skill in enumerate(bank.skills.values()):
        columns[f"true {skill.id}"] = record.levels[row, number].astype(np.int16)
        for level, name in enumerate(skill.levels):
            low, high = record.nodes[number]
            columns[f"lower {skill.id}: {name}"] = low[record.node[row, step], level]
            columns[f"upper {skill.id}: {name}"] = high[record.node[row, step], level]
    if record.held_out is not None:
        columns |= {f"held out {number}": record.held_out[row, step, number] for number in range(record.held_out.shape[2])}
    return pa.table(columns)


def from_table(table: "pa.Table", bank: Bank) -> Record:
    """The record that a table was made from."""
    columns = {name: table.column(name).to_pylist() for name in ("question", "answer", "rule")}
    student, step = (table.column(name).to_numpy() for name in ("student", "step"))
    numbers = np.unique(student)
    row = np.searchsorted(numbers, student)
    steps = int(step.max())
    place = {name: number for number, name in enumerate(bank.questions)}
    asked, answers = (np.full((len(numbers), steps), -1, dtype=np.int32) for _ in range(2))
    rule = np.full(len(numbers), "", dtype=object)
    for at, (name, answer, stopped) in enumerate(zip(*columns.values(), strict=True)):
        if step[at] > 0:
            asked[row[at], step[at] - 1] = place[name]
            answers[row[at], step[at] - 1] = bank.questions[name].classes.index(answer) if answer else -1
        if stopped:
            rule[row[at]] = stopped
    levels = np.zeros((len(numbers), len(bank.skills)), dtype=np.intp)
    bounds = []
    length = (asked >= 0).sum(axis=1)
    kept = np.minimum(np.arange(steps + 1)[None], length[:, None])  # after the end the last values are kept
    for number, skill in enumerate(bank.skills.values()):
        levels[row, number] = table.column(f"true {skill.id}").to_numpy()
        ends = []
        for end in ("lower", "upper"):
            values = np.zeros((len(numbers), steps + 1, len(skill.levels)))
            for level, name in enumerate(skill.levels):
                values[row, step, level] = table.column(f"{end} {skill.id}: {name}").to_numpy()
            ends.append(np.take_along_axis(values, kept[:, :, None], axis=1))
        bounds.append((ends[0], ends[1]))
    held = [name for name in table.column_names if name.startswith("held out ")]
    chances = np.zeros((len(numbers), steps + 1, len(held)))
    for number, name in enumerate(held):
        chances[row, step, number] = table.column(name).to_numpy()
    held_out = np.take_along_axis(chances, kept[:, :, None], axis=1) if held else None
    return Record.of(numbers, levels, asked, answers, bounds, rule, held_out)
