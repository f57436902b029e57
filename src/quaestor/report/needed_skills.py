"""Which skills the questions need: rows that the answers contradict, and skills that were found in the answers."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from quaestor.learn.choice import Found
from quaestor.learn.diagnose import Diagnosis
from quaestor.report import page


def needed_parts(diagnoses: Sequence[Diagnosis], found: Found | None) -> list[str]:
    """The parts of a page; none where there is one skill."""
    checked = [one.row for one in diagnoses if one.row is not None]
    if not checked and found is None:
        return []
    parts = [page.heading("Which skills the questions need")]
    if found is not None:
        parts += [page.text(found_words(found)), page.table(found_table(found), 2)]
    if checked:
        changed = [row for row in checked if row.kind != "stated"]
        parts.append(page.text(_rows_words(len(checked), len(changed))))
        if changed:
            parts.append(page.table(row_table(diagnoses), 4))
    return parts


def found_words(found: Found) -> str:
    """What the table of found skills means."""
    return (
        f"{len(found.matrix.columns)} skills were found in the answers. They have no names: give them some after reading their questions."
        f" `found again`: the share of {found.stability.samples} other samples of these people, drawn with replacement, in which the"
        " question needs the same skills."
        + ("" if found.is_told else " That is too seldom: the skills were not taken, and other people would give others.")
    )


def found_table(found: Found) -> pd.DataFrame:
    """A row a question: its skills, and how often they were found again."""
    needed = [", ".join(str(skill) for skill, one in row.items() if one) for _, row in found.matrix.iterrows()]
    frame = pd.DataFrame({"skills": needed, "found again": found.stability.same}, index=found.matrix.index)
    frame.index.name = "question"
    return frame


def row_table(diagnoses: Sequence[Diagnosis]) -> pd.DataFrame:
    """The rows that the answers contradict, the clearest first."""
    rows = [one.row for one in diagnoses if one.row is not None and one.row.kind != "stated"]
    kinds = {"other": "needs others", "fewer": "needs fewer"}
    shown = [
        {
            "question": row.question,
            "stated": ", ".join(row.stated),
            "by the answers": ", ".join(row.found),
            "finding": kinds[row.kind],
            "log loss lower by": row.gain,
            "error": row.error,
        }
        for row in sorted(rows, key=lambda row: row.chance)
    ]
    return pd.DataFrame(shown).set_index("question")


def plain_rows(diagnoses: Sequence[Diagnosis]) -> list[dict[str, Any]]:
    """The rows that the answers contradict, for a machine."""
    rows = [one.row for one in diagnoses if one.row is not None and one.row.kind != "stated"]
    names = ("question", "stated", "found", "gain", "error", "chance", "kind")
    return [{name: getattr(row, name) for name in names} for row in rows]


def plain_found(found: Found | None) -> dict[str, Any] | None:
    """Skills that were found, for a machine."""
    if found is None:
        return None
    rows = {
        str(name): {"skills": [str(skill) for skill, one in row.items() if one], "found again": float(same)}
        for (name, row), same in zip(found.matrix.iterrows(), found.stability.same, strict=True)
    }
    return {"skills": len(found.matrix.columns), "taken": found.is_told, "samples": found.stability.samples, "questions": rows}


def _rows_words(checked: int, changed: int) -> str:
    words = (
        f"The skills of {checked} questions were held against other sets of skills: each set predicts the answers of people held out from"
        " their other answers."
    )
    if not changed:
        return f"{words} None predicts better than those of the bank."
    return (
        f"{words} `needs others`: another set predicts better, beyond chance; of these findings at most 5 % are expected to be false."
        " `needs fewer`: a part of the stated skills predicts as well, so the answers do not show the rest. Where many questions seem to"
        " need others, the skills may have too few levels: see the alternatives."
    )
