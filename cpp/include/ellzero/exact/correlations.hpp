// Correlations of a few columns, the centres of blocks, with others: one pass over these for each centre, which is remembered.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

class Correlations {
  public:
    explicit Correlations(const Problem& problem) : problem_(problem) {}

    // |correlation| of column j with these columns, by column; zero for constant columns.
    const std::vector<float>& between(int32_t j, const std::vector<int32_t>& columns);

    int64_t passes = 0;  // over columns that were asked for

  private:
    const Problem& problem_;
    std::map<int32_t, std::vector<float>> known_;  // negative: not yet
    std::vector<int32_t> missing_;
    std::vector<double> column_, products_;
};

}  // namespace ellzero
