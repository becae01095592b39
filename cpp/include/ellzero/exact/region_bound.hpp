// The lower bound that a dual point proves for a region, and its rise when a feature is decided.
//
// With g_j = s_j - lambda_0, where s_j is the gain of coordinate j at v_j = x_j . theta, the bound is
//   loss part - sum over always s_j - sum over in g_j - (the largest max(g_j, 0) of the others, as many as may come in),
// and features at home count as in, less the largest max(-g_j, 0), as many as may leave.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/dual.hpp"
#include "ellzero/exact/region.hpp"

namespace ellzero {

class RegionBound {
  public:
    RegionBound(const Problem& problem, const Region& region);

    // The bound over the region as it is now; v_j = x_j . theta for all columns that are not out. All functions below are about
    // the bound that was computed last.
    double compute(const DualPoint& dual, const std::vector<double>& v) { return compute(dual, v, region_.undecided()); }
    // The bound as if the other undecided columns were out (an estimate from above, where they are not) and `also_in` were in.
    double compute(const DualPoint& dual, const std::vector<double>& v, const std::vector<int32_t>& undecided,
                   int32_t also_in = -1);

    double value() const { return value_; }
    double gain(int32_t j) const { return gains_[j]; }
    // A bound of |v_j - x_j . theta|, which is rounding.
    double noise(int32_t j) const { return norms_[j] * dual_norm_ + lost_[j]; }
    // lambda_0 - s_j: the gain of a feature at home that leaves; whether it is among the best that may leave; and the gain of
    // all of these.
    double gain_of_leaving(int32_t j) const { return region_.lambda_0() - gains_[j]; }
    bool best_leaves(int32_t j) const { return gain_of_leaving(j) > 0.0 && gain_of_leaving(j) >= leaving_.last; }
    double gain_of_swaps() const { return leaving_.total; }

    // The bound over the part of the region where an undecided feature is in, and where it is out.
    struct Decided {
        double in, out;
    };
    Decided if_decided(int32_t j) const;

  private:
    // The largest rewards, as many as are allowed: their sum, the least of them, and the largest of the others.
    struct Chosen {
        double total = 0.0, last = 0.0, next = 0.0;
    };
    static Chosen choose(std::vector<double>& rewards, int64_t most);

    const Problem& problem_;
    const Region& region_;
    std::vector<double> norms_;  // of rounding errors in x_j . theta, per unit of the dual's norm
    std::vector<double> lost_;   // by underflow in x_j . theta, at most
    double value_ = 0.0, dual_norm_ = 0.0;
    Chosen coming_, leaving_;
    std::vector<double> gains_, rewards_, leavers_;
};

}  // namespace ellzero
