"""Problems with several outputs, every set of features of which is fitted, and certificates for them, without the solver.

The tree of such a certificate decides all features one after the other; its leaves have the dual points of their own fits.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from types import SimpleNamespace

import numpy as np
from scipy import sparse
from scipy.optimize import lsq_linear, minimize
from scipy.special import log_softmax, softmax

from ellzero.exact.verifier import digest, fingerprint_matrix, fingerprint_vector
from ellzero.exact.verifier.arithmetic import Float64
from ellzero.exact.verifier.claims import check_arrays, read_problem
from support.oracle import LOSSES, Model

KINK = 1e-6  # of the hinge: rows so near to it may have any slope


@dataclass
class Fit:
    """The best model of some features: coefficients of shape (p, outputs), and the objective without lambda_0."""

    coef: np.ndarray
    intercept: np.ndarray
    value: float
    alpha: np.ndarray  # of its dual point, one output after the other


@dataclass(eq=False)
class Shared:
    """A problem with several outputs on shared features; `target` has a row for each output: 0 and 1, -1 and +1, or numbers."""

    X: np.ndarray
    y: np.ndarray  # as a reader has it
    target: np.ndarray
    loss: str
    classes: np.ndarray | None = None
    weights: np.ndarray | None = None
    group: np.ndarray | None = None
    price: np.ndarray | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    spread: np.ndarray | None = None
    unpenalized: list[int] = field(default_factory=list)
    lambda_0: float = 0.0
    lambda_1: float = 0.0
    lambda_2: float = 0.0
    k: int | None = None
    budget: float | None = None
    fit_intercept: bool = True

    def __post_init__(self):
        self.outputs, (self.n, self.p) = len(self.target), self.X.shape
        self.w = np.full(self.n, 1.0 / self.n) if self.weights is None else self.weights
        self.heads = np.arange(self.p) if self.group is None else self.group
        self.Z = self.X if self.spread is None else self.X / self.spread
        scale = np.ones(self.p) if self.spread is None else self.spread
        self.low = (np.full(self.p, -np.inf) if self.lower is None else self.lower) * scale
        self.high = (np.full(self.p, np.inf) if self.upper is None else self.upper) * scale

    @property
    def features(self):
        """The counted features."""
        return [int(j) for j in np.unique(self.heads) if j not in self.unpenalized]

    def costs(self, chosen):
        return float(len(chosen) if self.price is None else self.price[list(chosen)].sum())

    def allows(self, chosen):
        within = self.budget is None or self.costs(chosen) <= self.budget * (1.0 + 1e-12)
        return within and (self.k is None or len(chosen) <= self.k)

    def objective(self, coef, intercept):
        """The objective of a model on the scale of Z, without lambda_0."""
        eta = (self.Z @ coef + intercept).T
        if self.loss == "multinomial":
            loss = -self.w @ (self.target * log_softmax(eta, axis=0)).sum(axis=0)
        else:
            loss = (self.w * LOSSES[self.loss](eta, self.target)).sum()
        return float(loss + self.lambda_1 * np.abs(coef).sum() + self.lambda_2 * (coef**2).sum())

    @cached_property
    def fits(self):
        """The best model of every set of features that is allowed."""
        sets = (frozenset(each) for size in range(len(self.features) + 1) for each in combinations(self.features, size))
        return {chosen: self.fit(chosen) for chosen in sets if self.allows(chosen)}

    @cached_property
    def best(self):
        """The best set of features."""
        return min(self.fits, key=self.total)

    def total(self, chosen):
        return self.fits[chosen].value + self.lambda_0 * self.costs(chosen)

    def fit(self, chosen):
        columns = np.flatnonzero(np.isin(self.heads, [*chosen, *self.unpenalized]))
        coef, intercept = np.zeros((self.p, self.outputs)), np.zeros(self.outputs)
        if self.loss == "multinomial":
            coef[columns], intercept = self.fit_classes(columns)
        else:
            for place, target in enumerate(self.target):
                penalties = self.lambda_1, self.lambda_2, self.fit_intercept
                fit = Model(self.Z, target, self.loss, *penalties, self.w, self.low, self.high).fit(frozenset(columns.tolist()))
                coef[:, place], intercept[place] = fit.coef, fit.intercept
        return Fit(coef, intercept, self.objective(coef, intercept), self.shares(coef, intercept, columns).ravel())

    def fit_classes(self, columns):
        """The coefficients and intercepts of the multinomial loss; with lambda_1, those above and below zero apart."""
        Z, size, K = self.Z[:, columns], len(columns) * self.outputs, self.outputs
        if not size and not self.fit_intercept:
            return np.zeros((0, K)), np.zeros(K)

        def parts(x):
            coef = (x[:size] - x[size : 2 * size]).reshape(-1, K)
            return coef, x[2 * size :] if self.fit_intercept else np.zeros(K)

        def value(x):
            coef, intercept = parts(x)
            eta = (Z @ coef + intercept).T
            slope = self.w * (softmax(eta, axis=0) * self.target.sum(axis=0) - self.target)
            rise = (Z.T @ slope.T + 2.0 * self.lambda_2 * coef).ravel()
            loss = -self.w @ (self.target * log_softmax(eta, axis=0)).sum(axis=0) + self.lambda_2 * (coef**2).sum()
            slopes = [self.lambda_1 + rise, self.lambda_1 - rise, *([slope.sum(axis=1)] if self.fit_intercept else [])]
            return loss + self.lambda_1 * x[: 2 * size].sum(), np.concatenate(slopes)

        low, high = np.repeat(self.low[columns], K), np.repeat(self.high[columns], K)
        boxes = [
            *zip(np.zeros(size), np.maximum(high, 0.0), strict=True),
            *zip(np.zeros(size), np.maximum(-low, 0.0), strict=True),
        ]
        boxes += [(None, None)] * (K if self.fit_intercept else 0)
        options = {"ftol": 1e-16, "gtol": 1e-9, "maxiter": 5000, "maxfun": 50000, "maxcor": 12}
        x = minimize(value, np.zeros(len(boxes)), jac=True, method="L-BFGS-B", bounds=boxes, options=options).x
        return parts(x)

    def shares(self, coef, intercept, columns):
        """Alpha of a model, with a row for each output."""
        eta = (self.Z @ coef + intercept).T
        if self.loss == "multinomial":
            return softmax(eta, axis=0)
        if self.loss == "squared_error":
            return self.target - eta
        margin = self.target * eta
        if self.loss == "logistic":
            return 1.0 / (1.0 + np.exp(margin))
        if self.loss == "squared_hinge":
            return 2.0 * np.maximum(0.0, 1.0 - margin)
        return np.array([self.hinge_slopes(*each, columns) for each in zip(self.target, margin, coef.T, strict=True)])

    def hinge_slopes(self, target, margin, coef, columns):
        """Alpha of one output without l1: at the kink, what makes the slopes zero of coefficients that no bound holds."""
        alpha, kink = (margin < 1.0) + 0.0, np.abs(margin - 1.0) < KINK
        if not kink.any():
            return alpha
        inside = (self.low + KINK < coef) & (coef < self.high - KINK)
        inner = columns[inside[columns]]
        rows = self.Z[:, inner].T if not self.fit_intercept else np.r_[self.Z[:, inner].T, np.ones((1, self.n))]
        wanted = (
            np.r_[2.0 * self.lambda_2 * coef[inner], np.zeros(len(rows) - len(inner))]
            - rows[:, ~kink] @ (self.w * target * alpha)[~kink]
        )
        if len(rows):
            alpha[kink] = lsq_linear(rows[:, kink] * (self.w * target)[kink], wanted, (0.0, 1.0), tol=1e-14).x
        return alpha

    def problem(self):
        """The problem as the verifier reads it."""
        certificate = self.certificate()
        return read_problem(certificate.header, check_arrays(certificate.header, certificate.arrays), self.X, self.y, Float64())

    def certificate(self, **changes):
        """A certificate, or with `threshold` a list of all models up to it; as an object, whose parts may be changed."""
        parent, branch, side, row, points, leaves = [-1], [-1], [0], [0], [self.fits[self.best]], {}

        def grow(node, inside, left):
            full = not self.allows([*inside, *left[:1]]) if self.budget is None else False
            if not left or full:
                if self.allows(inside):
                    row[node] = len(points)
                    points.append(self.fits[frozenset(inside)])
                    leaves[node] = frozenset(inside)
                return
            first = len(parent)
            for value in (0, 1):
                parent.append(node), branch.append(self.features.index(left[0])), side.append(value), row.append(-1)
            grow(first, inside, left[1:])
            grow(first + 1, [*inside, left[0]], left[1:])

        grow(0, [], self.features)
        if len(parent) == 1:
            row[0] = 0
        best, scale = self.fits[self.best], 1.0 if self.spread is None else self.spread[:, None]
        support = np.flatnonzero(best.coef.any(axis=1))
        arrays = {
            "parent": np.array(parent),
            "branch": np.array(branch),
            "side": np.array(side),
            "row": np.array(row),
            "block_members": np.array(self.features, dtype=np.int64),
            "block_ends": np.arange(1, len(self.features) + 1),
            "support": support,
            "coef": (best.coef / scale)[support],
            "intercept": best.intercept,
        }
        if self.loss == "hinge":
            arrays["alpha"] = np.clip([fit.alpha for fit in points], 0.0, 1.0)
        else:
            used = [np.flatnonzero(fit.coef) for fit in points]  # columns j K + l
            means = self.w @ self.Z if self.fit_intercept else np.zeros(self.p)
            arrays |= {
                "model_ends": np.cumsum([len(each) for each in used]),
                "model_columns": np.concatenate(used),
                "model_values": np.concatenate([fit.coef.ravel()[each] for fit, each in zip(points, used, strict=True)]),
                "model_intercept": np.array([fit.intercept + means @ fit.coef for fit in points]),
            }
        kept = {name: getattr(self, name) for name in ("classes", "weights", "group", "price", "lower", "upper", "spread")}
        arrays |= {name: value for name, value in kept.items() if value is not None}
        arrays |= {"unpenalized": np.array(self.unpenalized)} if self.unpenalized else {}
        objective = self.total(self.best)
        header = {
            "format": "ellzero certificate",
            "version": 1,
            "outputs": self.outputs,
            "loss": self.loss,
            **{name: getattr(self, name) for name in ("lambda_0", "lambda_1", "lambda_2", "k", "budget", "fit_intercept")},
            "standardize": self.spread is not None,
            "swap_size": None,
            "bound": None,
            "free_bound": None,
            "n": self.n,
            "p": self.p,
            "storage": "sparse" if sparse.issparse(self.X) else "dense",
            "fingerprint_X": fingerprint_matrix(self.X, "dense"),
            "fingerprint_y": fingerprint_vector(self.target.ravel()),
            "objective": objective,
            "lower_bound": objective * (1.0 - 1e-6),
            "gap_asked": 1e-6,
            "status": "optimal",
            "prover": None,
            "threshold": None,
            "within": None,
        }
        if "threshold" in changes:
            self.list_models(header, arrays, leaves, changes["threshold"])
        header |= changes
        header["digest"] = digest(header, arrays)
        return SimpleNamespace(header=header, arrays=arrays)

    def list_models(self, header, arrays, leaves, threshold):
        """Turn a certificate into a list of all models up to a threshold."""
        listed = {node: self.fits[chosen] for node, chosen in leaves.items() if self.total(chosen) <= threshold}
        supports = [np.flatnonzero(fit.coef.any(axis=1)) for fit in listed.values()]
        arrays["row"][list(listed)] = -1
        arrays["listed_node"] = np.array(list(listed))
        arrays["listed_ends"] = np.cumsum([len(each) for each in supports])
        arrays["listed_columns"] = np.concatenate(supports)
        arrays["listed_coef"] = np.concatenate([fit.coef[each] for fit, each in zip(listed.values(), supports, strict=True)])
        arrays["listed_intercept"] = np.array([fit.intercept for fit in listed.values()])
        arrays["redundant_node"] = arrays["redundant_to"] = np.zeros(0, dtype=np.int64)
        header |= {"threshold": threshold, "status": "complete", "gap_asked": 0.0, "lower_bound": threshold * (1.0 - 1e-12)}


def saved(certificate, path):
    """Write a certificate as the file that it is."""
    letters = np.frombuffer(json.dumps(certificate.header).encode(), dtype=np.uint8)
    np.savez_compressed(path, header=letters, **certificate.arrays)
    return path


def drawn(seed, loss, outputs=3, one_vs_rest=False, **settings):
    """A small problem by chance; settings that are not given are drawn."""
    rng = np.random.default_rng([seed, len(loss), outputs])
    n, p = max(24, 4 * outputs), 5
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1)) + rng.standard_normal(p) * rng.choice([0.0, 1.0])
    eta = X @ (rng.standard_normal((p, outputs)) * (rng.random(p) < 0.6)[:, None]) + rng.standard_normal((n, outputs))
    classes = None
    if loss == "multinomial" or one_vs_rest:
        label = np.argmax(eta, axis=1)
        label[:outputs] = np.arange(outputs)
        classes = np.array([f"c{l}" for l in range(outputs)]) if seed % 2 else np.arange(outputs) * 3
        y, found = classes[label], label == np.arange(outputs)[:, None]
        target = found * 1.0 if loss == "multinomial" else np.where(found, 1.0, -1.0)
    elif loss == "squared_error":
        y, target = eta, eta.T
    else:
        target = np.where(eta > np.median(eta, axis=0), 1.0, -1.0).T
        classes = np.array(["no", "yes"])
        y = classes[(target.T > 0.0).astype(int)]
    chosen = {"lambda_2": float(10.0 ** rng.uniform(-2.0, -0.5)), "fit_intercept": bool(rng.random() < 0.7)}
    chosen |= {"lambda_1": 0.01} if rng.random() < 0.3 and loss != "hinge" else {}
    chosen |= {"lower": -rng.uniform(0.0, 0.8, p), "upper": rng.uniform(0.0, 0.8, p)} if rng.random() < 0.4 else {}
    if rng.random() < 0.5:
        weights = rng.integers(0, 4, n).astype(float)
        weights[: 2 * outputs] += 1.0
        chosen["weights"] = weights / weights.sum()
    if rng.random() < 0.4:
        chosen["group"] = np.array([0, 1, 0, 3, 1])
    if rng.random() < 0.4:
        chosen["unpenalized"] = [3]
    chosen |= [{"lambda_0": 0.05 * outputs**0.5}, {"k": 2}, {"k": 2, "lambda_0": 0.02}][seed % 3]
    if rng.random() < 0.4:
        price = np.array([1.0, 2.0, 1.0, 1.5, 2.0]) * rng.choice([1.0, 0.3])
        price[chosen.get("unpenalized", [])] = 0.0
        chosen |= {"price": price, "k": None, "budget": float(price.sum() * 0.5)} if seed % 2 else {"price": price}
    return Shared(X, y, target.astype(float), loss, classes, **{**chosen, **settings})
