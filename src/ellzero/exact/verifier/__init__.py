"""An independent check of certificates, without any of the solver's code; imports NumPy, SciPy and a few modules of `base`.

A certificate is a tree of decisions ("feature in", "feature out") with dual points at its nodes. Every dual point theta gives
a lower bound D by weak duality, whoever made it. With v = X^T theta and s_j = max v_j beta - lambda_1 |beta| - lambda_2 beta^2,

    D = -sum_i w_i f*(-theta_i / w_i) - sum_{j in} (s_j - lambda_0)
        - the k - |in| largest of max(s_j - lambda_0, 0) over the undecided j.

In a bound over swaps from a set of features, the home, the last term differs: the features of the home are in, except for the
few whose leaving lowers D most, and only a few others may come.

The check recomputes the objective UB of the solution from the raw data, walks the tree, and derives again what each dual point
implies together with UB: bounds, features that must be in or out, and narrower boxes for the coefficients. Nothing is removed
but points that are proved worse than UB; rounding errors are bounded and always counted against the certificate. Many nodes are
computed at once: the features of their regions stand one after the other in arrays.
"""

from ellzero.exact.verifier.data import digest, fingerprint_matrix, fingerprint_vector
from ellzero.exact.verifier.report import VerificationReport, verify

__all__ = ["VerificationReport", "digest", "fingerprint_matrix", "fingerprint_vector", "verify"]
