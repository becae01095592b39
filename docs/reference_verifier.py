"""Verify a certificate of `ellzero` with rational numbers: docs/certificate.md as a program, without its optional parts.

    python reference_verifier.py proof.npz data.npz

`data.npz` holds X and y. NumPy opens the files, and does little else. All bounds are exact; logarithms are rounded to the
disadvantage of the claim. It is slow, and meant to be read beside the page, whose words it uses.
"""

import hashlib
import json
import math
import sys
from copy import deepcopy
from decimal import Context, Decimal
from fractions import Fraction as Q
from functools import cache
from itertools import pairwise

import numpy as np

HEADER = (
    "format version loss outputs lambda_0 lambda_1 lambda_2 k budget fit_intercept standardize swap_size bound free_bound n p "
)
HEADER += "storage fingerprint_X fingerprint_y objective lower_bound status gap_asked prover threshold within digest"
TREE = {"parent", "branch", "side", "row", "block_members", "block_ends"}
MODELS = {"model_ends", "model_columns", "model_values", "model_intercept"}
MAYBE = {"weights", "lower", "upper", "unpenalized", "model_scale"}
LOSSES = {"logistic": 1, "squared_hinge": math.inf, "hinge": 1, "squared_error": math.inf, "huber": math.inf}  # largest a
PRECISE = Context(prec=60, Emin=-(10**9), Emax=10**9)
SLACK = Q(1, 10**50)  # relative; the numbers of `decimal` are right to 60 digits
INFINITE = math.inf


class Refused(Exception):
    """The certificate proves nothing, or has a part that is not read here; the argument says why."""


def require(condition, reason):
    """Refuse the certificate unless a condition holds."""
    if not condition:
        raise Refused(reason)


# The file.


def read(path, X, y):
    """Return header, arrays, and the data as numbers; refuse what is damaged, or about other data."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays.pop("header").tobytes())
    check_fields(header, arrays)
    text = json.dumps(
        {name: value for name, value in header.items() if name != "digest"}, sort_keys=True, separators=(",", ":")
    )
    sha = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        sha.update((name + arrays[name].dtype.str + repr(tuple(arrays[name].shape))).encode() + arrays[name].tobytes())
    require(header["digest"] == sha.hexdigest(), "the digest does not match.")
    X = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y) == arrays["classes"][1] if "classes" in arrays else None
    target = np.asarray(y, dtype=np.float64) if labels is None else np.where(labels, 1.0, -1.0)
    seals = repr(X.shape).encode() + (X + 0.0).tobytes(order="F"), repr(target.shape).encode() + (target + 0.0).tobytes()
    for name, seal in zip(("fingerprint_X", "fingerprint_y"), seals, strict=True):
        require(header[name] == hashlib.sha256(seal).hexdigest(), f"{name} is that of other data.")
    return header, arrays, X, target


def check_fields(header, arrays):
    """Check what is there, and its ranges."""
    require(
        header.get("format") == "ellzero certificate" and header.get("version") == 1, "this is no certificate of version 1."
    )
    loss, p, labels = header.get("loss"), header["p"], {"logistic", "squared_hinge", "hinge"}
    require(loss in LOSSES, "the loss is not read here.")
    require(header.keys() == {*HEADER.split(), *(["huber_delta"] if loss == "huber" else [])}, "the header has other entries.")
    parts = header["outputs"] == 1 and header["storage"] == "dense" and not header["standardize"]
    require(parts and all(header[name] is None for name in ("budget", "swap_size", "prover", "threshold")), "an optional part.")
    needed = TREE | {"support", "coef", "intercept"} | ({"alpha"} if loss == "hinge" else MODELS)
    needed |= {"classes"} if loss in labels else set()
    require(needed <= arrays.keys() <= needed | MAYBE, "an array is missing, or an optional part.")
    numbers = ["lambda_0", "lambda_1", "lambda_2", "gap_asked", *(["huber_delta"] if loss == "huber" else [])]
    numbers += [name for name in ("k", "bound", "free_bound") if header[name] is not None]
    require(all(0 <= header[name] < INFINITE for name in numbers), "a number is out of range.")
    for name in arrays.keys() - {"lower", "upper", "classes"}:
        require(np.isfinite(arrays[name]).all(), f"{name} is not finite.")
    nodes, points = len(arrays["parent"]), len(arrays["alpha"] if loss == "hinge" else arrays["model_ends"])
    limits = {"parent": (-1, nodes), "branch": (-1, len(arrays["block_ends"])), "side": (0, 2), "row": (-1, points)}
    limits |= dict.fromkeys(("support", "unpenalized", "block_members", "model_columns"), (0, p))
    for name, (low, high) in limits.items():
        values = arrays.get(name, np.zeros(0, int))
        good = values.dtype.kind == "i" and values.ndim == 1 and (values >= low).all() and (values < high).all()
        require(good and (name not in TREE or name == "block_members" or len(values) == nodes), f"{name} is out of range.")
    for name in ("support", "unpenalized"):
        require(len(set(arrays.get(name, np.zeros(0)).tolist())) == len(arrays.get(name, ())), f"{name} names a feature twice.")
    for name in ("lower", "upper", "weights", "model_intercept", "model_scale"):
        size = header["n"] if name == "weights" else points if name.startswith("model") else p
        require(name not in arrays or arrays[name].shape == (size,), f"{name} has another shape.")
    require(loss != "hinge" or arrays["alpha"].shape == (points, header["n"]), "alpha has another shape.")


def lists(ends, values):
    """Return lists that stand one after the other."""
    pairs = list(pairwise([0, *ends.tolist()]))
    require(all(a <= b for a, b in pairs) and (pairs[-1][1] if pairs else 0) == len(values), "lists do not end well.")
    return [values[a:b].tolist() for a, b in pairs]


# The problem.


class Problem:
    """The problem of a certificate: data, weights, penalties and the boxes of the root, as rational numbers."""

    def __init__(self, header, arrays, X, y):
        self.loss, self.n, self.p = header["loss"], *X.shape
        require((self.n, self.p) == (header["n"], header["p"]), "X has another shape.")
        self.l0, self.l1, self.l2 = (Q(header[name]) for name in ("lambda_0", "lambda_1", "lambda_2"))
        self.delta, self.intercept = header.get("huber_delta"), header["fit_intercept"]
        self.x, self.y, self.w = X.tolist(), y.tolist(), arrays.get("weights", np.full(self.n, 1.0 / self.n)).tolist()
        require(min(self.w) >= 0.0 and abs(sum(self.w) - 1.0) <= 1e-9, "weights do not sum to one.")
        self.counted = [j not in set(arrays.get("unpenalized", np.zeros(0)).tolist()) for j in range(self.p)]
        self.k = self.p if header["k"] is None else min(header["k"], self.p)
        self.W = [Q(w) for w in self.w]
        self.columns = [[Q(row[j]) for row in self.x] for j in range(self.p)]
        rows = [i for i in range(self.n) if self.w[i] > 0.0]
        values = [{self.x[i][j] for i in rows} for j in range(self.p)]
        self.idle = [len(each) == 1 if self.intercept else each == {0.0} for each in values]
        lower, upper = (
            arrays.get(name, np.full(self.p, sign)).tolist() for name, sign in (("lower", -INFINITE), ("upper", INFINITE))
        )
        self.low, self.high = {}, {}
        for j in range(self.p):
            fits = lower[j] <= upper[j] and lower[j] < INFINITE and upper[j] > -INFINITE
            require(fits and (not self.counted[j] or lower[j] <= 0.0 <= upper[j]), "lower and upper are not in order.")
            bound = header["bound" if self.counted[j] else "free_bound"]
            bound = INFINITE if bound is None else bound
            low, high = max(lower[j], -bound), min(upper[j], bound)
            self.low[j], self.high[j] = (number(end + s * (1e-12 * abs(end) + 2.0**-1074)) for end, s in ((low, -1), (high, 1)))

    def f(self, eta, y):
        """The loss, or an upper bound of it."""
        if self.loss == "logistic":
            margin = y * eta
            return max(-margin, 0) + log(1 + power_of_e(-abs(margin)))[1]
        if self.loss in ("hinge", "squared_hinge"):
            return max(1 - y * eta, Q(0)) ** (1 if self.loss == "hinge" else 2)
        size, delta = abs(y - eta), INFINITE if self.delta is None else Q(self.delta)
        return size**2 / 2 if size <= delta else delta * (size - delta / 2)

    def term(self, theta, y, w):
        """-w f*(-theta / w), or a lower bound of it; minus infinity outside of the domain."""
        size = abs(theta)
        if not size:
            return Q(0)
        if self.loss in ("squared_error", "huber"):
            return -INFINITE if self.delta is not None and size > w * Q(self.delta) else theta * y - theta**2 / (2 * w)
        if theta * y < 0 or (self.loss != "squared_hinge" and size > w):
            return -INFINITE
        if self.loss == "squared_hinge":
            return size - size**2 / (4 * w)
        share = size / w
        return size if self.loss == "hinge" else -w * sum(r * log(r)[1] for r in (share, 1 - share) if r)

    def objective(self, coef, intercept):
        """F of a model on the scale of X."""
        losses = [
            w * self.f(sum((Q(b) * Q(self.x[i][j]) for j, b in coef.items()), Q(intercept)), Q(self.y[i])) if w else Q(0)
            for i, w in enumerate(self.W)
        ]
        beta = {j: abs(Q(b)) for j, b in coef.items() if b}
        return sum(losses) + sum(self.l0 * self.counted[j] + self.l1 * b + self.l2 * b * b for j, b in beta.items())

    def null(self):
        """Step 8: the least loss of a constant, in float64."""
        up = sum(w for w, y in zip(self.w, self.y, strict=True) if y > 0.0) / sum(self.w)
        if self.loss == "logistic":
            return -sum(r * math.log(r) for r in (up, 1.0 - up) if r) if self.intercept else math.log(2.0)
        if self.loss in ("hinge", "squared_hinge"):
            return 1.0 if not self.intercept else 2.0 * min(up, 1.0 - up) if self.loss == "hinge" else 4.0 * up * (1.0 - up)
        total = lambda b: float(sum(w * self.f(Q(b), Q(y)) for w, y in zip(self.W, self.y, strict=True)))  # noqa: E731
        low, high = (min(self.y), max(self.y)) if self.intercept else (0.0, 0.0)
        for _ in range(200 if self.intercept else 0):  # convex: thirds
            a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
            low, high = (low, b) if total(a) <= total(b) else (a, high)
        return total(low)


def number(value):
    """A float64 number as a rational one, infinities as they are."""
    return Q(value) if abs(value) < INFINITE else value


def decimal(value):
    """A rational number to 60 digits."""
    return PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


@cache
def log(value):
    """A lower and an upper bound of the logarithm of a positive number."""
    near, size = Q(PRECISE.ln(decimal(value))), SLACK * (1 + abs(value - 1) / value)
    return near - size * (1 + abs(near)), near + size * (1 + abs(near))


def power_of_e(value):
    """An upper bound of exp(value), of a number that is not positive."""
    return Q(PRECISE.exp(decimal(max(Q(value), Q(-1000))))) * (1 + SLACK * 2000)


def last_root(curve, slope, constant):
    """A number beyond which curve m^2 + slope m + constant is positive, as a float64 number or infinite."""
    if constant == -INFINITE:
        return INFINITE
    square = slope * slope - 4 * curve * constant
    if (slope > 0 and constant >= 0) or square < 0:
        return Q(0)
    if curve == 0 and slope <= 0:
        return INFINITE
    root = Q(math.isqrt(square.numerator * square.denominator << 200) + 1, square.denominator << 100)
    m = max(-constant / slope if curve == 0 else (root - slope) / (2 * curve), Q(0))
    return number(math.nextafter(float(m), INFINITE)) if m < Q(10) ** 300 else INFINITE


# The dual points.


def dual_point(problem, arrays, models, at):
    """Return theta: the steps of the page in float64. Whatever they do, theta ends in the domain, and sums to zero."""
    n, y, w, loss, delta = problem.n, problem.y, problem.w, problem.loss, problem.delta
    if loss == "hinge":
        a = (arrays["alpha"][at] / (2.0**15 if arrays["alpha"].dtype.kind == "u" else 1.0)).tolist()
    else:
        eta = [float(arrays["model_intercept"][at])] * n
        for j, b in zip(*models[at], strict=True):
            column = [row[j] for row in problem.x]
            mean = sum(w[i] * column[i] for i in range(n)) / sum(w) if problem.intercept else 0.0
            eta = [eta[i] + (0.0 if problem.idle[j] else b * (column[i] - mean)) for i in range(n)]
        a = [slope(loss, eta[i], y[i], delta) for i in range(n)]
    if problem.intercept and loss in ("squared_error", "huber"):
        for _ in range(1 if delta is None else 3):
            mean = sum(w[i] * a[i] for i in range(n)) / sum(w)
            a = [each - mean if delta is None else min(max(each - mean, -delta), delta) for each in a]
    elif problem.intercept:
        a = levelled(a, y, w, loss)
    scale = float(arrays["model_scale"][at]) if "model_scale" in arrays else 1.0
    if loss in ("squared_error", "huber"):
        most = [INFINITE if delta is None else math.nextafter(w[i] * delta, 0.0) for i in range(n)]
        theta = [min(max(w[i] * (scale * a[i]), -most[i]), most[i]) for i in range(n)]
    else:
        a = [min(max(scale * each, 0.0), LOSSES[loss]) for each in a]
        theta = [y[i] * (w[i] * (0.0 if loss == "logistic" and a[i] < 2.0**-900 else a[i])) for i in range(n)]
    if not all(math.isfinite(t) for t in theta):
        return [Q(0)] * n
    return [Q(t) for t in (balanced(theta) if problem.intercept else theta)]


def slope(loss, eta, y, delta):
    """-f'(eta, y), times y for labels."""
    if loss == "logistic":
        return 0.0 if y * eta > 750.0 else 1.0 / (1.0 + math.exp(min(y * eta, 700.0)))
    if loss == "squared_hinge":
        return 2.0 * max(0.0, 1.0 - y * eta)
    return y - eta if delta is None else min(max(y - eta, -delta), delta)


def levelled(a, y, w, loss):
    """Step 3 for labels."""
    sides = [[i for i in range(len(a)) if (y[i] > 0.0) == up] for up in (True, False)]
    weights, sums = ([sum(each[i] * w[i] for i in side) for side in sides] for each in ([1.0] * len(a), a))
    heavy = int(weights[1] > weights[0])
    light, out = 1 - heavy, list(a)
    if loss != "logistic" and 0.0 < weights[light] < 2.0**-45 * weights[heavy]:
        for i in sides[heavy]:
            out[i] = min(sums[light] / weights[heavy], 1.0)
        return out
    for side, total in zip(sides, sums, strict=True):
        for i in side:
            out[i] *= min(sums) / total if total > 0.0 else 1.0
    return out


def balanced(theta):
    """Make the sum zero: all entries become multiples of a grid on which sums are exact, and the larger side is lowered."""
    total = sum(abs(t) for t in theta)
    exponent = math.frexp(total)[1]
    if exponent < -900 or not math.isfinite(total):
        return [0.0] * len(theta)
    grid = math.ldexp(1.0, exponent - 50)
    theta = [math.trunc(t / grid) * grid for t in theta]
    excess = sum(theta)
    for i in sorted(range(len(theta)), key=lambda i: -abs(theta[i])):
        if excess * theta[i] > 0.0:
            taken = math.copysign(min(abs(excess), abs(theta[i])), excess)
            theta[i], excess = theta[i] - taken, excess - taken
    return theta


# Regions and rules.


class Region:
    """The part of a node: features that are in, undecided ones, clauses as pairs (block, its members that are left), boxes."""

    def __init__(self, inside, undecided, clauses, low, high):
        self.inside, self.undecided, self.clauses, self.low, self.high = inside, undecided, clauses, low, high

    def drop(self, features):
        """Take features out."""
        self.undecided -= features
        self.clauses = [(block, left - features) for block, left in self.clauses]

    def decide(self, block, side):
        """Apply a decision; return whether anything is left."""
        block = frozenset(block)
        left = block & self.undecided
        if side == 0:
            self.drop(set(left))
            return not block & self.inside
        if block & self.inside:
            return True
        if len(left) <= 1:
            self.take(left)
            return bool(left)
        met = [(old, members) for old, members in self.clauses if old & block]
        if not met or (len(met) == 1 and block <= met[0][0]):
            self.clauses = [clause for clause in self.clauses if clause not in met] + [(block, left)]
        return True

    def take(self, features):
        """Put undecided features in."""
        self.undecided -= set(features)
        self.inside |= set(features)

    def cap(self, problem, UB):
        """Rule 2; return whether anything is left."""
        for _, left in self.clauses:
            if len(left) == 0:
                return False
            if len(left) == 1:
                self.take(left)
        self.clauses = [(block, left) for block, left in self.clauses if not left & self.inside]
        counted = sum(problem.counted[j] for j in self.inside) + len(self.clauses)
        room, bound = problem.k - counted, UB - problem.l0 * counted
        if room < 0 or bound < 0:
            return False
        bound_to = set().union(*(left for _, left in self.clauses)) if self.clauses else set()
        for j in self.inside | self.undecided:
            paid = j in self.inside or j in bound_to
            reach = last_root(problem.l2, problem.l1, -(bound if paid else max(bound - problem.l0, Q(0))))
            self.low[j], self.high[j] = max(self.low[j], -reach), min(self.high[j], reach)
            if self.low[j] > self.high[j]:
                return False
        if bound < problem.l0 or room == 0:
            self.drop(self.undecided - bound_to)
        return True

    def narrow(self, problem, theta, terms, UB):
        """Return D at a dual point, and whether anything is left after rules 1 and 3."""
        alive = self.inside | self.undecided
        v = {
            j: Q(0) if problem.idle[j] else sum((t * z for t, z in zip(theta, problem.columns[j], strict=True) if t), Q(0))
            for j in alive
        }
        s = {j: gain(problem, v[j], self.low[j], self.high[j]) for j in alive}
        if any(t == -INFINITE for t in terms) or INFINITE in s.values():
            return -INFINITE, True
        g = {j: s[j] - problem.l0 * problem.counted[j] for j in alive}
        tops = [max(left, key=lambda j: g[j]) for _, left in self.clauses]
        second = [max(g[j] for j in left if j != top) for (_, left), top in zip(self.clauses, tops, strict=True)]
        clause = {j: i for i, (_, left) in enumerate(self.clauses) for j in left}
        kappa = problem.k - sum(problem.counted[j] for j in self.inside) - len(self.clauses)
        r = sorted((max(g[j], Q(0)) for j in self.undecided if j not in tops), reverse=True) + [Q(0)] * (kappa + 1)
        D = sum(terms) - sum(g[j] for j in self.inside) - sum(g[j] for j in tops) - sum(r[:kappa])
        if D > UB:
            return D, False
        last, following, out, into, D_in = r[kappa - 1], r[kappa], set(), set(), dict.fromkeys(self.inside, D)
        for j in self.undecided:
            i = clause.get(j)
            rise_in, rise_out = max(last - g[j], Q(0)), max(g[j] - following, Q(0))
            if i is not None and tops[i] == j:
                rise_in, rise_out = Q(0), g[j] - (min(second[i], following) if kappa else second[i])
            elif i is not None:
                top = g[tops[i]]
                rise_in = max((min(top, last) if kappa else top) - g[j], Q(0))
                rise_out = rise_out if kappa else Q(0)
            D_in[j] = D + rise_in
            out |= {j} if D + rise_in > UB else set()
            into |= {j} if D + rise_out > UB else set()
        if out & into:
            return D, False
        for j in alive:
            if self.low[j] <= 0 <= self.high[j]:
                rest = D_in[j] + s[j] - UB
                self.high[j] = min(self.high[j], last_root(problem.l2, problem.l1 - v[j], rest))
                self.low[j] = max(self.low[j], -last_root(problem.l2, problem.l1 + v[j], rest))
        self.take(into)
        self.drop(out)
        return D, True


def gain(problem, v, low, high):
    """The largest v beta - lambda_1 |beta| - lambda_2 beta^2 in a box."""
    over = max(abs(v) - problem.l1, Q(0))
    best = over / (2 * problem.l2) if problem.l2 else INFINITE if over else Q(0)
    beta = min(max(best if v > 0 else -best, low), high)
    return INFINITE if abs(beta) == INFINITE else v * beta - problem.l1 * abs(beta) - problem.l2 * beta * beta


# The check.


def lower_bound(problem, arrays, UB):
    """Steps 6 and 7: walk the tree, and return the least of UB and the bounds of its leaves."""
    parent, branch, side, row = (arrays[name].tolist() for name in ("parent", "branch", "side", "row"))
    blocks, models = lists(arrays["block_ends"], arrays["block_members"]), None
    require(all(blocks) and all(problem.counted[j] for block in blocks for j in block), "a block is empty, or not of features.")
    if problem.loss != "hinge":
        models = list(
            zip(*(lists(arrays["model_ends"], arrays[name]) for name in ("model_columns", "model_values")), strict=True)
        )
        require(all(len(set(columns)) == len(columns) for columns, _ in models), "a model names a column twice.")
        require(problem.intercept or not arrays["model_intercept"].any(), "a model has an intercept, the problem has none.")
    require(
        parent[:1] == [-1] and branch[0] == -1 and all(0 <= a < i for i, a in enumerate(parent) if i), "the root comes first."
    )
    named = [each for each in row if each >= 0]
    require(len(set(named)) == len(named), "two nodes share a dual point.")
    children = [[] for _ in parent]
    for node, above in enumerate(parent[1:], start=1):
        children[above].append(node)
    for below in children:
        made = sorted((branch[node], side[node]) for node in below)
        halves = len(made) == 2 and made[0][0] == made[1][0] >= 0 and [each[1] for each in made] == [0, 1]
        require(not made or halves or (len(made) == 1 and made[0][0] == -1), "a node has children that do not cover it.")
    features = set(range(problem.p))
    inside = {j for j in features if not problem.counted[j]}
    states, least = {-1: (Q(0), Region(inside, features - inside, [], problem.low, problem.high))}, UB
    for node, above in enumerate(parent):
        bound, region = states[above]
        region = deepcopy(region)
        if region is not None and branch[node] >= 0 and not region.decide(blocks[branch[node]], side[node]):
            region = None
        if region is not None and not region.cap(problem, UB):
            region = None
        if region is not None and row[node] >= 0:
            theta = dual_point(problem, arrays, models, row[node])
            terms = [problem.term(*each) if each[2] else Q(0) for each in zip(theta, map(Q, problem.y), problem.W, strict=True)]
            D, left = region.narrow(problem, theta, terms, UB)
            bound = max(bound, D)
            region = region if left and region.cap(problem, UB) else None
        states[node] = (INFINITE, None) if region is None else (bound, region)
        if not children[node]:
            least = min(least, states[node][0])
    return least


def verify(path, X, y):
    """Return the objective and the lower bound that a certificate proves; `Refused` is raised if it is not valid."""
    header, arrays, X, y = read(path, X, y)
    problem = Problem(header, arrays, X, y)
    coef = dict(zip(arrays["support"].tolist(), arrays["coef"].tolist(), strict=True))
    used = sum(problem.counted[j] for j, b in coef.items() if b)
    inside = all(problem.low[j] <= Q(b) <= problem.high[j] for j, b in coef.items())
    held = all(problem.low[j] <= 0 <= problem.high[j] for j in range(problem.p) if j not in coef)
    fits = problem.intercept or not arrays["intercept"]
    require(used <= problem.k and inside and held and fits, "the solution breaks a limit.")
    UB = problem.objective(coef, float(arrays["intercept"]))
    LB, null = lower_bound(problem, arrays, UB), problem.null()
    scale = Q(null) if Q(1e-9) * Q(null) >= UB or Q(null) < UB else UB
    near = Q(1e-9) * scale + Q(2.0**-1022)
    require(abs(Q(header["objective"]) - UB) <= near, "the objective is not that of the solution.")
    require(LB + near >= Q(header["lower_bound"]), "the lower bound is not proved.")
    gap = (UB - LB) / scale if UB != LB else 0
    least_gap = Q(header["gap_asked"]) * (1 + Q(1e-6)) + Q(1e-12)
    require(header["status"] != "optimal" or gap <= least_gap, "the gap is not as small as it says.")
    return float(UB), float(LB)


if __name__ == "__main__":
    with np.load(sys.argv[2]) as data:
        print("objective {}, lower bound {}".format(*verify(sys.argv[1], data["X"], data["y"])))
