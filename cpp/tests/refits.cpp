// Fits of one support: the optimality conditions by plain loops, and the box to the last bit.
#include "ellzero/support/refit.hpp"

#include "problems.hpp"

using namespace ellzero;
using harness::Instance;
using harness::Random;
using harness::Shape;

namespace {

constexpr LossKind smooth[] = {LossKind::logistic, LossKind::squared_hinge, LossKind::squared_error, LossKind::huber};

// A fit of random columns, from a start in the box.
Model refitted(Random& random, const Instance& instance) {
    const Problem& problem = instance.problem();
    Iterate it(problem);
    for (int32_t j = 0; j < problem.columns(); ++j)
        if (random.coin(0.7)) it.add(j, problem.penalty.clip(0.5 * random.uniform(), j));
    it.refresh();
    it.evaluate(problem.loss);
    CHECK(Refit(problem).run(it, 1e-16));
    Model out = it.model();
    out.cost = it.cost();
    return out;
}

}  // namespace

TEST(refits_end_where_no_coefficient_moves) {
    for (int round = 0; round < 200; ++round) {
        const Instance instance(random, Shape{.loss = smooth[round % 4],
                                              .rows = random.integer(15, 60),
                                              .intercept = random.coin(),
                                              .standardised = random.coin(),
                                              .bounded = random.coin(0.3),
                                              .lambda_1 = random.coin() ? 0.0 : random.magnitude(-3.0, -1.0),
                                              .lambda_2 = random.magnitude(-3.0, 0.0)});
        const Problem& problem = instance.problem();
        const Model model = refitted(random, instance);
        const double cost = instance.cost(model), step = 1e-4;
        CHECK_NEAR(model.cost, cost, 1e-12 * (1.0 + cost));
        const auto rises = [&](const Model& moved) { CHECK_AT_MOST(cost, instance.cost(moved) + 1e-12 * (1.0 + cost)); };
        for (const double change : {-step, step}) {
            for (size_t k = 0; k < model.support.size(); ++k) {
                Model moved = model;
                moved.beta[k] = problem.penalty.clip(moved.beta[k] + change, model.support[k]);
                rises(moved);
            }
            Model moved = model;
            if (problem.intercept) moved.intercept.front() += change;
            rises(moved);
        }
    }
}

// From one bound to another that is far smaller, rounding alone would lead out of the box.
TEST(refits_stay_in_the_box_to_the_last_bit) {
    int at_bounds = 0;
    for (int round = 0; round < 400; ++round) {
        const Instance instance(random, Shape{.loss = smooth[round % 4], .bounded = true, .lambda_2 = 1e-3, .x_size = 0.1});
        const Penalty& penalty = instance.problem().penalty;
        const Model model = refitted(random, instance);
        for (size_t k = 0; k < model.support.size(); ++k) {
            const int32_t j = model.support[k];
            CHECK(penalty.low(j) <= model.beta[k] && model.beta[k] <= penalty.high(j));
            at_bounds += model.beta[k] == penalty.low(j) || model.beta[k] == penalty.high(j);
        }
    }
    CHECK(at_bounds > 100);
}
