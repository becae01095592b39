// A regularisation path: forward sweep, backward elimination, and at every lambda_0 the better of all that was seen.
#pragma once

#include <vector>

#include "ellzero/descent.hpp"

namespace ellzero {

struct PathOptions {
    std::vector<double> lambda_0;     // decreasing; empty: chosen dynamically
    int n_lambda = 100;               // dynamic: at most this many points
    double lambda_min_ratio = 1e-3;   // dynamic: and down to this share of the first
    int max_support = 1 << 30;        // the path ends before a larger model
    bool sweep = true;                // false: only polish the seeds (grids that are swept back)
    std::vector<Model> seeds;         // models of neighbouring problems
};

struct PathResult {
    std::vector<double> lambda_0;
    std::vector<Model> models;   // one per lambda_0
    std::vector<Model> by_size;  // the best model seen of each size
    double reads = 0.0;          // of X
};

PathResult fit_path(const Problem& problem, const PathOptions& options);

}  // namespace ellzero
