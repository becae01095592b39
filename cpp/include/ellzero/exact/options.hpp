// The options of an exact search.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace ellzero {

struct NormalEquations;

// The solutions that swaps of a given size lead to from a support, the home: at most `size` of its features leave, and at most
// `size` others come.
struct SwapNeighbourhood {
    std::vector<uint8_t> home;  // a flag per column; empty: all solutions are allowed
    int64_t homes = 0;          // features at home, also those that have no column any more
    int64_t size = 0;

    bool limits() const { return !home.empty(); }
    bool at_home(int32_t j) const { return limits() && home[j]; }
};

// The models that a search looks for: the best one, or the best of every support whose objective is at most a level. The level
// is the least of three: a given one, that of the best model and a share of it more, and that of the so many-th best support.
struct Wanted {
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    // Objectives that differ by less, relative to the best one, count as equal: the level lies so much higher, and a support
    // that gains less than a part of it is no other model.
    static constexpr double equal = 1e-8;
    // Features that are proved to gain less than this together are not looked at one by one.
    static constexpr double nothing = 1e-7;

    bool all = false;
    double level = infinity, within = infinity;
    int64_t count = std::numeric_limits<int64_t>::max();
    int64_t most = std::numeric_limits<int64_t>::max();  // a run ends when more of them are found
};

// What rounding may add to a sum of prices, relative to a budget. Searches keep to half of that, so that the sum in another
// order is within it, too; bounds allow for more, so that they hold for all that a verifier accepts.
inline constexpr double budget_slack = 1e-12;

struct ExactOptions {
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    double lambda_0 = 0.0;
    int64_t k = 0;             // at most so many features; the number of columns if there is no limit
    double budget = infinity;  // their prices sum to at most that; k is no limit then
    double gap = 1e-4;         // relative: a bound this close to the incumbent closes a node
    double null = 0.0;         // the null model's loss: an objective that is nothing beside it may be rounding alone
    double free_bound = 0.0;   // holds the coefficients of free features (see Region::free)
    SwapNeighbourhood swaps;
    std::vector<uint8_t> integral;  // a flag per column: only these are branched on; empty: all
    int strong_depth = 4;           // candidates of nodes above this depth are tried before one is chosen
    // Features with at least this correlation are decided together; above one: none are; nothing: see Branching::block_around.
    std::optional<double> alike;
    bool diagonals = true;  // curvature of the squared error may move into the ridge (see Diagonal)
    bool families = true;   // nodes may be solved with the normal equations (see NormalEquations)
    std::shared_ptr<const NormalEquations> equations = nullptr;  // if they are
    bool narrow = false;                                         // all boxes are narrowed at the root (see Probing)
    bool precise = false;  // dual points need more digits than single precision has (see needs_precision)
    Wanted wanted;

    // What a feature takes of the room that is left for features: its price under a budget, else it counts as one.
    double weight(double price) const { return has_budget() ? price : 1.0; }
    bool has_budget() const { return budget < infinity; }
    bool may_branch_on(int32_t j) const { return integral.empty() || integral[j]; }
};

}  // namespace ellzero
