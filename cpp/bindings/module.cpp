#include "problem.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of ellzero.";
    ellzero::bindings::register_design(m);
    ellzero::bindings::register_problem(m);
    ellzero::bindings::register_path(m);
    ellzero::bindings::register_search(m);
}
