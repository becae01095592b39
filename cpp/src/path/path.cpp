#include "ellzero/path/path.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "ellzero/path/confirmation.hpp"
#include "ellzero/path/exploration.hpp"
#include "ellzero/path/lineage.hpp"
#include "ellzero/support/hard_thresholding.hpp"
#include "ellzero/swaps/local_search.hpp"

namespace ellzero {
namespace {

constexpr int most_merges = 6;
// D of the swap model is renewed when it has changed by as much as itself.
constexpr double most_drift = 1.0;
// Relative differences of the objective below this do not make a model better.
constexpr double worth_a_change = 1e-10;
// Local search, whose sizes help each other, has a model of every size up to this one.
constexpr int searched_up_to = 128;
constexpr int64_t worth_a_second_lineage = int64_t{1} << 27;  // bytes of X

// Whether a size is near one that is wanted: models of such sizes are good starts for it.
bool near(int size, const std::set<int>& wanted) {
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](int other) { return std::abs(size - other) <= beyond(other) - other; });
}

class PathFitter {
  public:
    PathFitter(const Problem& problem, const PathOptions& options)
        : problem_(problem), options_(options), work_(problem, options), confirmation_(work_), exploration_(work_) {}

    PathResult run() {
        try {
            fit();
        } catch (...) {
            out_ = {};
            out_.stopped = std::current_exception();
        }
        out_.by_size = work_.pool.by_size(options_.max_support);
        out_.reads = problem_.X.reads();
        return std::move(out_);
    }

  private:
    void fit() {
        const bool searches = options_.algorithm == Algorithm::local_search;
        work_.stage = {0.0, searches ? 0.3 : 1.0};
        if (options_.algorithm == Algorithm::iht && options_.sizes.empty()) {
            threshold_along_grid();
        } else {
            exploration_.run();
            choose();
            if (!options_.budgets.empty()) {
                search_at_prices(searches);  // of equal prices, too: a budget is for so many of them
            } else if (problem_.penalty.unequal && options_.sizes.empty()) {
                if (searches) search_at_prices(true);
            } else if (searches) {
                // The models of coordinate descent alone are in the pool by now: the search can only improve on them.
                work_.stage = {0.3, 0.9};
                search();
                work_.stage = {0.9, 1.0};
                choose();
            }
        }
    }

    void choose() {
        if (!options_.sizes.empty()) return confirmation_.exchange_at_sizes();
        if (!options_.budgets.empty()) return;
        if (options_.lambda_0.empty()) {
            trace_envelope();
        } else {
            out_.lambda_0 = options_.lambda_0;
            merge();
        }
    }

    void search() {
        const bool widely = options_.sweep && !options_.sample;
        if (widely) exploration_.fill(searched_up_to);
        std::set<int> wanted(options_.sizes.begin(), options_.sizes.end());
        for (const Model& model : out_.models) wanted.insert(model.size);
        std::set<int> sizes = wanted;
        for (const int size : work_.pool.sizes())
            if (widely && size <= searched_up_to && near(size, wanted)) sizes.insert(size);
        sizes.erase(sizes.upper_bound(LocalSearch::largest), sizes.end());
        const auto report = [&](double fraction, int size) { work_.report(fraction, 0.0, size); };
        LocalSearch search(problem_, options_.effort, std::move(wanted), options_.sample, &work_);
        if (options_.effort == Effort::thorough && widely && !problem_.rules &&
            problem_.X.design().bytes() > worth_a_second_lineage) {
            const auto [begin, end] = work_.stage;
            work_.stage = {begin, 0.5 * (begin + end)};
            LocalSearch(problem_, Effort::quick, {}).run(work_.pool, sizes, report);
            work_.stage = {work_.stage.second, end};
            const Lineage second = second_lineage(problem_, sizes);
            for (const Model& model : second.pool.by_size()) work_.keep(model);
            search.consider(second.features);
        }
        search.run(work_.pool, sizes, report);
    }

    // Where prices differ, models are improved for each lambda_0 of the path, or for each budget: what one finds may serve its
    // neighbours, so this is repeated, up and down, until nothing improves. Without `exchange`, budgets are only spent.
    void search_at_prices(bool exchange) {
        work_.stage = {0.3, 0.9};
        std::vector<Terms> points;
        points.reserve(options_.budgets.size() + out_.lambda_0.size());
        for (const double budget : options_.budgets) points.push_back({options_.paid, budget, options_.max_support});
        for (const double lambda_0 : out_.lambda_0)
            if (options_.budgets.empty()) points.push_back({lambda_0, Penalty::infinity, options_.max_support});
        std::vector<std::vector<int32_t>> searched(points.size());
        Exchange search(problem_, most_drift, &work_.pool, options_.sample, &work_);
        bool changed = true;
        for (int round = 0; round < most_merges && changed; ++round) {
            changed = false;
            for (size_t k = 0; k < points.size(); ++k) {
                const size_t index = round % 2 == 0 ? points.size() - 1 - k : k;
                const Terms& terms = points[index];
                Model model = work_.pool.best(terms.lambda_0, options_.max_support, terms.budget);
                if (round > 0 && model.support == searched[index]) continue;
                if (exchange) search.search(model, terms, options_.effort == Effort::thorough);
                else model = search.settled(std::move(model), terms);
                work_.pool.insert(model);
                searched[index] = model.support;
                changed = true;
                work_.report((round + (static_cast<double>(k) + 1.0) / static_cast<double>(points.size())) / most_merges,
                             terms.lambda_0, model.size);
            }
        }
        work_.stage = {0.9, 1.0};
        if (options_.budgets.empty()) return choose();
        out_.models.clear();
        for (const Terms& terms : points)
            out_.models.push_back(work_.pool.best(terms.lambda_0, options_.max_support, terms.budget));
    }

    // The penalised iteration at each lambda_0, started from the last.
    void threshold_along_grid() {
        HardThresholding thresholding(problem_, work_.descent);
        std::vector<double> grid = options_.lambda_0;
        if (grid.empty()) {
            const double steep = thresholding.step_curvature();
            std::vector<double> slopes(problem_.columns());
            problem_.X.all_dots(work_.it.r.data(), slopes.data());
            double largest = 0.0;
            for (int32_t head = 0; head < problem_.columns(); ++head) {
                if (!problem_.penalty.counted(head) || !problem_.is_head(head)) continue;
                double gain = 0.0;
                for (const int32_t j : problem_.members(head)) gain += problem_.penalty.entry_gain(slopes[j], steep, j);
                largest = std::max(largest, gain / problem_.penalty.price(head));
            }
            for (int k = 0; k < options_.n_lambda; ++k)
                grid.push_back(largest * std::pow(options_.lambda_min_ratio, (k + 0.5) / options_.n_lambda));
            if (largest == 0.0) grid.resize(1);
        }
        for (size_t index = 0; index < grid.size(); ++index) {
            Model model = thresholding.penalised(work_.it, grid[index]);
            if (model.size > options_.max_support) break;
            work_.it.load(model);
            // A fixed point of thresholding satisfies Theorem 1 with L_hat in place of all L_hat_j, which asks for less.
            model.converged = model.converged && work_.descent.stands(work_.it, grid[index]);
            work_.keep(model);
            out_.lambda_0.push_back(grid[index]);
            out_.models.push_back(model);
            work_.report(static_cast<double>(index + 1) / static_cast<double>(grid.size()), grid[index]);
        }
    }

    // At every lambda_0 the best model seen, descended further until Theorem 1 holds there; what that finds may serve the
    // neighbours, so the sweep is repeated, up and down, until nothing improves.
    void merge() {
        out_.models.resize(out_.lambda_0.size());
        std::vector<bool> known(out_.models.size(), false);
        Confirmation::Ahead ahead;
        std::vector<Model> copies;  // where prices differ, models that others beat leave the pool
        copies.reserve(out_.lambda_0.size());
        for (const double lambda_0 : out_.lambda_0) {
            const Model* best = &work_.pool.best(lambda_0, options_.max_support);
            if (problem_.penalty.unequal) best = &copies.emplace_back(*best);
            ahead.emplace_back(best, lambda_0);
        }
        size_t foreseen = 0;
        bool changed = true;
        for (int round = 0; round < most_merges && changed; ++round) {
            changed = false;
            for (size_t k = 0; k < out_.models.size(); ++k) {
                const size_t index = round % 2 == 0 ? k : out_.models.size() - 1 - k;
                if (index == foreseen) foreseen = confirmation_.foresee(ahead, index);
                const double lambda_0 = out_.lambda_0[index];
                Model& held = out_.models[index];
                Model found = work_.pool.best(lambda_0, options_.max_support);
                const double worth = worth_a_change * std::abs(found.objective(lambda_0));
                if (known[index] && held.objective(lambda_0) <= found.objective(lambda_0) + worth) continue;
                found = confirmation_.certified(std::move(found), lambda_0, index == 0);
                if (found.size > options_.max_support) {
                    if (known[index]) continue;
                    // The best model of an allowed size would grow: the path ends before this lambda_0.
                    out_.lambda_0.resize(index);
                    out_.models.resize(index);
                    break;
                }
                held = std::move(found);
                known[index] = changed = true;
            }
            work_.report(0.6 + 0.4 * (round + 1.0) / most_merges, out_.lambda_0.empty() ? 0.0 : out_.lambda_0.back());
        }
    }

    // A dynamic grid is there to show different models: one lambda_0 for each model that is best somewhere, just below where it
    // becomes so. Making sure of Theorem 1 may find better models, so this is repeated.
    void trace_envelope() {
        bool changed = true;
        for (int round = 0; round < most_merges && changed; ++round) {
            changed = false;
            out_.lambda_0.clear();
            out_.models.clear();
            const auto vertices = work_.pool.envelope(options_.max_support);
            Confirmation::Ahead ahead;
            for (size_t k = 0; k < vertices.size(); ++k) {
                const double upper = vertices[k].upper;
                const double lower = k + 1 < vertices.size() ? vertices[k + 1].upper : 0.0;
                double lambda_0 = k == 0 ? std::max(exploration_.first(), lower / just_below) : just_below * upper;
                if (k > 0 && lambda_0 <= lower) lambda_0 = std::sqrt(upper * lower);
                if (k > 0 && lambda_0 < options_.lambda_min_ratio * ahead.front().second) break;
                ahead.emplace_back(&vertices[k].model, lambda_0);
            }
            size_t foreseen = 0;
            for (size_t k = 0; k < ahead.size() && std::ssize(out_.models) < options_.n_lambda; ++k) {
                if (k == foreseen) foreseen = confirmation_.foresee(ahead, k);
                const double lambda_0 = ahead[k].second;
                const double before = vertices[k].model.objective(lambda_0);
                Model found = confirmation_.certified(vertices[k].model, lambda_0, k == 0);
                if (found.size > options_.max_support) break;
                changed |= found.objective(lambda_0) < before - worth_a_change * std::abs(before);
                if (!out_.models.empty() && found.support == out_.models.back().support) continue;
                out_.lambda_0.push_back(lambda_0);
                out_.models.push_back(std::move(found));
            }
            work_.report(0.6 + 0.4 * (round + 1.0) / most_merges, out_.lambda_0.empty() ? 0.0 : out_.lambda_0.back());
        }
    }

    const Problem& problem_;
    const PathOptions& options_;
    PathWork work_;
    Confirmation confirmation_;
    Exploration exploration_;
    PathResult out_;
};

}  // namespace

PathResult fit_path(const Problem& problem, const PathOptions& options) { return PathFitter(problem, options).run(); }

}  // namespace ellzero
