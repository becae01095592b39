// The end of a node where one more feature is allowed: a list of convex problems of a few features each, one leaf for each, and
// no pass over X is needed for them.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/pricing.hpp"
#include "ellzero/exact/rounding.hpp"

namespace ellzero {

struct Leaf {
    int32_t column;  // in; -1: none of them
    std::vector<float> alpha;
    double bound;
};

class LastFeature {
  public:
    LastFeature(const NodeSetting& setting, NodeWork& work, Pricing& pricing, Rounding& rounding)
        : setting_(setting), work_(work), pricing_(pricing), rounding_(rounding) {}

    // Whether one more feature is allowed, and the leaves are not too many.
    bool worth_enumerating() const;
    // All leaves of the node, the most promising first; none of them last.
    std::vector<Leaf> enumerate();

  private:
    std::vector<Relaxation::Coordinate> decided_coordinates() const;
    Proof prove(int32_t column, double prune_at);

    const NodeSetting& setting_;
    NodeWork& work_;
    Pricing& pricing_;
    Rounding& rounding_;
};

}  // namespace ellzero
