// Step 2 of Algorithm 2 with m = 1, exactly: one feature leaves, or one is exchanged for a column outside, or one enters; the
// new coordinate moves to its minimum, and the intercept with it; all others are held. Where nothing is found among all
// columns, Theorem 2 holds, whatever a swap does to the intercept.
#pragma once

#include <optional>
#include <vector>

#include "ellzero/support/line.hpp"

namespace ellzero {

struct Move {
    int position = -1;    // in the iterate's support: what leaves, -1 if nothing does
    int32_t column = -1;  // what enters, -1 if nothing does
    double at = 0.0;
    double shift = 0.0;  // of the intercept
    double gain = 0.0;   // of G; negative if the move costs
};

class Neighbourhood {
  public:
    // For each feature that leaves, the `candidates` columns with the largest gradients may take its place (Algorithm 3); all
    // of them if that is p or more. `first`: the first feature that has an improving swap decides, instead of the best of all.
    Neighbourhood(const Problem& problem, int64_t candidates, bool first);

    // The swap that lowers G + lambda_0 C by more than `worth`, where C is the sum of the prices, and that is its gain; without
    // a column if there is none.
    Move find_swap(const Iterate& it, double lambda_0, double worth);
    // The removal that costs least for its price, and the addition that gains most for its price: that is their gain.
    Move cheapest_removal(const Iterate& it);
    Move best_addition(const Iterate& it);

  private:
    // What a column's gain is worth: less lambda_0 times its price, or per price where lambda_0 is not known.
    struct Worth {
        const Penalty& penalty;
        std::optional<double> lambda_0;
        double of(double gain, int32_t j) const;
        double needed(double worth, int32_t j) const;  // the gain that is worth so much
    };
    // The best column to enter at eta if it is worth more than `needed`.
    Move best_entry(const Iterate& it, const double* eta, const double* slopes, double needed, const Worth& worth);
    // The move that takes a feature out; eta becomes that without it.
    Move removal(const Iterate& it, size_t position, std::vector<double>& eta);

    const Problem& problem_;
    const int64_t candidates_;
    const bool first_;
    std::vector<Line> lines_;  // one per thread
};

}  // namespace ellzero
