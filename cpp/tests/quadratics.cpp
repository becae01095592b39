#include "ellzero/support/quadratic.hpp"

#include <numeric>

#include "problems.hpp"

using namespace ellzero;
using harness::Instance;
using harness::Random;
using harness::Shape;

namespace {

constexpr LossKind kinds[] = {LossKind::logistic, LossKind::squared_hinge, LossKind::squared_error, LossKind::huber};

// s'Hs / 2
double bend(Quadratic& quadratic, const Iterate& it, const std::vector<double>& step) {
    quadratic.minimise(it, std::vector<double>(step.size(), 0.0), 0.0);
    return quadratic.change(it, step);
}

// A column comes or goes, and all coefficients move.
void wander(Random& random, const Problem& problem, Iterate& it) {
    const auto j = static_cast<int32_t>(random.integer(0, problem.columns() - 1));
    if (!it.contains(j)) it.add(j, random.uniform());
    else if (it.support.size() > 1) it.remove(random.integer(0, std::ssize(it.support) - 1));
    const double size = random.magnitude(-2.0, 0.5);
    for (double& b : it.beta) b += size * random.uniform();
    it.intercept.front() += problem.intercept ? size * random.uniform() : 0.0;
    it.refresh();
    it.evaluate(problem.loss);
}

}  // namespace

TEST(followed_curvatures_are_near_those_of_a_new_hessian) {
    for (int round = 0; round < 60; ++round) {
        const Instance instance(random, Shape{.loss = kinds[round % 3],
                                              .rows = random.integer(12, 60),
                                              .columns = 8,
                                              .intercept = random.coin(),
                                              .standardised = random.coin(),
                                              .lambda_2 = random.coin() ? 0.0 : random.magnitude(-4.0, 0.0)});
        const Problem& problem = instance.problem();
        Iterate it(problem);
        Quadratic kept(problem), close(problem);
        for (int move = 0; move < 20; ++move) {
            wander(random, problem, it);
            kept.follow(it, it.d);
            close.follow(it, it.d, true);
            Quadratic made(problem);
            made.build(it, it.d);
            const std::vector<double> step = random.numbers(std::ssize(it.support) + problem.constants());
            const double now = bend(made, it, step), followed = bend(kept, it, step), closely = bend(close, it, step);
            CHECK_AT_MOST(closely, 1.1 * now * (1.0 + 1e-9));
            CHECK_AT_MOST(now, 1.1 * closely * (1.0 + 1e-9));
            // Rows that have little to say may be as far off as a hundredth of the mean.
            double along = 0.0;
            const double total = std::accumulate(it.d.begin(), it.d.end(), 0.0);
            for (int64_t i = 0; i < problem.rows(); ++i) {
                double change = problem.intercept ? step.back() : 0.0;
                for (size_t k = 0; k < it.support.size(); ++k) change += step[k] * instance.entry(i, it.support[k]);
                along += problem.w[i] * change * change;
            }
            const double slack = 0.5 * 0.0101 * total * along + 1e-9 * now;
            CHECK_AT_MOST(followed, 2.0 * now + slack);
            CHECK_AT_MOST(now, 2.0 * followed + slack);
        }
    }
}

// Of squared hinge and squared error a row has its curvature or none: nothing is near.
TEST(followed_hessians_of_rows_that_count_or_not_are_exact) {
    for (int round = 0; round < 40; ++round) {
        const Instance instance(random, Shape{.loss = round % 2 ? LossKind::squared_hinge : LossKind::squared_error,
                                              .rows = random.integer(12, 60),
                                              .columns = 8,
                                              .lambda_2 = 1e-3,
                                              .least_weight = 0.5});
        const Problem& problem = instance.problem();
        Iterate it(problem);
        Quadratic kept(problem);
        for (int move = 0; move < 20; ++move) {
            wander(random, problem, it);
            kept.follow(it, it.d);
            CHECK(!kept.follow(it, it.d));
            Quadratic made(problem);
            made.build(it, it.d);
            const std::vector<double> step = random.numbers(std::ssize(it.support) + problem.constants());
            const double now = bend(made, it, step);
            CHECK_NEAR(bend(kept, it, step), now, 1e-10 * now);
        }
    }
}
