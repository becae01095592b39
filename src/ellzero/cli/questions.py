"""Raw columns as the questions of a score card, learnt once and asked of new data: what `preparation` is for other models."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import one_line
from ellzero.cli.inspection import odd_numbers
from ellzero.cli.preparation import MISSING, Gap, TablePreparation, refuse, refuse_together, words_of
from ellzero.scores.thresholds import Question, Thresholds, missing_in
from ellzero.tables.columns import as_text, check_presence, kinds_of, number_matrix
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class QuestionPreparation(TablePreparation):
    """The preparation of a table whose features are questions about its columns."""

    questions: tuple[Question, ...] = ()
    lower: tuple[float, ...] = field(default=(), compare=False)  # bounds of the points, while a card is fitted
    upper: tuple[float, ...] = field(default=(), compare=False)

    @property
    def features(self) -> list[str]:
        """The questions, as people read them."""
        return [question.name for question in self.questions]

    @property
    def groups(self) -> None:
        """None: each question comes in by itself."""
        return None

    def features_of(self, column: str) -> list[str]:
        """Return the questions about a column."""
        return [question.name for question in self.questions if question.variable == column]

    def apply(self, frame: pd.DataFrame, source: str, used: set[str] | None = None) -> tuple[Any, list[str]]:
        """Return the answers; columns whose questions are not used need not be there."""
        asked = [j for j, question in enumerate(self.questions) if used is None or question.name in used]
        needed = list(dict.fromkeys(self.questions[j].variable for j in asked))
        check_presence(frame, needed, source)
        values = {name: self.column(frame, name, source) for name in needed}
        missing = {name: missing_in(column) for name, column in values.items()}
        out = np.zeros((len(frame), len(self.questions)), order="F")
        for j in asked:
            name = self.questions[j].variable
            out[:, j] = self.questions[j].answers(values[name], missing[name])
        return out, []

    def column(self, frame: pd.DataFrame, name: str, source: str) -> NDArray[Any]:
        """Return a column as numbers, or as text."""
        return as_text(frame[name]) if name in self.categories else number_matrix(frame, [name], source)[:, 0]

    def gaps(self, frame: pd.DataFrame, columns: list[str] | None = None) -> list[Gap]:
        """Return the columns of a table that have missing values, and how many: a question asks for them."""
        rows = {name: int(frame[name].isna().sum()) for name in columns or self.columns}
        return [Gap(name, count, MISSING) for name, count in rows.items() if count]

    def to_json(self) -> dict[str, Any]:
        """Return the preparation as plain lists and numbers, for the model file."""
        asked = [{"name": q.name, "column": q.variable, "cut": q.cut, "value": q.value} for q in self.questions]
        return {
            "kind": "questions",
            "numbers": list(self.numbers),
            "text": list(self.categories),
            "questions": asked,
            **self.words(),
        }


def learn_questions(frame: pd.DataFrame, source: str, args: argparse.Namespace) -> QuestionPreparation:
    """Learn the questions about the columns of a table."""
    kinds = {**kinds_of(frame), **dict.fromkeys(args.categorical, "text")}
    odd = odd_numbers(frame, [name for name, kind in kinds.items() if kind == "text" and name not in args.categorical])
    refuse_together(source, [partial(refuse, names, "holds", said) for said, names in odd.items()])
    numbers = tuple(name for name, kind in kinds.items() if kind == "number")
    plain = QuestionPreparation(numbers, (), {name: (None,) for name, kind in kinds.items() if kind == "text"})
    table = need("pandas").DataFrame({name: plain.column(frame, name, source) for name in kinds}, index=frame.index)
    cuts = Thresholds(
        None if args.per == 0 else args.per,
        cuts=by_column(args.cuts, "--cuts"),
        monotone=by_column(args.monotone, "--monotone"),
    )
    cuts.fit(table)
    sides = tuple(cuts.lower_.tolist()), tuple(cuts.upper_.tolist())
    return QuestionPreparation(numbers, (), plain.categories, questions=tuple(cuts.questions_), lower=sides[0], upper=sides[1])


def by_column(given: list[str], option: str) -> dict[str, Any]:
    """Return what is given for columns, such as age=45,60: numbers for --cuts, a word for --monotone."""
    out: dict[str, Any] = {}
    for text in given:
        name, found, value = text.rpartition("=")
        if not found:
            raise InvalidInputError(f"{option} must be COLUMN=VALUE, got {text!r:.60}.")
        try:
            out[name] = value if option == "--monotone" else [float(part) for part in value.split(",")]
        except ValueError:
            raise InvalidInputError(
                f"{option} must give numbers between commas, such as age=45,60, got {text!r:.60}."
            ) from None
    return out


def restored_questions(kept: dict[str, Any]) -> QuestionPreparation:
    """Return the questions that a model file holds."""
    try:
        return checked_questions(kept)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model file's preparation cannot be read: {one_line(error)}.") from None


def checked_questions(kept: dict[str, Any]) -> QuestionPreparation:
    """Return the questions; what is malformed raises KeyError, TypeError or ValueError."""
    numbers, text = kept["numbers"], kept["text"]
    asked = [Question(0, each["name"], each["column"], each["cut"], each["value"]) for each in kept["questions"]]
    names = [*numbers, *text, *(part for q in asked for part in (q.name, q.variable))]
    if not all(isinstance(name, str) for name in names):
        raise ValueError("names must be strings")
    for q in asked:
        of_number = q.cut is None or (isinstance(q.cut, (int, float)) and not isinstance(q.cut, bool) and q.variable in numbers)
        of_text = q.value is None or (isinstance(q.value, str) and q.cut is None and q.variable in text)
        if not (of_number and of_text and q.variable in {*numbers, *text}):
            raise ValueError("a question is neither about a number nor about a text")
    return QuestionPreparation(tuple(numbers), (), dict.fromkeys(text, (None,)), *words_of(kept), questions=tuple(asked))
