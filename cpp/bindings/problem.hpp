// The Python-facing owners of a design and a problem: they keep the arrays alive that the core borrows.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero::bindings {

struct BoundDesign {
    std::unique_ptr<Design> design;
    std::vector<nb::object> keep_alive;
};

struct BoundProblem {
    using Numbers = std::optional<Vector<double>>;

    nb::object design = nb::none();
    Numbers y, w, square, lower, upper, prices;
    Numbers mean, scale;  // none: columns are not centred, not scaled
    LossKind loss = LossKind::logistic;
    double smoothing = 0.0;  // of the hinge
    double delta = 1.0;      // of Huber's loss
    double lambda_1 = 0.0, lambda_2 = 0.0, tolerance = 1e-6;
    bool intercept = true;
    double heavy = 0.0;
    Groups groups;
    std::vector<Rule> rules;

    const Design& core() const { return *core_; }
    Penalty penalty() const;
    Columns columns(Team& team, Monitor& monitor) const;
    Problem problem(const Columns& columns) const;
    void set_design(nb::object object);
    // Adds what Python leaves out of a model: unpenalized features, which are always in, columns of groups whose coefficients
    // are zero, and the number and the prices of the features that pay.
    Model complete(Model model) const;

  private:
    Rules known_rules() const;

    const Design* core_ = nullptr;
};

Loss make_loss(LossKind kind, double smoothing, int64_t outputs, double delta);
// Raises KeyboardInterrupt (or whatever a signal handler raises) inside the core.
void check_signals();
// Polls the signals, then calls a function of Python's (None for no more), which raises to stop the work.
Monitor::Check checker(const nb::object& check);

}  // namespace ellzero::bindings
