// X as the solvers see it: a class that answers what may be asked of X. Two storages in memory, column-major dense (float64,
// float32, int8) and CSC (float64, float32); a third kind, of columns that are kept elsewhere, is in stored.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "ellzero/data/monitor.hpp"
#include "ellzero/data/parallel.hpp"
#include "ellzero/data/tables.hpp"

namespace ellzero {

class Design {
  public:
    Design(int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {}
    virtual ~Design() = default;
    int64_t rows() const { return rows_; }
    int64_t columns() const { return columns_; }
    // Blocks of rows, each with a constant of its own. Several only where outputs are stacked, see stacked.hpp.
    virtual int64_t blocks() const { return 1; }
    // What a design that centres its columns itself takes off column j, in units of the column as seen.
    virtual double centre(int32_t) const { return 0.0; }

    // Bytes of X that reading all columns touches: the unit in which reads are counted.
    virtual int64_t bytes() const = 0;
    virtual int64_t bytes(int32_t column) const = 0;
    virtual double entries_per_column() const { return static_cast<double>(rows_); }

    // Answers for all columns from one read of X, handed over in pieces: take(first, count, values, ld), where values[k * ld +
    // c] is answer k of column first + c and may be changed. It is called from several threads at once.
    using Take = std::function<void(int64_t first, int64_t count, double* values, int64_t ld)>;
    // x_j . r_k for `sides` vectors r_k = r + k * rows()
    virtual void all_products(const double* r, int64_t sides, const Take& take, Team& team, Monitor& monitor) const = 0;
    // Weighted mean and variance; the weights sum to one.
    virtual void all_moments(const double* w, const Take& take, Team& team, Monitor& monitor) const = 0;
    static constexpr int64_t most_sides = 16;
    // As many of them as had better be asked at a time.
    virtual int64_t sides_at_a_time() const { return most_sides; }

    // Keeps the listed columns at hand while the result lives: nothing that is asked of them throws. At most `most_held` at
    // once.
    virtual std::shared_ptr<const void> hold(std::span<const int32_t>) const { return {}; }
    virtual int64_t most_held() const { return std::numeric_limits<int64_t>::max(); }
    // Whether so many columns had better be read with all others than one by one.
    virtual bool prefers_pass(std::span<const int32_t>) const { return false; }
    // Whether a copy of so many columns is small beside X, or beside the memory that X may take.
    virtual bool worth_copying(int64_t count) const { return 2 * count <= columns(); }
    // Whether reading X takes so long that several questions should be asked at a time.
    virtual bool distant() const { return false; }
    // Tables of numbers for every column, if these are better kept where X is; null otherwise. A screening keeps at most
    // `directions`.
    virtual std::unique_ptr<ScreeningTable> screening_table(const ColumnNumbers&, const GainTerms&,
                                                            [[maybe_unused]] size_t directions) const {
        return nullptr;
    }
    virtual std::unique_ptr<SwapTable> swap_table(const ColumnNumbers&) const { return nullptr; }

    // out[c] = x_c . r for the listed columns
    virtual void dots(std::span<const int32_t> columns, const double* r, double* out) const = 0;
    // out += a x_j
    virtual void axpy(int32_t column, double a, double* out) const = 0;
    // out += sum_c a_c x_c over the listed columns
    virtual void add(std::span<const int32_t> columns, const double* a, double* out) const {
        for (size_t c = 0; c < columns.size(); ++c)
            if (a[c] != 0.0) axpy(columns[c], a[c], out);
    }

    // A column's stored entries: their number, values and (sparse only) rows; dense columns set rows to null.
    struct Entries {
        int64_t count;
        const int32_t* rows;
        const double* values;
    };
    virtual Entries entries(int32_t column, std::vector<int32_t>& rows, std::vector<double>& values) const = 0;

    // The curvature D of a loss, of which d >= 0 says all: v becomes D v, and out the diagonal of D. D is diag(d) unless the
    // loss couples rows.
    virtual void apply_curvature(const double* d, double* v) const {
        for (int64_t i = 0; i < rows_; ++i) v[i] *= d[i];
    }
    virtual void curvature_diagonal(const double* d, double* out) const { std::copy(d, d + rows_, out); }
    virtual bool couples_rows() const { return false; }

    // Z^T D Z, row-major of order s + blocks(), where Z = [(x_c - mean_c) * scale_c ..., the constants]. mean and scale are
    // per listed column. Only the rows from `first` on are made, and only the lower triangle is written.
    virtual void gram(std::span<const int32_t> columns, int64_t first, const double* mean, const double* scale, const double* d,
                      double* out, Team& team) const = 0;

    // A view of some rows, whose threads do not disturb each other; null where rows cannot be had apart.
    virtual std::unique_ptr<Design> rows_between(int64_t, [[maybe_unused]] int64_t last) const { return nullptr; }

    // A copy of the listed columns.
    virtual std::unique_ptr<Design> select(std::span<const int32_t> columns) const = 0;

  private:
    int64_t rows_, columns_;
};

// X is borrowed: the caller keeps the memory alive. `stride` is the distance between columns in elements.
template <class T>
std::unique_ptr<Design> make_dense(const T* values, int64_t rows, int64_t columns, int64_t stride);
// A dense design that owns its values, without gaps between columns.
template <class T>
std::unique_ptr<Design> make_dense(std::vector<T> values, int64_t rows, int64_t columns);
template <class T, class Index>
std::unique_ptr<Design> make_csc(const T* values, const Index* rows_of, const Index* starts, int64_t rows, int64_t columns);

}  // namespace ellzero
