// Two numberings of columns: that of X, and that of the nodes. They are the same until the root is done; then columns that it
// fixed to zero are left out, and those that are left are copied.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ellzero/exact/node.hpp"
#include "ellzero/exact/options.hpp"
#include "ellzero/problem/selection.hpp"
#include "ellzero/relaxation/envelope.hpp"

namespace ellzero {

class Numbering {
  public:
    explicit Numbering(const Problem& whole) : whole_(whole) {}

    const Problem& whole() const { return whole_; }
    // The problem that the nodes solve.
    const Problem& inner() const { return selection_ ? selection_->problem() : whole_; }
    bool compacted() const { return selection_ != nullptr; }

    int32_t column_of_X(int32_t j) const { return selection_ ? columns_[j] : j; }
    std::vector<int32_t> columns_of_X(std::vector<int32_t> columns) const;
    Model outside(const Model& model) const { return selection_ ? selection_->outside(model) : model; }
    // All columns of the model must be left.
    Model inside(const Model& model) const { return selection_ ? selection_->inside(model) : model; }
    bool holds(const Model& model) const;
    ExactOptions inside(const ExactOptions& options) const;

    // Leaves out the columns that are out in the root's state, if they are so many that copying the others pays. The state and
    // the block to branch on are renumbered; `boxes` are the root's.
    void compact(State& state, std::vector<int32_t>& block, std::vector<Box> boxes);

    // The columns of X that were kept, empty if nothing was left out; and the root's boxes in the nodes' numbering, empty
    // before it is done.
    const std::vector<int32_t>& columns() const { return columns_; }
    const std::vector<Box>& boxes() const { return boxes_; }
    void restore(std::vector<int32_t> columns, std::vector<Box> boxes);
    // A diagonal for columns of X in the nodes' numbering; columns that were left out are left out of it.
    std::shared_ptr<const Diagonal> inside(const Diagonal& diagonal) const;

  private:
    void select(std::vector<int32_t> columns);
    std::vector<uint8_t> inside(const std::vector<uint8_t>& flags) const;

    const Problem& whole_;
    std::vector<int32_t> columns_;
    std::vector<Box> boxes_;
    std::unique_ptr<Team> serial_;  // the selection works with one thread
    std::unique_ptr<Selection> selection_;
};

}  // namespace ellzero
