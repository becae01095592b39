"""PLINK's genotypes as column stores."""

import os
import sys

import numpy as np
import pandas as pd
import pytest
from support.conversions import converted, refused

import ellzero as ez


@pytest.fixture
def genotypes(tmp_path):
    """PLINK files of 24 samples and 15 variants, and the genotypes."""
    bed_reader = pytest.importorskip("bed_reader")
    G = np.random.default_rng(0).integers(0, 3, (24, 15)).astype(np.int8)
    properties = {
        "fid": [f"family {i // 2}".replace(" ", "") for i in range(24)],
        "iid": [f"person{i}" for i in range(24)],
        "pheno": ["1", "2", "2"] * 8,
        "sid": [".", ".", "rs7", "rs7", *(f"rs{j}" for j in range(10, 21))],
        "chromosome": ["1"] * 15,
        "bp_position": [100, 200, 300, 300, *range(400, 411)],
        "allele_1": ["A"] * 15,
        "allele_2": ["C"] * 15,
    }

    def write(G=G, **changes):
        bed_reader.to_bed(tmp_path / "g.bed", G, properties={**properties, **changes})
        return tmp_path / "g.bed"

    write.G = G
    return write


@pytest.mark.parametrize("memory", [1, 1500, "64M"])
def test_plink(genotypes, memory):
    X, y, names, about = converted(genotypes(), memory=memory)
    np.testing.assert_array_equal(X, genotypes.G)
    assert y.tolist() == [1, 2, 2] * 8
    assert names == ["1:100:A:C", "1:200:A:C", "1:300:A:C#3", "1:300:A:C#4", *(f"rs{j}" for j in range(10, 21))]
    assert (about["dtype"], about["target"], about["storage"]) == ("int8", "phenotype", "dense")
    X, y, *_ = converted(genotypes(), memory=memory, dtype="float32", regression=True)
    np.testing.assert_array_equal(X, genotypes.G.astype(np.float32))
    assert y.dtype == np.float64


@pytest.mark.parametrize("memory", [1, "64M"])
def test_plink_with_missing_genotypes(genotypes, memory):
    missing = genotypes.G.copy()
    missing[[3, 5], 11] = -127
    file = genotypes(missing)
    message = refused(file, memory=memory)
    assert message.startswith("column 'rs17' of g.bed has missing values, the first in row 4; fill them with impute")
    known = np.delete(genotypes.G[:, 11], [3, 5])
    for impute, value in (("mode", np.bincount(known).argmax()), ("mean", known.mean()), ("median", np.median(known))):
        X, *_ = converted(file, impute=impute, dtype="float64", memory=memory)
        np.testing.assert_array_equal(X[[3, 5], 11], value)
        np.testing.assert_array_equal(np.delete(X, 11, axis=1), np.delete(genotypes.G, 11, axis=1))
    X, *_ = converted(file, impute="mode", memory=memory)
    assert X.dtype == np.int8
    assert (X[[3, 5], 11] == np.bincount(known).argmax()).all()
    assert "which int8 cannot hold; fill with the mode" in refused(file, impute="mean", memory=memory)
    assert "has a missing value (NaN)" in refused(file, dtype="float32", memory=memory) or memory != 1


def test_plink_phenotypes(genotypes):
    file = genotypes(pheno=["1", "2", "-9", "0"] * 6)
    assert refused(file).startswith("target 'phenotype' of g.bed is missing in row 3; leave such rows out")
    X, y, *_ = converted(file, drop_unlabelled=True, memory=1)
    np.testing.assert_array_equal(X, genotypes.G[np.arange(24) % 4 < 2])
    assert y.tolist() == [1, 2] * 6
    X, y, *_ = converted(genotypes(pheno=["0", "1.5", "-9", "2"] * 6), drop_unlabelled=True, regression=True)
    assert y.tolist() == [0.0, 1.5, 2.0] * 6
    assert converted(genotypes(pheno=["-9"] * 24))[1] is None


def test_plink_with_a_table_of_samples(genotypes):
    file = genotypes()
    samples = pd.DataFrame({"#FID": [f"family{i // 2}" for i in range(24)], "IID": [f"person{i}" for i in range(24)]})
    samples["height"] = np.arange(24) + 0.25
    shuffled = samples.sample(frac=1.0, random_state=0)
    shuffled.to_csv(file.parent / "samples.csv", index=False)
    shuffled.to_csv(file.parent / "samples.pheno", index=False, sep=" ")
    for name in ("samples.csv", "samples.pheno"):
        options = {"target": "height", "target_file": file.parent / name}
        _, y, _, about = converted(file, regression=True, **options)
        assert y.tolist() == samples.height.tolist()
        assert about["target"] == "height"
    shuffled.iloc[:20].to_csv(file.parent / "samples.csv", index=False)
    options = {"target": "height", "target_file": file.parent / "samples.csv"}
    assert refused(file, **options).startswith("target 'height' of g.bed is missing in row ")
    X, y, *_ = converted(file, drop_unlabelled=True, **options)
    rows = sorted(shuffled.index[:20])
    np.testing.assert_array_equal(X, genotypes.G[rows])
    assert y.tolist() == samples.height[rows].tolist()
    assert refused(file, target_file=file.parent / "samples.csv").startswith("target must name the column of")
    assert "no column 'weight'" in refused(file, **{**options, "target": "weight"})
    pd.concat([shuffled, shuffled.iloc[:1]]).to_csv(file.parent / "samples.csv", index=False)
    assert "has more than one row for sample" in refused(file, **options)
    assert refused(file, target="height").startswith("target names a column of target_file")


def test_plink_that_cannot_be_used(genotypes, monkeypatch):
    file = genotypes()
    file.write_bytes(file.read_bytes()[:-4])
    assert refused(file).startswith("g.bed cannot be read as PLINK genotypes: ")
    file.write_bytes(b"nonsense")
    assert refused(file).startswith("g.bed cannot be read as PLINK genotypes: ")
    os.remove(file.with_suffix(".fam"))
    with pytest.raises((FileNotFoundError, ez.InvalidInputError)):
        ez.convert(file, file.parent / "x")
    monkeypatch.setitem(sys.modules, "bed_reader", None)
    assert refused(file) == "bed_reader is needed for this and is not installed: pip install 'ellzero[plink]'"
