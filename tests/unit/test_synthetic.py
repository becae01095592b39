"""The synthetic data follow the distributions that the paper names."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

import ellzero as ez
from ellzero.datasets import draw_labels, make_classification
from ellzero.datasets.synthetic import signal_variance


def covariance(p, correlation, rho):
    apart = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return {None: np.eye(p), "exponential": float(rho) ** apart, "constant": np.where(apart == 0, 1.0, rho)}[correlation]


@pytest.mark.parametrize(("correlation", "rho"), [(None, 0.0), ("exponential", 0.9), ("exponential", 0.5), ("constant", 0.3)])
def test_features_have_the_covariance(correlation, rho):
    n, p = 40_000, 12
    X = make_classification(n, p, 3, correlation=correlation, rho=rho)[0]
    sample = np.cov(X, rowvar=False)
    # An entry's standard error is at most sqrt(2 / n); five of them for 78 entries.
    assert np.abs(sample - covariance(p, correlation, rho)).max() < 5.0 * np.sqrt(2.0 / n)
    assert np.abs(X.mean(axis=0)).max() < 5.0 / np.sqrt(n)


def test_many_correlated_features_need_no_covariance_matrix():
    X = make_classification(2, 100_000, 5, correlation="exponential", rho=0.9)[0]  # its covariance would take 80 GB
    assert X.shape == (2, 100_000)


@pytest.mark.parametrize(("p", "k"), [(1000, 25), (1000, 7), (11, 3), (5, 5), (4, 0)])
def test_the_support_is_equi_spaced(p, k):
    support = make_classification(3, p, k)[2].nonzero()[0]
    assert len(support) == k
    assert set(np.diff(support)) <= {p // max(k, 1), p // max(k, 1) + 1}


@pytest.mark.parametrize("s", [0.3, 1.0, 4.0])
def test_labels_are_as_frequent_as_the_logistic_model_says(s):
    X, y, coef = make_classification(100_000, 6, 2, s=s, random_state=3)
    again = draw_labels(X, coef, s=s, random_state=4)
    probability = expit(s * (X @ coef))
    for labels in (y, again):
        for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 0.6), (0.6, 1.0)):
            inside = (probability >= low) & (probability < high)
            error = np.sqrt((probability * (1.0 - probability))[inside].sum()) / max(inside.sum(), 1)
            assert abs((labels == 1)[inside].mean() - probability[inside].mean()) < 5.0 * error if inside.any() else True
    agree = (probability**2 + (1.0 - probability) ** 2).mean()  # of two independent draws
    assert (y == again).mean() == pytest.approx(agree, abs=5.0 * 0.5 / np.sqrt(len(y)))


@pytest.mark.parametrize(("correlation", "rho"), [(None, 0.0), ("exponential", 0.9), ("constant", 0.3)])
def test_signal_to_noise_ratio(correlation, rho):
    """A normal signal and normal noise disagree in sign with probability arctan(1 / sqrt(SNR)) / pi."""
    n = 40_000
    for snr in (10.0, 1.0):
        X, y, coef = make_classification(n, 20, 5, correlation=correlation, rho=rho, snr=snr, random_state=5)
        flipped = np.arctan(1.0 / np.sqrt(snr)) / np.pi
        assert (y != np.sign(X @ coef)).mean() == pytest.approx(flipped, abs=5.0 * np.sqrt(flipped / n))


@pytest.mark.parametrize(("correlation", "rho"), [(None, 0.0), ("exponential", 0.7), ("exponential", 0.0), ("constant", 0.3)])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_signal_variance_is_the_quadratic_form(correlation, rho, k):
    coef = make_classification(2, 20, k)[2]
    direct = coef @ covariance(20, correlation, rho) @ coef
    assert signal_variance(coef.nonzero()[0], correlation, rho) == pytest.approx(direct, rel=1e-12)


def test_data_of_a_seed_stays_what_it_was():
    """Benchmarks and published results name seeds."""
    digests = {
        (): "41b67dda9821",
        (("correlation", "exponential"), ("rho", 0.9)): "18b6b95c0dbc",
        (("correlation", "constant"), ("rho", 0.3)): "2a4311b38a0f",
        (("dtype", np.float32), ("s", 2.0)): "6b9762b7eef5",
    }
    for options, digest in digests.items():
        X, y, _ = make_classification(200, 30, 4, random_state=7, **dict(options))
        # Rounded: the last digit may differ between machines.
        assert hashlib.sha256(X.round(4).tobytes() + y.astype(np.int8).tobytes()).hexdigest()[:12] == digest


def test_labels_for_any_storage():
    X, _, coef = make_classification(200, 30, 4, random_state=0)
    expected = draw_labels(X, coef, random_state=1)
    for other in (sparse.csr_matrix(X), sparse.csc_matrix(X), X.tolist(), np.ascontiguousarray(X)):
        np.testing.assert_array_equal(draw_labels(other, coef, random_state=1), expected)


def test_no_noise_and_strong_signals():
    X, y, coef = make_classification(500, 30, 4, s=1e6, random_state=0)
    np.testing.assert_array_equal(y, np.sign(X @ coef))
    np.testing.assert_array_equal(draw_labels(X, coef, noise_variance=0.0), np.sign(X @ coef))


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"s": 1.0, "snr": 10.0}, "s and snr"),
        ({"snr": 0.0}, "snr"),
        ({"snr": -1.0}, "snr"),
        ({"snr": "large"}, "snr"),
        ({"k": 0, "snr": 10.0}, "k"),
        ({"s": -1.0}, "s must"),
        ({"rho": 1.0}, "rho"),
        ({"correlation": "linear"}, "correlation"),
        ({"k": 11}, "k must"),
    ],
)
def test_bad_arguments_of_the_data(options, names):
    with pytest.raises(ez.InvalidInputError, match=names):
        make_classification(**{"n": 20, "p": 10, "k": 2} | options)


@pytest.mark.parametrize(
    ("arguments", "options", "names"),
    [
        ((np.ones((5, 3)), [1.0, 0.0]), {}, "coef"),
        ((np.ones(5), [1.0]), {}, "X must"),
        ((np.ones((5, 1)), [1.0]), {"s": 1.0, "noise_variance": 1.0}, "s and noise_variance"),
        ((np.ones((5, 1)), [1.0]), {"noise_variance": -1.0}, "noise_variance"),
        ((np.ones((5, 1)), [1.0]), {"s": np.nan}, "s must"),
    ],
)
def test_bad_arguments_of_the_labels(arguments, options, names):
    with pytest.raises(ez.InvalidInputError, match=names):
        draw_labels(*arguments, **options)
