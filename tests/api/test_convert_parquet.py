"""Parquet files as column stores."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from support.conversions import FEATURES, FRAME, MEMORY, converted, refused

PARQUET = {
    "float64": ("float64", "float64"),
    "float32": ("float32", "float32"),
    "int64": ("int64", "float64"),
    "int16": ("int16", "float32"),
    "int8": ("int8", "int8"),
    "bool": ("bool", "int8"),
    "Int32": ("Int32", "float64"),
    "decimal": (object, "float64"),
}


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("kind", PARQUET)
def test_parquet(tmp_path, kind, memory):
    dtype, stored = PARQUET[kind]
    frame = FRAME[FEATURES].astype("float64" if "float" in kind else "int8" if kind != "bool" else "bool")
    frame = frame.map(lambda value: Decimal(int(value)) / 4) if kind == "decimal" else frame.astype(dtype)
    frame["label"] = FRAME.label.astype("category")
    frame.index = [f"row {i}" for i in range(len(frame))]  # an index is no data
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=50)
    X, y, names, about = converted(tmp_path / "data.parquet", target="label", memory=memory)
    np.testing.assert_array_equal(X, frame[FEATURES].astype(float))
    assert y.tolist() == FRAME.label.tolist()
    assert names == FEATURES
    assert about["dtype"] == stored


def test_parquet_that_cannot_be_used(tmp_path):
    file = tmp_path / "data.parquet"
    FRAME.assign(day=pd.Timestamp("2020-01-01")).to_parquet(file)
    assert refused(file, target="label").startswith("column 'day' of data.parquet must hold numbers, got timestamp")
    assert "column 'label' of data.parquet must hold numbers" in refused(file, drop="day")
    assert refused(file, target="lable").endswith("did you mean 'label'?")
    assert refused(file, target="label", missing="?") == "missing is not for parquet files."
    FRAME.assign(a=np.nan, b=None).to_parquet(file)
    assert refused(file, target="label") == "column 'b' of data.parquet hold no values at all; leave them out with drop."
    assert "column 'a' of data.parquet has no values at all" in refused(file, target="label", drop="b", impute="mean")
    FRAME.iloc[:0].to_parquet(file)
    assert refused(file, target="label") == "data.parquet has no rows."
    FRAME.to_parquet(file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-50])
    assert "data.parquet cannot be read as Parquet" in refused(file, target="label")
