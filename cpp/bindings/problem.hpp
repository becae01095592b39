// The Python-facing owners of a design and a problem: they keep the arrays alive that the core borrows.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero::bindings {

struct BoundDesign {
    std::unique_ptr<Design> design;
    std::vector<nb::object> keep_alive;
};

struct BoundProblem {
    nb::object design;
    const Design* core;
    Vector<double> y, w, square;
    std::optional<Vector<double>> mean, scale, lower, upper;
    std::optional<Vector<uint8_t>> unpenalized;
    Loss loss;
    double lambda_1, lambda_2, tolerance;
    bool intercept;

    Penalty penalty() const;
    Columns columns(Team& team, Monitor& monitor) const;
    Problem problem(const Columns& columns) const;
};

Loss parse_loss(const std::string& name, double smoothing);
// Raises KeyboardInterrupt (or whatever a signal handler raises) inside the core.
void check_signals();
// That, and then a function of Python's (None for no more), which raises to stop the work.
Monitor::Check checker(const nb::object& check);

void register_design(nb::module_& m);
void register_problem(nb::module_& m);
void register_path(nb::module_& m);
void register_search(nb::module_& m);

}  // namespace ellzero::bindings
