#include "ellzero/relaxation/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ellzero {
namespace {

// Logistic curvatures may be off by this part of themselves: a step then falls a little short, and the next one makes up for
// it.
constexpr double curvature_tolerance = 0.1;
// A charge this small, relative to the objective, is zero.
constexpr double least_charge = 1e-9;
// Steps that find other charges are taken beside those that are asked for. After so many, the charges stay as they are.
constexpr int most_adjusted = 20;

}  // namespace

Relaxation::Relaxation(const Problem& problem)
    : problem_(problem),
      loss_(problem.loss),
      eta_(problem.rows()),
      shift_(problem.rows(), 0.0),
      r_(problem.rows()),
      d_(problem.rows()),
      gram_(problem.X, problem.loss.bends_gradually() ? curvature_tolerance : 0.0),
      trial_(problem.rows()),
      trial_r_(problem.rows()) {
    step_.along.resize(problem.rows());
}

void Relaxation::begin(std::vector<Coordinate> coordinates, const std::vector<double>& intercept, Charges charges) {
    coordinates_ = std::move(coordinates);
    intercept_ = intercept;
    intercept_.resize(problem_.X.blocks(), 0.0);
    charges_ = std::move(charges);
    search_.forget();
    for (Coordinate& c : coordinates_) c.beta = std::clamp(std::isfinite(c.beta) ? c.beta : 0.0, c.box.low, c.box.high);
    join();
    set_envelopes();
    set_eta();
    // Without one of its features a model can be far off: where rows are outliers, zero is a better start.
    std::fill(trial_.begin(), trial_.end(), 0.0);
    problem_.X.add_constants(intercept_.data(), trial_.data());
    const double at_zero = problem_.loss.value(problem_.rows(), trial_.data(), problem_.y, problem_.w) + charges_.constant();
    if (!(value() <= at_zero)) {
        for (Coordinate& c : coordinates_) c.beta = std::clamp(0.0, c.box.low, c.box.high);
        set_eta();
    }
}

void Relaxation::set_eta() {
    std::fill(eta_.begin(), eta_.end(), 0.0);
    problem_.X.add_constants(intercept_.data(), eta_.data());
    for (const Coordinate& c : coordinates_)
        if (c.beta != 0.0) problem_.X.axpy(c.column, c.beta, eta_.data());
}

void Relaxation::add(int32_t column, const Box& box, int32_t group, double moved) {
    coordinates_.push_back({column, box, group, 0.0, moved});
    envelopes_.push_back(envelope(coordinates_.back()));
    join(coordinates_.size() - 1);
}

double Relaxation::charge(const Coordinate& c) const {
    return c.discount * charges_.of(c.group, problem_.penalty.price(c.column));
}

Envelope Relaxation::envelope(const Coordinate& c) const { return {c.box, charge(c), {problem_.penalty, 0.5 * c.moved}}; }

// Coordinates that pay together.

void Relaxation::join() {
    together_.clear();
    together_of_.clear();
    for (size_t k = 0; k < coordinates_.size(); ++k) join(k);
}

void Relaxation::join(size_t k) {
    together_of_.push_back(-1);
    if (k == 0) return;
    const Coordinate &last = coordinates_[k - 1], &c = coordinates_[k];
    const bool pays = c.charged() && c.group == last.group && c.discount == last.discount;
    if (!pays || problem_.head(c.column) != problem_.head(last.column)) return;
    // A constant column stays at zero: its slope is rounding.
    const auto add = [&](const Coordinate& each) {
        const Box none{0.0, 0.0};
        together_.back().envelope.add(problem_.X.square(each.column) > 0.0 ? each.box : none,
                                      problem_.penalty.lambda_2 + 0.5 * each.moved);
    };
    if (together_of_[k - 1] < 0) {
        together_of_[k - 1] = static_cast<int32_t>(together_.size());
        together_.push_back({k - 1, JointEnvelope(charge(c), problem_.penalty.lambda_1)});
        add(last);
    }
    together_of_[k] = together_of_[k - 1];
    add(c);
}

std::span<const double> Relaxation::coefficients(const Together& some) const {
    coefficients_.clear();
    for (size_t a = 0; a < some.envelope.size(); ++a) coefficients_.push_back(coordinates_[some.first + a].beta);
    return coefficients_;
}

double Relaxation::size(size_t k) const {
    if (!joined(k)) return std::abs(coordinates_[k].beta);
    double square = 0.0;
    for (const double b : coefficients(*joined(k))) square += b * b;
    return std::sqrt(square);
}

void Relaxation::set_envelopes() {
    envelopes_.clear();  // the room stays: a step keeps pointers
    for (const Coordinate& c : coordinates_) envelopes_.push_back(envelope(c));
    for (Together& some : together_) some.envelope.set_charge(charge(coordinates_[some.first]));
}

double Relaxation::total_share() const {
    double total = 0.0;
    for (size_t k = 0; k < coordinates_.size(); ++k)
        if (coordinates_[k].charged() && leads(k)) total += share(k);
    return total;
}

double Relaxation::value() const {
    double total = problem_.loss.smoothed(0.0).value(problem_.rows(), eta_.data(), problem_.y, problem_.w);
    for (size_t k = 0; k < coordinates_.size(); ++k) {
        const Coordinate& c = coordinates_[k];
        total += (joined(k) ? 0.0 : envelopes_[k].value(c.beta)) - 0.5 * c.moved * c.beta * c.beta;
    }
    for (const Together& some : together_) total += some.envelope.value(coefficients(some));
    return total + charges_.constant();
}

void Relaxation::smooth(double tau, const std::vector<float>* alpha) {
    loss_ = problem_.loss.smoothed(tau);
    // a = clip(alpha + z / tau) is the plain smoothing's at z + tau alpha.
    for (size_t i = 0; i < shift_.size(); ++i)
        shift_[i] = alpha ? -problem_.y[i] * tau * static_cast<double>((*alpha)[i]) : 0.0;
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
    least_charge_ = least_charge * std::abs(value() - charges_.constant());
    int adjusted = 0;
    still_ = !charges_.searched();
    for (int steps = 0; steps < most_steps && step(floor);) {
        ++(step_.adjusted ? adjusted : steps);
        still_ = still_ || adjusted >= most_adjusted;
        problem_.X.monitor().poll();
    }
    evaluate();
}

}  // namespace ellzero
