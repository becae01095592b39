// The lower bound that a dual point proves for a region, and its rise when a feature is decided.
//
// With g_j = s_j - lambda_0 price_j, where s_j is the gain of feature j, the sum of those of its columns at their
// v = x . theta, the bound is
//   loss part - sum over always s_j - sum over in g_j - sum over clauses (the largest g_j of each)
//             - (the largest max(g_j, 0) of all others, as many as may come in),
// and features at home count as in, less the largest max(-g_j, 0), as many as may leave. Under a budget those come in that gain
// most for their price, the last one by a fraction: the linear relaxation of a knapsack.
#pragma once

#include <cmath>
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
    // The bound as if the other undecided columns were out (an estimate from above, where they are not).
    double compute(const DualPoint& dual, const std::vector<double>& v, const std::vector<int32_t>& undecided);
    // The bound of solutions with the features that are in and, if it is not -1, this one alone.
    double compute_leaf(const DualPoint& dual, const std::vector<double>& v, int32_t column);

    double value() const { return value_; }
    // What a column gains, and what a feature does: all its columns together.
    double gain(int32_t j) const { return gains_[j]; }
    double gain_of_feature(int32_t j) const { return problem_.grouped() ? totals_[j] : gains_[j]; }
    // A bound of |v_j - x_j . theta|, which is rounding.
    double noise(int32_t j) const;
    // lambda_0 price_j - s_j: the gain of a feature at home that leaves; whether it is among the best that may leave; and the
    // gain of all of these.
    double gain_of_leaving(int32_t j) const { return -reward(j); }
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
    struct Weighed {
        double reward, weight;
    };
    // The same under a budget: rewards of features that fit, in the order of what they gain for their price, and the sums of
    // the first of them. The value of a room is what these gain that fit into it, the last one by a fraction.
    class Knapsack {
      public:
        void fill(std::vector<Weighed> features, double room);
        double total() const { return total_; }
        // What the value falls by if a feature must be in, or must be out.
        double fall_with(const Weighed& feature) const;
        double fall_without(const Weighed& feature) const;
        int64_t size() const { return std::ssize(features_); }

      private:
        double value(double room) const;

        std::vector<Weighed> features_;
        std::vector<double> rewards_, weights_;  // of all before
        double room_ = 0.0, total_ = 0.0;
    };
    Decided if_decided_within_budget(int32_t j) const;
    // The two largest rewards of a clause, and their columns.
    struct Top {
        int32_t column = -1, other = -1;
        double first = -Penalty::infinity, second = -Penalty::infinity;
    };
    // A sum that is kept together with the sum of the absolute values of its terms, and their number.
    struct Sum {
        double total, size;
        int64_t terms = 0;
        void take(double amount) {
            total -= amount;
            size += std::abs(amount);
            ++terms;
        }
    };
    double find_gain(int32_t j, double v);
    double find_gain_of_feature(int32_t j, const std::vector<double>& v);
    // What a feature gains that comes in.
    double reward(int32_t j) const { return gain_of_feature(j) - region_.charge(j); }
    // The bound, raised by this, rounded down.
    double raised(double rise) const;
    // The sum of the loss part and of what is in.
    Sum decided(const DualPoint& dual, const std::vector<double>& v);
    void choose_tops(const std::vector<int32_t>& undecided);
    double rounded_down(const Sum& sum);

    const Problem& problem_;
    const Region& region_;
    std::vector<double> norms_;  // of rounding errors in x_j . theta, per unit of the dual's norm
    std::vector<double> lost_;   // by underflow in x_j . theta, at most
    double value_ = 0.0, dual_norm_ = 0.0;
    std::vector<double> added_;  // to the slopes, by a diagonal
    Chosen coming_, leaving_;
    std::vector<Top> tops_;                                   // of the clauses
    std::vector<double> gains_, totals_, rewards_, leavers_;  // totals_: of features, if they are groups of columns
    std::vector<Weighed> weighed_;
    Knapsack knapsack_;
};

}  // namespace ellzero
