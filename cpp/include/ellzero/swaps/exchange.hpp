// Local search at one size: features are exchanged while that lowers G. With as many features before and after, lambda_0
// cancels.
#pragma once

#include "ellzero/support/descent.hpp"
#include "ellzero/swaps/swap_model.hpp"

namespace ellzero {

// What swaps must leave alone: a column that stays outside, a feature that stays in.
struct Restraint {
    int32_t barred = -1, kept = -1;
};

// A column outside a model, and what G gains by it alone.
struct Entry {
    int32_t column;
    double gain;
};

class Exchange {
  public:
    explicit Exchange(const Problem& problem, double most_drift);

    // Swaps features of the model while that lowers G. Returns whether any swap did.
    bool improve(Model& model, const Restraint& restraint = {});
    // The model without its cheapest feature, or with the column that gains most; false if there is none, or if a refit cannot
    // get it below `target`.
    bool shrink(const Model& model, Model& out, double target = Penalty::infinity);
    bool grow(const Model& model, Model& out, double target = Penalty::infinity);
    // Tries the swaps in their order, each on what the last one left, until refits have refused so many. Returns whether any
    // lowered G.
    bool try_swaps(Model& model, const std::vector<Swap>& swaps, size_t refusals, const Restraint& restraint = {});

    // The columns that gain most by entering, and the swaps that promise most, best first.
    std::vector<Entry> steepest(const Model& model, size_t most);
    std::vector<Swap> ranked(const Model& model, size_t most);
    // The model with this column; with the steepest other column in place of this feature; with this column in place of the
    // cheapest other feature. All refitted; false if there is no such model.
    bool add(const Model& model, int32_t column, Model& out);
    bool replace(const Model& model, int32_t feature, Model& out);
    bool force(const Model& model, int32_t column, Model& out);
    // Refits so far: a measure of the work that does not depend on the clock.
    int64_t refits() const { return refits_; }

    SwapModel& swaps() { return swaps_; }
    const SwapModel& swaps() const { return swaps_; }

  private:
    Model refit(double target = Penalty::infinity);
    void read_slopes(const Model& model);

    const Problem& problem_;
    Descent descent_;
    SwapModel swaps_;
    Iterate it_;
    std::vector<double> slopes_;
    int64_t refits_ = 0;
};

}  // namespace ellzero
