"""The result of `alternatives`: models that are nearly as good as the best one, what they have in common, and a choice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.imports import whole_imports
from ellzero.base.quoting import quoted, shown
from ellzero.exact.alternatives_file import read_alternatives, write_alternatives
from ellzero.exact.certificate import Certificate
from ellzero.exact.model_scores import score_of
from ellzero.exact.search_log import SearchProgress
from ellzero.exact.status import Status
from ellzero.plots import plot_alternatives
from ellzero.problem.grouping import Grouping
from ellzero.problem.model import Model, feature_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Feature = int | str
SHOWN_MODELS, SHOWN_FEATURES = 10, 12  # in a notebook and as text


@dataclass(frozen=True)
class FeatureUse:
    """The use that the models make of one feature.

    Attributes
    ----------
    feature, name : its index and its name
    role : "indispensable" (it is in all models), "exchangeable" (in some) or "unused" (in none)
    models, share : how many of the models use it, and which share of them
    lowest, highest : its least and its largest coefficient in models that use it; NaN if there are none
    sign : "+", "-" or "+/-", the signs of its coefficients; "" if there are none

    """

    feature: int
    name: str
    role: Literal["indispensable", "exchangeable", "unused"]
    models: int
    share: float
    lowest: float
    highest: float
    sign: str


@dataclass(frozen=True)
class StandIn:
    """Two features that never occur together and replace each other: ``models`` pairs of models differ in nothing else."""

    feature: int
    other: int
    models: int


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives:
    """All models that are nearly as good as the best one.

    With groups of columns, features are groups: each is known by its first column, and by its name.

    Attributes
    ----------
    models : the models in the order of their objectives, each with the best coefficients for its features; if a limit ended the
        search, those that were found, and always the best known one
    threshold : models up to this objective were requested
    within : the share above the best objective that was requested, None with ``n_best``
    status : "complete", or what ended the search: "time_limit", "node_limit", "interrupted", "too_many" (more than
        ``max_models``), "precision" (rounding keeps the last bit of the proof from being found)
    complete_below : no model with a lower objective is missing
    nodes, seconds : of the search, and of the whole call
    certificate : the proof, for :func:`ellzero.verify`; None if the models were read from a file
    history : the progress of the search, as a list of ``SearchProgress``
    unpenalized : features that are in every model and count nowhere

    """

    models: list[Model]
    threshold: float
    complete_below: float
    status: Status
    within: float | None
    n_features: int
    names: list[str] | None = None
    unpenalized: tuple[int, ...] = ()
    nodes: int = 0
    seconds: float = 0.0
    certificate: Certificate | None = None
    history: list[SearchProgress] = field(default_factory=list)
    grouping: Grouping | None = None

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, index: int) -> Model:
        return self.models[index]

    @property
    def complete(self) -> bool:
        """Whether all models that were requested are there, with a proof."""
        return self.status == "complete"

    # What the models have in common.

    @cached_property
    def coefficients(self) -> Array:
        """The coefficients of the features that some model uses: one row a model, one column for each of ``used``.

        Of a group, or of several outputs, it is the largest one.
        """
        place = {j: at for at, j in enumerate(self.used)}
        out = np.zeros((len(self.models), len(place)))
        for row, model in enumerate(self.models):
            if not len(model.support):
                continue
            values = model.values.reshape(len(model.support), -1)
            largest = values[np.arange(len(values)), np.abs(values).argmax(axis=1)]
            for j, value in zip(self.feature_of(model.support).tolist(), largest.tolist(), strict=True):
                if j in place and abs(value) >= abs(out[row, place[j]]):
                    out[row, place[j]] = value
        return out

    def feature_of(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the feature of each of some `columns`: itself, or the first column of its group."""
        return columns if self.grouping is None else self.grouping.heads[columns]

    @cached_property
    def used(self) -> list[int]:
        """The features that some model uses, those of most models first."""
        counts: dict[int, int] = {}
        for support in self.supports:
            for j in support:
                counts[j] = counts.get(j, 0) + 1
        return sorted(counts, key=lambda j: (-counts[j], j))

    @cached_property
    def supports(self) -> list[frozenset[int]]:
        """The features of each model, without unpenalized ones."""
        free = set(self.unpenalized)
        return [frozenset(self.feature_of(model.support).tolist()) - free for model in self.models]

    @cached_property
    def features(self) -> list[FeatureUse]:
        """The use that the models make of each feature that some model uses, those of most models first."""
        return [self.use_of(j) for j in self.used]

    def use_of(self, feature: Feature) -> FeatureUse:
        """Return how the models use one `feature`, given by its index or name."""
        j = self.index_of(feature)
        count, all_of_them = sum(j in support for support in self.supports), len(self.models)
        parts = [model.values[self.feature_of(model.support) == j] for model in self.models] if count else []
        values = np.concatenate([np.zeros(0), *(part.ravel() for part in parts)])
        values = values[values != 0.0]
        role: Any = "unused" if not count else "indispensable" if count == all_of_them else "exchangeable"
        signs = "/".join(sign for sign, there in (("+", (values > 0.0).any()), ("-", (values < 0.0).any())) if there)
        if np.count_nonzero(self.feature_of(np.arange(self.n_features)) == j) > 1:
            signs = ""  # a group has a sign for each of its columns, but none of its own
        ends = (float(values.min()), float(values.max())) if len(values) else (np.nan, np.nan)
        return FeatureUse(j, self.name_of(j), role, count, count / all_of_them if all_of_them else 0.0, *ends, signs)

    @property
    def indispensable(self) -> list[int]:
        """The features that all models use."""
        return sorted(use.feature for use in self.features if use.role == "indispensable")

    @property
    def exchangeable(self) -> list[int]:
        """The features that some models use, and others do without."""
        return sorted(use.feature for use in self.features if use.role == "exchangeable")

    @property
    def unused(self) -> list[int]:
        """The features that no model uses; if the search was complete, no model up to the threshold needs one of them."""
        every = set(self.feature_of(np.arange(self.n_features)).tolist())
        return sorted(every - set(self.used) - set(self.unpenalized))

    @cached_property
    def stand_ins(self) -> list[StandIn]:
        """The pairs of features that never occur together and replace each other, those of most models first.

        For each of them there are two models that differ only in that one has the first feature and the other the second.
        """
        together = {frozenset((a, b)) for support in self.supports for a in support for b in support if a < b}
        rest: dict[frozenset[int], list[int]] = {}
        for support in self.supports:
            for j in support:
                rest.setdefault(support - {j}, []).append(j)
        counts: dict[tuple[int, int], int] = {}
        for others in rest.values():
            for a in others:
                for b in others:
                    if a < b and frozenset((a, b)) not in together:
                        counts[a, b] = counts.get((a, b), 0) + 1
        return [StandIn(*pair, count) for pair, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]

    @property
    def smallest(self) -> Model:
        """The model with the fewest features; of several, the best."""
        if not self.models:
            raise InvalidInputError("there are no models to choose from.")
        return min(self.models, key=lambda model: (model.size, model.objective))

    # The choice.

    def having(self, including: Feature | Iterable[Feature] = (), without: Feature | Iterable[Feature] = ()) -> list[Model]:
        """Return the models that use all of the features `including`, and none of `without`; the best one first."""
        needed, avoided = (
            {self.index_of(each) for each in ([given] if isinstance(given, (int, str, np.integer)) else given)}
            for given in (including, without)
        )
        used = zip(self.models, self.supports, strict=True)
        return [model for model, support in used if needed <= support and not avoided & support]

    def best(
        self,
        by: str | Callable[[Model, Any, Any], float] | None = None,
        *,
        X: object = None,
        y: ArrayLike | None = None,
        costs: Mapping[Any, float] | ArrayLike | None = None,
        including: Feature | Iterable[Feature] = (),
        without: Feature | Iterable[Feature] = (),
    ) -> Model:
        """Choose one of the models by something other than its objective.

        Parameters
        ----------
        by : name or function
            "roc_auc", "accuracy", "neg_log_loss" (of a classifier), "r2", "neg_mean_squared_error" (of a regression), on ``X``
            and ``y``, best on rows that were not used for the fit; or a function of a model, X and y, the larger the better.
        costs : mapping or array of p numbers
            What it costs to measure each feature; the model with the least sum is chosen. Features that a mapping does not name
            cost nothing. With ``by``, costs decide between equals.
        including, without : a feature or several, by index or name
            Only models with all of the first and none of the second are considered.

        Returns
        -------
        Model
            Of several that are equal, the one with the lowest objective.

        """
        models = self.having(including, without)
        if not models:
            raise InvalidInputError("no model is there with these features and without those.")
        price = self.prices(costs)
        scores = [0.0] * len(models) if by is None else [score_of(by, model, X, y) for model in models]
        sums = [sum(price.get(j, 0.0) for j in dict.fromkeys(self.feature_of(model.support).tolist())) for model in models]
        return models[min(range(len(models)), key=lambda at: (-scores[at], sums[at], at))]

    def prices(self, costs: Mapping[Any, float] | ArrayLike | None) -> dict[int, float]:
        """Return what features cost, by their index; `costs` are given as to :meth:`best`."""
        if costs is None:
            return {}
        if isinstance(costs, Mapping):
            out = {self.index_of(each): float(cost) for each, cost in costs.items()}
        else:
            numbers = np.asarray(costs, dtype=np.float64)
            if numbers.shape != (self.n_features,):
                raise InvalidInputError(f"costs must have {self.n_features} numbers, got shape {numbers.shape}.")
            out = dict(enumerate(numbers.tolist()))
        if not all(np.isfinite(cost) for cost in out.values()):
            raise InvalidInputError("costs must be finite numbers.")
        return out

    def index_of(self, feature: Feature) -> int:
        """Return the index of a `feature`, given by index or name; of a group, by its name or that of one of its columns."""
        if isinstance(feature, str):
            if self.grouping is not None and len(members := self.grouping.columns(feature)):
                return int(self.grouping.heads[members[0]])
            if self.names is not None and feature in self.names:
                return int(self.feature_of(np.array([self.names.index(feature)]))[0])
            raise InvalidInputError(f"no feature is named {quoted(feature)}.")
        if isinstance(feature, bool) or not 0 <= int(feature) < self.n_features:
            raise InvalidInputError(f"features must be names or indices below {self.n_features}, got {quoted(feature)}.")
        return int(self.feature_of(np.array([int(feature)]))[0])

    def name_of(self, j: int) -> str:
        """Return the name of feature `j`: its column's name, or x<j>; or that of its group."""
        return feature_name(self.names, j) if self.grouping is None else self.grouping.names[j]

    # Tables, pictures and files.

    def to_frame(self, of: Literal["models", "features"] = "models") -> pd.DataFrame:
        """Return a pandas data frame of "models", one in each row with its coefficients, or of the use of "features" (`of`)."""
        with whole_imports():
            import pandas as pd

        if of == "features":
            columns = ["feature", "name", "role", "models", "share", "lowest", "highest", "sign"]
            return pd.DataFrame([[getattr(use, name) for name in columns] for use in self.features], columns=columns)
        if of != "models":
            raise InvalidInputError(f"of must be 'models' or 'features', got {quoted(of)}.")
        columns = ["objective", "above_best", "size", "intercept"]
        rows = [[m.objective, above, m.size, m.intercept] for m, above in zip(self.models, self.above_best, strict=True)]
        frame = pd.DataFrame(rows, columns=columns)
        named = pd.DataFrame(self.coefficients, columns=[self.name_of(j) for j in self.used])
        return pd.concat([frame, named], axis=1)

    @property
    def above_best(self) -> Array:
        """How much worse than the best model each one is, as a share of its objective."""
        values = np.array([model.objective for model in self.models])
        best = values[0] if len(values) else np.nan
        return (values - best) / best if len(values) and best > 0.0 else values * 0.0

    def plot(self, ax: Axes | None = None, *, top: int = 30, models: int = 60) -> Axes:
        """Draw the models as a matrix: a column for each model, the best at the left, and a row for each feature.

        Squares are coloured by the sign of the coefficient; at the right is the share of models that use the feature. At most
        ``top`` features and ``models`` models are drawn, into ``ax`` if it is given; shares are those of all models.
        """
        signs = np.sign(self.coefficients[:models, :top]).T
        shares = np.array([use.share for use in self.features[:top]])
        labels = [use.name for use in self.features[:top]]
        title = f"{len(self.models)} models{self.how_good()}"
        title = title if len(self.models) <= models else f"the best {models} of {title}"
        return plot_alternatives(signs, shares, labels, 100.0 * self.above_best[:models], title, ax)

    def how_good(self) -> str:
        """Return how good the models are, in words."""
        return "" if self.within is None else f" within {100.0 * self.within:g} % of the best"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the models and what is known of them to `path` as JSON, without the proof: ``certificate.save`` writes that."""
        write_alternatives(path, self)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Alternatives:
        """Read what :meth:`save` wrote to the file `path`."""
        return Alternatives(**read_alternatives(path))

    # In words.

    def summary(self) -> list[str]:
        """Return what the models have in common, in sentences."""
        if not self.models:
            return [self.what_is_known()]
        count = len(self.models)
        lines = [f"{count} model{'s' * (count != 1)}{self.how_good()}: {self.what_is_known()}"]
        best, last = self.models[0].objective, self.models[-1].objective
        lines.append(f"objectives from {best:.8g} to {last:.8g}; the smallest model has {self.smallest.size} features")
        for word, features in (("indispensable", self.indispensable), ("exchangeable", self.exchangeable)):
            if features:
                ordered = [j for j in self.used if j in set(features)]
                lines.append(f"{word} ({len(features)}): {self.listed(ordered)}")
        every = self.n_features if self.grouping is None else len(np.unique(self.grouping.heads))
        lines.append(f"unused: {len(self.unused)} of {every} features")
        if self.stand_ins:
            pairs = [f"{shown(self.name_of(pair.feature))} or {shown(self.name_of(pair.other))}" for pair in self.stand_ins]
            lines.append(f"stand in for each other: {listed(pairs)}")
        return lines

    def what_is_known(self) -> str:
        """Return whether a model may be missing, in words."""
        if self.complete:
            return "none is missing"
        ended = {"too_many": "there are more; ask for a smaller `within`, a smaller `k`, or `n_best`"}
        why = ended.get(self.status, f"the search ended early ({self.status})")
        return f"{why}; none is missing below {self.complete_below:.8g} (the threshold is {self.threshold:.8g})"

    def listed(self, features: Sequence[int]) -> str:
        """Return the names of `features`, given by index, shortened if there are many."""
        return listed([shown(self.name_of(j)) for j in features])

    def __repr__(self) -> str:
        return "\n".join(self.summary())

    def _repr_html_(self) -> str:
        head = ["", "objective", "above best", *(shown(self.name_of(j)) for j in self.used[:SHOWN_FEATURES])]
        rows = [
            [str(at + 1), f"{model.objective:.6g}", f"{100.0 * above:.3g} %", *(f"{b:.3g}" if b else "" for b in coefficients)]
            for at, (model, above, coefficients) in enumerate(
                zip(self.models[:SHOWN_MODELS], self.above_best, self.coefficients[:, :SHOWN_FEATURES].tolist(), strict=False)
            )
        ]
        if len(self.models) > SHOWN_MODELS:
            rows.append([f"and {len(self.models) - SHOWN_MODELS} more"])
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        titles = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        words = "".join(f"<p>{escape(line)}</p>" for line in self.summary())
        return f"<div>{words}<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"


def listed(words: Sequence[str]) -> str:
    """Return some words in one line, shortened if there are many."""
    more = len(words) - SHOWN_FEATURES
    return ", ".join(words[:SHOWN_FEATURES]) + (f" and {more} more" if more > 0 else "")
