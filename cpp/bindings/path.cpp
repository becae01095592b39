#include "ellzero/path/path.hpp"
#include "ellzero/support/hard_thresholding.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "models.hpp"

namespace ellzero::bindings {
namespace {

Monitor::Progress reporter(const nb::object& progress) {
    if (progress.is_none()) return {};
    return [callback = nb::handle(progress)](double fraction, double lambda_0, int support) {
        nb::gil_scoped_acquire acquire;
        callback(fraction, lambda_0, support);
    };
}

Algorithm parse_algorithm(const std::string& name) {
    if (name == "cd") return Algorithm::cd;
    if (name == "local_search") return Algorithm::local_search;
    if (name == "iht") return Algorithm::iht;
    throw std::invalid_argument("unknown algorithm: " + name);
}

Swaps parse_swaps(const std::string& name) {
    if (name == "ranked") return Swaps::ranked;
    if (name == "q_best") return Swaps::q_best;
    if (name == "exhaustive") return Swaps::exhaustive;
    throw std::invalid_argument("unknown swaps: " + name);
}

nb::dict fit(const BoundProblem& self, const std::string& algorithm, const std::string& swaps, int64_t q,
             bool first_improvement, const std::vector<double>& lambda_0, const std::vector<int>& sizes, int n_lambda,
             double lambda_min_ratio, int max_support, std::optional<nb::dict> seeds, bool sweep, int threads,
             const nb::object& progress, const nb::object& check) {
    Monitor monitor(checker(check), reporter(progress));
    PathOptions options{parse_algorithm(algorithm),
                        parse_swaps(swaps),
                        q,
                        first_improvement,
                        lambda_0,
                        sizes,
                        n_lambda,
                        lambda_min_ratio,
                        max_support,
                        sweep,
                        {}};
    if (seeds) options.seeds = unpack(*seeds, self);
    PathResult result;
    {
        nb::gil_scoped_release release;
        Team team(threads);
        const Columns columns = self.columns(team, monitor);
        result = fit_path(self.problem(columns), options);
    }
    nb::dict out;
    out["stopped"] = nb::none();
    try {
        if (result.stopped) std::rethrow_exception(result.stopped);
    } catch (nb::python_error& error) {
        if (check.is_none()) throw;
        out["stopped"] = error.value();
    }
    out["lambda_0"] = to_numpy(std::move(result.lambda_0));
    out["models"] = pack(result.models);
    out["by_size"] = pack(result.by_size);
    out["reads"] = result.reads;
    return out;
}

// Plain Algorithm 1: full cycles over all columns, every moving step recorded. What the fast solver is checked against.
nb::dict cycles(const BoundProblem& self, double lambda_0, int count) {
    Monitor monitor(check_signals, {});
    Team team(1);
    const Columns columns = self.columns(team, monitor);
    const Problem problem = self.problem(columns);
    Descent descent(problem);
    Iterate it(problem);
    it.evaluate(problem.loss);
    std::vector<int32_t> all(problem.columns());
    for (size_t j = 0; j < all.size(); ++j) all[j] = static_cast<int32_t>(j);
    std::vector<Descent::Step> trace;
    for (int k = 0; k < count; ++k) {
        monitor.poll();
        descent.cycle(it, all, lambda_0, &trace);
    }
    std::vector<int32_t> column;
    std::vector<double> change, objective;
    for (const auto& step : trace) {
        column.push_back(step.column);
        change.push_back(step.change);
        objective.push_back(step.objective);
    }
    nb::dict out;
    out["models"] = pack({it.model()});
    out["column"] = to_numpy(std::move(column));
    out["change"] = to_numpy(std::move(change));
    out["objective"] = to_numpy(std::move(objective));
    return out;
}

// One run of hard thresholding from a given model: at lambda_0 if `size` is negative, else with at most `size` features.
nb::dict threshold(const BoundProblem& self, const nb::dict& start, double lambda_0, int size, int threads) {
    Monitor monitor(check_signals, {});
    const Model from = unpack(start, self).at(0);
    Model found;
    double curvature = 0.0;
    {
        nb::gil_scoped_release release;
        Team team(threads);
        const Columns columns = self.columns(team, monitor);
        const Problem problem = self.problem(columns);
        Descent descent(problem);
        HardThresholding thresholding(problem, descent);
        Iterate it(problem);
        it.load(from);
        found = size < 0 ? thresholding.penalised(it, lambda_0) : thresholding.at_most(it, size);
        curvature = thresholding.step_curvature();
    }
    nb::dict out;
    out["models"] = pack({found});
    out["step_curvature"] = curvature;
    return out;
}

}  // namespace

void register_path(nb::module_& m) {
    m.def("fit_path", &fit, nb::arg("problem"), nb::kw_only(), nb::arg("algorithm"), nb::arg("swaps"), nb::arg("q"),
          nb::arg("first_improvement"), nb::arg("lambda_0"), nb::arg("sizes"), nb::arg("n_lambda"), nb::arg("lambda_min_ratio"),
          nb::arg("max_support"), nb::arg("seeds").none(), nb::arg("sweep"), nb::arg("threads"), nb::arg("progress").none(),
          nb::arg("check").none());
    m.def("hard_thresholding", &threshold, nb::arg("problem"), nb::kw_only(), nb::arg("start"), nb::arg("lambda_0"),
          nb::arg("size"), nb::arg("threads"));
    m.def("coordinate_descent", &cycles, nb::arg("problem"), nb::arg("lambda_0"), nb::arg("cycles"));
}

}  // namespace ellzero::bindings
