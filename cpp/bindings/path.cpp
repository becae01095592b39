#include "ellzero/path/path.hpp"

#include <nanobind/stl/vector.h>

#include "problem.hpp"
#include "register.hpp"

namespace ellzero::bindings {
namespace {

// A result with the Python exception that ended it early, or None.
struct BoundPathResult : PathResult {
    nb::object reason = nb::none();
};

Monitor::Progress reporter(const nb::object& progress) {
    if (progress.is_none()) return {};
    return [callback = nb::handle(progress)](double fraction, double lambda_0, int support) {
        const WithGil acquire;
        callback(fraction, lambda_0, support);
    };
}

BoundPathResult fit(const BoundProblem& bound, PathOptions options, const BoundProblem* sampled, int threads,
                    const nb::object& progress, const nb::object& check) {
    Monitor monitor(checker(check), reporter(progress));
    for (Model& seed : options.seeds) seed = bound.complete(std::move(seed));
    BoundPathResult out;
    {
        const WithoutGil release;
        Team team(threads);
        const Columns columns = bound.columns(team, monitor);
        const Columns columns_of_sample = (sampled ? *sampled : bound).columns(team, monitor);
        const Problem sample = (sampled ? *sampled : bound).problem(columns_of_sample);
        if (sampled) options.sample = &sample;
        static_cast<PathResult&>(out) = fit_path(bound.problem(columns), options);
    }
    try {
        if (out.stopped) std::rethrow_exception(out.stopped);
    } catch (nb::python_error& error) {
        if (check.is_none()) throw;
        out.reason = nb::borrow(error.value());
    }
    return out;
}

void register_options(nb::module_& m) {
    nb::enum_<Algorithm>(m, "Algorithm")
        .value("cd", Algorithm::cd)
        .value("local_search", Algorithm::local_search)
        .value("iht", Algorithm::iht);
    nb::enum_<Effort>(m, "Effort").value("quick", Effort::quick).value("thorough", Effort::thorough);
    nb::enum_<SwapRule>(m, "SwapRule")
        .value("ranked", SwapRule::ranked)
        .value("q_best", SwapRule::q_best)
        .value("exhaustive", SwapRule::exhaustive);
    nb::enum_<Improvement>(m, "Improvement").value("best", Improvement::best).value("first", Improvement::first);
    nb::class_<PathOptions> options(m, "PathOptions", "The options of a path, or of models of given sizes.");
    options.def(nb::init<>())
        .def_rw("algorithm", &PathOptions::algorithm)
        .def_rw("effort", &PathOptions::effort)
        .def_rw("swaps", &PathOptions::swaps)
        .def_rw("q", &PathOptions::q)
        .def_rw("improvement", &PathOptions::improvement)
        .def_rw("sizes", &PathOptions::sizes)
        .def_rw("paid", &PathOptions::paid, "lambda_0 beside budgets.")
        .def_rw("n_lambda", &PathOptions::n_lambda)
        .def_rw("lambda_min_ratio", &PathOptions::lambda_min_ratio)
        .def_rw("max_support", &PathOptions::max_support)
        .def_rw("sweep", &PathOptions::sweep)
        .def_rw("seeds", &PathOptions::seeds);
    def_array(options, "lambda_0", &PathOptions::lambda_0);
    def_array(options, "budgets", &PathOptions::budgets);
}

}  // namespace

void register_path(nb::module_& m) {
    register_options(m);
    nb::class_<BoundPathResult> result(m, "PathResult", "Models along lambda_0, and the best one seen of each size.");
    result.def_rw("models", &PathResult::models, "One for each lambda_0, or for each budget.")
        .def_rw("by_size", &PathResult::by_size, "In the order of their size.")
        .def_rw("reads", &PathResult::reads, "Reads of X, in units of all of X.")
        .def_ro("stopped", &BoundPathResult::reason, nb::for_getter(nb::sig("def stopped(self) -> BaseException | None")),
                "The exception that ended the work early, Ctrl-C included, if there was a `check`; `models` is empty then.");
    def_array(result, "lambda_0", &PathResult::lambda_0);
    m.def("fit_path", &fit, nb::arg("problem"), nb::arg("options"), nb::arg("sample").none(), nb::kw_only(), nb::arg("threads"),
          nb::arg("progress").none(), nb::arg("check").none());
}

}  // namespace ellzero::bindings
