"""A certificate that the verifier should not have believed, as a separate script."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.certificates.sealed import Draft
from fuzz.records import Finding

__all__ = ["script_of"]


def script_of(draft: Draft, finding: Finding) -> str:
    """Return the source of a script that verifies a certificate and says what is wrong with the answer."""
    words = finding.words.encode("ascii", "backslashreplace").decode().replace("\\", "/").replace('"""', "'''")
    arrays = "\n".join(f'    "{name}": {array_literal(array)},' for name, array in draft.arrays.items())
    header = "\n".join(f'    "{name}": {value!r},' for name, value in draft.header.items() if name != "digest")
    lines = [
        f'"""{finding.kind}',
        f"severity {finding.severity}",
        "",
        *words.splitlines()[:12],
        '"""',
        "import types",
        "",
        "import numpy as np",
        "from numpy import inf, nan  # noqa: F401",
        "",
        "import ellzero as ez",
        "from ellzero.exact.verifier import digest",
        "",
        f"X = {array_literal(draft.X)}",
        f"y = {array_literal(draft.y)}",
        f"header = {{\n{header}\n}}",
        f"arrays = {{\n{arrays}\n}}",
        'header["digest"] = digest(header, arrays)',
        "print(ez.verify(types.SimpleNamespace(header=header, arrays=arrays), X, y))",
    ]
    if finding.model is not None:
        lines.append(f"# a better model: coefficients {finding.model[0]!r}, intercept {finding.model[1]!r}")
    return "\n".join(lines) + "\n"


def array_literal(array: Any) -> str:
    """Return an array as Python source, with its type."""
    array = np.asarray(array)
    return f"np.array({array.tolist()!r}, dtype={array.dtype.str!r}).reshape({array.shape!r})"
