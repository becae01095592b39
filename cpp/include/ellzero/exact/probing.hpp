// Narrowing the boxes of features that hardly anything holds.
//
// The bound of a dual point is lowered by noise_j width_j for each feature: the rounding of x_j . theta, times the width of its
// box. Where the penalties are nothing beside a column, its box follows from little, and this may be more than the objective.
// The dual point of the relaxation in which beta_j is held far from its best value proves how far it can go: it shrinks the box
// to what rounding leaves of it, and all boxes together are narrow after a few rounds.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/pricing.hpp"

namespace ellzero {

class Probing {
  public:
    Probing(const NodeSetting& setting, NodeWork& work, Pricing& pricing) : setting_(setting), work_(work), pricing_(pricing) {}

    // Notes the boxes that are too wide for the bound of the node's dual point, which was computed last.
    void look();
    // Narrows the boxes that were noted, and still are too wide. The dual points that were made for it are added to `proofs`.
    // False if the region is empty.
    bool narrow(std::vector<KeptPoint>& proofs);
    // Narrows all boxes, for a tighter relaxation: without a ridge, nothing but the boxes makes it tight. False as above.
    bool narrow_all(std::vector<KeptPoint>& proofs);
    // Whether a box that was noted is narrower now, so that the node is worth solving again.
    bool narrowed() const { return narrowed_; }

  private:
    // The sum of the logarithms of the widths of the boxes that were noted.
    double width() const;
    void note_boxes_around_zero();
    // Whether an end of a box, or one of both, is too far away.
    bool loose(int32_t j, double end) const;
    bool loose(int32_t j) const { return loose(j, work_.region.box(j).low) || loose(j, work_.region.box(j).high); }
    // Narrows both sides of a box as far as one attempt can. False if the region is empty.
    bool probe(int32_t j, std::vector<KeptPoint>& proofs);
    // Narrows one side of a box by a few probes at its end. False if the region is empty.
    bool cut(int32_t j, double side, std::vector<KeptPoint>& proofs);
    // Holds beta_j at a value, on the working set or with all columns that are not out.
    bool probe_at(int32_t j, double value, double floor, bool all_columns, std::vector<KeptPoint>& proofs);

    const NodeSetting& setting_;
    NodeWork& work_;
    Pricing& pricing_;
    std::vector<int32_t> features_;
    double width_ = 0.0;
    bool narrowed_ = false;
};

}  // namespace ellzero
