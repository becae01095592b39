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

Model Exchange::refit(double target) {
    ++refits_;
    return descent_.refit(it_, target);
}

void Exchange::read_slopes(const Model& model) {
    problem_.X.monitor().poll();
    slopes_.resize(problem_.columns());
    it_.load(model);
    problem_.X.all_dots(it_.r.data(), slopes_.data());
}

bool Exchange::try_swaps(Model& model, const std::vector<Swap>& swaps, size_t refusals, const Restraint& restraint) {
    const double worth = worth_a_swap * std::abs(model.cost);
    const std::vector<int32_t> support = model.support;
    bool improved = false;
    size_t refused = 0;
    it_.load(model);
    for (const Swap& swap : swaps) {
        const bool few = model.size <= few_features;
        if (refused >= (few ? 2 * refusals : refusals)) break;
        if (swap.column == restraint.barred || support[swap.position] == restraint.kept) continue;
        const double limit = few ? benefit_of_doubt * swap.cost : -worth;
        if (swap.change >= limit) continue;
        const auto place = std::find(it_.support.begin(), it_.support.end(), support[swap.position]);
        if (place == it_.support.end() || it_.contains(swap.column)) continue;  // an earlier swap changed that
        it_.remove(static_cast<size_t>(place - it_.support.begin()));
        it_.add(swap.column, 0.0);
        Model trial = refit(model.cost - worth);
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

bool Exchange::improve(Model& model, const Restraint& restraint) {
    bool improved = false;
    for (;;) {
        const size_t most = swaps_per_ranking + model.support.size() / features_per_further_swap;
        if (!try_swaps(model, ranked(model, most), most_refusals, restraint)) break;
        improved = true;
    }
    model.searched = true;
    return improved;
}

bool Exchange::shrink(const Model& model, Model& out, double target) {
    it_.load(model);
    if (!descent_.shrink(it_)) return false;
    out = refit(target);
    return std::isfinite(out.cost);
}

bool Exchange::grow(const Model& model, Model& out, double target) {
    it_.load(model);
    if (!descent_.extend(it_)) return false;
    out = refit(target);
    return std::isfinite(out.cost);
}

std::vector<Entry> Exchange::steepest(const Model& model, size_t most) {
    read_slopes(model);
    std::vector<Entry> out;
    for (int64_t c = 0; c < problem_.columns(); ++c) {
        const auto j = static_cast<int32_t>(c);
        if (it_.contains(j) || !problem_.is_head(j) || !problem_.varies(j)) continue;
        const double gain = problem_.entry_gain(j, slopes_.data());
        if (gain > 0.0) out.push_back({j, gain});
    }
    const size_t count = std::min(most, out.size());
    std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count), out.end(),
                      [](const Entry& a, const Entry& b) { return a.gain != b.gain ? a.gain > b.gain : a.column < b.column; });
    out.resize(count);
    return out;
}

std::vector<Swap> Exchange::ranked(const Model& model, size_t most) {
    read_slopes(model);
    return swaps_.rank(it_, slopes_.data(), most);
}

bool Exchange::add(const Model& model, int32_t column, Model& out) {
    it_.load(model);
    if (it_.contains(column)) return false;
    it_.add(column, 0.0);
    out = refit();
    return out.size > model.size;
}

bool Exchange::replace(const Model& model, int32_t feature, Model& out) {
    it_.load(model);
    const auto place = std::find(it_.support.begin(), it_.support.end(), feature);
    if (!problem_.penalty.counted(feature) || !problem_.is_head(feature)) return false;
    it_.remove(static_cast<size_t>(place - it_.support.begin()));
    const Model less = refit();
    for (const Entry& entry : steepest(less, 2))
        if (entry.column != feature) return add(less, entry.column, out);
    return false;
}

bool Exchange::force(const Model& model, int32_t column, Model& out) {
    Model more;
    if (!add(model, column, more)) return false;
    it_.load(more);
    if (!descent_.shrink(it_, column)) return false;
    out = refit();
    return out.size == model.size;
}

}  // namespace ellzero
