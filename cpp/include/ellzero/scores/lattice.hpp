// The best whole points for the columns of one support, by branching on points.
//
// The least loss as a function of one column's points, with the points before it on their ray and the other columns free, is
// quasi-convex: the dual point of w_j = v often closes all w_j beyond v. So a column's range falls into a few single values and
// two half-lines, each a box of points with a dual point. The scale needs no branching.
#pragma once

#include <chrono>
#include <limits>

#include "ellzero/scores/cells.hpp"

namespace ellzero {

// Points for some columns, with scale and intercept: a score. Its loss is a sum over the rows.
struct Card {
    std::vector<int32_t> support, points;
    double scale = 0.0, intercept = 0.0, loss = std::numeric_limits<double>::infinity();
};

struct LatticeSearch {
    using Clock = std::chrono::steady_clock;
    double level = 0.0;      // boxes with a bound of so much are closed
    double upper = 0.0;      // a card of interest has a smaller loss
    double share = 1e-9;     // unless `listing`, cards are of interest if they are better by this share
    bool listing = false;    // cards below the level are all wanted: one that is found changes nothing
    bool recording = false;  // keep the boxes
    int64_t node_limit = std::numeric_limits<int64_t>::max();
    Clock::time_point deadline = Clock::time_point::max();
};

// What is known of a support: a partition of its points into boxes, each with a model and the bound of its dual point.
struct LatticeResult {
    Card best;  // infinite loss: none is below `upper`
    std::vector<int32_t> low, high;
    std::vector<double> models;  // coefficients and an intercept for each box
    std::vector<double> bounds;
    double least = std::numeric_limits<double>::infinity();  // of the bounds, but for single cards if listing
    bool stopped = false;                                    // by the limit of nodes or of time
};

LatticeResult search_lattice(const Cells& cells, std::span<const int32_t> support, const ScoreLimits& limits,
                             const LatticeSearch& search);

}  // namespace ellzero
