#include "problem.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

namespace ellzero::bindings {

Loss parse_loss(const std::string& name, double smoothing) {
    if (name == "logistic") return {LossKind::logistic};
    if (name == "squared_hinge") return {LossKind::squared_hinge};
    if (name == "hinge") return {LossKind::hinge, smoothing};
    if (name == "squared_error") return {LossKind::squared_error};
    throw std::invalid_argument("unknown loss: " + name);
}

void check_signals() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Monitor::Check checker(const nb::object& check) {
    if (check.is_none()) return check_signals;
    return [callback = nb::handle(check)] {
        check_signals();
        nb::gil_scoped_acquire acquire;
        callback();
    };
}

Columns BoundProblem::columns(Team& team, Monitor& monitor) const {
    return Columns(*core, mean ? mean->data() : nullptr, scale ? scale->data() : nullptr, square.data(), team, monitor);
}

Penalty BoundProblem::penalty() const {
    return {lambda_1, lambda_2, lower ? lower->data() : nullptr, upper ? upper->data() : nullptr,
            unpenalized ? unpenalized->data() : nullptr};
}

Problem BoundProblem::problem(const Columns& columns) const {
    return {columns, loss, y.data(), w.data(), penalty(), intercept, tolerance};
}

void register_problem(nb::module_& m) {
    using Optional = std::optional<Vector<double>>;
    nb::class_<BoundProblem>(m, "Problem",
                             "X, y, the loss and the penalty but for lambda_0, in the solver's (standardised) scale.")
        .def("__init__",
             [](BoundProblem* self, nb::object design, Vector<double> y, Vector<double> w, Vector<double> square,
                const std::string& loss, double smoothing, Optional mean, Optional scale, double lambda_1, double lambda_2,
                Optional lower, Optional upper, std::optional<Vector<uint8_t>> unpenalized, bool intercept, double tolerance) {
        const Design* core = nb::cast<const BoundDesign&>(design).design.get();
        new (self) BoundProblem{
            std::move(design),           core,     y,        w,         square,   mean, scale, lower, upper, unpenalized,
            parse_loss(loss, smoothing), lambda_1, lambda_2, tolerance, intercept};
    },
             nb::kw_only(), nb::arg("design"), nb::arg("y"), nb::arg("w"), nb::arg("square"), nb::arg("loss"),
             nb::arg("smoothing"), nb::arg("mean").none(), nb::arg("scale").none(), nb::arg("lambda_1"), nb::arg("lambda_2"),
             nb::arg("lower").none(), nb::arg("upper").none(), nb::arg("unpenalized").none(), nb::arg("intercept"),
             nb::arg("tolerance"));

    m.def("evaluate_loss",
          [](const std::string& name, double smoothing, Vector<double> eta, Vector<double> y, Vector<double> w) {
        const auto n = static_cast<int64_t>(eta.shape(0));
        std::vector<double> r(n), d(n);
        const double value = parse_loss(name, smoothing).evaluate(n, eta.data(), y.data(), w.data(), r.data(), d.data());
        return nb::make_tuple(value, to_numpy(std::move(r)), to_numpy(std::move(d)));
    }, nb::arg("loss"), nb::arg("smoothing"), nb::arg("eta"), nb::arg("y"), nb::arg("w"),
          "sum_i w_i f(eta_i, y_i) and, per row, its first and second derivative: the core's own loss, for tests.");
    m.attr("curvature_safety") = curvature_safety;
}

}  // namespace ellzero::bindings
