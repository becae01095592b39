// Forward selection with several models of each size: where features resemble each other, the best models of neighbouring sizes
// may have few of them in common, and greedy steps from one to the next lead past them.
#pragma once

#include "ellzero/problem/pool.hpp"
#include "ellzero/swaps/exchange.hpp"

namespace ellzero {

// Grows models up to this size and puts the best of each size into the pool. Returns whether any is better than what was there.
bool grow_beam(const Problem& problem, Exchange& exchange, Pool& pool, int largest);

}  // namespace ellzero
