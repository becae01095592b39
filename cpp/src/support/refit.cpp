#include "ellzero/support/refit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

constexpr int most_steps = 100;
constexpr double shortest_step = 1e-12;
// Where the curvature along a step is this many times more or less than the model says, the model follows the loss closely.
constexpr double misjudged = 2.0;
// All further steps together gain at most this multiple of what the model promises for the next one, or a target is given up.
constexpr double hope = 2.0;
// A full step that gains more than this multiple of what the model promises ends where the loss is flatter than the model:
// where the classes are all but separated, a few longer steps replace many of Newton's.
constexpr double flatter_than_the_model = 1.1;
constexpr double worth_a_longer_step = 0.1;  // of what the model promises for the full one

// The interior-point method for the hinge: mu at its start, complementarity at its end, share of the way to the boundary.
constexpr double first_barrier = 0.1;
constexpr double last_barrier = 1e-9;
constexpr double to_the_boundary = 0.995;
// Multipliers this far from 0 and 1 put a row on the hinge's bend.
constexpr double on_the_bend = 1e-3;

// argmin over c of lambda_1 sum_l |b_l - c| + lambda_2 sum_l (b_l - c)^2; of several without lambda_2, the one next to zero.
// `b` ascends.
double best_centre(const std::vector<double>& b, double lambda_1, double lambda_2) {
    const int64_t count = std::ssize(b);
    if (lambda_2 <= 0.0) return std::clamp(0.0, b[(count - 1) / 2], b[count / 2]);
    const double sum = std::accumulate(b.begin(), b.end(), 0.0);
    double best = 0.0, least = Penalty::infinity;
    for (int64_t below = 0; below <= count; ++below) {  // so many entries are at most c
        double c = (sum - lambda_1 * static_cast<double>(2 * below - count) / (2.0 * lambda_2)) / static_cast<double>(count);
        if (below > 0) c = std::max(c, b[below - 1]);
        if (below < count) c = std::min(c, b[below]);
        double value = 0.0;
        for (const double each : b) value += lambda_1 * std::abs(each - c) + lambda_2 * (each - c) * (each - c);
        if (value < least) least = value, best = c;
    }
    return best;
}

}  // namespace

bool Refit::run(Iterate& it, double floor, double target) {
    if (!problem_.loss.has_kink()) return newton(it, problem_.loss, floor, target);
    solve_hinge(it);
    // The bend is so narrow that a small amount of objective is still a large gradient.
    return newton(it, problem_.loss, problem_.loss.smoothing * floor, target);
}

void Refit::intercept(Iterate& it) {
    for (int64_t l = 0; l < problem_.constants(); ++l) intercept_of(it, l);
}

void Refit::intercept_of(Iterate& it, int64_t output) {
    const int64_t n = problem_.rows() / problem_.X.blocks(), first = output * n;
    std::vector<double> curved(problem_.rows());
    for (int step = 0; step < 20; ++step) {
        problem_.X.design().curvature_diagonal(it.d.data(), curved.data());
        const double slope = kernels::sum(it.r.data() + first, n);
        const double curvature = std::max(kernels::sum(curved.data() + first, n), 1e-3 * problem_.loss.curvature_bound());
        double move = -slope / curvature;
        if (std::abs(slope * move) <= 1e-14 * std::max(it.loss, 1e-300)) return;
        const double before = it.loss;
        save(it);
        kernels::add_scalar(move, n, it.eta.data() + first);
        it.evaluate(problem_.loss);
        for (; it.loss > before && std::abs(move) > shortest_step; move *= 0.5) {
            it.eta = eta_;
            kernels::add_scalar(0.5 * move, n, it.eta.data() + first);
            it.evaluate(problem_.loss);
        }
        if (it.loss > before) return restore(it, problem_.loss);
        it.intercept[output] += move;
    }
}

Refit::Promise Refit::find_step(const Iterate& it, const std::vector<double>& r) {
    const int64_t n = problem_.rows(), size = std::ssize(it.support);
    problem_.X.monitor().poll();
    problem_.X.dots(it.support, r.data(), gradient_);
    for (int64_t k = 0; k < size; ++k) gradient_[k] += 2.0 * problem_.penalty.lambda_2 * it.beta[k];
    gradient_.resize(size + problem_.constants());
    if (problem_.intercept) problem_.X.block_sums(r.data(), &gradient_[size]);
    step_ = model_.minimise(it, gradient_, damping_);
    along_.assign(n, 0.0);
    if (problem_.intercept) problem_.X.add_constants(&step_[size], along_.data());
    problem_.X.add(it.support, step_.data(), along_.data());
    double slope = 0.0;
    for (int64_t k = 0; k < model_.order(); ++k) slope += gradient_[k] * step_[k];
    for (int64_t k = 0; k < size; ++k)
        slope += problem_.penalty.lambda_1 * (std::abs(it.beta[k] + step_[k]) - std::abs(it.beta[k]));
    return {model_.change(it, step_), slope};
}

void Refit::save(const Iterate& it) {
    problem_.X.copy(it.eta, eta_);
    beta_ = it.beta;
    intercept_ = it.intercept;
}

void Refit::restore(Iterate& it, const Loss& loss) {
    problem_.X.copy(eta_, it.eta);
    it.beta = beta_;
    it.intercept = intercept_;
    it.evaluate(loss);
}

// Moves by length * step_ from the saved point; whether the cost there is at most `bound`. From one bound to another that is
// far smaller, rounding alone would lead out of the box.
bool Refit::take_step(Iterate& it, const Loss& loss, double length, double bound) {
    const int64_t size = std::ssize(it.support);
    problem_.X.for_rows([&](int64_t first, int64_t count) {
        std::copy_n(eta_.data() + first, count, it.eta.data() + first);
        kernels::axpy(length, along_.data() + first, count, it.eta.data() + first);
    });
    for (int64_t k = 0; k < size; ++k) it.beta[k] = problem_.penalty.clip(beta_[k] + length * step_[k], it.support[k]);
    for (int64_t l = 0; l < problem_.constants(); ++l) it.intercept[l] = intercept_[l] + length * step_[size + l];
    it.evaluate(loss);
    return it.cost() <= bound;
}

double Refit::curvature_along(const Iterate& it) const {
    std::vector<double> curved;
    problem_.X.copy(along_, curved);
    problem_.X.apply_curvature(it.d.data(), curved.data());
    double curvature = problem_.X.sum_over_rows(
        [&](int64_t first, int64_t rows) { return kernels::dot(curved.data() + first, along_.data() + first, rows); });
    for (size_t k = 0; k < it.support.size(); ++k) curvature += 2.0 * problem_.penalty.lambda_2 * step_[k] * step_[k];
    return curvature;
}

// Between its bends the hinge is flat and the model knows only the damping, and other losses may be flatter than the model: a
// full step is made longer by this factor while that gains at least so much, up to the next kink or bound. Returns the length.
double Refit::extend_step(Iterate& it, const Loss& loss, double factor, double least) {
    const Penalty& penalty = problem_.penalty;
    double longest = 1e6;
    for (size_t k = 0; k < it.support.size(); ++k) {
        if (step_[k] == 0.0) continue;
        double edge = step_[k] > 0.0 ? penalty.high(it.support[k]) : penalty.low(it.support[k]);
        if (penalty.lambda_1 > 0.0 && beta_[k] * step_[k] < 0.0) edge = 0.0;
        if (std::isfinite(edge)) longest = std::min(longest, (edge - beta_[k]) / step_[k]);
    }
    double length = 1.0;
    while (factor * length < longest) {
        if (!take_step(it, loss, factor * length, it.cost() - least)) {
            take_step(it, loss, length, Penalty::infinity);
            break;
        }
        length *= factor;
    }
    return length;
}

// Along such a direction only the penalty has a slope, and a quadratic model with any curvature at all creeps.
bool Refit::centre(Iterate& it) const {
    const Penalty& penalty = problem_.penalty;
    if (!problem_.X.design().couples_rows() || penalty.lambda_1 <= 0.0 || penalty.boxed()) return false;
    const auto outputs = static_cast<int32_t>(problem_.X.blocks());
    std::vector<int64_t> places(it.support.size());
    std::iota(places.begin(), places.end(), int64_t{0});
    std::ranges::sort(places, {}, [&](int64_t k) { return it.support[k]; });
    bool moved = false;
    for (size_t first = 0; first + outputs <= places.size();) {
        const int32_t column = it.support[places[first]] / outputs;
        if (it.support[places[first + outputs - 1]] / outputs != column) {  // some outputs are not in the support
            ++first;
            continue;
        }
        std::vector<double> values(outputs);
        for (int32_t l = 0; l < outputs; ++l) values[l] = it.beta[places[first + l]];
        std::ranges::sort(values);
        const double c = best_centre(values, penalty.lambda_1, penalty.lambda_2);
        for (int32_t l = 0; l < outputs && c != 0.0; ++l) {
            it.beta[places[first + l]] -= c;
            problem_.X.axpy(it.support[places[first + l]], -c, it.eta.data());
            moved = true;
        }
        first += outputs;
    }
    return moved;
}

Refit::Promise Refit::plan(const Iterate& it, const Loss& loss, double floor) {
    if (loss.has_kink()) {
        model_.build(it, it.d);
        return find_step(it, it.r);
    }
    model_.follow(it, it.d);
    const Promise promise = find_step(it, it.r);
    // The minimum of a model is no rise: where one is promised, rounding has the better of what was added and taken away.
    if (model_.indefinite() || promise.change > 1e-4 * floor) {
        model_.build(it, it.d);
        return find_step(it, it.r);
    }
    const double now = curvature_along(it), by_model = 2.0 * (promise.change - promise.slope);
    const bool judged_well = now <= misjudged * by_model && by_model <= misjudged * now;
    return judged_well || !model_.follow(it, it.d, true) ? promise : find_step(it, it.r);
}

bool Refit::newton(Iterate& it, const Loss& loss, double floor, double target) {
    centre(it);
    it.evaluate(loss);
    if (it.support.empty() && !problem_.intercept) return true;
    damping_ = 0.0;
    for (int step = 0; step < most_steps; ++step) {
        const auto [change, slope] = plan(it, loss, floor);
        const double cost = it.cost();
        if (std::isnan(change)) return false;
        if (-change <= 1e-4 * floor) return true;
        if (cost + hope * change > target) return false;
        save(it);
        double length = 1.0;
        // Armijo's rule for a composite objective; the rounding of `cost` itself is forgiven.
        const auto bound = [&] { return cost + 1e-4 * length * slope + 1e-15 * cost; };
        while (!take_step(it, loss, length, bound()) && length > shortest_step) length *= 0.5;
        if (length <= shortest_step) {
            restore(it, loss);
            if (-change <= 1e-9 * cost) return true;  // nothing left but rounding
            if (damping_ > 1.0) return false;
            damping_ = std::max(1e-8, 100.0 * damping_);
            continue;
        }
        const bool flatter = it.cost() - cost < flatter_than_the_model * change;
        if (length == 1.0 && loss.has_kink()) length = extend_step(it, loss, 4.0, 0.0);
        else if (length == 1.0 && flatter) length = extend_step(it, loss, 2.0, worth_a_longer_step * -change);
        if (centre(it)) it.evaluate(loss);
        if (length >= 1.0) {
            if (length == 1.0 && -change <= floor) return true;
            damping_ *= 0.1;
        } else if (length < 0.25) {
            damping_ = std::max(1e-8, 10.0 * damping_);
        }
    }
    return false;
}

// Newton steps on the smoothed hinge see only the few rows on its bend and go astray. An interior-point method is guided by
// every row: it follows  min xi, xi >= z = 1 - y eta, xi >= 0  with multipliers alpha and 1 - alpha,
//     alpha (xi - z) = mu,   (1 - alpha) xi = mu,   mu -> 0,
// to where the bend's rows are known. One step that holds these rows on the bend then arrives at the minimiser of Nesterov's
// smoothing.
void Refit::solve_hinge(Iterate& it) {
    const int64_t n = problem_.rows(), size = std::ssize(it.support);
    if (it.support.empty() && !problem_.intercept) return;
    const double *y = problem_.y, *w = problem_.w;
    const Model start = it.model();
    std::vector<double> alpha(n), gamma(n), xi(n), r(n), d(n), target(n);  // gamma = 1 - alpha, without cancellation
    for (int64_t i = 0; i < n; ++i) {  // on the central path, as far as that is possible with eta given
        const double z = 1.0 - y[i] * it.eta[i], b = 2.0 * first_barrier, s = std::hypot(z, b);
        const double minus = z > 0.0 ? b * b / (s + z) : s - z, plus = z > 0.0 ? s + z : b * b / (s - z);
        xi[i] = 0.5 * (plus + b);
        alpha[i] = b / (b + minus);
        gamma[i] = b / (b + plus);
    }
    damping_ = 0.0;
    double centring = 0.1;
    for (int step = 0; step < most_steps; ++step) {
        double gap = 0.0;
        for (int64_t i = 0; i < n; ++i) gap += 0.5 * w[i] * (alpha[i] * (xi[i] - (1.0 - y[i] * it.eta[i])) + gamma[i] * xi[i]);
        if (!(gap > last_barrier)) break;
        const double mu = centring * gap;
        // Eliminating xi and alpha leaves a least-squares problem in the coefficients. Rows of no weight stay out of it.
        for (int64_t i = 0; i < n; ++i) {
            target[i] = r[i] = d[i] = 0.0;
            if (w[i] == 0.0) continue;
            const double above = xi[i] - (1.0 - y[i] * it.eta[i]), odds = alpha[i] / gamma[i];
            const double stiff = above + odds * xi[i];
            target[i] = (mu - alpha[i] * above - odds * mu + alpha[i] * xi[i]) / stiff;
            r[i] = -w[i] * y[i] * (alpha[i] + target[i]);
            d[i] = w[i] * alpha[i] / stiff;
        }
        model_.build(it, d);
        find_step(it, r);
        double length = 1.0;
        const auto limit = [&](double value, double change) {
            if (change < 0.0) length = std::min(length, -to_the_boundary * value / change);
        };
        for (int64_t i = 0; i < n; ++i) {
            r[i] = d[i] = 0.0;
            if (w[i] == 0.0) continue;
            const double rise = -y[i] * along_[i];  // of z
            const double above = xi[i] - (1.0 - y[i] * it.eta[i]);
            const double stiff = above + alpha[i] / gamma[i] * xi[i];
            r[i] = target[i] + alpha[i] * rise / stiff;                // step of alpha
            d[i] = (mu - gamma[i] * xi[i] + xi[i] * r[i]) / gamma[i];  // step of xi
            limit(alpha[i], r[i]);
            limit(gamma[i], -r[i]);
            limit(xi[i], d[i]);
            limit(above, d[i] - rise);
        }
        kernels::axpy(length, along_.data(), n, it.eta.data());
        kernels::axpy(length, r.data(), n, alpha.data());
        kernels::axpy(-length, r.data(), n, gamma.data());
        kernels::axpy(length, d.data(), n, xi.data());
        for (int64_t k = 0; k < size; ++k) it.beta[k] = problem_.penalty.clip(it.beta[k] + length * step_[k], it.support[k]);
        for (int64_t l = 0; l < problem_.constants(); ++l) it.intercept[l] += length * step_[size + l];
        centring = length > 0.9 ? 0.03 : 0.3;
    }
    it.refresh();
    // Data of extreme scale can take the interior point out of the numbers; Newton's method then starts where it was.
    if (!std::isfinite(it.true_cost())) return it.load(start);

    const Loss& loss = problem_.loss;
    it.evaluate(loss);
    for (int64_t i = 0; i < n; ++i) {
        const bool bend = alpha[i] > on_the_bend && alpha[i] < 1.0 - on_the_bend;
        const double short_by = 1.0 - y[i] * it.eta[i];
        const double at = bend ? short_by / loss.smoothing : (alpha[i] < 0.5 ? 0.0 : 1.0);
        r[i] = -w[i] * y[i] * at;
        d[i] = bend ? w[i] / loss.smoothing : 0.0;
    }
    model_.build(it, d);
    find_step(it, r);
    save(it);
    if (!take_step(it, loss, 1.0, it.cost())) restore(it, loss);
}

std::vector<double> Refit::removal_costs(const Iterate& it) {
    // For the hinge, whose broad curvatures are not those of its steps, there is nothing to follow.
    const std::vector<double> d = finite_curvatures(problem_, it);
    if (problem_.loss.has_kink()) model_.build(it, d);
    else model_.follow(it, d);
    std::vector<Removal> removals = model_.removals(it);
    if (model_.indefinite()) {
        model_.build(it, d);
        removals = model_.removals(it);
    }
    std::vector<double> costs(it.support.size(), Penalty::infinity);
    for (const Removal& removal : removals) costs[removal.positions.front()] = removal.cost;
    return costs;
}

}  // namespace ellzero
