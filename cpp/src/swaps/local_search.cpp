#include "ellzero/swaps/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "ellzero/problem/selection.hpp"
#include "ellzero/swaps/beam.hpp"

namespace ellzero {
namespace {
// Looks at all columns, each followed by a search among the selection. Most is found by the first two; more are worth it where
// a look is cheap.
constexpr int looks_at_large = 2;
constexpr int looks_at_small = 6;
constexpr int64_t small_bytes = int64_t{4} << 20;
// Columns that join the selection for each model of a look.
constexpr size_t promising_per_model = 64;
// Ranked swaps that a refit refuses before the next model's turn.
constexpr size_t refusals = 3;
constexpr int most_rounds = 6;
// Models of up to this size are grown in a beam and kicked, so many times at most, with looks at all columns between.
constexpr int most_kicked = 32;
// Columns that are forced in: those whose swaps are ranked first.
constexpr size_t forced = 16;
constexpr int most_kickings = 2;
constexpr int most_cycles = 3;
constexpr int64_t refits_per_size = 1000;  // a limit of the work that does not depend on the clock; fewer of several outputs
// Up to this size what a neighbour suggests is searched from even if it is worse than the model at hand.
constexpr int worth_a_second_start = 32;
// Among the selection D is renewed when it has changed by as much as itself; over all columns never: the products cost a read.
constexpr double inner_drift = 1.0;
constexpr double outer_drift = Penalty::infinity;
constexpr int64_t models_per_read = 8;
constexpr int64_t worth_a_team = 10'000;  // rows

// Keeps every second size, from the first or the second on by turns, and the largest.
void thin_out(std::set<int>& sizes, int turn) {
    const int largest = *sizes.rbegin();
    std::erase_if(sizes, [&, index = turn](int size) mutable { return index++ % 2 != 0 && size != largest; });
}

bool nested(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
    return a.size() < b.size() ? std::ranges::includes(b, a) : std::ranges::includes(a, b);
}
}  // namespace

LocalSearch::LocalSearch(const Problem& problem, Effort effort, std::set<int> wanted, const Problem* sample, Desk* lent)
    : problem_(problem),
      effort_(effort),
      wanted_(std::move(wanted)),
      finishes_(sample != nullptr),
      whole_(problem, outer_drift, nullptr, sample, lent) {
    wanted_.erase(wanted_.begin(), wanted_.upper_bound(0));
    wanted_.erase(wanted_.upper_bound(most_kicked), wanted_.end());
}

void LocalSearch::run(Pool& pool, const std::set<int>& sizes, const Report& report) {
    if (finishes_) return finish(pool, sizes, report);
    const bool large = problem_.X.design().bytes() > small_bytes, thorough = effort_ == Effort::thorough && !wanted_.empty();
    const int most_looks = large ? looks_at_large : looks_at_small, most_steps = most_looks + (thorough ? most_kickings : 0);
    std::set<int> open;  // sizes whose models have not been held against all columns
    for (const int size : sizes)
        if (size > 0 && pool.of_size(size)) open.insert(size);
    const auto search = [&](Step step) {
        std::map<int, std::vector<int32_t>> before;
        for (const int size : sizes)
            if (const Model* model = pool.of_size(size)) before[size] = model->support;
        search_among(pool, sizes, step);
        open.clear();
        for (const int size : sizes)
            if (const Model* model = pool.of_size(size); model && size > 0 && before[size] != model->support) open.insert(size);
    };
    for (int look = 0; look < most_looks && !open.empty(); ++look) {
        // Neighbouring sizes find much the same columns.
        if (large) thin_out(open, look);
        const bool found = look_outside(pool, open);
        report((look + 0.5) / most_steps, pool.largest());
        if (!found && look > 0) break;
        search(thorough && look == 0 ? Step::beam : Step::swaps);
        report((look + 1.0) / most_steps, pool.largest());
    }
    // Kicks start from the best that looks have found: inside them, they would be wasted on models that do not last.
    for (int k = 0; thorough && k < most_kickings; ++k) {
        search(Step::kicks);
        report((most_looks + k + 1.0) / most_steps, pool.largest());
        if (open.empty() || !look_outside(pool, open)) break;
    }
}

void LocalSearch::finish(Pool& pool, const std::set<int>& sizes, const Report& report) {
    std::vector<int> order(sizes.begin(), sizes.end());
    bool changed = true;
    for (int round = 0; round < most_rounds && changed; ++round) {
        changed = false;
        for (const int size : order) {
            if (size == 0) continue;
            report(round / (round + 1.0), size);
            for (const int neighbour : {size - 1, size + 1}) changed |= start_from(pool, neighbour, size);
            const Model* current = pool.of_size(size);
            if (!current || current->searched) continue;
            Model model = *current;
            changed |= whole_.improve(model, {.most = size});
            pool.insert(model);
        }
        std::ranges::reverse(order);
    }
}

bool LocalSearch::start_from(Pool& pool, int neighbour, int size) {
    const Model *from = pool.of_size(neighbour), *kept = pool.of_size(size);
    if (!from || (kept && !started_.emplace(size, from->support).second)) return false;
    // Where one contains the other, what would be made is a swap away from what is there, and ranked: by a model, which errs
    // about the column that comes in. Of columns that are in together it knows more. Kinks mislead it either way.
    const bool near = kept && nested(from->support, kept->support);
    if (near && neighbour < size && !problem_.loss.has_kink()) return false;
    const double target = near ? kept->cost : Penalty::infinity;
    Model trial = neighbour < size ? whole_.grown(*from, target) : whole_.shrunk(*from, target);
    if (!std::isfinite(trial.cost) || trial.size != size) return false;
    if (!kept || (!near && kept->support != trial.support)) whole_.improve(trial, {.most = size});
    return pool.insert(trial);
}

std::vector<int32_t> LocalSearch::selected(const Pool& pool) const {
    std::set<int32_t> columns;
    for (const int32_t head : promising_) {
        for (const int32_t j : problem_.members(head)) columns.insert(j);
        for (const int32_t partner : problem_.rules.partners(head))
            for (const int32_t j : problem_.members(partner)) columns.insert(j);
    }
    for (const Model& model : pool.by_size(largest + 1)) columns.insert(model.support.begin(), model.support.end());
    for (int32_t j = 0; j < problem_.columns(); ++j)
        if (!problem_.penalty.counted(j)) columns.insert(j);
    return {columns.begin(), columns.end()};
}

void LocalSearch::search_among(Pool& pool, const std::set<int>& sizes, Step step) {
    // With few rows each task is too short to be worth handing out.
    Team alone(1);
    const Selection selection(problem_, selected(pool), problem_.rows() < worth_a_team ? alone : problem_.X.team());
    Exchange exchange(selection.problem(), inner_drift);
    Pool inner(false, selection.problem().rules);
    for (const Model& model : pool.by_size(largest + 1)) inner.insert(selection.inside(model));
    if (step != Step::kicks) swap_up_and_down(exchange, inner, sizes);
    if (step == Step::beam && grow_beam(selection.problem(), exchange, inner, *wanted_.rbegin()))
        swap_up_and_down(exchange, inner, sizes);
    bool better = step == Step::kicks;
    const int64_t most_refits = exchange.refits() + refits_per_size * std::ssize(wanted_) / problem_.X.blocks();
    for (int cycle = 0; cycle < most_cycles && better; ++cycle) {
        better = false;
        for (const int size : wanted_)
            if (exchange.refits() < most_refits) better |= kick(selection, exchange, inner, size);
        if (better) swap_up_and_down(exchange, inner, sizes);
    }
    for (const Model& found : inner.by_size()) {
        Model model = selection.outside(found);
        const Model* kept = pool.of_size(model.size);
        if (kept && kept->support == model.support) continue;
        pool.insert(model);
    }
}

// Searches all sizes in turn, down and up, each started from its neighbour's result too.
void LocalSearch::swap_up_and_down(Exchange& exchange, Pool& pool, const std::set<int>& sizes) const {
    std::map<int, std::vector<int32_t>> shrunk, grown;  // what the neighbours have been made of
    std::vector<int> order(sizes.begin(), sizes.end());
    bool changed = true;
    for (int round = 0; round < most_rounds && changed; ++round) {
        std::reverse(order.begin(), order.end());
        const bool down = round % 2 == 0;
        changed = round == 0;
        for (const int size : order) {
            if (size == 0) continue;
            if (const Model* neighbour = pool.of_size(down ? size + 1 : size - 1)) {
                auto& last = (down ? shrunk : grown)[neighbour->size];
                if (last != neighbour->support) {
                    last = neighbour->support;
                    const bool starts = size <= worth_a_second_start;
                    const Model* kept = pool.of_size(size);
                    const double target = kept && !starts ? kept->cost : Penalty::infinity;
                    Model model = down ? exchange.shrunk(*neighbour, target) : exchange.grown(*neighbour, target);
                    if (std::isfinite(model.cost)) {
                        if (starts && model.size == size) exchange.improve(model, {.most = size});
                        changed |= pool.insert(model);
                    }
                }
            }
            const Model* current = pool.of_size(size);
            if (!current || current->searched) continue;
            Model model = *current;
            changed |= exchange.improve(model, {.most = size});
            pool.insert(model);
        }
    }
}

bool LocalSearch::kick(const Selection& selection, Exchange& exchange, Pool& pool, int size) {
    const Model* known = pool.of_size(size);
    if (!known || !kicked_.insert(selection.outside(*known).support).second) return false;
    const Model model = *known;
    const Terms terms{.most = size};
    bool better = false;
    const auto go_on = [&](Model trial, const Restraint& restraint) {
        if (trial.size != size || trial.support == model.support) return;
        exchange.improve(trial, terms, restraint);
        trial.searched = false;  // without the restraint there may be more
        if (trial.size == size) better |= pool.insert(trial);
    };
    for (const int32_t feature : exchange.removable(model)) go_on(exchange.without(model, feature, terms), {.barred = feature});
    for (const Swap& swap : exchange.ranked(model, forced, terms))
        go_on(exchange.with(model, swap.column, terms), {.kept = swap.column});
    return better;
}

std::vector<int32_t> LocalSearch::features_from(const Pool& pool, const std::vector<int>& sizes, size_t start) const {
    std::set<int32_t> features;
    for (size_t k = start; k < sizes.size(); ++k) {
        const std::vector<int32_t>& support = pool.of_size(sizes[k])->support;
        if (k >= start + models_per_read && features.size() + support.size() > whole_.swaps().capacity()) break;
        features.insert(support.begin(), support.end());
    }
    return {features.begin(), features.end()};
}

// Holds the models against all columns, many models to one read of X: tries what is ranked first and remembers what is ranked
// well.
bool LocalSearch::look_outside(Pool& pool, const std::set<int>& sizes) {
    const int64_t n = problem_.rows();
    const std::vector<int> order(sizes.begin(), sizes.end());
    std::vector<double> residuals(n * models_per_read);
    Iterate it(problem_);
    // D of the middle model serves all: it is never renewed here.
    it.load(*pool.of_size(order[order.size() / 2]));
    whole_.swaps().follow(it, {});
    bool improved = false;
    for (size_t start = 0; start < order.size(); start += models_per_read) {
        const size_t count = std::min<size_t>(order.size() - start, models_per_read);
        for (size_t k = 0; k < count; ++k) {
            it.load(*pool.of_size(order[start + k]));
            std::copy(it.r.begin(), it.r.end(), residuals.begin() + static_cast<std::ptrdiff_t>(k) * n);
        }
        whole_.swaps().read_slopes(residuals.data(), static_cast<int64_t>(count));
        whole_.swaps().follow(it, features_from(pool, order, start));
        for (size_t k = 0; k < count; ++k) {
            Model model = *pool.of_size(order[start + k]);
            it.load(model);
            const auto swaps = whole_.swaps().rank_read(it, static_cast<int64_t>(k), promising_per_model);
            std::vector<int32_t> columns;
            columns.reserve(swaps.size());
            for (const Swap& swap : swaps) {
                promising_.insert(swap.column);
                for (const int32_t j : problem_.members(swap.column)) columns.push_back(j);
            }
            const auto held = problem_.X.design().hold(columns);
            if (whole_.try_swaps(model, swaps, refusals, {.most = model.size})) improved = true;
            else model.searched = true;
            pool.insert(model);
        }
    }
    return improved;
}

}  // namespace ellzero
