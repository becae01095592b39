// A dual point: any theta in the domain of the losses' conjugates (summing to zero if there is an intercept) bounds every
// solution.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ellzero/exact/diagonal.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct Families;

// A dual point as a certificate keeps it: a model, from which theta = -scale w f' follows. Every theta gives a bound, so what
// rounding does to it costs little.
struct KeptPoint {
    std::vector<int32_t> columns;
    std::vector<double> coefficients;
    std::vector<double> intercept;  // of each output; empty if this is no dual point of a model
    double scale = 1.0;
    // Of the hinge, whose slope at the kink no model says: alpha_i = |theta_i| / w_i, in parts of `whole_share`, or with all
    // its digits where lambda_2 is nothing beside the columns: there a slope beyond lambda_1 is multiplied by the whole box.
    static constexpr double whole_share = 0x1p15;
    std::vector<uint16_t> shares;
    std::vector<double> precise;
    // A bound with a diagonal: each x_j . theta has d_j b_j added, and the bound sum_j d_j b_j^2 / 2.
    std::shared_ptr<const Diagonal> diagonal;
    // Without theta: the coefficients at which a bound with families is taken.
    std::shared_ptr<const Families> families;

    bool has_theta() const { return !intercept.empty() || !shares.empty() || !precise.empty(); }
    int64_t bytes() const {
        constexpr int64_t entry = sizeof(int32_t) + sizeof(double);
        return entry * std::ssize(columns) + static_cast<int64_t>(sizeof(double)) * std::ssize(intercept) +
               static_cast<int64_t>(sizeof(uint16_t)) * std::ssize(shares) +
               static_cast<int64_t>(sizeof(double)) * std::ssize(precise);
    }
};

struct DualPoint {
    KeptPoint kept;
    std::vector<double> theta;
    std::vector<float> alpha;   // of the hinge: |theta_i| / w_i, around which it is smoothed next
    std::vector<double> added;  // d_j b_j, of all columns; empty without a diagonal
    double loss_part = 0.0;     // -sum_i w_i f*(-theta_i / w_i), with what the diagonal adds, rounded down
    double norm = 0.0;          // sqrt(sum_i theta_i^2 / w_i)
    double scale = 1.0;         // theta is so many times that of a solution (see Pricing::best_scale)
};

// A column, and the value that x_j . theta should have as nearly as can be.
struct Slope {
    int32_t column;
    double value;
};

// A model, its predictions eta, r = w f'(eta) and d = w f''(eta).
struct Tangent {
    std::vector<int32_t> columns;
    std::vector<double> coefficients, intercept;
    const std::vector<double>&eta, &r, &d;
};

// Makes the dual point of a model, -r, or one near it. Where little holds a coefficient, a bound is lost if the slope of its
// column is but a little off: such slopes are `wanted`, and the model, or the hinge's theta itself, moves until they are met.
// With a diagonal, the bound has what that adds.
void make_dual(const Problem& problem, Tangent at, const std::vector<Slope>& wanted, bool precise,
               const std::shared_ptr<const Diagonal>& diagonal, DualPoint& out);

// The loss part of t theta, 0 <= t <= 1, but for rounding.
double loss_part_of_scaled(const Problem& problem, const DualPoint& dual, double t);
// Makes it t theta, which is a dual point too. It must not be that of a diagonal.
void scale(const Problem& problem, double t, DualPoint& dual);

// Whether bounds that are to be this close, relatively, need the slopes of dual points to be met with all their digits.
bool needs_precision(const Problem& problem, double gap);

}  // namespace ellzero
