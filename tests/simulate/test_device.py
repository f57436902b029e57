"""Where a simulation runs: what is said where a device is not there, and that the command passes it on."""

import sys

import numpy as np
import pytest

import quaestor as qs
from helpers.libraries import library
from quaestor.cli import main
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.library import CPU, library_of
from quaestor.simulate.plain import is_plain
from quaestor.simulate.simulation import Simulation
from quaestor.simulate.study import read_study
from quaestor.simulate.work import Job, parts_of

RULES = qs.Rules(score="entropy", stop=qs.max_questions(5))


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("cuda", "neither PyTorch nor CuPy is installed; pip install 'quaestor[gpu]' brings PyTorch, got 'cuda'"),
        ("cuda:1", "neither PyTorch nor CuPy is installed; pip install 'quaestor[gpu]' brings PyTorch, got 'cuda:1'"),
        ("torch:cpu", "PyTorch is not installed; pip install 'quaestor[gpu]' brings PyTorch, got 'torch:cpu'"),
        ("cupy:cuda:0", "CuPy is not installed, got 'cupy:cuda:0'"),
    ],
)
def test_no_library_with_graphics_cards(monkeypatch, device, said):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(qs.QuaestorError) as found:
        qs.simulate(qs.load("german"), RULES, 10, device=device)
    assert str(found.value) == f"device: {said}"


@pytest.mark.parametrize("device", ["speedy", "CPU", "cpu:0", "torch", "torch:meta", "cupy:cpu", "", None, 1, ["cuda"]])
def test_a_name_that_is_no_device(device):
    with pytest.raises(qs.QuaestorError) as found:
        qs.simulate(qs.load("german"), RULES, 10, device=device)
    known = "'cpu', or a graphics card: 'cuda', 'cuda:1', with a library 'torch:cuda', 'cupy:cuda'"
    assert str(found.value) == f"device: {known}, got {device!r}"


@pytest.mark.parametrize("device", ["cuda:77", "torch:cuda:77"])
def test_a_device_that_is_not_there(device):
    pytest.importorskip("torch", reason="PyTorch is not installed (extra gpu)")
    with pytest.raises(qs.QuaestorError, match=f"device: PyTorch finds it, got '{device}' "):
        qs.simulate(qs.load("german"), RULES, 10, device=device)


def check_means(one, other):
    """Two simulations asked the same, and their means agree to 1e-9."""
    assert (one.asked_places == other.asked_places).all()
    assert (one.answers == other.answers).all()
    for name in one.means:
        np.testing.assert_allclose(one.means[name], other.means[name], rtol=0, atol=1e-9)


@pytest.mark.parametrize("bank", [qs.load("german"), qs.load("four-skills").widen(0.05)], ids=["precise", "credal"])
def test_a_device_takes_the_same_test(bank):
    library("torch")
    assert is_plain(bank, RULES, Behaviour())
    check_means(*(qs.simulate(bank, RULES, 500, device=device) for device in ("cpu", "torch:cpu")))


@pytest.mark.long
def test_workers_of_a_cluster_use_their_device():
    library("torch")
    from distributed import LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "host": "127.0.0.1"}
    with LocalCluster(**settings) as cluster:
        for bank in (qs.load("german"), qs.load("four-skills").widen(0.05)):
            cohort = Cohort(bank, bank, 900, 1)
            found = []
            for device, address in ((CPU, None), ("torch:cpu", cluster.scheduler_address)):
                job = Job(bank, RULES, cohort, Behaviour(), device=device, size=300)
                found.append(Simulation.of(parts_of(job, 1, address, None, None), tuple(bank.skills), tuple(bank.questions)))
            check_means(*found)


def test_tests_that_are_not_plain_run_on_the_processor_wherever_they_are_sent():
    library("torch")
    bank, rules = qs.load("german").widen(0.05), qs.Rules(among=2, stop=qs.max_questions(3))
    one, other = (qs.simulate(bank, rules, 30, device=device) for device in ("cpu", "torch:cpu"))
    assert (one.asked_places == other.asked_places).all()


def test_the_command_and_studies_pass_the_device_on(monkeypatch, capsys, tmp_path):
    asked = []

    def known(name):
        asked.append(name)
        return library_of("cpu")

    for module in ("quaestor.simulate", "quaestor.simulate.work"):
        monkeypatch.setattr(sys.modules[module], "library_of", known)
    assert main(["simulate", "german", "--students", "20", "--device", "cuda:3", "--json"]) == 0
    capsys.readouterr()
    assert set(asked) == {"cuda:3"}
    asked.clear()
    study = read_study({"title": "T", "bank": "german", "students": 20, "methods": {"m": {"rules": {"score": "entropy"}}}}, tmp_path)
    study.run(device="cuda:4")
    assert set(asked) == {"cuda:4"}


def test_the_command_says_that_there_is_no_device(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main(["simulate", "german", "--students", "20", "--device", "cuda"]) != 0
    assert "device: neither PyTorch nor CuPy is installed" in capsys.readouterr().err


def test_the_command_says_that_a_card_does_nothing_for_tests_that_are_not_plain(monkeypatch, capsys):
    monkeypatch.setattr(sys.modules["quaestor.simulate"], "library_of", lambda name: library_of("cpu"))
    arguments = ["simulate", "fractions", "--students", "20", "--device", "cuda"]
    assert main(arguments) == 0
    assert "The graphics card is not used: it is for plain tests, see docs/large-simulations.md." in " ".join(
        capsys.readouterr().err.split()
    )
