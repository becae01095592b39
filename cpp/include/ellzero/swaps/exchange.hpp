// Local search at one size: features are exchanged while that lowers G. With as many features before and after, lambda_0
// cancels.
#pragma once

#include "ellzero/support/descent.hpp"
#include "ellzero/swaps/swap_model.hpp"

namespace ellzero {

class Exchange {
  public:
    explicit Exchange(const Problem& problem, double most_drift);

    // Swaps features of the model while that lowers G. Returns whether any swap did.
    bool improve(Model& model);
    // The model without its cheapest feature, or with the column that gains most; false if there is none.
    bool shrink(const Model& model, Model& out);
    bool grow(const Model& model, Model& out);
    // Tries the swaps in their order, each on what the last one left, until refits have refused so many. Returns whether any
    // lowered G.
    bool try_swaps(Model& model, const std::vector<Swap>& swaps, size_t refusals);
    SwapModel& swaps() { return swaps_; }
    const SwapModel& swaps() const { return swaps_; }

  private:
    const Problem& problem_;
    Descent descent_;
    SwapModel swaps_;
    Iterate it_;
    std::vector<double> slopes_;
};

}  // namespace ellzero
