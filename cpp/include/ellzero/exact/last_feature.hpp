// The last feature of a node that allows one more. Each undecided feature, and none of them, makes a convex problem of few
// features and a leaf of the tree. No pass over X is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/pricing.hpp"
#include "ellzero/exact/rounding.hpp"

namespace ellzero {

struct Leaf {
    int32_t column;  // the feature that is in; -1: none
    KeptPoint point;
    double bound;                // minus infinity without a point
    std::optional<Found> found;  // if all good supports are wanted, and this is one
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
    Leaf solve(int32_t column);
    // Solves `aside` with all features of the leaf until the bound is enough or precise; a leaf that may stay `open`, until its
    // value shows that the bound is not.
    Proof prove(int32_t column, double enough, bool open);

    const NodeSetting& setting_;
    NodeWork& work_;
    Pricing& pricing_;
    Rounding& rounding_;
    std::vector<Relaxation::Coordinate> decided_;  // of the node
};

}  // namespace ellzero
