#include "ellzero/problem/loss.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "ellzero/data/simd.hpp"

namespace ellzero {
namespace {

// exp(x) for x <= 0, branch-free so that it vectorises; relative error below 3e-16. Below -300 it returns exp(-300), about
// 1e-130: nothing beside one, and far enough from the denormal numbers that would slow every product with it.
ELLZERO_INLINE double exp_nonpositive(double x) {
    x = x < -300.0 ? -300.0 : x;
    constexpr double round_magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer in the low bits
    const double shifted = x * std::numbers::log2e + round_magic;
    const auto exponent = std::bit_cast<int64_t>(shifted);
    const double k = shifted - round_magic;
    // ln(2) in two parts, the first of which times k is exact; |f| <= ln(2) / 2
    constexpr double ln2_high = 6.93147180369123816490e-01;  // NOLINT(modernize-use-std-numbers)
    const double f = (x - k * ln2_high) - k * 1.90821492927058770002e-10;
    // Taylor's series: the next term is below 4e-18.
    double e = 1.0 / 6227020800.0;
    e = e * f + 1.0 / 479001600.0;
    e = e * f + 1.0 / 39916800.0;
    e = e * f + 1.0 / 3628800.0;
    e = e * f + 1.0 / 362880.0;
    e = e * f + 1.0 / 40320.0;
    e = e * f + 1.0 / 5040.0;
    e = e * f + 1.0 / 720.0;
    e = e * f + 1.0 / 120.0;
    e = e * f + 1.0 / 24.0;
    e = e * f + 1.0 / 6.0;
    e = e * f + 0.5;
    e = e * f + 1.0;
    e = e * f + 1.0;
    return std::bit_cast<double>(std::bit_cast<int64_t>(e) + static_cast<int64_t>(static_cast<uint64_t>(exponent) << 52));
}

// log(1 + a) for 1 + a in [sqrt(1/2), sqrt(2)]: 2 atanh(s), s = a / (2 + a), by its series.
ELLZERO_INLINE double log1p_near(double a) {
    const double s = a / (2.0 + a);  // |s| <= 0.1716
    const double z = s * s;
    double t = 1.0 / 21.0;
    t = t * z + 1.0 / 19.0;
    t = t * z + 1.0 / 17.0;
    t = t * z + 1.0 / 15.0;
    t = t * z + 1.0 / 13.0;
    t = t * z + 1.0 / 11.0;
    t = t * z + 1.0 / 9.0;
    t = t * z + 1.0 / 7.0;
    t = t * z + 1.0 / 5.0;
    t = t * z + 1.0 / 3.0;
    t = t * z + 1.0;
    return 2.0 * s * t;
}

// log(1 + u) for u in [0, 1]
ELLZERO_INLINE double log1p_unit(double u) {
    const bool halve = u > 0.41421356237309503;
    return log1p_near(halve ? 0.5 * (u - 1.0) : u) + (halve ? std::numbers::ln2 : 0.0);
}

struct Point {
    double f, g, h;  // the loss and its first two derivatives in eta
};

struct Logistic {
    ELLZERO_INLINE Point at(double eta, double y) const {
        const double m = y * eta;
        const double u = exp_nonpositive(m < 0.0 ? m : -m);
        const double inverse = 1.0 / (1.0 + u);
        const double miss = m < 0.0 ? inverse : u * inverse;  // 1 / (1 + exp(m))
        return {(m < 0.0 ? -m : 0.0) + log1p_unit(u), -y * miss, u * inverse * inverse};
    }
};

struct SquaredHinge {
    ELLZERO_INLINE Point at(double eta, double y) const {
        const double z = 1.0 - y * eta;
        const double short_by = z > 0.0 ? z : 0.0;
        return {short_by * short_by, -2.0 * y * short_by, z > 0.0 ? 2.0 : 0.0};
    }
};

struct SmoothedHinge {
    double tau, inverse;
    ELLZERO_INLINE Point at(double eta, double y) const {
        const double z = 1.0 - y * eta;
        const double c = z < 0.0 ? 0.0 : (z > tau ? tau : z);
        const bool inside = z > 0.0 && z < tau;
        return {c * (z - 0.5 * c) * inverse, -y * c * inverse, inside ? inverse : 0.0};
    }
};

struct Hinge {
    ELLZERO_INLINE Point at(double eta, double y) const {
        const double z = 1.0 - y * eta;
        return {z > 0.0 ? z : 0.0, z > 0.0 ? -y : 0.0, 0.0};
    }
};

struct SquaredError {
    ELLZERO_INLINE Point at(double eta, double y) const {
        const double e = eta - y;
        return {0.5 * e * e, e, 1.0};
    }
};

struct Huber {
    double delta;
    ELLZERO_INLINE Point at(double eta, double y) const {
        const double e = eta - y;
        const double c = e < -delta ? -delta : (e > delta ? delta : e);
        return {c * (e - 0.5 * c), c, c == e ? 1.0 : 0.0};
    }
};

enum class Want { value, residual, all, values, all_values };

template <class L>
ELLZERO_INLINE double sweep(Want want, L loss, int64_t n, const double* eta, const double* y, const double* w, double* r,
                            double* d, double* f) {
    double total = 0.0;
    switch (want) {
        case Want::value:
#pragma omp simd reduction(+ : total)
            for (int64_t i = 0; i < n; ++i) total += w[i] * loss.at(eta[i], y[i]).f;
            break;
        case Want::residual:
#pragma omp simd
            for (int64_t i = 0; i < n; ++i) r[i] = w[i] * loss.at(eta[i], y[i]).g;
            break;
        case Want::all:
#pragma omp simd reduction(+ : total)
            for (int64_t i = 0; i < n; ++i) {
                const Point point = loss.at(eta[i], y[i]);
                total += w[i] * point.f;
                r[i] = w[i] * point.g;
                d[i] = w[i] * point.h;
            }
            break;
        case Want::values:  // NOLINT(bugprone-branch-clone): the check does not look into a loop under a pragma
#pragma omp simd
            for (int64_t i = 0; i < n; ++i) f[i] = loss.at(eta[i], y[i]).f;
            break;
        case Want::all_values:
#pragma omp simd
            for (int64_t i = 0; i < n; ++i) {
                const Point point = loss.at(eta[i], y[i]);
                f[i] = point.f;
                r[i] = w[i] * point.g;
                d[i] = w[i] * point.h;
            }
            break;
    }
    return total;
}

// log sum_l exp(eta_l) - sum_l y_l eta_l. The largest eta is taken out, so that nothing overflows, and what the others add to
// it keeps its digits where they are next to nothing.
ELLZERO_INLINE double softmax(Want want, int64_t n, int64_t outputs, const double* eta, const double* y, const double* w,
                              double* r, double* d) {
    constexpr int64_t chunk = 256;
    double top[chunk], total[chunk], equal[chunk], missed[chunk], value = 0.0;
    std::vector<double> share(outputs * chunk);  // exp(eta_l - top), then p_l
    for (int64_t start = 0; start < n; start += chunk) {
        const int64_t count = std::min(chunk, n - start);
        std::copy_n(eta + start, count, top);
        for (int64_t l = 1; l < outputs; ++l)
            for (int64_t i = 0; i < count; ++i) top[i] = std::max(top[i], eta[l * n + start + i]);
        std::fill_n(total, count, 0.0);  // without the largest, whose share is one
        std::fill_n(equal, count, -1.0);
        std::fill_n(missed, count, 0.0);  // top - eta_y, then 1 - p_y
        for (int64_t l = 0; l < outputs; ++l) {
            const double *at = eta + l * n + start, *label = y + l * n + start;
#pragma omp simd
            for (int64_t i = 0; i < count; ++i) {
                const double below = at[i] - top[i];
                share[l * chunk + i] = exp_nonpositive(below);
                total[i] += below < 0.0 ? share[l * chunk + i] : 0.0;
                equal[i] += below < 0.0 ? 0.0 : 1.0;
                missed[i] -= label[i] != 0.0 ? below : 0.0;
            }
        }
        for (int64_t i = 0; i < count; ++i) total[i] += equal[i];
        for (int64_t i = 0; want != Want::residual && i < count; ++i)
            if (w[start + i] > 0.0) value += w[start + i] * (missed[i] + std::log1p(total[i]));
        if (want == Want::value) continue;
        std::fill_n(missed, count, 0.0);
        for (int64_t l = 0; l < outputs; ++l) {
            const double* label = y + l * n + start;
#pragma omp simd
            for (int64_t i = 0; i < count; ++i) {
                share[l * chunk + i] /= 1.0 + total[i];
                missed[i] += label[i] != 0.0 ? 0.0 : share[l * chunk + i];
            }
        }
        for (int64_t l = 0; l < outputs; ++l) {
            const int64_t first = l * n + start;
            for (int64_t i = 0; i < count; ++i) {
                const double p = share[l * chunk + i];
                r[first + i] = w[start + i] * (y[first + i] != 0.0 ? -missed[i] : p);
                if (want == Want::all) d[first + i] = w[start + i] * p;
            }
        }
    }
    return value;
}

ELLZERO_SIMD double dispatch(Want want, const Loss& loss, int64_t n, const double* eta, const double* y, const double* w,
                             double* r, double* d, double* f) {
    switch (loss.kind) {
        case LossKind::logistic: return sweep(want, Logistic{}, n, eta, y, w, r, d, f);
        case LossKind::squared_hinge: return sweep(want, SquaredHinge{}, n, eta, y, w, r, d, f);
        case LossKind::squared_error: return sweep(want, SquaredError{}, n, eta, y, w, r, d, f);
        case LossKind::huber: return sweep(want, Huber{loss.delta}, n, eta, y, w, r, d, f);
        case LossKind::softmax: return softmax(want, n / loss.outputs, loss.outputs, eta, y, w, r, d);
        case LossKind::hinge: break;
    }
    if (loss.smoothing > 0.0) return sweep(want, SmoothedHinge{loss.smoothing, 1.0 / loss.smoothing}, n, eta, y, w, r, d, f);
    return sweep(want, Hinge{}, n, eta, y, w, r, d, f);
}

ELLZERO_SIMD double weighted_sum(int64_t n, const double* w, const double* f) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < n; ++i) total += w[i] * f[i];
    return total;
}

}  // namespace

double Loss::value(int64_t n, const double* eta, const double* y, const double* w) const {
    return dispatch(Want::value, *this, n, eta, y, w, nullptr, nullptr, nullptr);
}

void Loss::residual(int64_t n, const double* eta, const double* y, const double* w, double* r) const {
    dispatch(Want::residual, *this, n, eta, y, w, r, nullptr, nullptr);
}

double Loss::evaluate(int64_t n, const double* eta, const double* y, const double* w, double* r, double* d) const {
    return dispatch(Want::all, *this, n, eta, y, w, r, d, nullptr);
}

void Loss::terms(int64_t n, const double* eta, const double* y, const double* w, double* f, double* r, double* d) const {
    dispatch(r && d ? Want::all_values : Want::values, *this, n, eta, y, w, r, d, f);
}

double Loss::total(int64_t n, const double* w, const double* f) { return weighted_sum(n, w, f); }

double Loss::curvature_bound() const {
    switch (kind) {
        case LossKind::logistic: return 0.25;
        case LossKind::squared_hinge: return 2.0;
        case LossKind::squared_error:
        case LossKind::huber: return 1.0;
        case LossKind::softmax: return 0.5;  // diag(p) - p p' is at most half the identity
        case LossKind::hinge: break;
    }
    return 1.0 / smoothing;
}

}  // namespace ellzero
