#include "ellzero/exact/dual.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

constexpr double unit = 0x1p-52;
constexpr int projections = 3;

double clip(LossKind loss, double alpha) {
    switch (loss) {
        case LossKind::hinge:
        case LossKind::logistic: return std::clamp(alpha, 0.0, 1.0);
        case LossKind::squared_hinge: return std::max(alpha, 0.0);
        case LossKind::squared_error: break;
    }
    return alpha;
}

// -f*(-alpha y, y), per unit of weight
double conjugate_term(LossKind loss, double alpha, double y) {
    switch (loss) {
        case LossKind::hinge: return alpha;
        case LossKind::squared_hinge: return alpha - 0.25 * alpha * alpha;
        case LossKind::logistic: {
            const double beta = 1.0 - alpha;
            return -((alpha > 0.0 ? alpha * std::log(alpha) : 0.0) + (beta > 0.0 ? beta * std::log(beta) : 0.0));
        }
        case LossKind::squared_error: break;
    }
    return alpha * y - 0.5 * alpha * alpha;
}

// Makes the sum exactly zero. All entries become multiples of a grid so coarse that their sums are exact; the excess then
// leaves the heavier side, largest entries first, so that nothing leaves its domain.
void balance(std::vector<double>& theta) {
    double total = 0.0;
    for (const double t : theta) total += std::abs(t);
    if (total == 0.0) return;
    const double grid = std::ldexp(1.0, std::ilogb(total) + 1 - 50);
    double excess = 0.0;
    for (double& t : theta) {
        t = std::trunc(t / grid) * grid;
        excess += t;
    }
    if (excess == 0.0) return;
    std::vector<int32_t> order;
    for (size_t i = 0; i < theta.size(); ++i)
        if (theta[i] * excess > 0.0) order.push_back(static_cast<int32_t>(i));
    const auto larger = [&](int32_t a, int32_t b) { return std::abs(theta[a]) > std::abs(theta[b]); };
    // One entry is nearly always enough.
    std::iter_swap(order.begin(), std::min_element(order.begin(), order.end(), larger));
    if (std::abs(theta[order[0]]) < std::abs(excess)) std::sort(order.begin(), order.end(), larger);
    for (const int32_t i : order) {
        const double take = std::abs(excess) < std::abs(theta[i]) ? excess : theta[i];
        theta[i] -= take;
        excess -= take;
        if (excess == 0.0) return;
    }
}

// theta moves along the rows with room until the free columns (and the intercept) see nothing of it.
void project(const Problem& problem, const std::vector<double>& d, const std::vector<int32_t>& free,
             std::vector<double>& alpha) {
    const int64_t n = problem.rows(), m = std::ssize(free), ld = m + 1;
    const bool regression = problem.loss.kind == LossKind::squared_error;
    std::vector<double> theta(n), gram, v;
    problem.X.gram(free, d.data(), gram);
    const int64_t order = m + (problem.intercept ? 1 : 0);
    for (int64_t i = 0; i < order; ++i) gram[i * ld + i] *= 1.0 + 1e-12;
    for (int64_t i = 0; i < order; ++i)  // Cholesky
        for (int64_t j = 0; j <= i; ++j) {
            const double rest = gram[i * ld + j] - kernels::dot(&gram[i * ld], &gram[j * ld], j);
            if (i == j && !(rest > 0.0)) return;
            gram[i * ld + j] = i == j ? std::sqrt(rest) : rest / gram[j * ld + j];
        }
    for (int k = 0; k < projections; ++k) {
        for (int64_t i = 0; i < n; ++i) theta[i] = problem.w[i] * alpha[i] * (regression ? 1.0 : problem.y[i]);
        problem.X.dots(free, theta.data(), v);
        v.push_back(kernels::sum(theta.data(), n));
        for (int64_t i = 0; i < order; ++i) v[i] = (v[i] - kernels::dot(&gram[i * ld], v.data(), i)) / gram[i * ld + i];
        for (int64_t i = order; i-- > 0;) {
            v[i] /= gram[i * ld + i];
            kernels::axpy(-v[i], &gram[i * ld], i, v.data());
        }
        std::fill(theta.begin(), theta.end(), problem.intercept ? v[m] : 0.0);
        for (int64_t j = 0; j < m; ++j) problem.X.axpy(free[j], v[j], theta.data());
        for (int64_t i = 0; i < n; ++i)
            if (problem.w[i] > 0.0)
                alpha[i] =
                    clip(problem.loss.kind, alpha[i] - d[i] * theta[i] / problem.w[i] * (regression ? 1.0 : problem.y[i]));
    }
}

// With an intercept the classes must weigh the same: the heavier one is scaled down. A regression loses its mean.
void centre(const Problem& problem, std::vector<double>& alpha) {
    const int64_t n = problem.rows();
    if (problem.loss.kind == LossKind::squared_error) {
        const double mean = kernels::dot(problem.w, alpha.data(), n);
        for (double& t : alpha) t -= mean;
        return;
    }
    double side[2] = {0.0, 0.0};
    for (int64_t i = 0; i < n; ++i) side[problem.y[i] > 0.0] += problem.w[i] * alpha[i];
    const bool heavy = side[1] > side[0];
    if (side[heavy] == 0.0) return;
    const double factor = side[!heavy] / side[heavy];
    for (int64_t i = 0; i < n; ++i)
        if ((problem.y[i] > 0.0) == heavy) alpha[i] *= factor;
}

}  // namespace

void make_dual(const Problem& problem, const std::vector<double>& r, const std::vector<double>& d,
               const std::vector<int32_t>& free, DualPoint& out) {
    const int64_t n = problem.rows();
    const LossKind loss = problem.loss.kind;
    const bool regression = loss == LossKind::squared_error;
    std::vector<double> alpha(n, 0.0);
    for (int64_t i = 0; i < n; ++i)
        if (problem.w[i] > 0.0) alpha[i] = clip(loss, -r[i] / problem.w[i] * (regression ? 1.0 : problem.y[i]));
    if (!free.empty()) project(problem, d, free, alpha);
    if (problem.intercept) centre(problem, alpha);
    out.alpha.assign(alpha.begin(), alpha.end());
    out.theta.resize(n);
    if (problem.penalty.lambda_2 == 0.0) {
        out.alpha.resize(2 * n);
        for (int64_t i = 0; i < n; ++i) out.alpha[n + i] = static_cast<float>(alpha[i] - static_cast<double>(out.alpha[i]));
    }
    for (int64_t i = 0; i < n; ++i) {
        const double rest = std::ssize(out.alpha) > n ? static_cast<double>(out.alpha[n + i]) : 0.0;
        out.theta[i] = problem.w[i] * clip(loss, static_cast<double>(out.alpha[i]) + rest) * (regression ? 1.0 : problem.y[i]);
    }
    if (problem.intercept) balance(out.theta);
    // Neumaier's sum, lowered by what rounding can have done to its terms.
    double total = 0.0, lost = 0.0, size = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; ++i) {
        if (problem.w[i] == 0.0) continue;
        const double a = out.theta[i] / problem.w[i] * (regression ? 1.0 : problem.y[i]);
        const double term = problem.w[i] * conjugate_term(loss, clip(loss, a), problem.y[i]);
        const double next = total + term;
        lost += std::abs(total) >= std::abs(term) ? (total - next) + term : (term - next) + total;
        total = next;
        size += problem.w[i] * (std::abs(a) * (1.0 + std::abs(problem.y[i])) + a * a);
        square += problem.w[i] * a * a;
    }
    out.loss_part = total + lost - 16.0 * unit * size;
    out.norm = std::sqrt(square) * (1.0 + 1e-12);
}

}  // namespace ellzero
