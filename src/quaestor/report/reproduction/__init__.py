"""The paper's experiments repeated, as one page with tables and figures: which results hold, which do not, and why."""

from collections.abc import Sequence
from pathlib import Path

from quaestor.errors import QuaestorError
from quaestor.formats.files import save
from quaestor.report import page
from quaestor.report.figures import save_figure
from quaestor.report.reproduction.section import Section, small_svg
from quaestor.simulate.paper.studies import SEED
from quaestor.version import VERSION

TITLE = "A new score for adaptive tests: the experiments repeated"


def write_reproduction(sections: Sequence[Section], folder: Path, command: str, missing: str = "") -> None:
    """Write the tables, the figures, findings.txt and index.html."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise QuaestorError(f"--out {folder}: a folder that can be written, got {error.strerror or error}") from error
    findings = [finding for section in sections for finding in section.findings]
    parts = [
        page.text(
            'Antonucci, Mangili, Bonesana and Adorni, "A New Score for Adaptive Tests in Bayesian and Credal Networks", propose to '
            "choose questions by the mode of the posterior instead of its entropy, and give linear programs that bound this score in "
            "credal networks. Their table and figures are repeated here; the printed numbers are theirs, everything else is worked "
            "out by this package. The idea of the paper does not depend on the details below; they matter to those who build on its "
            "numbers."
        ),
        page.heading("In short"),
        page.listing(findings),
    ]
    if missing:
        parts.append(page.text(missing))
    for section in sections:
        parts += [page.heading(section.title), *section.parts]
        for name, frame in section.frames.items():
            save(frame.to_csv(lineterminator="\n", float_format="%.6g").encode(), folder / f"{name}.csv")
        for name, figure in section.figures.items():
            save_figure(figure, folder, name)
            save(small_svg(figure).encode(), folder / f"{name}.svg")
    frames = [f"{name}.csv" for section in sections for name in section.frames]
    figures = [f"{name}.svg" for section in sections for name in section.figures]
    parts += [page.heading("How to repeat it"), page.code(command), page.text(f"Quaestor {VERSION}; seed {SEED}.")]
    parts += [page.heading("Every number, and the figures"), page.files([*frames, *figures])]
    save("".join(f"- {finding}\n" for finding in findings).encode(), folder / "findings.txt")
    save(page.page(TITLE, parts).encode(), folder / "index.html")
