#include <algorithm>
#include <cmath>

#include "ellzero/problem/loss.hpp"

namespace ellzero {
namespace {

Loss::DualTerm entropy_of_two(double size, double w) {
    // The smaller of the two shares has all its digits, and log1p needs no more than that.
    const double share = std::min(size, w - size) / w;
    if (share <= 0.0) return {0.0, 0.0};
    const double entropy = -(share * std::log(share) + (1.0 - share) * std::log1p(-share));
    return {w * entropy, w * (entropy + share)};
}

// w times the entropy of a row's shares, which are -theta / w but for that of its own class.
Loss::DualTerm entropy_of_many(double scale, const double* theta, const double* y, double w, int64_t n, int64_t classes) {
    double entropy = 0.0, given = 0.0;
    for (int64_t l = 0; l < classes; ++l) {
        if (y[l * n] != 0.0) continue;
        const double share = -scale * theta[l * n] / w;
        if (share > 0.0) entropy -= share * std::log(share);
        given -= scale * theta[l * n];
    }
    // What it keeps has all its digits, and log1p needs no more than what it gives.
    const double kept = (w - given) / w, share = given / w;
    if (kept > 0.0) entropy -= share <= 0.5 ? kept * std::log1p(-share) : kept * std::log(kept);
    return {w * entropy, w * (entropy + 2.0 * share) * (1.0 + 0.125 * static_cast<double>(classes))};
}

// linear - factor theta^2 / w. Divided first: a square could underflow where the quotient does not.
Loss::DualTerm parabola(double linear, double factor, double size, double w) {
    const double square = size * (size / w) * factor;
    return {linear - square, std::abs(linear) + square};
}

}  // namespace

double Loss::dual_sign(double y) const {
    switch (kind) {
        case LossKind::squared_error:
        case LossKind::huber: return 1.0;
        case LossKind::softmax: return y == 0.0 ? -1.0 : 0.0;  // that of a row's own class follows from the others
        default: return y;
    }
}

double Loss::clip_dual(double alpha) const {
    switch (kind) {
        case LossKind::hinge:
        case LossKind::softmax:
        case LossKind::logistic: return std::clamp(alpha, 0.0, 1.0);
        case LossKind::squared_hinge: return std::max(alpha, 0.0);
        case LossKind::huber: return std::clamp(alpha, -delta, delta);
        case LossKind::squared_error: break;
    }
    return alpha;
}

Loss::DualTerm Loss::dual_term(double scale, const double* theta, const double* y, double w, int64_t n) const {
    const double size = std::abs(scale * *theta);
    switch (kind) {
        case LossKind::hinge: return {size, size};
        case LossKind::squared_hinge: return parabola(size, 0.25, size, w);
        case LossKind::logistic: return entropy_of_two(size, w);
        case LossKind::softmax: return entropy_of_many(scale, theta, y, w, n, outputs);
        case LossKind::squared_error:
        case LossKind::huber: break;  // beyond delta there is no dual point
    }
    return parabola(scale * *theta * *y, 0.5, size, w);
}

}  // namespace ellzero
