"""The score card as an estimator: fit, predictions, what is proved, and a page to print."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from ellzero.base.errors import InvalidInputError
from ellzero.base.progress import as_progress
from ellzero.base.quoting import quoted, shown
from ellzero.base.validation import as_bound, as_count, as_flag, as_nonnegative, as_threads, as_weights, weight_of_rows
from ellzero.design.base import all_names
from ellzero.estimators.stored_input import quoting_safely
from ellzero.estimators.targets import check_positive, ordered_labels
from ellzero.exact.verifier.score_check import MOST_COLUMNS, MOST_POINTS
from ellzero.problem.losses import Logistic
from ellzero.problem.model_file import FitSettings, ModelContent, write_model_file
from ellzero.problem.rules import Rule, at_most
from ellzero.scores.card_page import write_card
from ellzero.scores.certificate import ScoreCertificate
from ellzero.scores.problem import Array, Card, Ints, ScoreProblem, score_rules
from ellzero.scores.proving import SEARCH_SHARE, ProofOptions, Solution, solve_scores
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd

LARGEST_CARD = 10  # that cross-validation looks at
MOST_LINES = 16  # of the risk table
CLOSE = 0.01  # the smallest card whose held-out loss is within this share of the lowest is chosen
LARGEST_NUMBER = 20  # in a column
LEAST_GAP = 1e-9
HINT = "ellzero.Thresholds makes yes-or-no columns of numbers, text and missing values"
VARIABLE = re.compile(r"^(.+?)(?: missing$|\s*(?:>=|<=|<|>|=|_eq_))")
ENDINGS = {
    "optimal": "proved: no card within these limits has a lower loss",
    "complete": "proved: the list is complete",
    "time_limit": "the time limit came before the proof was complete",
    "interrupted": "interrupted before the proof was complete",
    "too_many": "there are more cards than asked for",
    "too_large": "cards of more than 12 columns have a bound only, no complete proof",
}


class RiskRow(NamedTuple):
    """A line of the risk table: a score, or a few next to each other, the risk, and what held-out rows of this risk did."""

    lowest: int
    highest: int
    risk: float
    observed: float
    rows: float


@dataclass(frozen=True)
class ScoreAlternatives:
    """All cards that are nearly as good as the best one.

    Attributes
    ----------
    cards : the best first, each with `support`, `points`, `scale`, `intercept` and `loss`
    complete : whether it is proved that none is missing
    certificate : the proof, for :func:`ellzero.verify`
    names : of all columns

    """

    cards: list[Card]
    complete: bool
    certificate: ScoreCertificate
    names: list[str]

    def __len__(self) -> int:
        return len(self.cards)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each card: its loss, its scale, and its points by column."""
        used = sorted({int(j) for card in self.cards for j in card.support})
        rows = []
        for card in self.cards:
            points = dict(zip(card.support.tolist(), card.points.tolist(), strict=True))
            rows.append({"loss": card.loss, "scale": card.scale, **{self.names[j]: points.get(j, 0) for j in used}})
        return need("pandas", "frame").DataFrame(rows)

    def __repr__(self) -> str:
        end = "complete" if self.complete else "perhaps not all"
        return f"ScoreAlternatives({len(self.cards)} cards, {end}, best loss {self.cards[0].loss:.6g})"


class RiskScore(ClassifierMixin, BaseEstimator):
    """A score card: whole points for at most `k` yes-or-no columns, added up by hand, proved to be the best there is.

    The risk of the second class is 1 / (1 + exp(-(scale x score + intercept))). Scale and intercept are fitted with the points;
    the mean logistic loss is minimised, with a price of `lambda_0` for each column that has points. Columns may also hold whole
    numbers up to 20, such as a count: their points are multiplied by the number.

    Parameters
    ----------
    k : int or "cv"
        The largest number of columns with points. "cv" compares 1 to 10 by cross-validation, and takes the smallest card whose
        held-out loss is within 1 % of the lowest.
    points : (int, int)
        The least and the most points of a column; zero is between them.
    max_scale : float
        The largest scale: one point multiplies the odds by at most exp(max_scale). It limits a card whose columns separate the
        classes.
    scale : float, optional
        A scale that is given, such as 1, in place of the best one up to `max_scale`.
    whole_intercept : bool
        The intercept is a whole number of points, too; this needs `scale`. With ``scale=1`` this is RiskSLIM's problem.
    lambda_0 : float
        The price of each column with points, as in :func:`ellzero.solve`.
    points_of : mapping, optional
        Other limits for columns by name (or place), such as ``{"age >= 60": (0, 5)}``.
    lower, upper : numbers or (p,) arrays, optional
        Further limits of the points, such as those of ``Thresholds(monotone=...)``.
    one_per_variable : bool
        At most one column of each variable has points; "age >= 45" and "age >= 60" are of one variable.
    exclusive : lists of columns, optional
        Of each list at most one column has points.
    rules : list of rules, optional
        What may, or must, have points together: :func:`ellzero.at_most`, :func:`ellzero.requires` and the like.
    class_weight : "balanced" or mapping, optional
        As in scikit-learn. Risks are then those of the weighted rows.
    pos_label : label, optional
        The class whose risk is told; by default the second in order.
    time_limit : float
        Seconds for search and proof. The best card so far is kept, and `gap_` says how good it is at least.
    gap : float
        The proof ends when the lower bound is so near, relative to the loss.
    checkpoint : path, optional
        The proof is written there from time to time, and goes on from there if the file exists; it is removed when all is
        proved. The file is a certificate of what is proved so far.
    cv : int, splitter or iterable
        Folds of the risk table, and of ``k="cv"``, as in scikit-learn.
    n_jobs : int, optional
        Threads: None is one, -1 all.
    progress : bool or function
        As in :func:`ellzero.solve`.
    random_state : int, optional
        Of the folds.

    Attributes
    ----------
    points_ : (p,) whole numbers
    scale_, intercept_ : what turns a score into a risk
    risk_table_ : list of RiskRow: score, risk, and the observed share of held-out rows to which cards of the other folds gave
        about this risk, with their number
    held_out_ : (n,) risk of each row, by the card of the other folds; nan where there is none
    k_ : the limit that was used; `cv_losses_` has the held-out loss of each, if it was chosen
    loss_ : mean logistic loss on the rows of the fit
    objective_ : the loss and the prices of the columns, which is what is minimised
    lower_bound_, gap_, status_ : what is proved of the objective; "optimal" if the gap is at most `gap`
    certificate_ : for :func:`ellzero.verify`
    support_ : columns with points
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> import ellzero as ez
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (500, 12))
    >>> y = rng.random(500) < 1 / (1 + np.exp(2 - 2.0 * X[:, 0] - X[:, 3]))
    >>> card = ez.RiskScore(k=2).fit(X, y)
    >>> card.support_.tolist(), card.status_
    ([0, 3], 'optimal')
    >>> ez.verify(card.certificate_, X, y).valid
    True

    """

    def __init__(
        self,
        k: int | str = 5,
        *,
        points: tuple[int, int] = (-5, 5),
        max_scale: float = 2.0,
        scale: float | None = None,
        whole_intercept: bool = False,
        lambda_0: float = 0.0,
        points_of: Mapping[Any, tuple[int, int]] | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        one_per_variable: bool = False,
        exclusive: Sequence[Sequence[Any]] | None = None,
        rules: Iterable[Rule] | None = None,
        class_weight: Any = None,
        pos_label: Any = None,
        time_limit: float = 60.0,
        gap: float = 1e-6,
        checkpoint: str | os.PathLike[str] | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.k = k
        self.points = points
        self.max_scale = max_scale
        self.scale = scale
        self.whole_intercept = whole_intercept
        self.lambda_0 = lambda_0
        self.points_of = points_of
        self.lower = lower
        self.upper = upper
        self.one_per_variable = one_per_variable
        self.exclusive = exclusive
        self.rules = rules
        self.class_weight = class_weight
        self.pos_label = pos_label
        self.time_limit = time_limit
        self.gap = gap
        self.checkpoint = checkpoint
        self.cv = cv
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> RiskScore:
        """Find the best card, prove it, and measure its risks on held-out rows.

        Parameters
        ----------
        X : (n, p) array, data frame or sparse matrix of zeros and ones; :class:`ellzero.Thresholds` makes them of raw columns
        y : (n,) labels of two classes; the second in order is the one whose risk is told
        sample_weight : (n,), optional

        Returns
        -------
        self

        """
        options = self._options()
        problem = self._problem(X, y, sample_weight)
        self.__dict__.pop("cv_losses_", None)  # of an earlier fit
        if self.k == "cv":
            least = max(1, len(problem.null.support))
            sizes = range(least, max(least, min(LARGEST_CARD, problem.k)) + 1)
            self.cv_losses_ = {k: self._held_out(replace(problem, k=k))[1] for k in sizes}
            lowest = min(self.cv_losses_.values())
            problem = replace(problem, k=next(k for k, loss in self.cv_losses_.items() if loss <= (1.0 + CLOSE) * lowest))
        self.k_ = problem.k
        self.problem_ = problem
        solution = solve_scores(problem, options)
        self._set_solution(solution)
        self.held_out_ = self._held_out(problem)[0]
        self.risk_table_ = risk_table(problem, solution.card, self.held_out_)
        return self

    def held_out_auc(self) -> float:
        """Return the AUC of the risks that cards of the other folds give; nan without folds."""
        check_is_fitted(self)
        y, known = self.problem_.y, np.isfinite(self.held_out_) & (self.problem_.y != 0.0)
        if len(np.unique(y[known])) < 2:
            return math.nan
        return float(roc_auc_score(y[known] > 0.0, self.held_out_[known], sample_weight=self.problem_.w[known]))

    def _set_solution(self, solution: Solution) -> None:
        """Set the card and what is proved of it."""
        card = solution.card
        self.card_ = card
        self.points_ = np.zeros(self.n_features_in_, dtype=np.int64)
        self.points_[card.support] = card.points
        self.support_, self.scale_, self.intercept_, self.objective_ = card.support, card.scale, card.intercept, card.loss
        self.loss_ = card.loss - self.problem_.price * len(card.support)
        self.status_, self.gap_, self.lower_bound_ = solution.status, solution.gap, solution.lower_bound
        self.certificate_, self.supports_, self.seconds_ = solution.certificate, solution.supports, solution.seconds

    def _options(self, within: float | None = None, most: int = 10_000) -> ProofOptions:
        """Return how to search."""
        gap = max(as_nonnegative("gap", self.gap), LEAST_GAP)
        limit = as_nonnegative("time_limit", self.time_limit)
        progress = as_progress(self.progress, "proving the card")
        return ProofOptions(
            gap=gap,
            time_limit=limit,
            threads=as_threads(self.n_jobs),
            progress=progress,
            within=within,
            most=most,
            checkpoint=self.checkpoint if within is None else None,
        )

    def _problem(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> ScoreProblem:
        """Return the checked data and limits."""
        try:
            with quoting_safely(X):
                X, y = validate_data(self, X, y, accept_sparse="csc", dtype="numeric", ensure_all_finite=False)
        except InvalidInputError as error:
            if str(error).startswith("X must hold real numbers"):
                raise InvalidInputError(f"{str(error).removesuffix('.')}; {HINT}.") from None
            raise
        table = questions_only(X, self._names())
        n, p = table.shape
        weight = weight_of_rows(sample_weight, n)
        as_weights(weight, n)  # so that negative ones, or zeros only, are refused
        labels = np.asarray(y)
        if self.class_weight is not None:
            weight = weight * compute_sample_weight(self.class_weight, labels)
        counted = weight > 0.0
        self.classes_ = ordered_labels(labels[counted])
        if len(self.classes_) != 2:
            count = f"{len(self.classes_)} class{'es' * (len(self.classes_) != 1)}"
            raise InvalidInputError(f"Only binary classification is supported. y must have two classes, got {count}.")
        if self.pos_label is not None:
            check_positive(self.pos_label, self.classes_)
        # What is in order speaks for the second class, as in scikit-learn; the card speaks for the positive one.
        self._sign = -1 if self.pos_label is not None and self.classes_[0] == self.pos_label else 1
        classes = self.classes_[:: self._sign]
        signs = np.where(counted, np.where(labels == classes[1], 1.0, -1.0), 0.0)
        same = bool((weight == weight[0]).all())
        low, high = self._limits(p)
        k = p if self.k == "cv" else as_count("k", self.k, 1)
        if k > MOST_COLUMNS and self.k != "cv":
            raise InvalidInputError(f"k must be at most {MOST_COLUMNS}, got {k}: nobody adds up a longer card.")
        name, largest = ("max_scale", self.max_scale) if self.scale is None else ("scale", self.scale)
        scale = as_nonnegative(name, largest)
        if not 0.0 < scale <= 1e3:
            raise InvalidInputError(f"{name} must be above zero and at most 1000, got {largest!r}.")
        whole = as_flag("whole_intercept", self.whole_intercept)
        if whole and self.scale is None:
            raise InvalidInputError(
                "whole_intercept needs a scale, such as scale=1: an intercept in points is a multiple of it."
            )
        problem = ScoreProblem(
            X=table,
            y=signs,
            weights=None if same else as_weights(weight, n),
            low=low,
            high=high,
            k=min(k, p, MOST_COLUMNS),
            max_scale=scale,
            rules=score_rules(self._rules(p), low, high, k, self._names()),
            classes=classes,
            min_scale=0.0 if self.scale is None else scale,
            price=as_nonnegative("lambda_0", self.lambda_0),
        )
        return with_intercept_in_points(problem) if whole else problem

    def _names(self) -> list[str]:
        """Return the names of the columns."""
        return [str(name) for name in getattr(self, "feature_names_in_", all_names(None, self.n_features_in_))]

    def _place(self, argument: str, column: Any) -> int:
        """Return the place of a column that an argument names."""
        names = self._names()
        if isinstance(column, str) and column in names:
            return names.index(column)
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < len(names):
            return int(column)
        raise InvalidInputError(f"{argument} names {quoted(column)}, which is not a column of X.")

    def _limits(self, p: int) -> tuple[Ints, Ints]:
        """Return the least and the most points of each column."""
        pair = as_range("points", self.points)
        low, high = (np.full(p, side, dtype=np.int64) for side in pair)
        for column, limits in (self.points_of or {}).items():
            j = self._place("points_of", column)
            low[j], high[j] = as_range(f"points_of[{quoted(column)}]", limits)
        lower, upper = as_bound("lower", self.lower, p, -np.inf), as_bound("upper", self.upper, p, np.inf)
        if (lower > 0.0).any() or (upper < 0.0).any():
            raise InvalidInputError("lower and upper must leave zero points to every column.")
        return np.maximum(low, np.ceil(np.maximum(lower, low))).astype(np.int64), np.floor(np.minimum(upper, high)).astype(
            np.int64
        )

    def _rules(self, p: int) -> list[Rule]:
        """Return the rules on the columns."""
        sets: list[list[int]] = [[self._place("exclusive", column) for column in columns] for columns in self.exclusive or []]
        if as_flag("one_per_variable", self.one_per_variable):
            variables: dict[str, list[int]] = {}
            for j, name in enumerate(self._names()):
                variables.setdefault(variable_of(name), []).append(j)
            if len(variables) == p and p > 1 and not hasattr(self, "feature_names_in_"):
                raise InvalidInputError(
                    "one_per_variable needs columns with names such as 'age >= 60', which Thresholds makes."
                )
            sets += list(variables.values())
        given = (self.rules,) if isinstance(self.rules, Rule) else self.rules or ()
        return [*given, *(at_most(1, sorted(set(members))) for members in sets if len(set(members)) > 1)]

    def _held_out(self, problem: ScoreProblem) -> tuple[Array, float]:
        """Return risks of the rows by cards of the other folds, nan where there are none, and their mean loss."""
        risks, y = np.full(len(problem.y), np.nan), problem.y
        for train, test in self._splits(y):
            part, test = train[y[train] != 0.0], test[y[test] != 0.0]
            if len(np.unique(y[part])) < 2:
                continue
            weights = None if problem.weights is None else as_weights(problem.weights[part], len(part))
            fold = replace(problem, X=problem.X[part], y=y[part], weights=weights)
            found = fold.card(fold.core(as_threads(self.n_jobs)).search(SEARCH_SHARE * float(self.time_limit)))
            card = min(found, fold.null, key=lambda card: card.loss)
            risks[test] = card.risk(card.score(problem.X[test]))
        w = problem.w
        share = np.clip(np.where(y > 0.0, risks, 1.0 - risks), 1e-15, 1.0)
        known = np.isfinite(risks) & (y != 0.0)
        return risks, float(-(w * np.log(share))[known].sum() / w[known].sum()) if known.any() else float("nan")

    def _splits(self, y: Array) -> list[tuple[Ints, Ints]]:
        """Return the training rows and test rows of each fold; none if a class has a single row."""
        rows = np.flatnonzero(y)
        if not isinstance(self.cv, (int, np.integer)) or isinstance(self.cv, bool):
            return list(check_cv(self.cv, y, classifier=True).split(y[:, None], y))
        count = int(min(as_count("cv", self.cv, 2), (y > 0.0).sum(), (y < 0.0).sum()))
        if count < 2:
            return []
        folds = StratifiedKFold(count, shuffle=True, random_state=self.random_state).split(rows[:, None], y[rows])
        return [(rows[train], rows[test]) for train, test in folds]

    def predict_score(self, X: Any) -> Ints:
        """Return the score of each row: the sum of its points.

        Parameters
        ----------
        X : (n, p) array, data frame or sparse matrix of zeros and ones

        Returns
        -------
        (n,) whole numbers

        """
        check_is_fitted(self)
        with quoting_safely(X):
            X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False, ensure_all_finite=False)
        return self.card_.score(questions_only(X, self._names()))

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of the second class.

        Parameters
        ----------
        X : (n, p) array, data frame or sparse matrix of zeros and ones

        Returns
        -------
        (n,)

        """
        score = self.predict_score(X)
        return np.asarray(self._sign * (self.scale_ * score + self.intercept_), dtype=np.float64)

    def predict_proba(self, X: Any) -> Array:
        """Return the risk of each row: the probabilities of both classes, in the order of `classes_`.

        Parameters
        ----------
        X : (n, p) array, data frame or sparse matrix of zeros and ones

        Returns
        -------
        (n, 2)

        """
        score = self.predict_score(X)
        risk = self.card_.risk(score)
        return np.column_stack([1.0 - risk, risk][:: self._sign])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return predicted labels: the second class where its risk is above one half.

        Parameters
        ----------
        X : (n, p) array, data frame or sparse matrix of zeros and ones

        Returns
        -------
        (n,)

        """
        above = self.decision_function(X) > 0.0
        return np.asarray(self.classes_[above.astype(int)])

    def alternatives(self, within: float = 0.01, max_cards: int = 10_000) -> ScoreAlternatives:
        """Return all cards whose loss is at most a share above the best one, with a proof that none is missing.

        Parameters
        ----------
        within : that share
        max_cards : stop when there are more

        Returns
        -------
        ScoreAlternatives
            Cards that are the same up to a common factor of their points count once.

        """
        check_is_fitted(self)
        options = self._options(as_nonnegative("within", within), as_count("max_cards", max_cards, 1))
        solution = solve_scores(self.problem_, options)
        return ScoreAlternatives(solution.cards, solution.status == "complete", solution.certificate, self._names())

    def card(self, path: str | os.PathLike[str], *, title: str | None = None, outcome: str | None = None) -> None:
        """Write the card as one HTML page: boxes to tick, the score, its risk, and what is proved.

        Parameters
        ----------
        path : the file; it is there as a whole or not at all
        title : the heading
        outcome : what the risk is of; by default the second class

        """
        check_is_fitted(self)
        write_card(path, self, title, outcome)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each column with points, the most points first."""
        check_is_fitted(self)
        rows = [{"feature": j, "name": name, "points": points} for j, name, points in self._lines()]
        return need("pandas", "frame").DataFrame(rows, columns=["feature", "name", "points"])

    def _lines(self) -> list[tuple[int, str, int]]:
        """Return the columns with points, the most points first."""
        names = self._names()
        order = sorted(self.support_.tolist(), key=lambda j: (-self.points_[j], j))
        return [(j, names[j], int(self.points_[j])) for j in order]

    def _outcome(self) -> str:
        """Return the class whose risk is told."""
        return shown(self.classes_[:: self._sign][1])

    def proof_in_words(self) -> str:
        """Return what is proved, in a sentence."""
        check_is_fitted(self)
        return f"{self.status_} ({ENDINGS[self.status_]}; gap {100.0 * self.gap_:.2g} %)"

    def __str__(self) -> str:
        if not hasattr(self, "card_"):
            return repr(self)
        lines = self._lines()
        width = max([len(shown(name)) for _, name, _ in lines], default=5)
        text = [f"{shown(name):<{width}}  {points:+d} point{'s' * (abs(points) != 1)}" for _, name, points in lines] or [
            "no points"
        ]
        text += ["", f"{'score':>9}  {'risk':>6}  observed  held-out rows"]
        for row in self.risk_table_:
            scores = f"{row.lowest}" if row.lowest == row.highest else f"{row.lowest} to {row.highest}"
            seen = f"{100.0 * row.observed:7.1f}%" if row.rows else "       -"
            text.append(f"{scores:>9}  {100.0 * row.risk:5.1f}%  {seen}  {row.rows:13g}")
        return "\n".join([*text, "", self.proof_in_words(), *self.cautions()])

    def cautions(self) -> list[str]:
        """Return sentences on the risks: that the scale is at its limit, as where questions separate the classes."""
        check_is_fitted(self)
        limit = self.problem_.max_scale
        if not len(self.support_) or self.problem_.min_scale == limit or self.scale_ < limit * (1.0 - 1e-9):
            return []
        return [f"The scale is at its limit, max_scale={limit:g}: a larger one would fit these rows better, with bolder risks."]

    def _model_content(self, preparation: dict[str, Any] | None = None) -> ModelContent:
        """Return the card as a linear model, for files and for other languages."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return ModelContent(
            loss=Logistic(),
            coef=sparse.csr_matrix(self._sign * self.scale_ * self.points_[None, :].astype(np.float64)),
            intercept=np.array([self._sign * self.intercept_]),
            classes=self.classes_,
            pos_label=self.pos_label,
            names=None if names is None else [str(name) for name in names],
            settings=FitSettings(k=self.k_, fit_intercept=True, standardize=False),
            preparation=preparation,
        )

    def save(self, path: str | os.PathLike[str], preparation: dict[str, Any] | None = None) -> None:
        """Write the card as a model file, with scale x points as coefficients; :func:`ellzero.load` reads it.

        Parameters
        ----------
        path : the JSON file
        preparation : how the command line made the columns from raw data

        """
        write_model_file(path, self._model_content(preparation))


def with_intercept_in_points(problem: ScoreProblem) -> ScoreProblem:
    """Return a problem with a column of ones for the intercept, whose points reach as far as those of any best card."""
    rows = problem.rows
    sizes = np.maximum(np.abs(problem.low), np.abs(problem.high)) * problem.X.max(axis=0, initial=0).astype(np.int64)
    reach = float(np.sort(sizes)[::-1][: problem.k].sum()) + abs(np.log(rows.P.sum() / rows.N.sum())) / problem.min_scale
    most = min(int(reach) + 2, MOST_POINTS)
    return replace(
        problem,
        X=np.column_stack([problem.X, np.ones(len(problem.X), np.uint8)]),
        low=np.append(problem.low, -most),
        high=np.append(problem.high, most),
        whole_intercept=True,
    )


def questions_only(X: Any, names: list[str]) -> NDArray[np.uint8]:
    """Return a table of zeros and ones, or of other small numbers of something; refuse other numbers."""
    table = X.toarray() if sparse.issparse(X) else np.asarray(X)
    good = (table == 0) | (table == 1)
    if not good.all():
        with np.errstate(invalid="ignore"):
            good = (table >= 0) & (table <= LARGEST_NUMBER) & (np.floor(table) == table)
    if not good.all():
        row, column = (int(each) for each in np.argwhere(~good)[0])
        raise InvalidInputError(
            f"column {quoted(names[column])} of X must hold zeros and ones, or whole numbers up to {LARGEST_NUMBER}, "
            f"got {quoted(table[row, column].item())}; {HINT}."
        )
    return np.ascontiguousarray(table, dtype=np.uint8)


def as_range(name: str, value: Any) -> tuple[int, int]:
    """Return a pair of whole numbers with zero between them."""
    try:
        low, high = value
        if any(isinstance(side, bool) or int(side) != side for side in (low, high)):
            raise ValueError
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be a pair of whole numbers, such as (-5, 5), got {quoted(value)}.") from None
    if not -MOST_POINTS <= low <= 0 <= high <= MOST_POINTS or low == high:
        raise InvalidInputError(f"{name} must have zero in its range, within {MOST_POINTS} either way, got {quoted(value)}.")
    return int(low), int(high)


def variable_of(name: str) -> str:
    """Return the variable that a column is about.

    >>> [variable_of(name) for name in ("age >= 60", "chest pain = none", "glucose missing", "smokes")]
    ['age', 'chest pain', 'glucose', 'smokes']
    """
    found = VARIABLE.match(name)
    return found[1] if found else name


def risk_table(problem: ScoreProblem, card: Card, risks: Array) -> list[RiskRow]:
    """Return all scores that the questions can add up to, with their risks, and the held-out rows that are nearest in risk."""
    w = np.where(problem.y == 0.0, 0.0, 1.0) if problem.weights is None else problem.weights * np.count_nonzero(problem.y)
    scores, sums = card.score(problem.X), {0}
    for j, points in zip(card.support, card.points.tolist(), strict=True):
        sums = {each + points * int(value) for each in sums for value in {0, *np.unique(problem.X[:, j]).tolist()}}
    lines = [[each] for each in sorted(sums)]
    counts = [float(w[scores == each].sum()) for each in sorted(sums)]
    while len(lines) > MOST_LINES:  # the neighbours with the fewest rows share a line
        i = min(range(len(lines) - 1), key=lambda i: (counts[i] + counts[i + 1], i))
        lines[i : i + 2], counts[i : i + 2] = [lines[i] + lines[i + 1]], [counts[i] + counts[i + 1]]
    middles = np.array([(line[0] + line[-1]) / 2.0 for line in lines])
    edges = card.scale * (middles[1:] + middles[:-1]) / 2.0 + card.intercept
    known = np.isfinite(risks) & (problem.y != 0.0)
    with np.errstate(divide="ignore"):
        place = np.searchsorted(edges, np.log(risks[known]) - np.log1p(-risks[known]), side="right")
    out = []
    for i, line in enumerate(lines):
        inside, here = np.isin(scores, line) & (w > 0.0), place == i
        rows = float(w[known][here].sum())
        observed = float(w[known][here][problem.y[known][here] > 0.0].sum()) / rows if rows > 0.0 else float("nan")
        seen = inside.any()
        risk = np.average(card.risk(scores[inside]), weights=w[inside]) if seen else card.risk(middles[i])
        out.append(RiskRow(line[0], line[-1], float(risk), observed, round(rows, 6)))
    return out
