// Single algorithms from a given start, apart from any path.
#include "ellzero/support/hard_thresholding.hpp"

#include <numeric>

#include "problem.hpp"
#include "register.hpp"

namespace ellzero::bindings {
namespace {

struct Thresholded {
    Model model;
    double step_curvature = 0.0;
};

struct Cycles {
    Model model;
    std::vector<int32_t> column;
    std::vector<double> change, objective;
};

// One run of hard thresholding from a given model: at lambda_0 if `size` is negative, else with at most `size` features.
Thresholded threshold(const BoundProblem& bound, Model start, double lambda_0, int size, int threads) {
    Monitor monitor(check_signals, {});
    start = bound.complete(std::move(start));
    const WithoutGil release;
    Team team(threads);
    const Columns columns = bound.columns(team, monitor);
    const Problem problem = bound.problem(columns);
    Descent descent(problem);
    HardThresholding thresholding(problem, descent);
    Iterate it(problem);
    it.load(start);
    Thresholded out;
    out.model = size < 0 ? thresholding.penalised(it, lambda_0) : thresholding.at_most(it, size);
    out.step_curvature = thresholding.step_curvature();
    return out;
}

// Plain Algorithm 1: full cycles over all columns, every moving step recorded. The fast solver is checked against it.
Cycles descend(const BoundProblem& bound, double lambda_0, int count) {
    Monitor monitor(check_signals, {});
    const WithoutGil release;
    Team team(1);
    const Columns columns = bound.columns(team, monitor);
    const Problem problem = bound.problem(columns);
    Descent descent(problem);
    Iterate it(problem);
    it.evaluate(problem.loss);
    std::vector<int32_t> all(problem.columns());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Descent::Step> trace;
    for (int k = 0; k < count; ++k) {
        monitor.poll();
        descent.cycle(it, all, lambda_0, &trace);
    }
    Cycles out{it.model(), {}, {}, {}};
    for (const auto& step : trace) {
        out.column.push_back(step.column);
        out.change.push_back(step.change);
        out.objective.push_back(step.objective);
    }
    return out;
}

}  // namespace

void register_algorithms(nb::module_& m) {
    nb::class_<Thresholded>(m, "Thresholded", "A fixed point of hard thresholding.")
        .def_ro("model", &Thresholded::model)
        .def_ro("step_curvature", &Thresholded::step_curvature, "L_hat of the steps.");
    nb::class_<Cycles> cycles(m, "Cycles", "The result of plain coordinate descent, and its moving steps.");
    cycles.def_ro("model", &Cycles::model);
    def_array(cycles, "column", &Cycles::column);
    def_array(cycles, "change", &Cycles::change);
    def_array(cycles, "objective", &Cycles::objective);
    m.def("hard_thresholding", &threshold, nb::arg("problem"), nb::kw_only(), nb::arg("start"), nb::arg("lambda_0"),
          nb::arg("size"), nb::arg("threads"));
    m.def("coordinate_descent", &descend, nb::arg("problem"), nb::arg("lambda_0"), nb::arg("cycles"));
}

}  // namespace ellzero::bindings
