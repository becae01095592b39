#include "ellzero/swaps/exchange.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {
// Relative decreases of G below this are noise.
constexpr double worth_a_swap = 1e-9;
// Swaps that are tried before the next ranking: more of a large model, whose ranking costs more.
constexpr size_t swaps_per_ranking = 16;
constexpr size_t features_per_further_swap = 8;
// Swaps that the model promises and a refit refuses, before the search gives up.
constexpr size_t most_refusals = 5;
// Of few features each moves far and the model errs, while a refit costs little: swaps are tried that should raise G by up to
// this share of what the removal alone would.
constexpr int few_features = 16;
constexpr double benefit_of_doubt = 0.5;
}  // namespace

Exchange::Exchange(const Problem& problem, double most_drift)
    : problem_(problem), descent_(problem), swaps_(problem, most_drift), it_(problem) {}

bool Exchange::try_swaps(Model& model, const std::vector<Swap>& swaps, size_t refusals) {
    const double worth = worth_a_swap * std::abs(model.cost);
    const std::vector<int32_t> support = model.support;
    bool improved = false;
    size_t refused = 0;
    it_.load(model);
    for (const Swap& swap : swaps) {
        const bool few = model.size <= few_features;
        if (refused >= (few ? 2 * refusals : refusals)) break;
        const double limit = few ? benefit_of_doubt * swap.cost : -worth;
        if (swap.change >= limit) continue;
        const auto place = std::find(it_.support.begin(), it_.support.end(), support[swap.position]);
        if (place == it_.support.end() || it_.contains(swap.column)) continue;  // an earlier swap changed that
        it_.remove(static_cast<size_t>(place - it_.support.begin()));
        it_.add(swap.column, 0.0);
        Model trial = descent_.refit(it_, model.cost - worth);
        if (trial.cost < model.cost - worth && trial.size <= model.size) {
            model = std::move(trial);
            improved = true;
        } else {
            ++refused;
            it_.load(model);
        }
    }
    return improved;
}

bool Exchange::improve(Model& model) {
    bool improved = false;
    slopes_.resize(problem_.columns());
    for (;;) {
        problem_.X.monitor().poll();
        it_.load(model);
        problem_.X.all_dots(it_.r.data(), slopes_.data());
        const size_t most = swaps_per_ranking + model.support.size() / features_per_further_swap;
        if (!try_swaps(model, swaps_.rank(it_, slopes_.data(), most), most_refusals)) break;
        improved = true;
    }
    model.searched = true;
    return improved;
}

bool Exchange::shrink(const Model& model, Model& out) {
    it_.load(model);
    if (!descent_.shrink(it_)) return false;
    out = descent_.refit(it_);
    return true;
}

bool Exchange::grow(const Model& model, Model& out) {
    it_.load(model);
    if (!descent_.extend(it_)) return false;
    out = descent_.refit(it_);
    return true;
}

}  // namespace ellzero
