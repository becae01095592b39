// Fixing features of a node: with its dual point, then with dual points made for groups of features.
#pragma once

#include <span>
#include <vector>

#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/pricing.hpp"

namespace ellzero {

class Fixing {
  public:
    Fixing(const NodeSetting& setting, NodeWork& work, Pricing& pricing) : setting_(setting), work_(work), pricing_(pricing) {}

    // Fixes features and shrinks boxes by the bound that was computed last, that of the node's dual point, and by those of
    // groups. The dual points that do more than next to nothing are added to `proofs`; the node's own, if `kept` is set, is
    // there already. False if the region is empty.
    bool tighten(bool kept, std::vector<KeptPoint>& proofs);

  private:
    // By the bound that was computed last.
    bool tighten();
    // The same with a point that is dropped if it does next to nothing.
    bool tighten_if_worth(const KeptPoint& point, std::vector<KeptPoint>& proofs);
    bool fix_groups(std::vector<KeptPoint>& proofs);
    // The columns of the group pay a part of their charge.
    bool fix_group(std::span<const int32_t> group, std::vector<KeptPoint>& proofs);

    const NodeSetting& setting_;
    NodeWork& work_;
    Pricing& pricing_;
};

}  // namespace ellzero
