#include "ellzero/relaxation/piecewise.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

// Rounds of a few sweeps, which find the pieces, and one Newton step within them: they end sooner, once little is gained.
constexpr int most_rounds = 60;
constexpr int sweeps_per_round = 2;
// A sweep that gains less than this part of what was gained ends the search.
constexpr double negligible = 1e-6;
// Conjugate gradients on the face go on to this relative residual, or so often: the next sweeps correct a rough step.
constexpr double solved = 1e-3;
constexpr int64_t most_gradients = 30;
// A column without curvature: its step is bounded by its box alone, and nothing is divided by zero.
constexpr double least_curvature = 1e-300;

// The |x| at which its piece ends in the direction of a step: the knee, zero or an end of the box.
double end_of_piece(const Envelope& envelope, double x, double step) {
    const Box& box = envelope.box();
    const double at = std::abs(x), knee = envelope.knee(x);
    const double far = x > 0.0 ? box.high : -box.low;
    const double near = std::max(x > 0.0 ? box.low : -box.high, 0.0);
    if (step > 0.0) return at < knee ? knee : far;
    return at > knee ? std::max(knee, near) : near;
}

}  // namespace

void PiecewiseModel::minimise(std::vector<double>& x, double floor) {
    double gained = 0.0;
    for (int round = 0; round < most_rounds; ++round) {
        double last = 0.0;
        for (int k = 0; k < sweeps_per_round; ++k) gained += last = sweep(x);
        if (last <= floor) break;
        const bool whole = face_step(x);
        if (whole && last <= negligible * gained) break;
    }
}

double PiecewiseModel::value(const std::vector<double>& x) const {
    double total = 0.5 * form_.value();
    for (int64_t k = 0; k <= size_; ++k) total += form_.at(k) * (g_[k] + 0.5 * damping_[k] * form_.at(k));
    for (int64_t k = 0; k < size_; ++k) total += envelopes_[k]->value(x[k]);
    return total;
}

double PiecewiseModel::sweep(std::vector<double>& x) {
    double gained = 0.0;
    for (int64_t k = 0; k < size_; ++k) {
        const double h = std::max(form_.diagonal(k) + damping_[k], least_curvature);
        const double to = envelopes_[k]->proximal(h * x[k] - slope(k), h);
        const double step = to - x[k];
        if (step == 0.0) continue;
        gained += 0.5 * h * step * step;
        form_.move(k, step);
        x[k] = to;
    }
    if (intercept_) {
        const double h = std::max(form_.diagonal(size_) + damping_[size_], least_curvature), step = -slope(size_) / h;
        gained += 0.5 * h * step * step;
        form_.move(size_, step);
    }
    return gained;
}

bool PiecewiseModel::solve_face(const std::vector<double>& x) {
    const int64_t m = std::ssize(face_);
    std::vector<double> diagonal(m), extra(m), z(m), along(m), image(m);
    face_move_.assign(m, 0.0);
    for (int64_t a = 0; a < m; ++a) {
        const int64_t k = face_[a];
        extra[a] = damping_[k] + (k < size_ ? envelopes_[k]->curvature(x[k]) : 0.0);
        diagonal[a] = form_.diagonal(k) + extra[a];
        if (!(diagonal[a] > 0.0)) return false;
        along[a] = z[a] = right_[a] / diagonal[a];
    }
    double rho = kernels::dot(right_.data(), z.data(), m);
    const double enough = solved * solved * rho;
    for (int64_t k = 0; k < std::min(m, most_gradients) && rho > enough; ++k) {
        form_.multiply(face_, along, image);
        for (int64_t a = 0; a < m; ++a) image[a] += extra[a] * along[a];
        const double bend = kernels::dot(along.data(), image.data(), m);
        if (!(bend > 0.0)) break;
        kernels::axpy(rho / bend, along.data(), m, face_move_.data());
        kernels::axpy(-rho / bend, image.data(), m, right_.data());
        for (int64_t a = 0; a < m; ++a) z[a] = right_[a] / diagonal[a];
        const double next = kernels::dot(right_.data(), z.data(), m);
        for (int64_t a = 0; a < m; ++a) along[a] = z[a] + next / rho * along[a];
        rho = next;
    }
    return true;
}

bool PiecewiseModel::choose_face(const std::vector<double>& x) {
    face_.clear();
    right_.clear();
    for (int64_t k = 0; k < size_; ++k) {
        const Envelope& e = *envelopes_[k];
        if (x[k] == 0.0 || x[k] <= e.box().low || x[k] >= e.box().high) continue;
        face_.push_back(static_cast<int32_t>(k));
        right_.push_back(-slope(k) - e.slope(x[k]));
    }
    if (intercept_) {
        face_.push_back(static_cast<int32_t>(size_));
        right_.push_back(-slope(size_));
    }
    return !face_.empty();
}

double PiecewiseModel::choose_targets(const std::vector<double>& x) {
    double shortest = 1.0;
    targets_.resize(face_.size());
    for (size_t a = 0; a < face_.size(); ++a) {
        const int64_t k = face_[a];
        if (k == size_) continue;
        targets_[a] = x[k] + face_move_[a];
        const double side = x[k] > 0.0 ? 1.0 : -1.0, at = std::abs(x[k]), step = side * face_move_[a];
        const double stop = end_of_piece(*envelopes_[k], x[k], step);
        if (step == 0.0 || !((stop - at) / step < 1.0)) continue;
        shortest = std::min(shortest, (stop - at) / step);
        targets_[a] = side * stop;
    }
    return shortest;
}

void PiecewiseModel::go(const std::vector<double>& from, double length, std::vector<double>& x) {
    for (size_t a = 0; a < face_.size(); ++a) {
        const int64_t k = face_[a];
        const double target = k == size_ ? 0.0 : length == 1.0 ? targets_[a] : from[k] + length * face_move_[a];
        const double step = k == size_ ? length * face_move_[a] : target - from[k];
        if (step == 0.0) continue;
        form_.move(k, step);
        if (k < size_) x[k] = target;
    }
}

void PiecewiseModel::go_back(const std::vector<double>& from, std::vector<double>& x) {
    for (size_t a = 0; a < face_.size(); ++a)
        if (const int64_t k = face_[a]; k == size_) form_.move(k, -face_move_[a]);
        else form_.move(k, from[k] - x[k]);
    x = from;
}

bool PiecewiseModel::face_step(std::vector<double>& x) {
    if (!choose_face(x) || !solve_face(x)) return true;  // the sweeps alone decide
    // To the end of each coordinate's piece; if the model does not like that, all of them to where the first piece ends.
    const double shortest = choose_targets(x);
    const double before = value(x);
    const std::vector<double> from = x;
    go(from, 1.0, x);
    if (shortest < 1.0 && value(x) > before) {
        go_back(from, x);
        go(from, shortest, x);
    }
    return shortest == 1.0;
}

}  // namespace ellzero
