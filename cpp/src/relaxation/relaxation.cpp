#include "ellzero/relaxation/relaxation.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
// Added to the diagonal of H, relative to the curvature of the broad loss: rows off the hinge's bend have none of their own.
constexpr double damping = 1e-7;
// Logistic curvatures may be off by this share: a step then falls a little short, and the next one makes up for it.
constexpr double curvature_tolerance = 0.1;
constexpr int most_line_steps = 30;
constexpr int lost_after = 8;
// A step length is good where the slope is between zero and this share of its start.
constexpr double good_slope = 0.1;
constexpr int most_charges = 12;
// mu is found when the shares sum to their limit up to this.
constexpr double share_tolerance = 3e-3;
}  // namespace

Relaxation::Relaxation(const Problem& problem)
    : problem_(problem),
      loss_(problem.loss),
      eta_(problem.rows()),
      shift_(problem.rows(), 0.0),
      r_(problem.rows()),
      d_(problem.rows()),
      gram_(problem.X, problem.loss.kind == LossKind::logistic ? curvature_tolerance : 0.0),
      along_(problem.rows()),
      trial_(problem.rows()),
      trial_r_(problem.rows()) {}

void Relaxation::begin(std::vector<Coordinate> coordinates, double intercept, double lambda_0, double mu, double most) {
    coordinates_ = std::move(coordinates);
    intercept_ = intercept;
    lambda_0_ = lambda_0;
    mu_ = mu;
    most_ = most;
    std::fill(eta_.begin(), eta_.end(), intercept_);
    for (Coordinate& c : coordinates_) {
        c.beta = std::clamp(c.beta, c.box.low, c.box.high);
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
        envelopes_.emplace_back(c.box, c.free ? c.discount * charge() : 0.0, problem_.penalty);
}

double Relaxation::total_share() const {
    double total = 0.0;
    for (size_t k = 0; k < coordinates_.size(); ++k)
        if (coordinates_[k].free) total += share(k);
    return total;
}

double Relaxation::value() const {
    double total = problem_.loss.smoothed(0.0).value(problem_.rows(), eta_.data(), problem_.y, problem_.w);
    for (size_t k = 0; k < coordinates_.size(); ++k) total += envelopes_[k].value(coordinates_[k].beta);
    return std::isinf(most_) ? total : total - mu_ * most_;
}

void Relaxation::solve(double floor, int most_steps) {
    solve_at_charge(floor, most_steps);
    if (std::isinf(most_)) return;
    // The total share falls as mu rises. Regula falsi on its logarithm, inside a bracket that is found by doubling.
    double low = -1.0, high = -1.0, low_share = 0.0, high_share = 0.0;
    const double least = 1e-9 * std::abs(value() + mu_ * most_);
    for (int trial = 0; trial < most_charges; ++trial) {
        const double total = total_share(), off = total - most_;
        if (std::abs(off) <= share_tolerance * most_ || (off < 0.0 && mu_ <= least)) return;
        if (off > 0.0) {
            low = mu_;
            low_share = total;
        } else {
            high = mu_;
            high_share = total;
        }
        double next;
        if (low >= 0.0 && high >= 0.0) {
            const double a = std::log(low_share / most_), b = std::log(std::max(high_share, 1e-3 * most_) / most_);
            double weight = std::clamp(a / (a - b), 0.1, 0.9);
            next = low > 0.0 ? low * std::pow(high / low, weight) : weight * high;
        } else {
            // Shares fall about as 1 / mu.
            const double ratio = std::clamp(total / most_, 0.5, 2.0);
            next = mu_ > least ? mu_ * ratio : (off > 0.0 ? 10.0 * least : 0.0);
        }
        mu_ = next;
        set_envelopes();
        solve_at_charge(floor, most_steps);
    }
}

void Relaxation::solve_at_charge(double floor, int most_steps) {
    for (int k = 0; k < most_steps && step(floor); ++k) problem_.X.monitor().poll();
    evaluate();
}

void Relaxation::smooth(double tau, const std::vector<float>* alpha) {
    loss_ = problem_.loss.smoothed(tau);
    // a = clip(alpha + z / tau) is the plain smoothing's at z + tau alpha.
    for (size_t i = 0; i < shift_.size(); ++i) shift_[i] = alpha ? -problem_.y[i] * tau * (*alpha)[i] : 0.0;
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

bool Relaxation::step(double floor) {
    ++newton_steps;
    evaluate();
    const Columns& X = problem_.X;
    columns_.clear();
    for (const Coordinate& c : coordinates_) columns_.push_back(c.column);
    X.dots(columns_, r_.data(), slopes_);
    active_.clear();
    columns_.clear();
    x_.clear();
    g_.clear();
    pieces_.clear();
    for (size_t k = 0; k < coordinates_.size(); ++k) {
        const Coordinate& c = coordinates_[k];
        if (c.beta == 0.0 && envelopes_[k].stays_at_zero(slopes_[k])) continue;
        active_.push_back(k);
        columns_.push_back(c.column);
        x_.push_back(c.beta);
        g_.push_back(slopes_[k]);
        pieces_.push_back(&envelopes_[k]);
    }
    g_.push_back(kernels::sum(r_.data(), problem_.rows()));
    if (active_.empty() && !problem_.intercept) return false;
    const double broad = problem_.broad_loss().curvature_bound();
    damping_.assign(columns_.size() + 1, damping * broad);
    for (size_t a = 0; a < columns_.size(); ++a) damping_[a] *= X.square(columns_[a]);
    QuadraticForm form(gram_, columns_, d_);
    PiecewiseModel model(form, pieces_, g_, damping_, problem_.intercept);
    const double change = model.minimise(x_, 0.1 * floor);
    if (!(-change > floor)) return false;

    std::fill(along_.begin(), along_.end(), model.intercept_step());
    for (size_t a = 0; a < active_.size(); ++a) {
        const double move = x_[a] - coordinates_[active_[a]].beta;
        if (move != 0.0) X.axpy(columns_[a], move, along_.data());
    }
    const double length = line_search(x_);
    if (length == 0.0) return false;
    kernels::axpy(length, along_.data(), problem_.rows(), eta_.data());
    intercept_ += length * model.intercept_step();
    for (size_t a = 0; a < active_.size(); ++a) {
        double& beta = coordinates_[active_[a]].beta;
        beta = length == 1.0 ? x_[a] : beta + length * (x_[a] - beta);
    }
    return true;
}

// The objective is convex along the step: full length if it still falls there, else where its slope is nearly zero.
double Relaxation::line_search(const std::vector<double>& to) {
    const int64_t n = problem_.rows();
    const auto slope_at = [&](double t) {
        for (int64_t i = 0; i < n; ++i) trial_[i] = eta_[i] + shift_[i] + t * along_[i];
        loss_.residual(n, trial_.data(), problem_.y, problem_.w, trial_r_.data());
        double slope = kernels::dot(trial_r_.data(), along_.data(), n);
        for (size_t a = 0; a < active_.size(); ++a) {
            const double from = coordinates_[active_[a]].beta, move = to[a] - from;
            if (move == 0.0) continue;
            const double x = from + t * move;
            // At zero the envelope has two slopes: the one on the side where the step leads (or comes from, at its end).
            slope += move * (x != 0.0 ? pieces_[a]->slope(x) : pieces_[a]->slope_at_zero(t == 0.0 ? move : -move));
        }
        return slope;
    };
    const double at_start = slope_at(0.0);
    if (!(at_start < 0.0)) return 0.0;
    const double at_end = slope_at(1.0);
    if (at_end <= 1e-12 * -at_start) return 1.0;
    double low = 0.0, high = 1.0, low_slope = at_start, high_slope = at_end;
    for (int k = 0; k < most_line_steps; ++k) {
        const double share = std::clamp(low_slope / (low_slope - high_slope), 0.05, 0.95);
        // Along a direction that nothing bends, a step can be 1e7 times too long: then orders of magnitude are tried.
        const double t = low == 0.0 && k >= lost_after ? 0.1 * high : low + (high - low) * (k % 3 == 2 ? 0.5 : share);
        const double slope = slope_at(t);
        if (std::abs(slope) <= good_slope * -at_start) return t;
        if (slope < 0.0) {
            low = t;
            low_slope = slope;
        } else {
            high = t;
            high_slope = slope;
        }
    }
    return low;
}

}  // namespace ellzero
