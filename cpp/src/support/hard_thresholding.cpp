#include "ellzero/support/hard_thresholding.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
constexpr int most_steps = 5000;
// A support that has lasted this many steps is minimised on; if it survives the next step too, it is a fixed point.
constexpr int settled = 10;
constexpr int most_power_steps = 200;
constexpr double power_tolerance = 1e-4;

// A power of two next to the largest entry, so that a division by it is exact.
double unit_of(const std::vector<double>& v) {
    double largest = 0.0;
    for (const double entry : v) largest = std::max(largest, std::abs(entry));
    return largest > 0.0 && std::isfinite(largest) ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
}

}  // namespace

// The largest eigenvalue of Z'WZ, by power iteration on the n x n matrix with the same eigenvalues. The residual's length makes
// the estimate a bound for the eigenvalue that it approaches.
double HardThresholding::largest_eigenvalue() const {
    const int64_t n = problem_.rows(), p = problem_.columns();
    std::vector<double> root(n), v(n), side(n), next(n), products(p);
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < n; ++i) {
        root[i] = std::sqrt(problem_.w[i]);
        v[i] = normal(random);
    }
    double value = 0.0, bound = 0.0;
    for (int step = 0; step < most_power_steps; ++step) {
        const double length = std::sqrt(kernels::dot(v.data(), v.data(), n));
        if (length == 0.0) return 0.0;
        for (double& entry : v) entry /= length;
        for (int64_t i = 0; i < n; ++i) side[i] = root[i] * v[i];
        problem_.X.all_dots(side.data(), products.data());
        std::fill(next.begin(), next.end(), 0.0);
        problem_.X.add_all(products.data(), next.data());
        double residual = 0.0;
        const double last = value;
        for (int64_t i = 0; i < n; ++i) next[i] *= root[i];
        value = kernels::dot(next.data(), v.data(), n);
        const double unit = unit_of(next);  // squares of larger numbers could overflow, of smaller ones underflow
        for (int64_t i = 0; i < n; ++i) {
            const double difference = (next[i] - value * v[i]) / unit;
            residual += difference * difference;
            v[i] = next[i] / unit;
        }
        const double length_left = unit * std::sqrt(residual);
        bound = value + length_left;
        if (value - last <= power_tolerance * value && length_left <= 0.05 * value) break;
    }
    return bound;
}

double HardThresholding::step_curvature() {
    // The columns are centred when there is an intercept, which is then a coordinate of its own with curvature 1.
    if (curvature_ == 0.0)
        curvature_ = curvature_safety * problem_.loss.curvature_bound() *
                     std::max({largest_eigenvalue(), problem_.intercept ? 1.0 : 0.0, 1e-300});
    return curvature_;
}

Model HardThresholding::step(const Iterate& it, double lambda_0, int size) {
    const Penalty& penalty = problem_.penalty;
    const int64_t p = problem_.columns();
    const double curvature = step_curvature();
    slopes_.resize(p);
    problem_.X.all_dots(it.r.data(), slopes_.data());
    std::vector<double> from(p, 0.0);
    for (size_t k = 0; k < it.support.size(); ++k) from[it.support[k]] = it.beta[k];
    std::vector<int32_t> chosen;  // features, by their heads
    std::vector<std::pair<double, int32_t>> competing;
    std::vector<double> values(p, 0.0);
    for (int32_t head = 0; head < p; ++head) {
        if (!problem_.is_head(head)) continue;
        // The decrease of the surrogate when the feature leaves zero. Without bounds it orders single columns by |target|.
        double gain = 0.0;
        bool used = false;
        for (const int32_t j : problem_.members(head)) {
            const double target = problem_.X.square(j) > 0.0 ? from[j] - slopes_[j] / curvature : from[j];
            const double value = penalty.proximal(target, curvature, j);
            if (!std::isnan(value)) values[j] = value;
            if (values[j] == 0.0) continue;
            used = true;
            gain += curvature * value * (target - 0.5 * value) - penalty.value(value);
        }
        const bool pays = penalty.counted(head);
        if (!pays || (used && size < 0 && lambda_0 * penalty.price(head) <= gain)) chosen.push_back(head);
        else if (used && size >= 0) competing.emplace_back(-gain, head);
    }
    if (std::cmp_greater(competing.size(), size) && size >= 0) {
        std::nth_element(competing.begin(), competing.begin() + size, competing.end());
        competing.resize(size);
    }
    for (const auto& [gain, head] : competing) chosen.push_back(head);
    std::sort(chosen.begin(), chosen.end());
    Model out;
    for (const int32_t head : chosen) {
        const Members members = problem_.members(head);
        out.support.insert(out.support.end(), members.begin(), members.end());
        out.size += penalty.counted(head);
        out.spent += penalty.price(head);
    }
    std::sort(out.support.begin(), out.support.end());
    for (const int32_t j : out.support) out.beta.push_back(values[j]);
    out.intercept = it.intercept;
    std::vector<double> sums(problem_.X.blocks());
    problem_.X.block_sums(it.r.data(), sums.data());
    for (int64_t l = 0; l < problem_.constants(); ++l) out.intercept[l] -= sums[l] / curvature;
    return out;
}

Model HardThresholding::run(Iterate& it, double lambda_0, int size) {
    it.evaluate(problem_.loss);
    std::vector<int32_t> support = it.model().support;
    double objective = size >= 0 && it.size > size ? Penalty::infinity : it.cost() + lambda_0 * it.spent;
    const std::vector<double> zero(problem_.rows(), 0.0);
    const double rounding = 1e-14 * problem_.loss.value(problem_.rows(), zero.data(), problem_.y, problem_.w);
    double sure = problem_.intercept ? 1.0 : 0.0;  // the trace bounds the eigenvalue
    for (int64_t j = 0; j < problem_.columns(); ++j) sure += problem_.X.square(static_cast<int32_t>(j));
    sure *= curvature_safety * problem_.loss.curvature_bound();
    Model fitted;  // where the last settled support was minimised on
    bool minimised = false;
    int unchanged = 0;
    for (int count = 0; count < most_steps; ++count) {
        problem_.X.monitor().poll();
        const Model here = it.model(), next = step(it, lambda_0, size);
        if (minimised && next.support == fitted.support) return fitted;
        minimised = false;
        it.load(next);
        const double value = it.cost() + lambda_0 * it.spent;
        if (value > objective + 1e-12 * std::abs(objective) + rounding && curvature_ < sure) {
            // The descent lemma failed, so the power iteration had stopped short of the largest eigenvalue.
            curvature_ = std::min(1.5 * curvature_, sure);
            it.load(here);
            continue;
        }
        unchanged = next.support == support ? unchanged + 1 : 0;
        support = next.support;
        objective = value;
        if (unchanged < settled) continue;
        fitted = descent_.refit(it);
        it.load(fitted);
        support = fitted.support;
        objective = it.cost() + lambda_0 * it.spent;
        minimised = true;
        unchanged = 0;
    }
    fitted = descent_.refit(it);
    fitted.converged = false;
    return fitted;
}

}  // namespace ellzero
