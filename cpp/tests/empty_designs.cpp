// Designs without columns, or without entries: a sparse X whose filled columns are selected may have none. What is left is the
// model of the intercept, and every algorithm returns it.
#include <algorithm>

#include "ellzero/data/stored.hpp"
#include "ellzero/exact/search.hpp"
#include "ellzero/path/path.hpp"
#include "harness.hpp"

using namespace ellzero;

namespace {

constexpr LossKind kinds[] = {LossKind::logistic, LossKind::squared_hinge, LossKind::hinge, LossKind::squared_error,
                              LossKind::huber};
constexpr int64_t rows = 6;
const std::vector<double> y = {1.0, -1.0, 1.0, 1.0, -1.0, 1.0}, w(rows, 1.0 / 6.0);

// Columns of zeros, or none at all, that are kept elsewhere.
class Zeros : public Source {
  public:
    explicit Zeros(int64_t columns) : columns_(columns) {}
    void all_products(const double*, int64_t sides, const Design::Take& take, Monitor&) const override {
        std::vector<double> zeros(sides * columns_, 0.0);
        if (columns_ > 0) take(0, columns_, zeros.data(), columns_);
    }
    void all_moments(const double* weights, const Design::Take& take, Monitor& monitor) const override {
        all_products(weights, 2, take, monitor);
    }
    void fetch(std::span<const int32_t> columns, const std::function<void(int64_t, const void*)>& to) const override {
        const std::vector<double> zeros(rows, 0.0);
        for (int64_t k = 0; k < std::ssize(columns); ++k) to(k, zeros.data());
    }

  private:
    int64_t columns_;
};

struct Empty {
    explicit Empty(int64_t columns) : zeros(rows * columns, 0.0), starts(columns + 1, 0), bytes(columns, 0) {
        designs.push_back(make_dense<double>(zeros.data(), rows, columns, rows));
        designs.push_back(make_csc<double, int32_t>(nullptr, nullptr, starts.data(), rows, columns));
        designs.push_back(make_stored<double>(std::make_unique<Zeros>(columns), {rows, columns, nullptr, 0}));
        designs.push_back(make_stored<double>(std::make_unique<Zeros>(columns), {rows, columns, bytes.data(), 0}));
        designs.push_back(designs[1]->select(std::vector<int32_t>{}));
        designs.push_back(designs[2]->select(std::vector<int32_t>{}));
    }
    std::vector<double> zeros;
    std::vector<int32_t> starts;
    std::vector<int64_t> bytes;
    std::vector<std::unique_ptr<Design>> designs;
};

// Calls body(problem) for all designs, losses and threads, with an intercept and without.
template <class Body>
void for_problems(const Body& body) {
    for (const int64_t count : {0, 1, 5}) {
        const Empty empty(count);
        const std::vector<double> none(count, 0.0), ones(count, 1.0), lowest(count, -Penalty::infinity),
            highest(count, Penalty::infinity);
        const Penalty penalty{0.0, 0.01, lowest.data(), highest.data(), ones.data()};
        for (const auto& design : empty.designs)
            for (const LossKind kind : kinds)
                for (const bool intercept : {false, true})
                    for (const int threads : {1, 3}) {
                        Team team(threads);
                        Monitor monitor;
                        const Columns X(*design, intercept ? none.data() : nullptr, ones.data(), none.data(), team, monitor);
                        const Loss loss{kind, kind == LossKind::hinge ? 1e-3 : 0.0};
                        body(Problem{X, loss, y.data(), w.data(), penalty, intercept, 1e-8});
                    }
    }
}

// The least cost of a constant, by search over a grid.
double least_cost(const Problem& problem) {
    double least = Penalty::infinity;
    for (double b = problem.intercept ? -3.0 : 0.0; b <= (problem.intercept ? 3.0 : 0.0); b += 1e-3) {
        const std::vector<double> eta(rows, b);
        least = std::min(least, problem.loss.smoothed(0.0).value(rows, eta.data(), problem.y, problem.w));
    }
    return least;
}

void check_models(const std::vector<Model>& models, double least) {
    for (const Model& model : models) {
        CHECK(model.support.empty() && model.size == 0);
        CHECK_NEAR(model.cost, least, 1e-3);
    }
}

}  // namespace

TEST(paths_without_entries_are_those_of_the_intercept) {
    for_problems([](const Problem& problem) {
        const double least = least_cost(problem);
        for (const Algorithm algorithm : {Algorithm::cd, Algorithm::local_search, Algorithm::iht})
            for (const SwapRule swaps : {SwapRule::ranked, SwapRule::q_best, SwapRule::exhaustive})
                for (const int kind : {0, 1, 2}) {
                    PathOptions options;
                    options.algorithm = algorithm;
                    options.swaps = swaps;
                    options.q = 2;
                    if (kind == 1) options.lambda_0 = {0.1, 0.01, 0.0};
                    if (kind == 2) options.sizes = {0, 1, 2};
                    const PathResult found = fit_path(problem, options);
                    CHECK(!found.stopped);
                    CHECK(found.by_size.size() == 1);
                    if (kind != 2) CHECK(found.models.size() == (kind == 1 ? 3 : 1));
                    check_models(found.models, least);
                    check_models(found.by_size, least);
                }
    });
}

TEST(searches_without_entries_prove_the_intercept) {
    for_problems([](const Problem& problem) {
        for (const bool swaps : {false, true}) {
            ExactOptions options;
            options.lambda_0 = 0.01;
            options.k = problem.columns();
            if (swaps) options.swaps = {std::vector<uint8_t>(problem.columns(), 0), 0, 1};
            Model start;
            const std::vector<double> eta(rows, 0.0);
            start.cost = problem.loss.smoothed(0.0).value(rows, eta.data(), problem.y, problem.w);
            Search search(problem, options, start, 2);
            Monitor monitor;
            CHECK(search.run({.seconds = 60.0, .nodes = 1000}, monitor) == SearchStatus::finished);
            CHECK_NEAR(search.objective(), least_cost(problem), 1e-3);
            CHECK_AT_MOST(search.objective() * (1.0 - 1e-4), search.lower_bound());
        }
    });
}
