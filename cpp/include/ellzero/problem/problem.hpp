// The problem of one fit and the two ways a solution is held: a Model (what is kept) and an Iterate (what is worked on).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ellzero/data/columns.hpp"
#include "ellzero/problem/groups.hpp"
#include "ellzero/problem/loss.hpp"
#include "ellzero/problem/penalty.hpp"
#include "ellzero/problem/rules.hpp"

namespace ellzero {

// L_hat_j = curvature_safety * L_j: Theorem 1 needs a factor above 1; the nearer to 1, the stricter the fixed points.
inline constexpr double curvature_safety = 1.001;

struct Problem {
    const Columns& X;
    Loss loss;  // the hinge at its final smoothing
    const double* y;
    const double* w;  // sums to one in each block of rows
    Penalty penalty;
    bool intercept;
    double tolerance;  // relative, on the objective
    // The label of the class beside which the other one weighs next to nothing; 0: no class is that heavy. An intercept makes
    // its dual points as small as that.
    double heavy = 0.0;
    Groups groups;
    Rules rules;

    int64_t rows() const { return X.rows(); }
    int64_t columns() const { return X.count(); }
    // Coordinates without a penalty: an intercept for each output, or none.
    int64_t constants() const { return intercept ? X.blocks() : 0; }
    // Whether columns come in groups: some steps are taken together then. For one column alone, members() is that column.
    bool grouped() const { return static_cast<bool>(groups); }
    // The group of a column, by its head, and the columns of a group.
    int32_t head(int32_t j) const { return groups.head(j); }
    bool is_head(int32_t j) const { return groups.head(j) == j; }
    Members members(int32_t head) const { return groups.members(head); }
    double coupling(int32_t j) const { return groups.coupling(j); }
    // L_hat_j: where the columns of a group move together, each of them has the group's coupling in it.
    double curvature(int32_t j) const { return curvature_safety * loss.curvature_bound() * X.square(j) * coupling(j); }
    // The loss whose curvature says something about finite steps: as smooth as the margin is wide for the hinge (whose own
    // curvature is 0 or 1/tau), the loss itself otherwise.
    Loss broad_loss() const { return loss.smoothed(1.0); }
    // The curvature by which entering columns are ranked: L_hat_j of the broad loss.
    double entry_curvature(int32_t j) const {
        return curvature_safety * broad_loss().curvature_bound() * X.square(j) * coupling(j);
    }
    // Penalty::entry_gain of a group whose columns leave zero together.
    double entry_gain(int32_t head, const double* slopes) const {
        double gain = 0.0;
        for (const int32_t j : members(head)) gain += penalty.entry_gain(slopes[j], entry_curvature(j), j);
        return gain;
    }
    // Whether any column of the group is not constant.
    bool varies(int32_t head) const {
        const Members all = members(head);
        return std::any_of(all.begin(), all.end(), [&](int32_t j) { return X.square(j) > 0.0; });
    }
};

struct Model {
    std::vector<int32_t> support;  // all columns of the groups that are in
    std::vector<double> beta;
    std::vector<double> intercept;  // of each output; all zero if it is empty
    double cost = 0.0;              // G: the loss (the true hinge) + lambda_1, lambda_2 terms
    int size = 0;                   // features (groups) that pay for coming in
    double spent = 0.0;             // their prices
    bool converged = true;
    // The model satisfies Theorem 1 for every lambda_0 in [enters_below, leaves_above]: below, a column enters; above, one
    // leaves. Nothing is known of a fresh model; what a likely screening found is not certain.
    double enters_below = Penalty::infinity;
    double leaves_above = Penalty::infinity;
    bool certain = false;
    bool searched = false;   // local search has found no better model of its size by ranked swaps
    bool swap_free = false;  // nor by the exact ones that were asked for

    double objective(double lambda_0) const { return cost + lambda_0 * spent; }
    bool stands_at(double lambda_0) const { return lambda_0 >= enters_below && lambda_0 <= leaves_above; }
};

// Puts features of a support back into a model fitted on it, if the rules ask for them and the fit made them zero: their
// coefficients are next to nothing. The model obeys afterwards if the support does, and each of these may differ from zero.
void put_back(const Problem& problem, const std::vector<int32_t>& support, Model& model);

class Iterate {
  public:
    explicit Iterate(const Problem& problem);

    std::vector<int32_t> support;
    std::vector<double> beta;
    std::vector<double> intercept;  // of each output
    std::vector<double> eta, r, d;
    double loss = 0.0;   // at the smoothing of the last evaluate()
    int size = 0;        // features (groups) that pay for coming in
    double spent = 0.0;  // their prices

    void load(const Model& model);
    Model model() const;
    // Becomes one group alone, at zero, beside all that another iterate has: its predictions and intercepts stay.
    void begin_beside(const Iterate& other, int32_t head);

    bool contains(int32_t j) const { return inside_[j]; }
    // Adds a group, each column with the value; removes the group of the column at a position.
    void add(int32_t head, double value);
    void remove(size_t position);
    // Drops counted groups whose coefficients are all exactly zero.
    void prune();

    // Recomputes eta from the coefficients: long sequences of steps leave rounding errors in it.
    void refresh();
    // Refreshes loss, r and d at eta.
    void evaluate(const Loss& loss_at);
    double penalty() const;
    double cost() const { return loss + penalty(); }
    // Loss (the true hinge) + penalty: what a Model reports.
    double true_cost() const;

  private:
    bool take_out(size_t position, int32_t head);
    double value(const Loss& loss_at, double* slopes, double* bends) const;

    // What was loaded last: a search comes back to its model after every trial that fails.
    struct Loaded {
        std::vector<int32_t> support;
        std::vector<double> beta, intercept, eta, r, d;
        double loss = 0.0;
    };

    const Problem& problem_;
    std::vector<uint8_t> inside_;
    Loaded last_;
    mutable std::vector<double> f_;  // the losses of the rows
};

}  // namespace ellzero
