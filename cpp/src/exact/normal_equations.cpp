#include "ellzero/exact/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ellzero {
namespace {

// The work on a node grows with the third power of the columns. Below so many features, tables of gains are small.
constexpr int64_t most_columns = 600, most_features = 40;
// Bounds in float64 of normal equations are no closer than this.
constexpr double closest_gap = 1e-6;
// Levels of an attribute: a family has 2^members subsets, so that longer attributes are split.
constexpr size_t most_members = 12;
constexpr double no_overlap = 1e-10, rounding = 1e-9;
// Columns that exclude each other but leave most rows to none of them are no attribute.
constexpr double least_cover = 0.2;
// The squared correlation of a column and its copy. The difference of copies is a null vector: no curvature moves from them.
constexpr double nearly_one = 1.0 - 1e-9;
// Products of columns are rounded to `error` of their sizes. Where that is more than this share of a ridge, margins would take
// what penalties that hardly hold leave to prove: nodes are solved on rows.
constexpr double share_of_ridge = 1e-3;
// Sums of the verifier are over blocks of so many rows first. With an intercept, it knows columns and response about their
// means, but for these shares of their sizes about zero; the response was centred before, and its mean is not large.
constexpr double rows_of_block = 1024.0, share_of_division = 0x1p-12, share_of_mean = 0.25;

bool usable(const Problem& problem, const ExactOptions& options) {
    const Penalty& penalty = problem.penalty;
    if (!options.families || !problem.loss.constant_curvature() || problem.X.blocks() > 1 || problem.grouped()) return false;
    if (problem.rules || penalty.lambda_1 > 0.0 || !(penalty.lambda_2 > 0.0) || penalty.unequal || options.has_budget())
        return false;
    if (options.swaps.limits() || options.wanted.all || !options.integral.empty() || options.gap < closest_gap) return false;
    if (problem.columns() > most_columns || problem.columns() > problem.rows()) return false;
    if (std::min(options.k, problem.columns()) > most_features) return false;
    for (int32_t j = 0; j < problem.columns(); ++j)
        if (!penalty.counted(j) || std::isfinite(penalty.low(j)) || std::isfinite(penalty.high(j))) return false;
    return true;
}

// The columns of an attribute from `first` on, among those that have none; `share` is the weight of the rows with a number that
// is not zero. Empty if there is no attribute.
std::vector<int32_t> attribute_from(int32_t first, const std::vector<uint8_t>& taken, const std::vector<double>& share,
                                    const Matrix& products) {
    std::vector<int32_t> out{first};
    double cover = share[first];
    const auto exclude = [&](int32_t i, int32_t j) {
        return std::abs(products(i, j)) <= no_overlap * std::sqrt(products(i, i) * products(j, j));
    };
    for (auto j = first + 1; j < products.order() && cover < 1.0 - rounding; ++j) {
        if (taken[j] || !(share[j] > 0.0) || cover + share[j] > 1.0 + rounding) continue;
        if (!std::all_of(out.begin(), out.end(), [&](int32_t i) { return exclude(i, j); })) continue;
        out.push_back(j);
        cover += share[j];
    }
    return out.size() > 1 && cover >= least_cover ? out : std::vector<int32_t>{};
}

bool has_copy(int32_t j, const Matrix& gram) {
    for (int64_t i = 0; i < gram.order(); ++i)
        if (i != j && gram(i, j) > 0.0 && gram(i, j) * gram(i, j) >= nearly_one * gram(i, i) * gram(j, j)) return true;
    return false;
}

void find_attributes(const std::vector<double>& means, const Matrix& products, NormalEquations& out) {
    const auto p = static_cast<int32_t>(out.columns());
    std::vector<double> share(p, 0.0);
    std::vector<uint8_t> taken(p, 0);
    for (int32_t j = 0; j < p; ++j)
        if (products(j, j) > 0.0) share[j] = means[j] * means[j] / products(j, j);
    for (int32_t j = 0; j < p; ++j) {
        if (taken[j] || !(share[j] > 0.0)) continue;
        std::vector<int32_t> found = attribute_from(j, taken, share, products);
        for (const int32_t i : found) taken[i] = 1;
        std::erase_if(found, [&](int32_t i) { return has_copy(i, out.gram); });
        const size_t parts = (found.size() + most_members - 1) / most_members;
        for (size_t k = 0; k < found.size(); ++k) {
            const int32_t i = found[k];
            out.attribute[i] = out.attributes + static_cast<int32_t>(k * parts / found.size());
            out.along[i] = means[i] / products(i, i);
        }
        out.attributes += static_cast<int32_t>(parts);
    }
}

// Whether rounding leaves enough of the ridges; not if a number is not finite.
bool precise(const NormalEquations& equations) {
    const double error = static_cast<double>(equations.columns()) * equations.error;
    for (int64_t j = 0; j < equations.columns(); ++j) {
        const double ridge = equations.ridge[j], size = equations.sizes[j];
        if (!std::isfinite(equations.gram(j, j)) || !std::isfinite(equations.cross[j]) || !std::isfinite(ridge)) return false;
        if (!(ridge > 0.0) || !(error * size * size <= share_of_ridge * ridge)) return false;
    }
    return std::isfinite(equations.square);
}

}  // namespace

std::shared_ptr<const NormalEquations> normal_equations(const Problem& problem, const ExactOptions& options) {
    if (!usable(problem, options)) return nullptr;
    const int64_t p = problem.columns(), n = problem.rows(), ld = p + 1;
    auto out = std::make_shared<NormalEquations>(p);
    std::vector<int32_t> all(p);
    std::iota(all.begin(), all.end(), 0);
    std::vector<double> entries, y(problem.y, problem.y + n);
    problem.X.gram(all, problem.w, entries);
    double mean = 0.0, weight = 0.0;
    for (int64_t i = 0; i < n; ++i) {
        mean += problem.w[i] * y[i];
        weight += problem.w[i];
    }
    mean = problem.intercept ? mean / weight : 0.0;
    for (int64_t i = 0; i < n; ++i) {
        y[i] -= mean;
        out->square += problem.w[i] * y[i] * y[i];
        y[i] *= problem.w[i];
    }
    problem.X.dots(all, y.data(), out->cross);
    std::vector<double> means(p);
    if (problem.X.centred())
        for (int32_t j = 0; j < p; ++j) means[j] = problem.X.mean(j) * problem.X.scale(j);
    else problem.X.dots(all, problem.w, means);
    const bool centred = problem.X.centred();
    Matrix products(p);  // about zero
    for (int64_t i = 0; i < p; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            out->gram(i, j) = out->gram(j, i) = entries[i * ld + j];
            products(i, j) = products(j, i) = entries[i * ld + j] + (centred ? means[i] * means[j] : 0.0);
        }
    out->along.assign(p, 1.0);
    out->attribute.assign(p, -1);
    out->error = 4.0 * (rows_of_block + static_cast<double>(n) / rows_of_block + 64.0) * std::numeric_limits<double>::epsilon();
    find_attributes(means, products, *out);
    for (int64_t j = 0; j < p; ++j) {
        const double u = out->along[j];
        const double whole = std::sqrt(std::max(products(j, j), 0.0)) + std::abs(means[j]),
                     share = std::max(share_of_division, std::sqrt(out->error));
        const double size = problem.intercept ? std::sqrt(std::max(out->gram(j, j), 0.0)) + share * whole : whole;
        out->sizes.push_back(std::abs(u) * size * (1.0 + rounding));
        out->ridge.push_back(2.0 * problem.penalty.lambda_2 * u * u);
        out->cross[j] *= u;
        for (int64_t i = 0; i < p; ++i) out->gram(j, i) *= u * out->along[i];
    }
    out->size = (1.0 + share_of_mean) * std::sqrt(out->square);
    return precise(*out) ? out : nullptr;
}

}  // namespace ellzero
