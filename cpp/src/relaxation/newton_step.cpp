// One Newton step of a relaxation: the coordinates that may move, the model's minimum over them, and a line search towards it.
#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"
#include "ellzero/relaxation/piecewise.hpp"
#include "ellzero/relaxation/relaxation.hpp"

namespace ellzero {
namespace {

// Added to the diagonal of H, relative to the curvature of the broad loss: rows off the hinge's bend have none of their own.
constexpr double relative_damping = 1e-7;
// The model is minimised to this part of what a step must gain.
constexpr double share_of_floor = 0.1;
// Charges that are tried in a step.
constexpr int most_charges = 15;
// Coordinates whose slopes are beyond this part of what makes them move: they would if their charge fell.
constexpr double nearly_moving = 0.9;
// The line search: trials; a step length is good where the slope is at most this part of its start, and the full one also where
// the slope is positive by rounding alone.
constexpr int most_line_steps = 30;
constexpr double good_slope = 0.1, rounding_of_slope = 1e-12;
// The next trial keeps away from the ends of the bracket by this part of it; every third halves it.
constexpr double margin = 0.05;
constexpr int halving_period = 3;
// Where nothing but the damping bends the model, a step can be 1e7 times too long: after so many trials it shrinks by orders of
// magnitude.
constexpr int lost_after = 8;
constexpr double much_shorter = 0.1;

}  // namespace

bool Relaxation::step(double floor) {
    ++newton_steps;
    evaluate();
    if (!choose_active()) {
        search_.begin(charges_, least_charge_, share_of_floor * floor);
        return step_.adjusted = adjust();
    }
    if (!(minimise_model(floor) > floor)) return step_.adjusted;
    std::fill(step_.along.begin(), step_.along.end(), 0.0);
    problem_.X.add_constants(step_.intercept.data(), step_.along.data());
    std::vector<double> changes(step_.active.size());
    for (size_t a = 0; a < changes.size(); ++a) changes[a] = step_.to[a] - coordinates_[step_.active[a]].beta;
    problem_.X.add(step_.columns, changes.data(), step_.along.data());
    const double length = line_search();
    if (length == 0.0) return step_.adjusted;
    move(length);
    return true;
}

bool Relaxation::choose_active() {
    columns_.clear();
    for (const Coordinate& c : coordinates_) columns_.push_back(c.column);
    problem_.X.dots(columns_, r_.data(), slopes_);
    step_.active.clear();
    step_.columns.clear();
    step_.to.clear();
    step_.slopes.clear();
    step_.envelopes.clear();
    step_.joints.clear();
    const double nearly = charges_.searched() ? nearly_moving : 1.0;
    for (size_t k = 0; k < coordinates_.size(); ++k) {
        const Coordinate& c = coordinates_[k];
        if (const Together* some = joined(k)) {
            const size_t end = k + some->envelope.size();
            for (size_t a = k; a < end; ++a) slopes_[a] -= coordinates_[a].moved * coordinates_[a].beta;
            if (!stays_at_zero(*some, nearly)) {
                step_.joints.push_back({std::ssize(step_.active), &some->envelope});
                for (size_t a = k; a < end; ++a) activate(a, nullptr);
            }
            k = end - 1;
            continue;
        }
        if (problem_.X.square(c.column) == 0.0) continue;  // a constant column: its slope is rounding
        slopes_[k] -= c.moved * c.beta;
        if (c.beta == 0.0 && envelopes_[k].stays_at_zero(c.charged() ? slopes_[k] / nearly : slopes_[k])) continue;
        activate(k, &envelopes_[k]);
    }
    step_.slopes.resize(step_.active.size() + problem_.X.blocks());
    problem_.X.block_sums(r_.data(), &step_.slopes[step_.active.size()]);
    return !step_.active.empty() || problem_.intercept;
}

void Relaxation::activate(size_t k, const Envelope* envelope) {
    step_.active.push_back(k);
    step_.columns.push_back(coordinates_[k].column);
    step_.to.push_back(coordinates_[k].beta);
    step_.slopes.push_back(slopes_[k]);
    step_.envelopes.push_back(envelope);
}

bool Relaxation::stays_at_zero(const Together& some, double nearly) {
    point_.clear();
    for (size_t k = some.first; k < some.first + some.envelope.size(); ++k) {
        if (coordinates_[k].beta != 0.0) return false;
        point_.push_back(-slopes_[k] / nearly);
    }
    return some.envelope.gain(point_) <= some.envelope.charge();
}

double Relaxation::minimise_model(double floor) {
    const double broad = problem_.broad_loss().curvature_bound();
    step_.damping.assign(step_.slopes.size(), relative_damping * broad);
    for (size_t a = 0; a < step_.columns.size(); ++a)
        step_.damping[a] = step_.damping[a] * problem_.X.square(step_.columns[a]) - coordinates_[step_.active[a]].moved;
    form_.begin(gram_, step_.columns, d_);
    PiecewiseModel model(form_, step_.envelopes, step_.joints, step_.slopes, step_.damping, problem_.constants());
    model.minimise(step_.to, share_of_floor * floor);
    search_.begin(charges_, least_charge_, share_of_floor * floor);
    step_.adjusted = false;
    for (int trial = 0; trial < most_charges && adjust(); ++trial) {
        step_.adjusted = true;
        model.minimise(step_.to, share_of_floor * floor);
    }
    step_.intercept.assign(problem_.X.blocks(), 0.0);
    for (int64_t l = 0; l < problem_.constants(); ++l) step_.intercept[l] = model.intercept_step(l);
    double before = 0.0;
    for (size_t a = 0; a < step_.active.size(); ++a)
        if (step_.envelopes[a]) before += step_.envelopes[a]->value(coordinates_[step_.active[a]].beta);
    for (const Joint& joint : step_.joints) before += joint.envelope->value(coefficients(*joined(step_.active[joint.first])));
    return before - model.value(step_.to);
}

bool Relaxation::adjust() {
    if (still_) return false;
    sums_.assign(charges_.clauses.size() + 1, 0.0);
    weighed_.assign(sums_.size(), 0.0);
    const auto add = [&](const Coordinate& c, double share) {
        sums_[c.group] += share;
        weighed_[c.group] += charges_.weight(problem_.penalty.price(c.column)) * share;
    };
    for (size_t a = 0; a < step_.active.size(); ++a)
        if (const Coordinate& c = coordinates_[step_.active[a]]; c.charged() && step_.envelopes[a])
            add(c, step_.envelopes[a]->share(step_.to[a]));
    for (const Joint& joint : step_.joints)
        add(coordinates_[step_.active[joint.first]], joint.envelope->share(joint.of(step_.to)));
    if (!search_.adjust(charges_, sums_, weighed_)) return false;
    set_envelopes();
    return true;
}

void Relaxation::move(double length) {
    kernels::axpy(length, step_.along.data(), problem_.rows(), eta_.data());
    for (size_t l = 0; l < intercept_.size(); ++l) intercept_[l] += length * step_.intercept[l];
    for (size_t a = 0; a < step_.active.size(); ++a) {
        double& beta = coordinates_[step_.active[a]].beta;
        beta = length == 1.0 ? step_.to[a] : beta + length * (step_.to[a] - beta);
    }
}

// The derivative of the objective along the step.
double Relaxation::slope_along(double length) {
    const int64_t n = problem_.rows();
    for (int64_t i = 0; i < n; ++i) trial_[i] = eta_[i] + shift_[i] + length * step_.along[i];
    loss_.residual(n, trial_.data(), problem_.y, problem_.w, trial_r_.data());
    double slope = kernels::dot(trial_r_.data(), step_.along.data(), n);
    for (size_t a = 0; a < step_.active.size(); ++a) {
        const Coordinate& c = coordinates_[step_.active[a]];
        const double change = step_.to[a] - c.beta;
        if (change == 0.0) continue;
        const double x = c.beta + length * change;
        slope -= change * c.moved * x;
        if (!step_.envelopes[a]) continue;
        const Envelope& envelope = *step_.envelopes[a];
        // At zero the envelope has two slopes: the one on the side where the step leads (or comes from, at its end).
        slope += change * (x != 0.0 ? envelope.slope(x) : envelope.slope_at_zero(length == 0.0 ? change : -change));
    }
    return step_.joints.empty() ? slope : slope + slope_of_joints(length);
}

double Relaxation::slope_of_joints(double length) {
    double slope = 0.0;
    for (const Joint& joint : step_.joints) {
        point_.clear();
        direction_.clear();
        // At a kink it is the slope on the side where the step leads, or comes from.
        const double side = length == 0.0 ? 1.0 : -1.0;
        for (int64_t a = joint.first; a < joint.first + joint.size(); ++a) {
            const double beta = coordinates_[step_.active[a]].beta, change = step_.to[a] - beta;
            point_.push_back(length == 1.0 ? step_.to[a] : beta + length * change);
            direction_.push_back(side * change);
        }
        slope += side * joint.envelope->along(point_, direction_);
    }
    return slope;
}

// The objective is convex along the step: full length if it still falls there, else where its slope is nearly zero.
double Relaxation::line_search() {
    const double at_start = slope_along(0.0);
    if (!(at_start < 0.0)) return 0.0;
    const double at_end = slope_along(1.0);
    if (at_end <= rounding_of_slope * -at_start) return 1.0;
    double low = 0.0, high = 1.0, low_slope = at_start, high_slope = at_end;
    for (int k = 0; k < most_line_steps; ++k) {
        const double share = std::clamp(low_slope / (low_slope - high_slope), margin, 1.0 - margin);
        const bool halve = k % halving_period == halving_period - 1;
        const double t = low == 0.0 && k >= lost_after ? much_shorter * high : low + (high - low) * (halve ? 0.5 : share);
        const double slope = slope_along(t);
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
