// Correlations of a few features, the centres of blocks, with others: one pass over these for each column of a centre, which is
// remembered.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

class Correlations {
  public:
    explicit Correlations(const Problem& problem) : problem_(problem) {}

    // |correlation| of feature j with these features, by their heads; zero for constant columns. Of groups, it is the root of
    // the sum of squares of their columns' correlations, divided by the number of columns of the smaller one: one for copies
    // whose columns are not correlated with each other. What chance adds with the number of columns is taken off.
    const std::vector<float>& between(int32_t j, const std::vector<int32_t>& features);

    int64_t passes = 0;  // over columns that were asked for

  private:
    // The products of column j with columns, weighted, into products_.
    void multiply(int32_t j, const std::vector<int32_t>& columns);
    // |product| of two columns, divided by their sizes.
    double scaled(double product, int32_t j, int32_t i) const;

    const Problem& problem_;
    std::map<int32_t, std::vector<float>> known_;  // negative: not yet
    std::vector<int32_t> missing_;
    std::vector<double> column_, products_;
};

}  // namespace ellzero
