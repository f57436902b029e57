"""Real answers with faults in them: which of them are found without being told?

451 people took a German placement test of 95 questions on four skills. The table has no code for a missing answer (0 means wrong or not
taken), and its README tells which faults are known: 56 sections that were most likely not taken, and questions whose key is probably wrong
(Q3, Q7, Q9). Here a bank is made from the Q-matrix alone, a chain of the skills, with 2, 3 or 4 levels; it is learnt, sections that look
untaken are left out, and it is learnt again. The known faults are used only to count what was found. No row of the data set is kept.

    python studies/german_placement.py [FOLDER OF THE DATA]

The data are not part of this repository; without them the script says so.
"""

import sys
from pathlib import Path

import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.diagnose import Diagnosis, diagnose
from quaestor.learn.graphs import chain
from quaestor.learn.sections import Untaken, untaken, without
from quaestor.learn.skeleton import read_matrix, skeleton

DATA = Path(__file__).parents[2] / "shared" / "data" / "german_placement"
RESULTS = Path(__file__).with_name("german-placement")
KEYS = ("Q3", "Q7", "Q9")
SECTIONS = ("kommunikation", "wortschatz", "lesen")
LEVELS = (2, 3, 4)


def known_sections(matrix: pd.DataFrame, responses: pd.DataFrame) -> set[tuple[object, str]]:
    """The sections that the README counts: all zero, of people who have a right answer elsewhere."""
    found = set()
    for section in SECTIONS:
        questions = [str(question) for question in matrix.index[matrix[section] == 1]]
        empty = (responses[questions] == 0).all(axis=1) & (responses != 0).any(axis=1)
        found |= {(person, section) for person in responses.index[empty]}
    return found


def look(matrix: pd.DataFrame, responses: pd.DataFrame, levels: int) -> tuple[qs.Fit, tuple[Untaken, ...], tuple[Diagnosis, ...]]:
    """The fit without sections that look untaken, those sections, and the diagnoses."""
    bank = chain(skeleton(matrix, levels))
    sections = untaken(qs.learn(bank, responses))
    fit = qs.learn(bank, without(responses, sections), folds=5)
    return fit, sections, diagnose(fit)


def row(known: set[tuple[object, str]], fit: qs.Fit, sections: tuple[Untaken, ...], diagnoses: tuple[Diagnosis, ...]) -> dict[str, object]:
    """What was found, counted against what is known."""
    flagged = {(one.person, one.section) for one in sections}
    keys = [one.question for one in diagnoses if "key" in one.flags]
    return {
        "sections known": len(known),
        "of these flagged": len(known & flagged),
        "other sections flagged": len(flagged - known),
        "of people with no right answer": sum(one.alone for one in sections),
        "above 0.95, of those known": sum((one.person, one.section) in known for one in sections if one.probability > 0.95),
        "expected to be taken": f"{sum(1 - one.probability for one in sections):.1f}",
        "known keys flagged": " ".join(key for key in keys if key in KEYS),
        "other keys flagged": " ".join(key for key in keys if key not in KEYS),
        "tell nothing": " ".join(one.question for one in diagnoses if "nothing" in one.flags),
        "misfit": " ".join(one.question for one in diagnoses if "misfit" in one.flags),
        "held out": f"{fit.held_out.mean:.3f}" if fit.held_out else "",
        "held out, error": f"{fit.held_out.error:.3f}" if fit.held_out else "",
    }


def main(folder: Path, results: Path) -> int:
    """Run the study and write its summary."""
    if not (folder / "responses.csv").is_file():
        sys.stderr.write(f"The answers are not part of this repository: {folder.name}/responses.csv was not found.\n")
        return 1
    matrix, responses = read_matrix(folder / "qmatrix.csv"), pd.read_csv(folder / "responses.csv")
    known = known_sections(matrix, responses)
    frame = pd.DataFrame({levels: row(known, *look(matrix, responses, levels)) for levels in LEVELS})
    frame.columns.name, frame.index.name = "levels", "levels"
    results.mkdir(parents=True, exist_ok=True)
    save(frame.to_csv(lineterminator="\n").encode(), results / "summary.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA, RESULTS))
