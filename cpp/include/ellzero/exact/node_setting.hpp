// What stays the same while a node is worked on, and the tolerances that its steps share.
#pragma once

#include "ellzero/exact/incumbent.hpp"
#include "ellzero/exact/options.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct NodeSetting {
    const Problem& problem;
    const ExactOptions& options;  // in the node's numbering of columns, as all that follows
    Incumbent& incumbent;         // its objective may fall at any time

    bool hinge() const { return problem.loss.kind == LossKind::hinge; }
    double prune_at() const { return incumbent.prune_at(options.gap); }
};

namespace node_tolerances {

// Smoothing of the hinge: wide enough for well-conditioned steps, since the method of multipliers does not need it to vanish.
// Where precision is wanted it falls down to the least one, by this factor a round.
inline constexpr double smoothing = 0.8, least_smoothing = 1e-4, narrower = 0.7;
// The next four are relative to the objective. Closer than this no bound can be expected.
inline constexpr double precision = 1e-10;
// A relaxation is improved until a step promises less than its floor; below the finest one there is only rounding. A floor
// that is nearly there counts as the finest.
inline constexpr double finest_floor = 1e-17, nearly_finest_floor = 1e-16;
// The floor of a relaxation of which nothing is known yet.
inline constexpr double first_floor = 1e-3;
// Newton's steps converge fast: the next floor may be much lower.
inline constexpr double lower_floor = 0.03;
// A loop of solving and bounding ends after so many rounds in any case.
inline constexpr int most_rounds = 200;

}  // namespace node_tolerances

}  // namespace ellzero
