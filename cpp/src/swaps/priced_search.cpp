#include "ellzero/swaps/priced_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ellzero {
namespace {
// Relative decreases of the objective below this are noise.
constexpr double worth_a_change = 1e-9;
// Swaps that are ranked at a time, and those that a refit refuses before the search goes on to other exchanges.
constexpr size_t ranked_swaps = 24, most_refusals = 8;
// Swaps are tried that should raise the objective by up to this share of what the removal alone would: the model errs.
constexpr double benefit_of_doubt = 0.5;
// Columns that are forced in, at the cost of features that make room for them; larger models are not exchanged so.
constexpr size_t forced = 8;
constexpr int few_features = 32;
constexpr int most_rounds = 100;
// D of the swap model is renewed when it has changed by as much as itself.
constexpr double most_drift = 1.0;
}  // namespace

PricedSearch::PricedSearch(const Problem& problem, Pool& pool, int most, Effort effort)
    : problem_(problem),
      pool_(pool),
      most_(most),
      effort_(effort),
      descent_(problem),
      swaps_(problem, most_drift),
      it_(problem) {}

Model PricedSearch::refit() { return descent_.refit(it_); }

void PricedSearch::read_slopes(const Model& model) {
    problem_.X.monitor().poll();
    slopes_.resize(problem_.columns());
    it_.load(model);
    problem_.X.all_dots(it_.r.data(), slopes_.data());
}

bool PricedSearch::accept(Model& model, Model trial, const Terms& terms) {
    if (trial.size <= most_) pool_.insert(trial);
    const bool allowed = trial.size <= most_ && trial.spent <= terms.budget;
    const double worth = worth_a_change * std::abs(terms.objective(model));
    if (!allowed || !(terms.objective(trial) < terms.objective(model) - worth)) return false;
    model = std::move(trial);
    return true;
}

bool PricedSearch::drop(Model& model, const Terms& terms, const Restraint& restraint) {
    it_.load(model);
    const bool over = model.spent > terms.budget || model.size > most_;
    if (!descent_.shrink(it_, restraint.kept)) return false;
    Model trial = refit();
    if (!over) return accept(model, std::move(trial), terms);
    model = std::move(trial);
    return true;
}

int32_t PricedSearch::best_that_fits(const Model& model, const Terms& terms, const Restraint& restraint) const {
    const Penalty& penalty = problem_.penalty;
    if (model.size >= most_) return -1;
    const double room = terms.budget - model.spent;
    int32_t best = -1, largest = -1;
    double best_ratio = 0.0, largest_gain = 0.0, cheapest = Penalty::infinity;
    for (int32_t j = 0; j < problem_.columns(); ++j) {
        const double price = penalty.price(j);
        if (it_.contains(j) || !problem_.is_head(j) || j == restraint.barred || price > room || !problem_.varies(j)) continue;
        const double gain = problem_.entry_gain(j, slopes_.data()) - terms.lambda_0 * price;
        if (!(gain > 0.0)) continue;
        cheapest = std::min(cheapest, price);
        if (gain > best_ratio * price) {
            best_ratio = gain / price;
            best = j;
        }
        if (gain > largest_gain) {
            largest_gain = gain;
            largest = j;
        }
    }
    // The last one that fits need not leave anything.
    return best >= 0 && penalty.price(best) + cheapest > room ? largest : best;
}

bool PricedSearch::fill(Model& model, const Terms& terms, const Restraint& restraint) {
    read_slopes(model);
    const int32_t column = best_that_fits(model, terms, restraint);
    if (column < 0) return false;
    it_.add(column, 0.0);
    return accept(model, refit(), terms);
}

Model PricedSearch::settled(Model model, const Terms& terms, const Restraint& restraint) {
    while (model.spent > terms.budget || model.size > most_)
        if (!drop(model, terms, restraint)) return model;
    for (int round = 0; round < most_rounds; ++round) {
        bool changed = false;
        while (fill(model, terms, restraint)) changed = true;
        while (terms.lambda_0 > 0.0 && drop(model, terms, restraint)) changed = true;
        if (!changed) break;
    }
    return model;
}

void PricedSearch::settle(Model& model, const Terms& terms) {
    model = settled(std::move(model), terms);
    pool_.insert(model);
}

bool PricedSearch::swap(Model& model, const Terms& terms) {
    read_slopes(model);
    const std::vector<Swap> swaps = swaps_.rank(it_, slopes_.data(), ranked_swaps, terms);
    const std::vector<int32_t> support = model.support;
    bool improved = false;
    size_t refused = 0;
    for (const Swap& swap : swaps) {
        if (refused >= most_refusals) break;
        const double limit = model.size <= few_features ? benefit_of_doubt * swap.cost : 0.0;
        if (swap.change >= limit) continue;
        it_.load(model);
        const auto place = std::find(it_.support.begin(), it_.support.end(), support[swap.position]);
        if (place == it_.support.end() || it_.contains(swap.column)) continue;  // an earlier swap changed that
        it_.remove(static_cast<size_t>(place - it_.support.begin()));
        it_.add(swap.column, 0.0);
        Model trial = refit();
        if (terms.limited() && trial.spent < model.spent) trial = settled(std::move(trial), terms);
        if (accept(model, std::move(trial), terms)) improved = true;
        else ++refused;
    }
    return improved;
}

bool PricedSearch::exchange_unequally(Model& model, const Terms& terms) {
    if (effort_ == Effort::quick || model.size > few_features) return false;
    const std::vector<int32_t> support = model.support;
    for (const int32_t feature : support) {
        if (!problem_.penalty.counted(feature) || !problem_.is_head(feature)) continue;
        it_.load(model);
        const auto place = std::find(it_.support.begin(), it_.support.end(), feature);
        it_.remove(static_cast<size_t>(place - it_.support.begin()));
        if (accept(model, settled(refit(), terms, {.barred = feature}), terms)) return true;
    }
    // Columns that gain most, whatever they cost: others make room for them.
    read_slopes(model);
    std::vector<std::pair<double, int32_t>> order;
    for (int32_t j = 0; j < problem_.columns(); ++j)
        if (!it_.contains(j) && problem_.is_head(j) && problem_.varies(j) && problem_.penalty.price(j) <= terms.budget)
            order.emplace_back(-problem_.entry_gain(j, slopes_.data()), j);
    const size_t count = std::min(forced, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
    for (size_t k = 0; k < count; ++k) {
        it_.load(model);
        it_.add(order[k].second, 0.0);
        Model trial = refit();
        if (!terms.limited() && trial.size <= most_) {
            it_.load(trial);
            if (!descent_.shrink(it_, order[k].second)) continue;
            trial = refit();
        }
        if (accept(model, settled(std::move(trial), terms, {.kept = order[k].second}), terms)) return true;
    }
    return false;
}

void PricedSearch::improve(Model& model, const Terms& terms) {
    settle(model, terms);
    for (int round = 0; round < most_rounds; ++round)
        if (!swap(model, terms) && !exchange_unequally(model, terms)) break;
    pool_.insert(model);
}

}  // namespace ellzero
