// Z'DZ of a changing set of columns (and the constants), kept from one Newton step to the next: a few new columns or
// rows whose curvature d changed are updated, not recomputed.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ellzero/data/columns.hpp"

namespace ellzero {

class WorkingGram {
  public:
    // A row's d may be off by `tolerance` times itself: losses whose curvature never stands still need not be followed exactly.
    WorkingGram(const Columns& X, double tolerance);

    // Starts anew at the next call.
    void forget() { d_.clear(); }
    // Lower triangle, row-major of order columns + blocks of rows, whose constants come last.
    void get(std::span<const int32_t> columns, const std::vector<double>& d, std::vector<double>& out);

  private:
    bool differs(double d, double kept) const { return std::abs(d - kept) > tolerance_ * kept; }
    int64_t changed_rows(const std::vector<double>& d) const;
    // Whether few columns are new and few rows changed.
    bool worth_updating(std::span<const int32_t> columns, const std::vector<double>& d, int64_t changed) const;
    void update_rows(const std::vector<double>& d);
    void rebuild(std::span<const int32_t> columns, const std::vector<double>& d);
    void add_rows(const std::vector<double>& d, double sign);
    // Takes up columns that are not kept yet.
    void append(std::span<const int32_t> columns);
    void forget_unused(std::span<const int32_t> columns);
    double& entry(int64_t i, int64_t j) { return i >= j ? rows_[i][j] : rows_[j][i]; }

    const Columns& X_;
    double tolerance_;
    std::vector<int32_t> kept_;
    std::vector<int32_t> place_;             // of each column among the kept ones, or -1
    std::vector<std::vector<double>> rows_;  // row i: products with the kept columns 0..i
    std::vector<std::vector<double>> sums_;  // of each constant: products with the kept columns
    std::vector<double> totals_;             // of the constants with each other, row-major
    std::vector<double> d_;
    std::vector<double> scratch_;
};

}  // namespace ellzero
