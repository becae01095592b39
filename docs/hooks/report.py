"""A report to look at, made when the site is built (and kept in build/gallery until `make docs` starts anew)."""

from pathlib import Path

from mkdocs.structure.files import File
from sklearn.datasets import load_breast_cancer

from ellzero.report.page import write_report

KEPT = Path(__file__).parents[2] / "build" / "gallery" / "report.html"


def on_files(files, config):
    """Add the page beside the guide's page on reports."""
    if not KEPT.exists():
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        labels = y.map({0: "malignant", 1: "benign"})
        title = "Which cell measurements tell malignant from benign tumours?"
        write_report(
            KEPT,
            X,
            labels,
            target="diagnosis",
            subject="patient",
            title=title,
            source="tumours.csv",
            max_support=10,
            rule="one_se",
        )
    files.append(File.generated(config, "guide/report-example.html", abs_src_path=str(KEPT)))
    return files
