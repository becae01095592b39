// What a solver may ask of X. Two storages: column-major dense and CSC, each for float64 and float32.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ellzero/parallel.hpp"

namespace ellzero {

class Design {
  public:
    Design(int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {}
    virtual ~Design() = default;
    int64_t rows() const { return rows_; }
    int64_t columns() const { return columns_; }

    // Bytes of X that reading all columns touches: the unit in which reads are counted.
    virtual int64_t bytes() const = 0;
    virtual int64_t bytes(int32_t column) const = 0;

    // out[c] = x_c . r for the listed columns, or for [first, first + count)
    virtual void dots(std::span<const int32_t> columns, const double* r, double* out) const = 0;
    virtual void dots(int64_t first, int64_t count, const double* r, double* out) const = 0;
    // out[k * ld + c] = x_(first + c) . r_k for c < count and `sides` vectors r_k = r + k * rows()
    virtual void products(int64_t first, int64_t count, const double* r, int64_t sides, double* out, int64_t ld) const = 0;
    // out += a x_j
    virtual void axpy(int32_t column, double a, double* out) const = 0;
    // Weighted mean and variance of the columns [first, first + count); the weights sum to one.
    virtual void moments(int64_t first, int64_t count, const double* w, double* mean, double* variance) const = 0;

    // A column's stored entries: their number, values and (sparse only) rows; dense columns set rows to null.
    struct Entries {
        int64_t count;
        const int32_t* rows;
        const double* values;
    };
    virtual Entries entries(int32_t column, std::vector<int32_t>& rows, std::vector<double>& values) const = 0;

    // Z^T diag(d) Z, row-major of order s + 1, where Z = [(x_c - mean_c) * scale_c ..., 1]. mean and scale are per listed
    // column; d >= 0. Only the lower triangle is written.
    virtual void gram(std::span<const int32_t> columns, const double* mean, const double* scale, const double* d,
                      double* out, Team& team) const = 0;

    // A copy of the listed columns.
    virtual std::unique_ptr<Design> select(std::span<const int32_t> columns) const = 0;

  private:
    int64_t rows_, columns_;
};

// X is borrowed: the caller keeps the memory alive. `stride` is the distance between columns in elements.
template <class T>
std::unique_ptr<Design> make_dense(const T* values, int64_t rows, int64_t columns, int64_t stride);
template <class T, class Index>
std::unique_ptr<Design> make_csc(const T* values, const Index* rows_of, const Index* starts, int64_t rows, int64_t columns);

}  // namespace ellzero
