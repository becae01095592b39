// The losses against the textbook formulas, their derivatives against differences of values.
#include "ellzero/problem/loss.hpp"

#include <algorithm>

#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

const std::vector<Loss> losses = {
    {LossKind::logistic},   {LossKind::squared_hinge}, {LossKind::squared_error},       {LossKind::hinge},
    {LossKind::hinge, 0.5}, {LossKind::hinge, 1e-3},   {LossKind::huber, 0.0, 1, 1.35}, {LossKind::huber, 0.0, 1, 1e-3}};

double formula(const Loss& loss, double eta, double y) {
    const double z = 1.0 - y * eta, tau = loss.smoothing, far = std::abs(eta - y);
    switch (loss.kind) {
        case LossKind::logistic:
            return y * eta > 0.0 ? std::log1p(std::exp(-y * eta)) : -y * eta + std::log1p(std::exp(y * eta));
        case LossKind::squared_hinge: return z > 0.0 ? z * z : 0.0;
        case LossKind::squared_error: return 0.5 * (eta - y) * (eta - y);
        case LossKind::huber: return far <= loss.delta ? 0.5 * far * far : loss.delta * far - 0.5 * loss.delta * loss.delta;
        default: break;
    }
    if (z <= 0.0) return 0.0;
    return z >= tau ? z - 0.5 * tau : 0.5 * z * z / tau;
}

bool differentiable(const Loss& loss) { return loss.kind != LossKind::hinge || loss.smoothing > 0.0; }

// Where a derivative of the loss jumps there is nothing to compare with.
bool near_a_bend(const Loss& loss, double eta, double y, double h) {
    if (loss.kind == LossKind::logistic || loss.kind == LossKind::squared_error) return false;
    if (loss.kind == LossKind::huber) return std::abs(std::abs(eta - y) - loss.delta) < 2.0 * h;
    const double z = 1.0 - y * eta;
    return std::abs(z) < 2.0 * h || std::abs(z - loss.smoothing) < 2.0 * h;
}

struct Rows {
    Rows(Random& random, int64_t n, double size)
        : eta(random.numbers(n, -size, size)), y(n), w(random.numbers(n, 0.0, 1.0)), r(n), d(n) {
        for (double& label : y) label = random.coin() ? 1.0 : -1.0;
    }
    std::vector<double> eta, y, w, r, d;
};

double at(const Loss& loss, double eta, double y) {
    const double w = 1.0;
    return loss.value(1, &eta, &y, &w);
}

double slope_at(const Loss& loss, double eta, double y) {
    const double w = 1.0;
    double r = 0.0;
    loss.residual(1, &eta, &y, &w, &r);
    return r;
}

}  // namespace

TEST(loss_values_match_their_formulas) {
    for (const Loss& loss : losses)
        for (const int64_t n : {0, 1, 2, 3, 7, 8, 9, 16, 33, 100})
            for (const double size : {1.0, 30.0, 800.0, 1e6}) {
                Rows rows(random, n, size);
                double want = 0.0;
                for (int64_t i = 0; i < n; ++i) want += rows.w[i] * formula(loss, rows.eta[i], rows.y[i]);
                const double got = loss.value(n, rows.eta.data(), rows.y.data(), rows.w.data());
                CHECK_NEAR(got, want, 1e-13 * want + 1e-100);
                const double evaluated =
                    loss.evaluate(n, rows.eta.data(), rows.y.data(), rows.w.data(), rows.r.data(), rows.d.data());
                CHECK_NEAR(evaluated, want, 1e-13 * want + 1e-100);
            }
}

TEST(loss_residuals_are_derivatives_of_values) {
    constexpr double h = 1e-5;
    for (const Loss& loss : losses) {
        Rows rows(random, 500, 4.0);
        const auto n = std::ssize(rows.eta);
        std::vector<double> alone(n);
        loss.evaluate(n, rows.eta.data(), rows.y.data(), rows.w.data(), rows.r.data(), rows.d.data());
        loss.residual(n, rows.eta.data(), rows.y.data(), rows.w.data(), alone.data());
        for (int64_t i = 0; i < n; ++i) {
            CHECK(rows.r[i] == alone[i]);
            const double eta = rows.eta[i], y = rows.y[i];
            if (near_a_bend(loss, eta, y, h)) continue;
            const double slope = (at(loss, eta + h, y) - at(loss, eta - h, y)) / (2.0 * h);
            CHECK_NEAR(rows.r[i], rows.w[i] * slope, 1e-8);
            const double bend = (slope_at(loss, eta + h, y) - slope_at(loss, eta - h, y)) / (2.0 * h);
            CHECK_NEAR(rows.d[i], rows.w[i] * bend, 1e-8 * (1.0 + std::abs(bend)));
        }
    }
}

TEST(curvature_bound_is_the_largest_curvature) {
    for (const Loss& loss : losses) {
        if (!differentiable(loss)) continue;
        double largest = 0.0;
        for (int k = -40000; k <= 40000; ++k) {
            const double eta = k * 1e-4, y = 1.0, w = 1.0;
            double r = 0.0, d = 0.0;
            loss.evaluate(1, &eta, &y, &w, &r, &d);
            CHECK_AT_MOST(d, loss.curvature_bound() * (1.0 + 1e-14));
            largest = std::max(largest, d);
        }
        CHECK_NEAR(largest, loss.curvature_bound(), 1e-6 * loss.curvature_bound());
    }
}

TEST(smoothing_lowers_the_hinge_by_at_most_half_its_width) {
    const Loss hinge{LossKind::hinge};
    for (const double tau : {1e-4, 0.1, 1.0, 3.0}) {
        CHECK(hinge.smoothed(tau).smoothing == tau);
        for (int k = -400; k <= 400; ++k) {
            const double eta = 0.01 * k, f = at(hinge, eta, 1.0), below = at(hinge.smoothed(tau), eta, 1.0);
            CHECK_AT_MOST(below, f + 1e-15);
            CHECK_AT_MOST(f - 0.5 * tau, below + 1e-15);
        }
    }
    CHECK(Loss{LossKind::logistic}.smoothed(1.0).smoothing == 0.0);
}

TEST(far_margins_stay_finite) {
    for (const Loss& loss : losses)
        for (const double eta : {-1e6, -750.0, -300.0, 300.0, 750.0, 1e6})
            for (const double y : {-1.0, 1.0}) {
                const double w = 1.0;
                double r = 0.0, d = 0.0;
                CHECK(std::isfinite(loss.evaluate(1, &eta, &y, &w, &r, &d)));
                CHECK(std::isfinite(r) && std::isfinite(d) && d >= 0.0);
                if (loss.kind == LossKind::logistic) CHECK_NEAR(r, y * eta > 0.0 ? 0.0 : -y, 1e-100);
            }
}

TEST(loss_terms_of_parts_make_the_same_sums) {
    for (const Loss& loss : losses)
        for (const int64_t n : {1, 7, 8, 100, 1003}) {
            Rows whole(random, n, 5.0), parts = whole;
            const double value = loss.value(n, whole.eta.data(), whole.y.data(), whole.w.data());
            const double all =
                loss.evaluate(n, whole.eta.data(), whole.y.data(), whole.w.data(), whole.r.data(), whole.d.data());
            std::vector<double> f(n), alone(n);
            for (int64_t begin = 0; begin < n; begin += 64) {
                const int64_t size = std::min<int64_t>(64, n - begin);
                const double *eta = &parts.eta[begin], *y = &parts.y[begin], *w = &parts.w[begin];
                loss.terms(size, eta, y, w, &f[begin], &parts.r[begin], &parts.d[begin]);
                loss.terms(size, eta, y, w, &alone[begin], nullptr, nullptr);
            }
            CHECK(f == alone);
            CHECK(parts.r == whole.r);
            CHECK(parts.d == whole.d);
            CHECK_NEAR(Loss::total(n, whole.w.data(), f.data()), all, 1e-14 * static_cast<double>(n));
            CHECK_NEAR(Loss::total(n, whole.w.data(), f.data()), value, 1e-14 * static_cast<double>(n));
        }
}
