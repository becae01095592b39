#include "ellzero/support/line.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
constexpr int most_steps = 60;
// A slope of this share of the first one, or a bracket this narrow, is a minimum.
constexpr double flat_enough = 1e-4;
constexpr double narrow_enough = 1e-7;
// And a slope of the intercept below this (the weights sum to one) is level.
constexpr double level_enough = 1e-9;
}  // namespace

void Line::gather(const double* eta, int32_t j) {
    const Design::Entries found = problem_.X.design().entries(j, rows_, entries_);
    const double scale = problem_.X.scale(j), mean = problem_.X.mean(j);
    count_ = found.rows ? found.count : problem_.rows();
    eta_ = eta, y_ = problem_.y, w_ = problem_.w;
    if (found.rows && problem_.X.centred()) {
        count_ = problem_.rows();
        values_.assign(count_, -mean * scale);
        for (int64_t k = 0; k < found.count; ++k) values_[found.rows[k]] += found.values[k] * scale;
        x_ = values_.data();
        return;
    }
    if (found.rows) {
        eta_rows_.resize(count_), y_rows_.resize(count_), w_rows_.resize(count_);
        for (int64_t k = 0; k < count_; ++k) {
            const int32_t i = found.rows[k];
            eta_rows_[k] = eta[i], y_rows_[k] = problem_.y[i], w_rows_[k] = problem_.w[i];
        }
        eta_ = eta_rows_.data(), y_ = y_rows_.data(), w_ = w_rows_.data();
    }
    for (int64_t k = 0; k < count_; ++k) entries_[k] = (entries_[k] - mean) * scale;
    x_ = entries_.data();
}

double Line::evaluate(double step, double& shift, bool free) {
    double low = -Penalty::infinity, high = Penalty::infinity, wide = 1.0;
    for (int round = 0;; ++round) {
        for (int64_t i = 0; i < count_; ++i) moved_[i] = eta_[i] + shift;
        if (step != 0.0) kernels::axpy(step, x_, count_, moved_.data());
        const double value = problem_.loss.evaluate(count_, moved_.data(), y_, w_, r_.data(), d_.data());
        if (!free) return value;
        const double slope = kernels::sum(r_.data(), count_), bend = kernels::sum(d_.data(), count_);
        if (std::abs(slope) <= level_enough || round >= most_steps) return value;
        (slope < 0.0 ? low : high) = shift;
        if (high - low <= 1e-12 * (1.0 + std::abs(shift))) return value;
        double next = bend > 0.0 ? shift - slope / bend : Penalty::infinity;
        // Newton inside the bracket, but no step so long that an open side runs away; every third step halves a closed bracket,
        // for the hinge's slope is nearly a staircase.
        if (!(next > low && next < high) || std::abs(next - shift) > wide || round % 3 == 2) {
            if (std::isinf(high)) next = low + wide;
            else if (std::isinf(low)) next = high - wide;
            else next = 0.5 * (low + high);
            wide *= 2.0;
        }
        shift = next;
    }
}

double Line::settle(std::vector<double>& eta) {
    count_ = problem_.rows();
    eta_ = eta.data(), y_ = problem_.y, w_ = problem_.w;
    moved_.resize(count_), r_.resize(count_), d_.resize(count_);
    double shift = 0.0;
    if (problem_.intercept) {
        evaluate(0.0, shift, true);
        kernels::add_scalar(shift, count_, eta.data());
    }
    return shift;
}

Line::Minimum Line::along(const double* eta, int32_t j, double slope, double needed, bool take_intercept) {
    const Penalty& penalty = problem_.penalty;
    const double pull = std::abs(slope) - penalty.lambda_1;
    const double side = slope < 0.0 ? 1.0 : -1.0;
    const double reach = side > 0.0 ? penalty.high(j) : -penalty.low(j);
    const double curvature = problem_.broad_loss().curvature_bound() * problem_.X.square(j);
    if (pull <= 0.0 || reach <= 0.0 || curvature <= 0.0) return {0.0, 0.0, 0.0};
    double t = std::min(reach, pull / (curvature + 2.0 * penalty.lambda_2));
    // A parabola; its minimum does not move the intercept, for the column is centred.
    if (problem_.loss.constant_curvature()) return {side * t, t * (pull - 0.5 * (curvature + 2.0 * penalty.lambda_2) * t), 0.0};

    gather(eta, j);
    moved_.resize(count_), r_.resize(count_), d_.resize(count_);
    const Loss exact = problem_.loss.smoothed(0.0);
    const double before = exact.value(count_, eta_, y_, w_);
    const bool free = take_intercept && problem_.intercept;
    double shift = 0.0;
    // Root of the slope along `side` by Newton inside a bracket [low, high].
    double low = 0.0, high = reach;
    for (int step = 0; step < most_steps; ++step) {
        const double change = evaluate(side * t, shift, free) - before + penalty.value(t);
        double across = 0.0, bent = 0.0;
        kernels::moments(x_, d_.data(), count_, 0.0, across, bent);
        const double rise = side * kernels::dot(x_, r_.data(), count_) + penalty.lambda_1 + 2.0 * penalty.lambda_2 * t;
        if (free) bent -= across * across / std::max(kernels::sum(d_.data(), count_), 1e-300);
        bent += 2.0 * penalty.lambda_2;
        if (rise <= 0.0) low = t;
        else high = t;
        // G is convex (minimised over the intercept too): between 0 and t it stays above its tangents at both ends, which cross
        // at `cross`. The smoothed hinge lies at most smoothing / 2 below the true one.
        if (rise > 0.0 && needed > 0.0) {
            const double cross = (rise * t - change) / (pull + rise);
            if (pull * cross + problem_.loss.smoothing <= needed) return {0.0, 0.0, 0.0};
        }
        if (std::abs(rise) <= flat_enough * pull || low >= reach) break;
        if (std::isfinite(high) && high - low <= narrow_enough * high) break;
        double next = bent > 0.0 ? t - rise / bent : Penalty::infinity;
        if (!(next > low && next < high)) next = std::isinf(high) ? 4.0 * t : 0.5 * (low + high);
        t = std::min(next, std::isinf(high) ? 4.0 * t : high);
    }
    evaluate(side * t, shift, free);
    return {side * t, before - exact.value(count_, moved_.data(), y_, w_) - penalty.value(t), shift};
}

}  // namespace ellzero
