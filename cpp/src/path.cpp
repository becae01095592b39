#include "ellzero/path.hpp"

#include <algorithm>
#include <map>

namespace ellzero {
namespace {

// A feature must be able to enter: the next lambda_0 lies this far below the largest at which one does.
constexpr double just_below = 0.99;
// When the support did not change all the same, lambda_0 falls at least by this factor.
constexpr double largest_ratio = 0.8;
constexpr int most_merges = 6;
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
        const Model null = descent_.refit(it_);
        keep(null);
        if (options_.sweep) {
            forward(null);
            backward();
        } else {
            out_.lambda_0 = options_.lambda_0;
        }
        adopt_seeds();
        merge();
        if (options_.lambda_0.empty()) drop_repeats();
        out_.by_size = pool_.by_size();
        out_.reads = problem_.X.reads();
        return std::move(out_);
    }

  private:
    void keep(const Model& model) {
        if (model.counted <= options_.max_support) pool_.insert(model);
    }
    void report(double fraction, double lambda_0) { problem_.X.monitor().report(fraction, lambda_0, it_.counted); }

    void forward(Model current) {
        const bool dynamic = options_.lambda_0.empty();
        const auto points = dynamic ? static_cast<size_t>(options_.n_lambda) : options_.lambda_0.size();
        double lambda_0 = 0.0;
        for (size_t index = 0; index < points; ++index) {
            if (!dynamic) {
                lambda_0 = options_.lambda_0[index];
            } else if (index == 0) {
                lambda_0 = descent_.next_lambda_0(it_);
                if (lambda_0 > 0.0) current.enters_below = lambda_0;
            } else {
                const Model& before = forward_.size() > 1 ? forward_[forward_.size() - 2] : forward_.back();
                const bool stuck = forward_.size() > 1 && before.support == forward_.back().support;
                lambda_0 = std::min(just_below * descent_.next_lambda_0(it_), (stuck ? largest_ratio : just_below) * lambda_0);
                if (lambda_0 <= 0.0 || lambda_0 < options_.lambda_min_ratio * out_.lambda_0.front()) break;
            }
            if (!current.stands_at(lambda_0)) current = descent_.solve(it_, lambda_0, options_.max_support, Radius::likely);
            if (current.counted > options_.max_support) break;
            keep(current);
            out_.lambda_0.push_back(lambda_0);
            forward_.push_back(current);
            report(0.6 * static_cast<double>(index + 1) / static_cast<double>(points), lambda_0);
            if (dynamic && lambda_0 == 0.0) break;  // no column improves on the null model
        }
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

    void adopt_seeds() {
        for (const Model& seed : options_.seeds) {
            it_.load(seed);
            keep(descent_.refit(it_));
        }
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
                const double worth = 1e-10 * std::abs(found.objective(lambda_0));
                if (known[index] && held.objective(lambda_0) <= found.objective(lambda_0) + worth) continue;
                if (!(found.certain && found.stands_at(lambda_0))) {
                    it_.load(found);
                    found = descent_.solve(it_, lambda_0, options_.max_support, Radius::certain);
                    if (found.counted > options_.max_support) {
                        // The best model of an allowed size would grow: the path ends before this lambda_0.
                        out_.lambda_0.resize(index);
                        out_.models.resize(index);
                        break;
                    }
                    keep(found);
                }
                held = std::move(found);
                known[index] = changed = true;
            }
            report(0.6 + 0.4 * (round + 1.0) / most_merges, out_.lambda_0.empty() ? 0.0 : out_.lambda_0.back());
        }
    }

    // A dynamic grid is there to show different models: of neighbours with one support the first stays.
    void drop_repeats() {
        size_t kept = 0;
        for (size_t k = 0; k < out_.models.size(); ++k) {
            if (k > 0 && out_.models[k].support == out_.models[kept - 1].support) continue;
            out_.lambda_0[kept] = out_.lambda_0[k];
            if (kept != k) out_.models[kept] = std::move(out_.models[k]);
            ++kept;
        }
        out_.lambda_0.resize(kept);
        out_.models.resize(kept);
    }

    const Problem& problem_;
    const PathOptions& options_;
    Descent descent_;
    Iterate it_;
    Pool pool_;
    std::vector<Model> forward_;
    PathResult out_;
};

}  // namespace

PathResult fit_path(const Problem& problem, const PathOptions& options) { return PathFitter(problem, options).run(); }

}  // namespace ellzero
