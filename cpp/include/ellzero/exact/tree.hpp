// The recorded tree: what a certificate tells of a search.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "ellzero/exact/node.hpp"

namespace ellzero {

// One entry per node, parents first.
struct TreeRecord {
    std::vector<int64_t> parent;            // -1: the root
    std::vector<int32_t> branch;            // columns of X; -1: no decision
    std::vector<int8_t> side;               // 1: the column is in
    std::vector<std::vector<float>> alpha;  // its dual point; empty if it has none
};

// Only bytes() may be called while another thread changes the tree.
class Tree {
  public:
    // Adds a node, whose decision is about a column of X, and returns its number.
    int64_t add(int64_t parent, Decision decision);
    void keep(int64_t node, std::vector<float> alpha);
    // Counts a node that is closed with this bound: nothing below it needs to be searched.
    void close(double bound) { closed_ = std::min(closed_, bound); }

    const TreeRecord& record() const { return record_; }
    double closed_bound() const { return closed_; }  // the least one
    int64_t bytes() const { return bytes_; }         // of all dual points
    void restore(TreeRecord record, double closed_bound);

  private:
    TreeRecord record_;
    std::atomic<int64_t> bytes_{0};
    double closed_ = Penalty::infinity;
};

}  // namespace ellzero
