// A dual point: any theta in the domain of the losses' conjugates (summing to zero if there is an intercept) bounds every
// solution.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/diagonal.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct Families;

// A dual point as a certificate keeps it.
struct KeptPoint {
    // theta_i = y_i w_i alpha_i (w_i alpha_i for squared error). A certificate keeps alpha in single precision: every theta
    // gives a bound, so rounding it costs little. Where lambda_2 is nothing beside the columns, a slope beyond lambda_1 is
    // multiplied by the whole box; alpha then has 2 n entries, the second half for what single precision lost.
    std::vector<float> alpha;
    // A bound with a diagonal needs the coefficients b that theta comes from. Each x_j . theta then has d_j b_j added, and the
    // bound sum_j d_j b_j^2 / 2.
    std::shared_ptr<const Diagonal> diagonal;
    std::vector<int32_t> columns;
    std::vector<double> coefficients;
    // Without alpha: the coefficients at which a bound with families is taken.
    std::shared_ptr<const Families> families;
};

struct DualPoint {
    KeptPoint kept;
    std::vector<double> theta;
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

// Makes a dual point near -r, where r = w f'(eta). Where little holds a coefficient, a bound is lost if the slope of its column
// is but a little off: such slopes are `wanted`, and d = w f''(eta) says which rows can be moved for them.
void make_dual(const Problem& problem, const std::vector<double>& r, const std::vector<double>& d,
               const std::vector<Slope>& wanted, bool precise, DualPoint& out);

// The loss part of t theta, 0 <= t <= 1, but for rounding.
double loss_part_of_scaled(const Problem& problem, const DualPoint& dual, double t);
// Makes it t theta, which is a dual point too. It must not be that of a diagonal.
void scale(const Problem& problem, double t, DualPoint& dual);

// Makes it the point of a diagonal, with the coefficients that it comes from: kept.columns and kept.coefficients.
void use_diagonal(const Problem& problem, const std::vector<double>& r, const std::shared_ptr<const Diagonal>& diagonal,
                  DualPoint& out);

// Whether dual points in single precision are too rough for bounds that are to be this close, relatively.
bool needs_precision(const Problem& problem, double gap);

}  // namespace ellzero
