"""One full step of a test: all posteriors, all hypothetical answers on each question's own skills; pyAgrum beside it where installed.

Run with one thread: `make bench` sets OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS to 1.
"""

import time
from collections.abc import Callable

import numpy as np
from machine import describe

import quaestor as qs
from quaestor.inference.banks import bank_model
from quaestor.inference.groups import bank_batches
from quaestor.inference.lookahead import lookahead


def median(function: Callable[[], object], repeats: int) -> float:
    """Milliseconds, after one run that warms caches."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e3


def chain_bank(skills: int, levels: int, questions: int, width: float = 0.0, seed: int = 1) -> qs.Bank:
    """Skills in a chain, every question with its own numbers."""
    random = np.random.default_rng(seed)
    names = [str(level) for level in range(levels)]
    listed: dict[str, dict[str, object]] = {"s0": {"levels": names}}
    for number in range(1, skills):
        listed[f"s{number}"] = {"levels": names, "parents": [f"s{number - 1}"], "strength": 0.6}
    right = np.sort(random.uniform(0.1, 0.9, (questions, levels)), axis=1).round(4)
    asked = {f"Q{number}": {"skill": f"s{number % skills}", "right": right[number].tolist()} for number in range(questions)}
    return qs.Bank({"skills": listed, "questions": asked, **({"imprecision": width} if width else {})})


def tree_bank(skills: int, questions: int) -> qs.Bank:
    """A binary tree of two-level skills."""
    listed: dict[str, dict[str, object]] = {"s0": {}}
    for number in range(1, skills):
        listed[f"s{number}"] = {"parents": [f"s{(number - 1) // 2}"], "strength": 0.6}
    asked = {f"Q{number}": {"skill": f"s{number % skills}", "right": [0.3, 0.8]} for number in range(questions)}
    return qs.Bank({"skills": listed, "questions": asked})


def answers_of(bank: qs.Bank, count: int, seed: int = 0) -> dict[str, int]:
    """Answers of one simulated taker to random questions."""
    random = np.random.default_rng(seed)
    truth = {skill.id: int(random.integers(len(skill.levels))) for skill in bank.skills.values()}
    found = {}
    for name in random.permutation(list(bank.questions))[:count]:
        question = bank.questions[str(name)]
        row = question.table.centre().lower[tuple(truth[skill] for skill in question.skills)]
        found[str(name)] = int(random.choice(len(row), p=row / row.sum()))
    return found


def agrum_step(bank: qs.Bank, answers: dict[str, int]) -> Callable[[], object] | None:
    """The same step with pyAgrum: posteriors now, then one inference for each hypothetical answer. None where it is not installed."""
    try:
        import pyagrum as gum
    except ImportError:
        return None
    network = gum.BayesNet()
    for variable in bank.network.variables:
        network.add(gum.LabelizedVariable(variable.name, "", list(variable.states)))
    for variable in bank.network.variables:
        for parent in variable.parents:
            network.addArc(parent, variable.name)
    for variable in bank.network.variables:
        table = network.cpt(variable.name)
        order = [name for name in reversed(table.names) if name != variable.name]
        axes = [variable.parents.index(name) for name in order]
        table[:] = np.ascontiguousarray(np.transpose(variable.table.lower, (*axes, len(variable.parents))))
    skills = list(bank.skills)
    engine = gum.LazyPropagation(network)
    engine.setTargets(set(skills))

    def step() -> None:
        engine.setEvidence(answers)
        engine.makeInference()
        for skill in skills:
            engine.posterior(skill)
        for question in bank.questions.values():
            if question.id in answers:
                continue
            for answer in range(len(question.classes)):
                engine.setEvidence({**answers, question.id: answer})
                engine.makeInference()
                for skill in question.skills:
                    engine.posterior(skill)

    return step


def full_steps() -> None:
    four = qs.load("four-skills")
    fractions = qs.load("fractions")
    rows = [
        ("chain of 4 binary skills, 64 questions", four, 10, 50),
        ("the same, ±.05", four.widen(0.05), 10, 50),
        ("4 skills x 4 levels, 80 questions, ±.05", chain_bank(4, 4, 80, 0.05), 10, 5),
        ("10,000 questions on 4 binary skills", chain_bank(4, 2, 10_000), 10, 20),
        ("the same, ±.05", chain_bank(4, 2, 10_000, 0.05), 10, 20),
        ("tree of 30 binary skills, 300 questions", tree_bank(30, 300), 10, 20),
        ("fractions (two-skill questions)", fractions, 6, 20),
        ("fractions ±.05, no two-skill question answered", fractions.widen(0.05), 3, 3),
        ("fractions ±.05, two of them answered", fractions.widen(0.05), 6, 1),
    ]
    print("### A full step\n")
    print("| bank | answered | posteriors, ms | full step, ms | method | largest gap | pyAgrum, ms | times faster |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, bank, count, repeats in rows:
        answers = answers_of(bank, count, seed=count)
        bank_model(bank), bank_batches(bank)
        posterior = median(lambda bank=bank, answers=answers: qs.posterior(bank, answers, tolerance=5e-4), repeats)  # type: ignore[misc]
        step = median(lambda bank=bank, answers=answers: lookahead(bank, answers), repeats)  # type: ignore[misc]
        ahead = lookahead(bank, answers)
        methods = " + ".join(sorted({group.method for group in ahead.groups}))
        other = agrum_step(bank, answers) if bank.is_precise and len(bank.questions) <= 300 else None
        slow = median(other, 3) if other is not None else None
        theirs = f"{slow:.1f} | {slow / step:.0f}" if slow is not None else "– | –"
        print(f"| {name} | {len(answers)} | {posterior:.2f} | {step:.2f} | {methods} | {ahead.gap:.2g} | {theirs} |", flush=True)


def growth() -> None:
    print("\n### How the cost of a full step grows (median ms)\n")
    print("| what | values | ms |\n| --- | --- | --- |")
    cases: list[tuple[str, list[object], list[qs.Bank], list[int]]] = [
        ("answers, credal chain of 4, 500 questions", [5, 50, 500], [chain_bank(4, 2, 500, 0.05)] * 3, [5, 50, 500]),
        ("answers, precise chain of 4, 500 questions", [5, 50, 500], [chain_bank(4, 2, 500)] * 3, [5, 50, 500]),
        ("binary skills in a credal chain", [4, 8, 16, 30], [chain_bank(n, 2, 64, 0.05) for n in (4, 8, 16, 30)], [10] * 4),
        ("levels, credal chain of 4, 80 questions", [2, 3, 4], [chain_bank(4, n, 80, 0.05) for n in (2, 3, 4)], [10] * 3),
        ("width, 3 levels", [0.01, 0.05, 0.1], [chain_bank(4, 3, 80, w) for w in (0.01, 0.05, 0.1)], [10] * 3),
        ("questions, credal chain of 4", [64, 1_000, 10_000], [chain_bank(4, 2, n, 0.05) for n in (64, 1_000, 10_000)], [10] * 3),
    ]
    for name, values, banks, counts in cases:
        times = []
        for bank, count in zip(banks, counts, strict=True):
            answers = answers_of(bank, count)
            times.append(median(lambda bank=bank, answers=answers: lookahead(bank, answers), 5))  # type: ignore[misc]
        shown = ", ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in values)
        print(f"| {name} | {shown} | {', '.join(f'{t:.2f}' for t in times)} |", flush=True)


def main() -> None:
    print(f"## Inference\n\n{describe()}; medians, single thread\n")
    full_steps()
    growth()


if __name__ == "__main__":
    main()
