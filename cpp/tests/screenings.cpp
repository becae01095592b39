// What a screening finds, against the slopes of all columns.
#include "ellzero/support/screening.hpp"

#include <algorithm>

#include "problems.hpp"

using namespace ellzero;
using harness::Instance;
using harness::Random;
using harness::Shape;

namespace {

std::vector<double> gains_of_all(const Instance& instance, const Iterate& it) {
    const Problem& problem = instance.problem();
    std::vector<double> gains = instance.products(it.r);
    for (int32_t j = 0; j < problem.columns(); ++j)
        gains[j] = problem.penalty.entry_gain(gains[j], problem.entry_curvature(j), j);
    return gains;
}

// All columns above the threshold are found, with what they gain.
void check_screening(Screening& screening, const Instance& instance, const Iterate& it, double threshold) {
    const std::vector<double> gains = gains_of_all(instance, it);
    const auto found = screening.above(it, threshold, threshold, 1, Radius::certain, Currency::gain);
    std::vector<uint8_t> known(gains.size(), 0);
    for (const Candidate& each : found.candidates) {
        known[each.column] = 1;
        CHECK_NEAR(each.gain, gains[each.column], 1e-9 * gains[each.column]);
    }
    for (size_t j = 0; j < gains.size(); ++j) CHECK(known[j] || gains[j] <= threshold * (1.0 + 1e-9));
}

}  // namespace

// Predictions move along a column, whose slope is then all that the stored directions do not say; or they stay, and rounding is
// all that is new.
TEST(screenings_miss_no_column_that_gains) {
    for (int round = 0; round < 20; ++round) {
        const Instance instance(random, Shape{.loss = LossKind::squared_error, .rows = 300, .columns = 240, .lambda_2 = 1e-3});
        const Problem& problem = instance.problem();
        Iterate it(problem);
        Screening screening(problem);
        for (int step = 0; step < 12; ++step) {
            const auto j = static_cast<int32_t>(random.integer(0, problem.columns() - 1));
            const double size = random.coin(0.3) ? 0.0 : random.magnitude(-1.0, 1.0);
            for (int64_t i = 0; i < problem.rows(); ++i) it.eta[i] += size * instance.entry(i, j);
            it.evaluate(problem.loss);
            std::vector<double> gains = gains_of_all(instance, it);
            const double largest = *std::ranges::max_element(gains);
            check_screening(screening, instance, it, largest * (random.coin() ? 0.9 : random.magnitude(-4.0, 0.0)));
        }
    }
}
