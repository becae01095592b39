#include "ellzero/exact/tree.hpp"

#include <utility>

namespace ellzero {
namespace {

int64_t bytes_of(const std::vector<float>& alpha) { return std::ssize(alpha) * static_cast<int64_t>(sizeof(float)); }

}  // namespace

int64_t Tree::add_block(std::span<const int32_t> columns) {
    record_.blocks.add(columns);
    return record_.blocks.count() - 1;
}

int64_t Tree::add(int64_t parent, int64_t block, bool in) {
    record_.parent.push_back(parent);
    record_.branch.push_back(block);
    record_.side.push_back(in);
    record_.alpha.emplace_back();
    return std::ssize(record_.parent) - 1;
}

void Tree::keep(int64_t node, std::vector<float> alpha) {
    bytes_ += bytes_of(alpha);
    record_.alpha[node] = std::move(alpha);
}

void Tree::restore(TreeRecord record, double closed_bound) {
    record_ = std::move(record);
    closed_ = closed_bound;
    bytes_ = 0;
    for (const auto& alpha : record_.alpha) bytes_ += bytes_of(alpha);
}

}  // namespace ellzero
