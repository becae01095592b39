// Choosing the block of features that a node branches on: none of them is in, or at least one is.
//
// Features that resemble each other replace each other at little cost: deciding one of them hardly raises a bound, deciding all
// of them does. So a block is a feature and all that resemble it. Where nothing does, it is this feature alone. Once nothing is
// left to decide beside the clauses, a clause is split.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ellzero/exact/correlations.hpp"
#include "ellzero/exact/pricing.hpp"

namespace ellzero {

class Branching {
  public:
    Branching(const NodeSetting& setting, NodeWork& work, const Pricing& pricing)
        : setting_(setting), work_(work), pricing_(pricing), correlations_(setting.problem) {}

    using Block = std::vector<int32_t>;
    // Returns the block to branch on, empty if there is none. `bound` is the node's.
    Block choose(int depth, double bound);

    int64_t take_passes() { return std::exchange(correlations_.passes, 0); }

  private:
    // Pairs of -|beta| and a column: sorted, the largest coefficients come first.
    using Candidates = std::vector<std::pair<double, int32_t>>;
    int32_t least_costly_to_leave() const;
    // Columns of the pool that the relaxation uses: by a fraction, or at all.
    Candidates fractional() const;
    Candidates used() const;
    // The undecided columns of the pool that resemble this one.
    Block block_around(int32_t j);
    // A part of the clause that the relaxation leaves most undecided; `bound` is the node's.
    Block split(double bound);
    // The members of a clause that resemble the first of two more than the second.
    Block nearer(const std::vector<int32_t>& clause, int32_t first, int32_t second);
    // Strong branching: solves both children of each block, on the working set alone, and returns that whose children rise
    // most.
    Block best_of(std::vector<Block> blocks, double bound);
    double value_of_child(const Decision& decision);

    const NodeSetting& setting_;
    NodeWork& work_;
    const Pricing& pricing_;
    Correlations correlations_;
};

}  // namespace ellzero
