// The columns that the solvers see: (x_j - mean_j) / spread_j, applied inside dot and axpy, never to a copy of X.
#pragma once

#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "ellzero/data/design.hpp"

namespace ellzero {

class Columns {
  public:
    // mean and scale (= 1 / spread) may be null: no centring, no scaling. square[j] = sum_i w_i z_ij^2 of the column as seen.
    Columns(const Design& design, const double* mean, const double* scale, const double* square, Team& team, Monitor& monitor)
        : design_(design),
          mean_(mean),
          scale_(scale),
          square_(square),
          team_(team),
          monitor_(monitor),
          parts_(parts_of(design)) {}

    int64_t rows() const { return design_.rows(); }
    int64_t count() const { return design_.columns(); }
    int64_t blocks() const { return design_.blocks(); }
    bool centred() const { return mean_ != nullptr; }
    double mean(int32_t j) const { return mean_ ? mean_[j] : 0.0; }
    double scale(int32_t j) const { return scale_ ? scale_[j] : 1.0; }
    // What centring takes off column j, in units of the column as seen: its rounding is that of products with z_j.
    double centre(int32_t j) const { return mean(j) * scale(j) + design_.centre(j); }
    double square(int32_t j) const { return square_[j]; }
    const double* means() const { return mean_; }
    const double* scales() const { return scale_; }
    const double* squares() const { return square_; }
    const Design& design() const { return design_; }
    Team& team() const { return team_; }
    Monitor& monitor() const { return monitor_; }

    // What is done for all rows, on pieces that threads share: body(first, count). One piece, where rows are few.
    template <class Body>
    void for_rows(const Body& body) const {
        team_.run(rows(), rows_at_a_time, [&](int64_t begin, int64_t end, int) { body(begin, end - begin); },
                  operations_per_row * rows());
    }
    // The sum of body(first, count) over the pieces of so many rows, in their order, whatever the number of threads.
    template <class Body>
    static double sum_over(Team& team, int64_t rows, const Body& body) {
        if (rows <= rows_at_a_time) return body(0, rows);
        std::vector<double> sums((rows + rows_at_a_time - 1) / rows_at_a_time);
        team.run(rows, rows_at_a_time, [&](int64_t begin, int64_t end, int) {
            sums[begin / rows_at_a_time] = body(begin, end - begin);
        }, operations_per_row * rows);
        return std::accumulate(sums.begin(), sums.end(), 0.0);
    }
    template <class Body>
    double sum_over_rows(const Body& body) const {
        return sum_over(team_, rows(), body);
    }
    double sum(const double* r) const;  // over all rows
    void copy(const std::vector<double>& from, std::vector<double>& to) const;
    // see Design::apply_curvature; the sum of D's diagonal
    void apply_curvature(const double* d, double* v) const;
    double total_curvature(const double* d) const;

    double dot(int32_t j, const double* r, double r_sum) const;
    // out[c] = z_c . r for the listed columns, or for all of them
    void dots(std::span<const int32_t> columns, const double* r, std::vector<double>& out) const;
    void all_dots(const double* r, double* out) const;
    // z_j . r_k for all columns and `sides` vectors r_k = r + k * rows() from one read of X, handed over as Design::Take says
    void products(const double* r, int64_t sides, const Design::Take& take) const;
    // out[k * count() + j] = z_j . r_k, as above
    void products(const double* r, int64_t sides, double* out) const;
    // diagonal[j] = z_j . (d z_j) and sums[j] = z_j . d for all columns
    void curvatures(const double* d, std::vector<float>& diagonal, std::vector<float>& sums) const;
    // out += a z_j; sum_c a_c z_c over the listed columns; sum_j a_j z_j over all columns
    void axpy(int32_t j, double a, double* out) const;
    void add(std::span<const int32_t> columns, const double* a, double* out) const;
    void add_all(const double* a, double* out) const;
    // sums[l] = the sum of r over the rows of block l; out += a_l in the rows of block l
    void block_sums(const double* r, double* sums) const;
    void add_constants(const double* a, double* out) const;
    // see Design::gram
    void gram(std::span<const int32_t> columns, const double* d, std::vector<double>& out, int64_t first = 0) const;

    // What a table must know of the columns; the prices may be null.
    ColumnNumbers numbers(const double* price) const { return {mean_, scale_, square_, price}; }
    // A table elsewhere has read all columns, or so many bytes of them.
    void count_pass() const { count_bytes(static_cast<double>(design_.bytes())); }
    void count_bytes(double bytes) const { bytes_read_ += bytes; }

    // Reads of X, in units of the whole of X.
    double reads() const { return bytes_read_ / static_cast<double>(std::max<int64_t>(design_.bytes(), 1)); }

  private:
    static constexpr int64_t rows_at_a_time = 8192;
    static constexpr int64_t operations_per_row = 4;

    static std::vector<std::unique_ptr<Design>> parts_of(const Design& design);
    // Calls body(part, first) for the parts of X, which threads share.
    template <class Body>
    void for_parts(const Body& body) const;
    // Calls body(start, part) on parts of the list that are held together.
    template <class Body>
    void for_held(std::span<const int32_t> columns, const Body& body) const;
    void standardise(std::span<const int32_t> columns, double r_sum, double* out) const;

    const Design& design_;
    const double* mean_;
    const double* scale_;
    const double* square_;
    Team& team_;
    Monitor& monitor_;
    std::vector<std::unique_ptr<Design>> parts_;  // pieces of rows, where these are many and X has them apart
    mutable double bytes_read_ = 0.0;
};

}  // namespace ellzero
