// All supports of one size, run through: each is closed by the entropy of its cells, by a dual point, or by boxes of points.
#pragma once

#include "ellzero/data/monitor.hpp"
#include "ellzero/data/parallel.hpp"
#include "ellzero/scores/lattice.hpp"

namespace ellzero {

// Rows of one label that count the same: their counts are what entropies are made of. Weights are rounded down.
struct RowLayer {
    bool positive = true;
    double worth = 1.0;
    std::vector<int32_t> rows;
};

struct Exhaustion {
    int64_t supports = 0;   // run through
    int64_t survivors = 0;  // that entropy leaves open
    bool finished = false;
    double least = std::numeric_limits<double>::infinity();  // of the bounds of what entropy leaves open
    std::vector<std::vector<int32_t>> listed;                // supports that only boxes of points close
    std::vector<LatticeResult> boxes;                        // of each of them
    Card best;                                               // the best card met; infinite loss: none better than known
};

struct Completions {
    std::vector<int32_t> inside, maybe;  // columns of all supports, and those they choose from
    int size = 0;
};

// `search` says which cards are of interest, as for one support; better ones that are met lower its level.
Exhaustion exhaust(const ScoreRows& rows, const std::vector<RowLayer>& layers, const ScoreLimits& limits,
                   const Completions& completions, const LatticeSearch& search, Team& team, Monitor& monitor);

}  // namespace ellzero
