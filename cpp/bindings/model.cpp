#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.hpp"
#include "ellzero/problem/problem.hpp"
#include "register.hpp"

namespace ellzero::bindings {
namespace {

// The fields of a model that another process gets; the others are known only to the fit that made it.
using State = std::tuple<std::vector<int32_t>, std::vector<double>, std::vector<double>, double, int, double, bool>;

State state_of(const Model& model) {
    return {model.support, model.beta, model.intercept, model.cost, model.size, model.spent, model.converged};
}

void set_state(Model& model, const State& state) {
    new (&model) Model();
    std::tie(model.support, model.beta, model.intercept, model.cost, model.size, model.spent, model.converged) = state;
}

}  // namespace

void register_model(nb::module_& m) {
    nb::class_<Model> model(m, "Model", "Coefficients on a support, in the solver's (standardised) scale, and their cost.");
    model.def(nb::init<>())
        .def(nb::init<const Model&>(), nb::arg("other"), "A copy.")
        .def_rw("cost", &Model::cost, "G: the loss with the l1 and l2 terms, without lambda_0.")
        .def_rw("size", &Model::size, "Features that pay for coming in.")
        .def_rw("spent", &Model::spent, "The sum of their prices.")
        .def_rw("converged", &Model::converged)
        .def("__getstate__", &state_of)
        .def("__setstate__", &set_state);
    def_array(model, "support", &Model::support);
    def_array(model, "beta", &Model::beta);
    def_array(model, "intercept", &Model::intercept);
}

}  // namespace ellzero::bindings
