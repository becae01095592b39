"""Missing values and targets, which are filled, left out or refused, in any format."""

import re

import numpy as np
import pytest
from support.conversions import FEATURES, FRAME, MEMORY, converted, refused


@pytest.mark.usefixtures("both_csv_readers")
@pytest.mark.parametrize("impute", ["median", "mean", "mode"])
@pytest.mark.parametrize("memory", MEMORY)
def test_imputing(tmp_path, impute, memory):
    frame = FRAME.round(0).mask(np.random.default_rng(1).random(FRAME.shape) < 0.2)
    frame["label"] = FRAME.label
    frame["b"] = frame["b"].fillna(1.0)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=50)
    np.savez(tmp_path / "data.npz", X=frame[FEATURES], y=frame.label.to_numpy(str))
    middle = frame[FEATURES].mode().iloc[0] if impute == "mode" else frame[FEATURES].agg(impute)
    for name in ("data.csv", "data.parquet", "data.npz"):
        target = None if name == "data.npz" else "label"
        X, *_ = converted(tmp_path / name, target=target, impute=impute, memory=memory)
        np.testing.assert_allclose(X, frame[FEATURES].fillna(middle), rtol=1e-15)
        message = refused(tmp_path / name, target=target, memory=memory)
        absent = frame[FEATURES].isna()
        column, row = re.search(r"column '?(\w)'? (?:of data.\w* )?has .*missing value.* in row (\d+)", message).groups()
        assert absent[FEATURES[int(column)] if name == "data.npz" else column].idxmax() == int(row) - 1


def test_rows_without_a_target(tmp_path):
    frame = FRAME.assign(label=FRAME.label.mask(np.arange(120) % 7 == 3))
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=40)
    kept = frame.dropna()
    for name in ("data.csv", "data.parquet"):
        assert refused(tmp_path / name, target="label").startswith(f"target 'label' of {name} is missing in row 4; leave")
        for memory in MEMORY:
            X, y, *_ = converted(tmp_path / name, target="label", drop_unlabelled=True, memory=memory)
            np.testing.assert_allclose(X, kept[FEATURES], rtol=1e-15)
            assert y.tolist() == kept.label.tolist()
