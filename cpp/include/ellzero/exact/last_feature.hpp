// The last feature of a node that allows one more. Each undecided feature, and none of them, makes a convex problem of few
// features and a leaf of the tree. No pass over X is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/pricing.hpp"
#include "ellzero/exact/rounding.hpp"

namespace ellzero {

struct Leaf {
    int32_t column;  // the feature that is in; -1: none
    KeptPoint point;
    double bound;
};

class LastFeature {
  public:
    LastFeature(const NodeSetting& setting, NodeWork& work, Pricing& pricing, Rounding& rounding)
        : setting_(setting), work_(work), pricing_(pricing), rounding_(rounding) {}

    // Whether one more feature is allowed, and the leaves are not too many.
    bool worth_enumerating() const;
    // The leaves of the node: the columns with the steepest slopes first, the leaf without a further feature last.
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
