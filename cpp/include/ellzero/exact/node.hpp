// A node of the tree, and what it leaves to its children.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ellzero/exact/column_set.hpp"
#include "ellzero/problem/penalty.hpp"

namespace ellzero {

// What a node leaves to its children: its region, as changes of the root's, and where their relaxations start.
struct State {
    struct Shrunk {
        int32_t column;
        float low, high;  // rounded outward
    };
    // The region.
    std::vector<int32_t> in;
    ColumnSet out;
    std::vector<Shrunk> boxes;

    // The start.
    std::vector<int32_t> columns;
    std::vector<double> beta;
    std::vector<float> shares;  // of the charge, of each of these columns; only of nodes that wait
    double intercept = 0.0, mu = 0.0;
    std::vector<float> alpha;   // the parent's dual point, for the hinge
    std::vector<int32_t> near;  // columns that may soon enter
};

// What distinguishes a child from its parent: one feature is in or out. Column -1 is no decision.
struct Decision {
    int32_t column = -1;
    bool in = false;

    bool made() const { return column >= 0; }
};

struct Node {
    int64_t id = 0;
    int depth = 0;
    double bound = -Penalty::infinity;
    std::shared_ptr<const State> state;  // of the parent
    Decision decision;
    bool dives = false;  // its children are taken before better ones
    // Its relaxation uses no fraction of a feature that may be branched on: it waits until there are more of them.
    bool waits = false;
};

}  // namespace ellzero
