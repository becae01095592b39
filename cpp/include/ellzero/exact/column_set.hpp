// A set of columns, one bit for each.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace ellzero {

class ColumnSet {
  public:
    // An empty set without room: nothing can be inserted.
    ColumnSet() = default;
    explicit ColumnSet(int64_t columns) : words_((columns + bits - 1) / bits, 0) {}
    // Column j is bit j % 64 of word j / 64, as checkpoints keep it.
    explicit ColumnSet(std::vector<uint64_t> words) : words_(std::move(words)) {}

    bool test(int64_t j) const { return j / bits < std::ssize(words_) && ((words_[j / bits] >> (j % bits)) & 1) != 0; }
    void insert(int64_t j) { words_.at(j / bits) |= uint64_t{1} << (j % bits); }
    // The number of columns in the set.
    int64_t size() const {
        int64_t count = 0;
        for (const uint64_t word : words_) count += std::popcount(word);
        return count;
    }
    const std::vector<uint64_t>& words() const { return words_; }

  private:
    static constexpr int64_t bits = 64;
    std::vector<uint64_t> words_;
};

}  // namespace ellzero
