#include "ellzero/refit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ellzero/kernels.hpp"

namespace ellzero {
namespace {

constexpr int most_steps = 100;
// Relative to the largest diagonal entry: keeps the factorisation alive when support columns are collinear.
constexpr double least_damping = 1e-11;
constexpr int most_model_cycles = 200;

// The hinge is solved along a falling sequence of barriers, each started from the last.
constexpr double first_barrier = 0.1;
constexpr double barrier_factor = 0.1;
constexpr double last_barrier = 1e-8;

double mirror(const std::vector<double>& h, int64_t ld, int64_t i, int64_t j) {
    return i >= j ? h[i * ld + j] : h[j * ld + i];
}

}  // namespace

bool Refit::run(Iterate& it, double floor) {
    if (problem_.loss.kind != LossKind::hinge) return newton(it, problem_.loss, floor);
    follow_barrier(it);
    it.refresh();
    // The bend is so narrow that a small amount of objective is still a large gradient.
    return newton(it, problem_.loss, problem_.loss.smoothing * floor);
}

void Refit::intercept(Iterate& it) {
    if (!problem_.intercept) return;
    const int64_t n = problem_.rows();
    for (int step = 0; step < 20; ++step) {
        const double slope = kernels::sum(it.r.data(), n);
        const double curvature = std::max(kernels::sum(it.d.data(), n), 1e-3 * problem_.loss.curvature_bound());
        const double move = -slope / curvature;
        if (std::abs(slope * move) <= 1e-14 * std::max(it.loss, 1e-300)) return;
        const double before = it.loss;
        double taken = move;
        for (int halving = 0; halving < 30; ++halving) {
            eta_ = it.eta;
            kernels::add_scalar(taken, n, it.eta.data());
            it.evaluate(problem_.loss);
            if (it.loss <= before) break;
            it.eta.swap(eta_);
            taken *= 0.5;
            if (halving == 29) {
                it.evaluate(problem_.loss);
                return;
            }
        }
        it.intercept += taken;
    }
}

void Refit::hessian(const Iterate& it, const std::vector<double>& d) {
    problem_.X.gram(it.support, d.data(), hessian_);
    const int64_t size = std::ssize(it.support);
    for (int64_t k = 0; k < size; ++k) hessian_[k * (size + 1) + k] += 2.0 * problem_.penalty.lambda_2;
    order_ = size + (problem_.intercept ? 1 : 0);
}

bool Refit::kinked(const Iterate& it) const {
    return (problem_.penalty.lambda_1 > 0.0 || problem_.penalty.boxed()) && !it.support.empty();
}

// Minimises the quadratic model of G with residual r and curvature d into step_, prepares along_ = X step_ and returns the
// model's change.
double Refit::find_step(const Iterate& it, const std::vector<double>& r, const std::vector<double>& d) {
    const int64_t n = problem_.rows(), size = std::ssize(it.support);
    problem_.X.monitor().poll();
    problem_.X.dots(it.support, r.data(), gradient_);
    for (int64_t k = 0; k < size; ++k) gradient_[k] += 2.0 * problem_.penalty.lambda_2 * it.beta[k];
    if (problem_.intercept) gradient_.push_back(kernels::sum(r.data(), n));
    hessian(it, d);
    solve_model(it);
    along_.assign(n, problem_.intercept ? step_[size] : 0.0);
    for (int64_t k = 0; k < size; ++k)
        if (step_[k] != 0.0) problem_.X.axpy(it.support[k], step_[k], along_.data());
    return model_change(it, step_);
}

// Moves by length * step_ from the point saved in eta_, beta_, intercept_ if the cost there is at most `bound`.
bool Refit::take_step(Iterate& it, const Loss& loss, double length, double bound) {
    const int64_t size = std::ssize(it.support);
    it.eta = eta_;
    kernels::axpy(length, along_.data(), problem_.rows(), it.eta.data());
    for (int64_t k = 0; k < size; ++k) it.beta[k] = beta_[k] + length * step_[k];
    it.evaluate(loss);
    if (!(it.cost() <= bound)) return false;
    if (problem_.intercept) it.intercept = intercept_ + length * step_[size];
    return true;
}

// Between its bends the hinge is flat and the model knows only the damping: a full step is made longer while that pays, up to
// the next kink or bound. Returns the length.
double Refit::extend_step(Iterate& it, const Loss& loss) {
    const Penalty& penalty = problem_.penalty;
    double longest = 1e6;
    for (size_t k = 0; k < it.support.size(); ++k) {
        if (step_[k] == 0.0) continue;
        double edge = step_[k] > 0.0 ? penalty.high(it.support[k]) : penalty.low(it.support[k]);
        if (penalty.lambda_1 > 0.0 && beta_[k] * step_[k] < 0.0) edge = 0.0;
        if (std::isfinite(edge)) longest = std::min(longest, (edge - beta_[k]) / step_[k]);
    }
    double length = 1.0;
    while (4.0 * length < longest) {
        const double cost = it.cost();
        if (!take_step(it, loss, 4.0 * length, cost)) {
            take_step(it, loss, length, Penalty::infinity);
            break;
        }
        length *= 4.0;
    }
    return length;
}

bool Refit::newton(Iterate& it, const Loss& loss, double floor) {
    const int64_t size = std::ssize(it.support);
    it.evaluate(loss);
    if (size == 0 && !problem_.intercept) return true;
    double cost = it.cost();
    damping_ = 0.0;
    for (int step = 0; step < most_steps; ++step) {
        const double change = find_step(it, it.r, it.d);
        if (!(change < 0.0) || -change <= 1e-4 * floor) return true;
        double slope = 0.0;
        for (int64_t k = 0; k < order_; ++k) slope += gradient_[k] * step_[k];
        for (int64_t k = 0; k < size; ++k)
            slope += problem_.penalty.lambda_1 * (std::abs(it.beta[k] + step_[k]) - std::abs(it.beta[k]));
        eta_ = it.eta;
        beta_ = it.beta;
        intercept_ = it.intercept;
        double length = 1.0;
        // Armijo's rule for a composite objective; the rounding of `cost` itself is forgiven.
        const auto bound = [&] { return cost + 1e-4 * length * slope + 1e-15 * cost; };
        while (!take_step(it, loss, length, bound()) && length > 1e-12) length *= 0.5;
        if (length <= 1e-12) {
            it.eta = eta_;
            it.beta = beta_;
            it.evaluate(loss);
            if (-change <= 1e-9 * cost) return true;  // nothing left but rounding
            if (damping_ > 1.0) return false;
            damping_ = std::max(1e-8, 100.0 * damping_);
            continue;
        }
        if (length == 1.0 && loss.kind == LossKind::hinge) length = extend_step(it, loss);
        cost = it.cost();
        if (length >= 1.0) {
            if (length == 1.0 && -change <= floor) return true;
            damping_ *= 0.1;
        } else if (length < 0.25) {
            damping_ = std::max(1e-8, 10.0 * damping_);
        }
    }
    return false;
}

// Newton steps on the smoothed hinge see only the few rows on its bend and go astray. The barrier's smoothing is felt by every
// row, so its minimiser is followed to where the bend's rows and their multipliers are known; one step that holds these rows
// on the bend then arrives at the minimiser of Nesterov's smoothing.
void Refit::follow_barrier(Iterate& it) {
    const int64_t n = problem_.rows();
    const double least = 1.0 / static_cast<double>(n);
    Loss barrier{LossKind::hinge_barrier, first_barrier};
    for (; barrier.smoothing > last_barrier; barrier.smoothing *= barrier_factor)
        newton(it, barrier, least * barrier.smoothing);
    std::vector<double> multiplier(n);
    barrier.residual(n, it.eta.data(), problem_.y, problem_.w, multiplier.data());
    for (int64_t i = 0; i < n; ++i) multiplier[i] = problem_.w[i] > 0.0 ? std::abs(multiplier[i]) / problem_.w[i] : 0.0;

    const Loss& loss = problem_.loss;
    it.evaluate(loss);
    std::vector<double> r(it.r), d(it.d);
    for (int64_t i = 0; i < n; ++i) {
        const bool bend = multiplier[i] > 1e-3 && multiplier[i] < 1.0 - 1e-3;
        const double short_by = 1.0 - problem_.y[i] * it.eta[i];
        const double at = bend ? short_by / loss.smoothing : (multiplier[i] < 0.5 ? 0.0 : 1.0);
        r[i] = -problem_.w[i] * problem_.y[i] * at;
        d[i] = bend ? problem_.w[i] / loss.smoothing : 0.0;
    }
    damping_ = 0.0;
    find_step(it, r, d);
    eta_ = it.eta;
    beta_ = it.beta;
    intercept_ = it.intercept;
    if (take_step(it, loss, 1.0, it.cost())) return;
    it.eta = eta_;
    it.beta = beta_;
    it.evaluate(loss);
}

// g.d + d'Hd/2 + lambda_1 (|beta + d| - |beta|); lambda_2 is inside g and H.
double Refit::model_change(const Iterate& it, const std::vector<double>& step) const {
    const int64_t size = std::ssize(it.support), ld = size + 1;
    double total = 0.0;
    for (int64_t i = 0; i < order_; ++i) {
        if (step[i] == 0.0) continue;
        double row = 0.5 * hessian_[i * ld + i] * step[i];
        for (int64_t j = 0; j < i; ++j) row += hessian_[i * ld + j] * step[j];
        total += step[i] * (gradient_[i] + row);
    }
    if (problem_.penalty.lambda_1 > 0.0)
        for (int64_t k = 0; k < size; ++k)
            total += problem_.penalty.lambda_1 * (std::abs(it.beta[k] + step[k]) - std::abs(it.beta[k]));
    return total;
}

void Refit::solve_model(const Iterate& it) {
    step_.assign(order_, 0.0);
    if (solve_face(it, it.beta)) return;
    // The Newton step crosses a kink or a bound: coordinate descent on the model finds the right face, Newton finishes on it.
    descend_model(it);
    std::vector<double> at(it.beta);
    for (size_t k = 0; k < at.size(); ++k) at[k] += step_[k];
    const std::vector<double> found = step_;
    const double change = model_change(it, found);
    if (!solve_face(it, at) || model_change(it, step_) > change) step_ = found;
}

// Minimises the model over the face that contains `at` (signs kept, coordinates at zero or at a bound held there); step_ is
// relative to it.beta. False if the minimiser leaves the face.
bool Refit::solve_face(const Iterate& it, const std::vector<double>& at) {
    const Penalty& penalty = problem_.penalty;
    const int64_t size = std::ssize(it.support), ld = size + 1;
    const bool kinks = kinked(it);
    std::vector<int64_t> free;
    std::vector<double> held(order_, 0.0);
    std::vector<double> sign(order_, 0.0);
    for (int64_t k = 0; k < order_; ++k) {
        bool is_free = true;
        if (k < size && kinks) {
            const int32_t j = it.support[k];
            held[k] = at[k] - it.beta[k];
            sign[k] = at[k] > 0.0 ? 1.0 : (at[k] < 0.0 ? -1.0 : 0.0);
            const bool first = held[k] == 0.0;  // judged by the gradient at the iterate itself
            const double g = gradient_[k];
            if (at[k] == 0.0 && penalty.lambda_1 > 0.0) {
                is_free = first && std::abs(g) > penalty.lambda_1;
                if (is_free) sign[k] = g > 0.0 ? -1.0 : 1.0;
            }
            const double pull = g + penalty.lambda_1 * sign[k];
            if (at[k] <= penalty.low(j)) is_free = is_free && first && pull < 0.0;
            if (at[k] >= penalty.high(j)) is_free = is_free && first && pull > 0.0;
        }
        if (is_free) {
            held[k] = 0.0;
            free.push_back(k);
        }
    }
    factorise(it, free);
    const int64_t m = std::ssize(free);
    scratch_.resize(m);
    for (int64_t a = 0; a < m; ++a) {
        const int64_t k = free[a];
        double right = -gradient_[k] - (k < size ? penalty.lambda_1 * sign[k] : 0.0);
        if (kinks)
            for (int64_t c = 0; c < size; ++c)
                if (held[c] != 0.0) right -= mirror(hessian_, ld, k, c) * held[c];
        scratch_[a] = right;
    }
    for (int64_t a = 0; a < m; ++a)
        scratch_[a] = (scratch_[a] - kernels::dot(&factor_[a * m], scratch_.data(), a)) / factor_[a * m + a];
    for (int64_t a = m; a-- > 0;) {
        scratch_[a] /= factor_[a * m + a];
        kernels::axpy(-scratch_[a], &factor_[a * m], a, scratch_.data());
    }
    trial_ = held;
    for (int64_t a = 0; a < m; ++a) trial_[free[a]] = scratch_[a];
    if (kinks)
        for (int64_t k = 0; k < size; ++k) {
            const double value = it.beta[k] + trial_[k];
            if (penalty.lambda_1 > 0.0 && value * sign[k] < 0.0) return false;
            if (value < penalty.low(it.support[k]) || value > penalty.high(it.support[k])) return false;
        }
    step_ = trial_;
    return true;
}

// Cyclic coordinate descent on the quadratic model with the l1 term and the box.
void Refit::descend_model(const Iterate& it) {
    const Penalty& penalty = problem_.penalty;
    const int64_t size = std::ssize(it.support), ld = size + 1;
    const double damping = absolute_damping(it);
    for (int64_t i = 0; i < order_; ++i)
        for (int64_t j = 0; j < i; ++j) hessian_[j * ld + i] = hessian_[i * ld + j];
    scratch_ = gradient_;  // the model's gradient at step_
    for (int cycle = 0; cycle < most_model_cycles; ++cycle) {
        double moved = 0.0, value = 0.0;
        for (int64_t k = 0; k < order_; ++k) {
            const double steep = hessian_[k * ld + k] + damping;
            if (steep <= 0.0) continue;
            double change = -scratch_[k] / steep;
            if (k < size) {
                const double from = it.beta[k] + step_[k];
                const double target = from + change;
                const double soft = std::copysign(std::max(std::abs(target) - penalty.lambda_1 / steep, 0.0), target);
                const int32_t j = it.support[k];
                change = std::clamp(soft, penalty.low(j), penalty.high(j)) - from;
                if (change == -from) change = -it.beta[k] - step_[k];  // exactly to zero
            }
            if (change == 0.0) continue;
            step_[k] += change;
            kernels::axpy(change, &hessian_[k * ld], order_, scratch_.data());
            scratch_[k] += damping * change;
            moved = std::max(moved, steep * change * change);
            value = std::max(value, steep * step_[k] * step_[k]);
        }
        if (moved <= 1e-12 * value) break;
    }
    // Land exactly on zeros and bounds, so that the face is recognised.
    for (int64_t k = 0; k < size; ++k) {
        const int32_t j = it.support[k];
        const double value = it.beta[k] + step_[k];
        if (value != 0.0 && std::abs(value) < 1e-14 * std::abs(it.beta[k])) step_[k] = -it.beta[k];
        for (const double edge : {penalty.low(j), penalty.high(j)})
            if (std::isfinite(edge) && std::abs(value - edge) <= 1e-14 * std::abs(edge)) step_[k] = edge - it.beta[k];
    }
}

// Cholesky factor of the model's Hessian on the free coordinates, row-major, in factor_.
void Refit::factorise(const Iterate& it, const std::vector<int64_t>& free) {
    const int64_t m = std::ssize(free), ld = std::ssize(it.support) + 1;
    factor_.assign(m * m, 0.0);
    const double damping = absolute_damping(it);
    for (int64_t a = 0; a < m; ++a) {
        double* row = &factor_[a * m];
        for (int64_t b = 0; b <= a; ++b) {
            const double rest = hessian_[free[a] * ld + free[b]] - kernels::dot(row, &factor_[b * m], b);
            if (a != b) {
                row[b] = rest / factor_[b * m + b];
            } else {
                const double pivot = rest + damping;
                row[a] = std::sqrt(std::max(pivot, damping));
            }
        }
    }
}

// Where the loss is flat (all rows beyond the margin) the Hessian vanishes; the scale of the data keeps the damping positive.
double Refit::absolute_damping(const Iterate& it) const {
    const int64_t ld = std::ssize(it.support) + 1;
    double largest = 1e-300;
    for (int64_t k = 0; k < order_; ++k) largest = std::max(largest, hessian_[k * ld + k]);
    for (const int32_t j : it.support) largest = std::max(largest, problem_.entry_curvature(j));
    return std::max(damping_, least_damping) * largest;
}

const std::vector<double>& Refit::removal_costs(const Iterate& it) {
    const int64_t size = std::ssize(it.support);
    std::vector<double> r(problem_.rows()), d(problem_.rows());
    problem_.broad_loss().evaluate(problem_.rows(), it.eta.data(), problem_.y, problem_.w, r.data(), d.data());
    hessian(it, d);
    damping_ = 0.0;
    std::vector<int64_t> all(order_);
    std::iota(all.begin(), all.end(), int64_t{0});
    factorise(it, all);
    costs_.assign(size, Penalty::infinity);
    // (H^-1)_kk = ||L^-1 e_k||^2
    std::vector<double> column(order_);
    for (int64_t k = 0; k < size; ++k) {
        if (!problem_.penalty.counted(it.support[k])) continue;
        double square = 0.0;
        for (int64_t i = k; i < order_; ++i) {
            const double right = (i == k ? 1.0 : 0.0) - kernels::dot(&factor_[i * order_ + k], column.data() + k, i - k);
            column[i] = right / factor_[i * order_ + i];
            square += column[i] * column[i];
        }
        costs_[k] = 0.5 * it.beta[k] * it.beta[k] / square;
    }
    return costs_;
}

}  // namespace ellzero
