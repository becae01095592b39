// One contract for every storage: each answers as the dense matrix of its entries would.
#include <algorithm>
#include <mutex>

#include "ellzero/data/columns.hpp"
#include "ellzero/data/stored.hpp"
#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

// Columns that another program keeps: here they lie in memory.
template <class T>
class Elsewhere : public Source {
  public:
    Elsewhere(const std::vector<T>& values, int64_t rows, int64_t columns)
        : values_(values), rows_(rows), inner_(make_dense<T>(values_.data(), rows, columns, rows)) {}
    void all_products(const double* r, int64_t sides, const Design::Take& take, Monitor& monitor) const override {
        inner_->all_products(r, sides, take, team_, monitor);
    }
    void all_moments(const double* w, const Design::Take& take, Monitor& monitor) const override {
        inner_->all_moments(w, take, team_, monitor);
    }
    void fetch(std::span<const int32_t> columns, const std::function<void(int64_t, const void*)>& to) const override {
        for (size_t k = 0; k < columns.size(); ++k) to(static_cast<int64_t>(k), values_.data() + columns[k] * rows_);
    }

  private:
    std::vector<T> values_;
    int64_t rows_;
    std::unique_ptr<Design> inner_;
    mutable Team team_{1};
};

// A source of columns (j, j, j) that counts what is fetched.
class Counted : public Source {
  public:
    explicit Counted(int64_t& fetched) : fetched_(fetched) {}
    void all_products(const double*, int64_t, const Design::Take&, Monitor&) const override {}
    void all_moments(const double*, const Design::Take&, Monitor&) const override {}
    void fetch(std::span<const int32_t> columns, const std::function<void(int64_t, const void*)>& to) const override {
        fetched_ += std::ssize(columns);
        for (size_t k = 0; k < columns.size(); ++k) {
            const std::vector<double> values(3, columns[k]);
            to(static_cast<int64_t>(k), values.data());
        }
    }

  private:
    int64_t& fetched_;
};

// A matrix of small integers, exact in all types, in every storage.
class Matrix {
  public:
    Matrix(Random& random, int64_t rows, int64_t columns)
        : rows_(rows), columns_(columns), values_(rows * columns), integers_(rows * columns), floats_(rows * columns) {
        for (int64_t k = 0; k < rows * columns; ++k) {
            integers_[k] = random.coin(0.6) ? 0 : static_cast<int8_t>(random.integer(-9, 9));
            values_[k] = floats_[k] = integers_[k];
        }
        starts_.push_back(0);
        for (int64_t j = 0; j < columns; ++j) {
            for (int64_t i = 0; i < rows; ++i)
                if (const double x = at(i, j); x != 0.0) {
                    rows_of_.push_back(i);
                    stored_.push_back(x);
                    stored_floats_.push_back(static_cast<float>(x));
                }
            starts_.push_back(std::ssize(rows_of_));
        }
        short_rows_.assign(rows_of_.begin(), rows_of_.end());
        short_starts_.assign(starts_.begin(), starts_.end());
    }

    double at(int64_t i, int64_t j) const { return values_[j * rows_ + i]; }
    int64_t rows() const { return rows_; }
    int64_t columns() const { return columns_; }

    std::vector<std::unique_ptr<Design>> designs() const {
        std::vector<std::unique_ptr<Design>> out;
        out.push_back(make_dense<double>(values_.data(), rows_, columns_, rows_));
        out.push_back(make_dense<float>(floats_.data(), rows_, columns_, rows_));
        out.push_back(make_dense<int8_t>(integers_.data(), rows_, columns_, rows_));
        out.push_back(make_dense<float>(floats_, rows_, columns_));
        out.push_back(make_csc<double, int64_t>(stored_.data(), rows_of_.data(), starts_.data(), rows_, columns_));
        out.push_back(make_csc<float, int64_t>(stored_floats_.data(), rows_of_.data(), starts_.data(), rows_, columns_));
        out.push_back(make_csc<double, int32_t>(stored_.data(), short_rows_.data(), short_starts_.data(), rows_, columns_));
        out.push_back(
            make_csc<float, int32_t>(stored_floats_.data(), short_rows_.data(), short_starts_.data(), rows_, columns_));
        const StoredShape shape{rows_, columns_, nullptr, 0};
        out.push_back(make_stored<double>(std::make_unique<Elsewhere<double>>(values_, rows_, columns_), shape));
        out.push_back(make_stored<float>(std::make_unique<Elsewhere<float>>(floats_, rows_, columns_), shape));
        out.push_back(make_stored<int8_t>(std::make_unique<Elsewhere<int8_t>>(integers_, rows_, columns_), shape));
        return out;
    }

  private:
    int64_t rows_, columns_;
    std::vector<double> values_, stored_;
    std::vector<int8_t> integers_;
    std::vector<float> floats_, stored_floats_;
    std::vector<int64_t> rows_of_, starts_;
    std::vector<int32_t> short_rows_, short_starts_;
};

// Distinct columns in any order.
std::vector<int32_t> some_columns(Random& random, const Matrix& X, int64_t most) {
    std::vector<int32_t> out;
    for (int64_t k = 0; k < most; ++k) {
        const auto j = static_cast<int32_t>(random.integer(0, X.columns() - 1));
        if (std::find(out.begin(), out.end(), j) == out.end()) out.push_back(j);
    }
    return out;
}

// A design as the solvers see it, with means and scales or without.
struct View {
    View(Random& random, const Matrix& matrix, const Design& design, bool standardised, int threads)
        : X(matrix),
          mean(random.numbers(matrix.columns())),
          scale(random.numbers(matrix.columns(), 0.5, 2.0)),
          square(matrix.columns(), 1.0),
          team(threads),
          columns(design, standardised ? mean.data() : nullptr, standardised ? scale.data() : nullptr, square.data(), team,
                  monitor) {}
    double entry(int64_t i, int32_t j) const { return (X.at(i, j) - columns.mean(j)) * columns.scale(j); }
    double dot(int32_t j, const double* r) const {
        double out = 0.0;
        for (int64_t i = 0; i < X.rows(); ++i) out += entry(i, j) * r[i];
        return out;
    }

    const Matrix& X;
    std::vector<double> mean, scale, square;
    Team team;
    Monitor monitor;
    Columns columns;
};

// Calls body(view, design) for all storages, with and without means and scales.
template <class Body>
void for_views(Random& random, const Body& body) {
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {7, 5}, {600, 130}, {40, 400}}) {
        const Matrix X(random, rows, columns);
        for (const auto& design : X.designs())
            for (const bool standardised : {false, true}) {
                const View view(random, X, *design, standardised, random.coin() ? 1 : 3);
                body(view, *design);
            }
    }
}

constexpr double rounding = 1e-9;

}  // namespace

TEST(designs_multiply_columns_with_vectors) {
    for_views(random, [&](const View& view, const Design&) {
        const int64_t n = view.X.rows(), p = view.X.columns(), sides = random.integer(1, Design::most_sides);
        const std::vector<double> r = random.numbers(n * sides);
        std::vector<double> all(p), products(p * sides), listed;
        view.columns.all_dots(r.data(), all.data());
        view.columns.products(r.data(), sides, products.data());
        const std::vector<int32_t> list = some_columns(random, view.X, 20);
        view.columns.dots(list, r.data(), listed);
        for (int32_t j = 0; j < p; ++j) {
            CHECK_NEAR(all[j], view.dot(j, r.data()), rounding);
            for (int64_t k = 0; k < sides; ++k) CHECK_NEAR(products[k * p + j], view.dot(j, &r[k * n]), rounding);
        }
        double sum = 0.0;
        for (int64_t i = 0; i < n; ++i) sum += r[i];
        for (size_t c = 0; c < list.size(); ++c) {
            CHECK_NEAR(listed[c], view.dot(list[c], r.data()), rounding);
            CHECK_NEAR(view.columns.dot(list[c], r.data(), sum), view.dot(list[c], r.data()), rounding);
        }
    });
}

TEST(designs_add_columns) {
    for_views(random, [&](const View& view, const Design&) {
        const int64_t n = view.X.rows(), p = view.X.columns();
        std::vector<double> a(p), out(n, 0.5), want(n, 0.5);
        for (const int32_t j : some_columns(random, view.X, 10)) a[j] = random.uniform();
        for (int32_t j = 0; j < p; ++j)
            for (int64_t i = 0; i < n; ++i) want[i] += a[j] * view.entry(i, j);
        view.columns.add_all(a.data(), out.data());
        const auto last = static_cast<int32_t>(p - 1);
        view.columns.axpy(last, 0.5, out.data());
        for (int64_t i = 0; i < n; ++i) CHECK_NEAR(out[i], want[i] + 0.5 * view.entry(i, last), rounding);
    });
}

TEST(designs_make_gram_matrices) {
    for_views(random, [&](const View& view, const Design&) {
        const int64_t n = view.X.rows();
        const std::vector<int32_t> list = some_columns(random, view.X, 12);
        const int64_t m = std::ssize(list), order = m + 1;
        std::vector<double> d = random.numbers(n, 0.0, 1.0), out;
        if (random.coin())
            for (double& weight : d)
                if (random.coin()) weight = 0.0;
        const int64_t first = random.coin() ? 0 : random.integer(0, m);
        view.columns.gram(list, d.data(), out, first);
        const auto entry = [&](int64_t i, int64_t c) { return c == m ? 1.0 : view.entry(i, list[c]); };
        for (int64_t a = first; a < order; ++a)
            for (int64_t b = 0; b <= a; ++b) {
                double want = 0.0;
                for (int64_t i = 0; i < n; ++i) want += d[i] * entry(i, a) * entry(i, b);
                CHECK_NEAR(out[(a - first) * order + b], want, 1e-7);
            }
    });
}

TEST(designs_know_their_moments) {
    for_views(random, [&](const View& view, const Design& design) {
        const int64_t n = view.X.rows(), p = view.X.columns();
        std::vector<double> w = random.numbers(n, 0.1, 1.0), mean(p), variance(p);
        double total = 0.0;
        for (const double weight : w) total += weight;
        for (double& weight : w) weight /= total;
        Team team(2);
        Monitor monitor;
        std::mutex mutex;
        design.all_moments(w.data(), [&](int64_t first, int64_t count, const double* values, int64_t ld) {
            const std::lock_guard lock(mutex);
            std::copy(values, values + count, mean.begin() + first);
            std::copy(values + ld, values + ld + count, variance.begin() + first);
        }, team, monitor);
        std::vector<float> diagonal, sums;
        view.columns.curvatures(w.data(), diagonal, sums);
        for (int32_t j = 0; j < p; ++j) {
            double first = 0.0, second = 0.0, seen = 0.0, square = 0.0;
            for (int64_t i = 0; i < n; ++i) {
                first += w[i] * view.X.at(i, j);
                seen += w[i] * view.entry(i, j);
                square += w[i] * view.entry(i, j) * view.entry(i, j);
            }
            for (int64_t i = 0; i < n; ++i) second += w[i] * (view.X.at(i, j) - first) * (view.X.at(i, j) - first);
            CHECK_NEAR(mean[j], first, rounding);
            CHECK_NEAR(variance[j], second, rounding);
            CHECK_NEAR(static_cast<double>(diagonal[j]), square, 1e-5 * (1.0 + square));
            CHECK_NEAR(static_cast<double>(sums[j]), seen, 1e-5 * (1.0 + std::abs(seen)));
        }
    });
}

TEST(designs_copy_and_list_columns) {
    for_views(random, [&](const View& view, const Design& design) {
        const int64_t n = view.X.rows();
        const std::vector<int32_t> list = some_columns(random, view.X, 100);
        const auto copy = design.select(list);
        CHECK(copy->rows() == n && copy->columns() == std::ssize(list));
        std::vector<int32_t> rows;
        std::vector<double> values;
        for (size_t c = 0; c < list.size(); ++c)
            for (const auto& [from, column] : {std::pair<const Design*, int32_t>{&design, list[c]},
                                               std::pair<const Design*, int32_t>{copy.get(), static_cast<int32_t>(c)}}) {
                const Design::Entries entries = from->entries(column, rows, values);
                std::vector<double> full(n, 0.0);
                for (int64_t k = 0; k < entries.count; ++k) full[entries.rows ? entries.rows[k] : k] += entries.values[k];
                for (int64_t i = 0; i < n; ++i) CHECK(full[i] == view.X.at(i, list[c]));
            }
    });
}

TEST(stored_columns_stay_at_hand_while_there_is_room) {
    constexpr int64_t columns = 6000, room = 256;
    int64_t fetched = 0;
    const auto design = make_stored<double>(std::make_unique<Counted>(fetched), {3, columns, nullptr, 0});
    std::vector<int32_t> rows;
    std::vector<double> values;
    const auto first = [&](int32_t j) { return design->entries(j, rows, values).values[0]; };
    for (int repeat = 0; repeat < 2; ++repeat)
        for (int32_t j = 0; j < room; ++j) CHECK(first(j) == j);
    CHECK(fetched == room);
    const std::vector<int32_t> used = {7, 70};
    const auto held = design->hold(used);
    for (int32_t j = 0; j < columns; ++j) CHECK(first(j) == j);
    CHECK(fetched == columns);
    for (const int32_t j : used) CHECK(first(j) == j);
    CHECK(fetched == columns);  // those in use were not given up
    for (int32_t j = 200; j < room; ++j) CHECK(first(j) == j);
    CHECK(fetched == columns + room - 200);  // the others were
}
