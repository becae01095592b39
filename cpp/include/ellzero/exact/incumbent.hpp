// The best solution so far: as the solver of a node sees it, and as all threads share it.
#pragma once

#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

// A bound of at least this much closes a node.
inline double pruning_level(double objective, double gap) { return objective - gap * std::abs(objective); }

class Incumbent {
  public:
    virtual ~Incumbent() = default;
    virtual double objective() const = 0;
    // A solution in the node's numbering of columns.
    virtual void offer(const Model& model) = 0;
    // The bytes of all dual points of the tree: steps that make many of them stop in time.
    virtual int64_t proof_bytes() const = 0;

    // The size of the objective, to which tolerances are relative.
    double size() const { return std::abs(objective()); }
    double prune_at(double gap) const { return pruning_level(objective(), gap); }
    // Solutions above are of no interest. A little above the incumbent, whose objective is only known up to rounding.
    double cutoff() const { return objective() + rounding * std::abs(objective()); }

  private:
    static constexpr double rounding = 1e-9;
};

// The best model of all threads, in the columns of X. It has a lock of its own: whoever holds the search's may call it.
class BestModel {
  public:
    BestModel(const Model& model, double lambda_0, int64_t k)
        : lambda_0_(lambda_0), k_(k), model_(model), objective_(model.objective(lambda_0)) {}

    double objective() const { return objective_.load(); }
    Model model() const;
    // Keeps the model if it is better and has at most k features.
    void offer(const Model& model);
    void replace(Model model);

    // The model if nobody has taken it here since it was offered. Solutions from outside are as precise as other algorithms
    // need them: who takes one refits it and offers the result, which then counts as polished.
    std::optional<Model> take_unpolished();
    void set_polished() { polished_ = true; }

  private:
    const double lambda_0_;
    const int64_t k_;
    mutable std::mutex mutex_;
    Model model_;
    std::atomic<double> objective_;
    std::atomic<bool> polished_{false};
};

}  // namespace ellzero
