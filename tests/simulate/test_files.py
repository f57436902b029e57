"""What a simulation leaves on disk can be read by others, and a run that was interrupted goes on from there."""

import hashlib
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import quaestor as qs
from helpers import sessions
from oracles.students import students_of
from quaestor.errors import QuaestorError
from quaestor.simulate import Behaviour, simulate
from quaestor.simulate.files import from_table, to_table
from quaestor.simulate.run import take

BANK = sessions.bank().widen(0.05)
RULES = qs.Rules(stop=qs.any_of(qs.dominant(), qs.max_questions(4)))
SKIPS = Behaviour(skipping=0.2)
PARTS = [f"part-{number:06d}.parquet" for number in range(3)]


def run(out, **options):
    return simulate(BANK, **{"rules": RULES, "students": 600, "behaviour": SKIPS, "out": out, **options})


def hashes(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def check_same(one, other):
    pd.testing.assert_frame_equal(one.table(), other.table(), check_exact=True)
    assert (one.asked == other.asked).all()
    assert (one.answers == other.answers).all()
    assert (one.levels == other.levels).all()
    assert one.stops == other.stops
    assert (one.calibration == other.calibration).all()
    for name, total in one.totals.items():
        assert np.array_equal(total.sum, other.totals[name].sum)


def test_a_row_a_student_and_step(tmp_path):
    x = run(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_simulation.json", *PARTS]
    assert len(pd.read_parquet(tmp_path)) == 600 + x.lengths.sum()  # a folder is one table
    frame = pd.concat([pq.read_table(tmp_path / name).to_pandas() for name in PARTS], ignore_index=True)
    assert len(frame) == 600 + x.lengths.sum()
    beliefs = [f"{end} {skill}: {level}" for skill in "ab" for level in ("no", "yes") for end in ("lower", "upper")]
    expected = ["student", "step", "question", "answer", "rule", "true a", *beliefs[:4], "true b", *beliefs[4:]]
    assert list(frame.columns) == expected
    students = students_of(BANK, 600)
    for number in (0, 255, 256, 599):
        mine = frame[frame["student"] == number].reset_index(drop=True)
        assert mine["step"].tolist() == list(range(x.lengths[number] + 1))
        assert mine["question"].tolist() == ["", *x.asked[number, : x.lengths[number]]]
        names = [BANK.questions[q].classes[a] if a >= 0 else "" for q, a in zip(x.asked[number], x.answers[number], strict=True) if q]
        assert mine["answer"].tolist() == ["", *names]
        assert (mine["rule"][:-1] == "").all()
        assert mine["rule"].iloc[-1] in x.stops
        assert (mine["true b"] == students.levels[number, 1]).all()
        told = {q: a for q, a in zip(mine["question"], mine["answer"], strict=True) if a}
        bounds = qs.posterior(BANK, told)["b"]
        assert mine[["lower b: no", "lower b: yes"]].iloc[-1].tolist() == pytest.approx(bounds.lower.tolist(), abs=1e-12)
        assert mine[["upper b: no", "upper b: yes"]].iloc[-1].tolist() == pytest.approx(bounds.upper.tolist(), abs=1e-12)


@pytest.mark.parametrize("stop", [RULES.stop, None, qs.probability_above(0.3)], ids=["some", "all", "none"])
def test_a_record_comes_back_as_it_was(stop):
    record = take(BANK, qs.Rules(stop=stop), students_of(BANK, 30), SKIPS)
    back = from_table(to_table(record, BANK), BANK)
    for name in ("numbers", "levels", "asked", "answers", "rule"):
        assert np.array_equal(getattr(back, name), getattr(record, name))
    for (low, high), (back_low, back_high) in zip(record.bounds, back.bounds, strict=True):
        assert np.array_equal(low, back_low)
        assert np.array_equal(high, back_high)


def test_parts_that_are_missing_are_worked_out(tmp_path):
    whole, before = run(tmp_path), hashes
    kept = before(tmp_path)
    for gone in ([PARTS[1]], [PARTS[0], PARTS[2]], PARTS):
        for name in gone:
            (tmp_path / name).unlink()
        left = {name: (tmp_path / name).stat().st_mtime_ns for name in PARTS if name not in gone}
        check_same(whole, run(tmp_path))
        assert hashes(tmp_path) == kept
        assert left == {name: (tmp_path / name).stat().st_mtime_ns for name in left}  # read, not written again
    check_same(whole, run(tmp_path))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_run_goes_on(tmp_path, workers):
    whole = run(tmp_path / "whole")

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "again", progress=interrupt, workers=workers)
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == ["_simulation.json", PARTS[0]]
    done = []
    check_same(whole, run(tmp_path / "again", progress=done.append))
    assert done == [256, 256, 88]
    assert hashes(tmp_path / "again") == hashes(tmp_path / "whole")


def test_a_part_that_was_being_written_is_not_taken_for_one(tmp_path):
    whole = run(tmp_path)
    (tmp_path / PARTS[1]).rename((tmp_path / PARTS[1]).with_suffix(".writing"))
    check_same(whole, run(tmp_path))


CHANGES = {
    "seed": {"seed": 2},
    "students": {"students": 599},
    "levels": {"students": [[0, 1]]},
    "truth": {"truth": sessions.bank()},
    "random truth": {"truth": "random"},
    "behaviour": {"behaviour": Behaviour(skipping=0.3)},
    "responses": {"responses": pd.DataFrame({"a1": [1]}), "students": None, "behaviour": None},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_folder_of_another_simulation_is_refused(tmp_path, change):
    run(tmp_path)
    kept = hashes(tmp_path)
    with pytest.raises(QuaestorError, match=r"_simulation.json: a folder holds one simulation, got another one there$"):
        run(tmp_path, **change)
    assert hashes(tmp_path) == kept


def test_a_folder_of_another_bank_or_other_rules_is_refused(tmp_path):
    run(tmp_path)
    for bank, rules in ((sessions.bank(), RULES), (BANK, qs.Rules())):
        with pytest.raises(QuaestorError, match=r"a folder holds one simulation, got another one there$"):
            simulate(bank, rules, students=600, behaviour=SKIPS, out=tmp_path)


def test_other_levels_and_responses_are_another_simulation(tmp_path):
    for name, one, other in (
        ("students", [[0, 1], [1, 1]], [[0, 1], [1, 0]]),
        ("responses", pd.DataFrame({"a1": [1, 0]}), pd.DataFrame({"a1": [1, 1]})),
    ):
        simulate(BANK, **{name: one}, out=tmp_path / name)
        simulate(BANK, **{name: one}, out=tmp_path / name)
        with pytest.raises(QuaestorError, match=r"a folder holds one simulation, got another one there$"):
            simulate(BANK, **{name: other}, out=tmp_path / name)


def test_a_folder_of_an_earlier_version_goes_on(tmp_path):
    x = run(tmp_path)
    (tmp_path / "_simulation.json").rename(tmp_path / "simulation.json")
    kept = {name: digest for name, digest in hashes(tmp_path).items() if name in PARTS}
    check_same(x, run(tmp_path))
    assert {name: digest for name, digest in hashes(tmp_path).items() if name in PARTS} == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_simulation.json", *PARTS]


def test_what_was_simulated_is_written_down(tmp_path):
    run(tmp_path, seed=7)
    about = json.loads((tmp_path / "_simulation.json").read_text(encoding="utf-8"))
    assert about["seed"] == 7
    assert about["students"] == 600
    assert about["bank"] == {"title": "Six questions", "version": BANK.version}
    assert about["rules"] == RULES.document
    assert about["behaviour"] == {"skipping": 0.2}


def test_held_out_questions_in_files(tmp_path):
    """Found by this test: what was foretold got lost when a run went on, and a folder did not know what was held out."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.integers(2, size=600).astype(float) for name in BANK.questions})
    frame.iloc[::3, 1] = np.nan
    options = {"responses": frame, "students": None, "out": tmp_path, "behaviour": None, "rules": qs.Rules(stop=qs.max_questions(4))}
    whole = run(holdout=["b1", "a2"], **options)
    kept = hashes(tmp_path)
    assert whole.held_out_log_loss.shape == (5,)
    for gone in ([PARTS[0]], [PARTS[1], PARTS[2]], []):
        for name in gone:
            (tmp_path / name).unlink()
        again = run(holdout=["b1", "a2"], **options)
        pd.testing.assert_frame_equal(whole.table(), again.table(), check_exact=True)
        assert hashes(tmp_path) == kept
    for other in (["b1"], ["a2", "b1"], []):
        with pytest.raises(QuaestorError, match=r"a folder holds one simulation, got another one there$"):
            run(holdout=other, **options)


def test_a_part_that_is_broken(tmp_path):
    run(tmp_path)
    (tmp_path / PARTS[1]).write_bytes(b"nonsense")
    with pytest.raises(QuaestorError, match=r"part-000001.parquet: a part of the simulation, got .*; delete it to work it out anew$"):
        run(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(QuaestorError, match=r"file: a folder that can be written, got (File exists|Not a directory)$"):
        run(tmp_path / "file")
