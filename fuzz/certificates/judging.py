"""Soundness: a bound that the verifier reports must not exceed the objective of any model of the problem that is proved."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ellzero as ez
from fuzz.certificates.described import described, key_of
from fuzz.certificates.scripts import script_of
from fuzz.certificates.sealed import Draft
from fuzz.records import Record, skeleton
from fuzz.referee.best import Best

__all__ = ["Court"]

SLACK = 4e-9  # relative: claims may be off by 1e-9, and so may weights and spreads
EVERYTHING = {  # that a reader can state: what he does not state is not compared
    **dict.fromkeys(("lambda_0", "lambda_1", "lambda_2"), 0.0),
    **dict.fromkeys(("k", "budget", "lower", "upper", "unpenalized", "feature_cost", "groups", "sample_weight")),
    "loss": "logistic",
    "fit_intercept": True,
    "standardize": False,
}
NEGLIGIBLE = 1e-9  # an objective below this share of the null model's counts as mere rounding


@dataclass
class Court:
    """Judges many versions of one certificate; the best model of each problem is found once."""

    record: Record
    folder: Path | None = None  # where findings are written down as scripts
    known: dict[Any, tuple[Best | None, float, float] | None] = field(default_factory=dict)

    def judge(self, draft: Draft, words: str, expected: dict[str, Any] | None = None, original: Draft | None = None) -> None:
        """Verify a certificate, and once more with the problem that a reader expects; check what is reported."""
        before = len(self.record.findings)
        self.hear(draft, words, expected, original)
        if self.folder is not None:
            for number, finding in enumerate(self.record.findings[before:], start=before):
                self.folder.mkdir(parents=True, exist_ok=True)
                path = self.folder / f"{self.record.subject}-{self.record.seed}-{number}.py"
                path.write_text(script_of(draft, finding), encoding="utf-8")

    def hear(self, draft: Draft, words: str, expected: dict[str, Any] | None, original: Draft | None) -> None:
        """Verify a certificate and check the reports."""
        sealed = draft.sealed()
        self.record.count("certificates")
        if sealed is None:
            self.record.count("cannot be sealed")
            return
        report = self.verify(sealed, draft, words)
        if report is not None:
            self.check(report, draft, words)
        if report is not None and expected is not None and original is not None:
            report = self.verify(sealed, draft, words, expect={**EVERYTHING, **expected})
            if report is not None and report.valid:
                meant = Draft(original.header, original.arrays, draft.X, draft.y)
                self.check(report, draft, f"{words}; as expected", meant)

    def verify(self, sealed: Any, draft: Draft, words: str, **expect: Any) -> ez.VerificationReport | None:
        """Return the verifier's report; anything that it raises is a finding."""
        try:
            return ez.verify(sealed, draft.X, draft.y, **expect)
        except Exception as error:
            where = traceback.format_exc(limit=-3)
            self.record.find(f"verify raises {type(error).__name__}", "medium", f"{words}: {error}\n{where}")
            return None

    def check(self, report: ez.VerificationReport, draft: Draft, words: str, meant: Draft | None = None) -> None:
        """Check the bounds of a report on a certificate, about its own problem or another one that a reader means."""
        self.record.count("valid" if report.valid else "bound without validity" if report.lower_bound > 0.0 else "refused")
        if "\x1b" in repr(report) or max(map(len, repr(report).splitlines())) > 2000:
            self.record.find("raw text in a report", "medium", f"{words}: {report!r:.300}")
        if not report.valid and not report.lower_bound > 0.0:  # nothing is claimed: no loss or penalty is negative
            return
        found = self.best(draft if meant is None else meant)
        if found is None:
            if report.valid:
                self.record.find("valid, but it describes no problem", "critical", words)
            return
        best, spread_error, null = found
        if best is None:
            return
        proved = (SLACK + 4.0 * spread_error) * abs(best.value) + 1e-315
        # Where the objective is mere rounding compared with the null model's, claims are relative to the latter.
        claimed = proved + (SLACK * null if report.objective <= 2.0 * NEGLIGIBLE * null else 0.0)
        for what, bound, allowed in self.bounds(report, draft, proved, claimed):
            if not bound <= best.value + allowed:
                share = float((bound - best.value) / best.value) if best.value else np.inf
                severity = "critical" if not share < 1e-6 else "high"
                claim = f"{what} {bound!r} (valid: {report.valid}), but a model has {float(best.value)!r} (excess {share:.2g})"
                self.record.find("unsound", severity, f"{words}: {claim}", best.plain())

    def bounds(
        self, report: ez.VerificationReport, draft: Draft, proved: float, claimed: float
    ) -> Iterator[tuple[str, float, float]]:
        """Yield the bounds of a report, the proved one and, if it is valid, the claimed one, and what each may be off by."""
        yield "proved", report.lower_bound, proved
        if report.valid and draft.header.get("prover") is None:
            yield "claimed", float(draft.header["lower_bound"]), claimed

    def best(self, draft: Draft) -> tuple[Best | None, float, float] | None:
        """Return the best model of the problem of a certificate, the error of its spreads and the null model's loss.

        None if it describes no problem.
        """
        key = key_of(draft)
        if key not in self.known:
            try:
                problem = described(draft)
                self.known[key] = problem.best(), problem.spread_error, problem.null()
            except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
                self.record.count(f"describes no problem: {skeleton(type(error).__name__)}")
                self.known[key] = None
        return self.known[key]
