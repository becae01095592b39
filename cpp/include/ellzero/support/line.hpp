// The exact minimiser of G along one coordinate from zero, everything else held: the one-dimensional problem of Algorithms 2
// and 3.
#pragma once

#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

// One per thread: it owns the scratch.
class Line {
  public:
    explicit Line(const Problem& problem) : problem_(problem) {}

    struct Minimum {
        double at = 0.0, gain = 0.0;  // of the true loss, before lambda_0 is paid
        double shift = 0.0;           // of the intercept, if it is taken along
    };
    // `slope` is z_j . r at eta. A minimum that provably gains at most `needed` may be left unfinished: its gain is then zero.
    // With `take_intercept` the intercept is minimised along: it must be at its minimum at eta.
    Minimum along(const double* eta, int32_t j, double slope, double needed = 0.0, bool take_intercept = false);
    // Adds the best constant to eta and returns it.
    double settle(std::vector<double>& eta);

  private:
    // Gathers the rows that the column touches, all of them if it is dense or centred, and its entries as the solver sees them.
    void gather(const double* eta, int32_t j);
    // Loss at eta + step x + shift, with r_ and d_ there; `shift` is first moved to its minimum if it may move.
    double evaluate(double step, double& shift, bool free);

    const Problem& problem_;
    std::vector<int32_t> rows_;
    std::vector<double> entries_, values_, eta_rows_, y_rows_, w_rows_, moved_, r_, d_;
    int64_t count_ = 0;
    const double *x_ = nullptr, *eta_ = nullptr, *y_ = nullptr, *w_ = nullptr;
};

}  // namespace ellzero
