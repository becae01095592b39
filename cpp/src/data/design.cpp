#include "ellzero/data/design.hpp"

#include <cmath>
#include <utility>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
// A pass over X is cut into pieces of this size, so that Ctrl-C is seen between them.
constexpr int64_t bytes_between_polls = int64_t{64} << 20;
// Columns that one thread takes at a time.
constexpr int64_t columns_per_chunk = 64;
constexpr int64_t long_column = int64_t{1} << 16;  // bytes
// Rows of a Gram matrix's columns that are packed at a time: eight columns of them leave room in the nearest cache.
constexpr int64_t rows_per_block = 320;
// A variance that is at most this part of the square it is a difference of has lost digits: it is computed about the mean.
constexpr double digits_lost = 1e-4;
constexpr int most_passes = 24;  // each finds as many digits as a number has
// Where the entries that are not stored weigh less than this, one less what the others weigh has lost digits.
constexpr double little_weight = 1e-3;

// Mean and variance of a column, counted from one of its entries: the variance of a column far from zero keeps its digits, and
// that of a constant column is zero. The entry may be far from the others and have no weight, or next to none: then it counts
// once more, from the mean, until that is known well enough. sums(pivot, sum, square) adds sum_i w_i (x_i - pivot) and sum_i
// w_i (x_i - pivot)^2.
template <class Sums>
void moments_about(double pivot, double& mean, double& variance, const Sums& sums) {
    for (int pass = 0; pass < most_passes; ++pass) {
        double sum = 0.0, square = 0.0;
        sums(pivot, sum, square);
        mean = pivot + sum;
        variance = square - sum * sum;
        if (square == 0.0 || mean == pivot || !(variance <= digits_lost * square)) break;
        pivot = mean;
    }
    variance = std::max(variance, 0.0);
}

// Passes over columns that lie in memory: threads take turns.
class InMemory : public Design {
  public:
    using Design::Design;

    void all_products(const double* r, int64_t sides, const Take& take, Team& team, Monitor& monitor) const override {
        for_pieces(team, monitor, [&](int64_t first, int64_t count) {
            double values[most_sides * columns_per_chunk];
            if (sides == 1) dots(first, count, r, values);
            else products(first, count, r, sides, values, columns_per_chunk);
            take(first, count, values, columns_per_chunk);
        });
    }
    void all_moments(const double* w, const Take& take, Team& team, Monitor& monitor) const override {
        for_pieces(team, monitor, [&](int64_t first, int64_t count) {
            double values[2 * columns_per_chunk];
            moments(first, count, w, values, values + columns_per_chunk);
            take(first, count, values, columns_per_chunk);
        });
    }

  private:
    // Answers for the columns [first, first + count); products are out[k * ld + c].
    virtual void dots(int64_t first, int64_t count, const double* r, double* out) const = 0;
    virtual void products(int64_t first, int64_t count, const double* r, int64_t sides, double* out, int64_t ld) const = 0;
    virtual void moments(int64_t first, int64_t count, const double* w, double* mean, double* variance) const = 0;

    template <class Body>
    void for_pieces(Team& team, Monitor& monitor, const Body& body) const {
        const int64_t average = std::max<int64_t>(bytes() / std::max<int64_t>(columns(), 1), 1);
        const int64_t piece = std::max(bytes_between_polls / average, columns_per_chunk);
        for (int64_t start = 0; start < columns(); start += piece) {
            const int64_t stop = std::min(start + piece, columns());
            // Answers do not depend on the chunk: few long columns are shared evenly, four by four as kernels take them.
            const int64_t share = (stop - start + team.size() - 1) / team.size(), four = (share + 3) / 4 * 4;
            const bool is_long = average >= long_column;
            team.run(stop - start, is_long ? std::min(four, columns_per_chunk) : columns_per_chunk,
                     [&](int64_t begin, int64_t end, int) { body(start + begin, end - begin); });
            monitor.poll();
        }
    }
};

template <class T>
class Dense : public InMemory {
  public:
    Dense(const T* values, int64_t rows, int64_t columns, int64_t stride, std::shared_ptr<const void> memory = {})
        : InMemory(rows, columns), values_(values), stride_(stride), memory_(std::move(memory)) {}

    int64_t bytes() const override { return bytes(0) * columns(); }
    int64_t bytes(int32_t) const override { return rows() * static_cast<int64_t>(sizeof(T)); }

    void dots(std::span<const int32_t> list, const double* r, double* out) const override {
        kernels::dots(values_, stride_, list.data(), 0, std::ssize(list), rows(), r, out);
    }
    void dots(int64_t first, int64_t count, const double* r, double* out) const override {
        kernels::dots(values_, stride_, nullptr, first, count, rows(), r, out);
    }
    void products(int64_t first, int64_t count, const double* r, int64_t sides, double* out, int64_t ld) const override {
        kernels::products(values_, stride_, first, count, rows(), r, sides, out, ld);
    }
    void axpy(int32_t j, double a, double* out) const override { kernels::axpy(a, column(j), rows(), out); }
    void add(std::span<const int32_t> list, const double* a, double* out) const override {
        kernels::add_columns(values_, stride_, list.data(), a, std::ssize(list), rows(), out);
    }

    void moments(int64_t first, int64_t count, const double* w, double* mean, double* variance) const override {
        for (int64_t c = 0; c < count; ++c)
            moments_about(static_cast<double>(column(first + c)[0]), mean[c], variance[c],
                          [&](double pivot, double& sum, double& square) {
                kernels::moments(column(first + c), w, rows(), pivot, sum, square);
            });
    }

    Entries entries(int32_t j, std::vector<int32_t>&, std::vector<double>& values) const override {
        values.assign(column(j), column(j) + rows());
        return {rows(), nullptr, values.data()};
    }

    void gram(std::span<const int32_t> list, int64_t first, const double* mean, const double* scale, const double* d,
              double* out, Team& team) const override {
        const int64_t order = std::ssize(list) + 1, made = order - first;
        std::fill(out, out + made * order, 0.0);
        // Rows without weight (beyond the margin of a hinge) cost nothing. The others come in blocks: the packed block stays in
        // cache and is small beside X, whatever the number of rows.
        std::vector<int32_t> used;
        for (int64_t i = 0; i < rows(); ++i)
            if (d[i] != 0.0) used.push_back(static_cast<int32_t>(i));
        const int64_t count = std::ssize(used), blocks = (count + rows_per_block - 1) / rows_per_block;
        const int64_t block = blocks ? (count + blocks - 1) / blocks : 0;
        const bool all = count == rows();
        constexpr int64_t width = kernels::panel_width;
        const int64_t panels = (order + width - 1) / width;
        std::vector<double> root(block), packed(panels * width * block);
        for (int64_t start = 0; start < count; start += block) {
            const int64_t n = std::min(block, count - start);
            for (int64_t i = 0; i < n; ++i) root[i] = std::sqrt(d[used[start + i]]);
            team.run(order, 8, [&](int64_t begin, int64_t end, int) {
                for (int64_t c = begin; c < end; ++c) {
                    double* target = packed.data() + c / width * width * block + c % width;
                    if (c + 1 == order)
                        for (int64_t i = 0; i < n; ++i) target[i * width] = root[i];
                    else if (all) kernels::pack(column(list[c]) + start, root.data(), mean[c], scale[c], n, target);
                    else kernels::pack(column(list[c]), &used[start], root.data(), mean[c], scale[c], n, target);
                }
            }, order * n);
            team.run(made, 6, [&](int64_t begin, int64_t end, int) {
                kernels::gram_rows(packed.data(), block, n, first + begin, first + end, first, out, order);
            }, made * order * n / 4);
        }
    }

    std::unique_ptr<Design> rows_between(int64_t first, int64_t last) const override {
        return std::make_unique<Dense>(values_ + first, last - first, columns(), stride_, memory_);
    }

    std::unique_ptr<Design> select(std::span<const int32_t> list) const override {
        std::vector<T> values;
        values.reserve(list.size() * rows());
        for (const int32_t j : list) values.insert(values.end(), column(j), column(j) + rows());
        return make_dense<T>(std::move(values), rows(), std::ssize(list));
    }

  private:
    const T* column(int64_t j) const { return values_ + j * stride_; }
    const T* values_;
    int64_t stride_;
    std::shared_ptr<const void> memory_;  // of the values, if they are its own
};

template <class T, class Index>
class Csc : public InMemory {
  public:
    Csc(const T* values, const Index* rows_of, const Index* starts, int64_t rows, int64_t columns,
        std::shared_ptr<const void> memory = {})
        : InMemory(rows, columns), values_(values), rows_of_(rows_of), starts_(starts), memory_(std::move(memory)) {}

    int64_t bytes() const override { return entry_bytes * static_cast<int64_t>(starts_[columns()]); }
    double entries_per_column() const override {
        return static_cast<double>(starts_[columns()]) / static_cast<double>(std::max<int64_t>(columns(), 1));
    }
    int64_t bytes(int32_t j) const override { return entry_bytes * static_cast<int64_t>(starts_[j + 1] - starts_[j]); }

    void dots(std::span<const int32_t> list, const double* r, double* out) const override {
        for (size_t c = 0; c < list.size(); ++c) out[c] = dot(list[c], r);
    }
    void dots(int64_t first, int64_t count, const double* r, double* out) const override {
        for (int64_t c = 0; c < count; ++c) out[c] = dot(first + c, r);
    }
    void products(int64_t first, int64_t count, const double* r, int64_t sides, double* out, int64_t ld) const override {
        for (int64_t c = 0; c < count; ++c)
            for (int64_t k = 0; k < sides; ++k) out[k * ld + c] = dot(first + c, r + k * rows());
    }
    void axpy(int32_t j, double a, double* out) const override {
        for (Index k = starts_[j]; k < starts_[j + 1]; ++k) out[rows_of_[k]] += a * static_cast<double>(values_[k]);
    }

    void moments(int64_t first, int64_t count, const double* w, double* mean, double* variance) const override {
        for (int64_t c = 0; c < count; ++c) {
            const Index begin = starts_[first + c], end = starts_[first + c + 1];
            if (end - begin == rows()) {
                moments_about(static_cast<double>(values_[begin]), mean[c], variance[c],
                              [&](double pivot, double& sum, double& square) {
                    for (Index k = begin; k < end; ++k) {
                        const double z = static_cast<double>(values_[k]) - pivot, wz = w[rows_of_[k]] * z;
                        sum += wz;
                        square += wz * z;
                    }
                });
                continue;
            }
            double sum = 0.0, stored = 0.0, square = 0.0, off = 0.0;
            for (Index k = begin; k < end; ++k) {
                sum += w[rows_of_[k]] * static_cast<double>(values_[k]);
                stored += w[rows_of_[k]];
            }
            for (Index k = begin; k < end; ++k) {
                const double z = static_cast<double>(values_[k]) - sum;
                square += w[rows_of_[k]] * z * z;
                off += w[rows_of_[k]] * z;
            }
            double zeros = 1.0 - stored;  // the weight of what is not stored
            mean[c] = sum;
            if (zeros < little_weight) {
                zeros = weight_of_zeros(first + c, w);
                off -= zeros * sum;
                mean[c] = sum + off;
                square -= off * off;
            }
            variance[c] = std::max(square + sum * sum * zeros, 0.0);
        }
    }

    Entries entries(int32_t j, std::vector<int32_t>& rows, std::vector<double>& values) const override {
        rows.assign(rows_of_ + starts_[j], rows_of_ + starts_[j + 1]);
        values.assign(values_ + starts_[j], values_ + starts_[j + 1]);
        return {std::ssize(values), rows.data(), values.data()};
    }

    void gram(std::span<const int32_t> list, int64_t first, const double* mean, const double* scale, const double* d,
              double* out, Team& team) const override {
        const int64_t size = std::ssize(list), order = size + 1;
        const double total = kernels::sum(d, rows());
        double* sums = out + (size - first) * order;  // the last row: sum_i d_i x_ij, then its standardised form
        for (int64_t a = 0; a < size; ++a) sums[a] = dot(list[a], d);
        sums[size] = total;
        // The entries of rows with weight, one column after another.
        struct Entry {
            Index row;
            double value;
        };
        std::vector<Entry> used;
        std::vector<size_t> ends(order, 0);
        for (int64_t a = 0; a < size; ++a) {
            for (Index k = starts_[list[a]]; k < starts_[list[a] + 1]; ++k)
                if (d[rows_of_[k]] != 0.0) used.push_back({rows_of_[k], static_cast<double>(values_[k])});
            ends[a + 1] = used.size();
        }
        const auto column = [&](int64_t a) { return std::span(used).subspan(ends[a], ends[a + 1] - ends[a]); };
        // Scatter d * x_a over the rows once, then every other column needs only its own entries.
        std::vector<std::vector<double>> scattered(team.size());
        team.run(size - first, 2, [&](int64_t begin, int64_t end, int thread) {
            auto& work = scattered[thread];
            if (work.empty()) work.assign(rows(), 0.0);
            for (int64_t a = first + begin; a < first + end; ++a) {
                for (const auto& [row, value] : column(a)) work[row] = d[row] * value;
                for (int64_t b = 0; b <= a; ++b) {
                    double raw = 0.0;
                    for (const auto& [row, value] : column(b)) raw += value * work[row];
                    out[(a - first) * order + b] =
                        (raw - mean[a] * sums[b] - mean[b] * sums[a] + mean[a] * mean[b] * total) * scale[a] * scale[b];
                }
                for (const auto& [row, value] : column(a)) work[row] = 0.0;
            }
        }, static_cast<int64_t>(entries_per_column() * static_cast<double>(size - first) * static_cast<double>(size)));
        for (int64_t a = 0; a < size; ++a) sums[a] = (sums[a] - mean[a] * total) * scale[a];
    }

    std::unique_ptr<Design> select(std::span<const int32_t> list) const override {
        struct Memory {
            std::vector<T> values;
            std::vector<Index> rows_of, starts;
        };
        auto memory = std::make_shared<Memory>();
        memory->starts.push_back(0);
        for (const int32_t j : list) {
            memory->values.insert(memory->values.end(), values_ + starts_[j], values_ + starts_[j + 1]);
            memory->rows_of.insert(memory->rows_of.end(), rows_of_ + starts_[j], rows_of_ + starts_[j + 1]);
            memory->starts.push_back(static_cast<Index>(memory->values.size()));
        }
        return std::make_unique<Csc>(memory->values.data(), memory->rows_of.data(), memory->starts.data(), rows(),
                                     std::ssize(list), memory);
    }

  private:
    static constexpr int64_t entry_bytes = sizeof(T) + sizeof(Index);

    // The weight of the rows of a column that are not stored.
    double weight_of_zeros(int64_t j, const double* w) const {
        std::vector<uint8_t> stored(rows(), 0);
        for (Index k = starts_[j]; k < starts_[j + 1]; ++k) stored[rows_of_[k]] = 1;
        double total = 0.0;
        for (int64_t i = 0; i < rows(); ++i)
            if (!stored[i]) total += w[i];
        return total;
    }

    double dot(int64_t j, const double* r) const {
        double s = 0.0;
        for (Index k = starts_[j]; k < starts_[j + 1]; ++k) s += static_cast<double>(values_[k]) * r[rows_of_[k]];
        return s;
    }

    const T* values_;
    const Index* rows_of_;
    const Index* starts_;
    std::shared_ptr<const void> memory_;  // of these three, if they are its own
};

}  // namespace

template <class T>
std::unique_ptr<Design> make_dense(const T* values, int64_t rows, int64_t columns, int64_t stride) {
    return std::make_unique<Dense<T>>(values, rows, columns, stride);
}
template std::unique_ptr<Design> make_dense(const double*, int64_t, int64_t, int64_t);
template std::unique_ptr<Design> make_dense(const float*, int64_t, int64_t, int64_t);
template std::unique_ptr<Design> make_dense(const int8_t*, int64_t, int64_t, int64_t);

template <class T>
std::unique_ptr<Design> make_dense(std::vector<T> values, int64_t rows, int64_t columns) {
    const auto memory = std::make_shared<const std::vector<T>>(std::move(values));
    return std::make_unique<Dense<T>>(memory->data(), rows, columns, rows, memory);
}
template std::unique_ptr<Design> make_dense(std::vector<double>, int64_t, int64_t);
template std::unique_ptr<Design> make_dense(std::vector<float>, int64_t, int64_t);
template std::unique_ptr<Design> make_dense(std::vector<int8_t>, int64_t, int64_t);

template <class T, class Index>
std::unique_ptr<Design> make_csc(const T* values, const Index* rows_of, const Index* starts, int64_t rows, int64_t columns) {
    return std::make_unique<Csc<T, Index>>(values, rows_of, starts, rows, columns);
}
template std::unique_ptr<Design> make_csc(const double*, const int32_t*, const int32_t*, int64_t, int64_t);
template std::unique_ptr<Design> make_csc(const double*, const int64_t*, const int64_t*, int64_t, int64_t);
template std::unique_ptr<Design> make_csc(const float*, const int32_t*, const int32_t*, int64_t, int64_t);
template std::unique_ptr<Design> make_csc(const float*, const int64_t*, const int64_t*, int64_t, int64_t);

}  // namespace ellzero
