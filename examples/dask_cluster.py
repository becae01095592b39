"""A path on a cluster: the columns of X live on worker processes, one of which is killed in the middle.

python examples/dask_cluster.py [ADDRESS]

Without an address, a cluster of two processes is started on this machine. With the address of a scheduler (tcp://host:8786) the
same code runs on its workers, and none is killed. docs/guide/cluster.md says what they need.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from numpy.typing import NDArray

import ellzero as ez

N, P, BLOCK = 500, 20_000, 2_500
FEATURES = [3, 4_000, 8_001, 12_002, 19_999]


def make_columns(block: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the columns of these numbers, made on the worker that will keep them: nothing of X is ever sent."""
    columns = [np.random.default_rng([2020, int(number)]).standard_normal(N) for number in block[0]]
    return np.asfortranarray(np.array(columns).T)  # column-major, as ellzero wants it: no second copy


def make_data() -> tuple[da.Array, NDArray[np.int64]]:
    numbers = da.arange(P, chunks=BLOCK)[None, :]
    X = numbers.map_blocks(make_columns, chunks=((N,), numbers.chunks[1]), dtype=np.float64, meta=np.empty((0, 0))).persist()
    signal_ = np.asarray(X[:, FEATURES].sum(axis=1).compute())
    y = np.random.default_rng(0).random(N) < 1.0 / (1.0 + np.exp(-2.0 * signal_))
    return X, y.astype(np.int64)


def kill_a_worker(client: Client) -> None:
    address, pid = next(iter(client.run(os.getpid).items()))
    os.kill(pid, signal.SIGKILL)
    print(f"  killed the worker {address} (process {pid})")


def fit(name: str, X: object, y: NDArray[np.int64]) -> ez.Path:
    start = time.perf_counter()
    path = ez.fit_path(X, y, lambda_2=0.01, max_support=10)
    print(f"{name}: {len(path)} models in {time.perf_counter() - start:.2f} s")
    return path


def same(one: ez.Path, other: ez.Path) -> bool:
    return np.array_equal(one.objective, other.objective) and all(
        np.array_equal(a.support, b.support) and np.array_equal(a.values, b.values) for a, b in zip(one, other, strict=True)
    )


def main(client: Client, kill: bool) -> None:
    X, y = make_data()
    wait(X)
    held = client.nthreads()
    print(f"X has {N} rows and {P:,} columns in {X.npartitions} blocks on {len(held)} workers")
    distributed = fit("on the cluster", X, y)
    print(f"  true features: {FEATURES}, found: {distributed.at_support(5).support.tolist()}")
    in_memory = fit("in memory", X.compute(), y)
    print(f"  the same path: {same(distributed, in_memory)}")
    if kill:
        killer = threading.Timer(0.2, kill_a_worker, [client])
        killer.start()
        survived = fit("with a worker killed", X, y)
        killer.join()
        print(f"  the same path: {same(survived, in_memory)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with Client(sys.argv[1]) as client:
            main(client, kill=False)
    else:
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            main(client, kill=True)
