// Correlations of a few columns, the centres of blocks, with all others: one pass over X for each centre, which is remembered.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

class Correlations {
  public:
    explicit Correlations(const Problem& problem) : problem_(problem) {}

    // |correlation| of column j with each column; zero for constant columns.
    const std::vector<float>& with(int32_t j);

    int64_t passes = 0;  // over all columns

  private:
    const Problem& problem_;
    std::map<int32_t, std::vector<float>> known_;
};

}  // namespace ellzero
