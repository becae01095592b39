// A proof that the loss of labels grows in all directions, which holds coefficients without any penalty.
//
// All three losses are at least max(-y eta, 0). With a dual point theta = y w alpha, 0 < alpha < 1, whose slopes X'theta are
// zero, the loss is so at least sum_i room_i |eta_i|, room_i = w_i min(alpha_i, 1 - alpha_i), and at least the root of sum_i
// room_i^2 eta_i^2. A diagonal D below the Gram matrix with these weights says how much that is for each coefficient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct Growth {
    std::vector<double> alpha;    // empty: the loss was not found to grow
    std::vector<double> entries;  // of D, one for each column
    int32_t combination = -1;     // a column that is a combination of the others, if that is why it was not
};

// Looks for such a proof for some columns. The data are separable, or nearly so, if there is none and no column is a
// combination.
Growth find_growth(const Problem& problem, std::span<const int32_t> columns);

}  // namespace ellzero
