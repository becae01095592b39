// Fixing features and shrinking boxes with what a dual point proves.
#include <algorithm>
#include <cmath>

#include "ellzero/exact/region.hpp"
#include "ellzero/exact/region_bound.hpp"

namespace ellzero {
namespace {

// Roots of quadratic equations are known up to a few units of rounding: boxes are made wider by more than that.
constexpr double wider = 1.0 + 1e-12;
// A bound without the gain of one feature is a difference, off by this part of its terms. The cutoff has room for less than so
// much of itself.
constexpr double rounding_of_rest = 0x1p-46, covered_by_cutoff = 1e-10;

// The m >= 0 beyond which lambda_2 m^2 + (lambda_1 - v) m + rest is positive; infinity if there is none.
double positive_beyond(double v, double rest, const Penalty& penalty) {
    const double a = penalty.lambda_2, b = penalty.lambda_1 - v;
    if (a < Region::least_ridge) return b > 0.0 ? std::max(-rest / b, 0.0) : Penalty::infinity;
    const double square = b * b - 4.0 * a * rest;
    if (square < 0.0) return 0.0;
    // Where b > 0, its difference to the square root would lose all digits of a small lambda_2.
    const double root = std::sqrt(square);
    return std::max(b > 0.0 ? -2.0 * rest / (b + root) : (root - b) / (2.0 * a), 0.0);
}

}  // namespace

bool Region::tighten(const RegionBound& proved, const std::vector<double>& v, double cutoff) {
    if (!std::isfinite(proved.value())) return true;
    // bound + s_j + lambda_1 |beta_j| + lambda_2 beta_j^2 - v_j beta_j bounds solutions with this beta_j, where `bound` holds
    // for j in: it must not exceed the cutoff.
    const auto shrink = [&](int32_t j, double bound) {
        Box& box = box_[j];
        const double e = proved.noise(j), rounding = rounding_of_rest * (std::abs(bound) + proved.gain(j));
        double rest = bound + proved.gain(j) - cutoff;
        if (rounding > covered_by_cutoff * std::abs(cutoff)) rest -= rounding;
        const double up = positive_beyond(v[j] + e, rest, problem_.penalty) * wider;
        const double down = positive_beyond(-v[j] + e, rest, problem_.penalty) * wider;
        box = {std::max(box.low, -down), std::min(box.high, up)};
    };
    for (const int32_t j : in_) shrink(j, proved.value());
    for (const int32_t j : always_)
        if (box_[j].low <= 0.0 && box_[j].high >= 0.0) shrink(j, proved.value());
    std::vector<int32_t> still;
    for (const int32_t j : undecided_) {
        const auto [bound_in, bound_out] = proved.if_decided(j);
        if (bound_in > cutoff && bound_out > cutoff) return false;
        if (bound_in > cutoff) {
            status_[j] = Status::out;
            continue;
        }
        if (bound_out > cutoff) {
            status_[j] = Status::in;
            in_.push_back(j);
        } else {
            still.push_back(j);
        }
        shrink(j, bound_in);
    }
    undecided_ = std::move(still);
    return settle(cutoff);
}

}  // namespace ellzero
