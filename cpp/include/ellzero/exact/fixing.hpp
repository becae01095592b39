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

    // Adds the dual points that it made to `proofs`. False if nothing in the region is left.
    bool tighten(std::vector<std::vector<float>>& proofs);

  private:
    bool fix_groups(std::vector<std::vector<float>>& proofs);
    // `group` are places among the relaxation's coordinates; they pay the share `discount` of the charge.
    bool fix_group(std::span<const size_t> group, double discount, std::vector<std::vector<float>>& proofs);

    const NodeSetting& setting_;
    NodeWork& work_;
    Pricing& pricing_;
};

}  // namespace ellzero
