// A second lineage of models, started from a convex fit instead of from greedy steps. Where many columns resemble the signal a
// little, the first columns that enter alone are wrong ones, and models grown from them share their mistakes.
#pragma once

#include <set>

#include "ellzero/problem/pool.hpp"

namespace ellzero {

// The largest coefficients of an l1 fit make a first model of each size; swaps improve them, among themselves: the models that
// greedy steps have found stay out of it.
struct Lineage {
    Pool pool;
    std::vector<int32_t> features;  // of the convex fit
};
Lineage second_lineage(const Problem& problem, const std::set<int>& sizes);

}  // namespace ellzero
