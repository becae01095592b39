"""Ways to tamper with diagonals and the models of dual points, and the reason that the verifier gives."""

import numpy as np

from support.certificates import PROVES

TOO_MUCH = "takes more curvature from the loss"
DIAGONALS = "the diagonals are malformed"
MODELS = "the models are malformed"
FOREIGN = "the model of a dual point uses a column that diagonal"


def diagonals_larger(header, arrays):
    arrays["diagonal_values"] *= 1.1


def diagonals_far_larger(header, arrays):
    arrays["diagonal_values"] = np.full_like(arrays["diagonal_values"], 1e300)


def diagonals_of_nothing(header, arrays):
    arrays["diagonal_values"] = np.zeros_like(arrays["diagonal_values"])


def one_entry_larger(header, arrays):
    arrays["diagonal_values"][arrays["diagonal_ends"][0] - 1] *= 2.0


def diagonals_below_zero(header, arrays):
    arrays["diagonal_values"][0] = -1e-9


def diagonals_not_finite(header, arrays):
    arrays["diagonal_values"][0] = np.inf


def first_diagonal_without(arrays, column):
    """Take a column out of the first diagonal, and out of the models that use it."""
    place = int(np.flatnonzero(arrays["diagonal_members"] == column)[0])
    assert place < arrays["diagonal_ends"][0]
    for name in ("diagonal_members", "diagonal_values"):
        arrays[name] = np.delete(arrays[name], place)
    arrays["diagonal_ends"] -= 1
    kept = arrays["model_columns"] != column
    arrays["model_ends"] = np.cumsum(kept)[arrays["model_ends"] - 1]
    for name in ("model_columns", "model_values"):
        arrays[name] = arrays[name][kept]


def diagonal_of_fewer_columns(header, arrays):
    assert arrays["point_diagonal"][0] == 0
    first_diagonal_without(arrays, arrays["model_columns"][0])


def diagonal_of_fewer_columns_than_models(header, arrays):
    column, models = (
        arrays["model_columns"][0],
        {name: arrays[name] for name in ("model_columns", "model_values", "model_ends")},
    )
    first_diagonal_without(arrays, column)
    arrays.update(models)


def diagonals_of_other_columns(header, arrays):
    arrays["diagonal_members"] = arrays["diagonal_members"][::-1].copy()


def diagonal_with_a_column_twice(header, arrays):
    arrays["diagonal_members"][1] = arrays["diagonal_members"][0]


def diagonal_of_no_feature(header, arrays):
    arrays["diagonal_members"][arrays["diagonal_ends"][0] - 1] = header["p"]


def diagonal_without_end(header, arrays):
    arrays["diagonal_ends"][-1] += 1


def diagonal_that_ends_before_it_begins(header, arrays):
    arrays["diagonal_ends"] = np.append(arrays["diagonal_ends"] + 3, arrays["diagonal_ends"][-1])


def diagonal_without_columns(header, arrays):
    arrays["diagonal_ends"] = np.append(0, arrays["diagonal_ends"])


def diagonal_that_is_not_there(header, arrays):
    arrays["point_diagonal"][0] = len(arrays["diagonal_ends"])


def diagonal_below_none(header, arrays):
    arrays["point_diagonal"][0] = -2


def points_without_diagonals(header, arrays):
    arrays["point_diagonal"][:] = -1


def fewer_diagonals_of_points(header, arrays):
    arrays["point_diagonal"] = arrays["point_diagonal"][:-1]


def models_larger(header, arrays):
    arrays["model_values"] *= 1.5


def models_of_other_columns(header, arrays):
    arrays["model_columns"] = (arrays["model_columns"] + 1) % header["p"]


def models_not_finite(header, arrays):
    arrays["model_values"][0] = np.nan


def models_beyond_float64(header, arrays):
    arrays["model_values"][:] = 1e300


def model_of_no_feature(header, arrays):
    arrays["model_columns"][0] = -1


def model_with_a_feature_twice(header, arrays):
    first = int(np.flatnonzero(np.diff(arrays["model_ends"], prepend=0) > 1)[0])
    start = arrays["model_ends"][first] - 2
    arrays["model_columns"][start + 1] = arrays["model_columns"][start]


def model_without_end(header, arrays):
    arrays["model_ends"][-1] += 1


def model_that_ends_before_it_begins(header, arrays):
    arrays["model_ends"][0] = arrays["model_ends"][-1] + 1


def models_moved(header, arrays):
    """Each model belongs to another point."""
    lengths = np.roll(np.diff(arrays["model_ends"], prepend=0), 1)
    parts = np.split(np.arange(len(arrays["model_columns"])), arrays["model_ends"][:-1])
    order = np.concatenate([parts[-1], *parts[:-1]])
    arrays["model_ends"] = np.cumsum(lengths)
    for name in ("model_columns", "model_values"):
        arrays[name] = arrays[name][order]


def no_models(header, arrays):
    del arrays["model_values"]


def no_diagonals(header, arrays):
    for name in [name for name in arrays if name.startswith(("diagonal", "model", "point_"))]:
        del arrays[name]


def diagonals_of_another_loss(header, arrays):
    arrays |= {name: np.zeros(0, np.int64) for name in ("diagonal_ends", "diagonal_members", "model_columns")}
    arrays |= {name: np.zeros(0) for name in ("diagonal_values", "model_values")}
    arrays["point_diagonal"] = np.full(len(arrays["alpha"]), -1)
    arrays["model_ends"] = np.zeros(len(arrays["alpha"]), np.int64)


def diagonals_of_small_numbers(header, arrays):
    arrays["diagonal_values"] = arrays["diagonal_values"].astype(np.float32)


TAMPERINGS = [
    ("best subset", diagonals_larger, TOO_MUCH),
    ("best subset", diagonals_far_larger, TOO_MUCH),
    ("best subset", diagonals_of_nothing, PROVES),
    ("best subset", one_entry_larger, TOO_MUCH),
    ("best subset", diagonals_below_zero, "diagonal_values contains negative numbers"),
    ("best subset", diagonals_not_finite, "diagonal_values contains numbers that are not finite"),
    ("best subset", diagonal_of_fewer_columns, PROVES),
    ("best subset", diagonal_of_fewer_columns_than_models, FOREIGN),
    ("best subset", diagonals_of_other_columns, "a diagonal is malformed"),
    ("best subset", diagonal_with_a_column_twice, "a diagonal is malformed"),
    ("best subset", diagonal_of_no_feature, "diagonal_members contains numbers out of range"),
    ("best subset", diagonal_without_end, DIAGONALS),
    ("best subset", diagonal_that_ends_before_it_begins, DIAGONALS),
    ("best subset", diagonal_without_columns, "a diagonal is malformed"),
    ("best subset", diagonal_that_is_not_there, "point_diagonal contains numbers out of range"),
    ("best subset", diagonal_below_none, "point_diagonal contains numbers out of range"),
    ("best subset", points_without_diagonals, PROVES),
    ("best subset", fewer_diagonals_of_points, "point_diagonal has the wrong shape"),
    ("best subset", models_larger, PROVES),
    ("best subset", models_of_other_columns, FOREIGN),
    ("best subset", models_not_finite, "model_values contains numbers that are not finite"),
    ("best subset", models_beyond_float64, PROVES),
    ("best subset", model_of_no_feature, "model_columns contains numbers out of range"),
    ("best subset", model_with_a_feature_twice, "a model lists a feature twice"),
    ("best subset", model_without_end, MODELS),
    ("best subset", model_that_ends_before_it_begins, MODELS),
    ("best subset", models_moved, FOREIGN),
    ("best subset", no_models, "arrays are missing: model_values"),
    ("best subset", no_diagonals, PROVES),
    ("weighted box", diagonals_of_another_loss, "an array has no use in this certificate: 'diagonal_ends'"),
    ("best subset", diagonals_of_small_numbers, "diagonal_values has the wrong shape"),
]
