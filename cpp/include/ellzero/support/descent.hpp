// Algorithm 1 at one lambda_0: coordinate descent over a working set, Newton finish on the support, exact screening outside.
#pragma once

#include <optional>
#include <vector>

#include "ellzero/problem/problem.hpp"
#include "ellzero/support/line.hpp"
#include "ellzero/support/refit.hpp"
#include "ellzero/support/screening.hpp"

namespace ellzero {

class Descent {
  public:
    explicit Descent(const Problem& problem);

    // Descends from the iterate to a point that satisfies Theorem 1 at lambda_0 (surely so if the radius is certain). P never
    // rises. Stops early when more than max_support features are in.
    Model solve(Iterate& it, double lambda_0, int max_support, Radius radius);
    // Reads X once for models from which solve() will start, at most `foresight()` of them.
    void foresee(Iterate& it, const std::vector<const Model*>& models);
    size_t foresight() const { return screening_.foresight(); }
    // Minimises G on the iterate's support only; may give up, with the cost infinite, if that does not get below `target`.
    Model refit(Iterate& it, double target = Penalty::infinity);
    // The largest lambda_0 below which some column enters, by the exact one-dimensional gain of the best candidates.
    double next_lambda_0(Iterate& it);
    // Adds the column that gains most for its price; false if none gains.
    bool extend(Iterate& it);
    // Takes out the counted feature whose removal costs least for its price, other than the one to be kept; false if there is
    // none.
    bool shrink(Iterate& it, int32_t kept = -1);
    // Estimates of what the removal of each coordinate costs for its price; infinite if it is not counted, or to be kept.
    std::vector<double> removal_costs(const Iterate& it, int32_t kept = -1);
    // An amount of objective that is not worth a step.
    double negligible(const Iterate& it, double lambda_0) const;
    // Whether Theorem 1 holds: no coordinate step lowers its surrogate of P by more than the tolerance. Reads X once.
    bool stands(const Iterate& it, double lambda_0) const;

    // One cycle of Algorithm 1 over the listed columns; returns the largest surrogate decrease. `trace`, if given, receives
    // for every step that moved: the column, the step (a group's largest) and P after it.
    struct Step {
        int32_t column;
        double change, objective;
    };
    double cycle(Iterate& it, const std::vector<int32_t>& columns, double lambda_0, std::vector<Step>* trace = nullptr);

  private:
    struct Entry {
        int32_t column;
        double at, gain;  // the gain per price
    };
    // The step of a feature at the slopes of its columns: each to where its surrogate is least, or all to zero. Fills `to` and
    // returns the decrease of the surrogate.
    double step(int32_t head, const double* beta, const double* slopes, double lambda_0, double* to) const;
    void move(Iterate& it, int32_t head, const double* to) const;
    // Makes the residual that of eta after a step. Sparse columns change few rows, so only these are recomputed.
    void refresh_residual(Iterate& it, int32_t head, double& r_sum);
    // How many candidates are tried before one that has this head.
    int trials(int32_t head) const;
    // What a group of several columns gains along all of them and the intercepts; all others are held. Its columns enter at
    // zero.
    Line::Minimum group_gain(Iterate& it, int32_t head);
    // P, or a small part of the null model's cost where that is more: tolerances are relative to it.
    double size_of_objective(const Iterate& it, double lambda_0) const;
    Entry best_entry(Iterate& it);
    bool descend(Iterate& it, double lambda_0, double target = Penalty::infinity);
    bool drop(Iterate& it, double lambda_0, Model& current);
    // Takes the column out if that lowers P, with all others refitted; otherwise says what it costs, at least lambda_0, or
    // infinity if the refit was given up because it does not get below `target`.
    bool leave(Iterate& it, int32_t column, double lambda_0, double target, Model& current, double& cost);
    bool enter(Iterate& it, double lambda_0, Radius radius, Model& current);
    // What the feature gains with all others refitted, from a model that the iterate holds; the iterate stays as the refit left
    // it.
    double joint_gain(Iterate& it, int32_t head, double lambda_0, const Model& before);
    bool enter_jointly(Iterate& it, double lambda_0, const Screening::Result& found, Model& current);

    const Problem& problem_;
    Refit refit_, refit_beside_;
    std::optional<Iterate> beside_;  // a group that would enter
    Screening screening_;
    std::vector<Line> lines_;  // one per thread
    double null_cost_ = 0.0;
    std::vector<int32_t> rows_;
    std::vector<double> values_, r_, d_;
};

// A descent and the iterate that it moves. Both have vectors as long as X: searches of one problem that take turns share them.
struct Desk {
    explicit Desk(const Problem& problem) : descent(problem), it(problem) {}

    Descent descent;
    Iterate it;
};

}  // namespace ellzero
