// Growth of the loss: a dual point that is level, and a diagonal below the Gram matrix of its room.
#include "ellzero/exact/growth.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "problems.hpp"

using namespace ellzero;
using harness::Instance;
using harness::Shape;

namespace {

std::vector<int32_t> all_columns(const Shape& shape) {
    std::vector<int32_t> out(shape.columns);
    std::iota(out.begin(), out.end(), 0);
    return out;
}

// Of a loss of labels at random coefficients, far away: the growth must not promise more than there is.
void check_promise(const Instance& instance, const Growth& growth, harness::Random& random) {
    const Problem& problem = instance.problem();
    for (int trial = 0; trial < 50; ++trial) {
        Model model;
        double promised = 0.0;
        const double size = random.magnitude(-1.0, 4.0);
        for (int32_t j = 0; j < problem.columns(); ++j) {
            model.support.push_back(j);
            model.beta.push_back(size * random.uniform(-1.0, 1.0));
            promised += growth.entries[j] * model.beta[j] * model.beta[j];
        }
        if (problem.intercept) model.intercept = {size * random.uniform(-1.0, 1.0)};
        CHECK(instance.cost(model) >= 0.5 * std::sqrt(promised));
    }
}

}  // namespace

TEST(growth_promises_no_more_than_there_is) {
    int found = 0;
    for (int trial = 0; trial < 60; ++trial) {
        const Shape shape{.loss = std::array{LossKind::logistic, LossKind::hinge, LossKind::squared_hinge}[trial % 3],
                          .rows = 60,
                          .columns = random.integer(2, 5),
                          .intercept = random.coin(),
                          .standardised = random.coin(),
                          .x_size = random.magnitude(-3.0, 3.0)};
        const Instance instance(random, shape);
        const Problem& problem = instance.problem();
        const Growth growth = find_growth(problem, all_columns(shape));
        CHECK(growth.combination == -1);
        if (growth.alpha.empty()) continue;  // separable
        ++found;
        for (const double d : growth.entries) CHECK(d > 0.0);
        std::vector<double> theta(problem.rows());
        double sum = 0.0;
        for (int64_t i = 0; i < problem.rows(); ++i) {
            CHECK(growth.alpha[i] >= 0.0 && growth.alpha[i] <= 1.0);
            theta[i] = problem.y[i] * problem.w[i] * growth.alpha[i];
            sum += theta[i];
        }
        if (problem.intercept) CHECK(std::abs(sum) <= 1e-12);
        const std::vector<double> slopes = instance.products(theta);
        for (int32_t j = 0; j < problem.columns(); ++j) CHECK(std::abs(slopes[j]) <= 1e-3 * std::sqrt(growth.entries[j]));
        check_promise(instance, growth, random);
    }
    CHECK(found >= 20);
}

TEST(growth_needs_rows_and_columns_of_their_own) {
    const Shape shape{.rows = 10, .columns = 12};
    const Instance instance(random, shape);
    const Growth growth = find_growth(instance.problem(), all_columns(shape));
    CHECK(growth.alpha.empty());
    CHECK(growth.combination >= 8);  // the first eight or nine may be independent
}
