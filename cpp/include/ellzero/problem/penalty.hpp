// lambda_0 sum_j price_j [b_j != 0] + lambda_1 ||b||_1 + lambda_2 ||b||^2 with a box: one penalty, no variants.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ellzero {

struct Penalty {
    double lambda_1 = 0.0;
    double lambda_2 = 0.0;
    // Of each column: its bounds, which may be infinite, and what its feature pays, in units of lambda_0. An unpenalized
    // feature has the price 0.
    const double* lower = nullptr;
    const double* upper = nullptr;
    const double* prices = nullptr;
    bool bounded = false;  // some bound is finite
    bool unequal = false;  // some price is neither 0 nor 1

    static constexpr double infinity = std::numeric_limits<double>::infinity();
    double low(int32_t j) const { return lower[j]; }
    double high(int32_t j) const { return upper[j]; }
    bool boxed() const { return bounded; }
    double clip(double beta, int32_t j) const { return std::clamp(beta, low(j), high(j)); }
    double price(int32_t j) const { return prices[j]; }
    // Whether j pays for coming in. The others are always in.
    bool counted(int32_t j) const { return prices[j] != 0.0; }

    double value(double beta) const { return lambda_1 * std::abs(beta) + lambda_2 * beta * beta; }

    // argmin over the box of curvature/2 (a - c)^2 + lambda_1 |a| + lambda_2 a^2: soft threshold, shrink, clip.
    double proximal(double c, double curvature, int32_t j) const {
        const double pull = std::max(std::abs(c) * curvature - lambda_1, 0.0);
        double size = pull / (curvature + 2.0 * lambda_2);
        // A curvature that is not the column's own, as in hard thresholding, may be far too large for it: c times it overflows.
        if (std::isinf(pull)) size = std::max(std::abs(c) - lambda_1 / curvature, 0.0) / (1.0 + 2.0 * lambda_2 / curvature);
        return clip(std::copysign(size, c), j);
    }

    // The thresholding operator T of the paper (eq. thresholding), with the box: the proximal point if it pays its price, else
    // 0.
    double threshold(double c, double curvature, double lambda_0, int32_t j) const {
        const double a = proximal(c, curvature, j);
        if (a == 0.0 || !counted(j)) return a;
        // curvature/2 (a - c)^2 - curvature/2 c^2, without cancellation
        const double change = curvature * a * (0.5 * a - c) + value(a);
        return change + lambda_0 * price(j) <= 0.0 ? a : 0.0;
    }

    // (|g| - lambda_1)_+^2 / (2 (curvature + 2 lambda_2)), less at a bound: the decrease of the surrogate with slope g when j
    // leaves zero, before its price is paid.
    double entry_gain(double g, double curvature, int32_t j) const {
        const double pull = std::abs(g) - lambda_1;
        if (pull <= 0.0) return 0.0;
        if (curvature <= 0.0) return 0.0;  // a constant column: its slope is rounding
        const double steep = curvature + 2.0 * lambda_2;
        const double reach = g < 0.0 ? high(j) : -low(j);
        if (pull <= steep * reach) return 0.5 * pull * pull / steep;
        return reach * (pull - 0.5 * steep * reach);
    }
};

}  // namespace ellzero
