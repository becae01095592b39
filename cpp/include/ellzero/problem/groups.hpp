// Groups of columns that come in or stay out together. A group is known by its first column, its head: what is decided of a
// feature (its price, its status, what it is exchanged for) is decided of the head, and the other members follow.
#pragma once

#include <cstdint>
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

class Groups {
  public:
    // heads[j] is the first column of j's group; coupling[j] belongs to it, see couplings().
    Groups(std::vector<int32_t> heads, std::vector<double> coupling);

    int32_t head(int32_t j) const { return heads_[j]; }
    Members members(int32_t head) const {
        return Members(std::span(columns_).subspan(start_[head], start_[head + 1] - start_[head]));
    }
    // rho: the group's part of Z'WZ is at most rho times its diagonal.
    double coupling(int32_t j) const { return coupling_[j]; }

  private:
    std::vector<int32_t> heads_, columns_;
    std::vector<int64_t> start_;  // of each head's members among columns_; a follower has none
    std::vector<double> coupling_;
};

// The coupling of each column's group, for weights w.
std::vector<double> couplings(const Columns& X, const std::vector<int32_t>& heads, const double* w);

}  // namespace ellzero
