#include "ellzero/scores/cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ellzero {
namespace {

constexpr uint64_t widest_table = 1 << 14;            // codes up to which cells are found by a table of all
constexpr uint64_t largest_code = uint64_t{1} << 48;  // to which another digit may be added
constexpr int most_steps = 60;                        // of Newton's method
constexpr int most_halvings = 40;                     // of a step
constexpr double enough = 1e-15;                      // a decrease of the loss, relative to the weights, that ends a fit
constexpr double flatness = 1e-11;                    // added to curvatures, so that a flat direction has a step

double softplus(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

double loss_of(const Cells& cells, const std::vector<double>& eta) {
    double sum = 0.0;
    for (int c = 0; c < cells.size(); ++c) sum += cells.positive[c] * softplus(-eta[c]) + cells.negative[c] * softplus(eta[c]);
    return sum;
}

// eta = z b[:d] + b[d].
void linear(std::span<const double> z, const std::vector<double>& b, std::vector<double>& eta) {
    const size_t d = b.size() - 1;
    for (size_t c = 0; c < eta.size(); ++c) {
        double sum = b[d];
        for (size_t j = 0; j < d; ++j) sum += z[c * d + j] * b[j];
        eta[c] = sum;
    }
}

// Solves h x = g for the entries in `free`, in place; false if h is not positive definite.
bool solve(std::vector<double>& h, std::vector<double>& g, const std::vector<int>& free, size_t d) {
    const size_t m = free.size();
    std::vector<double> l(m * m), x(m);
    for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j <= i; ++j) {
            double s = h[free[i] * d + free[j]];
            for (size_t k = 0; k < j; ++k) s -= l[i * m + k] * l[j * m + k];
            if (i == j && !(s > 0.0)) return false;
            l[i * m + j] = i == j ? std::sqrt(s) : s / l[j * m + j];
        }
        double s = g[free[i]];
        for (size_t k = 0; k < i; ++k) s -= l[i * m + k] * x[k];
        x[i] = s / l[i * m + i];
    }
    for (size_t i = m; i-- > 0;) {
        for (size_t k = i + 1; k < m; ++k) x[i] -= l[k * m + i] * x[k];
        x[i] /= l[i * m + i];
    }
    for (size_t i = 0; i < m; ++i) g[free[i]] = x[i];
    return true;
}

// -r log r - (1 - r) log(1 - r)
double entropy(double r) {
    const double left = r > 0.0 ? -r * std::log(r) : 0.0;
    return r < 1.0 ? left - (1.0 - r) * std::log1p(-r) : left;
}

double x_log_x(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// Replaces codes by their ranks; returns how many there are.
uint64_t renumber(std::vector<uint64_t>& code) {
    std::vector<uint64_t> found(code);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (uint64_t& each : code) each = std::lower_bound(found.begin(), found.end(), each) - found.begin();
    return found.size();
}

}  // namespace

ScoreRows::ScoreRows(const uint8_t* x, int64_t n, int p, const double* y, const double* w)
    : x_(x), n_(n), p_(p), y_(y), w_(w), largest_(p) {
    for (int j = 0; j < p; ++j) largest_[j] = n ? *std::max_element(column(j), column(j) + n) : 0;
}

bool ScoreLimits::admits(std::span<const int32_t> support, int j) const {
    return std::none_of(support.begin(), support.end(), [&](int32_t i) { return i == j || meet(i, j); });
}

double Cells::total() const {
    return std::accumulate(positive.begin(), positive.end(), 0.0) + std::accumulate(negative.begin(), negative.end(), 0.0);
}

Cells ScoreRows::cells(std::span<const int32_t> support) const {
    const int d = static_cast<int>(support.size());
    std::vector<uint64_t> code(n_, 0);  // a digit for each column
    uint64_t size = 1;
    for (const int32_t j : support) {
        if (size > largest_code) size = renumber(code);
        const uint8_t* x = column(j);
        for (int64_t i = 0; i < n_; ++i) code[i] += size * x[i];
        size *= uint64_t{largest(j)} + 1;
    }
    if (size > widest_table) size = renumber(code);
    std::vector<int32_t> place(size, -1);
    for (const uint64_t each : code) place[each] = 0;
    Cells out;
    out.d = d;
    int32_t count = 0;
    for (int32_t& each : place)
        if (each == 0) each = count++;
    out.positive.assign(count, 0.0);
    out.negative.assign(count, 0.0);
    out.z.resize(static_cast<size_t>(count) * d);
    std::vector<uint8_t> seen(count, 0);
    for (int64_t i = 0; i < n_; ++i) {
        const int32_t c = place[code[i]];
        (y_[i] > 0.0 ? out.positive : out.negative)[c] += w_[i];
        if (seen[c]) continue;
        seen[c] = 1;
        for (int j = 0; j < d; ++j) out.z[static_cast<size_t>(c) * d + j] = column(support[j])[i];
    }
    return out;
}

CellFit fit_cells(const Cells& cells, std::span<const double> z, std::span<const double> low, std::span<const double> high,
                  std::vector<double> b) {
    const size_t d = b.size(), m = cells.positive.size();  // the intercept included
    const double total = cells.total();
    for (size_t j = 0; j < d; ++j) b[j] = std::clamp(b[j], low[j], high[j]);
    std::vector<double> eta(m), h(d * d), g(d), trial(d), row(d, 1.0);
    std::vector<int> free;
    linear(z, b, eta);
    double loss = loss_of(cells, eta);
    for (int step = 0; step < most_steps; ++step) {
        std::fill(h.begin(), h.end(), 0.0);
        std::fill(g.begin(), g.end(), 0.0);
        for (size_t c = 0; c < m; ++c) {
            const double s = 1.0 / (1.0 + std::exp(-eta[c])), t = cells.positive[c] + cells.negative[c];
            const double slope = t * s - cells.positive[c], curve = t * s * (1.0 - s);
            std::copy_n(z.data() + c * (d - 1), d - 1, row.begin());
            for (size_t i = 0; i < d; ++i) {
                g[i] += slope * row[i];
                for (size_t j = 0; j <= i; ++j) h[i * d + j] += curve * row[i] * row[j];
            }
        }
        free.clear();
        for (size_t j = 0; j < d; ++j) {
            h[j * d + j] += flatness * (total + h[j * d + j]);
            const bool held = (b[j] <= low[j] && g[j] >= 0.0) || (b[j] >= high[j] && g[j] <= 0.0);
            if (!held) free.push_back(static_cast<int>(j));
        }
        std::vector<double> direction(g);
        if (!solve(h, direction, free, d)) break;
        double t = 1.0, promised = 0.0;
        for (const int j : free) promised += g[j] * direction[j];
        if (promised <= enough * total) break;
        bool better = false;
        for (int halving = 0; halving < most_halvings && !better; ++halving, t *= 0.5) {
            trial = b;
            double decrease = 0.0;
            for (const int j : free) {
                trial[j] = std::clamp(b[j] - t * direction[j], low[j], high[j]);
                decrease += g[j] * (b[j] - trial[j]);
            }
            linear(z, trial, eta);
            const double next = loss_of(cells, eta);
            if (next < loss && next <= loss - 1e-4 * decrease) {
                b = trial;
                loss = next;
                better = true;
            }
        }
        if (!better) break;
    }
    return {std::move(b), loss};
}

CellFit fit_support(const Cells& cells, std::span<const int32_t> support, const ScoreLimits& limits,
                    std::vector<double> start) {
    std::vector<double> low, high;
    for (const int32_t j : support) {
        low.push_back(limits.most * limits.low[j]);
        high.push_back(limits.most * limits.high[j]);
    }
    low.push_back(-limits.free_intercept());
    high.push_back(limits.free_intercept());
    start.resize(support.size() + 1, 0.0);
    return fit_cells(cells, cells.z, low, high, std::move(start));
}

double dual_bound(const Cells& cells, std::span<const double> b, std::span<const int32_t> low, std::span<const int32_t> high,
                  const ScoreLimits& limits) {
    const size_t d = cells.d, m = cells.positive.size();
    std::vector<double> eta(m), v(d, 0.0);
    linear(cells.z, {b.begin(), b.end()}, eta);
    double up = 0.0, down = 0.0, worth = 0.0;
    for (size_t c = 0; c < m; ++c) {
        up += cells.positive[c] / (1.0 + std::exp(eta[c]));
        down += cells.negative[c] / (1.0 + std::exp(-eta[c]));
    }
    const bool balanced = limits.ones < 0;  // a free intercept needs products that sum to zero
    const double rise = balanced && up > down ? down / up : 1.0, fall = balanced && down > up ? up / down : 1.0;
    for (size_t c = 0; c < m; ++c) {
        const double p = rise / (1.0 + std::exp(eta[c])), n = fall / (1.0 + std::exp(-eta[c]));
        worth += cells.positive[c] * entropy(p) + cells.negative[c] * entropy(n);
        const double theta = cells.positive[c] * p - cells.negative[c] * n;
        for (size_t j = 0; j < d; ++j) v[j] += theta * cells.z[c * d + j];
    }
    double most_gained = 0.0;
    for (size_t j = 0; j < d; ++j) most_gained += std::max(low[j] * v[j], high[j] * v[j]);
    const double bound = worth - limits.scaled(most_gained);
    return std::isfinite(bound) ? bound : -std::numeric_limits<double>::infinity();
}

double cell_entropy(const Cells& cells) {
    double sum = 0.0;
    for (int c = 0; c < cells.size(); ++c)
        sum += x_log_x(cells.positive[c] + cells.negative[c]) - x_log_x(cells.positive[c]) - x_log_x(cells.negative[c]);
    return sum;
}

}  // namespace ellzero
