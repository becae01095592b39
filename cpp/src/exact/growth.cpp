#include "ellzero/exact/growth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ellzero/data/kernels.hpp"
#include "ellzero/exact/definite.hpp"
#include "ellzero/exact/diagonal.hpp"

namespace ellzero {
namespace {

// Steps of Newton's method: so many, each halved up to so many times, until one promises less than this.
constexpr int most_steps = 60, most_halvings = 40;
constexpr double smallest_gain = 1e-26;
// A step that promises less than this is taken as it is: the loss has no digits that could tell.
constexpr double too_small_to_measure = 1e-9, enough_of_a_gain = 1e-4;
// Columns of which less than this part is their own are combinations of others.
constexpr double least_part = 1e-9;
// The part of the curvature that the entries of the diagonal may take, and the largest sum_j v_j^2 / d_j: verifiers allow 0.24.
constexpr double part_taken = 0.5, largest_slope = 0.1;

// [Z, 1]' diag(d) [Z, 1] without the intercept, which is eliminated if there is one, in units in which its diagonal is one.
struct Curvature {
    Matrix gram;
    std::vector<double> units;
    std::vector<double> sums;  // z_j . d
    double total;              // the sum of d

    Curvature(const Problem& problem, std::span<const int32_t> columns, const std::vector<double>& d)
        : gram(std::ssize(columns)), units(columns.size()), sums(columns.size(), 0.0) {
        const int64_t order = gram.order(), ld = order + 1;
        std::vector<double> entries;
        problem.X.gram(columns, d.data(), entries);
        total = entries[order * ld + order];
        if (problem.intercept) std::copy_n(&entries[order * ld], order, sums.begin());
        const auto entry = [&](int64_t i, int64_t j) {
            return problem.intercept ? entries[i * ld + j] - sums[i] * (sums[j] / total) : entries[i * ld + j];
        };
        for (int64_t i = 0; i < order; ++i) units[i] = 1.0 / std::sqrt(entry(i, i));
        for (int64_t i = 0; i < order; ++i)
            for (int64_t j = 0; j <= i; ++j) gram(i, j) = gram(j, i) = entry(i, j) * units[i] * units[j];
    }
};

// The logistic fit of some columns by Newton's method: its residuals are a dual point with slopes of zero, in the domain of all
// losses of labels.
class Fit {
  public:
    Fit(const Problem& problem, std::span<const int32_t> columns)
        : problem_(problem), columns_(columns), eta_(problem.rows(), 0.0), r_(problem.rows()), d_(problem.rows()) {
        value_ = evaluate();
    }

    // Returns a column that is a combination of the others, -1 if there is none.
    int32_t run() {
        for (int k = 0; k < most_steps; ++k) {
            Curvature curvature(problem_, columns_, d_);
            const int64_t done = factorise(curvature.gram, k == 0 ? least_part : 0.0);
            if (done < curvature.gram.order()) return k == 0 ? columns_[done] : -1;
            const double gain = find_step(curvature);
            if (!(gain > smallest_gain) || !take_step(gain)) break;
        }
        return -1;
    }

    const std::vector<double>& residual() const { return r_; }

  private:
    double evaluate() {
        return Loss::logistic().evaluate(problem_.rows(), eta_.data(), problem_.y, problem_.w, r_.data(), d_.data());
    }

    // Fills along_, the change of eta. Returns what the step promises, twice.
    double find_step(const Curvature& at) {
        std::vector<double> slopes;
        problem_.X.dots(columns_, r_.data(), slopes);
        const double slope = problem_.intercept ? std::accumulate(r_.begin(), r_.end(), 0.0) : 0.0;
        std::vector<double> step(slopes.size());
        for (size_t c = 0; c < step.size(); ++c) step[c] = (at.sums[c] * (slope / at.total) - slopes[c]) * at.units[c];
        solve(at.gram, step);
        double intercept = -slope, gain = 0.0;
        std::vector<double> all(problem_.columns(), 0.0);
        for (size_t c = 0; c < step.size(); ++c) {
            step[c] *= at.units[c];
            intercept -= at.sums[c] * step[c];
            gain -= slopes[c] * step[c];
            all[columns_[c]] = step[c];
        }
        intercept = problem_.intercept ? intercept / at.total : 0.0;
        along_.assign(problem_.rows(), intercept);
        problem_.X.add_all(all.data(), along_.data());
        return gain - slope * intercept;
    }

    bool take_step(double gain) {
        const std::vector<double> start = eta_;
        double length = 1.0;
        for (int k = 0; k < most_halvings; ++k, length /= 2.0) {
            for (size_t i = 0; i < eta_.size(); ++i) eta_[i] = start[i] + length * along_[i];
            const double value = evaluate();
            if (gain < too_small_to_measure || value <= value_ - enough_of_a_gain * length * gain) {
                value_ = value;
                return true;
            }
        }
        eta_ = start;
        evaluate();
        return false;
    }

    const Problem& problem_;
    std::span<const int32_t> columns_;
    std::vector<double> eta_, r_, d_, along_;
    double value_ = 0.0;
};

// The sum of the squares of the columns' sizes about zero, in units of what is left of them about their means.
double sizes_of(const Problem& problem, std::span<const int32_t> columns, const Curvature& curvature) {
    double out = 0.0;
    for (size_t c = 0; c < columns.size(); ++c) {
        const int32_t j = columns[c];
        const double mean = problem.X.mean(j) * problem.X.scale(j) + curvature.sums[c] / curvature.total;
        const double size = 1.0 + 2.0 * std::abs(mean) * std::sqrt(curvature.total) * curvature.units[c];
        out += size * size;
    }
    return out;
}

// Each entry could be the inverse of that of the inverse, if it were alone: all together may take the mean of that.
std::vector<double> fair_diagonal(const Matrix& gram) {
    const int64_t order = gram.order();
    Matrix factor = gram;
    if (factorise(factor) < order) return {};
    const Matrix of_gram = inverse(factor);
    std::vector<double> out(order);
    for (int64_t j = 0; j < order; ++j) out[j] = part_taken / (static_cast<double>(order) * of_gram(j, j));
    return out;
}

}  // namespace

Growth find_growth(const Problem& problem, std::span<const int32_t> columns) {
    Growth out;
    Fit fit(problem, columns);
    out.combination = fit.run();
    if (out.combination >= 0) return out;
    const int64_t n = problem.rows(), order = std::ssize(columns);
    std::vector<double> alpha(n, 0.0), squares(n, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        if (!(problem.w[i] > 0.0)) continue;
        alpha[i] = std::clamp(-fit.residual()[i] * problem.y[i] / problem.w[i], 0.0, 1.0);
        const double room = problem.w[i] * std::min(alpha[i], 1.0 - alpha[i]);
        squares[i] = room * room;
    }
    Curvature curvature(problem, columns, squares);
    for (int64_t i = 0; i < order; ++i)
        for (int64_t j = 0; j < order; ++j) curvature.gram(i, j) *= 1.0 - Diagonal::slack;
    std::vector<double> entries = fair_diagonal(curvature.gram);
    const double margin = margin_for_verifier(n, order, sizes_of(problem, columns, curvature));
    if (entries.empty() || !leaves_definite(curvature.gram, entries, margin)) return out;
    std::vector<double> slopes;
    problem.X.dots(columns, fit.residual().data(), slopes);
    double slope = 0.0;
    for (int64_t j = 0; j < order; ++j) {
        const double v = slopes[j] * curvature.units[j];
        slope += v * v / entries[j];
        entries[j] /= curvature.units[j] * curvature.units[j];
    }
    if (!(slope <= largest_slope)) return out;
    out.alpha = std::move(alpha);
    out.entries = std::move(entries);
    return out;
}

}  // namespace ellzero
