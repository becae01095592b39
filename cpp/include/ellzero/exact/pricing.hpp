// Solving a relaxation by column generation: solve it on its working set, make a dual point, price the other columns, let those
// that violate it enter, and so on until the bound that the dual point proves is good enough.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/region_bound.hpp"

namespace ellzero {

class Pricing {
  public:
    Pricing(const NodeSetting& setting, const Region& region);

    // The point at which a relaxation is solved well enough.
    struct Goal {
        double floor;                   // of the first round
        std::function<double()> bound;  // a bound that is enough
        // Whether the bound is close enough to the relaxation's value.
        std::function<bool(double value, double bound)> accurate;
    };
    // Solves the relaxation until the goal is met. Returns the best dual point on the way; slopes() are those of this point
    // then.
    Proof prove(Relaxation& relaxation, WorkingSet& working, const Goal& goal);
    // The goal of a node: a bound of `wanted`, or a value whose error is at most the part `known` of what is missing to
    // `wanted`.
    Goal goal_of_node(double floor, double known, const std::function<double()>& wanted) const;

    // slopes()_j = x_j . theta for the columns of these features; price_decided: for those that are in, and for unpenalized
    // ones.
    void price(const std::vector<int32_t>& features, const DualPoint& dual);
    void price_decided(const DualPoint& dual);
    // slopes() and the bound of all columns that are not out.
    double price_all(const DualPoint& dual);
    // slopes()_j of one feature. Columns are centred only if there is an intercept, and theta sums to zero then: its sum is not
    // needed.
    void price_alone(int32_t j, const DualPoint& dual);
    const std::vector<double>& slopes() const { return v_; }

    // The dual point of a relaxation's solution.
    void make_dual_of(const Relaxation& relaxation, DualPoint& out) const;
    // The bound over the region, from slopes(); see RegionBound.
    double bound(const DualPoint& dual) { return bound_.compute(dual, v_); }
    double bound(const DualPoint& dual, const std::vector<int32_t>& undecided) { return bound_.compute(dual, v_, undecided); }
    double bound_of_leaf(const DualPoint& dual, int32_t column) { return bound_.compute_leaf(dual, v_, column); }
    const RegionBound& last_bound() const { return bound_; }
    // The value of a relaxation of the region, with the prices of what is in.
    double value_of(const Relaxation& relaxation) const;

    int64_t passes = 0;  // over the undecided columns

  private:
    void price_columns(const std::vector<int32_t>& columns, const DualPoint& dual);
    // What a feature gains at slopes() / scale.
    double gain_of_feature(int32_t j, double scale) const;
    // Lets the columns enter that violate the relaxation most: those that gain more than the charge. Returns whether there were
    // any.
    bool add_violators(const std::vector<int32_t>& columns, const DualPoint& dual, Relaxation& to, WorkingSet& working) const;
    void choose_near(const DualPoint& dual, const Relaxation& relaxation, WorkingSet& working) const;
    // What column j pays in a relaxation of the region, while it is undecided.
    double charge_of(int32_t j, const Relaxation& relaxation) const;
    // Whether so little holds a coefficient that the slope of its column must be that of its envelope, as nearly as can be.
    bool hardly_held(int32_t j) const;
    // Slopes of a solution that is not quite precise are a little too large here and there, and each costs the bound its excess
    // times the reach of its coefficient. Scaling theta down takes all of them back at the cost of a little of the loss.
    // Returns the factor for which the bound over these columns is nearly the largest, and that bound; `bound` is that of theta
    // itself.
    struct Scaled {
        double factor, bound;
    };
    Scaled best_scale(const DualPoint& dual, const std::vector<int32_t>& columns, double bound);
    // The undecided columns that matter most: those of the relaxation and those next to enter.
    std::vector<int32_t> likely_columns(const Relaxation& relaxation, const WorkingSet& working) const;

    const NodeSetting& setting_;
    const Region& region_;
    RegionBound bound_;
    std::vector<double> v_, values_, scaled_v_;
};

}  // namespace ellzero
