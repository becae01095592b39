#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "register.hpp"
#include "search.hpp"

namespace ellzero::bindings {
namespace {

// An incumbent that nothing changes: relaxations by themselves look for no solution.
struct KnownObjective : Incumbent {
    double value;
    KnownObjective(double v, double null) : Incumbent(null), value(v) {}
    double objective() const override { return value; }
    void offer(const Model& /*model*/) override {}
    int64_t proof_bytes() const override { return 0; }
};

// The solution of a relaxation; all but the bound is empty if the region is.
struct Relaxed {
    double bound = Penalty::infinity;
    std::vector<double> theta;
    double mu = 0.0;
    std::vector<double> intercept;
    std::vector<int32_t> columns;
    std::vector<double> beta, shares;
};

// Convex relaxations of parts of the problem, one after the other: each starts where the last one ended.
struct Relaxations : Borrowed {
    ExactOptions options;
    KnownObjective incumbent;
    NodeSolver solver;
    State last;
    ColumnSet never;  // columns that are out in all of them

    Relaxations(nb::object problem_object, const BoundSearchOptions& given, double objective,
                const std::vector<int32_t>& excluded)
        : Borrowed(std::move(problem_object), given.threads, [] { check_signals(); }),
          options(to_the_end(given.core(problem), problem)),
          incumbent(objective, options.null),
          solver(problem, options, incumbent, nullptr) {
        last.out = ColumnSet(problem.columns());
        put_out(last, excluded);
        never = last.out;
    }

    static ExactOptions to_the_end(ExactOptions options, const Problem& problem) {
        options.precise = needs_precision(problem, options.gap);
        options.gap = 0.0;
        return options;
    }

    static void put_out(State& state, const std::vector<int32_t>& columns) {
        for (const int32_t j : columns) state.out.insert(j);
    }

    Model refit(const std::vector<int32_t>& features) {
        const WithoutGil release;
        std::vector<int32_t> columns;
        for (const int32_t feature : features)
            if (problem.is_head(feature))  // others come with theirs
                for (const int32_t j : problem.members(feature)) columns.push_back(j);
        return solver.refit(columns, std::vector<double>(columns.size(), 0.0), last.intercept);
    }

    Relaxed solve(const std::vector<int32_t>& in, const std::vector<int32_t>& out, double enough) {
        const WithoutGil release;
        State state = last;
        state.clauses.clear();
        for (const int32_t j : in) state.clauses.add({&j, 1});
        state.charges.clear();
        state.out = never;
        put_out(state, out);
        state.boxes.clear();
        state.shares.clear();
        NodeSolver::Relaxed found = solver.relax(state, enough);
        if (!found.state) return {};
        last = *found.state;
        return {found.bound,
                std::move(found.dual.theta),
                last.mu,
                last.intercept,
                last.columns,
                last.beta,
                {last.shares.begin(), last.shares.end()}};
    }
};

}  // namespace

void register_relaxations(nb::module_& m) {
    nb::class_<Relaxed> relaxed(m, "Relaxed", "A relaxation's bound, dual point theta and solution with its shares.");
    relaxed.def_ro("bound", &Relaxed::bound, "Infinite if nothing better than the known objective is there.")
        .def_ro("mu", &Relaxed::mu);
    def_array(relaxed, "theta", &Relaxed::theta);
    def_array(relaxed, "intercept", &Relaxed::intercept);
    def_array(relaxed, "columns", &Relaxed::columns);
    def_array(relaxed, "beta", &Relaxed::beta);
    def_array(relaxed, "shares", &Relaxed::shares);
    nb::class_<Relaxations>(m, "Relaxations",
                            "Convex relaxations of parts of one problem: some features in, some out, the others undecided.")
        .def(nb::init<nb::object, const BoundSearchOptions&, double, const std::vector<int32_t>&>(), nb::arg("problem"),
             nb::arg("options"), nb::kw_only(), nb::arg("objective"), nb::arg("excluded"))
        .def("solve", &Relaxations::solve, nb::kw_only(), nb::arg("inside"), nb::arg("outside"), nb::arg("enough"),
             "Solve until the bound is `enough` or known to be less.")
        .def("refit", &Relaxations::refit, nb::arg("columns"), "The best model on these features.");
}

}  // namespace ellzero::bindings
