// Ways out of a model that no swap improves: a feature is barred, or a column is forced in, and swaps go on from there until
// nothing improves. What is found may be better than the model at hand.
#pragma once

#include <set>

#include "ellzero/problem/pool.hpp"
#include "ellzero/problem/selection.hpp"
#include "ellzero/swaps/exchange.hpp"

namespace ellzero {

class Kicks {
  public:
    // Kicks the pool's model of this size among the selection, unless it was kicked before. Returns whether a better one was
    // found.
    bool kick(const Selection& selection, Exchange& exchange, Pool& pool, int size);

  private:
    std::set<std::vector<int32_t>> kicked_;  // supports, in the whole problem
};

}  // namespace ellzero
