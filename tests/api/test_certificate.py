"""What the verifier says of a certificate that is as it was made: what is proved, and on which condition."""

import numpy as np
import pytest
from support.certificates import BASES, PLAIN, X, Y, base, check

import ellzero as ez
from fuzz.certificates.tampering.changes import VALUE
from fuzz.certificates.tampering.claims import bound_by_scip
from fuzz.certificates.tampering.tree import leaves_of


@pytest.mark.parametrize("name", BASES)
def test_untouched(name):
    sol, header, arrays = base(name)
    assert len(arrays["parent"]) >= 3, "too easy to tell anything"
    for report in (check(header, arrays, sign=False), check(header, arrays), ez.verify(sol.certificate, X, Y)):
        assert report.valid, report.reasons
        assert report.objective == pytest.approx(sol.objective, rel=1e-13)
        if name == "families":  # nodes are enumerated whole, where the solver stops at what is enough
            assert sol.lower_bound * (1.0 - 1e-9) <= report.lower_bound <= report.objective
        else:
            assert report.lower_bound == pytest.approx(sol.lower_bound, rel=1e-9)
            assert report.gap == pytest.approx(sol.gap, abs=1e-8)
        assert report.nodes == len(arrays["parent"])
        assert report.leaves == len(leaves_of(arrays))
        assert {type(each) for each in (report.objective, report.lower_bound, report.gap)} == {float}


def test_conditional_certificates_say_so():
    sol, _, _ = base("conditional")
    report = ez.verify(sol.certificate, X, Y)
    assert report.valid
    assert sol.certificate.conditional
    assert report.conditional
    assert report.reasons == ["conditional on |beta_j| <= 1 for the features that lambda_0 counts (on the penalised scale)."]
    assert "valid, conditional" in repr(report)
    free, _, _ = base("weighted box")
    assert not free.certificate.conditional
    assert not ez.verify(free.certificate, X, Y).conditional
    assert ez.verify(free.certificate, X, Y).reasons == []


def test_free_features_without_a_penalty_are_conditional_where_the_loss_does_not_hold_them():
    settings = {"lambda_0": 0.02, "upper": 0.5, "lower": [-np.inf] + [-0.5] * 19, "unpenalized": [0], "gap": 1e-5}
    report = ez.verify(ez.solve(X, Y, **settings).certificate, X, Y)
    assert report.valid
    assert not report.conditional
    separated = X.copy()
    separated[:, 0] = np.where(Y.min() == Y, 1.0, -1.0) + 0.1 * X[:, 0]
    report = ez.verify(ez.solve(separated, Y, **settings).certificate, separated, Y)
    assert report.valid
    assert report.conditional
    assert "for unpenalized features" in report.reasons[0]


@pytest.mark.parametrize("node_limit", [0, 1, 3, 8])
def test_open_leaves_are_counted(node_limit):
    sol = ez.solve(X, Y, **{**BASES["truncated"], "node_limit": node_limit})
    report = ez.verify(sol.certificate, X, Y)
    assert report.valid, report.reasons
    assert sol.status == "node_limit"
    assert report.open_leaves > 0
    assert report.gap > PLAIN["gap"]
    assert f"{report.open_leaves} of {report.leaves} leaves are open" in report.reasons[-1]
    assert ez.verify(ez.solve(X, Y, **BASES["weighted box"]).certificate, X, Y).open_leaves == 0


def test_bounds_by_another_solver_are_told_apart():
    sol, header, arrays = base("truncated")
    bound_by_scip(header, arrays)
    report = check(header, arrays)
    assert not report.valid
    assert report.lower_bound == pytest.approx(sol.lower_bound, rel=1e-9)
    assert report.gap == pytest.approx(sol.gap, abs=1e-8)
    assert report.claimed_lower_bound == header["objective"]
    rests = f"the lower bound {header['objective']:.15g} rests on SCIP 9.2 (method mip)"
    assert report.reasons[0] == f"{rests}; this file itself proves {report.lower_bound:.15g}."
    assert report.reasons[1] == f"{report.open_leaves} of {report.leaves} leaves are open: left to SCIP 9.2 (method mip)."


def test_another_solver_does_not_matter_where_the_tree_proves_the_claim():
    sol, header, arrays = base("weighted box")
    header["prover"] = "SCIP 9.2"
    report = check(header, arrays)
    assert report.valid
    assert report.reasons == []
    assert report.swap_size is None
    header["objective"] -= 1e-7
    assert VALUE in check(header, arrays).reasons[0]
    assert header["version"] == 1
    assert sol.certificate.header["prover"] is None
