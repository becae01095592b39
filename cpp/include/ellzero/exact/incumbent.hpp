// The best solution so far: as the solver of a node sees it, and as all threads share it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "ellzero/exact/options.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

// The size to which tolerances are relative: the objective, but the null model's loss where the objective is larger, or nothing
// beside it.
inline double size_of(double objective, double null) {
    constexpr double nothing = 1e-9;
    return std::abs(objective) > nothing * null ? std::min(std::abs(objective), null) : null;
}

class Incumbent {
  public:
    explicit Incumbent(double null) : null_(null) {}
    virtual ~Incumbent() = default;
    virtual double objective() const = 0;
    // Solutions up to this objective are looked for: those better than the best one, or all that are wanted.
    virtual double level() const { return objective(); }
    // Offers a solution, in the node's numbering of columns.
    virtual void offer(const Model& model) = 0;
    // The bytes of all dual points of the tree. Steps that make many of them stop when it has grown too large.
    virtual int64_t proof_bytes() const = 0;

    double size() const { return size_of(objective(), null_); }
    // A node whose bound is at least this is closed.
    double prune_at(double gap) const { return level() - gap * size(); }
    // Solutions above the cutoff are of no interest. It lies a little above the level, since objectives are known only up to
    // rounding.
    double cutoff() const { return level() + rounding * size(); }

  private:
    static constexpr double rounding = 1e-9;
    double null_;
};

// The best model of all threads, in the columns of X. It has a lock of its own, so it may be called with the search's lock held
// or not.
class BestModel {
  public:
    BestModel(const Model& model, const ExactOptions& options, Rules rules);

    double objective() const { return objective_.load(); }
    // See Wanted.
    double level() const { return wanted_.all ? level_.load() : objective(); }
    Model model() const;
    // Keeps the model if it is better, obeys the rules, and has at most k features that fit the budget.
    void offer(const Model& model);
    void replace(Model model);
    // Lowers the level to that of a support which is one of as many as are wanted.
    void lower_level(double objective);

    // Returns the model if it is not polished yet, and counts it as polished from now on. Solutions from outside are only as
    // precise as other algorithms need them: whoever takes one refits it and offers the result.
    std::optional<Model> take_unpolished();
    void set_polished() { polished_ = true; }

  private:
    void set(Model model);
    double with_equals(double level) const { return level + Wanted::equal * size_of(objective(), null_); }

    const double lambda_0_;
    const int64_t k_;
    const double budget_;
    const double null_;
    const Wanted wanted_;
    const Rules rules_;
    mutable std::mutex mutex_;
    Model model_;
    std::atomic<double> objective_, level_;
    std::atomic<bool> polished_{false};
};

}  // namespace ellzero
