// The pool keeps the best model of each size; its envelope is checked against all kept models at many lambda_0.
#include "ellzero/problem/pool.hpp"

#include <algorithm>

#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

Model model_of(int size, double cost, int32_t first = 0) {
    Model out;
    for (int32_t j = 0; j < size; ++j) out.support.push_back(first + j);
    out.beta.assign(size, 1.0);
    out.size = size;
    out.spent = size;
    out.cost = cost;
    return out;
}

Pool random_pool(Random& random, int largest) {
    Pool out;
    out.insert(model_of(0, 10.0));
    for (int32_t k = 0; k < 60; ++k)
        out.insert(model_of(static_cast<int>(random.integer(1, largest)), random.uniform(0.0, 11.0), k));
    return out;
}

double least_objective(const Pool& pool, double lambda_0, int most) {
    double out = Penalty::infinity;
    for (const Model& model : pool.by_size(most)) out = std::min(out, model.objective(lambda_0));
    return out;
}

}  // namespace

TEST(pool_keeps_the_best_of_each_size) {
    Pool pool;
    CHECK(pool.insert(model_of(0, 5.0)));
    CHECK(pool.insert(model_of(2, 3.0)));
    CHECK(!pool.insert(model_of(2, 3.5, 9)));
    CHECK(pool.insert(model_of(2, 2.5, 4)));
    CHECK(pool.of_size(2)->cost == 2.5 && pool.of_size(2)->support[0] == 4);
    CHECK(pool.of_size(1) == nullptr && pool.largest() == 2);
    CHECK(pool.sizes() == std::vector<int>({0, 2}));
    CHECK(pool.largest_below(2).size == 0);
    CHECK(pool.by_size(1).size() == 1 && pool.by_size().size() == 2);
}

TEST(pool_remembers_what_is_known_of_a_support) {
    Pool pool;
    Model known = model_of(1, 1.0), plain = known;
    known.certain = known.searched = true;
    pool.insert(known);
    CHECK(!pool.insert(plain));  // the same support says nothing new
    CHECK(pool.of_size(1)->certain && pool.of_size(1)->searched);
    plain.cost = 0.5;  // a better fit of it does
    CHECK(!pool.insert(plain));
    CHECK(pool.of_size(1)->cost == 0.5 && !pool.of_size(1)->certain && pool.of_size(1)->searched);
}

TEST(pool_envelope_is_the_lower_envelope_of_its_sizes) {
    for (int trial = 0; trial < 200; ++trial) {
        const Pool pool = random_pool(random, 12);
        for (const int most : {0, 5, 12, Pool::unlimited}) {
            const auto vertices = pool.envelope(most);
            CHECK(!vertices.empty() && std::isinf(vertices.front().upper));
            for (size_t k = 0; k + 1 < vertices.size(); ++k) {
                CHECK(vertices[k].upper > vertices[k + 1].upper && vertices[k + 1].upper > 0.0);
                CHECK(vertices[k].model.size < vertices[k + 1].model.size);
            }
            for (int k = 0; k < 40; ++k) {
                // The vertex whose interval holds lambda_0 is the last one that reaches so far up.
                const double lambda_0 = random.magnitude(-3.0, 1.5);
                auto at = vertices.begin();
                while (std::next(at) != vertices.end() && std::next(at)->upper >= lambda_0) ++at;
                const double least = least_objective(pool, lambda_0, most);
                CHECK_NEAR(at->model.objective(lambda_0), least, 1e-12);
                CHECK_NEAR(pool.best(lambda_0, most).objective(lambda_0), least, 1e-12);
            }
        }
    }
}

// With unequal prices: models of random prices, some of which no cheaper one beats.
TEST(pool_of_prices_keeps_the_best_for_every_lambda_0_and_budget) {
    for (int trial = 0; trial < 200; ++trial) {
        Pool pool(true);
        std::vector<Model> all{model_of(0, 1.0)};
        pool.insert(all.front());
        for (int k = 0; k < 60; ++k) {
            const auto size = static_cast<int>(random.integer(1, 6));
            Model model = model_of(size, random.uniform(0.0, 1.0), static_cast<int32_t>(k));
            model.spent = random.coin(0.3) ? 0.5 * static_cast<double>(random.integer(1, 8)) : random.uniform(0.1, 4.0);
            pool.insert(model);
            all.push_back(model);
        }
        const auto least = [&](double lambda_0, double budget) {
            double out = Penalty::infinity;
            for (const Model& model : all)
                if (model.spent <= budget) out = std::min(out, model.objective(lambda_0));
            return out;
        };
        for (int k = 0; k < 40; ++k) {
            const double lambda_0 = random.magnitude(-3.0, 1.0), budget = random.uniform(0.0, 4.0);
            CHECK(pool.best(lambda_0, Pool::unlimited).objective(lambda_0) == least(lambda_0, Penalty::infinity));
            CHECK(pool.best(lambda_0, Pool::unlimited, budget).objective(lambda_0) == least(lambda_0, budget));
        }
        const auto vertices = pool.envelope(Pool::unlimited);
        for (size_t k = 0; k < vertices.size(); ++k) {
            const double above = k + 1 < vertices.size() ? vertices[k + 1].upper : 0.0;
            const double lambda_0 = std::isinf(vertices[k].upper) ? 10.0 + above : 0.5 * (vertices[k].upper + above);
            CHECK_NEAR(vertices[k].model.objective(lambda_0), least(lambda_0, Penalty::infinity), 1e-12);
        }
    }
}
