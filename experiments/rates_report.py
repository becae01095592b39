"""The report on the error rates: tables, slopes, verdicts and the picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.experiment import Record
from experiments.measurement.markdown import folded, table
from experiments.measurement.statistics import grouped, mean_with_error
from experiments.pictures import COLOURS, curve, figure, save
from experiments.rates_sweeps import HINGE, KNOWN, L0, L1, PROOF, Sweep
from experiments.rates_theory import fewest_rows, most_rows, population_norm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Results", "draw", "introduction", "optimality", "slope"]

Errors = dict[int, list[float]]
"""Squared errors of the repetitions, by the value of the quantity that varies."""

LABELS = {L0: "L0", HINGE: "L0, hinge loss", L1: "L1, best lambda"}
SHADES = {L0: ("#c0392b", "#eba79e"), L1: ("#1e8449", "#97d3ac"), HINGE: (COLOURS["MCP"], COLOURS["MCP"])}
"""Colours for the first and the second signal."""

PROVED = 1e-4
"""The relative gap below which a solution counts as optimal, and an excess of the objective as an error of the solver."""


@dataclass(frozen=True)
class Results:
    """The records of one sweep, by method, signal and the value of the quantity that varies."""

    sweep: Sweep
    cells: dict[tuple[str, float, int], list[Record]]

    @classmethod
    def of(cls, sweep: Sweep, records: list[Record]) -> Results:
        """Return the records that belong to the sweep."""
        own = [record for record in records if record["sweep"] == sweep.varies and record["method"] != PROOF]
        return cls(sweep, grouped(own, lambda record: (record["method"], record["signal"], record[sweep.varies])))

    def errors(self, method: str, signal: float, above: float = 0.0) -> Errors:
        """Return the squared errors of a method at the values above a number."""
        source, key = (L0, "known_error") if method == KNOWN else (method, "error")
        cells = {value: self.cells.get((source, signal, value), []) for value in self.sweep.values if value > above}
        return {value: [record[key] for record in cell] for value, cell in cells.items() if cell}

    def rate(self, value: int, signal: float) -> float:
        """Return the theorem's rate for the logistic loss."""
        return self.sweep.at(value, signal).rate(signal)

    def fewest_rows(self, signal: float) -> float:
        """Return the number of rows up to which the theorem's assumptions cannot hold."""
        return fewest_rows(self.sweep.fixed.k, self.sweep.fixed.p, signal)

    def fixed(self) -> str:
        """Return the quantities that do not vary, as text."""
        return ", ".join(f"{name} = {getattr(self.sweep.fixed, name):,}" for name in "npk" if name != self.sweep.varies)

    def section(self) -> Iterator[str]:
        """Yield a heading, a table and its conclusions for each signal."""
        about = {"n": self.about_rows, "p": self.about_features, "k": self.about_size}[self.sweep.varies]
        for signal in self.sweep.signals:
            if self.errors(L0, signal):
                yield f"**Error against {self.sweep.varies}** ({self.fixed()}, R = {signal:g})"
                yield folded("Squared errors, rates and sizes", self.table(signal))
                yield from about(signal)
                yield from self.against_l1(signal)

    def table(self, signal: float) -> str:
        """Return the table of the sweep, one row for each value."""
        methods = [L0, KNOWN, *[HINGE] * bool(self.sweep.hinge), L1]
        header = [self.sweep.varies, "rate", *methods, "L0: true features", "L1: features (true)", "L0 / rate", "L1 / rate"]
        errors = {method: self.errors(method, signal) for method in methods}
        rows = []
        for value in self.sweep.values:
            rate, k = self.rate(value, signal), self.sweep.at(value, signal).k
            ours, theirs = (self.cells.get((method, signal, value), []) for method in (L0, L1))
            few = "\\*" if self.sweep.varies == "n" and value <= self.fewest_rows(signal) else ""
            found = f"{mean(ours, 'found'):.1f} of {k}" if ours else "-"
            size = f"{mean(theirs, 'size'):.0f} ({mean(theirs, 'found'):.1f})" if theirs else "-"
            ratios = [f"{mean(cell, 'error') / rate:.1f}" if cell else "-" for cell in (ours, theirs)]
            shown = [with_error(errors[method][value]) if value in errors[method] else "-" for method in methods]
            rows.append([f"{value:,}{few}", f"{rate:.2g}", *shown, found, size, *ratios])
        return table(header, rows)

    def about_rows(self, signal: float) -> Iterator[str]:
        """Yield the slopes against n: for all n, and for those that the theorem's assumptions do not rule out."""
        least, most = self.fewest_rows(signal), most_rows(self.sweep.fixed.k, self.sweep.fixed.p)
        yield (
            f"\\* Assumption 5 needs n > 18 pi (k log(Rp/k) + log 2) = {least:,.0f} at the very least. To the letter it also "
            f"wants n to be at most about 3 p log(p/k) / (7e) = {most:,.0f}"
            + (", which leaves no n: what is seen here lies beyond what is proved." if most < least else ".")
        )
        rows = [
            [method, slope_text(self.errors(method, signal, least)), slope_text(self.errors(method, signal))]
            for method in (L0, HINGE, KNOWN, L1)
        ]
        yield table(["slope of log error on log n", f"n > {least:,.0f}", "all n"], rows)
        enough = self.errors(L0, signal, least)
        if len(enough) > 1:
            fitted, error = slope(enough)
            agrees = "within" if abs(fitted + 1.0) <= 2.0 * error else "not within"
            yield (
                f"Verdict: for n > {least:,.0f} the slope of L0 is {fitted:.2f} ± {error:.2f}, {agrees} two standard errors "
                "of the theorem's -1."
            )

    def about_features(self, signal: float) -> Iterator[str]:
        """Yield the growth of error and rate with p."""
        known = self.errors(L0, signal)
        if len(known) < 2:
            return
        first, last, k = min(known), max(known), self.sweep.fixed.k
        allowed = self.rate(last, signal) / self.rate(first, signal)
        grown, error = growth(known[first], known[last])
        more = "more, but within two standard errors" if grown <= allowed + 2.0 * error else "more"
        ratios = [float(np.mean(values)) / self.rate(p, signal) for p, values in known.items()]
        yield (
            f"Verdict: from p/k = {first // k:,} to {last // k:,} the rate grows by a factor of {allowed:.1f} and L0's error "
            f"by {grown:.1f} ± {error:.1f} ({'no more' if grown <= allowed else more}). "
            f"Error divided by rate lies between {min(ratios):.1f} and {max(ratios):.1f}."
        )

    def about_size(self, signal: float) -> Iterator[str]:
        """Yield the slopes against k."""
        known = self.errors(L0, signal)
        if len(known) > 1:
            rate, _ = slope({k: [self.rate(k, signal)] for k in known})
            yield f"Verdict: the slope of log error on log k is {slope_text(known)} for L0, and {rate:.2f} for the rate."

    def against_l1(self, signal: float) -> Iterator[str]:
        """Yield the ratios of L1's error to that of L0, and where L1 is better."""
        ours, theirs = self.errors(L0, signal), self.errors(L1, signal)
        ratios = {value: float(np.mean(theirs[value]) / np.mean(ours[value])) for value in ours if value in theirs}
        if ratios:
            better = [f"{value:,}" for value, ratio in ratios.items() if ratio < 1.0]
            where = f"; L1 is the better one at {self.sweep.varies} = {', '.join(better)}" if better else ""
            yield f"L1's mean error is {min(ratios.values()):.1f} to {max(ratios.values()):.1f} times that of L0{where}."


def introduction(results: Sequence[Results], quick: bool) -> str:
    """Return the description of the estimators and the data."""
    counts = sorted({len(cell) for result in results for cell in result.cells.values()})
    repetitions = "no" if not counts else str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return (
        "Independent Gaussian features, k equal coefficients of length R together, labels from the logistic model, no "
        "intercept. L0 minimises the mean loss subject to ||beta||_0 <= k and ||beta||_2 <= 2R by local search; it knows k "
        "and R, as in the theorem. For comparison: the same with the true support given. L1 is logistic too, at the point of "
        "its path that is nearest to the true coefficients: no choice of lambda_1 from data does better. For the hinge loss, "
        f"the truth is the minimiser of its own risk. Squared error of the coefficients, {repetitions} repetitions, mean ± "
        "standard error. The rate is the theorem's k log(Rp/k) / n; its constant is not known."
        + " A quick run: fewer and smaller settings."
        * quick
    )


def optimality(records: list[Record]) -> Iterator[str]:
    """Yield how often local search found the minimum that the theorem is about."""
    fits = [record for record in records if record["method"] in (L0, HINGE)]
    proofs = [record for record in records if record["method"] == PROOF]
    if fits:
        reached = sum(record["objective"] <= record["known_objective"] * (1.0 + PROVED) for record in fits)
        norms = {
            (method, signal): population_norm("hinge" if method == HINGE else "logistic", signal)
            for method, signal in {(record["method"], record["signal"]) for record in fits}
        }
        active = sum(record["norm"] > (2.0 - 1e-5) * norms[record["method"], record["signal"]] for record in fits)
        yield (
            "The theorem is about the global minimum; local search promises less. "
            f"{reached:,} of {len(fits):,} estimates have a loss no higher than the least on the true support. The bound on "
            f"the norm is active in {active:,}."
        )
    if proofs:
        gaps = [record["gap"] for record in proofs]
        where = " or ".join(f"{p:,}" for p in sorted({record["p"] for record in proofs}))
        yield (
            f"Branch and bound proves {sum(gap <= PROVED for gap in gaps)} of the {len(gaps)} estimates at n = "
            f"{proofs[0]['n']:,}, p = {where}, R = {proofs[0]['signal']:g} optimal within {100 * PROVED:g} % (largest gap "
            f"{100 * max(gaps):.1g} %)."
        )


def mean(cell: list[Record], key: str) -> float:
    return float(np.mean([record[key] for record in cell]))


def with_error(values: Sequence[float]) -> str:
    """Return mean and standard error as text, the error with two significant digits."""
    middle, error = mean_with_error(values)
    digits = max(0, 1 - int(np.floor(np.log10(error if error > 0.0 else 0.1 * middle))))
    return f"{middle:.{digits}f} ± {error:.{digits}f}"


def slope(groups: Mapping[int, Sequence[float]]) -> tuple[float, float]:
    """Return the least-squares slope of log(mean) against log(x), and its standard error by the spread of the repetitions."""
    x = np.log(list(groups))
    means, errors = np.transpose([mean_with_error(values) for values in groups.values()])
    weight = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    return float(weight @ np.log(means)), float(np.linalg.norm(weight * errors / means))


def slope_text(groups: Mapping[int, Sequence[float]]) -> str:
    return "{:.2f} ± {:.2f}".format(*slope(groups)) if len(groups) > 1 else "-"


def growth(first: Sequence[float], last: Sequence[float]) -> tuple[float, float]:
    """Return the ratio of two means, and its standard error."""
    (a, a_error), (b, b_error) = mean_with_error(first), mean_with_error(last)
    return b / a, b / a * float(np.hypot(a_error / a, b_error / b))


def draw(results: Sequence[Results], path: Path) -> None:
    """Draw the error against n, p/k and k on logarithmic axes, with the theorem's rate as dashed lines."""
    drawn, axes = figure(1, len(results), (4.9 * len(results), 4.6))
    for ax, result in zip(axes[0], results, strict=True):
        panel(ax, result)
    axes[0, 0].set_ylabel("squared error of the coefficients")
    save(drawn, path)


def panel(ax: Axes, result: Results) -> None:
    """Draw one sweep."""
    sweep = result.sweep
    scale = sweep.fixed.k if sweep.varies == "p" else 1
    several = len(sweep.signals) > 1
    for shade, signal in enumerate(sweep.signals):
        for method in (L1, HINGE, L0):
            points = {value / scale: mean_with_error(errors) for value, errors in result.errors(method, signal).items()}
            if points:
                middle, bars = zip(*points.values(), strict=True)
                label = LABELS[method] + (f", R = {signal:g}" if several else "")
                curve(ax, list(points), middle, bars, label, SHADES[method][shade])
    for label, style, values in references(result):
        places = [value / scale for value in values]
        ax.plot(places, list(values.values()), style, color="0.15", linewidth=1.2, label=label, zorder=3 if style == ":" else 1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks([value / scale for value in sweep.values], [f"{value // scale:,}" for value in sweep.values])
    ax.set_xticks([], minor=True)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("p / k" if sweep.varies == "p" else sweep.varies)
    ax.set_title(result.fixed() + ("" if several else f", R = {sweep.signals[0]:g}"), fontsize="medium")
    if sweep.varies == "n":
        left, right = ax.get_xlim()
        few = min(max(result.fewest_rows(sweep.signals[0]), left), right)
        ax.axvspan(left, few, color="0.5", alpha=0.09, linewidth=0.0, label="too few rows for the theorem")
        ax.set_xlim(left, right)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small")


def references(result: Results) -> Iterator[tuple[str, str, dict[int, float]]]:
    """Yield L0's error on the true support, and the rate times the constant that fits L0's errors best (weaker signal)."""
    strong, weak = max(result.sweep.signals), min(result.sweep.signals)
    known, found = result.errors(KNOWN, strong), result.errors(L0, weak)
    if known and strong == weak:
        yield "L0, support known", ":", {value: float(np.mean(errors)) for value, errors in known.items()}
    if found:
        rates = {value: result.rate(value, weak) for value in found}
        least = result.fewest_rows(weak) if result.sweep.varies == "n" else 0.0
        fitted = [value for value in found if value > least] or list(found)
        constant = float(np.exp(np.mean([np.log(np.mean(found[value]) / rates[value]) for value in fitted])))
        yield "shape of the rate", "--", {value: constant * rate for value, rate in rates.items()}
