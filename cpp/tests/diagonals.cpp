// Diagonals: what they leave of the loss's curvature is positive definite, and they move more than the least eigenvalue.
#include "ellzero/exact/diagonal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "problems.hpp"

using namespace ellzero;
using harness::Instance;
using harness::Shape;

namespace {

// The least of u'(G - D)u / u'Gu over many u: at least the slack, if all are positive.
double least_share_left(const Problem& problem, const Diagonal& diagonal, harness::Random& random) {
    const int64_t order = std::ssize(diagonal.columns), ld = order + 1;
    std::vector<double> gram;
    problem.X.gram(diagonal.columns, problem.w, gram);
    double least = 1.0;
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> u = random.numbers(order, -1.0, 1.0);
        // Steps against the gradient of the share: they lead to the worst direction.
        for (int step = 0; step < 50; ++step) {
            std::vector<double> image(order, 0.0);
            double square = 0.0, moved = 0.0;
            for (int64_t i = 0; i < order; ++i) {
                for (int64_t j = 0; j < order; ++j) image[i] += gram[i >= j ? i * ld + j : j * ld + i] * u[j];
                square += u[i] * image[i];
                moved += diagonal.curvatures[i] * u[i] * u[i];
            }
            least = std::min(least, 1.0 - moved / square);
            for (int64_t i = 0; i < order; ++i)
                u[i] += 0.3 * (diagonal.curvatures[i] * u[i] * square / moved - image[i]) / gram[i * ld + i];
        }
    }
    return least;
}

}  // namespace

TEST(diagonals_leave_curvature_and_give_every_column_some) {
    for (int trial = 0; trial < 30; ++trial) {
        const Shape shape{.loss = LossKind::squared_error,
                          .rows = 40,
                          .columns = random.integer(2, 20),
                          .intercept = random.coin(),
                          .standardised = random.coin()};
        const Instance instance(random, shape);
        std::vector<int32_t> columns(shape.columns);
        std::iota(columns.begin(), columns.end(), 0);
        const auto diagonal = make_diagonal(instance.problem(), columns);
        CHECK(diagonal != nullptr);
        if (!diagonal) continue;
        for (const double d : diagonal->curvatures) CHECK(d > 0.0);
        const double left = least_share_left(instance.problem(), *diagonal, random);
        CHECK(left >= 0.9 * Diagonal::slack);
        CHECK(left < 0.9);  // something was moved
    }
}

TEST(diagonals_need_columns_that_are_no_combinations) {
    const Shape shape{.loss = LossKind::squared_error, .rows = 10, .columns = 12};
    const Instance instance(random, shape);
    std::vector<int32_t> columns(shape.columns);
    std::iota(columns.begin(), columns.end(), 0);
    CHECK(make_diagonal(instance.problem(), columns) == nullptr);
    CHECK(!held_by_curvature(instance.problem()));
}
