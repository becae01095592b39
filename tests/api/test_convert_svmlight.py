"""svmlight files as sparse column stores."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from support.conversions import converted, refused


@pytest.mark.parametrize("memory", [1, 3000, "64M"])
@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_svmlight(tmp_path, memory, zero_based, ending):
    matrix = sparse.random(80, 40, 0.1, random_state=0, format="lil")
    matrix[:, 11] = 0.0
    matrix[5, [0, 39]] = 1.5
    labels = np.where(np.arange(80) % 3, 1, -1)
    dump_svmlight_file(matrix, labels, str(tmp_path / "plain"), zero_based=zero_based, comment="by hand")
    pack = gzip.compress if ending else bytes
    (tmp_path / f"data.svm{ending}").write_bytes(pack((tmp_path / "plain").read_bytes() + b"1 3:0 4:2.5 # the last"))
    X, y, names, about = converted(tmp_path / f"data.svm{ending}", memory=memory)
    read, read_y = load_svmlight_file(str(tmp_path / f"data.svm{ending}"), zero_based=zero_based)
    assert (read != X).nnz == 0
    assert y.dtype == np.int64
    assert y.tolist() == read_y.tolist()
    assert names == (None if zero_based else [f"x{j}" for j in range(1, 41)])
    assert (about["storage"], about["dtype"]) == ("sparse", "float64")
    assert converted(tmp_path / f"data.svm{ending}", dtype="float32", memory=memory)[0].dtype == np.float32


def test_svmlight_that_cannot_be_used(tmp_path):
    file = tmp_path / "data.svm"
    file.write_text("1 1:2 3:4\n" * 50 + "1 2:x\n")
    for memory in (1, "64M"):
        message = refused(file, memory=memory)
        assert message.startswith("data.svm cannot be read as svmlight (lines of 'label index:value ...') in line 51: ")
    file.write_text("1 1:2 3:nan\n")
    assert refused(file) == "column 'x3' has a missing value (NaN) in row 1."
    file.write_text("")
    assert refused(file) == "data.svm has no rows."
    file.write_text("1 1:2 3:4\n")
    assert refused(file, target="z").startswith("target is not for svmlight files")
    assert refused(file, drop="x1") == "drop is not for svmlight files."
    assert refused(file, dtype="int8") == "dtype must be one of 'float64', 'float32', got 'int8'."
