// Fixing features and shrinking boxes with what a dual point proves.
#include <algorithm>
#include <cmath>

#include "ellzero/exact/last_root.hpp"
#include "ellzero/exact/region.hpp"
#include "ellzero/exact/region_bound.hpp"

namespace ellzero {
namespace {

// Roots of quadratic equations are known up to a few units of rounding: boxes are made wider by more than that.
constexpr double wider = 1.0 + 1e-12;
// The rounding of a bound less one of its terms, relative to the parts that it is made of.
constexpr double rounding_of_rest = 1e-14;
// A dual point is worth its place in the certificate if a box keeps less than this part of its width.
constexpr double worth_a_point = 0.9;

}  // namespace

// bound + s_j + lambda_1 |beta_j| + lambda_2 beta_j^2 - v_j beta_j bounds solutions with this beta_j, where `bound` holds for j
// in: it must not exceed the cutoff.
Box Region::shrunk(int32_t j, double bound, const RegionBound& proved, const std::vector<double>& v, double cutoff) const {
    const double lambda_1 = cost(j).lambda_1, lambda_2 = cost(j).lambda_2;
    const double gain = proved.gain(j), e = proved.noise(j);
    const double parts = std::abs(bound) + std::abs(gain) + std::abs(cutoff);
    const double rest = bound + gain - cutoff - rounding_of_rest * parts;
    const double up = last_root(lambda_2, lambda_1 - (v[j] + e), rest) * wider;
    const double down = last_root(lambda_2, lambda_1 - (-v[j] + e), rest) * wider;
    return {std::max(box_[j].low, -down), std::min(box_[j].high, up)};
}

bool Region::worth_tightening(const RegionBound& proved, const std::vector<double>& v, double cutoff) const {
    if (!std::isfinite(proved.value())) return false;
    const auto narrower = [&](int32_t feature, double bound) {
        const Members members = problem_.members(feature);
        return std::any_of(members.begin(), members.end(), [&](int32_t j) {
            const Box box = shrunk(j, bound, proved, v, cutoff);
            return box.high - box.low < worth_a_point * (box_[j].high - box_[j].low);
        });
    };
    return std::any_of(undecided_.begin(), undecided_.end(), [&](int32_t j) {
        const auto [bound_in, bound_out] = proved.if_decided(j);
        return bound_in > cutoff || bound_out > cutoff || narrower(j, bound_in);
    }) || std::any_of(in_.begin(), in_.end(), [&](int32_t j) { return narrower(j, proved.value()); });
}

bool Region::tighten(const RegionBound& proved, const std::vector<double>& v, double cutoff) {
    if (!std::isfinite(proved.value())) return true;
    const auto shrink = [&](int32_t feature, double bound) {
        for (const int32_t j : problem_.members(feature)) box_[j] = shrunk(j, bound, proved, v, cutoff);
    };
    for (const int32_t j : in_) shrink(j, proved.value());
    for (const int32_t j : always_)
        if (box_[j].low <= 0.0 && box_[j].high >= 0.0) box_[j] = shrunk(j, proved.value(), proved, v, cutoff);
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

bool Region::fix(std::span<const int32_t> out, std::span<const int32_t> in, double cutoff) {
    for (const int32_t j : out) status_[j] = Status::out;
    for (const int32_t j : in) status_[j] = Status::in;
    in_.insert(in_.end(), in.begin(), in.end());
    std::erase_if(undecided_, [&](int32_t j) { return status_[j] != Status::undecided; });
    return settle(cutoff);
}

}  // namespace ellzero
