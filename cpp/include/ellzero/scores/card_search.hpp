// A good card in seconds: a beam over supports, exchanges of single columns, then whole points for the best supports.
#pragma once

#include "ellzero/data/monitor.hpp"
#include "ellzero/data/parallel.hpp"
#include "ellzero/scores/lattice.hpp"

namespace ellzero {

struct CardSearchOptions {
    int width = 12;       // supports that a beam keeps of each size
    int candidates = 16;  // columns that are fitted, of all that are ranked by what one step would gain
    int lattices = 64;    // supports that get whole points
    int64_t nodes = 400;  // of the search of one support
    LatticeSearch::Clock::time_point deadline = LatticeSearch::Clock::time_point::max();
};

// The best card found; the same for any number of threads, but for the deadline.
Card search_card(const ScoreRows& rows, const ScoreLimits& limits, const CardSearchOptions& options, Team& team,
                 Monitor& monitor);

}  // namespace ellzero
