// The recorded tree: what a certificate tells of a search.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "ellzero/exact/dual.hpp"
#include "ellzero/exact/families.hpp"
#include "ellzero/exact/node.hpp"

namespace ellzero {

// One entry per node, parents first.
struct TreeRecord {
    std::vector<int64_t> parent;     // -1: the root
    std::vector<int64_t> branch;     // one of the blocks; -1: no decision
    std::vector<int8_t> side;        // 1: at least one feature of the block is in; 0: none is
    std::vector<KeptPoint> points;   // its dual point, in columns of X; without theta if it has none
    ColumnLists blocks;              // of columns of X
    ColumnLists diagonals;           // their columns of X
    std::vector<double> curvatures;  // of all these columns
    std::vector<std::shared_ptr<const Families>> families;
    std::vector<int64_t> enumerated;  // nodes of which the last features are enumerated
};

// Only bytes() may be called while another thread changes the tree.
class Tree {
  public:
    // Adds a block of columns of X, and returns its number.
    int64_t add_block(std::span<const int32_t> columns);
    // Adds a node, whose decision is about a block (-1: none), and returns its number.
    int64_t add(int64_t parent, int64_t block, bool in);
    // Adds a diagonal, for columns of X, and returns its number.
    int64_t add_diagonal(std::span<const int32_t> columns, std::span<const double> curvatures);
    void add_families(const std::shared_ptr<Families>& families) {
        families->number = std::ssize(record_.families);
        record_.families.push_back(families);
    }
    void enumerate(int64_t node) { record_.enumerated.push_back(node); }
    void keep(int64_t node, KeptPoint point);
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
