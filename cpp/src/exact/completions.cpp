#include "ellzero/exact/completions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ellzero/data/simd.hpp"

namespace ellzero {
namespace {

// The slopes and pivots of columns after one of them, `at`, has come in; line is its row of the Cholesky factor. `above` are
// the rows of those before, and their entries at this column.
ELLZERO_SIMD void step(const double* row, int above, const double* const* lines, const double* entries, double root,
                       double slope, int64_t from, int64_t to, const double* slopes, const double* pivots, double* line,
                       double* next_slopes, double* next_pivots) {
    const double inverse = 1.0 / root, share = slope * inverse;
    const double* first = above > 0 ? lines[0] : row;
    const double entry = above > 0 ? entries[0] : 0.0;
#pragma omp simd
    for (int64_t j = from; j < to; ++j) {
        const double x = (row[j] - entry * first[j]) * inverse;
        line[j] = x;
        next_slopes[j] = slopes[j] - share * x;
        next_pivots[j] = pivots[j] - x * x;
    }
}

ELLZERO_SIMD int64_t count_above(const double* slopes, const double* pivots, double need, int64_t from, int64_t to) {
    int64_t out = 0;
#pragma omp simd reduction(+ : out)
    for (int64_t j = from; j < to; ++j) out += slopes[j] * slopes[j] > need * pivots[j] ? 1 : 0;
    return out;
}

}  // namespace

double Completions::count(int64_t columns, int room) {
    double out = 1.0;
    for (int i = 0; i < room; ++i) out *= static_cast<double>(columns - i) / (i + 1);
    return out;
}

double Completions::margin(const NormalEquations& equations, const std::vector<int32_t>& in, const std::vector<int32_t>& free,
                           int room) {
    // In the problem's units the ridge is the same for all columns.
    double most = 0.0, ridge = 0.0;
    const auto square = [&](int32_t j) {
        const double u = equations.along[j], size = equations.sizes[j] / u;
        ridge = equations.ridge[j] / (u * u);
        return size * size + ridge;
    };
    std::vector<double> others;
    for (const int32_t j : in) most += square(j);
    others.reserve(free.size());
    for (const int32_t j : free) others.push_back(square(j));
    std::sort(others.begin(), others.end(), std::greater<>());
    for (int i = 0; i < std::min<int>(room, static_cast<int>(others.size())); ++i) most += others[i];
    const double reach = 2.0 * std::sqrt(most * equations.square / ridge) + equations.size;
    const auto order = static_cast<double>(in.size()) + room + 32.0;
    return 1.01 * (equations.error + 4.0 * order * std::numeric_limits<double>::epsilon()) * reach * reach;
}

double Completions::least(const Reduced& region, int room, double charge, double below) {
    const int64_t u = region.gram.order();
    gram_ = &region.gram;
    room_ = std::min<int>(room, static_cast<int>(u));
    charge_ = charge;
    best_.clear();
    most_ = 2.0 * (region.base - below);
    for (Level& level : levels_)
        for (auto* list : {&level.line, &level.slopes, &level.pivots}) list->resize(u);
    if (charge_ > 0.0 || room_ == 0) most_ = std::max(most_, 0.0);
    const double start = most_;
    levels_[0].slopes = region.slopes;
    for (int64_t j = 0; j < u; ++j) levels_[0].pivots[j] = region.gram(j, j);
    if (room_ > 0) look(0, 0, 0.0);
    const bool none = most_ == start && best_.empty();
    return none && (charge_ > 0.0 || room_ == 0) ? std::min(below, region.base) : region.base - 0.5 * most_;
}

void Completions::look(int depth, int64_t from, double gain) {
    Level& level = levels_[depth];
    const int64_t u = gram_->order();
    gain -= 2.0 * charge_;
    // The last one, or, where a feature has its price, one that may be the last.
    if (depth == room_ - 1 || charge_ > 0.0) {
        const double need = most_ - gain;
        if (need < 0.0 || count_above(level.slopes.data(), level.pivots.data(), need, from, u) > 0)
            for (int64_t j = from; j < u; ++j)
                if (const double all = gain + level.slopes[j] * level.slopes[j] / level.pivots[j]; all > most_) {
                    most_ = all;
                    chosen_[depth] = static_cast<int32_t>(j);
                    best_.assign(chosen_, chosen_ + depth + 1);
                }
    }
    if (depth == room_ - 1) return;
    Level& next = levels_[depth + 1];
    const double* lines[] = {levels_[0].line.data()};
    for (int64_t i = from; i < u - (charge_ > 0.0 ? 1 : room_ - depth - 1); ++i) {
        if (!(level.pivots[i] > 0.0)) continue;
        const double root = std::sqrt(level.pivots[i]), entry = depth > 0 ? levels_[0].line[i] : 0.0;
        chosen_[depth] = static_cast<int32_t>(i);
        step(gram_->row(i), depth, lines, &entry, root, level.slopes[i], i + 1, u, level.slopes.data(), level.pivots.data(),
             level.line.data(), next.slopes.data(), next.pivots.data());
        look(depth + 1, i + 1, gain + level.slopes[i] * level.slopes[i] / level.pivots[i]);
    }
}

}  // namespace ellzero
