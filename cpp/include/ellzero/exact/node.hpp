// A node of the tree, and what it leaves to its children.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ellzero/exact/column_lists.hpp"
#include "ellzero/exact/column_set.hpp"
#include "ellzero/exact/diagonal.hpp"
#include "ellzero/problem/penalty.hpp"

namespace ellzero {

struct Families;

// The region that a node leaves to its children, as changes of the root's, and the point where their relaxations start.
struct State {
    struct Shrunk {
        int32_t column;
        float low, high;  // rounded outward, times Region::unit
    };
    // The region. At least one feature of each clause is in; a clause of one feature says that this one is.
    ColumnLists clauses;
    ColumnSet out;
    std::vector<Shrunk> boxes;
    std::shared_ptr<const Diagonal> diagonal;  // may be null
    int64_t tried = 0;                         // columns when a diagonal was made last, or could not be made
    std::shared_ptr<const Families> families;  // of nodes that are solved with the normal equations
    size_t decided = 0;                        // columns that were in when these were made

    // The start.
    std::vector<int32_t> columns;
    std::vector<double> beta;
    std::vector<float> shares;  // of each of these columns; only nodes that wait have them
    std::vector<double> intercept;
    double mu = 0.0;
    std::vector<double> charges;  // of the clauses
    std::vector<float> alpha;     // the parent's dual point, around which the hinge is smoothed
    std::vector<int32_t> near;    // columns that are priced before the others
};

// The step from a node to its child: at least one feature of a block is in, or none. An empty block is no decision.
struct Decision {
    std::vector<int32_t> block;
    bool in = false;

    bool made() const { return !block.empty(); }
};

struct Node {
    int64_t id = 0;
    int depth = 0;
    double bound = -Penalty::infinity;
    std::shared_ptr<const State> state;  // of the parent
    Decision decision;
    bool dives = false;  // in a dive: its child with a feature in is taken before better nodes
    // Its relaxation uses no fraction of a feature that may be branched on: it waits until more features may be branched on.
    bool waits = false;
};

}  // namespace ellzero
