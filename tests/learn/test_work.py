"""Threads, a cluster that loses a worker, and small parts: the same tables, bit by bit."""

import os
import signal

import numpy as np
import pytest

import quaestor as qs
from oracles.learning import SMALL, draw
from quaestor.errors import QuaestorError
from quaestor.learn import expect, work

BANK = SMALL["two skills in one question"]
FRAME = draw(BANK, 400, missing=0.2)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(work, "batch", lambda layout: 7)


def check_same(one, other):
    assert one.trace == other.trace
    for name in one.bank.questions:
        assert (one.bank.questions[name].table.lower == other.bank.questions[name].table.lower).all()


def test_threads(small_parts):
    check_same(qs.learn(BANK, FRAME), qs.learn(BANK, FRAME, workers=3))


def test_parts_do_not_matter_beyond_rounding(small_parts, monkeypatch):
    one = qs.learn(BANK, FRAME)
    monkeypatch.setattr(work, "batch", expect.batch)
    other = qs.learn(BANK, FRAME)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-6)


@pytest.mark.long
def test_a_cluster_that_loses_a_worker(small_parts):
    """Two worker processes; one is killed after the first step, and what it held is made anew."""
    from distributed import LocalCluster

    one = qs.learn(BANK, FRAME)
    killed = []
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "host": "127.0.0.1"}
    with LocalCluster(**settings) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]

        def kill(*_):
            if not killed:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)

        found = qs.learn(BANK, FRAME, cluster=cluster.scheduler_address, progress=kill)
    assert killed
    check_same(one, found)


def test_a_cluster_that_cannot_be_reached():
    with pytest.raises(QuaestorError, match=r"^cluster: a Dask scheduler that answers, got tcp://127.0.0.1:1 "):
        qs.learn(BANK, FRAME, cluster="tcp://127.0.0.1:1")


def test_progress_is_told():
    told = []
    fit = qs.learn(BANK, FRAME, progress=lambda step, objective: told.append((step, objective)))
    assert told[-1] == (fit.iterations, fit.objective)
    assert np.diff([objective for _, objective in told]).min() > -1e-9
