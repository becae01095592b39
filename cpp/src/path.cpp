#include "ellzero/path.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace ellzero {
namespace {

// A feature must be able to enter: the next lambda_0 lies this far below the largest at which one does.
constexpr double just_below = 0.99;
// When the support did not change all the same, lambda_0 falls at least by this factor.
constexpr double largest_ratio = 0.8;
constexpr int most_merges = 6;
// Relative differences of the objective below this do not make a model better.
constexpr double worth_a_change = 1e-10;
// A grid that starts late is approached from the first entry in steps of this factor; a sweep that ends early goes on a little
// below its last lambda_0, so that the backward elimination has something to choose from.
constexpr double approach = 0.7;
constexpr double overshoot = 0.5;
constexpr double short_sweep = 0.1;
constexpr double latest_approach = 1e-4;
// Up to this size every model is looked for.
constexpr int complete_up_to = 64;
// Backward elimination takes out this share of a large support at once, one feature of a small one.
constexpr int elimination_share = 64;

// Since lambda_1 and lambda_2 are fixed along a path, G of a model does not depend on lambda_0: the best model of each size is all
// that is worth keeping, and the best at a lambda_0 is on their lower envelope.
class Pool {
  public:
    void insert(const Model& model) {
        auto [place, fresh] = best_.try_emplace(model.counted, model);
        if (fresh) return;
        Model& kept = place->second;
        const bool same = kept.support == model.support;
        // Of two fits of one support the one that knows where it stands is kept.
        if (same ? model.certain || !kept.certain : model.cost < kept.cost) kept = model;
    }
    const Model& best(double lambda_0) const {
        const Model* out = nullptr;
        for (const auto& [size, model] : best_)
            if (!out || model.objective(lambda_0) < out->objective(lambda_0)) out = &model;
        return *out;
    }
    const Model* of_size(int size) const {
        const auto place = best_.find(size);
        return place == best_.end() ? nullptr : &place->second;
    }
    int largest() const { return best_.rbegin()->first; }

    // The models that are best for some lambda_0, from few features to many, each with the largest lambda_0 at which it is.
    struct Vertex {
        Model model;
        double upper;
    };
    std::vector<Vertex> envelope() const {
        std::vector<Vertex> out;
        for (const auto& [size, model] : best_) {
            double upper = Penalty::infinity;
            while (!out.empty()) {
                upper = (out.back().model.cost - model.cost) / (size - out.back().model.counted);
                if (upper < out.back().upper) break;
                out.pop_back();  // never best: both neighbours beat it
                upper = Penalty::infinity;
            }
            if (upper > 0.0) out.push_back({model, upper});
        }
        return out;
    }
    std::vector<Model> by_size() const {
        std::vector<Model> out;
        for (const auto& [size, model] : best_) out.push_back(model);
        return out;
    }

  private:
    std::map<int, Model> best_;
};

class PathFitter {
  public:
    PathFitter(const Problem& problem, const PathOptions& options)
        : problem_(problem), options_(options), descent_(problem), it_(problem) {}

    PathResult run() {
        current_ = descent_.refit(it_);
        keep(current_);
        if (options_.sweep) {
            forward();
            backward();
            fill();
        }
        adopt_seeds();
        if (options_.lambda_0.empty()) {
            trace_envelope();
        } else {
            out_.lambda_0 = options_.lambda_0;
            merge();
        }
        out_.by_size = pool_.by_size();
        out_.reads = problem_.X.reads();
        return std::move(out_);
    }

  private:
    void keep(const Model& model) {
        if (model.counted <= options_.max_support) pool_.insert(model);
    }
    void report(double fraction, double lambda_0) { problem_.X.monitor().report(fraction, lambda_0, it_.counted); }

    // Solves at one lambda_0, started from the last; whether the model is small enough to go on.
    bool visit(double lambda_0) {
        if (!current_.stands_at(lambda_0)) current_ = descent_.solve(it_, lambda_0, options_.max_support, Radius::likely);
        keep(current_);
        return current_.counted <= options_.max_support;
    }

    void forward() {
        first_ = descent_.next_lambda_0(it_);
        if (first_ > 0.0) current_.enters_below = first_;
        const double last = options_.lambda_0.empty() ? sweep_dynamic() : sweep_grid();
        if (last > short_sweep * first_ && visit(approach * last)) visit(overshoot * last);
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
            for (int left = std::max(1, it_.counted / elimination_share); left > 0; --left) {
                const int position = descent_.cheapest(it_, nullptr);
                it_.remove(static_cast<size_t>(position));
            }
            keep(descent_.refit(it_));
        }
    }

    // Sizes that both sweeps jumped over, or met only in poor models: the next smaller model plus its best column.
    void fill() {
        for (int size = 1; size <= std::min(pool_.largest(), complete_up_to); ++size) {
            const Model *smaller = pool_.of_size(size - 1), *model = pool_.of_size(size);
            if (!smaller || (model && model->cost <= smaller->cost)) continue;
            it_.load(*smaller);
            if (descent_.extend(it_)) keep(descent_.refit(it_));
        }
    }

    void adopt_seeds() {
        for (const Model& seed : options_.seeds) {
            it_.load(seed);
            keep(descent_.refit(it_));
        }
    }

    // The model itself if it stands at lambda_0 for certain, else what a descent from it finds (which may exceed max_support).
    Model certified(Model model, double lambda_0) {
        if (model.certain && model.stands_at(lambda_0)) return model;
        it_.load(model);
        model = descent_.solve(it_, lambda_0, options_.max_support, Radius::certain);
        keep(model);
        return model;
    }

    // At every lambda_0 the best model seen, descended further until Theorem 1 holds there; what that finds may serve the
    // neighbours, so the sweep is repeated, up and down, until nothing improves.
    void merge() {
        out_.models.resize(out_.lambda_0.size());
        std::vector<bool> known(out_.models.size(), false);
        bool changed = true;
        for (int round = 0; round < most_merges && changed; ++round) {
            changed = false;
            for (size_t k = 0; k < out_.models.size(); ++k) {
                const size_t index = round % 2 == 0 ? k : out_.models.size() - 1 - k;
                const double lambda_0 = out_.lambda_0[index];
                Model& held = out_.models[index];
                Model found = pool_.best(lambda_0);
                const double worth = worth_a_change * std::abs(found.objective(lambda_0));
                if (known[index] && held.objective(lambda_0) <= found.objective(lambda_0) + worth) continue;
                found = certified(std::move(found), lambda_0);
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
            const auto vertices = pool_.envelope();
            for (size_t k = 0; k < vertices.size() && std::ssize(out_.models) < options_.n_lambda; ++k) {
                const double upper = vertices[k].upper;
                const double lower = k + 1 < vertices.size() ? vertices[k + 1].upper : 0.0;
                double lambda_0 = k == 0 ? std::max(first_, lower / just_below) : just_below * upper;
                if (k > 0 && lambda_0 <= lower) lambda_0 = std::sqrt(upper * lower);
                if (k > 0 && lambda_0 < options_.lambda_min_ratio * out_.lambda_0.front()) break;
                const double before = vertices[k].model.objective(lambda_0);
                Model found = certified(vertices[k].model, lambda_0);
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
    Descent descent_;
    Iterate it_;
    Pool pool_;
    Model current_;       // where the forward sweep is
    double first_ = 0.0;  // the lambda_0 at which the first feature enters
    PathResult out_;
};

}  // namespace

PathResult fit_path(const Problem& problem, const PathOptions& options) { return PathFitter(problem, options).run(); }

}  // namespace ellzero
