// A Gram matrix that is updated as columns come and go and curvatures change, against one that is computed anew.
#include "ellzero/relaxation/working_gram.hpp"

#include <algorithm>

#include "problems.hpp"

using namespace ellzero;
using harness::Instance;
using harness::Shape;

TEST(working_gram_follows_columns_and_curvatures) {
    for (int trial = 0; trial < 20; ++trial) {
        const Shape shape{.rows = 30, .columns = 40, .standardised = random.coin()};
        const Instance instance(random, shape);
        const Columns& X = instance.problem().X;
        WorkingGram gram(X, 0.0);
        std::vector<double> d = random.numbers(shape.rows, 0.0, 1.0), got, want;
        for (int step = 0; step < 40; ++step) {
            if (step == 20) gram.forget();
            std::vector<int32_t> columns;
            for (int32_t j = 0; j < shape.columns; ++j)
                if (random.coin(step % 7 == 0 ? 0.8 : 0.2)) columns.push_back(j);
            for (double& weight : d)
                if (random.coin(0.1)) weight = random.coin() ? 0.0 : random.uniform(0.0, 1.0);
            gram.get(columns, d, got);
            X.gram(columns, d.data(), want);
            const int64_t order = std::ssize(columns) + 1;
            for (int64_t a = 0; a < order; ++a)
                for (int64_t b = 0; b <= a; ++b) CHECK_NEAR(got[a * order + b], want[a * order + b], 1e-9);
        }
    }
}

TEST(working_gram_may_be_off_by_its_tolerance) {
    const Shape shape{.rows = 50, .columns = 5};
    const Instance instance(random, shape);
    const Columns& X = instance.problem().X;
    constexpr double tolerance = 0.1;
    WorkingGram gram(X, tolerance);
    const std::vector<int32_t> columns = {0, 1, 2, 3, 4};
    std::vector<double> d = random.numbers(shape.rows, 0.5, 1.0), got, want;
    gram.get(columns, d, got);
    for (double& weight : d) weight *= random.uniform(0.6, 1.4);
    gram.get(columns, d, got);
    X.gram(columns, d.data(), want);
    for (int64_t a = 0; a < 6; ++a) CHECK_NEAR(got[a * 6 + a], want[a * 6 + a], 1.2 * tolerance * want[a * 6 + a]);
}
