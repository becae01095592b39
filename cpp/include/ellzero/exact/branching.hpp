// Choosing the feature that a node branches on.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/pricing.hpp"

namespace ellzero {

class Branching {
  public:
    Branching(const NodeSetting& setting, NodeWork& work, const Pricing& pricing)
        : setting_(setting), work_(work), pricing_(pricing) {}

    // Returns the column to branch on, -1 if there is none. `bound` is the node's.
    int32_t choose(int depth, double bound);

  private:
    // Pairs of -|beta| and a place among the relaxation's coordinates: sorted, the largest coefficients come first.
    using Candidates = std::vector<std::pair<double, size_t>>;
    int32_t least_costly_to_leave() const;
    Candidates fractional() const;
    Candidates used() const;
    // Strong branching: solves both children of each candidate, on the working set alone, and returns the column whose children
    // rise most.
    int32_t try_children(const Candidates& candidates, double bound);
    double value_of_child(size_t place, bool in);

    const NodeSetting& setting_;
    NodeWork& work_;
    const Pricing& pricing_;
};

}  // namespace ellzero
