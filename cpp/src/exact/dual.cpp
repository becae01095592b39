#include "ellzero/exact/dual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ellzero/data/kernels.hpp"
#include "ellzero/exact/class_balance.hpp"
#include "ellzero/exact/definite.hpp"

namespace ellzero {
namespace {

constexpr double unit = 0x1p-52;  // the spacing of numbers next to one
// Each term of the loss part may be off by so many units of its size: a few products, a logarithm, and the sum.
constexpr double rounding_of_terms = 16.0 * unit;
// Operations of a term whose results may underflow.
constexpr double operations_per_term = 8.0;
// Factor that rounds the norm up by more than its sum of squares can be off.
constexpr double rounded_up = 1.0 + 1e-12;
// Steps towards the wanted slopes: there are several, since clipping to the domain spoils each of them a little.
constexpr int projections = 3;
// Factor of the Gram matrix's diagonal: columns that repeat each other are told apart.
constexpr double ridge = 1.0 + 1e-12;
// Multiples of 2^-50 times their total can be summed without rounding.
constexpr int bits_of_grid = 50;
// Totals below 2^-901 leave no room for such a grid.
constexpr int least_exponent = -900;
// Powers of two up to 2^1000 are in range, and so are numbers that they bring near one.
constexpr int most_exponent = 1000;

// Calls add(term) for each term of the loss part of `scale` times theta.
template <class Add>
void for_terms(const Problem& problem, const std::vector<double>& theta, double scale, const Add& add) {
    const int64_t n = problem.rows() / problem.loss.coupled_outputs();
    for (int64_t i = 0; i < n; ++i)
        if (problem.w[i] != 0.0) add(problem.loss.dual_term(scale, &theta[i], &problem.y[i], problem.w[i], n));
}

// The grid whose multiples up to a total can be summed without rounding; zero if there is none.
double grid_of(double total) {
    int exponent = 0;
    std::frexp(total, &exponent);
    return exponent < least_exponent || !std::isfinite(total) ? 0.0 : std::ldexp(1.0, exponent - bits_of_grid);
}

// Makes the sum exactly zero. All entries become multiples of a grid so coarse that their sums are exact; the excess then
// leaves the heavier side, largest entries first, so that nothing leaves its domain. A point that is too small for a grid
// becomes zero, which is a dual point too.
void balance(std::span<double> theta) {
    double total = 0.0;
    for (const double t : theta) total += std::abs(t);
    const double grid = grid_of(total);
    if (grid == 0.0) return std::fill(theta.begin(), theta.end(), 0.0);
    double excess = 0.0;
    for (double& t : theta) {
        t = std::trunc(t / grid) * grid;
        excess += t;
    }
    const double side = std::copysign(1.0, excess);
    const auto larger = [&](double a, double b) { return side * a > side * b; };
    const auto take_from = [&](double& t) {
        const double taken = side * std::min(std::abs(excess), side * t);
        t -= taken;
        excess -= taken;
    };
    // One entry is nearly always enough.
    if (const auto first = std::min_element(theta.begin(), theta.end(), larger);
        first != theta.end() && side * *first >= std::abs(excess))
        return take_from(*first);
    std::vector<size_t> order;
    for (size_t i = 0; i < theta.size(); ++i)
        if (side * theta[i] > 0.0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return larger(theta[a], theta[b]); });
    for (const size_t i : order) take_from(theta[i]);
}

// Moves theta along the rows that have room, d_i > 0, until the wanted slopes are nearly met (and its sum is nearly zero, with
// an intercept).
void project(const Problem& problem, const std::vector<double>& d, const std::vector<Slope>& wanted,
             std::vector<double>& alpha) {
    if (problem.loss.couples_outputs()) return;  // its rows move together: a slope a little off costs a little
    const int64_t n = problem.rows(), m = std::ssize(wanted), ld = m + problem.X.blocks();
    const int64_t order = m + problem.constants();
    std::vector<int32_t> columns;
    columns.reserve(wanted.size());
    for (const Slope& slope : wanted) columns.push_back(slope.column);
    std::vector<double> theta(n), gram, v;
    problem.X.gram(columns, d.data(), gram);
    Matrix factor(order);
    for (int64_t i = 0; i < order; ++i) {
        std::copy_n(&gram[i * ld], i + 1, factor.row(i));
        factor(i, i) *= ridge;
    }
    if (factorise(factor) < order) return;
    for (int k = 0; k < projections; ++k) {
        for (int64_t i = 0; i < n; ++i) theta[i] = problem.w[i] * alpha[i] * problem.loss.dual_sign(problem.y[i]);
        problem.X.dots(columns, theta.data(), v);
        for (int64_t j = 0; j < m; ++j) v[j] -= wanted[j].value;
        v.resize(order);
        if (problem.intercept) problem.X.block_sums(theta.data(), &v[m]);
        solve(factor, v);
        std::fill(theta.begin(), theta.end(), 0.0);
        if (problem.intercept) problem.X.add_constants(&v[m], theta.data());
        problem.X.add(columns, v.data(), theta.data());
        for (int64_t i = 0; i < n; ++i)
            if (problem.w[i] > 0.0)
                alpha[i] =
                    problem.loss.clip_dual(alpha[i] - d[i] * theta[i] / problem.w[i] * problem.loss.dual_sign(problem.y[i]));
    }
}

// sum_i theta_i = 0 over the rows of an output, which an intercept needs: the heavier class is scaled down. A regression loses
// its mean.
void centre(const Problem& problem, int64_t output, std::vector<double>& alpha) {
    const int64_t n = problem.rows() / problem.X.blocks(), first = output * n, last = first + n;
    if (problem.loss.regression()) {
        // Where residuals have a limit, what leaves the domain is cut off, and moves the mean again.
        bool inside = false;
        for (int k = 0; k < projections && !inside; ++k) {
            const double mean = kernels::dot(problem.w + first, alpha.data() + first, n);
            inside = true;
            for (int64_t i = first; i < last; ++i) {
                const double moved = alpha[i] - mean;
                alpha[i] = problem.loss.clip_dual(moved);
                inside &= alpha[i] == moved;
            }
        }
        return;
    }
    double side[2] = {0.0, 0.0};
    for (int64_t i = first; i < last; ++i) side[problem.y[i] > 0.0] += problem.w[i] * alpha[i];
    if (problem.heavy != 0.0 && (problem.loss.has_margin() || side[problem.heavy > 0.0] == 0.0)) {
        // Of the heavy class, 1 - y eta is nothing but rounding. Without features all its rows have the same share.
        double weight = 0.0;
        for (int64_t i = 0; i < n; ++i) weight += problem.y[i] == problem.heavy ? problem.w[i] : 0.0;
        const double share = std::min(side[problem.heavy < 0.0] / weight, 1.0);
        for (int64_t i = 0; i < n; ++i)
            if (problem.y[i] == problem.heavy) alpha[i] = problem.w[i] > 0.0 ? share : 0.0;
        return;
    }
    const bool heavy = side[1] > side[0];
    if (side[heavy] == 0.0) return;
    const double factor = side[!heavy] / side[heavy];
    for (int64_t i = first; i < last; ++i)
        if ((problem.y[i] > 0.0) == heavy) alpha[i] *= factor;
}

// A response may be larger than a float is, or a residual out of range: there any finite number will do.
float in_single(double alpha) {
    constexpr double largest = std::numeric_limits<float>::max();
    return std::isnan(alpha) ? 0.0F : static_cast<float>(std::clamp(alpha, -largest, largest));
}

// alpha in its unit and in single precision, followed by what that lost of each entry if `with_rest` is set.
std::vector<float> rounded(const Problem& problem, std::vector<double>& alpha, bool with_rest) {
    if (problem.heavy != 0.0)
        for (size_t i = 0; i < alpha.size(); ++i) alpha[i] /= problem.dual_unit(static_cast<int64_t>(i));
    std::vector<float> out;
    out.reserve((with_rest ? 2 : 1) * alpha.size());
    for (const double a : alpha) out.push_back(in_single(a));
    if (with_rest)
        for (size_t i = 0; i < alpha.size(); ++i) out.push_back(in_single(alpha[i] - static_cast<double>(out[i])));
    return out;
}

// Of softmax: theta holds the shares of the classes that are not the row's own, and becomes the dual point. What row i gives to
// class l, its weight times the share, is rounded to a grid, so that no row gives more than it weighs; with intercepts, all
// classes give as much as they get. The entry of a row's own class is what it gives in all.
void settle_classes(const Problem& problem, std::vector<double>& theta) {
    const int64_t classes = problem.loss.outputs, n = problem.rows() / classes;
    double total = 0.0;
    std::vector<int32_t> of_row(n, 0);
    for (int64_t i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int64_t l = 0; l < classes; ++l) {
            if (problem.y[l * n + i] != 0.0) of_row[i] = static_cast<int32_t>(l);
            sum += theta[l * n + i];
        }
        for (int64_t a = i; a < problem.rows(); a += n) theta[a] = problem.w[i] * (theta[a] / std::max(sum, 1.0));
    }
    for (const double t : theta) total += t;
    const double grid = grid_of(total);
    if (grid == 0.0) return std::fill(theta.begin(), theta.end(), 0.0);
    for (double& t : theta) t = std::trunc(t / grid) * grid;
    for (int64_t i = 0; i < n; ++i) {
        double sum = 0.0;
        int64_t largest = i;
        for (int64_t a = i; a < problem.rows(); a += n) {
            sum += theta[a];
            if (theta[a] > theta[largest]) largest = a;
        }
        if (sum > problem.w[i]) theta[largest] -= std::ceil((sum - problem.w[i]) / grid) * grid;
    }
    if (problem.intercept) balance_classes(of_row, classes, theta);
    for (int64_t i = 0; i < n; ++i) {
        double given = 0.0;
        for (int64_t a = i; a < problem.rows(); a += n) {
            given += theta[a];
            theta[a] = -theta[a];
        }
        theta[of_row[i] * n + i] = given;
    }
}

// Computes theta from the alpha that is kept, as a verifier does.
void set_theta(const Problem& problem, DualPoint& out) {
    const int64_t n = problem.rows();
    const bool coupled = problem.loss.couples_outputs();
    out.theta.resize(n);
    for (int64_t i = 0; i < n; ++i) {
        const std::vector<float>& kept = out.kept.alpha;
        const double rest = std::ssize(kept) > n ? static_cast<double>(kept[n + i]) : 0.0;
        const double alpha = problem.loss.clip_dual((static_cast<double>(kept[i]) + rest) * problem.dual_unit(i));
        out.theta[i] =
            coupled ? (problem.y[i] == 0.0 ? alpha : 0.0) : problem.w[i] * alpha * problem.loss.dual_sign(problem.y[i]);
    }
    if (coupled) return settle_classes(problem, out.theta);
    const int64_t block = n / problem.X.blocks();
    for (int64_t l = 0; l < problem.constants(); ++l) balance(std::span(out.theta).subspan(l * block, block));
}

// sqrt(sum_i theta_i^2 / w_i), rounded up. A power of two keeps the squares in range.
double norm_of(const std::vector<double>& theta, const double* w) {
    double largest = 0.0, square = 0.0;
    for (const double t : theta) largest = std::max(largest, std::abs(t));
    if (largest == 0.0) return 0.0;
    const double factor = std::ldexp(1.0, std::min(-std::ilogb(largest), most_exponent));
    for (size_t i = 0; i < theta.size(); ++i)
        if (w[i] > 0.0) square += factor * theta[i] * (factor * theta[i] / w[i]);
    return std::sqrt(square) * rounded_up / factor;
}

// Neumaier's sum, lowered by what rounding can have done to its terms.
void set_value(const Problem& problem, DualPoint& out) {
    double total = 0.0, lost = 0.0, size = 0.0;
    for_terms(problem, out.theta, 1.0, [&](const Loss::DualTerm& found) {
        const auto [term, parts] = found;
        const double next = total + term;
        lost += std::abs(total) >= std::abs(term) ? (total - next) + term : (term - next) + total;
        total = next;
        size += parts;
    });
    const double underflow =
        operations_per_term * static_cast<double>(problem.rows()) * std::numeric_limits<double>::denorm_min();
    out.loss_part = total + lost - (rounding_of_terms * size + underflow);
    if (std::isnan(out.loss_part)) out.loss_part = -Penalty::infinity;
    out.norm = norm_of(out.theta, problem.w);
}

}  // namespace

bool needs_precision(const Problem& problem, double gap) {
    // x_j . theta is off by about e |x_j|, with e = 2^-25, and the bound by the square of that over 4 lambda_2.
    constexpr double error = 0x1p-50, share_of_gap = 1e-3, least_gap = 1e-10;
    double largest = 0.0;
    for (int32_t j = 0; j < problem.columns(); ++j) largest = std::max(largest, problem.X.square(j));
    return error * largest >= share_of_gap * std::max(gap, least_gap) * 4.0 * problem.penalty.lambda_2;
}

void make_dual(const Problem& problem, const std::vector<double>& r, const std::vector<double>& d,
               const std::vector<Slope>& wanted, bool precise, DualPoint& out) {
    // 1. alpha in the domain of the conjugates, as the constraints want it.
    const int64_t n = problem.rows();
    std::vector<double> alpha(n, 0.0);
    for (int64_t i = 0; i < n; ++i)
        if (problem.w[i] > 0.0) alpha[i] = problem.loss.clip_dual(-r[i] / problem.w[i] * problem.loss.dual_sign(problem.y[i]));
    if (!wanted.empty()) project(problem, d, wanted, alpha);
    if (!problem.loss.couples_outputs())
        for (int64_t l = 0; l < problem.constants(); ++l) centre(problem, l, alpha);
    // 2. Round it as a certificate keeps it, and compute the bound from that.
    out.kept = {};
    out.scale = 1.0;
    out.kept.alpha = rounded(problem, alpha, precise);
    out.added.clear();
    set_theta(problem, out);
    set_value(problem, out);
}

double loss_part_of_scaled(const Problem& problem, const DualPoint& dual, double t) {
    double total = 0.0;
    for_terms(problem, dual.theta, t, [&](const Loss::DualTerm& term) { total += term.value; });
    return total;
}

void scale(const Problem& problem, double t, DualPoint& dual) {
    for (float& alpha : dual.kept.alpha) alpha = static_cast<float>(t * static_cast<double>(alpha));
    dual.scale *= t;
    set_theta(problem, dual);
    set_value(problem, dual);
}

void use_diagonal(const Problem& problem, const std::vector<double>& r, const std::shared_ptr<const Diagonal>& diagonal,
                  DualPoint& out) {
    out.kept.diagonal = diagonal;
    out.added.assign(problem.columns(), 0.0);
    for (size_t k = 0; k < diagonal->columns.size(); ++k) out.added[diagonal->columns[k]] = diagonal->curvatures[k];
    double worth = 0.0, error = 0.0;
    for (size_t k = 0; k < out.kept.columns.size(); ++k) {
        const double b = out.kept.coefficients[k];
        worth += 0.5 * out.added[out.kept.columns[k]] * b * b;
    }
    std::vector<double> coefficients(problem.columns(), 0.0);
    for (size_t k = 0; k < out.kept.columns.size(); ++k) coefficients[out.kept.columns[k]] = out.kept.coefficients[k];
    for (size_t j = 0; j < coefficients.size(); ++j) out.added[j] *= coefficients[j];
    for (int64_t i = 0; i < problem.rows(); ++i)
        if (problem.w[i] > 0.0) error += (out.theta[i] + r[i]) * ((out.theta[i] + r[i]) / problem.w[i]);
    const double change = worth * (1.0 - rounding_of_terms) - rounded_up * diagonal->price_of_errors() * error;
    out.loss_part += change - rounding_of_terms * (std::abs(out.loss_part) + std::abs(change));
}

}  // namespace ellzero
