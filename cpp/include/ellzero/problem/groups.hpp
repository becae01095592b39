// Groups of columns that come in or stay out together. A group is known by its first column, its head: what is decided of a
// feature (its price, its status, what it is exchanged for) is decided of the head, and the other members follow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ellzero/data/columns.hpp"

namespace ellzero {

// The columns of one group, ascending.
class Members {
  public:
    explicit Members(int32_t alone) : alone_(alone) {}
    explicit Members(std::span<const int32_t> list) : list_(list) {}
    const int32_t* begin() const { return list_.empty() ? &alone_ : list_.data(); }
    const int32_t* end() const { return begin() + size(); }
    size_t size() const { return list_.empty() ? 1 : list_.size(); }

  private:
    int32_t alone_ = -1;
    std::span<const int32_t> list_;
};

// Which columns belong together. Copies share what is known.
class Groups {
  public:
    // Every column is a group of its own, and there is nothing to look up.
    Groups() = default;
    // heads[j] is the first column of j's group; coupling[j] belongs to it, see couplings().
    Groups(std::vector<int32_t> heads, std::vector<double> coupling);

    // Whether a group may have several columns.
    explicit operator bool() const { return table_ != nullptr; }
    int32_t head(int32_t j) const { return table_ ? table_->heads[j] : j; }
    Members members(int32_t head) const { return table_ ? table_->members(head) : Members(head); }
    // rho: the group's part of Z'WZ is at most rho times its diagonal.
    double coupling(int32_t j) const { return table_ ? table_->coupling[j] : 1.0; }

  private:
    struct Table {
        std::vector<int32_t> heads, columns;
        std::vector<int64_t> start;  // of each head's members among the columns; a follower has none
        std::vector<double> coupling;
        Members members(int32_t head) const {
            return Members(std::span(columns).subspan(start[head], start[head + 1] - start[head]));
        }
    };
    std::shared_ptr<const Table> table_;
};

// The coupling of each column's group, for weights w.
std::vector<double> couplings(const Columns& X, const std::vector<int32_t>& heads, const double* w);

}  // namespace ellzero
