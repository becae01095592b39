// Local search by exchanges: features of a model are swapped for others while that lowers its objective (see Terms). At one
// size lambda_0 cancels, and G alone counts. Where features have different prices, one may be exchanged for another that costs
// more or less, and what is left of a budget is spent again: by the best column that fits.
//
// Where features have rules, every change brings with it what the rules ask for: partners come, rivals leave.
#pragma once

#include <initializer_list>

#include "ellzero/problem/pool.hpp"
#include "ellzero/support/descent.hpp"
#include "ellzero/swaps/swap_model.hpp"

namespace ellzero {

// What a search must leave alone: a column that stays outside, a feature that stays in.
struct Restraint {
    int32_t barred = -1, kept = -1;
};

// A column outside a model, and what G gains by it; the features that the model grows by, and their prices. With rules, all
// that comes and leaves with the column counts.
struct Entry {
    int32_t column;
    double gain;
    int size;
    double price;
};

class Exchange {
  public:
    // All models that a search meets go into the pool, if one is given. With a sample of the rows, swaps are ranked by slopes
    // of all rows and curvatures of the sample. The desk is its own if none is lent.
    Exchange(const Problem& problem, double most_drift, Pool* seen = nullptr, const Problem* sample = nullptr,
             Desk* lent = nullptr);

    // Settles the model and improves it until no exchange does: of one feature for another or, thorough, of one for several and
    // of several for one.
    void search(Model& model, const Terms& terms, bool thorough);
    // Swaps features of the model while that lowers the objective. Returns whether any swap did.
    bool improve(Model& model, const Terms& terms, const Restraint& restraint = {});
    // Tries the swaps in their order, each on what the last one left, until refits have refused so many. Returns whether any
    // lowered the objective.
    bool try_swaps(Model& model, const std::vector<Swap>& swaps, size_t refusals, const Terms& terms,
                   const Restraint& restraint = {});
    // Takes out features that cost more than they gain, and lets columns in that gain more than they cost, while they fit.
    Model settled(Model model, const Terms& terms, const Restraint& restraint = {});
    // The model without this feature, which is barred, and with this column, which is kept; both settled.
    Model without(const Model& model, int32_t feature, const Terms& terms);
    Model with(const Model& model, int32_t column, const Terms& terms);

    // The model without its cheapest feature, with the column that gains most, or with this column, refitted; its cost is
    // infinite if there is none, or if a refit cannot get it below `target`.
    Model shrunk(const Model& model, double target);
    Model grown(const Model& model, double target);
    Model added(const Model& model, int32_t column);

    // The columns that gain most by entering, and the swaps that promise most, best first.
    std::vector<Entry> steepest(const Model& model, size_t most, double dearest = Penalty::infinity);
    std::vector<Swap> ranked(const Model& model, size_t most, const Terms& terms);
    // Features of the model that may leave, by their heads.
    std::vector<int32_t> removable(const Model& model) const;
    // Refits so far: a measure of the work that does not depend on the clock.
    int64_t refits() const { return refits_; }

    SwapModel& swaps() { return swaps_; }
    const SwapModel& swaps() const { return swaps_; }

  private:
    Model refit(double target = Penalty::infinity);
    Model on_sample(Model model) const;
    void read_slopes(const Model& model);
    // Lets features of the iterate leave and others come, at zero, and with them what the rules ask for. False, and nothing is
    // changed, if no support that obeys was found; features of -1 count for nothing.
    bool change(std::initializer_list<int32_t> come, std::initializer_list<int32_t> leave);
    // Takes out the feature, and what must leave with it, that costs least for its price; false if there is none.
    bool shrink(const Restraint& restraint);
    bool extend(const Model& model);
    std::vector<int32_t> heads() const;
    // What G gains by each feature outside the iterate, and loses by each inside.
    double worth(int32_t feature);
    // The columns of the entries that gain most, with all that comes and leaves with them; of others nothing is known.
    std::vector<Entry> closed_entries(const std::vector<Entry>& alone, double dearest);
    // Makes the trial the model if the terms allow it and it is better; whether it did.
    bool accept(Model& model, Model trial, const Terms& terms);
    // All columns that gain by entering and do not cost more than that.
    std::vector<Entry> entries(const Model& model, double dearest);
    bool exchange_unequally(Model& model, const Terms& terms);
    bool drop(Model& model, const Terms& terms, const Restraint& restraint);
    bool fill(Model& model, const Terms& terms, const Restraint& restraint);
    // The column to let in next, -1 if none fits and pays.
    int32_t best_that_fits(const Model& model, const Terms& terms, const Restraint& restraint);

    const Problem& problem_;
    Pool* seen_;
    const Problem* sample_;
    std::unique_ptr<Desk> own_;
    Descent& descent_;
    Iterate& it_;
    SwapModel swaps_;
    std::unique_ptr<Iterate> sampled_;  // on the rows of the sample
    std::vector<double> slopes_;
    std::vector<double> worth_;         // with rules: by feature,
    std::vector<int32_t> worth_where_;  // of the iterate with this support
    int64_t refits_ = 0;
};

}  // namespace ellzero
