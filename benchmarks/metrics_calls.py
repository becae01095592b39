"""Which files and functions of the package a call passes through: the program of a separate process, see metrics.py.

It imports nothing of this repository but the package, which may be that of another tree.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

FUNCTION = 0x01  # CO_OPTIMIZED: the code of functions has it, that of modules and classes has not
PARTS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


def data() -> tuple[Any, Any]:
    import ellzero as ez

    X, y, _ = ez.datasets.make_classification(100, 20, 3, s=1.0, correlation="exponential", rho=0.5, random_state=0)
    return X, y


def fit_path() -> Callable[[], object]:
    import ellzero as ez

    X, y = data()
    return lambda: ez.fit_path(X, y)


def solve() -> Callable[[], object]:
    import ellzero as ez

    X, y = data()
    return lambda: ez.solve(X, y, k=5, lambda_2=0.01)


def cross_validate() -> Callable[[], object]:
    import ellzero as ez

    X, y = data()
    return lambda: ez.L0ClassifierCV().fit(X, y)


def verify() -> Callable[[], object]:
    import ellzero as ez

    X, y = data()
    certificate = ez.solve(X, y, k=5, lambda_2=0.01).certificate
    return lambda: ez.verify(certificate, X, y)


def report() -> Callable[[], object]:
    from ellzero.cli import main

    X, y = data()
    names = [*(f"x{j}" for j in range(X.shape[1])), "sick"]
    rows = [[*map(str, row), "yes" if label > 0 else "no"] for row, label in zip(X, y, strict=True)]
    Path("data.csv").write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    return lambda: main(["report", "data.csv", "--target", "sick", "--quiet"])


CALLS = {
    "fit_path": fit_path,
    "solve": solve,
    "L0ClassifierCV().fit": cross_validate,
    "verify": verify,
    "ellzero report": report,
}


def trace(call: Callable[[], object]) -> set[CodeType]:
    """The code that a call enters, in all threads."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def main() -> None:
    import ellzero

    root = str(Path(ellzero.__file__).parent)
    call = CALLS[sys.argv[1]]()
    call()  # modules that are imported when they are needed are there now
    entered = trace(call)
    own = [c for c in entered if c.co_filename.startswith(root) and c.co_flags & FUNCTION and c.co_name not in PARTS]
    print(f"{len({code.co_filename for code in own})} / {len(own)}")


if __name__ == "__main__":
    main()
