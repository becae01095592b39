#include "ellzero/relaxation/joint_envelope.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {

// Steps towards the best share: it is exact after one where all coordinates are alike, and a bracket halves it elsewhere.
constexpr int most_steps = 100;
constexpr double precision = 1e-15;  // of the share, relative

Cost cost_of(double lambda_1, double ridge) {
    Penalty penalty;
    penalty.lambda_1 = lambda_1;
    penalty.lambda_2 = ridge;
    return penalty;
}

bool is_zero(std::span<const double> x) {
    return std::all_of(x.begin(), x.end(), [](double each) { return each == 0.0; });
}

double size_of(std::span<const double> x) {
    double total = 0.0;
    for (const double each : x) total += std::abs(each);
    return total;
}

}  // namespace

double JointEnvelope::gain(std::span<const double> v) const {
    double total = 0.0;
    for (size_t a = 0; a < size(); ++a) total += ellzero::gain(v[a], box(a), cost_of(lambda_1_, ridge(a)));
    return total;
}

double JointEnvelope::square(std::span<const double> x) const {
    double total = 0.0;
    for (size_t a = 0; a < size(); ++a) total += ridge(a) * x[a] * x[a];
    return total;
}

JointEnvelope::Held JointEnvelope::share_by_box(std::span<const double> x) const {
    Held out;
    for (size_t a = 0; a < size(); ++a) {
        const double z = x[a] != 0.0 ? std::abs(x[a]) / members_[a].reach(x[a]) : 0.0;
        if (z > out.share) out = {z, a};
    }
    return out;
}

JointEnvelope::Held JointEnvelope::share_and_cause(std::span<const double> x) const {
    if (charge_ <= 0.0) return {1.0, size()};
    const double z = share_by_ridge(x);
    const Held held = share_by_box(x);
    if (held.share > z && held.share <= 1.0) return held;
    return {std::min(std::max(z, held.share), 1.0), size()};
}

double JointEnvelope::share(std::span<const double> x) const { return is_zero(x) ? 0.0 : share_and_cause(x).share; }

double JointEnvelope::value(std::span<const double> x) const {
    const double z = share(x);
    return charge_ * z + lambda_1_ * size_of(x) + (z > 0.0 ? square(x) / z : 0.0);
}

double JointEnvelope::slope(std::span<const double> x, size_t a, const Held& at) const {
    const double z = at.share, side = std::copysign(1.0, x[a]);
    double out = side * lambda_1_ + (z > 0.0 ? 2.0 * ridge(a) * x[a] / z : 0.0);
    if (at.by == a) out += side * (charge_ - square(x) / (z * z)) / members_[a].reach(x[a]);
    return out;
}

double JointEnvelope::along(std::span<const double> x, std::span<const double> direction) const {
    if (is_zero(x)) {  // the envelope is a cone there
        if (charge_ <= 0.0) return lambda_1_ * size_of(direction);
        const double steep = std::max(share_by_ridge(direction), share_by_box(direction).share);
        return charge_ * steep + lambda_1_ * size_of(direction) + (steep > 0.0 ? square(direction) / steep : 0.0);
    }
    const Held at = share_and_cause(x);
    double total = 0.0;
    for (size_t a = 0; a < size(); ++a)
        if (direction[a] != 0.0) total += x[a] != 0.0 ? slope(x, a, at) * direction[a] : lambda_1_ * std::abs(direction[a]);
    return total;
}

JointEnvelope::Worth JointEnvelope::worth(double z, std::span<const double> q, std::span<const double> h) const {
    Worth out;
    for (size_t a = 0; a < size(); ++a) {
        const double pull = std::abs(q[a]) - lambda_1_, reach = members_[a].reach(q[a]);
        if (!(pull > 0.0) || reach <= 0.0) continue;
        const double bend = 2.0 * ridge(a) + h[a] * z, t = pull / bend;
        if (t < reach || std::isinf(reach)) {
            if (ridge(a) == 0.0) continue;
            const double square = ridge(a) * t * t;
            out.value += square;
            out.fall += 2.0 * square * h[a] / bend;
        } else {
            out.value += reach * (pull - (ridge(a) + h[a] * z) * reach);
            out.fall += h[a] * reach * reach;
        }
    }
    return out;
}

double JointEnvelope::best_share(std::span<const double> q, std::span<const double> h, Worth at) const {
    // Newton's method on the inverse of the worth's root, which is linear where no box is in the way and all are alike.
    double low = 0.0, high = 1.0, z = 1.0;
    for (int k = 0; k < most_steps; ++k) {
        (at.value < charge_ ? high : low) = z;
        double next = z + 2.0 * at.value * (std::sqrt(at.value / charge_) - 1.0) / at.fall;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        const double moved = std::abs(next - z);
        z = next;
        if (moved <= precision * z || high - low <= precision * high) break;
        at = worth(z, q, h);
    }
    return z;
}

void JointEnvelope::proximal(std::span<const double> q, std::span<const double> h, std::span<double> x) const {
    if (charge_ > 0.0 && gain(q) <= charge_) {
        std::fill(x.begin(), x.end(), 0.0);
        return;
    }
    const Worth at_one = worth(1.0, q, h);
    const double z = at_one.value >= charge_ ? 1.0 : best_share(q, h, at_one);
    for (size_t a = 0; a < size(); ++a) {
        const double pull = std::max(std::abs(q[a]) - lambda_1_, 0.0);
        const double t = std::copysign(pull > 0.0 ? pull / (2.0 * ridge(a) + h[a] * z) : 0.0, q[a]);
        x[a] = z * std::clamp(t, box(a).low, box(a).high);
    }
}

}  // namespace ellzero
