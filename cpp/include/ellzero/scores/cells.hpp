// Rows of few whole numbers with two labels, and their cells: rows that agree on the columns of a support, which a score cannot
// tell apart. Fits of scores are fits of cells, of which there are at most 2^k where the numbers are zeros and ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ellzero/problem/rules.hpp"

namespace ellzero {

// What a score may be: points in [low, high] times a scale in [least, most], for at most k columns. The intercept is free,
// unless there is a column of ones for it, which every support has: then it is a whole number of points, too.
struct ScoreLimits {
    std::vector<int32_t> low, high;  // of each column; zero is between them
    double least = 0.0, most = 2.0;
    double price = 0.0;  // of each column but that of ones
    int k = 5;
    int ones = -1;                  // the column of ones; -1: there is none
    Rules rules;                    // on the columns with points
    std::vector<uint8_t> conflict;  // p x p: columns that no card has both of; empty if there are none

    // Whether supports are those of the cards, each size by itself: then no column of theirs but that of ones has zero points.
    bool by_size() const { return rules || price > 0.0; }
    bool meet(int a, int b) const { return !conflict.empty() && conflict[static_cast<size_t>(a) * low.size() + b] != 0; }
    bool admits(std::span<const int32_t> support, int j) const;
    double cost(size_t columns) const { return price * (static_cast<double>(columns) - (ones >= 0 ? 1.0 : 0.0)); }
    double scaled(double gain) const { return std::max(least * gain, most * gain); }
    double free_intercept() const { return ones >= 0 ? 0.0 : std::numeric_limits<double>::infinity(); }
};

// The cells of a support of d columns: z (m x d), and the weights of rows of either label.
struct Cells {
    int d = 0;
    std::vector<double> z, positive, negative;

    int size() const { return static_cast<int>(positive.size()); }
    double total() const;
};

class ScoreRows {
  public:
    // x is column after column, y -1 or +1. What it points to must outlive the rows.
    ScoreRows(const uint8_t* x, int64_t n, int p, const double* y, const double* w);
    int64_t rows() const { return n_; }
    int columns() const { return p_; }
    const uint8_t* column(int j) const { return x_ + n_ * j; }
    double label(int64_t i) const { return y_[i]; }
    double weight(int64_t i) const { return w_[i]; }
    uint8_t largest(int j) const { return largest_[j]; }
    Cells cells(std::span<const int32_t> support) const;

  private:
    const uint8_t* x_;
    int64_t n_;
    int p_;
    const double *y_, *w_;
    std::vector<uint8_t> largest_;  // number of each column
};

// Coefficients of the columns of `z` (m x d, row after row), and an intercept, which is last in `b`.
struct CellFit {
    std::vector<double> b;
    double loss = 0.0;
};

// The least loss in a box, by projected Newton steps from `b`. Nothing is claimed of how near it comes: bounds are those of
// dual points. `low` and `high` have an entry for the intercept, too.
CellFit fit_cells(const Cells& cells, std::span<const double> z, std::span<const double> low, std::span<const double> high,
                  std::vector<double> b);

// The fit of a support within its box of points times the scale.
CellFit fit_support(const Cells& cells, std::span<const int32_t> support, const ScoreLimits& limits,
                    std::vector<double> start = {});

// A lower bound of the loss of all scores with points in [low, high], by the dual point of the model `b`:
//     D = E - max(least S, most S),     S = sum_j max(low_j v_j, high_j v_j).
double dual_bound(const Cells& cells, std::span<const double> b, std::span<const int32_t> low, std::span<const int32_t> high,
                  const ScoreLimits& limits);

// sum over cells of T log T - P log P - N log N: no function of the columns has a smaller loss.
double cell_entropy(const Cells& cells);

}  // namespace ellzero
