#include "register.hpp"

NB_MODULE(_core, m) {
#ifdef NDEBUG
    // Objects that live at exit are not lost: joblib's pools and tracebacks keep tasks, and with them designs, to the end.
    nanobind::set_leak_warnings(false);
#endif
    m.doc() = "The compiled core of ellzero.";
    ellzero::bindings::register_interpreter(m);
    ellzero::bindings::register_design(m);
    ellzero::bindings::register_problem(m);
    ellzero::bindings::register_model(m);
    ellzero::bindings::register_path(m);
    ellzero::bindings::register_algorithms(m);
    ellzero::bindings::register_snapshot(m);
    ellzero::bindings::register_search(m);
    ellzero::bindings::register_relaxations(m);
    ellzero::bindings::register_scores(m);
}
