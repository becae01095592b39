// A regularisation path, or models of given sizes: forward sweep, backward elimination, local search, and everywhere the best
// of all that was seen.
#pragma once

#include <exception>
#include <vector>

#include "ellzero/support/descent.hpp"
#include "ellzero/swaps/local_search.hpp"

namespace ellzero {

enum class Algorithm { iht, cd, local_search };

// Where Algorithm 2 looks for swaps: among those that a quadratic model ranks first; then also, exactly, for each feature among
// the q columns with the largest gradients (Algorithm 3); or among all columns (Theorem 2).
enum class SwapRule { ranked, q_best, exhaustive };

// Of several exact swaps that improve a model: the best of all features, or that of the first feature that has one.
enum class Improvement { best, first };

struct PathOptions {
    Algorithm algorithm = Algorithm::cd;
    Effort effort = Effort::quick;  // of local search
    SwapRule swaps = SwapRule::ranked;
    int64_t q = 0;                                // candidates a feature, for q_best
    Improvement improvement = Improvement::best;  // for q_best and exhaustive
    std::vector<double> lambda_0;                 // decreasing; empty: chosen dynamically
    std::vector<int> sizes;                       // not empty: models of these sizes are wanted, not a path
    std::vector<double> budgets;                  // increasing; not empty: models whose prices sum to at most that are wanted
    double paid = 0.0;                            // lambda_0 beside budgets
    int n_lambda = 100;                           // dynamic: at most this many points
    double lambda_min_ratio = 1e-3;               // dynamic: and down to this share of the first
    int max_support = 1 << 30;                    // the path ends before a larger model
    bool sweep = true;                            // false: only polish the seeds (grids that are swept back)
    std::vector<Model> seeds;                     // models of neighbouring problems
    // The problem on a sample of the rows, where such a search has found the seeds; null: the search is on all rows.
    const Problem* sample = nullptr;
};

struct PathResult {
    std::vector<double> lambda_0;
    std::vector<Model> models;   // one per lambda_0, or per budget
    std::vector<Model> by_size;  // the best model seen of each size
    double reads = 0.0;          // of X
    // The reason of an early end, for the caller to throw or to keep; there are models by size only then.
    std::exception_ptr stopped;
};

PathResult fit_path(const Problem& problem, const PathOptions& options);

}  // namespace ellzero
