"""Certificates of score cards that claim what is false: each has the right digest, and none may be found valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero.exact.verifier import digest
from ellzero.scores.certificate import ScoreCertificate
from ellzero.scores.problem import ScoreProblem
from fuzz.certificates.sealed import Arrays, Header, Sealed

PROOF = ["tree", "model_ends", "model_columns", "model_values", "model_intercepts", "listed"]
PROOF += ["box_support", "box_lower", "box_upper", "box_points"]
TOO_MUCH = 1e-4  # by how much lower bounds are claimed too high, relative to the least loss
CHANGES = 8  # of numbers of a proof


def sealed(header: Header, arrays: Arrays) -> Sealed:
    """Return a certificate with its digest."""
    return Sealed({**header, "digest": digest(header, arrays)}, arrays)


def forgeries(problem: ScoreProblem, certificate: ScoreCertificate, best: float, seed: int) -> Iterator[tuple[str, Sealed]]:
    """Yield what was forged, and the forgery; `best` is the least loss of all cards."""
    header, arrays = certificate.header, certificate.arrays
    rng = np.random.default_rng([seed, 2])
    high = best * (1.0 + TOO_MUCH) + 1e-6
    yield "lower bound", sealed({**header, "lower_bound": high}, arrays)
    yield "loss", sealed({**header, "objective": 0.9 * header["objective"]}, arrays)
    yield "digest", Sealed({**header, "k": header["k"] + 1}, arrays)
    worse = worse_card(problem, header, arrays)
    if worse.header["lower_bound"] > best * (1.0 + 1e-6):
        yield "card", worse
    for _ in range(CHANGES):
        name = PROOF[int(rng.integers(len(PROOF)))]
        if arrays[name].size:
            claims = {"lower_bound": high, "status": "time_limit"}
            yield name, sealed({**header, **claims}, {**arrays, name: change(arrays[name], rng)})


def worse_card(problem: ScoreProblem, header: Header, arrays: Arrays) -> Sealed:
    """Return the certificate with a worse card and its true loss, as if it were the best."""
    own = arrays["support"] != problem.ones
    support, points = arrays["support"][own], arrays["points"][own]
    scale, intercept, offset = header["scale"], header["intercept"], int(arrays["points"][~own].sum())
    if problem.whole_intercept:
        offset += 1 if offset < problem.high[problem.ones] else -1
    elif len(support) and 0.8 * scale >= problem.min_scale:
        scale *= 0.8
    else:
        intercept += 0.3
    loss = problem.objective(support, points, scale, intercept + scale * offset)
    if offset:
        support, points = np.append(support, problem.ones), np.append(points, offset)
    claims = {"scale": scale, "intercept": intercept, "objective": loss, "lower_bound": loss * (1.0 - 1e-9)}
    return sealed({**header, **claims}, {**arrays, "support": support, "points": points})


def change(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return an array with one number changed, left out or repeated."""
    out, place = array.copy(), int(rng.integers(array.size))
    kind = int(rng.integers(4))
    if kind == 0 and len(array) > 1:
        return np.delete(out, place % len(array), axis=0)
    if kind == 1:
        return np.insert(out, place % len(array), out[place % len(array)], axis=0)
    out.flat[place] += rng.choice([-2, -1, 1, 3])
    return out
