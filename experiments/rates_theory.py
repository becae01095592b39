"""The theorem on the estimation error: its true coefficients, and the numbers of rows that its assumptions allow."""

from __future__ import annotations

import numpy as np

__all__ = ["fewest_rows", "most_rows", "population_norm"]


def population_norm(loss: str, signal: float) -> float:
    """Return ||beta*||_2, where beta* minimises the population risk; its direction is that of the generating coefficients.

    Labels depend on x only through its component z along the generating coefficients. The rest of x is independent of z and
    has mean zero: by Jensen's inequality it cannot lower the risk. The norm is therefore the minimiser c of E f(c z, y) with
    P(y = 1 | z) = 1 / (1 + exp(-signal z)): for the logistic loss the signal itself. For the hinge it is where the derivative
    -E [u; c u < 1] vanishes, where u = y z has the density 2 phi(u) / (1 + exp(-signal u)).
    """
    if loss == "logistic":
        return signal
    from scipy.integrate import quad
    from scipy.optimize import brentq
    from scipy.special import expit

    def density(u: float) -> float:
        return float(u * np.exp(-0.5 * u * u) * expit(signal * u))

    return float(brentq(lambda c: quad(density, -40.0, 1.0 / c, epsabs=1e-13, limit=200)[0], 1e-2, 1e3, xtol=1e-12))


def fewest_rows(k: int, p: int, radius: float) -> float:
    """Return 18 pi (k log(Rp/k) + log 2), the least number of rows that Assumption 5 can need.

    It asks for 24 L / kappa sqrt(lambda / n (k log(Rp/k) + log(1/delta))) < r with delta < 1/2. Here L = 1 and lambda >= 1.
    The risk of a loss of slope at most 1 grows by no more than E |x.z| = sqrt(2/pi) ||z||, so kappa r^2 / 4 <= sqrt(2/pi) r
    bounds r, and kappa cancels.
    """
    return float(18.0 * np.pi * (k * np.log(radius * p / k) + np.log(2.0)))


def most_rows(k: int, p: int) -> float:
    """Return the largest n with 7 n e <= 3 L sqrt(lambda) p log(p/k), Assumption 5's last condition, for lambda = L = 1."""
    return float(3.0 * p * np.log(p / k) / (7.0 * np.e))
