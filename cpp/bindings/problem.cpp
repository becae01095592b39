#include "problem.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "register.hpp"

namespace ellzero::bindings {
namespace {

const double* data(const BoundProblem::Numbers& numbers) { return numbers ? numbers->data() : nullptr; }

nb::tuple evaluate_loss(LossKind kind, double smoothing, const Vector<double>& eta, const Vector<double>& y,
                        const Vector<double>& w, int64_t outputs, double delta) {
    const auto n = static_cast<int64_t>(eta.shape(0));
    std::vector<double> r(n), d(n);
    const double value =
        make_loss(kind, smoothing, outputs, delta).evaluate(n, eta.data(), y.data(), w.data(), r.data(), d.data());
    return nb::make_tuple(value, to_numpy(std::move(r)), to_numpy(std::move(d)));
}

}  // namespace

Loss make_loss(LossKind kind, double smoothing, int64_t outputs, double delta) {
    const Loss out{kind, 0.0, outputs, delta};
    return out.smoothed(smoothing);
}

void check_signals() {
    const WithGil acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Monitor::Check checker(const nb::object& check) {
    if (check.is_none()) return check_signals;
    return [callback = nb::handle(check)] {
        check_signals();
        const WithGil acquire;
        callback();
    };
}

void BoundProblem::set_design(nb::object object) {
    core_ = nb::cast<const BoundDesign&>(object).design.get();
    design = std::move(object);
}

Columns BoundProblem::columns(Team& team, Monitor& monitor) const {
    if (!core_ || !y || !w || !square || !lower || !upper || !prices)
        throw std::invalid_argument("a problem needs design, y, w, square, lower, upper and prices");
    return {*core_, data(mean), data(scale), square->data(), team, monitor};
}

Penalty BoundProblem::penalty() const {
    const auto some = [](const Numbers& of, const auto& test) {
        return std::any_of(of->data(), of->data() + of->size(), test);
    };
    const auto finite = [](double bound) { return std::isfinite(bound); };
    const bool unequal = some(prices, [](double c) { return c != 0.0 && c != 1.0; });
    const bool boxed = some(lower, finite) || some(upper, finite);
    return {lambda_1, lambda_2, data(lower), data(upper), data(prices), boxed, unequal};
}

Rules BoundProblem::known_rules() const {
    if (rules.empty()) return {};
    const Penalty penalty = this->penalty();
    std::vector<Known> known(core().columns(), Known::out);  // until a column of the group may be something else than zero
    for (int64_t c = 0; c < core().columns(); ++c) {
        const auto j = static_cast<int32_t>(c);
        Known& its = known[groups.head(j)];
        if (!penalty.counted(j)) its = Known::in;
        else if (its == Known::out && (penalty.low(j) < 0.0 || penalty.high(j) > 0.0)) its = Known::open;
    }
    return {rules, std::move(known)};
}

Problem BoundProblem::problem(const Columns& columns) const {
    return {columns,   make_loss(loss, smoothing, columns.blocks(), delta),
            data(y),   data(w),
            penalty(), intercept,
            tolerance, heavy,
            groups,    known_rules()};
}

Model BoundProblem::complete(Model model) const {
    const Penalty penalty = this->penalty();
    std::vector<uint8_t> used(core().columns(), 0);  // heads of groups that have a column in
    for (const int32_t j : model.support) used[groups.head(j)] = 1;
    for (int64_t c = 0; c < core().columns(); ++c) {
        const auto j = static_cast<int32_t>(c);
        if (penalty.counted(j) && !used[groups.head(j)]) continue;
        const auto place = std::lower_bound(model.support.begin(), model.support.end(), j);
        if (place != model.support.end() && *place == j) continue;
        model.beta.insert(model.beta.begin() + (place - model.support.begin()), penalty.clip(0.0, j));
        model.support.insert(place, j);
    }
    model.size = 0;
    model.spent = 0.0;
    for (const int32_t j : model.support) {
        if (groups.head(j) != j) continue;
        model.size += penalty.counted(j);
        model.spent += penalty.price(j);
    }
    return model;
}

void register_problem(nb::module_& m) {
    nb::enum_<LossKind>(m, "LossKind")
        .value("logistic", LossKind::logistic)
        .value("squared_hinge", LossKind::squared_hinge)
        .value("hinge", LossKind::hinge)
        .value("squared_error", LossKind::squared_error)
        .value("huber", LossKind::huber)
        .value("multinomial", LossKind::softmax);
    nb::class_<Groups>(m, "Groups", "Columns that come in together, by the first column of each one's group, its head.")
        .def("__init__", [](Groups* self, const Vector<int32_t>& heads, const Vector<double>& coupling) {
        new (self) Groups(to_vector(heads), to_vector(coupling));
    }, nb::arg("heads"), nb::arg("coupling"));
    nb::class_<Rule>(m, "Rule", "If `feature` is in (always, if it is -1), at least `low` and at most `high` members are in.")
        .def("__init__", [](Rule* self, int32_t feature, int64_t low, int64_t high, const Vector<int32_t>& members) {
        new (self) Rule{feature, low, high, to_vector(members)};
    }, nb::arg("feature"), nb::arg("low"), nb::arg("high"), nb::arg("members"));
    nb::class_<BoundProblem>(m, "Problem",
                             "X, y, the loss and the penalty but for lambda_0, in the solver's (standardised) scale.")
        .def(nb::init<>())
        .def_prop_rw("design", [](const BoundProblem& self) { return self.design; }, &BoundProblem::set_design)
        .def_rw("y", &BoundProblem::y)
        .def_rw("w", &BoundProblem::w, "Sample weights that sum to one for each output.")
        .def_rw("square", &BoundProblem::square, "sum_i w_i z_ij^2 of each column as the solver sees it.")
        .def_rw("mean", &BoundProblem::mean, nb::arg().none(), "Of each column; None: columns are not centred.")
        .def_rw("scale", &BoundProblem::scale, nb::arg().none(), "Factor of each column; None: columns are not scaled.")
        .def_rw("lower", &BoundProblem::lower, "Of the coefficient of each column.")
        .def_rw("upper", &BoundProblem::upper)
        .def_rw("prices", &BoundProblem::prices, "A feature pays lambda_0 times its price, and is always in if that is zero.")
        .def_rw("groups", &BoundProblem::groups, "At first, every column is a group of its own.")
        .def_rw("rules", &BoundProblem::rules, "Which features may, or must, be in together; by the heads of groups.")
        .def_rw("loss", &BoundProblem::loss)
        .def_rw("smoothing", &BoundProblem::smoothing, "The width tau of the smoothed hinge.")
        .def_rw("delta", &BoundProblem::delta, "Huber's loss is linear beyond it, in the unit of y.")
        .def_rw("lambda_1", &BoundProblem::lambda_1)
        .def_rw("lambda_2", &BoundProblem::lambda_2)
        .def_rw("tolerance", &BoundProblem::tolerance, "Relative, of the objective.")
        .def_rw("intercept", &BoundProblem::intercept)
        .def_rw("heavy", &BoundProblem::heavy, "The label of a class beside which the other weighs nothing, 0 if none does.");
    m.def("evaluate_loss", &evaluate_loss, nb::arg("loss"), nb::arg("smoothing"), nb::arg("eta"), nb::arg("y"), nb::arg("w"),
          nb::arg("outputs") = 1, nb::arg("delta") = 1.0,
          "sum_i w_i f(eta_i, y_i) and, per row, its first and second derivative: the core's own loss, for tests.");
    m.attr("curvature_safety") = curvature_safety;
}

}  // namespace ellzero::bindings
