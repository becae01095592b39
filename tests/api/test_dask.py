"""X as a Dask array: the same results as in memory, also when workers die, and one clear sentence for errors."""

import os
import pickle
import runpy
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import joblib
import numpy as np
import pytest
from distributed import Client, KilledWorker, LocalCluster, wait
from scipy import sparse

import ellzero as ez
from ellzero.design import cluster as cluster_module
from ellzero.design import dask_array
from ellzero.design.dask_array import DaskStore
from ellzero.design.store import Moments, Products

N, P = 90, 500  # more than the core reads whole at every look


@pytest.fixture(scope="module")
def data():
    X, y, _ = ez.datasets.make_classification(N, P, 4, s=2.0, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def client():
    """Two worker processes; a worker that a test kills is replaced."""
    with (
        dask.config.set({"distributed.worker.daemon": True, "distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS": 1}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB", silence_logs=60
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def empty_client():
    """A scheduler without workers."""
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=60) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def odd_worker(empty_client, tmp_path):
    """Start a worker process that runs some code first."""
    processes = []

    def start(code):
        (tmp_path / "sitecustomize.py").write_text(code)
        command = [sys.executable, "-m", "dask", "worker", empty_client.scheduler.address, "--no-nanny", "--no-dashboard"]
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        log = subprocess.DEVNULL
        processes.append(subprocess.Popen([*command, "--nthreads", "1"], env=environment, stdout=log, stderr=log, cwd=tmp_path))
        empty_client.wait_for_workers(1, timeout=250)

    yield start
    for process in processes:
        process.kill()
        process.wait()


def same_path(found, expected, bitwise=True):
    np.testing.assert_array_equal(found.support_size, expected.support_size)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=0 if bitwise else 1e-9)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.support, other.support)


def kill_one(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def kill_all(client):
    for pid in client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)


CHUNKS = [(N, 100), (N, (7, 0, 393, 100)), (40, 260), (30, P)]


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "squared_error"])
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_paths_are_those_of_memory(data, chunks, loss):
    X, y = data
    settings = {"loss": loss, "lambda_2": 1e-3, "max_support": 6, "standardize": True}
    found = ez.fit_path(da.from_array(X, chunks=chunks), y, **settings)
    same_path(found, ez.fit_path(X, y, **settings), bitwise=chunks[0] == N)


@pytest.mark.parametrize("chunks", [(N, 200), (40, 200)], ids=str)
def test_local_search_sizes_and_proofs(data, chunks):
    X, y = data
    D = da.from_array(X, chunks=chunks)
    settings = {"lambda_2": 1e-2, "algorithm": "local_search"}
    same_path(ez.fit_path(D, y, max_support=6, **settings), ez.fit_path(X, y, max_support=6, **settings), bitwise=False)
    found, expected = (ez.fit_sizes(data, y, [1, 3, 5], lambda_2=1e-2) for data in (D, X))
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-9)
    proof, expected = (ez.solve(data, y, k=3, lambda_2=1e-1) for data in (D, X))
    assert proof.status == "optimal"
    assert proof.objective == pytest.approx(expected.objective, rel=1e-9)
    assert ez.verify(proof.certificate, X, y).valid
    assert ez.verify(proof.certificate, D, y).valid


def test_estimators(data):
    X, y = data
    D = da.from_array(X, chunks=(N, 200))
    for estimator in (partial(ez.L0Classifier, k=3), partial(ez.L0ClassifierCV, max_support=3, cv=2, n_shrinkage=2)):
        found, expected = estimator().fit(D, y), estimator().fit(X, y)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        np.testing.assert_array_equal(found.predict(D), expected.predict(X))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, bool, np.int64])
def test_types(data, dtype):
    X = np.round(data[0]).astype(dtype)
    found, expected = (ez.fit_path(X, data[1], lambda_2=1e-3, max_support=5) for X in (da.from_array(X, chunks=(N, 99)), X))
    same_path(found, expected)


def sparse_pair(data):
    X = data[0] * (np.abs(data[0]) > 1.0)
    return da.from_array(X, chunks=(50, 120)).map_blocks(sparse.csr_matrix), sparse.csc_matrix(X)


def test_sparse_blocks(data):
    D, X = sparse_pair(data)
    found, expected = (ez.fit_path(X, data[1], lambda_2=1e-3, max_support=5) for X in (D, X))
    same_path(found, expected, bitwise=False)
    store = DaskStore(D)
    assert (store.storage, store.dtype) == ("sparse", np.float64)
    assert abs(store[:, 100:300] - X[:, 100:300]).max() == 0.0
    assert store.nbytes < 8 * N * P


def test_columns_are_read_as_they_are(data):
    X = data[0]
    store = DaskStore(da.from_array(X, chunks=(40, 130)))
    columns = np.array([0, 129, 130, 499])
    taken = store.take(columns)
    np.testing.assert_array_equal(taken, X[:, columns])
    assert taken.flags.f_contiguous
    np.testing.assert_array_equal(store[:, 100:300], X[:, 100:300])
    np.testing.assert_array_equal(store[:, columns], X[:, columns])
    assert store[:, 5:5].shape == (N, 0)
    assert store.nbytes == X.nbytes


def test_nothing_is_left_at_the_end():
    """A cycle through the core: a function of the script makes the blocks, and the script holds the path."""
    code = (
        "import dask.array as da, ellzero as ez\n"
        "X, y, _ = ez.datasets.make_classification(50, 40, 2, random_state=0)\n"
        "def same(block): return block\n"
        "path = ez.fit_path(da.from_array(X).map_blocks(same, dtype=float), y)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout + ended.stderr == ""  # nanobind reports what it leaks


def test_bad_arrays(data):
    X, y = data
    D = da.from_array(X, chunks=(N, 100))
    cases = {
        "unknown size": D[:, da.from_array(X[0], chunks=100) > 0.0],
        "two dimensions": D[:, 0],
        "real numbers": D.astype(complex),
        r"shape \(90, 99\) where its chunks say \(90, 100\)": D.map_blocks(partial(np.delete, obj=0, axis=1), chunks=D.chunks),
        "NaN or infinity": da.where(D > 2.0, np.nan, D),
    }
    for message, bad in cases.items():
        with pytest.raises(ez.InvalidInputError, match=message):
            ez.fit_path(bad, y)


class TestCluster:
    def test_persisted_blocks_are_converted_once(self, client, data):
        X, y = data
        expected = ez.fit_path(X, y, lambda_2=1e-3, max_support=3)
        by_rows = da.from_array(np.ascontiguousarray(X), chunks=(N, 100)).persist()
        store = DaskStore(by_rows)
        assert len(store.engine.held) == 10  # five blocks and their copies
        assert len(DaskStore(by_rows.map_blocks(np.asfortranarray).persist()).engine.held) == 5
        same_path(ez.fit_path(by_rows, y, lambda_2=1e-3, max_support=3), expected)

    def test_models_are_used_where_the_cluster_is_not(self, client, data, tmp_path):
        X, y = data
        model = ez.L0Classifier(k=2).fit(da.from_array(X, chunks=(N, 100)).persist(), y)
        (tmp_path / "model").write_bytes(pickle.dumps(model))
        np.save(tmp_path / "X.npy", X)
        elsewhere = """if True:
            import pickle, numpy as np
            model = pickle.load(open("model", "rb"))
            print(*model.predict(np.load("X.npy")))
            try:
                model.path_.problem.design.rmatvec(np.ones(90))
            except Exception as error:
                print(type(error).__name__, error)
        """
        run = subprocess.run([sys.executable, "-c", elsewhere], cwd=tmp_path, capture_output=True, text=True, timeout=250)
        assert run.stdout.splitlines() == [
            " ".join(map(str, model.predict(X))),
            "ClusterError X is kept by the workers of a Dask cluster that this process is not connected to.",
        ], run.stderr

    def test_no_copies_without_room(self, client, data, monkeypatch):
        monkeypatch.setattr(cluster_module.Cluster, "room", lambda _: 1000.0)
        assert len(DaskStore(da.from_array(data[0], chunks=(N, 100)).persist()).engine.held) == 5

    def test_task_that_dies_with_its_workers_is_tried_again(self, client, data, monkeypatch):
        """Dask gives up on a task that was with dying workers; the pass does not."""
        w = np.full(N, 1.0 / N)
        store = DaskStore(da.from_array(data[0], chunks=(N, 100)))
        attempts = []
        usual = cluster_module.Cluster.attempt

        def attempt(self, keys, make):
            attempts.append(len(keys))
            for key, answer in usual(self, keys, make):
                killed = len(attempts) == 1 and key[1] in (1, 3)
                yield key, (None, KilledWorker("task", None, 3), None) if killed else answer

        monkeypatch.setattr(cluster_module.Cluster, "attempt", attempt)
        found = dict(store.scan([Moments(w)]))
        assert attempts == [5, 2]
        for first, (moments,) in found.items():
            np.testing.assert_allclose(moments[0], w @ data[0][:, first : first + 100], atol=1e-14)

    def test_errors_of_blocks_are_raised(self, client, data):
        D = da.from_array(data[0], chunks=(N, 100)).map_blocks(partial(np.take, indices=1000, axis=0), dtype=float)
        with pytest.raises(IndexError, match="out of bounds"):
            ez.fit_path(D, data[1])

    def test_answer_of_another_version(self, client, data, monkeypatch):
        """A worker that joined later reports its version with its answers."""
        store = DaskStore(da.from_array(data[0], chunks=(N, 100)))
        monkeypatch.setattr(cluster_module, "version", lambda _: "9.9")
        with pytest.raises(ez.ClusterError, match=r"worker tcp://.* has ellzero .*, this process 9\.9"):
            list(store.scan([Products(np.ones((1, N)))]))

    def test_large_requests_travel_apart(self, client, data, monkeypatch):
        monkeypatch.setattr(dask_array, "INLINE_BYTES", 0)
        store = DaskStore(da.from_array(data[0], chunks=(40, 200)))
        for first, (products,) in store.scan([Products(np.ones((1, N)))]):
            np.testing.assert_allclose(products[0], data[0].sum(axis=0)[first : first + products.shape[1]], atol=1e-12)

    def test_asynchronous_client(self, client, data, monkeypatch):
        monkeypatch.setattr(type(client), "asynchronous", True)
        with pytest.raises(ez.InvalidInputError, match="asynchronous"):
            DaskStore(da.from_array(data[0]))

    def test_joblib_backend(self, client, data):
        """Cross-validation and resampling on the cluster give the same as threads."""
        X, y = data
        expected = ez.L0ClassifierCV(max_support=3, cv=2, n_shrinkage=2).fit(X, y)
        halves = partial(ez.stability_selection, y=y, k=1, n_subsamples=2)
        frequency = halves(X).frequency
        with joblib.parallel_config(backend="dask"):
            found = ez.L0ClassifierCV(max_support=3, cv=2, n_shrinkage=2).fit(X, y)
            np.testing.assert_array_equal(halves(X).frequency, frequency)
            np.testing.assert_array_equal(halves(da.from_array(X, chunks=(N, P)).persist()).frequency, frequency)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        assert np.shares_memory(found.path_.problem.design.stored(), expected.path_.problem.design.stored())  # none came back

    def test_lost_for_good(self, client, data):
        worker = next(iter(client.nthreads()))
        held = client.scatter(data[0], workers=[worker])
        D = da.from_delayed(dask.delayed(held), shape=(N, P), dtype=float)
        store = DaskStore(D)
        os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)
        with pytest.raises(ez.ClusterError, match="X was lost"):
            list(store.scan([Products(np.ones((1, N)))]))

    @pytest.mark.parametrize(("persisted", "kill"), [(True, kill_one), (False, kill_all)])
    def test_killed_workers(self, client, data, monkeypatch, kill, persisted):
        """SIGKILL while answers of a pass are still to come leaves the path the same, bit by bit."""
        X, y = data
        D = da.from_array(X, chunks=(N, 100))
        if persisted:
            D = D.persist()
            wait(D)
        usual, scans = DaskStore.scan, []

        def scan(self, requests):
            scans.append(len(requests))
            for number, part in enumerate(usual(self, requests)):
                if len(scans) == 3 and number == 0:
                    kill(client)
                yield part

        monkeypatch.setattr(DaskStore, "scan", scan)
        found = ez.fit_path(D, y, lambda_2=1e-3, max_support=2)
        assert len(scans) > 3
        same_path(found, ez.fit_path(X, y, lambda_2=1e-3, max_support=2))

    def test_example(self, client, capsys):
        script = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "dask_cluster.py"))
        client.wait_for_workers(1, timeout=250)
        script["main"](client, kill=True)
        out = capsys.readouterr().out
        assert out.count("the same path: True") == 2
        assert "killed the worker" in out


def test_worker_without_ellzero(odd_worker, empty_client, data):
    odd_worker(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'ellzero':\n"
        "            raise ModuleNotFoundError('No module named ' + repr(name), name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    with (
        empty_client.as_current(),
        pytest.raises(ez.ClusterError, match=r"worker tcp://\S+ cannot import ellzero .* No module"),
    ):
        ez.fit_path(da.from_array(data[0]), data[1])


def test_worker_with_another_version(odd_worker, empty_client, data):
    odd_worker(
        "import importlib.metadata as metadata\n"
        "usual = metadata.version\n"
        "metadata.version = lambda name: '0.0.7' if name == 'ellzero' else usual(name)\n"
    )
    with empty_client.as_current(), pytest.raises(ez.ClusterError, match=r"worker tcp://\S+ has ellzero 0\.0\.7, this process"):
        ez.fit_path(da.from_array(data[0]), data[1])


def test_no_workers(empty_client, data):
    with (
        empty_client.as_current(),
        dask.config.set({"ellzero.timeout": "200ms"}),
        pytest.raises(ez.ClusterError, match=r"no worker for 0\.2 s"),
    ):
        ez.fit_path(da.from_array(data[0]), data[1])


def test_workers_leave_in_the_middle(data):
    with (
        dask.config.set({"ellzero.timeout": "500ms"}),
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0", silence_logs=60) as cluster,
        Client(cluster),
    ):
        store = DaskStore(da.from_array(data[0], chunks=(N, 100)))
        cluster.scale(0)
        with pytest.raises(ez.ClusterError, match=r"no worker for 0\.5 s"):
            list(store.scan([Products(np.ones((1, N)))]))
    with pytest.raises(ez.ClusterError, match="closed"):
        list(store.scan([Products(np.ones((1, N)))]))


def test_bad_timeout(empty_client, data):
    with (
        empty_client.as_current(),
        dask.config.set({"ellzero.timeout": "soon"}),
        pytest.raises(ez.InvalidInputError, match=r"ellzero\.timeout"),
    ):
        DaskStore(da.from_array(data[0]))
