"""A cluster of two processes gives the model of memory, also where a worker or the scheduler is lost."""

import os
import signal
import threading
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from parallel.data import gaussians, mapped, sparse_samples, three_classes
from semisvm import S3VM, AnnealingTSVM, MultiSwitchTSVM, parallel
from semisvm.parallel.execution import Cluster, ClusterFailure
from semisvm.parallel.fitting import blocked_samples

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

FINITE_NEWTON = S3VM("squared_hinge", None, kernel="linear", solver="finite_newton", balance=None)


def collections(X, folder):
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    array = da.from_array(X, chunks=(130, 3))
    return {
        "file": mapped(folder, X),
        "array": X,
        "dask array": array,
        "sparse chunks": array.rechunk((130, -1)).map_blocks(sparse.csr_array),
        "in the memory of the workers": array.persist(),
        "frame": dd.from_pandas(frame, npartitions=5),
        "frame in the memory of the workers": dd.from_pandas(frame, npartitions=5).persist(),
    }


def test_every_collection_gives_the_model_of_memory(client, tmp_path):
    X, y = gaussians()
    expected = FINITE_NEWTON.fit(X, y)
    for name, table in collections(X, tmp_path).items():
        found = parallel.fit(clone(FINITE_NEWTON), table, da.from_array(y, chunks=200))
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9), name
        if "frame" in name:
            assert found.feature_names_in_.tolist() == [f"x{k}" for k in range(X.shape[1])]
        if name != "sparse chunks":
            np.testing.assert_array_equal(parallel.predict(found, table).compute(), expected.predict(X))
    np.testing.assert_allclose(parallel.predict_proba(expected, table).compute(), expected.predict_proba(X), rtol=1e-9)


def test_several_classes_and_landmarks(client):
    X, y = three_classes()
    table = da.from_array(X, chunks=(200, -1))
    for params in ({"kernel": "linear"}, {"approximation": "nystroem", "n_components": 15, "random_state": 0}):
        expected = MultiSwitchTSVM(tol=0.1, **params).fit(X, y)
        found = parallel.fit(MultiSwitchTSVM(tol=0.1, **params), table, y)
        np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-9)
        np.testing.assert_array_equal(found.transduction_, expected.transduction_)
        scores = parallel.decision_function(found, table)
        np.testing.assert_allclose(scores.compute(), expected.decision_function(X), rtol=1e-6, atol=1e-8)


def test_nothing_stays_on_the_workers(client, tmp_path):
    X, y = gaussians()
    parallel.fit(clone(FINITE_NEWTON), da.from_array(X, chunks=(200, -1)).persist(), y)

    def left(dask_worker):
        from semisvm.parallel import execution

        return [name for name in os.listdir(dask_worker.local_directory) if "semisvm" in name], len(execution._held)

    assert list(client.run(left).values()) == [([], 0)] * 2
    assert not client.list_datasets()


def test_vectors_are_sent_once_and_sums_are_small(client):
    """A Hessian product sends V to every group and brings back a sum per group and scores, of all samples at first."""
    from semisvm.parallel.design_matrix import BlockedDesign

    X, _ = sparse_samples(2000, 500)
    H = np.zeros(2000)
    H[:300] = 1.0
    with blocked_samples(da.from_array(X.toarray(), chunks=(250, -1)).map_blocks(sparse.csr_array)) as samples:
        assert isinstance(samples.executor, Cluster)
        design, moved = BlockedDesign(samples), []
        for _ in range(3):
            before = samples.executor.n_bytes
            design.hessian_product(np.ones(500), 0.0, H)
            moved.append(samples.executor.n_bytes - before)
        n_groups = samples.executor.n_groups
        sums = 8 * n_groups * (500 + 500 + 1)
        assert moved[1:] == [sums + 8 * 300] * 2  # those of some curvature
        assert moved[0] == sums + 8 * 2000 + H.nbytes


def test_a_killed_worker_costs_no_more_than_its_part_of_a_pass(client):
    X, y = gaussians()
    table = da.from_array(X, chunks=(150, -1))
    expected = AnnealingTSVM(kernel="linear").fit(X, y)
    pids, killed = list(client.run(os.getpid).values()), []
    ordinary = Cluster.run

    def run(self, task, arguments, merge):
        if len(killed) < 5:
            killed.append(None)
            if len(killed) == 5:  # in the middle of a pass
                threading.Timer(0.005, os.kill, (pids[0], signal.SIGKILL)).start()
        return ordinary(self, task, arguments, merge)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cluster, "run", run)
        found = parallel.fit(AnnealingTSVM(kernel="linear"), table, y)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-9)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    client.wait_for_workers(2, timeout=30)
    assert pids[0] not in client.run(os.getpid).values()


def test_a_worker_that_stands_still_for_a_while_costs_time_alone(client):
    X, y = gaussians()
    table = da.from_array(X, chunks=(150, -1))
    expected = AnnealingTSVM(kernel="linear").fit(X, y)
    pid, n_runs = next(iter(client.run(os.getpid).values())), count(1)
    ordinary = Cluster.run

    def run(self, task, arguments, merge):
        if next(n_runs) == 5:
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(1.5, os.kill, (pid, signal.SIGCONT)).start()
        return ordinary(self, task, arguments, merge)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cluster, "run", run)
        found = parallel.fit(AnnealingTSVM(kernel="linear"), table, y)
    assert next(n_runs) > 10
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    assert pid in client.run(os.getpid).values()


def test_lost_scheduler_leaves_a_checkpoint_from_which_another_cluster_goes_on(tmp_path):
    X, y = gaussians()
    expected = parallel.fit(AnnealingTSVM(kernel="linear"), X, y)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50, processes=False
    )
    lost, folder = distributed.Client(cluster, set_as_default=False), tmp_path / "checkpoint"
    threading.Timer(1.0, lambda: cluster.close(timeout=5)).start()
    slow = da.from_array(X, chunks=(100, -1)).map_blocks(_slowly)
    with pytest.raises(ClusterFailure, match=r"the connection to the scheduler at .* was lost"):
        parallel.fit(AnnealingTSVM(kernel="linear"), slow, y, client=lost, checkpoint=folder)
    lost.close(timeout=5)
    found = parallel.fit(AnnealingTSVM(kernel="linear"), X, y, checkpoint=folder)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)


def _slowly(X):
    time.sleep(0.05)
    return X


def test_a_worker_that_dies_of_a_block_is_named():
    """A worker of too little memory is killed by its nanny; here it kills itself."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        X, y = gaussians()
        table = da.from_array(X, chunks=(450, -1)).map_blocks(_die, meta=np.zeros((0, 0)))
        with pytest.raises(ClusterFailure, match="use smaller blocks"):
            parallel.fit(MultiSwitchTSVM(kernel="linear"), table, y, client=client)


def _die(X):
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


def test_memory_of_a_worker_is_that_of_its_blocks(client):
    """A table of 120 MB in blocks of 8 MB: the mapped files are not counted, the system may take them back."""
    n, d = 150_000, 100
    table = da.random.default_rng(0).normal(size=(n, d), chunks=(10_000, d))
    y = np.full(n, -1)
    y[:100] = np.arange(100) % 2
    pids = list(client.run(os.getpid).values())
    parallel.fit(clone(FINITE_NEWTON), table[:20_000], y[:20_000])  # imports and compiled loops
    before, largest, done = [anonymous_memory(pid) for pid in pids], [0, 0], threading.Event()

    def watch():
        while not done.wait(0.01):
            largest[:] = (max(old, anonymous_memory(pid)) for old, pid in zip(largest, pids))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        parallel.fit(clone(FINITE_NEWTON), table, y)
    finally:
        done.set()
        watching.join()
    assert max(now - old for now, old in zip(largest, before)) < 40e6


def anonymous_memory(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])
