// Curvature of the squared error, moved into the ridge of the coefficients.
//
// With D diagonal and (1 - slack) X'WX - D positive semidefinite on the columns of a region, the loss less beta'D beta / 2 is
// still convex, and every coefficient has a ridge of its own, lambda_2 + d_j / 2: the relaxation of the sum is tighter.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct Diagonal {
    // It leaves this part of X'WX. A dual point then need not be exactly that of its coefficients: an error e of theta costs
    // (1 / slack - 1) / 2 sum_i e_i^2 / w_i.
    static constexpr double slack = 0x1p-10;

    std::vector<int32_t> columns;    // ascending
    std::vector<double> curvatures;  // d_j of each of these columns
    int64_t number = -1;             // in the tree, where its maker records it

    double price_of_errors() const { return 0.5 * (1.0 / slack - 1.0); }
};

// Whether it is worth the work to move curvature of so many columns, at the root or elsewhere.
bool worth_moving_curvature(const Problem& problem, int64_t columns, bool root);
// Whether the curvature of the loss alone holds all coefficients: a diagonal can be made for all columns, but constant ones.
bool held_by_curvature(const Problem& problem);
// Makes a diagonal whose sum, relative to the columns' own curvatures, is nearly the largest. Null if nothing can be moved.
std::shared_ptr<Diagonal> make_diagonal(const Problem& problem, std::vector<int32_t> columns);

}  // namespace ellzero
