// The last root of a quadratic, against long double, whose exponents reach far beyond those of float64.
#include "ellzero/exact/last_root.hpp"

#include <limits>

#include "ellzero/problem/penalty.hpp"
#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

constexpr double infinity = Penalty::infinity;
constexpr double least = std::numeric_limits<double>::denorm_min();

long double reference(long double a, long double b, long double c) {
    if (a == 0.0L) return b > 0.0L ? std::max(-c / b, 0.0L) : std::numeric_limits<long double>::infinity();
    const long double square = b * b - 4.0L * a * c;
    if (square < 0.0L) return 0.0L;
    const long double root = std::sqrt(square);
    return std::max(b > 0.0L ? -2.0L * c / (b + root) : (root - b) / (2.0L * a), 0.0L);
}

double number(Random& random) {
    if (random.coin(0.1)) return 0.0;
    return (random.coin() ? 1.0 : -1.0) * (random.coin() ? random.magnitude(-323.0, 308.0) : random.magnitude(-3.0, 3.0));
}

}  // namespace

TEST(last_roots_of_all_sizes) {
    if (!harness::long_double_is_wider) return;
    int finite = 0, near = 0;
    for (int trial = 0; trial < 200'000; ++trial) {
        const double a = std::abs(number(random)), b = number(random);
        double c = number(random);
        // A discriminant that nearly vanishes.
        if (random.coin(0.3) && a > 0.0) c = b / 4.0 / a * b * (1.0 + random.uniform(-1e-12, 1e-12));
        if (!std::isfinite(c)) continue;
        const double found = last_root(a, b, c);
        CHECK(found >= 0.0);
        // Nothing is cut off that a constant smaller by rounding would leave ...
        const long double rounding = 1e-15L * std::abs(static_cast<long double>(c));
        const long double sure = reference(a, b, c + rounding), far = reference(a, b, c - rounding);
        if (!(found >= static_cast<double>(sure) * (1.0 - 1e-15)))
            harness::fail(std::source_location::current(), a, " ", b, " ", c, ": ", found, " < ", static_cast<double>(sure));
        // ... and the root is no larger than it must be, if it is a number at all.
        if (found < infinity) {
            if (!(found <= static_cast<double>(far) * (1.0 + 1e-14) + 2.0 * least))
                harness::fail(std::source_location::current(), a, " ", b, " ", c, ": ", found, " > ", static_cast<double>(far));
            ++finite;
            near += sure != far;
        } else if (!(far >= 1e300L)) {
            harness::fail(std::source_location::current(), a, " ", b, " ", c, ": infinite, not ", static_cast<double>(far));
        }
    }
    CHECK(finite > 100'000 && near > 10'000);
}

TEST(last_roots_of_numbers_out_of_range) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bad : {nan, infinity, -infinity}) {
        CHECK(last_root(1.0, bad, -1.0) == infinity);
        CHECK(last_root(1.0, 1.0, bad) == infinity);
        CHECK(last_root(bad, 1.0, -1.0) == infinity);
    }
    CHECK(last_root(0.0, 0.0, -1.0) == infinity);
    CHECK(last_root(0.0, -1.0, 1.0) == infinity);
    CHECK_AT_MOST(last_root(0.0, 1.0, 1.0), 0.0);
}
