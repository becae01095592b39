// Data that stays the same while a node is worked on, and the tolerances that its steps share.
#pragma once

#include <algorithm>

#include "ellzero/exact/incumbent.hpp"
#include "ellzero/exact/options.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct NodeSetting {
    const Problem& problem;
    const ExactOptions& options;  // in the node's numbering of columns, as all that follows
    Incumbent& incumbent;         // its objective may fall at any time

    bool has_kink() const { return problem.loss.has_kink(); }
    double prune_at() const { return incumbent.prune_at(options.gap); }
    // The part of the objective that one coefficient may cost a bound without harm: little beside the gap that is asked for.
    double negligible() const {
        constexpr double share_of_gap = 0.02, least_gap = 1e-9;
        return share_of_gap * std::max(options.gap, least_gap) * incumbent.size();
    }
};

namespace node_tolerances {

// The width of the hinge's smoothing. It starts wide, for well-conditioned steps: the method of multipliers does not need it to
// vanish. Where precision is wanted, each round multiplies it by `narrower`, down to the least one.
inline constexpr double smoothing = 0.8, least_smoothing = 1e-4, narrower = 0.7;
// Precision and the floors below are relative to the objective. No bound can be expected to be closer than this.
inline constexpr double precision = 1e-10;
// The floor of a relaxation: it is improved until a step promises to gain less. Below the finest floor there is only rounding;
// one that is nearly as low counts as the finest.
inline constexpr double finest_floor = 1e-17, nearly_finest_floor = 1e-16;
// The floor of a relaxation of which nothing is known yet.
inline constexpr double first_floor = 1e-3;
// floor <- lower_floor * floor: Newton's steps converge fast, so the next floor may be much lower.
inline constexpr double lower_floor = 0.03;
// A loop of solving and bounding ends after so many rounds in any case.
inline constexpr int most_rounds = 200;

}  // namespace node_tolerances

}  // namespace ellzero
