#include "arrays.hpp"
#include "ellzero/problem/problem.hpp"
#include "register.hpp"

namespace ellzero::bindings {

void register_model(nb::module_& m) {
    nb::class_<Model> model(m, "Model", "Coefficients on a support, in the solver's (standardised) scale, and their cost.");
    model.def(nb::init<>())
        .def(nb::init<const Model&>(), nb::arg("other"), "A copy.")
        .def_rw("intercept", &Model::intercept)
        .def_rw("cost", &Model::cost, "G: the loss with the l1 and l2 terms, without lambda_0.")
        .def_rw("size", &Model::size, "Features that pay lambda_0.")
        .def_rw("converged", &Model::converged);
    def_array(model, "support", &Model::support);
    def_array(model, "beta", &Model::beta);
}

}  // namespace ellzero::bindings
