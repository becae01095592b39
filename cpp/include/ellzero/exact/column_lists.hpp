// Lists of columns, kept one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ellzero {

class ColumnLists {
  public:
    int64_t count() const { return std::ssize(ends_); }
    std::span<const int32_t> operator[](int64_t k) const {
        const int64_t begin = k > 0 ? ends_[k - 1] : 0;
        return std::span(members_).subspan(begin, ends_[k] - begin);
    }
    void add(std::span<const int32_t> list) {
        members_.insert(members_.end(), list.begin(), list.end());
        ends_.push_back(std::ssize(members_));
    }
    void clear() {
        members_.clear();
        ends_.clear();
    }

    // List k ends before members()[ends()[k]].
    std::vector<int32_t>& members() { return members_; }
    const std::vector<int32_t>& members() const { return members_; }
    std::vector<int64_t>& ends() { return ends_; }
    const std::vector<int64_t>& ends() const { return ends_; }

  private:
    std::vector<int32_t> members_;
    std::vector<int64_t> ends_;
};

}  // namespace ellzero
