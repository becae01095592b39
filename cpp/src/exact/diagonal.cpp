#include "ellzero/exact/diagonal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ellzero/data/kernels.hpp"
#include "ellzero/exact/definite.hpp"

namespace ellzero {
namespace {

// With more columns than this part of the rows hardly any curvature is left in all directions. At the root, where the work is
// done but once, little is worth it, too.
constexpr double most_of_rows = 0.35, most_at_the_root = 0.8;
// The work grows with the third power of the columns: with more of them it is done only where no penalty holds the
// coefficients, and beyond the last number not at all.
constexpr int64_t many_columns = 1000, most_columns = 2000;
constexpr double most_operations = 2e9;
// Steps towards the least eigenvalue, and the part of it that every column gives.
constexpr int steps_to_the_least = 15;
constexpr double part_of_all = 0.5;
// Sweeps of the barrier method. Each halves the barrier, which starts at this part of what a column alone could give.
constexpr int most_sweeps = 4;
constexpr double first_barrier = 0.5, lower_barrier = 0.5;
// A sweep that adds less than this part of the sum is the last.
constexpr double worth_a_sweep = 0.05;
// Where the margin is not met, a little less may meet it.
constexpr double a_little_less = 0.98;
constexpr int most_tries = 8;

// X'WX in units in which its diagonal is one, and these units; a column that is constant has none.
Matrix scaled_gram(const Problem& problem, const std::vector<int32_t>& columns, std::vector<double>& units) {
    const int64_t order = std::ssize(columns), ld = order + 1;
    std::vector<double> gram;
    problem.X.gram(columns, problem.w, gram);
    units.assign(order, 0.0);
    for (int64_t i = 0; i < order; ++i)
        if (const double square = gram[i * ld + i]; square > 0.0) units[i] = 1.0 / std::sqrt(square);
    Matrix out(order);
    for (int64_t i = 0; i < order; ++i)
        for (int64_t j = 0; j <= i; ++j) out(i, j) = out(j, i) = gram[i * ld + j] * units[i] * units[j];
    return out;
}

// An estimate of the least eigenvalue of L L', from above, by inverse iteration.
double least_eigenvalue(const Matrix& factor) {
    const int64_t order = factor.order();
    std::vector<double> x(order);
    for (int64_t i = 0; i < order; ++i) x[i] = i % 2 == 0 ? 1.0 : -1.0 + 1.0 / static_cast<double>(i + 1);
    double value = 0.0;
    for (int k = 0; k < steps_to_the_least; ++k) {
        const double length = std::sqrt(kernels::dot(x.data(), x.data(), order));
        for (double& each : x) each /= length;
        for (int64_t i = 0; i < order; ++i) x[i] = (x[i] - kernels::dot(factor.row(i), x.data(), i)) / factor(i, i);
        value = 1.0 / kernels::dot(x.data(), x.data(), order);
        for (int64_t i = order; i-- > 0;) {
            x[i] /= factor(i, i);
            kernels::axpy(-x[i], factor.row(i), i, x.data());
        }
    }
    return value;
}

// Coordinate ascent on sum_j d_j + barrier log det(gram - D): at its maximum over d_j, the inverse has 1 / barrier at j.
// Every column gives something.
std::vector<double> largest_diagonal(const Matrix& gram) {
    const int64_t order = gram.order();
    Matrix factor = gram;
    if (factorise(factor) < order) return {};
    const double least = part_of_all * least_eigenvalue(factor);
    std::vector<double> moved(order, least);
    factor = gram;
    for (int64_t j = 0; j < order; ++j) factor(j, j) -= least;
    if (!(least > 0.0) || factorise(factor) < order) return {};
    Matrix of_rest = inverse(factor);
    double alone = 0.0, sum = least * static_cast<double>(order);
    for (int64_t j = 0; j < order; ++j) alone += 1.0 / of_rest(j, j);
    double barrier = first_barrier * alone / static_cast<double>(order);
    const double cube = std::pow(static_cast<double>(order), 3.0);
    for (int k = 0; k < most_sweeps && (k == 0 || (k + 1) * cube <= most_operations); ++k, barrier *= lower_barrier) {
        double gained = 0.0;
        for (int64_t j = 0; j < order; ++j) {
            const double peak = of_rest(j, j), step = std::max(1.0 / peak - barrier, least - moved[j]);
            if (!(peak > 0.0) || !std::isfinite(step)) return {};
            const std::vector<double> column(of_rest.row(j), of_rest.row(j) + order);
            const double factor_of_change = step / (1.0 - step * peak);
            for (int64_t i = 0; i < order; ++i)
                kernels::axpy(factor_of_change * column[i], column.data(), order, of_rest.row(i));
            moved[j] += step;
            gained += step;
        }
        sum += gained;
        if (gained <= worth_a_sweep * sum) break;
    }
    return moved;
}

}  // namespace

bool worth_moving_curvature(const Problem& problem, int64_t columns, bool root) {
    if (!problem.loss.constant_curvature() || columns == 0 || problem.X.blocks() > 1) return false;
    const bool held = problem.penalty.lambda_1 > 0.0 || problem.penalty.lambda_2 > 0.0;
    if (root && !held) return columns <= most_columns && columns < problem.rows();
    const double share = root ? most_at_the_root : most_of_rows;
    return columns <= many_columns && static_cast<double>(columns) <= share * static_cast<double>(problem.rows());
}

std::shared_ptr<Diagonal> make_diagonal(const Problem& problem, std::vector<int32_t> columns) {
    auto out = std::make_shared<Diagonal>();
    std::sort(columns.begin(), columns.end());
    out->columns = std::move(columns);
    std::vector<double> units;
    Matrix gram = scaled_gram(problem, out->columns, units);
    const int64_t order = gram.order();
    for (int64_t i = 0; i < order; ++i) {
        double* row = gram.row(i);
        for (int64_t j = 0; j < order; ++j) row[j] *= 1.0 - Diagonal::slack;
    }
    double sizes = 0.0;
    for (int64_t k = 0; k < order; ++k) {
        const int32_t j = out->columns[k];
        const double size = 1.0 + 2.0 * std::abs(problem.X.mean(j)) * problem.X.scale(j) * units[k];
        sizes += size * size;
    }
    const double margin = margin_for_verifier(problem.rows(), order, sizes);
    std::vector<double> moved = largest_diagonal(gram);
    if (moved.empty()) return nullptr;
    for (int k = 0; k < most_tries; ++k) {
        if (leaves_definite(gram, moved, margin)) {
            for (int64_t j = 0; j < order; ++j) moved[j] /= units[j] * units[j];
            out->curvatures = std::move(moved);
            return out;
        }
        for (double& d : moved) d *= a_little_less;
    }
    return nullptr;
}

bool held_by_curvature(const Problem& problem) {
    std::vector<int32_t> columns;
    for (int32_t j = 0; j < problem.columns(); ++j)
        if (problem.X.square(j) > 0.0) columns.push_back(j);
    return worth_moving_curvature(problem, std::ssize(columns), true) && make_diagonal(problem, std::move(columns));
}

}  // namespace ellzero
