// The convex envelope of one charge for several coordinates: against that of one, against its conjugate, and by differences.
#include "ellzero/relaxation/joint_envelope.hpp"

#include <algorithm>
#include <numeric>

#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

constexpr int trials = 300;

struct Case {
    explicit Case(Random& random, int least = 1)
        : lambda_1(random.coin(0.4) ? 0.0 : random.magnitude(-2.0, 0.3)),
          charge(random.magnitude(-2.0, 1.0)),
          envelope(charge, lambda_1) {
        const int members = least + static_cast<int>(random.uniform(0.0, 4.0));
        const bool boxed = random.coin(0.6), held = random.coin(0.8);
        for (int a = 0; a < members; ++a) {
            Box box{-Penalty::infinity, Penalty::infinity};
            if (boxed || !held) box = {-random.magnitude(-1.0, 0.7), random.magnitude(-1.0, 0.7)};
            if (boxed && random.coin(0.1)) box.low = 0.0;
            envelope.add(box, held ? random.magnitude(-2.0, 0.5) : 0.0);
        }
    }

    // A point of the box, some of whose coordinates may be zero.
    std::vector<double> point(Random& random) const {
        std::vector<double> x;
        const double size = random.magnitude(-2.0, 0.5);
        for (size_t a = 0; a < envelope.size(); ++a) {
            const double low = std::max(envelope.box(a).low, -3.0), high = std::min(envelope.box(a).high, 3.0);
            x.push_back(random.coin(0.2) ? 0.0 : std::clamp(size * random.uniform(-1.0, 1.0), low, high));
        }
        return x;
    }
    double penalty(const std::vector<double>& x) const {
        double total = envelope.square(x);
        for (const double each : x) total += lambda_1 * std::abs(each);
        return total;
    }
    static bool is_zero(const std::vector<double>& x) {
        return std::all_of(x.begin(), x.end(), [](double each) { return each == 0.0; });
    }
    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }

    double lambda_1, charge;
    JointEnvelope envelope;
};

}  // namespace

TEST(joint_envelope_of_one_is_the_envelope) {
    for (int trial = 0; trial < trials; ++trial) {
        Penalty penalty;
        penalty.lambda_1 = random.coin(0.3) ? 0.0 : random.magnitude(-2.0, 0.5);
        penalty.lambda_2 = random.coin(0.3) ? 0.0 : random.magnitude(-2.0, 0.5);
        const Box box{-random.magnitude(-1.0, 1.0), random.magnitude(-1.0, 1.0)};
        const double charge = random.magnitude(-2.0, 1.0);
        const Envelope alone(box, charge, penalty);
        JointEnvelope joint(charge, penalty.lambda_1);
        joint.add(box, penalty.lambda_2);
        for (int k = 0; k < 20; ++k) {
            const std::vector<double> x{random.uniform(box.low, box.high)};
            CHECK_NEAR(joint.value(x), alone.value(x[0]), 1e-12 * (1.0 + alone.value(x[0])));
            CHECK_NEAR(joint.share(x), alone.share(x[0]), 1e-12);
            CHECK_NEAR(joint.slope(x, 0), alone.slope(x[0]), 1e-10 * (1.0 + std::abs(alone.slope(x[0]))));
            const std::vector<double> q{random.uniform(-1.0, 1.0) * random.magnitude(-1.0, 1.5)},
                h{random.magnitude(-1.0, 1.0)};
            std::vector<double> at{0.0};
            joint.proximal(q, h, at);
            const double want = alone.proximal(q[0], h[0]);
            CHECK_NEAR(at[0], want, 1e-9 * (1.0 + std::abs(want)));
        }
    }
}

// Never below what its conjugate says, for any slopes, and equal to it for its own: this makes it the envelope.
TEST(joint_envelope_has_the_conjugate_of_the_function) {
    int inside = 0, held = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        const JointEnvelope& e = it.envelope;
        for (int k = 0; k < 20; ++k) {
            const std::vector<double> x = it.point(random);
            const double value = e.value(x);
            CHECK_AT_MOST(value, (Case::is_zero(x) ? 0.0 : it.charge) + it.penalty(x) + 1e-12 * (1.0 + value));
            std::vector<double> v(x.size());
            for (double& each : v) each = random.uniform(-1.0, 1.0) * random.magnitude(-1.0, 1.0);
            const double below = Case::dot(v, x) - std::max(e.gain(v) - it.charge, 0.0);
            if (std::isfinite(below)) CHECK_AT_MOST(below, value + 1e-11 * (1.0 + value));
            if (Case::is_zero(x)) continue;
            for (size_t a = 0; a < x.size(); ++a) v[a] = x[a] != 0.0 ? e.slope(x, a) : 0.0;
            // A slope at the end of a box holds for larger ones, too; rounding may make the gain infinite without a ridge.
            const double own = Case::dot(v, x) - std::max(e.gain(v) - it.charge, 0.0);
            if (std::isfinite(own)) CHECK_NEAR(own, value, 1e-9 * (1.0 + value));
            inside += e.share(x) < 1.0;
            held += e.held_by_box(x);
        }
    }
    CHECK(inside > trials && held > trials);
}

TEST(joint_envelope_has_these_derivatives) {
    for (int trial = 0; trial < trials; ++trial) {
        const Case it(random);
        const JointEnvelope& e = it.envelope;
        const std::vector<double> x = it.point(random);
        std::vector<double> direction, near;
        for (size_t a = 0; a < x.size(); ++a) {
            const bool free = x[a] > e.box(a).low + 1e-3 && x[a] < e.box(a).high - 1e-3;
            direction.push_back(free ? random.uniform(-1.0, 1.0) : 0.0);
        }
        double size = 0.0;
        for (const double each : x) size = std::max(size, std::abs(each));
        const double step = 1e-7 * (size > 0.0 ? size : 1.0);
        for (size_t a = 0; a < x.size(); ++a) near.push_back(x[a] + step * direction[a]);
        const double slope = e.along(x, direction), by_step = (e.value(near) - e.value(x)) / step;
        CHECK_NEAR(slope, by_step, 2e-4 * (1.0 + std::abs(slope)));
    }
}

TEST(joint_proximal_point_is_the_minimum) {
    int at_zero = 0, whole = 0, part = 0;
    for (int trial = 0; trial < 4 * trials; ++trial) {
        const Case it(random);
        const JointEnvelope& e = it.envelope;
        std::vector<double> q, h, x(e.size(), 1.0);
        for (size_t a = 0; a < e.size(); ++a) {
            h.push_back(random.magnitude(-1.0, 1.0));
            q.push_back(random.uniform(-1.0, 1.0) * random.magnitude(-1.0, 1.0));
        }
        const auto value = [&](const std::vector<double>& at) {
            double total = e.value(at);
            for (size_t a = 0; a < at.size(); ++a) total += at[a] * (0.5 * h[a] * at[a] - q[a]);
            return total;
        };
        e.proximal(q, h, x);
        const double best = value(x);
        for (int k = 0; k < 40; ++k) {
            std::vector<double> other = it.point(random);
            const double t = random.coin(0.5) ? 1.0 : random.magnitude(-5.0, 0.0);
            for (size_t a = 0; a < x.size(); ++a) other[a] = x[a] + t * (other[a] - x[a]);
            CHECK_AT_MOST(best, value(other) + 1e-10 * (1.0 + std::abs(best)));
        }
        CHECK(Case::is_zero(x) == (e.gain(q) <= it.charge) || e.gain(q) < it.charge * (1.0 + 1e-9));
        at_zero += Case::is_zero(x);
        whole += e.share(x) == 1.0;
        part += !Case::is_zero(x) && e.share(x) < 1.0;
    }
    CHECK(at_zero > trials / 2 && whole > trials / 4 && part > trials / 4);
}

TEST(joint_envelope_without_ridge_or_box_costs_nothing) {
    JointEnvelope flat(1.0, 0.5);
    const Box all{-Penalty::infinity, Penalty::infinity};
    flat.add(all, 0.0);
    flat.add(all, 0.0);
    const std::vector<double> x{3.0, -1.0}, q{2.5, -0.4}, h{2.0, 1.0};
    CHECK(flat.value(x) == 2.0 && flat.share(x) == 0.0 && flat.slope(x, 1) == -0.5);
    std::vector<double> at(2, 9.0);
    flat.proximal(q, h, at);
    CHECK_NEAR(at[0], 1.0, 1e-12);
    CHECK(at[1] == 0.0);
    JointEnvelope paid(0.0, 0.0);
    paid.add({-1.0, 1.0}, 1.0);
    CHECK(paid.share(std::vector<double>{0.1}) == 1.0 && paid.share(std::vector<double>{0.0}) == 0.0);
    JointEnvelope closed(1.0, 0.0);
    closed.add({0.0, 0.0}, 1.0);
    closed.add({-1.0, 1.0}, 0.1);
    const std::vector<double> pull{9.0, 9.0};
    closed.proximal(pull, h, at);
    CHECK(at[0] == 0.0 && at[1] > 0.0);
}
