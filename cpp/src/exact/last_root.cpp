#include "ellzero/exact/last_root.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ellzero/problem/penalty.hpp"

namespace ellzero {
namespace {

// A sum of squares and products in this range has neither overflowed nor lost digits by underflow.
constexpr double smallest = 1e-280, largest = 1e280;
// An equation that is multiplied by this power of two has the same roots.
constexpr double larger = 0x1p900;

double from_squares(double a, double b, double c) {
    const double square = b * b - 4.0 * a * c;
    if (square < 0.0) return 0.0;
    // Where b > 0, its difference to the square root would lose all digits of a small a.
    const double root = std::sqrt(square);
    return b >= 0.0 ? -c / (0.5 * (b + root)) : (root - b) / (2.0 * a);
}

// The square of b and the product of a and c are out of range, but their square roots are not.
double from_roots(double a, double b, double c) {
    const double half = 0.5 * b, product = std::sqrt(a) * std::sqrt(std::abs(c));
    if (std::max(std::abs(half), product) < smallest) return from_roots(larger * a, larger * b, larger * c);
    if (c > 0.0 && -half < product) return 0.0;
    const double root = c > 0.0 ? std::sqrt(-half - product) * std::sqrt(-half + product) : std::hypot(half, product);
    const double sum = std::abs(half) + root;
    if (!std::isfinite(sum)) return Penalty::infinity;
    return b >= 0.0 ? -c / sum : sum / a;
}

}  // namespace

double last_root(double a, double b, double c) {
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return Penalty::infinity;
    if (a == 0.0 && b <= 0.0) return Penalty::infinity;
    if (b >= 0.0 && c >= 0.0) return 0.0;
    // What underflows is not cut off.
    constexpr double least = std::numeric_limits<double>::denorm_min();
    if (a == 0.0) return -c / b + least;
    if (c == 0.0) return -b / a + least;
    const double size = b * b + 4.0 * a * std::abs(c);
    return (size > smallest && size < largest ? from_squares(a, b, c) : from_roots(a, b, c)) + least;
}

}  // namespace ellzero
