// The convex envelope of charge [x != 0] + lambda_1 |x| + lambda_2 x^2 over a box, and the conjugate of the penalty, by grids.
#include "ellzero/relaxation/envelope.hpp"

#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

constexpr int trials = 200;
constexpr int points = 1000;

// A box that holds zero (as all boxes do of features that may be out), a charge and a penalty.
struct Case {
    explicit Case(Random& random)
        : box{random.coin(0.15) ? 0.0 : -random.magnitude(-1.0, 1.0), random.coin(0.15) ? 0.0 : random.magnitude(-1.0, 1.0)},
          charge(random.coin(0.1) ? 0.0 : random.magnitude(-2.0, 1.0)),
          penalty{random.coin(0.3) ? 0.0 : random.magnitude(-2.0, 0.5), random.coin(0.3) ? 0.0 : random.magnitude(-2.0, 0.5),
                  nullptr, nullptr, nullptr},
          envelope(box, charge, penalty) {}

    double function(double x) const { return x == 0.0 ? 0.0 : charge + penalty.value(x); }
    double point(int k) const { return k == 0 ? 0.0 : box.low + (box.high - box.low) * (k - 1) / (points - 1); }
    template <class Body>
    void for_points(const Body& body) const {
        for (int k = 0; k <= points; ++k) body(point(k));
    }
    // The largest v x - f(x) over the grid, with the knees on it: there the function and its envelope meet.
    template <class Function>
    double conjugate(double v, const Function& f) const {
        double out = 0.0;
        const auto take = [&](double x) { out = std::max(out, v * x - f(x)); };
        for_points(take);
        take(envelope.knee(1.0));
        take(-envelope.knee(-1.0));
        return out;
    }

    Box box;
    double charge;
    Penalty penalty;
    Envelope envelope;
};

}  // namespace

TEST(envelope_is_below_the_function_and_meets_it) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        const Envelope& e = it.envelope;
        CHECK(e.value(0.0) == 0.0);
        it.for_points([&](double x) {
            const double f = it.function(x);
            CHECK_AT_MOST(e.value(x), f + 1e-12 * (1.0 + f));
            if (std::abs(x) > e.knee(x)) CHECK_NEAR(e.value(x), f, 1e-12 * (1.0 + f));
        });
        for (const double side : {-1.0, 1.0}) {
            const double knee = side * e.knee(side);
            CHECK_AT_MOST(it.box.low, knee);
            CHECK_AT_MOST(knee, it.box.high);
            CHECK_NEAR(e.value(knee), it.function(knee), 1e-12 * (1.0 + it.function(knee)));
        }
    }
}

TEST(envelope_is_convex) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        for (int k = 0; k < points; ++k) {
            const double a = random.uniform(it.box.low, it.box.high), b = random.uniform(it.box.low, it.box.high);
            const double t = random.uniform(0.0, 1.0), between = t * it.envelope.value(a) + (1.0 - t) * it.envelope.value(b);
            CHECK_AT_MOST(it.envelope.value(t * a + (1.0 - t) * b), between + 1e-11 * (1.0 + between));
        }
    }
}

// Convex, below the function, and with its conjugate: this makes it the largest such function.
TEST(envelope_has_the_conjugate_of_the_function) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        for (int k = 0; k < 10; ++k) {
            const double v = random.uniform(-1.0, 1.0) * random.magnitude(-1.0, 1.5);
            const double want = it.conjugate(v, [&](double x) { return it.function(x); });
            CHECK_NEAR(it.conjugate(v, [&](double x) { return it.envelope.value(x); }), want, 1e-10 * (1.0 + want));
            // The grid misses the maximum by a little: its spacing squared times lambda_2.
            const double spacing = (it.box.high - it.box.low) / points;
            const double exact = std::max(gain(v, it.box, it.penalty) - it.charge, 0.0);
            CHECK_AT_MOST(want, exact + 1e-10 * (1.0 + exact));
            CHECK_AT_MOST(exact, want + it.penalty.lambda_2 * spacing * spacing + 1e-10 * (1.0 + exact));
        }
    }
}

TEST(gain_is_the_largest_over_any_box) {
    for (int trial = 0; trial < trials; ++trial) {
        const Penalty penalty{random.coin(0.3) ? 0.0 : random.uniform(0.0, 1.0), random.uniform(0.01, 1.0)};
        const double low = random.uniform(-3.0, 3.0);
        const Box box{low, low + random.uniform(0.0, 3.0)};
        const double v = random.uniform(-5.0, 5.0), best = gain(v, box, penalty);
        double found = -Penalty::infinity;
        for (int k = 0; k <= points; ++k) {
            const double x = low + (box.high - low) * k / points;
            found = std::max(found, v * x - penalty.value(x));
        }
        CHECK_AT_MOST(found, best + 1e-12);
        CHECK_NEAR(best, found, 5.0 * 3.0 / points);
    }
    const Box all{-Penalty::infinity, Penalty::infinity};
    CHECK(gain(0.5, all, Penalty{1.0, 0.0}) == 0.0);
    CHECK(std::isinf(gain(1.5, all, Penalty{1.0, 0.0})));
    CHECK_NEAR(gain(3.0, all, Penalty{1.0, 0.5}), 2.0, 1e-15);
    CHECK(std::isinf(gain(1e10, all, Penalty{0.0, 1e-300})));
}

TEST(share_of_the_charge_is_that_of_the_perspective) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        CHECK(it.envelope.share(0.0) == 0.0);
        it.for_points([&](double x) {
            const double z = it.envelope.share(x), a = std::abs(x);
            CHECK(z >= 0.0 && z <= 1.0);
            CHECK(a < it.envelope.knee(x) || z == (x == 0.0 ? 0.0 : 1.0));
            if (z == 0.0) return;
            // The perspective, as far as the box lets z fall.
            const double want = it.charge * z + it.penalty.lambda_1 * a + it.penalty.lambda_2 * a * a / z;
            CHECK_NEAR(it.envelope.value(x), want, 1e-11 * (1.0 + want));
        });
    }
}

TEST(envelope_slopes_and_curvatures_are_its_derivatives) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        const Envelope& e = it.envelope;
        const double h = 1e-6 * (it.box.high - it.box.low);
        it.for_points([&](double x) {
            if (std::abs(x) < 2.0 * h || std::abs(std::abs(x) - e.knee(x)) < 2.0 * h) return;
            if (h == 0.0 || x - h < it.box.low || x + h > it.box.high) return;
            const double size = 1.0 + std::abs(e.slope(x)), inside = std::abs(x) < e.knee(x) ? 0.0 : 1.0;
            CHECK_NEAR(e.slope(x), (e.value(x + h) - e.value(x - h)) / (2.0 * h), 1e-5 * size);
            CHECK_NEAR(e.curvature(x), 2.0 * it.penalty.lambda_2 * inside, 1e-15);
        });
        for (const double side : {-1.0, 1.0}) {
            const double room = side < 0.0 ? -it.box.low : it.box.high;
            if (room == 0.0) continue;
            const double step = side * 1e-9 * std::min(room, e.knee(side) > 0.0 ? e.knee(side) : room);
            CHECK_NEAR(e.slope_at_zero(side), e.value(step) / step, 1e-6 * (1.0 + std::abs(e.slope_at_zero(side))));
            CHECK(e.threshold(-side) == std::abs(e.slope_at_zero(side)));
        }
    }
}

TEST(envelope_proximal_point_is_the_minimum) {
    int at_zero = 0;
    for (int trial = 0; trial < 5 * trials; ++trial) {
        const Case it(random);
        const double h = random.magnitude(-1.0, 1.0), q = random.uniform(-1.0, 1.0) * random.magnitude(-1.0, 1.5);
        const auto value = [&](double x) { return 0.5 * h * x * x - q * x + it.envelope.value(x); };
        const double best = it.envelope.proximal(q, h);
        CHECK(best >= it.box.low && best <= it.box.high);
        it.for_points([&](double x) { CHECK_AT_MOST(value(best), value(x) + 1e-10 * (1.0 + std::abs(value(x)))); });
        // A slope that the envelope holds at zero moves nothing, and one that it does not hold moves something.
        CHECK(it.envelope.stays_at_zero(-q) == (best == 0.0) || it.box.low == 0.0 || it.box.high == 0.0);
        at_zero += best == 0.0;
    }
    CHECK(at_zero > trials && at_zero < 4 * trials);
}

TEST(envelope_without_a_knee) {
    const Box all{-Penalty::infinity, Penalty::infinity};
    const Envelope flat(all, 1.0, Penalty{0.5, 0.0});  // the charge is spread over an endless line
    CHECK(flat.value(3.0) == 1.5 && flat.slope(-3.0) == -0.5 && flat.share(3.0) == 0.0);
    const Envelope paid(all, 0.0, Penalty{0.5, 1.0});
    CHECK(paid.knee(1.0) == 0.0 && paid.share(1e-9) == 1.0 && paid.value(2.0) == 5.0);
    const Envelope closed({0.0, 0.0}, 1.0, Penalty{0.5, 1.0});
    CHECK(closed.value(0.0) == 0.0 && closed.proximal(9.0, 1.0) == 0.0 && closed.stays_at_zero(1e9));
    const Envelope positive({0.5, 2.0}, 0.0, Penalty{0.0, 1.0});
    CHECK(!positive.stays_at_zero(0.0) && positive.proximal(0.0, 1.0) == 0.5);
}
