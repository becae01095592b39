#include "ellzero/exact/tree.hpp"

#include <utility>

namespace ellzero {

int64_t Tree::add_block(std::span<const int32_t> columns) {
    record_.blocks.add(columns);
    return record_.blocks.count() - 1;
}

int64_t Tree::add(int64_t parent, int64_t block, bool in) {
    record_.parent.push_back(parent);
    record_.branch.push_back(block);
    record_.side.push_back(in);
    record_.points.emplace_back();
    return std::ssize(record_.parent) - 1;
}

int64_t Tree::add_diagonal(std::span<const int32_t> columns, std::span<const double> curvatures) {
    record_.diagonals.add(columns);
    record_.curvatures.insert(record_.curvatures.end(), curvatures.begin(), curvatures.end());
    return record_.diagonals.count() - 1;
}

void Tree::keep(int64_t node, KeptPoint point) {
    bytes_ += point.bytes();
    record_.points[node] = std::move(point);
}

void Tree::restore(TreeRecord record, double closed_bound) {
    record_ = std::move(record);
    closed_ = closed_bound;
    bytes_ = 0;
    for (const KeptPoint& point : record_.points) bytes_ += point.bytes();
}

}  // namespace ellzero
