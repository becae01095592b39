// Several outputs as one design: it answers as the matrix would that has every column once for each output.
#include "ellzero/data/stacked.hpp"

#include <algorithm>

#include "ellzero/data/columns.hpp"
#include "ellzero/data/kernels.hpp"
#include "ellzero/exact/class_balance.hpp"
#include "ellzero/problem/loss.hpp"
#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

struct Case {
    int64_t n, p, outputs;
    bool coupled;
    std::vector<double> values, mean, scale;
    std::unique_ptr<Design> X, stacked;
    std::vector<double> matrix;  // of the atoms, column by column

    Case(Random& random, int64_t most_outputs)
        : n(random.integer(3, 40)),
          p(random.integer(1, 6)),
          outputs(random.integer(2, most_outputs)),
          coupled(random.coin()),
          values(random.numbers(n * p)),
          mean(random.numbers(p)),
          scale(random.numbers(p, 0.5, 2.0)),
          X(make_dense<double>(values.data(), n, p, n)),
          matrix(n * outputs * p * outputs, 0.0) {
        const bool centred = random.coin(), scaled = random.coin();
        stacked = make_stacked(*X, centred ? mean.data() : nullptr, scaled ? scale.data() : nullptr, outputs, coupled);
        for (int64_t j = 0; j < p; ++j)
            for (int64_t l = 0; l < outputs; ++l)
                for (int64_t i = 0; i < n; ++i)
                    matrix[(j * outputs + l) * rows() + l * n + i] =
                        (values[j * n + i] - (centred ? mean[j] : 0.0)) * (scaled ? scale[j] : 1.0);
    }

    int64_t rows() const { return n * outputs; }
    int64_t atoms() const { return p * outputs; }
    const double* atom(int64_t a) const { return &matrix[a * rows()]; }
    // A column of [atoms, constants].
    std::vector<double> coordinate(int64_t a) const {
        if (a < atoms()) return {atom(a), atom(a) + rows()};
        std::vector<double> out(rows(), 0.0);
        std::fill_n(&out[(a - atoms()) * n], n, 1.0);
        return out;
    }
    // D v, with D written out.
    std::vector<double> curved(const std::vector<double>& d, const std::vector<double>& v) const {
        std::vector<double> out(rows(), 0.0);
        for (int64_t i = 0; i < n; ++i) {
            double total = 0.0;
            for (int64_t l = 0; l < outputs; ++l) total += d[l * n + i];
            for (int64_t l = 0; l < outputs; ++l)
                for (int64_t m = 0; m < outputs; ++m) {
                    const double a = d[l * n + i], b = d[m * n + i];
                    const double entry = (l == m ? a : 0.0) - (coupled && total > 0.0 ? a * b / total : 0.0);
                    out[l * n + i] += entry * v[m * n + i];
                }
        }
        return out;
    }
};

std::vector<int32_t> some_atoms(Random& random, const Case& of) {
    std::vector<int32_t> out;
    for (int32_t a = 0; a < of.atoms(); ++a)
        if (random.coin(0.7)) out.push_back(a);
    for (size_t k = 0; k < out.size(); ++k) std::swap(out[k], out[random.integer(0, std::ssize(out) - 1)]);
    return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return kernels::dot(a.data(), b.data(), std::ssize(a));
}

}  // namespace

TEST(stacked_outputs_answer_as_their_matrix) {
    for (int trial = 0; trial < 200; ++trial) {
        const Case of(random, 20);
        Team team(2);
        Monitor monitor({}, {});
        CHECK(of.stacked->rows() == of.rows() && of.stacked->columns() == of.atoms() && of.stacked->blocks() == of.outputs);
        const int64_t sides = random.integer(1, Design::most_sides);
        const std::vector<double> r = random.numbers(sides * of.rows());
        std::vector<double> products(sides * of.atoms(), NAN);
        of.stacked->all_products(r.data(), sides, [&](int64_t first, int64_t count, const double* values, int64_t ld) {
            for (int64_t k = 0; k < sides; ++k) std::copy_n(values + k * ld, count, &products[k * of.atoms() + first]);
        }, team, monitor);
        for (int64_t k = 0; k < sides; ++k)
            for (int64_t a = 0; a < of.atoms(); ++a)
                CHECK_NEAR(products[k * of.atoms() + a], kernels::dot(of.atom(a), &r[k * of.rows()], of.rows()), 1e-12);

        const std::vector<int32_t> list = some_atoms(random, of);
        std::vector<double> found(list.size()), steps = random.numbers(std::ssize(list)), sum(of.rows(), 0.0),
                                                want(of.rows(), 0.0);
        of.stacked->dots(list, r.data(), found.data());
        of.stacked->add(list, steps.data(), sum.data());
        for (size_t k = 0; k < list.size(); ++k) {
            CHECK_NEAR(found[k], kernels::dot(of.atom(list[k]), r.data(), of.rows()), 1e-12);
            kernels::axpy(steps[k], of.atom(list[k]), of.rows(), want.data());
            std::vector<int32_t> rows;
            std::vector<double> values, entries(of.rows(), 0.0);
            const Design::Entries some = of.stacked->entries(list[k], rows, values);
            for (int64_t i = 0; i < some.count; ++i) entries[some.rows ? some.rows[i] : i] += some.values[i];
            for (int64_t i = 0; i < of.rows(); ++i) CHECK_NEAR(entries[i], of.atom(list[k])[i], 1e-14);
        }
        for (int64_t i = 0; i < of.rows(); ++i) CHECK_NEAR(sum[i], want[i], 1e-12);
    }
}

TEST(stacked_moments_are_those_of_all_rows) {
    for (int trial = 0; trial < 100; ++trial) {
        const Case of(random, 5);
        Team team(1);
        Monitor monitor({}, {});
        std::vector<double> w = random.numbers(of.rows(), 0.0, 1.0);
        if (random.coin()) std::fill_n(w.begin(), of.n, 0.0);
        const double total = kernels::sum(w.data(), of.rows());
        for (double& each : w) each /= total;
        std::vector<double> mean(of.atoms()), variance(of.atoms());
        of.stacked->all_moments(w.data(), [&](int64_t first, int64_t count, const double* values, int64_t ld) {
            std::copy_n(values, count, &mean[first]);
            std::copy_n(values + ld, count, &variance[first]);
        }, team, monitor);
        for (int64_t a = 0; a < of.atoms(); ++a) {
            double first = 0.0, second = 0.0;
            for (int64_t i = 0; i < of.rows(); ++i) {
                first += w[i] * of.atom(a)[i];
                second += w[i] * of.atom(a)[i] * of.atom(a)[i];
            }
            CHECK_NEAR(mean[a], first, 1e-13);
            CHECK_NEAR(variance[a], second - first * first, 1e-12);
        }
    }
}

TEST(stacked_curvatures_couple_the_outputs_of_a_row) {
    for (int trial = 0; trial < 200; ++trial) {
        const Case of(random, 6);
        Team team(random.coin() ? 1 : 2);
        std::vector<double> d = random.numbers(of.rows(), 0.0, 1.0), v = random.numbers(of.rows());
        for (int64_t i = 0; i < of.n; ++i)
            if (random.coin(0.1))
                for (int64_t l = 0; l < of.outputs; ++l) d[l * of.n + i] = 0.0;
        std::vector<double> diagonal(of.rows());
        const std::vector<double> want = of.curved(d, v);
        of.stacked->curvature_diagonal(d.data(), diagonal.data());
        of.stacked->apply_curvature(d.data(), v.data());
        for (int64_t i = 0; i < of.rows(); ++i) {
            CHECK_NEAR(v[i], want[i], 1e-13);
            std::vector<double> unit(of.rows(), 0.0);
            unit[i] = 1.0;
            CHECK_NEAR(diagonal[i], of.curved(d, unit)[i], 1e-13);
        }
        const std::vector<int32_t> list = some_atoms(random, of);
        const int64_t size = std::ssize(list), order = size + of.outputs, first = random.integer(0, size);
        std::vector<double> gram((order - first) * order, NAN), none(size, 0.0), ones(size, 1.0);
        of.stacked->gram(list, first, none.data(), ones.data(), d.data(), gram.data(), team);
        for (int64_t a = first; a < order; ++a) {
            const std::vector<double> curved = of.curved(d, of.coordinate(a < size ? list[a] : of.atoms() + a - size));
            for (int64_t b = 0; b <= a; ++b)
                CHECK_NEAR(gram[(a - first) * order + b],
                           dot(curved, of.coordinate(b < size ? list[b] : of.atoms() + b - size)), 1e-11);
        }
    }
}

TEST(some_stacked_columns_stay_stacked) {
    for (int trial = 0; trial < 50; ++trial) {
        const Case of(random, 5);
        std::vector<int32_t> atoms;
        for (int64_t j = 0; j < of.p; ++j)
            if (random.coin())
                for (int64_t l = 0; l < of.outputs; ++l) atoms.push_back(static_cast<int32_t>(j * of.outputs + l));
        const auto some = of.stacked->select(atoms);
        CHECK(some->columns() == std::ssize(atoms) && some->blocks() == of.outputs);
        CHECK(some->couples_rows() == of.coupled);
        for (size_t k = 0; k < atoms.size(); ++k) {
            std::vector<double> z(of.rows(), 0.0);
            some->axpy(static_cast<int32_t>(k), 1.0, z.data());
            for (int64_t i = 0; i < of.rows(); ++i) CHECK_NEAR(z[i], of.atom(atoms[k])[i], 1e-14);
        }
    }
}

TEST(softmax_has_the_curvature_that_its_design_applies) {
    for (int trial = 0; trial < 100; ++trial) {
        const int64_t n = random.integer(1, 300), K = random.integer(2, 7);
        const std::vector<double> values(n, 1.0);
        const auto X = make_dense<double>(values.data(), n, 1, n);
        const auto stacked = make_stacked(*X, nullptr, nullptr, K, true);
        const Loss loss{LossKind::softmax, 0.0, K};
        std::vector<double> y(n * K, 0.0), w(n * K), eta = random.numbers(n * K, -3.0, 3.0), r(n * K), d(n * K), more(n * K);
        for (int64_t i = 0; i < n; ++i) {
            y[random.integer(0, K - 1) * n + i] = 1.0;
            const double weight = random.uniform(0.0, 1.0);
            for (int64_t l = 0; l < K; ++l) w[l * n + i] = weight;
        }
        const double value = loss.evaluate(n * K, eta.data(), y.data(), w.data(), r.data(), d.data());
        CHECK_NEAR(value, loss.value(n * K, eta.data(), y.data(), w.data()), 1e-12 * value);
        std::vector<double> along = random.numbers(n * K), there(eta);
        constexpr double step = 1e-5;
        kernels::axpy(step, along.data(), n * K, there.data());
        const double ahead = loss.evaluate(n * K, there.data(), y.data(), w.data(), more.data(), d.data());
        kernels::axpy(-2.0 * step, along.data(), n * K, there.data());
        const double behind = loss.value(n * K, there.data(), y.data(), w.data());
        CHECK_NEAR((ahead - behind) / (2.0 * step), dot(r, along), 1e-6);
        loss.evaluate(n * K, eta.data(), y.data(), w.data(), r.data(), d.data());
        stacked->apply_curvature(d.data(), along.data());
        for (int64_t i = 0; i < n * K; ++i) CHECK_NEAR((more[i] - r[i]) / step, along[i], 1e-4);
    }
}

TEST(softmax_keeps_the_digits_of_small_losses_and_large_scores) {
    const Loss loss{LossKind::softmax, 0.0, 3};
    const std::vector<double> y{1.0, 0.0, 0.0}, w{1.0, 1.0, 1.0};
    CHECK_NEAR(loss.value(3, std::vector<double>{50.0, 0.0, 0.0}.data(), y.data(), w.data()) / (2.0 * std::exp(-50.0)), 1.0,
               1e-12);
    CHECK_NEAR(loss.value(3, std::vector<double>{-1e6, 0.0, 1e6}.data(), y.data(), w.data()), 2e6, 1e-9);
    CHECK_NEAR(loss.value(3, std::vector<double>{5.0, 5.0, 5.0}.data(), y.data(), w.data()), std::log(3.0), 1e-15);
}

TEST(balanced_classes_give_as_much_as_they_get) {
    for (int trial = 0; trial < 500; ++trial) {
        const int64_t n = random.integer(1, 30), K = random.integer(2, 6);
        std::vector<int32_t> of_row(n);
        std::vector<double> A(n * K, 0.0);
        for (int64_t i = 0; i < n; ++i) {
            of_row[i] = static_cast<int32_t>(random.integer(0, K - 1));
            for (int64_t l = 0; l < K; ++l)
                if (l != of_row[i] && random.coin(0.7)) A[l * n + i] = static_cast<double>(random.integer(0, 1000));
        }
        const std::vector<double> before = A;
        balance_classes(of_row, K, A);
        std::vector<double> balance(K, 0.0);
        for (int64_t l = 0; l < K; ++l)
            for (int64_t i = 0; i < n; ++i) {
                CHECK(A[l * n + i] >= 0.0 && A[l * n + i] <= before[l * n + i]);
                balance[l] += A[l * n + i];
                balance[of_row[i]] -= A[l * n + i];
            }
        for (const double each : balance) CHECK(each == 0.0);
    }
}
