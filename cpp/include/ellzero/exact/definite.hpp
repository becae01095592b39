// Symmetric matrices, and whether what a diagonal leaves of one is positive definite.
#pragma once

#include <cstdint>
#include <vector>

namespace ellzero {

// A symmetric matrix, stored whole.
class Matrix {
  public:
    explicit Matrix(int64_t order) : order_(order), entries_(order * order, 0.0) {}
    int64_t order() const { return order_; }
    double* row(int64_t i) { return &entries_[i * order_]; }
    const double* row(int64_t i) const { return &entries_[i * order_]; }
    double& operator()(int64_t i, int64_t j) { return entries_[i * order_ + j]; }
    double operator()(int64_t i, int64_t j) const { return entries_[i * order_ + j]; }

  private:
    int64_t order_;
    std::vector<double> entries_;
};

// Makes a = L L' to L, in the lower triangle. Returns the first row whose pivot is not above `least`: the order if there is
// none.
int64_t factorise(Matrix& a, double least = 0.0);
// x becomes the solution of L L' x = x.
void solve(const Matrix& factor, std::vector<double>& x);
// The inverse of L L'.
Matrix inverse(const Matrix& factor);
// Whether gram - D - margin I is positive definite.
bool leaves_definite(const Matrix& gram, const std::vector<double>& diagonal, double margin);
// The room that a verifier needs for rounding where the diagonal of a Gram matrix is one. `sizes` is the sum of the squares of
// the columns' sizes, about zero, beside what is left of them about their means.
double margin_for_verifier(int64_t rows, int64_t columns, double sizes);

}  // namespace ellzero
