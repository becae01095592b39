"""A failing case as a script that needs NumPy, SciPy and the package only."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from fuzz.records import Case, Finding
from fuzz.referee.objectives import loss_values

__all__ = ["script_of"]

STORED = {
    "rows": "np.ascontiguousarray(X)",
    "columns": "np.asfortranarray(X)",
    "single": "np.asfortranarray(X.astype(np.float32))",
    "csc": "sparse.csc_matrix(X)",
    "csr": "sparse.csr_matrix(X)",
    "csc single": "sparse.csc_matrix(X.astype(np.float32))",
    "strided": "np.repeat(X, 2, axis=1)[:, ::2]",
}
REFEREE = '''
LONG = np.longdouble


{loss_values}

def long_objective(coef, intercept):
    """The objective in long double, from its definition."""
    at, data = np.asarray(coef, LONG).reshape(-1, X.shape[1]), X.astype(LONG)  # a row for each output
    w = np.ones(len(y)) if {weight} is None else {weight} / {weight}.max()
    w = (w / w.sum()).astype(LONG)
    columns = np.atleast_2d(y.T)
    labels = np.unique(columns[:, w > 0])
    target = np.where(columns == labels[-1], LONG(1), LONG(-1)) if {loss!r} != "squared_error" else columns.astype(LONG)
    target = (columns == labels[:, None]).astype(LONG) if {loss!r} == "multinomial" else target
    heads, price = np.array({heads}), np.array({price}, LONG)
    mean = w @ data / w.sum() if {fit_intercept} else 0
    square = w @ np.square(data - mean)
    square = (heads[:, None] == heads) @ np.where(square > LONG(1e-26) * (w @ np.square(data)), square, LONG(0))
    beta = at * (np.where(square > 0, np.sqrt(square), LONG(1)) if {standardize} else 1)
    penalty = LONG({lambda_0!r}) * price[np.unique(heads[(at != 0).any(0)])].sum()
    penalty += LONG({lambda_1!r}) * np.abs(beta).sum() + LONG({lambda_2!r}) * np.square(beta).sum()
    eta = at @ data.T + np.reshape(np.asarray(intercept, LONG), (-1, 1))
    return loss_values({loss!r}, eta[:, w > 0], target[:, w > 0]) @ w[w > 0] + penalty
'''


def script_of(case: Case, finding: Finding, calls: str) -> str:
    """Return the source of a script that shows a finding; `calls` are the lines that call the package."""
    problem, options = case.problem, case.options
    stored = STORED.get(options.get("storage", "columns"))
    lines = [
        f'"""{finding.kind}',
        f"severity {finding.severity}; made smaller from: python -m fuzz --only {case.subject} --seed {case.seed} --cases 1",
        "",
        *finding.words.replace("\\", "/").replace('"""', "'''").splitlines()[:12],
        '"""',
        "import faulthandler",
        "",
        "import numpy as np",
        "from numpy import inf, nan  # noqa: F401",
        "from scipy import sparse  # noqa: F401",
        "",
        "import ellzero as ez",
        "",
        "faulthandler.enable()",
        f"X = np.array({literal(problem.X)})",
        f"y = np.array({literal(problem.y)})",
        f"settings = {dictionary(problem.settings())}",
        f"form = {dictionary(problem.form())}",
        f"options = {dictionary({**options, 'coef_shape': problem.coef_shape})}",
        f"Z = {stored}" if stored else f"Z = X  # the finding was made with storage {options['storage']!r}",
    ]
    if finding.model is not None:
        lines.append(referee_of(case))
    lines.append(calls.strip())
    if finding.model is not None:
        coef, intercept = finding.model
        lines.append(f'print("a model with the objective", long_objective({literal(coef)}, {intercept!r}))')
    return "\n".join(lines) + "\n"


def referee_of(case: Case) -> str:
    """Return the lines that define the objective in long double."""
    problem = case.problem
    return REFEREE.format(
        loss_values=inspect.getsource(loss_values).replace(": Long", "").replace("-> Long", "").replace("loss: str", "loss"),
        weight="settings.get('sample_weight')",
        loss=problem.loss,
        fit_intercept=problem.fit_intercept,
        standardize=problem.standardize,
        heads=problem.heads().tolist(),
        price=np.where(problem.counted(), 1.0 if problem.feature_cost is None else problem.feature_cost, 0.0).tolist(),
        lambda_0=problem.lambda_0 or 0.0,
        lambda_1=problem.lambda_1,
        lambda_2=problem.lambda_2,
    )


def literal(values: Any) -> str:
    """Return an array or a list as Python source."""
    values = np.asarray(values)
    if values.ndim == 2:
        return "[\n" + "".join(f"    {row!r},\n" for row in values.tolist()) + "]"
    return repr(values.tolist())


def dictionary(values: dict[str, Any]) -> str:
    """Return a dictionary as Python source."""
    parts = []
    for name, value in values.items():
        text = f"np.array({literal(value)})" if isinstance(value, np.ndarray) else repr(value)
        parts.append(f'"{name}": {text}')
    return "{" + ", ".join(parts) + "}"
