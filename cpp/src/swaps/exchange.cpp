#include "ellzero/swaps/exchange.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {
// Relative decreases of the objective below this are noise.
constexpr double worth_a_change = 1e-9;
// Swaps that are tried before the next ranking: more of a large model, whose ranking costs more.
constexpr size_t swaps_per_ranking = 16;
constexpr size_t features_per_further_swap = 8;
// Swaps that the model promises and a refit refuses, before the search gives up.
constexpr size_t most_refusals = 5;
// Of few features each moves far and the model errs, while a refit costs little: swaps are tried that should raise the
// objective by up to this share of what the removal alone would.
constexpr int few_features = 16;
constexpr int few_at_prices = 32;  // where what a swap frees is spent again
constexpr double benefit_of_doubt = 0.5;
constexpr int most_rounds = 100;
// On a sample, a new D costs next to nothing.
constexpr double least_drift = 0.1;
// Columns that are forced in, at the cost of features that make room for them; larger models are not exchanged so.
constexpr size_t forced = 8;
constexpr int most_forced = 32;
// With rules, so many columns that would gain most are looked at with all that comes and leaves with them.
constexpr size_t looked_at = 64;

Model none() {
    Model out;
    out.cost = Penalty::infinity;
    return out;
}
}  // namespace

Exchange::Exchange(const Problem& problem, double most_drift, Pool* seen, const Problem* sample, Desk* lent)
    : problem_(problem),
      seen_(seen),
      sample_(sample),
      own_(lent ? nullptr : std::make_unique<Desk>(problem)),
      descent_((lent ? *lent : *own_).descent),
      it_((lent ? *lent : *own_).it),
      swaps_(sample ? *sample : problem, sample ? least_drift : most_drift, sample ? &problem : nullptr) {
    if (sample) sampled_ = std::make_unique<Iterate>(*sample);
}

// The model as the sample sees it, whose columns have other means.
Model Exchange::on_sample(Model model) const {
    const int64_t outputs = problem_.X.blocks();
    model.intercept.resize(outputs, 0.0);
    for (size_t k = 0; k < model.support.size(); ++k) {
        const int32_t j = model.support[k];
        model.intercept[j % outputs] += model.beta[k] * (sample_->X.centre(j) - problem_.X.centre(j));
    }
    return model;
}

Model Exchange::refit(double target) {
    ++refits_;
    if (!problem_.rules) return descent_.refit(it_, target);
    std::vector<int32_t> support = it_.support;
    std::ranges::sort(support);
    Model out = descent_.refit(it_, target);
    if (std::isinf(out.cost)) return out;
    put_back(problem_, support, out);
    return problem_.rules.obeys(out.support) ? out : none();
}

void Exchange::read_slopes(const Model& model) {
    problem_.X.monitor().poll();
    slopes_.resize(problem_.columns());
    it_.load(model);
    problem_.X.all_dots(it_.r.data(), slopes_.data());
}

std::vector<int32_t> Exchange::heads() const {
    std::vector<int32_t> out;
    for (const int32_t j : it_.support)
        if (problem_.is_head(j)) out.push_back(j);
    return out;
}

double Exchange::worth(int32_t feature) {
    if (worth_.empty() || worth_where_ != it_.support) {
        worth_where_ = it_.support;
        worth_.assign(problem_.columns(), 0.0);
        slopes_.resize(problem_.columns());
        problem_.X.all_dots(it_.r.data(), slopes_.data());
        for (int32_t j = 0; j < problem_.columns(); ++j)
            if (problem_.is_head(j)) worth_[j] = problem_.entry_gain(j, slopes_.data());
        const std::vector<double> costs = descent_.removal_costs(it_);
        for (size_t k = 0; k < costs.size(); ++k)
            if (problem_.is_head(it_.support[k])) worth_[it_.support[k]] = costs[k] * problem_.penalty.price(it_.support[k]);
    }
    return worth_[feature];
}

bool Exchange::change(std::initializer_list<int32_t> come, std::initializer_list<int32_t> leave) {
    const auto remove = [&](int32_t feature) {
        it_.remove(static_cast<size_t>(std::ranges::find(it_.support, feature) - it_.support.begin()));
    };
    const auto is_one = [](int32_t j) { return j >= 0; };
    if (!problem_.rules) {
        for (const int32_t j : leave)
            if (is_one(j) && it_.contains(j)) remove(j);
        for (const int32_t j : come)
            if (is_one(j) && !it_.contains(j)) it_.add(j, 0.0);
        return true;
    }
    std::vector<int32_t> in, out;
    std::ranges::copy_if(come, std::back_inserter(in), is_one);
    std::ranges::copy_if(leave, std::back_inserter(out), is_one);
    const std::vector<int32_t> before = heads();
    const auto after = problem_.rules.closed(before, in, out, [&](int32_t j) { return worth(j); });
    if (!after) return false;
    for (const int32_t j : before)
        if (!std::ranges::binary_search(*after, j)) remove(j);
    for (const int32_t j : *after)
        if (!it_.contains(j)) it_.add(j, 0.0);
    return true;
}

bool Exchange::shrink(const Restraint& restraint) {
    if (!problem_.rules) return descent_.shrink(it_, restraint.kept);
    const std::vector<int32_t> before = heads();
    std::vector<int32_t> in;
    if (restraint.kept >= 0) in.push_back(restraint.kept);
    int32_t best = -1;
    double least = Penalty::infinity;
    for (const int32_t feature : before) {
        if (!problem_.penalty.counted(feature) || feature == restraint.kept) continue;
        std::vector<int32_t> out{feature};
        if (restraint.barred >= 0) out.push_back(restraint.barred);
        const auto after = problem_.rules.closed(before, in, out, [&](int32_t j) { return worth(j); });
        if (!after || after->size() >= before.size()) continue;
        double cost = 0.0, price = 0.0;
        for (const int32_t j : before)
            if (!std::ranges::binary_search(*after, j)) {
                cost += worth(j);
                price += problem_.penalty.price(j);
            }
        for (const int32_t j : *after)
            if (!it_.contains(j)) {
                cost -= worth(j);
                price -= problem_.penalty.price(j);
            }
        if (price > 0.0 && cost / price < least) {
            least = cost / price;
            best = feature;
        }
    }
    return best >= 0 && change({restraint.kept}, {best, restraint.barred});
}

bool Exchange::extend(const Model& model) {
    if (!problem_.rules) return descent_.extend(it_);
    const std::vector<Entry> found = steepest(model, 1);
    return !found.empty() && change({found.front().column}, {});
}

bool Exchange::accept(Model& model, Model trial, const Terms& terms) {
    if (seen_ && trial.size <= terms.most) seen_->insert(trial);
    const double worth = worth_a_change * std::abs(terms.objective(model));
    if (!terms.allow(trial) || !(terms.objective(trial) < terms.objective(model) - worth)) return false;
    model = std::move(trial);
    return true;
}

bool Exchange::try_swaps(Model& model, const std::vector<Swap>& swaps, size_t refusals, const Terms& terms,
                         const Restraint& restraint) {
    const double worth = worth_a_change * std::abs(terms.objective(model));
    const std::vector<int32_t> support = model.support;
    bool improved = false;
    size_t refused = 0;
    it_.load(model);
    for (const Swap& swap : swaps) {
        const bool few = model.size <= (seen_ ? few_at_prices : few_features);
        if (refused >= (few ? 2 * refusals : refusals)) break;
        const int32_t feature = support[swap.position];
        if (swap.column == restraint.barred || feature == restraint.kept) continue;
        const double limit = few ? benefit_of_doubt * swap.cost : -worth;
        if (swap.change >= limit) continue;
        if (!it_.contains(feature) || it_.contains(swap.column)) continue;  // an earlier swap changed that
        if (!change({swap.column, restraint.kept}, {feature, restraint.barred})) continue;
        const bool ruled = problem_.rules && it_.size != model.size;
        // What others may use is fitted to the end.
        Model trial = refit(seen_ || ruled ? Penalty::infinity : model.cost - worth);
        const bool spends = terms.limited() && trial.spent < model.spent;
        if ((spends || ruled) && std::isfinite(trial.cost))
            trial = settled(std::move(trial), terms, ruled ? Restraint{restraint.barred, swap.column} : restraint);
        const bool better = accept(model, std::move(trial), terms);
        improved |= better;
        refused += !better;
        if (!better || terms.limited() || problem_.rules) it_.load(model);
    }
    return improved;
}

bool Exchange::improve(Model& model, const Terms& terms, const Restraint& restraint) {
    bool improved = false;
    for (;;) {
        const size_t most = swaps_per_ranking + model.support.size() / features_per_further_swap;
        const std::vector<Swap> swaps = ranked(model, most, terms);
        std::vector<int32_t> columns;
        for (const Swap& swap : swaps)
            for (const int32_t j : problem_.members(swap.column)) columns.push_back(j);
        const auto held = problem_.X.design().hold(columns);
        if (!try_swaps(model, swaps, most_refusals, terms, restraint)) break;
        improved = true;
    }
    model.searched = true;
    return improved;
}

bool Exchange::drop(Model& model, const Terms& terms, const Restraint& restraint) {
    it_.load(model);
    if (!shrink(restraint)) return false;
    Model trial = refit();
    if (std::isinf(trial.cost)) return false;
    if (terms.allow(model)) return accept(model, std::move(trial), terms);
    model = std::move(trial);
    return true;
}

int32_t Exchange::best_that_fits(const Model& model, const Terms& terms, const Restraint& restraint) {
    const double room = terms.budget - model.spent;
    int32_t best = -1, largest = -1;
    double best_ratio = 0.0, best_price = 0.0, largest_gain = 0.0, cheapest = Penalty::infinity;
    for (const Entry& entry : entries(model, room)) {
        const double price = entry.price, gain = entry.gain - terms.lambda_0 * price;
        if (entry.column == restraint.barred || !(gain > 0.0) || model.size + entry.size > terms.most) continue;
        cheapest = std::min(cheapest, price);
        if (gain > best_ratio * price) {
            best_ratio = gain / price;
            best_price = price;
            best = entry.column;
        }
        if (gain > largest_gain) {
            largest_gain = gain;
            largest = entry.column;
        }
    }
    // The last one that fits need not leave anything.
    const bool last = model.size + 1 == terms.most || (best >= 0 && best_price + cheapest > room);
    return last ? largest : best;
}

bool Exchange::fill(Model& model, const Terms& terms, const Restraint& restraint) {
    if (model.size >= terms.most) return false;
    const int32_t column = best_that_fits(model, terms, restraint);
    if (column < 0 || !change({column, restraint.kept}, {restraint.barred})) return false;
    return accept(model, refit(), terms);
}

Model Exchange::settled(Model model, const Terms& terms, const Restraint& restraint) {
    while (!terms.allow(model))
        if (!drop(model, terms, restraint)) return model;
    for (int round = 0; round < most_rounds; ++round) {
        bool changed = false;
        while (fill(model, terms, restraint)) changed = true;
        while (terms.lambda_0 > 0.0 && drop(model, terms, restraint)) changed = true;
        if (!changed) break;
    }
    return model;
}

Model Exchange::without(const Model& model, int32_t feature, const Terms& terms) {
    it_.load(model);
    if (!change({}, {feature})) return model;
    Model out = refit();
    return std::isinf(out.cost) ? model : settled(std::move(out), terms, {.barred = feature});
}

Model Exchange::with(const Model& model, int32_t column, const Terms& terms) {
    Model out = added(model, column);
    if (std::isinf(out.cost)) return model;
    if (!terms.limited()) {  // it takes the place of another
        it_.load(out);
        if (!shrink({.kept = column})) return model;
        out = refit();
        if (std::isinf(out.cost)) return model;
    }
    return settled(std::move(out), terms, {.kept = column});
}

bool Exchange::exchange_unequally(Model& model, const Terms& terms) {
    for (const int32_t feature : removable(model))
        if (accept(model, without(model, feature, terms), terms)) return true;
    for (const Entry& entry : steepest(model, forced, terms.budget))
        if (accept(model, with(model, entry.column, terms), terms)) return true;
    return false;
}

void Exchange::search(Model& model, const Terms& terms, bool thorough) {
    model = settled(std::move(model), terms);
    for (int round = 0; round < most_rounds; ++round) {
        improve(model, terms);
        if (!thorough || model.size > most_forced || !exchange_unequally(model, terms)) break;
    }
}

Model Exchange::shrunk(const Model& model, double target) {
    it_.load(model);
    return shrink({}) ? refit(target) : none();
}

Model Exchange::grown(const Model& model, double target) {
    it_.load(model);
    return extend(model) ? refit(target) : none();
}

Model Exchange::added(const Model& model, int32_t column) {
    it_.load(model);
    if (it_.contains(column)) return none();
    if (!change({column}, {})) return none();
    Model out = refit();
    return out.size > model.size ? out : none();
}

std::vector<Entry> Exchange::entries(const Model& model, double dearest) {
    read_slopes(model);
    std::vector<Entry> out;
    for (int32_t j = 0; j < problem_.columns(); ++j) {
        if (it_.contains(j) || !problem_.is_head(j) || !problem_.varies(j) || problem_.penalty.price(j) > dearest) continue;
        const double gain = problem_.entry_gain(j, slopes_.data());
        if (gain > 0.0 || problem_.rules) out.push_back({j, gain, problem_.penalty.counted(j), problem_.penalty.price(j)});
    }
    return problem_.rules ? closed_entries(out, dearest) : out;
}

std::vector<Entry> Exchange::closed_entries(const std::vector<Entry>& alone, double dearest) {
    std::vector<double> promise(problem_.columns(), 0.0);
    std::vector<int32_t> order;
    for (const Entry& entry : alone) {
        double gain = entry.gain, price = entry.price;
        for (const int32_t j : problem_.rules.partners(entry.column))
            if (!it_.contains(j)) {
                gain += problem_.entry_gain(j, slopes_.data());
                price += problem_.penalty.price(j);
            }
        promise[entry.column] = gain / price;
        order.push_back(entry.column);
    }
    const size_t count = std::min(looked_at, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](int32_t a, int32_t b) { return promise[a] != promise[b] ? promise[a] > promise[b] : a < b; });
    order.resize(count);
    std::vector<Entry> out;
    const std::vector<int32_t> before = heads();
    for (const int32_t column : order) {
        const auto after = problem_.rules.closed(before, std::span(&column, 1), {}, [&](int32_t j) { return worth(j); });
        if (!after) continue;
        Entry entry{column, 0.0, 0, 0.0};
        const auto count_in = [&](int32_t j, int sign) {
            entry.gain += sign * worth(j);
            entry.size += sign * static_cast<int>(problem_.penalty.counted(j));
            entry.price += sign * problem_.penalty.price(j);
        };
        for (const int32_t j : *after)
            if (!it_.contains(j)) count_in(j, 1);
        for (const int32_t j : before)
            if (!std::ranges::binary_search(*after, j)) count_in(j, -1);
        if (entry.gain > 0.0 && entry.size > 0 && entry.price > 0.0 && entry.price <= dearest) out.push_back(entry);
    }
    return out;
}

std::vector<Entry> Exchange::steepest(const Model& model, size_t most, double dearest) {
    std::vector<Entry> out = entries(model, dearest);
    const size_t count = std::min(most, out.size());
    std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count), out.end(),
                      [](const Entry& a, const Entry& b) {
        const double first = a.gain / a.size, second = b.gain / b.size;  // with rules, some bring others with them
        return first != second ? first > second : a.column < b.column;
    });
    out.resize(count);
    return out;
}

std::vector<Swap> Exchange::ranked(const Model& model, size_t most, const Terms& terms) {
    read_slopes(model);
    if (!sample_) return swaps_.rank(it_, slopes_.data(), most, terms);
    sampled_->load(on_sample(model));
    return swaps_.rank(*sampled_, slopes_.data(), most, terms);
}

std::vector<int32_t> Exchange::removable(const Model& model) const {
    std::vector<int32_t> out;
    for (const int32_t j : model.support)
        if (problem_.is_head(j) && problem_.penalty.counted(j)) out.push_back(j);
    return out;
}

}  // namespace ellzero
