#include "ellzero/relaxation/piecewise.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
constexpr int most_rounds = 60;
constexpr int sweeps_per_round = 2;
// A sweep that gains less than this share of what was gained ends the search.
constexpr double negligible = 1e-6;
constexpr double solved = 1e-3;  // relative residual of the face's equations
constexpr int64_t most_gradients = 30;
}  // namespace

double PiecewiseModel::minimise(std::vector<double>& x, double floor) {
    const double start = value(x);
    double gained = 0.0;
    for (int round = 0; round < most_rounds; ++round) {
        double last = 0.0;
        for (int k = 0; k < sweeps_per_round; ++k) gained += last = sweep(x);
        if (last <= floor) break;
        const bool whole = face_step(x);
        if (whole && last <= negligible * gained) break;
    }
    return value(x) - start;
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
        const double h = std::max(form_.diagonal(k) + damping_[k], 1e-300);
        const double to = envelopes_[k]->proximal(h * x[k] - slope(k), h);
        const double step = to - x[k];
        if (step == 0.0) continue;
        gained += 0.5 * h * step * step;
        form_.move(k, step);
        x[k] = to;
    }
    if (intercept_) {
        const double h = std::max(form_.diagonal(size_) + damping_[size_], 1e-300), step = -slope(size_) / h;
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

bool PiecewiseModel::face_step(std::vector<double>& x) {
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
    const int64_t m = std::ssize(face_);
    if (m == 0 || !solve_face(x)) return true;  // the sweeps alone decide
    // To the end of each coordinate's piece; if the model does not like that, all of them to where the first piece ends.
    double shortest = 1.0;
    std::vector<double> to(m);
    for (int64_t a = 0; a < m; ++a) {
        const int64_t k = face_[a];
        if (k == size_) continue;
        to[a] = x[k] + face_move_[a];
        const Envelope& e = *envelopes_[k];
        const double side = x[k] > 0.0 ? 1.0 : -1.0, at = std::abs(x[k]), step = side * face_move_[a], knee = e.knee(x[k]);
        const double far = x[k] > 0.0 ? e.box().high : -e.box().low;
        const double near = std::max(x[k] > 0.0 ? e.box().low : -e.box().high, 0.0);
        double stop;
        if (step > 0.0) stop = at < knee ? knee : far;
        else stop = at > knee ? std::max(knee, near) : near;
        if (step == 0.0 || !((stop - at) / step < 1.0)) continue;
        shortest = std::min(shortest, (stop - at) / step);
        to[a] = side * stop;
    }
    const double before = value(x);
    const std::vector<double> from = x;
    const auto go = [&](double length) {
        for (int64_t a = 0; a < m; ++a) {
            const int64_t k = face_[a];
            const double target = k == size_ ? 0.0 : length == 1.0 ? to[a] : from[k] + length * face_move_[a];
            const double step = k == size_ ? length * face_move_[a] : target - from[k];
            if (step == 0.0) continue;
            form_.move(k, step);
            if (k < size_) x[k] = target;
        }
    };
    go(1.0);
    if (shortest < 1.0 && value(x) > before) {
        for (int64_t a = 0; a < m; ++a)
            if (const int64_t k = face_[a]; k == size_) form_.move(k, -face_move_[a]);
            else form_.move(k, from[k] - x[k]);
        x = from;
        go(shortest);
    }
    return shortest == 1.0;
}

}  // namespace ellzero
