"""A learnt bank as one page for a teacher: what to check first, what changed, question by question, and how well the bank fits."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from quaestor.bankfile.bank import Bank
from quaestor.formats.files import save
from quaestor.learn.alternatives import Alternative
from quaestor.learn.choice import Choice
from quaestor.learn.dependence import SIZE
from quaestor.learn.diagnose import BITS, CHANCE, GAP, ByLevel, Diagnosis
from quaestor.learn.differential import Differences
from quaestor.learn.fit import Fit
from quaestor.learn.predictions import predict
from quaestor.learn.proposals import proposals
from quaestor.learn.sections import Untaken
from quaestor.learn.verification import Verified
from quaestor.report import page
from quaestor.report.alternatives import RULE
from quaestor.report.differential import group_findings, group_parts
from quaestor.report.figures import COLOURS, SETTINGS, Line, curves, svg
from quaestor.report.fit_words import Quality, quality_parts
from quaestor.report.needed_skills import needed_parts

PANELS = 20  # questions in one figure
ACROSS = 5
CLASS = 25  # people in a class that shares are predicted for
SHOWN = 20  # people, or violations, that a list names


def write_learning(
    fit: Fit,
    learnt: Bank,
    diagnoses: Sequence[Diagnosis],
    untaken: Sequence[Untaken],
    emptied: bool,
    path: Path,
    command: str,
    version: str,
    notes: Sequence[str] = (),
    choice: Choice | None = None,
    verified: Verified | None = None,
    quality: Quality | None = None,
    groups: Differences | None = None,
    stated: bool = True,
) -> None:
    """Write the page. `learnt`: the bank that was saved; `emptied`: whether sections that look untaken were left out.

    `notes`: further sentences about the held-out log-likelihood; `choice`: how the bank was chosen among alternatives;
    `verified`: how its intervals did on people held out; `quality`: how well the whole bank fits, and who does not fit it; `groups`: which
    questions work differently for groups of people; `stated`: whether there was a bank before, whose numbers stand beside the learnt ones.
    """
    parts = [
        page.text(opening(fit, diagnoses, quality)),
        *([page.text(choice.words)] if choice is not None else []),
        page.text(" ".join([summary(fit), *notes])),
        page.heading("What to look at"),
        page.listing(findings(fit, diagnoses, untaken, emptied, groups)),
    ]
    if fit.level is not None:
        parts += [page.heading("What it predicts for new people"), page.text(" ".join(interval_words(fit.level, verified)))]
        parts += [page.table(prediction_table(fit), 3)]
    parts += [] if quality is None else quality_parts(quality)
    parts += [page.heading("The skills"), page.listing(_changes(fit, learnt, "skill", stated))]
    parts += [page.heading("The questions"), page.text(_legend()), page.table(question_table(diagnoses), 3)]
    parts += needed_parts(diagnoses, None if choice is None else choice.found)
    parts += [page.heading("Expected and observed, by level"), page.text(_figure_words())]
    parts += [page.figure(svg(figure), caption) for figure, caption in level_figures(diagnoses)]
    parts += [page.table(level_table(diagnoses), 3), *group_parts(groups)]
    if choice is not None:
        parts += [page.heading("The alternatives"), page.text(RULE), page.table(choice.table(), 4)]
    if fit.violations:
        parts += [page.heading("Where answers go against the order of the levels"), page.text(_violation_words(fit))]
        parts += [page.table(_violations(fit), 3)]
    title = "Before and after, in words" if stated else "The questions, in words"
    parts += [page.heading(title), page.listing(_changes(fit, learnt, "question", stated))]
    parts += [page.heading("How the fit was found"), page.listing(_how(fit))]
    trace = Line("objective", np.array(fit.trace), None, 0)
    parts += [page.figure(svg(curves([trace], "objective", x="EM steps")), "The objective after each step of EM: it never falls.")]
    parts += [page.heading("How to repeat it"), page.code(command)]
    parts += [page.text(f"Quaestor {version}; the bank before, version `{fit.given.version}`; learnt, version `{learnt.version}`.")]
    save(page.page(f"{fit.given.title or 'A bank'}, learnt from answers", parts).encode(), path)


def opening(fit: Fit, diagnoses: Sequence[Diagnosis], quality: Quality | None) -> str:
    """What was learnt, and how much there is to look at, in two plain sentences."""
    levels = sorted({len(skill.levels) for skill in fit.bank.skills.values()})
    steps = f"{levels[0]} levels" if len(levels) == 1 else f"{levels[0]} to {levels[-1]} levels"
    questions, people = sum(bool(one.flags) for one in diagnoses), len(quality.people) if quality else 0
    return (
        f"{_counted(len(fit.people), 'person', 'people')} answered {_counted(fit.layout.questions, 'question', 'questions')};"
        f" the bank has {_counted(len(fit.bank.skills), 'skill', 'skills')} with {steps}."
        f" To look at: {_counted(questions, 'question', 'questions')}, {_counted(people, 'person', 'people')}."
    )


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def summary(fit: Fit) -> str:
    """One paragraph: the data and the fit."""
    cells = len(fit.people) * fit.layout.questions
    words = (
        f"{len(fit.people):,} people gave {fit.people.answers:,} answers to {fit.layout.questions} questions"
        f" ({fit.people.answers / cells:.0%} of all cells). Log-likelihood {fit.log_likelihood:,.1f}, {fit.parameters} free numbers,"
        f" BIC {fit.bic:,.1f}."
    )
    if fit.held_out is not None:
        words += (
            f" People held out in {fit.held_out.folds} parts have a mean log-likelihood of {fit.held_out.mean:.3f}"
            f" ± {2 * fit.held_out.error:.3f} (two standard errors)."
        )
    return words


def interval_words(level: float, verified: Verified | None) -> list[str]:
    """What the intervals mean, and how they did on people held out."""
    share = f"{100 * level:g}"
    words = [
        f"The numbers are intervals: of 100 shares of right answers that the bank predicts for new people like these, about {share} hold.",
        "This is so for the shares that the bank predicts, not for each number in it.",
    ]
    if verified is not None:
        words.append(
            f"Checked on people held out: learnt from one half of the people, it predicted {verified.shares} shares in the other half, with"
            f" the play of chance; {verified.inside} of them ({verified.inside / verified.shares:.0%}) lay inside, about"
            f" {level * verified.shares:.0f} were expected."
        )
    return words


def prediction_table(fit: Fit) -> pd.DataFrame:
    """The predicted shares: of people at each level, and with each answer but the lowest; in the long run, and in a class of `CLASS`."""
    whole, some = predict(fit), predict(fit, people=CLASS)
    named = [(skill.id, skill.levels, whole.skills[skill.id], some.skills[skill.id], 0) for skill in fit.given.skills.values()]
    named += [(one.id, one.classes, whole.questions[one.id], some.questions[one.id], 1) for one in fit.given.questions.values()]
    rows = [
        {
            "of": name,
            "share": state,
            "from": float(long.lower[number]),
            "to": float(long.upper[number]),
            f"of {CLASS} people, from": float(CLASS * short.lower[number]),
            "to at most": float(CLASS * short.upper[number]),
        }
        for name, states, long, short, first in named
        for number, state in enumerate(states)
        if number >= first
    ]
    return pd.DataFrame(rows).set_index("of")


def held_out_notes(fit: Fit, taken: Alternative, emptied: bool, is_chosen: bool = False) -> list[str]:
    """What a reader must know about the held-out log-likelihood: which choices were made with and without the held-out people."""
    if fit.held_out is None:
        return []
    learnt = [*(["the skills"] if taken.found else []), *(["the tree"] if taken.links == "tree" else [])]
    verb = "were" if taken.found else "was"
    notes = [f"{' and '.join(learnt).capitalize()} {verb} learnt anew for each fold, without the people held out."] if learnt else []
    if is_chosen:
        notes.append("The bank was chosen by people held out, so that this number is a little too good.")
    if emptied:
        notes.append(
            "The sections left out were chosen with the answers of all people, those held out included, so the held-out log-likelihood"
            " is a little too good."
        )
    return notes


def findings(
    fit: Fit, diagnoses: Sequence[Diagnosis], untaken: Sequence[Untaken], emptied: bool, groups: Differences | None = None
) -> list[str]:
    """Sentences, the most urgent first: warnings, untaken sections, keys, copies, misfits, questions without information, groups."""
    found = [str(warning) for warning in fit.warnings]
    if untaken:
        counts = pd.Series([one.section for one in untaken]).value_counts()
        listed = ", ".join(f"{section} {count}" for section, count in counts.items())
        taken = sum(1 - one.probability for one in untaken)
        people = list(dict.fromkeys(str(one.person) for one in untaken))
        who = ", ".join(people[:SHOWN]) + (f" and {len(people) - SHOWN} more" if len(people) > SHOWN else "")
        what = "They were left out." if emptied else "They still count as wrong answers: leave them out with `--untaken empty`."
        found.append(
            f"{len(untaken)} sections look untaken, all answers wrong where that is hard to believe ({listed}); about {taken:.1f} of them"
            f" were probably taken after all. {what} Rows: {who}."
        )
    for flag in ("key", "skills", "misfit", "nothing"):
        found += [f"`{one.question}`: {' '.join(_own_words(one))}" for one in diagnoses if one.flags[:1] == (flag,)]
        if flag == "key":
            found += _pairs(diagnoses)
    found += group_findings(groups)
    found += [f"`{one.question}`: {one.row.words}" for one in diagnoses if one.row is not None and one.row.kind == "fewer"]
    return found or ["Nothing stands out."]


def _own_words(one: Diagnosis) -> list[str]:
    return [words for flag, words in zip(one.flags, one.words, strict=True) if flag != "alike"]


def _pairs(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Sentences about questions that are answered alike, the strongest first; many of them point to a skill that the bank lacks."""
    pairs = sorted({pair for one in diagnoses for pair in one.pairs}, key=lambda pair: -pair.size)
    found = [pair.words for pair in pairs[:SHOWN]]
    if len(pairs) > SHOWN:
        found.append(
            f"{len(pairs) - SHOWN} more pairs are answered alike. So many are hardly copies: the questions may need another skill."
        )
    return found


def question_table(diagnoses: Sequence[Diagnosis]) -> pd.DataFrame:
    """The diagnoses, a row a question."""
    rows = {
        one.question: {
            "answers": one.answers,
            "look at": ", ".join(one.flags),
            "share right": one.score,
            "with the rest": one.rest,
            "with the level": one.with_level,
            "bits": one.information,
            "largest gap": one.gap,
            "p of the fit": one.misfit,
        }
        for one in diagnoses
    }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "question"
    return frame


def level_table(diagnoses: Sequence[Diagnosis]) -> pd.DataFrame:
    """A row a question, skill and level: the observed share right with its standard error, and the expected one."""
    rows = [
        {
            "question": one.question,
            "skill": by.skill,
            "level": level,
            "people": float(by.people[number]),
            "observed": float(by.observed[number]),
            "expected": float(by.expected[number]),
            "error": float(by.error[number]),
        }
        for one in diagnoses
        if one.answers
        for by in one.by_level
        for number, level in enumerate(by.levels)
    ]
    return pd.DataFrame(rows).set_index("question")


def level_figures(diagnoses: Sequence[Diagnosis]) -> list[tuple[Figure, str]]:
    """Figures of at most `PANELS` panels, one panel for each skill of each question, each figure with its caption."""
    shown = [(one, by) for one in diagnoses if one.answers for by in one.by_level]
    found = []
    for start in range(0, len(shown), PANELS):
        chosen = shown[start : start + PANELS]
        rows = -(-len(chosen) // ACROSS)
        with mpl.rc_context(SETTINGS):
            figure = Figure(figsize=(7.2, 1.55 * rows + 0.3), layout="constrained")
            panels = figure.subplots(rows, ACROSS, sharey=True, squeeze=False).flat
            for axes, (one, by) in zip(panels, chosen, strict=False):
                _panel(axes, one, by)
            for axes in panels[len(chosen) :]:
                axes.set_axis_off()
        caption = (
            f"Share right by level, {chosen[0][0].question} to {chosen[-1][0].question}: the line is expected by the learnt bank, the"
            " points are observed, with two standard errors to each side; ▲ marks questions to look at. A question on several skills has"
            " a panel for each of them."
        )
        found.append((figure, caption))
    return found


def _panel(axes: Axes, one: Diagnosis, by: ByLevel) -> None:
    x = np.arange(len(by.levels))
    axes.plot(x, by.expected, color=COLOURS[0], lw=1.4)
    axes.errorbar(x, by.observed, 2 * by.error, fmt="o", color=COLOURS[1], markersize=3.5, lw=1, capsize=2)
    skill = f" · {by.skill[:12]}" if len(one.by_level) > 1 else ""
    axes.set_title(f"{one.question}{skill}{' ▲' if one.flags else ''}", fontsize=8, loc="left")
    axes.set_xticks(x, [level[:6] for level in by.levels], fontsize=7)
    axes.set_xlim(-0.4, len(x) - 0.6)
    axes.set_ylim(-0.03, 1.03)
    axes.tick_params(axis="y", labelsize=7)


def _legend() -> str:
    return (
        "`with the rest`: correlation of the score with that on other questions of the same skills; `with the level`: with the level"
        " predicted from the other answers; `bits`: information of the answer about the skills; `largest gap`: the largest difference"
        " between observed and predicted share right in a fifth of the people; `p of the fit`: how often chance makes such gaps; small"
        " ones speak against it. A key is doubted when a correlation is negative beyond chance, `skills` means that other skills predict"
        f" better, a question tells nothing below {BITS:g} bits, a misfit has a gap of at least {GAP:g} beyond chance, and `alike` are"
        f" pairs whose residuals correlate by at least {SIZE:g} beyond chance; of the findings of one kind at most {CHANCE:.0%} are"
        " expected to be chance."
    )


def _figure_words() -> str:
    return (
        "A person counts at each level with the probability of that level given the person's other answers. Where these say little, the"
        " levels blur, in the expected shares as in the observed ones: compare these two with each other, not with the table."
    )


def _violation_words(fit: Fit) -> str:
    rule = "The learnt tables are flat there." if fit.aim.monotone else "The rule was switched off: the learnt tables fall there."
    return f"A class, or a better one, is less likely at the higher level. {rule} The {min(SHOWN, len(fit.violations))} largest falls."


def _violations(fit: Fit) -> pd.DataFrame:
    rows = [
        {"question": one.question, "class": one.answer, "from": one.lower, "to": one.higher, "fall": one.fall, "error": one.error}
        for one in fit.violations[:SHOWN]
    ]
    return pd.DataFrame(rows).set_index("question")


def _changes(fit: Fit, learnt: Bank, kind: str, stated: bool) -> list[str]:
    listed = [one for one in proposals(fit, learnt=learnt) if one.kind == kind]
    return [f"`{one.id}` before: {one.before} Learnt: {one.after}" if stated else f"`{one.id}`: {one.after}" for one in listed]


def _how(fit: Fit) -> list[str]:
    what = "each row of the skills' own tables" if fit.aim.curves else "each row of the bank's own tables"
    prior = f"{what} counted as {fit.weight:g} answers" if fit.weight else "the bank's own tables did not count"
    steps = "1 step" if fit.iterations == 1 else f"{fit.iterations} steps"
    said = [
        f"EM, {steps}{'' if fit.converged else ', stopped before it converged'}; {prior}.",
        "The learnt tables never fall from a level to a higher one."
        if fit.aim.monotone
        else "P(right) was allowed to fall with the level.",
    ]
    if len(fit.restarts) > 1:
        ends = ", ".join(f"{end:,.2f}" for end in fit.restarts)
        said.append(f"Final objectives, from the bank's own tables first: {ends}; the largest was kept.")
    return said
