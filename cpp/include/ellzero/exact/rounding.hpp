// Solutions from relaxations: keep the features that pay most of their charge, and refit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/region_bound.hpp"

namespace ellzero {

// The best model of a support; coefficients that are zero are left out of it. `needs_all` says that no part of the support does
// nearly as well.
struct Found {
    std::vector<int32_t> support;
    Model model;
    bool needs_all = false;
};

class Rounding {
  public:
    Rounding(const NodeSetting& setting, NodeWork& work) : setting_(setting), work_(work) {}

    // Offers the incumbent what the node's relaxation rounds to. The last bound says which features leave their home.
    void round(const RegionBound& bound);
    // The minimum of G on a support, to nearly full precision.
    Model refit(const std::vector<int32_t>& support, const std::vector<double>& beta, const std::vector<double>& intercept);
    // Offers the refit of `aside`, as it was solved last.
    void offer_aside();
    // The best model of a support, from a relaxation that holds it, if its objective is at most the level. It is offered, too.
    std::optional<Found> find(const std::vector<int32_t>& support, const Relaxation& relaxation);

  private:
    // The places of the coordinates that are kept, in the order of their columns.
    std::vector<size_t> kept_coordinates(const RegionBound& bound) const;
    bool obey(std::vector<int32_t>& support, std::vector<double>& beta) const;
    // Whether a support obeys the rules without one of its features.
    bool obeys_without(const std::vector<int32_t>& support, int32_t feature) const;
    // Whether a model needs one of its features: the others alone do worse.
    bool needs(const Model& model, int32_t feature);
    // Solves `aside` while the hinge's smoothing falls. Gives up where no incumbent can come of it.
    void solve_hinge(double charges);

    const NodeSetting& setting_;
    NodeWork& work_;
    std::vector<std::vector<int32_t>> tried_;  // supports that were rounded to lately
};

}  // namespace ellzero
