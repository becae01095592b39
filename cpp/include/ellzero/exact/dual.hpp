// A dual point: any theta in the domain of the losses' conjugates (summing to zero if there is an intercept) bounds every
// solution.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct DualPoint {
    // theta_i = y_i w_i alpha_i (w_i alpha_i for squared error). A certificate keeps alpha, in single precision, since any
    // theta will do. Without lambda_2 a slope beyond lambda_1 costs a large multiple of itself: there the rest of each alpha_i
    // follows.
    std::vector<float> alpha;
    std::vector<double> theta;
    double loss_part = 0.0;  // -sum_i w_i f*(-theta_i / w_i), rounded down
    double norm = 0.0;       // sqrt(sum_i theta_i^2 / w_i)
};

// The dual point nearest to -r, where r = w f'(eta). Columns that are `free` need x_j . theta = 0 as nearly as can be, since no
// penalty and no bound holds their coefficients; d = w f''(eta) says which rows have room for that.
void make_dual(const Problem& problem, const std::vector<double>& r, const std::vector<double>& d,
               const std::vector<int32_t>& free, DualPoint& out);

}  // namespace ellzero
