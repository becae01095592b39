"""Fitted models as ONNX graphs, which other programs and languages run without Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.base.errors import InvalidInputError
from ellzero.base.quoting import quoted
from ellzero.base.validation import as_choice, if_known, known
from ellzero.estimators.base import L0Estimator
from ellzero.estimators.model_content import model_content
from ellzero.problem.model import Model
from ellzero.problem.model_file import FitSettings, ModelContent
from ellzero.tables.optional import need

if TYPE_CHECKING:
    import onnx

OPERATORS, FORMAT = 17, 8  # versions of ONNX that runtimes since 2022 know
FLOATS = ("float64", "float32")


def to_onnx(model: L0Estimator | Model, *, dtype: str = "float64") -> onnx.ModelProto:
    """Return a fitted estimator or a model as an ONNX graph, which `onnxruntime` and other programs run.

    Its input ``X`` has shape (n, p), with all columns that the model was fitted on; only the chosen ones are read. It needs the
    package onnx: ``pip install 'ellzero[onnx]'``.

    Parameters
    ----------
    model : a fitted estimator, also with cross-validation, or a Model
    dtype : {"float64", "float32"}
        The type of X and of all numbers. With "float64" the results are those of `predict` up to the last digits.

    Returns
    -------
    onnx.ModelProto
        Of a regression the output is ``prediction``, of shape (n,) or (n, targets). Of a classifier they are ``label``, (n,),
        as `predict` returns it, ``decision``, (n, 1) or (n, classes), and, where the estimator has probabilities,
        ``probabilities``, (n, classes), in the order of `classes_`. Its metadata name the features and the classes.

    Examples
    --------
    >>> import ellzero as ez
    >>> X, y, _ = ez.datasets.make_classification(100, 20, 2, s=3.0, random_state=0)
    >>> graph = ez.to_onnx(ez.L0Classifier(k=2).fit(X, y)).graph
    >>> [output.name for output in graph.output]
    ['label', 'decision', 'probabilities']

    """
    as_choice("dtype", dtype, FLOATS)
    if isinstance(model, Model):
        content = model.file_content(FitSettings())
    elif isinstance(model, L0Estimator):
        content = model_content(model)
    elif hasattr(model, "_model_content"):  # a score card, of a room above this one
        content = model._model_content()
    else:
        raise InvalidInputError(f"model must be a fitted estimator or a Model of ellzero, got {quoted(model)}.")
    graph = Graph(np.dtype(dtype))
    graph.add_scores(content)
    if content.classes is None:
        graph.add_prediction()
    else:
        graph.add_label(content.classes)
        if content.loss.couples_outputs:
            graph.add_softmax()
        elif content.loss.has_probabilities:
            graph.add_probabilities("decision")
        elif content.calibration is not None:
            slope, intercept = content.calibration.T
            graph.add("Mul", ["decision", graph.constant("slope", slope)], "scaled")
            graph.add("Add", ["scaled", graph.constant("shift", intercept)], "log_odds")
            graph.add_probabilities("log_odds")
    return graph.finish(content)


def label_type(classes: NDArray[Any]) -> np.dtype[Any]:
    """Return how ONNX stores labels: as texts (objects, for NumPy), truth values or numbers."""
    letter = np.array(classes.tolist()).dtype.kind  # texts may come as objects
    kinds = {"U": object, "b": bool, "i": np.int64, "u": np.int64, "f": np.float64}
    if letter not in kinds:
        raise InvalidInputError(f"ONNX has texts, numbers and truth values as labels, got {quoted(classes[0])}.")
    return np.dtype(kinds[letter])


class Graph:
    """An ONNX graph in the making: nodes, constants and outputs."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.onnx = need("onnx", "onnx")
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []
        self.width = 0  # columns of the scores: one, or one for each of several classes or targets

    def add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, name: str, values: Any, dtype: Any = None) -> str:
        """Add an array, of the graph's type if no other is named; return its name."""
        array = np.asarray(values, dtype=dtype or self.dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def show(self, name: str, shape: list[int | str], dtype: np.dtype[Any] | None = None) -> None:
        """Make a value an output of the graph."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(dtype or self.dtype)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))

    def add_scores(self, content: ModelContent) -> None:
        """Add ``decision = X coef^T + intercept``, of shape (n, outputs), over the columns with a coefficient."""
        support = np.unique(content.coef.indices)
        coef: NDArray[np.float64] = content.coef[:, support].toarray()
        self.width = len(coef)
        chosen = self.add("Gather", ["X", self.constant("support", support, np.int64)], "chosen", axis=1)
        product = self.add("MatMul", [chosen, self.constant("coef", coef.T)], "product")
        self.add("Add", [product, self.constant("intercept", content.intercept)], "decision")

    def add_prediction(self) -> None:
        """Add the predicted numbers of a regression, with a column for each of several targets."""
        if self.width > 1:
            self.show(self.add("Identity", ["decision"], "prediction"), ["n", self.width])
        else:
            self.show(self.add("Squeeze", ["decision", self.constant("second_axis", [1], np.int64)], "prediction"), ["n"])

    def add_label(self, classes: NDArray[Any]) -> None:
        """Add the labels, and show the scores they follow from."""
        if self.width == 1:
            above = self.add("Greater", ["decision", self.constant("zero", 0.0)], "above")
            column = self.add("Cast", [above], "column", to=self.onnx.TensorProto.INT64)
            index = self.add("Squeeze", [column, self.constant("second_axis", [1], np.int64)], "index")
        else:
            index = self.add("ArgMax", ["decision"], "index", axis=1, keepdims=0)
        self.add("Gather", [self.constant("classes", classes, kind := label_type(classes)), index], "label", axis=0)
        self.show("label", ["n"], kind)
        self.show("decision", ["n", self.width])

    def add_softmax(self) -> None:
        """Add the probabilities of a multinomial model."""
        self.add("Softmax", ["decision"], "probabilities", axis=1)
        self.show("probabilities", ["n", self.width])

    def add_probabilities(self, log_odds: str) -> None:
        """Add the probabilities of all classes: of more than two, those of each class against the rest sum to one."""
        share = self.add("Sigmoid", [log_odds], "share")
        one = self.constant("one", 1.0)
        if self.width == 1:
            rest = self.add("Sub", [one, share], "rest")
            self.add("Concat", [rest, share], "probabilities", axis=1)
        else:
            nothing = self.constant("nothing", 0.0)
            total = self.add("ReduceSum", [share, self.constant("over_classes", [1], np.int64)], "total", keepdims=1)
            some = self.add("Greater", [total, nothing], "some")
            divisor = self.add("Where", [some, total, one], "divisor")
            quotient = self.add("Div", [share, divisor], "quotient")
            self.add("Where", [some, quotient, self.constant("equal", 1.0 / self.width)], "probabilities")
        self.show("probabilities", ["n", max(self.width, 2)])

    def finish(self, content: ModelContent) -> Any:
        """Return the whole graph, checked by onnx."""
        helper = self.onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        given = helper.make_tensor_value_info("X", kind, ["n", content.coef.shape[1]])
        graph = helper.make_graph(self.nodes, "ellzero", [given], self.outputs, self.constants)
        model = helper.make_model(
            graph,
            producer_name="ellzero",
            ir_version=FORMAT,
            opset_imports=[helper.make_opsetid("", OPERATORS)],
        )
        classes = if_known(np.ndarray.tolist, content.classes)
        about = known({"loss": content.loss.name, "features": content.names, "classes": classes})
        helper.set_model_props(model, {name: json.dumps(value) for name, value in about.items()})
        self.onnx.checker.check_model(model)
        return model
