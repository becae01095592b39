// A set of columns, one bit for each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ellzero {

class ColumnSet {
  public:
    // An empty set without room: nothing can be inserted.
    ColumnSet() = default;
    explicit ColumnSet(int64_t columns) : words_((columns + 63) / 64, 0) {}
    // Column j is bit j % 64 of word j / 64, as checkpoints keep it.
    explicit ColumnSet(std::vector<uint64_t> words) : words_(std::move(words)) {}

    bool test(int32_t j) const { return word(j) < words_.size() && ((words_[word(j)] >> bit(j)) & 1) != 0; }
    void insert(int32_t j) { words_.at(word(j)) |= uint64_t{1} << bit(j); }
    // The number of columns in the set.
    int64_t size() const {
        int64_t count = 0;
        for (const uint64_t word : words_) count += std::popcount(word);
        return count;
    }
    const std::vector<uint64_t>& words() const { return words_; }

  private:
    static size_t word(int32_t j) { return static_cast<uint32_t>(j) >> 6; }
    static int bit(int32_t j) { return j & 63; }

    std::vector<uint64_t> words_;
};

}  // namespace ellzero
