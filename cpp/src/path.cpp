#include "ellzero/path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "ellzero/iht.hpp"
#include "ellzero/local_search.hpp"
#include "ellzero/neighbourhood.hpp"
#include "ellzero/pool.hpp"

namespace ellzero {
namespace {

// A feature must be able to enter: the next lambda_0 lies this far below the largest at which one does.
constexpr double just_below = 0.99;
// When the support did not change all the same, lambda_0 falls at least by this factor.
constexpr double largest_ratio = 0.8;
constexpr int most_merges = 6;
// Relative differences of the objective below this do not make a model better.
constexpr double worth_a_change = 1e-10;
// And single moves that gain less are left.
constexpr double worth_a_move = 1e-9;
// A grid that starts late is approached from the first entry in steps of this factor; a sweep that ends with few features goes on
// below its last lambda_0.
constexpr double approach = 0.7;
constexpr int most_overshoots = 8;
constexpr int short_sweep = 64;
constexpr double latest_approach = 1e-4;
// The best small models are often found by taking features out of larger ones: sweeps go on to sizes beyond those that are wanted, by
// a quarter or at least this many features.
constexpr int least_beyond = 8;
int beyond(int size) { return size + std::min(std::max(least_beyond, size / 4), std::numeric_limits<int>::max() - size); }
// A path has a model of every size up to this one; local search, whose sizes help each other, up to a larger one.
constexpr int complete_up_to = 64;
constexpr int searched_up_to = 128;
// Backward elimination takes out this share of a large support at once, one feature of a small one.
constexpr int elimination_share = 64;

class PathFitter {
  public:
    PathFitter(const Problem& problem, const PathOptions& options)
        : problem_(problem), options_(options), explored_(beyond(options.max_support)), descent_(problem), it_(problem) {
        if (options.algorithm != Algorithm::local_search || options.swaps == Swaps::ranked) return;
        const int64_t q = options.swaps == Swaps::exhaustive ? problem.columns() : options.q;
        neighbourhood_.emplace(problem, q, options.first_improvement);
    }

    PathResult run() {
        current_ = descent_.refit(it_);
        keep(current_);
        const bool searches = options_.algorithm == Algorithm::local_search;
        stage_ = {0.0, searches ? 0.3 : 1.0};
        if (options_.algorithm == Algorithm::iht && options_.sizes.empty()) {
            threshold_along_grid();
        } else {
            explore();
            choose();
            if (searches) {
                // What coordinate descent alone returns is in the pool by now: the search can only improve on it.
                stage_ = {0.3, 0.9};
                search();
                stage_ = {0.9, 1.0};
                choose();
            }
        }
        out_.by_size = pool_.by_size(options_.max_support);
        out_.reads = problem_.X.reads();
        return std::move(out_);
    }

  private:
    void explore() {
        if (options_.sweep) {
            forward();
            if (options_.algorithm != Algorithm::iht) {
                backward();
                fill(complete_up_to);
            }
        }
        adopt_seeds();
        if (options_.algorithm == Algorithm::iht) threshold_to_sizes();
        for (const int size : options_.sizes) grow_to(size);
    }

    void choose() {
        if (!options_.sizes.empty()) return exchange_at_sizes();
        if (options_.lambda_0.empty()) {
            trace_envelope();
        } else {
            out_.lambda_0 = options_.lambda_0;
            merge();
        }
    }

    void search() {
        std::set<int> sizes(options_.sizes.begin(), options_.sizes.end());
        if (options_.sweep) fill(searched_up_to);
        for (const int size : pool_.sizes())
            if (options_.sweep && size <= searched_up_to) sizes.insert(size);
        for (const Model& model : out_.models) sizes.insert(model.counted);
        sizes.erase(sizes.upper_bound(LocalSearch::largest), sizes.end());
        LocalSearch(problem_).run(pool_, sizes, [&](double fraction, int size) { report(fraction, 0.0, size); });
    }

    // The penalised iteration at each lambda_0, started from the last.
    void threshold_along_grid() {
        Iht iht(problem_, descent_);
        std::vector<double> grid = options_.lambda_0;
        if (grid.empty()) {
            const double steep = iht.step_curvature();
            std::vector<double> slopes(problem_.columns());
            problem_.X.all_dots(it_.r.data(), slopes.data());
            double largest = 0.0;
            for (int64_t j = 0; j < problem_.columns(); ++j)
                if (problem_.penalty.counted(static_cast<int32_t>(j)))
                    largest = std::max(largest, problem_.penalty.entry_gain(slopes[j], steep, static_cast<int32_t>(j)));
            for (int k = 0; k < options_.n_lambda; ++k)
                grid.push_back(largest * std::pow(options_.lambda_min_ratio, (k + 0.5) / options_.n_lambda));
            if (largest == 0.0) grid.resize(1);
        }
        for (size_t index = 0; index < grid.size(); ++index) {
            const Model model = iht.penalised(it_, grid[index]);
            if (model.counted > options_.max_support) break;
            it_.load(model);
            keep(model);
            out_.lambda_0.push_back(grid[index]);
            out_.models.push_back(model);
            report(static_cast<double>(index + 1) / static_cast<double>(grid.size()), grid[index]);
        }
    }

    // Sizes that the path skipped, each from the largest smaller model (the paper's procedure for the constrained problem).
    void threshold_to_sizes() {
        Iht iht(problem_, descent_);
        std::vector<int> sizes = options_.sizes;
        std::sort(sizes.begin(), sizes.end());
        for (const int size : sizes) {
            if (pool_.of_size(size)) continue;
            it_.load(pool_.largest_below(size));
            keep(iht.at_most(it_, size));
        }
    }

    // Exact swaps of the wanted sizes, where they are asked for.
    void exchange_at_sizes() {
        if (!neighbourhood_) return;
        for (const int size : options_.sizes)
            while (const Model* model = pool_.of_size(size)) {
                if (model->swap_free) break;
                Model current = *model;
                it_.load(current);
                const Move move = neighbourhood_->find_swap(it_, descent_.negligible(it_, 0.0));
                if (move.column >= 0) {
                    make(move);
                    if (pool_.insert(descent_.refit(it_))) continue;
                }  // else, or where the refit does not keep the gain:
                current.swap_free = true;
                pool_.insert(current);
            }
    }

    void make(const Move& move) {
        if (move.position >= 0) it_.remove(static_cast<size_t>(move.position));
        if (move.column >= 0) it_.add(move.column, move.at);
        it_.intercept += move.shift;
        it_.refresh();
        it_.evaluate(problem_.loss);
    }

    // Step 2 of Algorithm 2 at a model that satisfies Theorem 1: a single move that lowers P, with neither feature if there is none.
    Move find_move(Model& model, double lambda_0) {
        if (model.swap_free && model.stands_at(lambda_0)) return {};
        it_.load(model);
        const double worth = descent_.negligible(it_, lambda_0);
        const Move removal = neighbourhood_->cheapest_removal(it_);
        if (removal.position >= 0 && -removal.gain < lambda_0 - worth) return removal;
        if (!model.swap_free) {
            const Move swap = neighbourhood_->find_swap(it_, worth);
            if (swap.column >= 0) return swap;
        }
        const Move addition = neighbourhood_->best_addition(it_);
        if (addition.gain > lambda_0 + worth) return addition;
        settle(model, lambda_0, std::min(model.leaves_above, -removal.gain), std::max(model.enters_below, addition.gain));
        return {};
    }

    // No single move improves the model at this lambda_0, nor between these two.
    void settle(Model& model, double lambda_0, double leaves_above, double enters_below) {
        model.swap_free = model.certain = true;
        model.leaves_above = std::max(lambda_0, leaves_above);
        model.enters_below = std::min(lambda_0, enters_below);
        keep(model);
    }

    void keep(const Model& model) {
        if (model.counted <= explored_) pool_.insert(model);
    }
    void report(double fraction, double lambda_0) { report(fraction, lambda_0, it_.counted); }
    void report(double fraction, double lambda_0, int size) {
        problem_.X.monitor().report(stage_.first + (stage_.second - stage_.first) * fraction, lambda_0, size);
    }

    // Solves at one lambda_0, started from the last; whether the model is small enough to go on.
    bool visit(double lambda_0) {
        if (!current_.stands_at(lambda_0)) current_ = descent_.solve(it_, lambda_0, explored_, Radius::likely);
        keep(current_);
        return current_.counted <= explored_;
    }

    void forward() {
        first_ = descent_.next_lambda_0(it_);
        if (first_ > 0.0) current_.enters_below = first_;
        const double last = options_.lambda_0.empty() ? sweep_dynamic() : sweep_grid();
        const int enough = beyond(it_.counted);
        double lambda_0 = last;
        for (int step = 0; step < most_overshoots && it_.counted < std::min(enough, short_sweep) && lambda_0 > 0.0; ++step)
            if (!visit(lambda_0 *= approach)) break;
    }

    // Both return the last lambda_0, or zero if the sweep should not be continued below it.
    double sweep_grid() {
        const auto& grid = options_.lambda_0;
        if (grid.front() > 0.0)
            for (double near = approach * first_; near > std::max(grid.front(), latest_approach * first_); near *= approach)
                if (!visit(near)) return 0.0;
        for (size_t index = 0; index < grid.size(); ++index) {
            if (!visit(grid[index])) return 0.0;
            report(0.6 * static_cast<double>(index + 1) / static_cast<double>(grid.size()), grid[index]);
        }
        return grid.back();
    }

    double sweep_dynamic() {
        double lambda_0 = first_;
        for (int index = 0; index < options_.n_lambda; ++index) {
            const std::vector<int32_t> before = current_.support;
            if (!visit(lambda_0)) return 0.0;
            report(0.6 * (index + 1.0) / options_.n_lambda, lambda_0);
            const bool stuck = index > 0 && before == current_.support;
            const double next =
                std::min(just_below * descent_.next_lambda_0(it_), (stuck ? largest_ratio : just_below) * lambda_0);
            if (next <= 0.0 || next < options_.lambda_min_ratio * first_) break;
            lambda_0 = next;
        }
        return lambda_0;
    }

    // From the largest model down, always taking out the feature whose removal costs least.
    void backward() {
        if (std::ssize(it_.support) > Refit::largest) return;
        while (it_.counted > 1) {
            problem_.X.monitor().poll();
            for (int left = std::max(1, it_.counted / elimination_share); left > 0; --left) descent_.shrink(it_);
            keep(descent_.refit(it_));
        }
    }

    // Sizes that both sweeps jumped over, or met only in poor models: the next smaller model plus its best column.
    void fill(int most) {
        for (int size = 1; size <= std::min(pool_.largest(), most); ++size) {
            const Model *smaller = pool_.of_size(size - 1), *model = pool_.of_size(size);
            if (smaller && !(model && model->cost <= smaller->cost)) grow(*smaller);
        }
    }

    // A size beyond what has been seen, from the largest smaller model; in vain if no column improves that.
    void grow_to(int size) {
        while (!pool_.of_size(size)) {
            const Model& smaller = pool_.largest_below(size);
            const int next = smaller.counted + 1;
            grow(smaller);
            if (!pool_.of_size(next)) return;
        }
    }

    void grow(const Model& model) {
        problem_.X.monitor().poll();
        it_.load(model);
        if (descent_.extend(it_)) keep(descent_.refit(it_));
    }

    void adopt_seeds() {
        for (const Model& seed : options_.seeds) {
            it_.load(seed);
            keep(descent_.refit(it_));
        }
    }

    // The model itself if it stands at lambda_0 for certain, else what a descent from it finds. That may exceed max_support; at the
    // first point of a path, exact moves do not lead there.
    Model certified(Model model, double lambda_0, bool is_first) {
        if (!(model.certain && model.stands_at(lambda_0))) {
            it_.load(model);
            model = descent_.solve(it_, lambda_0, options_.max_support, Radius::certain);
            keep(model);
        }
        while (neighbourhood_ && model.counted <= options_.max_support) {
            const Move move = find_move(model, lambda_0);
            if (move.position < 0 && move.column < 0) break;
            make(move);
            const Model next = descent_.solve(it_, lambda_0, options_.max_support, Radius::certain);
            // A gain that the fit does not keep (the hinge's smoothing, P near zero) is none.
            const bool falls = next.objective(lambda_0) < model.objective(lambda_0) - worth_a_move * std::abs(model.objective(lambda_0));
            if (!falls || (is_first && next.counted > options_.max_support)) {
                settle(model, lambda_0, lambda_0, lambda_0);
                break;
            }
            model = next;
            keep(model);
        }
        return model;
    }

    // Models that are about to be certified, each at its lambda_0. X is read for as many of them as one read serves, from `start` on;
    // returns where these end.
    using Ahead = std::vector<std::pair<const Model*, double>>;
    size_t foresee(const Ahead& ahead, size_t start) {
        std::vector<const Model*> models;
        size_t k = start;
        for (; k < ahead.size() && models.size() < descent_.foresight(); ++k) {
            const auto& [model, lambda_0] = ahead[k];
            const bool again = !models.empty() && models.back()->support == model->support;
            if (!again && !(model->certain && model->stands_at(lambda_0))) models.push_back(model);
        }
        if (models.size() > 1) descent_.foresee(it_, models);
        return k;
    }

    // At every lambda_0 the best model seen, descended further until Theorem 1 holds there; what that finds may serve the
    // neighbours, so the sweep is repeated, up and down, until nothing improves.
    void merge() {
        out_.models.resize(out_.lambda_0.size());
        std::vector<bool> known(out_.models.size(), false);
        Ahead ahead;
        for (const double lambda_0 : out_.lambda_0) ahead.emplace_back(&pool_.best(lambda_0, options_.max_support), lambda_0);
        size_t foreseen = 0;
        bool changed = true;
        for (int round = 0; round < most_merges && changed; ++round) {
            changed = false;
            for (size_t k = 0; k < out_.models.size(); ++k) {
                const size_t index = round % 2 == 0 ? k : out_.models.size() - 1 - k;
                if (index == foreseen) foreseen = foresee(ahead, index);
                const double lambda_0 = out_.lambda_0[index];
                Model& held = out_.models[index];
                Model found = pool_.best(lambda_0, options_.max_support);
                const double worth = worth_a_change * std::abs(found.objective(lambda_0));
                if (known[index] && held.objective(lambda_0) <= found.objective(lambda_0) + worth) continue;
                found = certified(std::move(found), lambda_0, index == 0);
                if (found.counted > options_.max_support) {
                    if (known[index]) continue;
                    // The best model of an allowed size would grow: the path ends before this lambda_0.
                    out_.lambda_0.resize(index);
                    out_.models.resize(index);
                    break;
                }
                held = std::move(found);
                known[index] = changed = true;
            }
            report(0.6 + 0.4 * (round + 1.0) / most_merges, out_.lambda_0.empty() ? 0.0 : out_.lambda_0.back());
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
            const auto vertices = pool_.envelope(options_.max_support);
            Ahead ahead;
            for (size_t k = 0; k < vertices.size(); ++k) {
                const double upper = vertices[k].upper;
                const double lower = k + 1 < vertices.size() ? vertices[k + 1].upper : 0.0;
                double lambda_0 = k == 0 ? std::max(first_, lower / just_below) : just_below * upper;
                if (k > 0 && lambda_0 <= lower) lambda_0 = std::sqrt(upper * lower);
                if (k > 0 && lambda_0 < options_.lambda_min_ratio * ahead.front().second) break;
                ahead.emplace_back(&vertices[k].model, lambda_0);
            }
            size_t foreseen = 0;
            for (size_t k = 0; k < ahead.size() && std::ssize(out_.models) < options_.n_lambda; ++k) {
                if (k == foreseen) foreseen = foresee(ahead, k);
                const double lambda_0 = ahead[k].second;
                const double before = vertices[k].model.objective(lambda_0);
                Model found = certified(vertices[k].model, lambda_0, k == 0);
                if (found.counted > options_.max_support) break;
                changed |= found.objective(lambda_0) < before - worth_a_change * std::abs(before);
                if (!out_.models.empty() && found.support == out_.models.back().support) continue;
                out_.lambda_0.push_back(lambda_0);
                out_.models.push_back(std::move(found));
            }
            report(0.6 + 0.4 * (round + 1.0) / most_merges, out_.lambda_0.empty() ? 0.0 : out_.lambda_0.back());
        }
    }

    const Problem& problem_;
    const PathOptions& options_;
    const int explored_;  // models up to this size are kept, though only those up to max_support are returned
    Descent descent_;
    Iterate it_;
    Pool pool_;
    Model current_;       // where the forward sweep is
    double first_ = 0.0;  // the lambda_0 at which the first feature enters
    std::optional<Neighbourhood> neighbourhood_;  // for q_best and exhaustive search
    std::pair<double, double> stage_;             // the share of the whole work that report() counts in
    PathResult out_;
};

}  // namespace

PathResult fit_path(const Problem& problem, const PathOptions& options) { return PathFitter(problem, options).run(); }

}  // namespace ellzero
