#include "ellzero/relaxation/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ellzero/relaxation/multiplier.hpp"

namespace ellzero {
namespace {

// Logistic curvatures may be off by this part of themselves: a step then falls a little short, and the next one makes up for
// it.
constexpr double curvature_tolerance = 0.1;
// The multiplier mu of the sum of shares: trials, and the error of the sum that is allowed, relative to its limit.
constexpr int most_charges = 12;
constexpr double share_tolerance = 3e-3;
// A multiplier this small, relative to the objective, is zero.
constexpr double least_multiplier = 1e-9;

}  // namespace

Relaxation::Relaxation(const Problem& problem)
    : problem_(problem),
      loss_(problem.loss),
      eta_(problem.rows()),
      shift_(problem.rows(), 0.0),
      r_(problem.rows()),
      d_(problem.rows()),
      gram_(problem.X, problem.loss.kind == LossKind::logistic ? curvature_tolerance : 0.0),
      trial_(problem.rows()),
      trial_r_(problem.rows()) {
    step_.along.resize(problem.rows());
}

void Relaxation::begin(std::vector<Coordinate> coordinates, double intercept, double lambda_0, double mu, double most) {
    coordinates_ = std::move(coordinates);
    intercept_ = intercept;
    lambda_0_ = lambda_0;
    mu_ = mu;
    most_ = most;
    std::fill(eta_.begin(), eta_.end(), intercept_);
    for (Coordinate& c : coordinates_) {
        c.beta = std::clamp(std::isfinite(c.beta) ? c.beta : 0.0, c.box.low, c.box.high);
        if (c.beta != 0.0) problem_.X.axpy(c.column, c.beta, eta_.data());
    }
    set_envelopes();
}

void Relaxation::add(int32_t column, const Box& box) {
    coordinates_.push_back({column, box, true, 0.0});
    envelopes_.emplace_back(box, charge(), problem_.penalty);
}

void Relaxation::set_envelopes() {
    envelopes_.clear();
    for (const Coordinate& c : coordinates_)
        envelopes_.emplace_back(c.box, c.charged ? c.discount * charge() : 0.0, problem_.penalty);
}

double Relaxation::total_share() const {
    double total = 0.0;
    for (size_t k = 0; k < coordinates_.size(); ++k)
        if (coordinates_[k].charged) total += share(k);
    return total;
}

double Relaxation::value() const {
    double total = problem_.loss.smoothed(0.0).value(problem_.rows(), eta_.data(), problem_.y, problem_.w);
    for (size_t k = 0; k < coordinates_.size(); ++k) total += envelopes_[k].value(coordinates_[k].beta);
    return std::isinf(most_) ? total : total - mu_ * most_;
}

void Relaxation::smooth(double tau, const std::vector<float>* alpha) {
    loss_ = problem_.loss.smoothed(tau);
    // a = clip(alpha + z / tau) is the plain smoothing's at z + tau alpha.
    for (size_t i = 0; i < shift_.size(); ++i)
        shift_[i] = alpha ? -problem_.y[i] * tau * (*alpha)[i] * problem_.dual_unit(i) : 0.0;
}

void Relaxation::recentre(double tau) {
    loss_ = problem_.loss.smoothed(tau);
    for (size_t i = 0; i < shift_.size(); ++i)
        shift_[i] = problem_.w[i] > 0.0 ? tau * r_[i] / problem_.w[i] : 0.0;  // r = -w y alpha
}

void Relaxation::evaluate() {
    for (size_t i = 0; i < eta_.size(); ++i) trial_[i] = eta_[i] + shift_[i];
    loss_.evaluate(problem_.rows(), trial_.data(), problem_.y, problem_.w, r_.data(), d_.data());
}

void Relaxation::solve(double floor, int most_steps) {
    solve_at_charge(floor, most_steps);
    if (std::isinf(most_)) return;
    const double least = least_multiplier * std::abs(value() + mu_ * most_);
    MultiplierSearch search(most_, least);
    for (int trial = 0; trial < most_charges; ++trial) {
        const double total = total_share(), off = total - most_;
        if (std::abs(off) <= share_tolerance * most_ || (off < 0.0 && mu_ <= least)) return;
        mu_ = search.next(mu_, total);
        set_envelopes();
        solve_at_charge(floor, most_steps);
    }
}

void Relaxation::solve_at_charge(double floor, int most_steps) {
    for (int k = 0; k < most_steps && step(floor); ++k) problem_.X.monitor().poll();
    evaluate();
}

}  // namespace ellzero
