// The penalty's closed forms against a search over a grid: no point of the box may be better than what they return.
#include "ellzero/problem/penalty.hpp"

#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

// A penalty of two features, the second of which pays nothing, with bounds around zero or none.
struct Case {
    explicit Case(Random& random) {
        for (int j = 0; j < 2; ++j) {
            lower[j] = random.coin(0.2) ? 0.0 : -random.magnitude(-1.0, 0.5);
            upper[j] = random.coin(0.2) ? 0.0 : random.magnitude(-1.0, 0.5);
        }
        penalty.lambda_1 = random.coin() ? 0.0 : random.magnitude(-2.0, 0.0);
        penalty.lambda_2 = random.coin() ? 0.0 : random.magnitude(-2.0, 0.0);
        if (!random.coin(0.7)) std::fill(lower, lower + 2, -Penalty::infinity);
        if (!random.coin(0.7)) std::fill(upper, upper + 2, Penalty::infinity);
        prices[0] = random.coin() ? 1.0 : random.magnitude(-1.0, 0.0);
        penalty.lower = lower;
        penalty.upper = upper;
        penalty.prices = prices;
    }

    // Calls body at many points of the box of j, at most `reach` from zero.
    template <class Body>
    void for_points(int32_t j, double reach, const Body& body) const {
        const double low = std::max(penalty.low(j), -reach), high = std::min(penalty.high(j), reach);
        for (int k = 0; k <= 2000; ++k) body(low + (high - low) * k / 2000.0);
    }

    double lower[2], upper[2];
    double prices[2] = {1.0, 0.0};
    Penalty penalty;
};

void check_in_box(const Penalty& penalty, double a, int32_t j) {
    CHECK_AT_MOST(penalty.low(j), a);
    CHECK_AT_MOST(a, penalty.high(j));
}

constexpr int trials = 300;

}  // namespace

TEST(proximal_point_is_the_minimum_over_the_box) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        const double c = random.uniform(-3.0, 3.0), curvature = random.magnitude(-1.0, 1.0);
        const auto value = [&](double a) { return 0.5 * curvature * (a - c) * (a - c) + it.penalty.value(a); };
        const double best = it.penalty.proximal(c, curvature, 0);
        check_in_box(it.penalty, best, 0);
        it.for_points(0, 4.0, [&](double a) { CHECK_AT_MOST(value(best), value(a) + 1e-12); });
    }
}

TEST(proximal_point_lies_in_a_box_without_zero) {
    const double lower = 0.5, upper = 0.75;
    Penalty penalty{0.1, 0.2, &lower, &upper, nullptr};
    CHECK(penalty.proximal(0.0, 1.0, 0) == lower);
    CHECK(penalty.proximal(-9.0, 1.0, 0) == lower);
    CHECK(penalty.proximal(9.0, 1.0, 0) == upper);
}

TEST(threshold_pays_lambda_0_only_where_that_is_worth_it) {
    int entered = 0, stayed = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        const double c = random.uniform(-3.0, 3.0), curvature = random.magnitude(-1.0, 1.0);
        const double lambda_0 = random.magnitude(-2.0, 0.5);
        const auto value = [&](double a) {
            return 0.5 * curvature * (a - c) * (a - c) + it.penalty.value(a) + (a == 0.0 ? 0.0 : lambda_0 * it.prices[0]);
        };
        const double best = it.penalty.threshold(c, curvature, lambda_0, 0);
        check_in_box(it.penalty, best, 0);
        CHECK_AT_MOST(value(best), value(0.0) + 1e-12);
        it.for_points(0, 4.0, [&](double a) { CHECK_AT_MOST(value(best), value(a) + 1e-12); });
        ++(best == 0.0 ? stayed : entered);
    }
    CHECK(entered > trials / 10 && stayed > trials / 10);
}

TEST(threshold_leaves_unpenalized_features_alone) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        const double c = random.uniform(-3.0, 3.0), curvature = random.magnitude(-1.0, 1.0);
        CHECK(it.penalty.threshold(c, curvature, 1e9, 1) == it.penalty.proximal(c, curvature, 1));
        CHECK(it.penalty.threshold(c, curvature, 1e9, 0) == 0.0);
    }
    const double low = -Penalty::infinity, high = Penalty::infinity, price = 1.0;
    const Penalty plain{0.0, 0.0, &low, &high, &price};
    CHECK(plain.counted(0));
    CHECK(plain.threshold(2.0, 1.0, 1.9, 0) == 2.0);
    CHECK(plain.threshold(2.0, 1.0, 2.1, 0) == 0.0);
}

TEST(entry_gain_is_the_fall_of_the_surrogate) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        const double g = random.uniform(-2.0, 2.0), curvature = random.magnitude(-1.0, 1.0);
        const auto fall = [&](double a) { return -(g * a + 0.5 * curvature * a * a + it.penalty.value(a)); };
        const double gain = it.penalty.entry_gain(g, curvature, 0);
        const double largest = fall(it.penalty.proximal(-g / curvature, curvature, 0));
        CHECK_NEAR(gain, largest, 1e-12);
        it.for_points(0, 30.0, [&](double a) { CHECK_AT_MOST(fall(a), gain + 1e-12); });
        CHECK(it.penalty.entry_gain(g, 0.0, 0) == 0.0);
    }
}
