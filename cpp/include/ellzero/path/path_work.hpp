// What all steps of a path work with: where they are, and the best models that they have seen.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "ellzero/path/path.hpp"
#include "ellzero/problem/pool.hpp"
#include "ellzero/support/descent.hpp"

namespace ellzero {

// A feature must be able to enter: the next lambda_0 lies this far below the largest at which one does.
constexpr double just_below = 0.99;
// The best small models are often found by taking features out of larger ones: sweeps go on to sizes beyond those that are
// wanted, by a quarter or at least this many features.
constexpr int least_beyond = 8;
inline int beyond(int size) {
    return size + std::min(std::max(least_beyond, size / 4), std::numeric_limits<int>::max() - size);
}

struct PathWork {
    PathWork(const Problem& problem, const PathOptions& options)
        : problem(problem), options(options), explored(beyond(options.max_support)), descent(problem), it(problem) {}

    void keep(const Model& model) {
        if (model.size <= explored) pool.insert(model);
    }
    void report(double fraction, double lambda_0) { report(fraction, lambda_0, it.size); }
    void report(double fraction, double lambda_0, int size) {
        problem.X.monitor().report(stage.first + (stage.second - stage.first) * fraction, lambda_0, size);
    }

    const Problem& problem;
    const PathOptions& options;
    const int explored;  // models up to this size are kept, though only those up to max_support are returned
    Descent descent;
    Iterate it;
    Pool pool;
    std::pair<double, double> stage;  // the share of the whole work that report() counts in
};

// What the steps are derived from: the work, and its parts by name.
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
