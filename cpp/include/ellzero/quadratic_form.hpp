// s'Hs with H = Z' diag(d) Z of a node's working columns and the intercept, which comes last, in the two ways that pay: the matrix
// itself for few columns, the columns times sqrt(d) for many.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ellzero/working_gram.hpp"

namespace ellzero {

class QuadraticForm {
  public:
    virtual ~QuadraticForm() = default;
    // The point s starts at zero.
    virtual double diagonal(int64_t k) const = 0;
    // (H s)_k
    virtual double slope(int64_t k) const = 0;
    // s_k += step
    virtual void move(int64_t k, double step) = 0;
    // s'Hs
    virtual double value() const = 0;
    // out_a = (H p)_(face_a) for p that is `along` on the face and zero elsewhere
    virtual void multiply(const std::vector<int64_t>& face, const std::vector<double>& along, std::vector<double>& out) = 0;
};

class GramForm : public QuadraticForm {
  public:
    GramForm(WorkingGram& gram, std::span<const int32_t> columns, const std::vector<double>& d);
    double diagonal(int64_t k) const override { return matrix_[k * order_ + k]; }
    double slope(int64_t k) const override { return slopes_[k]; }
    void move(int64_t k, double step) override;
    double value() const override;
    void multiply(const std::vector<int64_t>& face, const std::vector<double>& along, std::vector<double>& out) override;
    // Row-major, symmetric.
    double entry(int64_t i, int64_t j) const { return matrix_[i * order_ + j]; }

  private:
    int64_t order_;
    std::vector<double> matrix_, slopes_, at_, wide_;
};

class PackedForm : public QuadraticForm {
  public:
    // `packed` holds the columns one after another, `rows` entries each.
    PackedForm(std::vector<double> packed, int64_t rows);
    double diagonal(int64_t k) const override { return diagonal_[k]; }
    double slope(int64_t k) const override;
    void move(int64_t k, double step) override;
    double value() const override;
    void multiply(const std::vector<int64_t>& face, const std::vector<double>& along, std::vector<double>& out) override;

  private:
    const double* column(int64_t k) const { return packed_.data() + k * rows_; }
    std::vector<double> packed_;
    int64_t rows_;
    std::vector<double> diagonal_, image_, scratch_;  // image = diag(sqrt(d)) Z s
};

}  // namespace ellzero
