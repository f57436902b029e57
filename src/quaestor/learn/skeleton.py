"""A bank from a Q-matrix alone: which skills each question needs, with numbers to start learning from.

A Q-matrix is a table with a row a question and a column a skill, 1 where the question needs the skill. Skills get uniform priors; P(right)
of a question rises from `GUESS` to 1 - `SLIP`.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value
from quaestor.extras import from_extra
from quaestor.formats.limits import read_bytes, read_text
from quaestor.formats.separators import separator_of

if TYPE_CHECKING:
    import pandas as pd

SLIP, GUESS = 0.15, 0.2
NEEDS = ("each", "all", "any")
MOST = 10  # skills of one question: its table has a row for each combination of their levels


def read_matrix(path: str | Path) -> "pd.DataFrame":
    """A Q-matrix from a CSV file: the first column holds the ids of the questions, the others are skills."""
    import io

    with from_extra():
        import pandas as pd

    text = read_text(read_bytes(Path(path)))
    try:
        frame = pd.read_csv(io.StringIO(text), sep=separator_of(text.partition("\n")[0]), dtype=str, keep_default_na=False, index_col=0)
    except (ValueError, pd.errors.ParserError) as error:
        raise QuaestorError(f"{path}: a Q-matrix is a table of comma-separated values, got {error}") from error
    try:
        return check_matrix(frame)
    except QuaestorError as error:
        raise QuaestorError(f"{path}: {error}") from error


def check_matrix(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The Q-matrix as 0 and 1, every cell checked."""
    if not len(frame.index) or not len(frame.columns):
        raise QuaestorError(f"Q-matrix: a row for each question and a column for each skill, got {len(frame.index)} x {len(frame.columns)}")
    for kind, names in (("question", frame.index), ("skill", frame.columns)):
        if not names.is_unique:
            raise QuaestorError(f"Q-matrix: a {kind} stands there once, got {format_value(names[names.duplicated()][0])} twice")
    cells = [[str(cell).strip() for cell in row] for row in frame.to_numpy(dtype=object)]
    for question, row in zip(frame.index, cells, strict=True):
        for skill, cell in zip(frame.columns, row, strict=True):
            if cell not in ("0", "1", "0.0", "1.0"):
                raise QuaestorError(f"Q-matrix: row {question}, column {skill}: 0 or 1, got {format_value(cell)}")
        if not any(cell.startswith("1") for cell in row):
            raise QuaestorError(f"Q-matrix: row {question}: a question needs at least one skill, got none")
        if (needed := sum(cell.startswith("1") for cell in row)) > MOST:
            raise QuaestorError(
                f"Q-matrix: row {question}: a question needs at most {MOST} skills, got {needed} (is it a table of answers?)"
            )
    return type(frame)([[int(cell[0]) for cell in row] for row in cells], index=frame.index, columns=frame.columns)


def skeleton(
    matrix: "pd.DataFrame",
    levels: int = 2,
    needs: str = "each",
    title: str = "",
    classes: Mapping[str, Sequence[str]] | None = None,
) -> Bank:
    """A bank with independent skills from a Q-matrix (index: questions; columns: skills).

    P(right) = GUESS + (1 - SLIP - GUESS) * height, where the height of a combination of levels (0 for the lowest, 1 for the highest level
    of a skill) is by `needs`: the mean over the question's skills (`each`), the smallest (`all`) or the largest (`any`). For two levels,
    `all` and `any` have two different rows only, which `learn(..., tied=True)` keeps equal. `classes`: the answer classes of questions,
    worst first (default: wrong, right); with more than two, this is the chance to reach a class, given that the one below is reached.
    """
    if needs not in NEEDS:
        raise QuaestorError(f"skeleton: needs is one of {', '.join(NEEDS)}, got {format_value(needs)}")
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 2:
        raise QuaestorError(f"skeleton: a skill has at least 2 levels, got {levels!r}")
    names = ["no", "yes"] if levels == 2 else [str(level + 1) for level in range(levels)]
    checked = check_matrix(matrix)
    questions = {}
    for question, row in zip(checked.index, checked.to_numpy(), strict=True):
        scope = [str(skill) for skill, needed in zip(checked.columns, row, strict=True) if needed]
        stated: dict[str, Any] = {"skill": scope[0]} if len(scope) == 1 else {"skills": scope}
        own = tuple((classes or {}).get(str(question), ("wrong", "right")))
        listed = {} if own == ("wrong", "right") else {"classes": list(own)}
        questions[str(question)] = {**stated, **listed, "table": _rows(names, len(scope), needs, len(own))}
    skills = {str(skill): {"levels": names} for skill in checked.columns}
    return Bank({**({"title": title} if title else {}), "skills": skills, "questions": questions})


def _rows(names: Sequence[str], skills: int, needs: str, classes: int) -> dict[str, list[float]]:
    rows = {}
    for combination in product(range(len(names)), repeat=skills):
        heights = [level / (len(names) - 1) for level in combination]
        height = {"each": sum(heights) / skills, "all": min(heights), "any": max(heights)}[needs]
        chance = round(GUESS + (1 - SLIP - GUESS) * height, 6)
        rows[", ".join(names[level] for level in combination)] = _reached(chance, classes)
    return rows


def _reached(chance: float, classes: int) -> list[float]:
    """The row where the chance to reach a class, given that the one below is reached, is the same for all classes."""
    if classes == 2:
        return [round(1 - chance, 6), chance]
    reached = [chance**answer for answer in range(classes)] + [0.0]
    return [high - low for high, low in pairwise(reached)]


def one_skill(bank: Bank, levels: int) -> Bank:
    """The baseline for a bank: its questions on one single skill with this number of levels.

    P(class k or better | level) = c^k with c rising in equal steps from GUESS at the lowest to 1 - SLIP at the highest level.
    """
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 2:
        raise QuaestorError(f"one_skill: a skill has at least 2 levels, got {levels!r}")
    names = [str(level + 1) for level in range(levels)]
    skill = next(name for name in ("ability", "ability of all", "ability of all questions") if name not in bank.questions)
    questions: dict[str, Mapping[str, Any]] = {}
    for question in bank.questions.values():
        rows = {}
        for number, name in enumerate(names):
            chance = GUESS + (1 - SLIP - GUESS) * number / (levels - 1)
            rows[name] = _reached(chance, len(question.classes))
        questions[question.id] = {"skill": skill, "classes": list(question.classes), "table": rows}
    return Bank({"title": bank.title, "skills": {skill: {"levels": names}}, "questions": questions})
