// The state that all steps of a path share: the iterate, and the best models that they have seen.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "ellzero/path/path.hpp"
#include "ellzero/problem/pool.hpp"
#include "ellzero/support/descent.hpp"

namespace ellzero {

// The next lambda_0 is this factor times the largest at which a feature enters: there it is sure to enter.
constexpr double just_below = 0.99;
// The best small models are often found by taking features out of larger ones: sweeps go on to sizes beyond those that are
// wanted, by a quarter or at least this many features.
constexpr int least_beyond = 8;
constexpr double far_beyond = 1.5;  // the same for prices, which are at most one
inline int beyond(int size) {
    return size + std::min(std::max(least_beyond, size / 4), std::numeric_limits<int>::max() - size);
}

struct PathWork : Desk {
    PathWork(const Problem& problem, const PathOptions& options)
        : Desk(problem),
          problem(problem),
          options(options),
          explored(beyond(options.max_support)),
          affordable(options.budgets.empty() ? Penalty::infinity : far_beyond * options.budgets.back() + 1.0),
          pool(problem.penalty.unequal, problem.rules) {}

    bool worth_keeping(const Model& model) const { return model.size <= explored && model.spent <= affordable; }

    void keep(const Model& model) {
        if (worth_keeping(model)) pool.insert(model);
    }
    void report(double fraction, double lambda_0) { report(fraction, lambda_0, it.size); }
    void report(double fraction, double lambda_0, int size) {
        problem.X.monitor().report(stage.first + (stage.second - stage.first) * fraction, lambda_0, size);
    }

    const Problem& problem;
    const PathOptions& options;
    const int explored;       // models up to this size are kept, though only those up to max_support are returned
    const double affordable;  // and up to this price
    Pool pool;
    std::pair<double, double> stage;  // the share of the whole work that report() counts in
};

// The base of the steps: the work, and its parts by name.
class PathStep {
  protected:
    explicit PathStep(PathWork& work)
        : work_(work), problem_(work.problem), options_(work.options), descent_(work.descent), it_(work.it), pool_(work.pool) {}

    PathWork& work_;
    const Problem& problem_;
    const PathOptions& options_;
    Descent& descent_;
    Iterate& it_;
    Pool& pool_;
};

}  // namespace ellzero
