"""Several processes, and a cluster that loses one of them: the same files, bit by bit, and the same results."""

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from helpers import own_kinds
from helpers.parts import Marked
from quaestor.errors import QuaestorError
from quaestor.simulate import Behaviour, simulate
from quaestor.simulate.cluster import Sent
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.library import CPU
from quaestor.simulate.own import own_of
from quaestor.simulate.processes import has_one_thread, side_by_side
from quaestor.simulate.work import Job, part_size

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
    assert set(hashes(folder)) == {"_simulation.json", *(f"part-{number:06d}.parquet" for number in range(3))}


def test_the_files_do_not_change_the_result(in_one_process):
    check_same(in_one_process[1], run(None), 1e-10)  # sums are made in parts of another size


def test_more_workers_than_parts(tmp_path):
    check_same(run(None, students=3), run(tmp_path, students=3, workers=4), 1e-10)


@pytest.mark.parametrize("workers", [2, 3])
def test_each_part_is_worked_out_once_and_all_processes_share_them(tmp_path, workers):
    job, numbers = Marked(str(tmp_path)), [*range(150), 190, 191]
    assert [number for number, _ in side_by_side(job, numbers, workers)] == numbers
    assert sorted(job.workers) == numbers
    assert {len(who) for who in job.workers.values()} == {1}
    assert job.workers[0] == [str(os.getpid())]  # this process waits for nobody
    assert len({who for (who,) in job.workers.values()}) == workers


def test_parts_that_nobody_waits_for_are_not_worked_out(tmp_path):
    job, numbers = Marked(str(tmp_path)), list(range(500))
    parts = side_by_side(job, numbers, 2)
    assert next(parts) == (0, b"")
    parts.close()
    assert 1 <= len(job.workers) < 400


@pytest.mark.parametrize("wrong", [0, 9])
def test_a_part_that_fails_in_any_process(tmp_path, wrong):
    with pytest.raises(ValueError, match=f"part {wrong}"):
        list(side_by_side(Marked(str(tmp_path), wrong), list(range(10)), 2))


def test_a_process_with_threads_is_not_forked():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    assert not has_one_thread()
    stop.set()
    thread.join()


SCRIPT = """
import sys, threading
import numpy as np
import quaestor as qs

print("once")
if "threads" in sys.argv:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
elif "prompt" in sys.argv:
    del __file__

@qs.register.score
def even(ahead, bound, draws):
    return ahead.spread(lambda group: -np.abs((group.answers[0] + group.answers[1])[..., -1] / 2 - 0.5))

bank = qs.load("german").widen(0.05)
first = qs.simulate(bank, qs.Rules(score="even", stop=qs.max_questions(1)), 300, truth="random", workers=2)  # two parts

@qs.register.stop
def missed(now, n: int):
    return np.asarray(now.questions) - np.asarray(now.right) >= n

class Here:
    @qs.register.behaviour
    def careless(p, now, share: float):
        return (1 - share) * p + share * (np.arange(p.shape[1]) == 0)

@qs.register.rule
def any(now):
    return np.ones(now.asked.shape[1], dtype=bool)

rules = qs.Rules(score="even", stop=qs.any_of(missed(1), qs.max_questions(2)), narrow=["any"])
one, two = (qs.simulate(bank, rules, 600, truth="random", workers=n, behaviour=Here.careless(0.2)) for n in (1, 2))  # three parts
print((one.asked == two.asked).all(), one.table().equals(two.table()), one.stops == two.stops)
"""
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def scripted(tmp_path, text, *arguments):
    path = tmp_path / "script.py"
    path.write_text(text)
    command = [sys.executable, str(path), *arguments]
    return subprocess.run(command, env=os.environ | SINGLE, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("how", ["fork", "threads"])
def test_a_script_without_a_guard_and_with_its_own_functions(tmp_path, how):
    """A process with threads starts new ones, which find what the script registers; nothing is printed twice."""
    found = scripted(tmp_path, SCRIPT, how)
    assert (found.stdout, found.stderr) == ("once\nTrue True True\n", "")


def test_a_script_with_a_guard(tmp_path):
    top, bottom = SCRIPT.split("bank = ")
    guarded = (
        f"{top}\nif __name__ == '__main__':\n    bank = {bottom.splitlines()[0]}\n    {bottom.splitlines()[1]}\n    print(first.length)"
    )
    found = scripted(tmp_path, guarded, "threads")
    assert (found.stdout, found.stderr) == ("once\n1.0\n", "")


def test_functions_of_a_prompt_do_not_reach_new_processes(tmp_path):
    found = scripted(tmp_path, SCRIPT.replace("elif", "if"), "threads", "prompt")
    assert "got even of a notebook or prompt: put it into a file of its own and import it" in found.stderr


def test_an_error_of_the_script_in_another_process(tmp_path):
    wrong = SCRIPT.replace('print("once")', "assert __name__ == '__main__', 'only once'")
    found = scripted(tmp_path, wrong, "threads")
    assert "QuaestorError: workers: what is registered can be imported, got AssertionError: only once" in found.stderr


def test_functions_inside_of_functions_do_not_reach_new_processes(monkeypatch):
    @qs.register.score
    def inside(ahead, bound, draws):
        return ahead.open * 1.0

    monkeypatch.setattr("quaestor.simulate.processes.has_one_thread", lambda: False)
    try:
        with pytest.raises(QuaestorError, match=r"workers: what is registered stands at the top level.*got .*test_work:.*inside$"):
            simulate(qs.load("german").widen(0.05), qs.Rules(score="inside"), 300, truth="random", workers=2)
    finally:
        qs.register.remove("score", "inside")


@pytest.fixture
def own():
    """Rules and a behaviour of somebody's own, and what they give in one process."""
    rules, behaviour = own_kinds.all_of_them()
    yield rules, behaviour
    own_kinds.forget()


def own_run(own, students=300, **options):
    return simulate(qs.load("german").widen(0.05), own[0], students, seed=2, behaviour=own[1], truth="random", **options)


def test_functions_of_a_module_reach_new_processes(own, monkeypatch):
    monkeypatch.setattr("quaestor.simulate.processes.has_one_thread", lambda: False)
    check_same(own_run(own), own_run(own, workers=2))


def test_a_job_brings_its_functions_along(own, tmp_path):
    job = Job(qs.load("german").widen(0.05), own[0], Cohort(qs.load("german"), qs.load("german"), 5, 1), Behaviour(own=own[1]))
    (tmp_path / "job").write_bytes(pickle.dumps(job))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).part(0)[0].count)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    found = subprocess.run([sys.executable, "-c", code, tmp_path / "job"], env=environment, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("5\n", "")
    homes = own_of(job.bank, job.rules, job.behaviour).homes
    assert homes == {
        "score even": "helpers.own_kinds:even",
        "engine same_odds": "helpers.own_kinds:SameOdds",
        "stop missed": "helpers.own_kinds:missed",
        "rule every_other": "helpers.own_kinds:every_other",
        "behaviour careless": "helpers.own_kinds:careless",
    }


def test_a_worker_that_ends_by_itself(tmp_path):
    with pytest.raises(QuaestorError, match=r"^workers: each does its work to the end, got one that ended before$"):
        list(side_by_side(Marked(str(tmp_path), lasting=os.getpid()), list(range(400)), 2))


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


@pytest.mark.parametrize("wrong", [3, b"tcp://127.0.0.1:1", ["tcp://127.0.0.1:1"], object])
def test_what_is_no_cluster(wrong):
    with pytest.raises(QuaestorError, match=r"^cluster: the address of a Dask scheduler, a client or a cluster of Dask, got"):
        run(None, students=3, cluster=wrong)


def test_what_a_machine_cannot_import_is_named():
    for name in ("no_such_module", "json"):
        with pytest.raises(QuaestorError, match=r"^cluster: every machine can import .*upload_file.*, got .*(no_such_module|absent)"):
            Sent(f"c{name}\nabsent\n.".encode()).job  # noqa: B018


def test_a_cluster_that_loses_a_worker(tmp_path, own):
    """Two worker processes; one is killed as soon as the first part is there, and its parts are worked out anew. Functions of somebody's
    own reach both; a cluster, a client and an address serve.
    """
    from distributed import Client, LocalCluster

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
        alone = own_run(own)
        check_same(alone, own_run(own, cluster=cluster))
        with Client(cluster) as client:
            check_same(alone, own_run(own, cluster=client))
            assert client.status == "running"
        with pytest.raises(QuaestorError, match="cluster: a client of Dask that is connected"):
            own_run(own, cluster=client)
    assert killed
    check_same(one, found)
    assert hashes(tmp_path / "cluster") == hashes(tmp_path / "one")
