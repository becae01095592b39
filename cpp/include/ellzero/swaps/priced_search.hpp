// Local search where features have different prices: what counts is G + lambda_0 C under a budget for C (see Terms).
//
// Models of one size are not comparable then, so a search belongs to terms instead of a size. A feature may be exchanged for
// one that costs more or less, and what is left of the budget is spent again: by the best column that fits.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/problem/pool.hpp"
#include "ellzero/support/descent.hpp"
#include "ellzero/swaps/exchange.hpp"
#include "ellzero/swaps/local_search.hpp"

namespace ellzero {

class PricedSearch {
  public:
    // Models that are seen go into the pool. None has more than `most` features. A thorough search also exchanges one feature
    // for several, and several for one.
    PricedSearch(const Problem& problem, Pool& pool, int most, Effort effort);

    // Takes out features that cost more than they gain, and lets columns in that gain more than they cost, while they fit.
    void settle(Model& model, const Terms& terms);
    // Exchanges features until nothing improves the model.
    void improve(Model& model, const Terms& terms);

  private:
    // A column that `barred` is stays outside, a feature that `kept` is stays in.
    Model settled(Model model, const Terms& terms, const Restraint& restraint = {});
    bool drop(Model& model, const Terms& terms, const Restraint& restraint);
    bool fill(Model& model, const Terms& terms, const Restraint& restraint);
    // The column to let in next, -1 if none fits and pays.
    int32_t best_that_fits(const Model& model, const Terms& terms, const Restraint& restraint) const;
    bool swap(Model& model, const Terms& terms);
    // Exchanges of one feature for several, and of several for one.
    bool exchange_unequally(Model& model, const Terms& terms);
    bool accept(Model& model, Model trial, const Terms& terms);
    void read_slopes(const Model& model);
    Model refit();

    const Problem& problem_;
    Pool& pool_;
    const int most_;
    const Effort effort_;
    Descent descent_;
    SwapModel swaps_;
    Iterate it_;
    std::vector<double> slopes_;
};

}  // namespace ellzero
