// The table of screening in memory: products, radii and gains of all columns, chunk by chunk on the team's threads.
#pragma once

#include <vector>

#include "ellzero/data/tables.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

class ScreeningTableInMemory final : public ScreeningTable {
  public:
    // With no directions at all, `free` is not kept.
    ScreeningTableInMemory(const Problem& problem, double steepness, size_t directions);

    void add(const double* sides, int64_t count) override;
    void forget(size_t slot) override;
    void combine(const std::vector<double>& coefficients) override;
    void extend(double step) override;
    void read(const double* r) override;
    Found test(const Test& test) override;

  private:
    // Fills least_ and most_ with what each column can gain, given center_ and the radius, divided by `prices` unless that is
    // null. Where columns come in groups, their heads have the sums and the others nothing.
    void bound_gains(double radius, const double* prices);
    void sum_by_group();
    // The `rank`-th largest gain that is sure, over the columns outside the model.
    double sure_gain(int rank) const;
    // Columns that may gain more than the threshold; `rest` receives a bound for all others.
    std::vector<int32_t> in_doubt(double threshold, double& rest) const;

    const Problem& problem_;
    const double steepness_;
    std::vector<std::vector<double>> products_;  // x_j . q_k for all j
    std::vector<double> free_;                   // ||x_j||^2 - sum_k (x_j . q_k)^2
    std::vector<double> coupled_;                // squares times couplings, where columns come in groups
    std::vector<double> center_, least_, most_;
    std::vector<uint8_t> inside_;  // during a test
};

}  // namespace ellzero
