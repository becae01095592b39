#include "ellzero/path/lineage.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/support/descent.hpp"
#include "ellzero/swaps/local_search.hpp"

namespace ellzero {
namespace {

// lambda_1 of the convex fit, as a share of the least that leaves no feature in; how precise the fit is.
constexpr double share_of_lambda_1 = 0.003;
constexpr double rough = 1e-4;

// The features of an l1 fit, largest first, without those that are always in.
std::vector<int32_t> features_of_convex_fit(const Problem& problem) {
    Problem convex = problem;
    convex.groups = {};
    convex.tolerance = std::max(problem.tolerance, rough);
    Descent descent(convex);
    Iterate it(convex);
    descent.refit(it);
    std::vector<double> slopes(problem.columns());
    problem.X.all_dots(it.r.data(), slopes.data());
    double steepest = 0.0;
    for (int32_t j = 0; j < problem.columns(); ++j)
        if (problem.penalty.counted(j) && problem.X.square(j) > 0.0) steepest = std::max(steepest, std::abs(slopes[j]));
    convex.penalty.lambda_1 = std::max(problem.penalty.lambda_1, share_of_lambda_1 * steepest);
    const Model fit = Descent(convex).solve(it, 0.0, LocalSearch::largest, Radius::likely);
    std::vector<std::pair<double, int32_t>> ordered;
    for (size_t k = 0; k < fit.support.size(); ++k)
        if (const int32_t j = fit.support[k]; problem.penalty.counted(j))
            ordered.emplace_back(-std::abs(fit.beta[k]) * std::sqrt(problem.X.square(j)), j);
    std::sort(ordered.begin(), ordered.end());
    std::vector<int32_t> out;
    out.reserve(ordered.size());
    std::set<int32_t> seen;
    for (const auto& [size, j] : ordered)
        if (seen.insert(problem.head(j)).second) out.push_back(problem.head(j));
    return out;
}

}  // namespace

Lineage second_lineage(const Problem& problem, const std::set<int>& sizes) {
    Lineage out{Pool(), features_of_convex_fit(problem)};
    auto& [pool, features] = out;
    Descent descent(problem);
    Iterate it(problem);
    const Model null = descent.refit(it);
    pool.insert(null);
    std::set<int> reached;
    for (const int size : sizes) {
        if (size <= 0 || size > std::ssize(features)) continue;
        problem.X.monitor().poll();
        it.load(null);
        for (int k = 0; k < size; ++k) it.add(features[k], 0.0);
        pool.insert(descent.refit(it));
        reached.insert(size);
    }
    LocalSearch search(problem, Effort::quick, {});
    search.consider(features);
    if (!reached.empty()) search.run(pool, reached, [](double, int) {});
    return out;
}

}  // namespace ellzero
