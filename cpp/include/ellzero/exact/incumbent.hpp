// The best solution so far: as the solver of a node sees it, and as all threads share it.
#pragma once

#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "ellzero/exact/options.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

// The size to which tolerances are relative: the objective, or the null model's loss where the objective is nothing beside it.
inline double size_of(double objective, double null) {
    constexpr double nothing = 1e-9;
    return std::abs(objective) > nothing * null ? std::abs(objective) : null;
}

// A node whose bound is at least this is closed.
inline double pruning_level(double objective, double gap, double null) { return objective - gap * size_of(objective, null); }

class Incumbent {
  public:
    explicit Incumbent(double null) : null_(null) {}
    virtual ~Incumbent() = default;
    virtual double objective() const = 0;
    // Offers a solution, in the node's numbering of columns.
    virtual void offer(const Model& model) = 0;
    // The bytes of all dual points of the tree. Steps that make many of them stop when it has grown too large.
    virtual int64_t proof_bytes() const = 0;

    double size() const { return size_of(objective(), null_); }
    double prune_at(double gap) const { return pruning_level(objective(), gap, null_); }
    // Solutions above the cutoff are of no interest. It lies a little above the incumbent, whose objective is known only up to
    // rounding.
    double cutoff() const { return objective() + rounding * size(); }

  private:
    static constexpr double rounding = 1e-9;
    double null_;
};

// The best model of all threads, in the columns of X. It has a lock of its own, so it may be called with the search's lock held
// or not.
class BestModel {
  public:
    BestModel(const Model& model, const ExactOptions& options)
        : lambda_0_(options.lambda_0),
          k_(options.k),
          budget_(options.budget ? *options.budget * (1.0 + rounding_of_prices) : Penalty::infinity),
          model_(model),
          objective_(model.objective(lambda_0_)) {}

    double objective() const { return objective_.load(); }
    Model model() const;
    // Keeps the model if it is better, and has at most k features that fit the budget.
    void offer(const Model& model);
    void replace(Model model);

    // Returns the model if it is not polished yet, and counts it as polished from now on. Solutions from outside are only as
    // precise as other algorithms need them: whoever takes one refits it and offers the result.
    std::optional<Model> take_unpolished();
    void set_polished() { polished_ = true; }

  private:
    static constexpr double rounding_of_prices = 5e-13;
    const double lambda_0_;
    const int64_t k_;
    const double budget_;
    mutable std::mutex mutex_;
    Model model_;
    std::atomic<double> objective_;
    std::atomic<bool> polished_{false};
};

}  // namespace ellzero
