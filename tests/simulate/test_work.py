"""Several processes, and a cluster that loses one of them: the same files, bit by bit, and the same results."""

import hashlib
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from helpers.parts import Marked
from quaestor.errors import QuaestorError
from quaestor.simulate import Behaviour, simulate
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.library import CPU
from quaestor.simulate.work import _has_one_thread, _side_by_side, part_size

STUDENTS = 600  # three parts
BEHAVIOUR = Behaviour(skipping=0.1, fatigue=0.02)


def run(out, students=STUDENTS, **options):
    bank = qs.load("german").widen(0.05)
    rules = qs.Rules(score="random", stop=qs.any_of(qs.entropy_below(0.7), qs.max_questions(6)))
    return simulate(bank, rules, students, seed=2, behaviour=BEHAVIOUR, out=out, **options)


def hashes(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def check_same(one, other, tolerance=0.0):
    pd.testing.assert_frame_equal(one.table(), other.table(), rtol=0, atol=tolerance)
    assert (one.asked == other.asked).all()
    assert (one.answers == other.answers).all()
    assert one.stops == other.stops
    assert np.abs(one.calibration - other.calibration).max() <= tolerance
    for name, values in one.by_student.items():
        np.testing.assert_allclose(values, other.by_student[name], rtol=0, atol=tolerance * 1e4)  # single precision


@pytest.fixture(scope="module")
def in_one_process(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    return folder, run(folder)


def test_two_workers(in_one_process, tmp_path):
    folder, one = in_one_process
    check_same(one, run(tmp_path, workers=2))
    assert hashes(tmp_path) == hashes(folder)
    assert set(hashes(folder)) == {"simulation.json", *(f"part-{number:06d}.parquet" for number in range(3))}


def test_the_files_do_not_change_the_result(in_one_process):
    check_same(in_one_process[1], run(None), 1e-10)  # sums are made in parts of another size


def test_more_workers_than_parts(tmp_path):
    check_same(run(None, students=3), run(tmp_path, students=3, workers=4), 1e-10)


@pytest.mark.parametrize("workers", [2, 3])
def test_each_part_is_worked_out_once_and_all_processes_share_them(tmp_path, workers):
    job, numbers = Marked(str(tmp_path)), [*range(150), 190, 191]
    assert [number for number, _ in _side_by_side(job, numbers, workers)] == numbers
    assert sorted(job.workers) == numbers
    assert {len(who) for who in job.workers.values()} == {1}
    assert job.workers[0] == [str(os.getpid())]  # this process waits for nobody
    assert len({who for (who,) in job.workers.values()}) == workers


def test_parts_that_nobody_waits_for_are_not_worked_out(tmp_path):
    job, numbers = Marked(str(tmp_path)), list(range(500))
    parts = _side_by_side(job, numbers, 2)
    assert next(parts) == (0, b"")
    parts.close()
    assert 1 <= len(job.workers) < 400


@pytest.mark.parametrize("wrong", [0, 9])
def test_a_part_that_fails_in_any_process(tmp_path, wrong):
    with pytest.raises(ValueError, match=f"part {wrong}"):
        list(_side_by_side(Marked(str(tmp_path), wrong), list(range(10)), 2))


def test_a_process_with_threads_is_not_forked():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    assert not _has_one_thread()
    stop.set()
    thread.join()


SCRIPT = """
import quaestor as qs
from quaestor.simulate.work import _has_one_thread

bank, rules = qs.load("german").widen(0.05), qs.Rules(score="entropy", stop=qs.max_questions(2))
one, two = (qs.simulate(bank, rules, 600, truth="random", workers=workers) for workers in (1, 2))  # three parts
print(_has_one_thread(), bool((one.asked == two.asked).all()), one.table().equals(two.table()))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nobody knows how many threads there are")
def test_a_script_without_a_guard_is_forked(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    found = subprocess.run([sys.executable, str(path)], env=os.environ | single, capture_output=True, text=True, timeout=120)
    assert (found.stdout, found.stderr) == ("True True True\n", "")


def test_a_worker_that_ends_by_itself(tmp_path):
    with pytest.raises(QuaestorError, match=r"^workers: each does its work to the end, .*, got one that ended before$"):
        list(_side_by_side(Marked(str(tmp_path), lasting=os.getpid()), list(range(400)), 2))


def test_parts_are_as_many_for_each_of_two_processes():
    bank, rules = qs.load("german"), qs.Rules(score="entropy", stop=qs.max_questions(3))
    sizes = [part_size(bank, rules, Cohort(bank, bank, students, 1), Behaviour(), CPU) for students in (100, 131_073, 300_000, 1_000_000)]
    assert sizes == [131_072, 65_537, 75_000, 125_000]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://127.0.0.1:1", "Connection refused"),
        ("127.0.0.1:1", "Connection refused"),
        ("somewhere", "missing port number"),
        ("carrier://pigeon:1", "unknown address scheme"),
    ],
)
def test_a_cluster_that_cannot_be_reached(address, words):
    with pytest.raises(QuaestorError, match=rf"^cluster: a Dask scheduler that answers, got {address} .*{words}"):
        run(None, students=3, cluster=address)


def test_a_cluster_that_loses_a_worker(tmp_path):
    """Two worker processes; one is killed as soon as the first part is there, and its parts are worked out anew."""
    from distributed import LocalCluster

    many = 256 * 8
    one = run(tmp_path / "one", students=many)
    killed = []
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "host": "127.0.0.1"}
    with LocalCluster(**settings) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]
        assert len(set(pids)) == 2

        def kill(_):
            if not killed:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)

        found = run(tmp_path / "cluster", students=many, cluster=cluster.scheduler_address, progress=kill)
    assert killed
    check_same(one, found)
    assert hashes(tmp_path / "cluster") == hashes(tmp_path / "one")
