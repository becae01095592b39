#include "problem.hpp"

NB_MODULE(_core, m) {
#ifdef NDEBUG
    // What lives at exit is not lost: joblib's pools and tracebacks keep tasks, and with them designs, to the end.
    nanobind::set_leak_warnings(false);
#endif
    m.doc() = "The compiled core of ellzero.";
    ellzero::bindings::register_design(m);
    ellzero::bindings::register_problem(m);
    ellzero::bindings::register_path(m);
    ellzero::bindings::register_search(m);
}
