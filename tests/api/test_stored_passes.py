"""Passes over an X that is not in memory: shared by threads, ended early, broken or interrupted."""

import contextlib
import threading
import time

import numpy as np
import pytest
from support.interruption import interrupt
from support.problems import target
from support.stored_problems import COLUMNS, RESPONSE, SEED, SETTINGS, Slow, same

import ellzero as ez
from ellzero.design import as_design, stored
from ellzero.design.store import Moments, Products
from ellzero.design.stored import Passes, StoredDesign, WaitingRequest


def test_questions_of_several_threads_share_a_pass():
    class Waiting(Slow):
        """Its first pass does not end before all have asked, however slowly a loaded machine starts threads."""

        def scan(self, requests):
            until = time.monotonic() + 30.0
            while len(design.passes.waiting) < 6 and not self.served and time.monotonic() < until:
                time.sleep(1e-3)
            return super().scan(requests)

    X = COLUMNS
    design = StoredDesign(Waiting(X))
    vectors = np.random.default_rng(SEED).standard_normal((6, len(X)))
    found = [None] * 6

    def ask(k):
        found[k] = design.rmatvec(vectors[k])

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(6):
        np.testing.assert_array_equal(found[k], as_design(X).core.products(vectors[k][None])[0])
    assert sum(design.store.served) == 6
    assert len(design.store.served) == 2, design.store.served  # the first, and what came while it was under way


def test_threads_that_ask_again_and_again_do_not_take_turns(monkeypatch):
    monkeypatch.setattr(stored, "PATIENCE", 100.0)  # a loaded machine may need more than a tenth of a pass to wake a thread
    monkeypatch.setattr(stored, "LATELY", 100.0)
    design = StoredDesign(Slow(COLUMNS, seconds=0.03))
    r = np.ones(len(COLUMNS))
    threads = [threading.Thread(target=lambda: [design.rmatvec(r) for _ in range(5)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(design.store.served) == 10
    assert len(design.store.served) <= 7, design.store.served


@pytest.mark.parametrize("how", ["stops", "fails"])
def test_a_pass_that_ends_early_is_made_again_without_telling_anything_twice(how):
    """The screening subtracts what it is told of a column from a bound, which would not hold if it were told twice."""
    passes, vectors, told, led = Passes(Slow(np.ones((4, 6)), blocks=6)), np.ones((1, 4)), [], []
    passes.waiting.append(
        WaitingRequest(Products(vectors), -1, lambda first, _: not told.append(first), 0)
    )  # of another thread

    def take(first, _):
        led.append(first)
        if first == 3 and how == "fails":
            raise OSError(5, "the disk is broken")
        return first != 3

    with pytest.raises(OSError, match="broken") if how == "fails" else contextlib.nullcontext():
        passes.products(vectors, take)
    assert led == told == [0, 1, 2, 3]
    assert len(passes.waiting) == 1, "the question of the other thread waits for the next pass"
    assert (passes.leader, passes.count) == (None, 0)
    assert not passes.asked, "who was stopped will not ask again, and is not to be waited for"
    passes.products(vectors, lambda first, _: True)
    assert told == [0, 1, 2, 3, 4, 5]
    assert (passes.waiting, passes.leader, passes.count) == ([], None, 1)


def test_nodes_of_a_tree_share_passes(monkeypatch):
    monkeypatch.setattr(stored, "RESIDENT_BYTES", 1)  # there is room for 256 columns
    rng = np.random.default_rng(SEED)
    X = np.asfortranarray(rng.standard_normal((60, 1200)) + rng.standard_normal((60, 1)))
    y = np.where(X[:, :6].sum(axis=1) + 3.0 * rng.standard_normal(60) > 0, 1, -1)
    design = StoredDesign(Slow(X, seconds=5e-3, blocks=1))
    outside = ez.solve(design, y, lambda_0=0.03, lambda_2=0.01, node_limit=120)
    assert outside.status == "node_limit", "too easy to tell anything"
    report = ez.verify(outside.certificate, X, y)
    assert report.valid
    assert report.lower_bound == pytest.approx(outside.lower_bound, rel=1e-6)
    assert sum(design.store.served) - len(design.store.served) > 20, design.store.served


def test_a_failing_store_raises_its_own_error_and_can_be_asked_again():
    X, y = COLUMNS, target(RESPONSE, "logistic")
    design = StoredDesign(Slow(X))
    expected = ez.fit_path(X, y, **SETTINGS)
    for passes in (1, 2, 4):
        design.store.fails_at = len(design.store.served) + passes
        with pytest.raises(OSError, match="the disk is broken"):
            ez.fit_path(design, y, **SETTINGS)
    design.store.fails_at = len(design.store.served) + 3
    with pytest.raises(OSError, match="the disk is broken"):
        ez.solve(design, y, k=2, lambda_2=0.01)
    same(expected, ez.fit_path(design, y, **SETTINGS))


def test_ctrl_c_in_a_pass():
    code = """
    import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
    import numpy as np, ellzero as ez
    from support.stored_problems import Slow
    from ellzero.design.stored import StoredDesign
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((100, 5000)))
    design = StoredDesign(Slow(X, seconds=0.05, blocks=50))
    print("solving", flush=True)
    try:
        ez.fit_path(design, np.sign(X[:, 0] + X[:, 7]))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    design.store.seconds = 0.0
    print(np.allclose(design.rmatvec(np.ones(100)), X.sum(axis=0)), flush=True)
    """
    interrupt(code, 1.0, "True")


@pytest.mark.parametrize("task", [{"k": 4}, {"lambda_0": 0.02}, {"lambda_0": 0.02, "method": "iga"}])
def test_time_is_up_in_a_pass(task):
    """The first pass is for means and variances; the second, the heuristic's, ends where the time does."""
    design = StoredDesign(Slow(COLUMNS, seconds=0.02, blocks=100))
    solution = ez.solve(design, target(RESPONSE, "logistic"), lambda_2=0.01, time_limit=0.0, **task)
    assert (solution.status, len(design.store.served)) == ("time_limit", 2)
    assert 100 < design.store.read < 150


def test_what_was_found_before_the_time_was_up_is_returned():
    class Tired(Slow):
        """Slow from its third pass on: by then a sweep has begun."""

        def scan(self, requests):
            self.seconds = 0.1 if len(self.served) >= 2 else 0.0
            return super().scan(requests)

    y = target(RESPONSE, "logistic")
    design = StoredDesign(Tired(COLUMNS, blocks=100))
    solution = ez.solve(design, y, k=3, lambda_2=0.01, time_limit=2.0)
    assert (solution.status, len(design.store.served)) == ("time_limit", 3)
    assert solution.objective < 0.9 * ez.objective(COLUMNS, y, np.zeros(COLUMNS.shape[1]), 0.0)
    assert ez.verify(solution.certificate, COLUMNS, y).valid


def test_requests_on_parts_of_the_rows():
    rng = np.random.default_rng(SEED)
    X, w, r = np.asfortranarray(rng.standard_normal((90, 7))) + 5.0, rng.random(90), rng.standard_normal((3, 90))
    w[30:60] = 0.0
    w /= w.sum()
    for request in (Products(r), Moments(w)):
        whole = request(as_design(X).core, 1)
        parts = [slice(0, 30), slice(30, 60), slice(60, 90)]
        joined = request.join([request.on_rows(part)(as_design(X[part]).core, 1) for part in parts])
        np.testing.assert_allclose(joined, whole, rtol=1e-12, err_msg=f"seed {SEED}")
