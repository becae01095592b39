#include "ellzero/piecewise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ellzero/kernels.hpp"

namespace ellzero {
namespace {
constexpr int most_rounds = 60;
constexpr int sweeps_per_round = 2;
// A sweep that gains less than this share of what was gained ends the search.
constexpr double negligible = 1e-9;
constexpr double least_pivot = 1e-13;
// Larger faces are solved by conjugate gradients.
constexpr int64_t largest_factor = 96;
constexpr int most_gradients = 60;
constexpr double gradients_tolerance = 1e-4;
}  // namespace

double PiecewiseModel::minimise(std::vector<double>& x, const std::vector<const Envelope*>& envelopes,
                                const std::vector<double>& g, bool intercept) {
    size_ = std::ssize(x);
    ld_ = size_ + 1;
    order_ = size_ + (intercept ? 1 : 0);
    envelopes_ = &envelopes;
    for (int64_t i = 0; i < order_; ++i)
        for (int64_t j = 0; j < i; ++j) hessian_[j * ld_ + i] = hessian_[i * ld_ + j];
    gradient_ = g;
    intercept_ = 0.0;
    const std::vector<double> start = x;
    double gained = 0.0;
    for (int round = 0; round < most_rounds; ++round) {
        double last = 0.0;
        for (int k = 0; k < sweeps_per_round; ++k) gained += last = sweep(x);
        const bool whole = face_step(x);
        if (last <= negligible * gained && whole) break;
    }
    // g.s + s'Hs/2 = (g + (g + Hs)).s / 2
    double change = 0.0;
    for (int64_t k = 0; k < size_; ++k) {
        change += 0.5 * (g[k] + gradient_[k]) * (x[k] - start[k]);
        change += envelopes[k]->value(x[k]) - envelopes[k]->value(start[k]);
    }
    if (intercept) change += 0.5 * (g[size_] + gradient_[size_]) * intercept_;
    return change;
}

void PiecewiseModel::move(int64_t k, double step) { kernels::axpy(step, &hessian_[k * ld_], order_, gradient_.data()); }

double PiecewiseModel::sweep(std::vector<double>& x) {
    double gained = 0.0;
    for (int64_t k = 0; k < size_; ++k) {
        const double h = std::max(hessian_[k * ld_ + k], 1e-300);
        const double to = (*envelopes_)[k]->proximal(h * x[k] - gradient_[k], h);
        const double step = to - x[k];
        if (step == 0.0) continue;
        gained += 0.5 * h * step * step;
        move(k, step);
        x[k] = to;
    }
    if (order_ > size_ && hessian_[size_ * ld_ + size_] > 0.0) {
        const double h = hessian_[size_ * ld_ + size_], step = -gradient_[size_] / h;
        gained += 0.5 * h * step * step;
        move(size_, step);
        intercept_ += step;
    }
    return gained;
}

bool PiecewiseModel::factorise(int64_t m) {
    for (int64_t i = 0; i < m; ++i) {
        double* row = &factor_[i * m];
        for (int64_t j = 0; j < i; ++j) row[j] = (row[j] - kernels::dot(row, &factor_[j * m], j)) / factor_[j * m + j];
        const double diagonal = row[i], pivot = diagonal - kernels::dot(row, row, i);
        if (!(pivot > least_pivot * diagonal)) return false;
        row[i] = std::sqrt(pivot);
    }
    return true;
}

bool PiecewiseModel::solve_by_factor(const std::vector<double>& x) {
    const int64_t m = std::ssize(face_);
    factor_.resize(m * m);
    for (int64_t a = 0; a < m; ++a) {
        for (int64_t b = 0; b <= a; ++b) factor_[a * m + b] = hessian_[face_[a] * ld_ + face_[b]];
        if (face_[a] < size_) factor_[a * m + a] += (*envelopes_)[face_[a]]->curvature(x[face_[a]]);
    }
    if (!factorise(m)) return false;
    for (int64_t a = 0; a < m; ++a) rhs_[a] = (rhs_[a] - kernels::dot(&factor_[a * m], rhs_.data(), a)) / factor_[a * m + a];
    for (int64_t a = m; a-- > 0;) {
        rhs_[a] /= factor_[a * m + a];
        kernels::axpy(-rhs_[a], &factor_[a * m], a, rhs_.data());
    }
    return true;
}

// Conjugate gradients with the diagonal as preconditioner: a large face is well conditioned or solved by more rounds.
bool PiecewiseModel::solve_by_gradients(const std::vector<double>& x) {
    const int64_t m = std::ssize(face_);
    std::vector<double> diagonal(m), extra(m, 0.0), z(m), step(m, 0.0), along(m), image(m), wide(order_, 0.0);
    for (int64_t a = 0; a < m; ++a) {
        if (face_[a] < size_) extra[a] = (*envelopes_)[face_[a]]->curvature(x[face_[a]]);
        diagonal[a] = hessian_[face_[a] * ld_ + face_[a]] + extra[a];
        if (!(diagonal[a] > 0.0)) return false;
        along[a] = z[a] = rhs_[a] / diagonal[a];
    }
    double rho = kernels::dot(rhs_.data(), z.data(), m);
    const double enough = gradients_tolerance * gradients_tolerance * rho;
    for (int k = 0; k < most_gradients && rho > enough; ++k) {
        for (int64_t a = 0; a < m; ++a) wide[face_[a]] = along[a];
        for (int64_t a = 0; a < m; ++a) image[a] = kernels::dot(&hessian_[face_[a] * ld_], wide.data(), order_) + extra[a] * along[a];
        const double bend = kernels::dot(along.data(), image.data(), m);
        if (!(bend > 0.0)) break;
        const double t = rho / bend;
        kernels::axpy(t, along.data(), m, step.data());
        kernels::axpy(-t, image.data(), m, rhs_.data());
        for (int64_t a = 0; a < m; ++a) z[a] = rhs_[a] / diagonal[a];
        const double next = kernels::dot(rhs_.data(), z.data(), m);
        for (int64_t a = 0; a < m; ++a) along[a] = z[a] + next / rho * along[a];
        rho = next;
    }
    rhs_ = std::move(step);
    return true;
}

bool PiecewiseModel::face_step(std::vector<double>& x) {
    face_.clear();
    rhs_.clear();
    for (int64_t k = 0; k < size_; ++k) {
        const Envelope& e = *(*envelopes_)[k];
        if (x[k] == 0.0 || x[k] <= e.box().low || x[k] >= e.box().high) continue;
        face_.push_back(k);
        rhs_.push_back(-gradient_[k] - e.slope(x[k]));
    }
    if (order_ > size_) {
        face_.push_back(size_);
        rhs_.push_back(-gradient_[size_]);
    }
    const int64_t m = std::ssize(face_);
    if (m == 0) return true;
    if (m <= largest_factor ? !solve_by_factor(x) : !solve_by_gradients(x)) return true;  // the sweeps alone decide
    // Each coordinate to where its piece ends, if the model likes that; else all of them to where the first piece ends.
    double length = 1.0;
    std::vector<double> whole(m);
    std::vector<double> ends(m, std::numeric_limits<double>::infinity());
    int64_t first = -1;
    for (int64_t a = 0; a < m; ++a) {
        const int64_t k = face_[a];
        whole[a] = rhs_[a];
        if (k == size_ || rhs_[a] == 0.0) continue;
        const Envelope& e = *(*envelopes_)[k];
        const double side = x[k] > 0.0 ? 1.0 : -1.0, at = std::abs(x[k]), step = side * rhs_[a], knee = e.knee(x[k]);
        const double far = x[k] > 0.0 ? e.box().high : -e.box().low;
        const double near = std::max(x[k] > 0.0 ? e.box().low : -e.box().high, 0.0);
        double stop;
        if (step > 0.0) stop = at < knee ? knee : far;
        else stop = at > knee ? std::max(knee, near) : near;
        if (std::isinf(stop)) continue;
        const double reach = (stop - at) / step;
        if (reach < 1.0) {
            ends[a] = side * stop;
            whole[a] = ends[a] - x[k];
        }
        if (reach < length) {
            length = reach;
            first = a;
        }
    }
    const std::vector<double> before = gradient_;
    const auto take = [&](const std::vector<double>& steps) {
        double change = 0.0;
        for (int64_t a = 0; a < m; ++a)
            if (steps[a] != 0.0) move(face_[a], steps[a]);
        for (int64_t a = 0; a < m; ++a) {
            const int64_t k = face_[a];
            change += 0.5 * (before[k] + gradient_[k]) * steps[a];
            if (k < size_) change += (*envelopes_)[k]->value(x[k] + steps[a]) - (*envelopes_)[k]->value(x[k]);
        }
        return change;
    };
    bool clipped = true;
    if (!(take(whole) <= 0.0)) {
        gradient_ = before;
        for (int64_t a = 0; a < m; ++a) whole[a] = length * rhs_[a];
        take(whole);
        clipped = false;
    }
    for (int64_t a = 0; a < m; ++a) {
        const int64_t k = face_[a];
        if (k == size_) intercept_ += whole[a];
        else x[k] = std::isfinite(ends[a]) && (clipped || a == first) ? ends[a] : x[k] + whole[a];
    }
    return first < 0;
}

}  // namespace ellzero
