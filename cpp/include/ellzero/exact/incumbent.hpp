// The best solution so far: as the solver of a node sees it, and as all threads share it.
#pragma once

#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

// objective - gap |objective|: a node whose bound is at least this is closed.
inline double pruning_level(double objective, double gap) { return objective - gap * std::abs(objective); }

class Incumbent {
  public:
    virtual ~Incumbent() = default;
    virtual double objective() const = 0;
    // Offers a solution, in the node's numbering of columns.
    virtual void offer(const Model& model) = 0;
    // The bytes of all dual points of the tree. Steps that make many of them stop when it has grown too large.
    virtual int64_t proof_bytes() const = 0;

    // |objective|, to which tolerances are relative.
    double size() const { return std::abs(objective()); }
    double prune_at(double gap) const { return pruning_level(objective(), gap); }
    // Solutions above the cutoff are of no interest. It lies a little above the incumbent, whose objective is known only up to
    // rounding.
    double cutoff() const { return objective() + rounding * std::abs(objective()); }

  private:
    static constexpr double rounding = 1e-9;
};

// The best model of all threads, in the columns of X. It has a lock of its own, so it may be called with the search's lock held
// or not.
class BestModel {
  public:
    BestModel(const Model& model, double lambda_0, int64_t k)
        : lambda_0_(lambda_0), k_(k), model_(model), objective_(model.objective(lambda_0)) {}

    double objective() const { return objective_.load(); }
    Model model() const;
    // Keeps the model if it is better and has at most k features.
    void offer(const Model& model);
    void replace(Model model);

    // Returns the model if it is not polished yet, and counts it as polished from now on. Solutions from outside are only as
    // precise as other algorithms need them: whoever takes one refits it and offers the result.
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
