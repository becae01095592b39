// Makes sure of what a path returns: Theorem 1 for certain and, where they are asked for, exact single moves (Step 2 of
// Algorithm 2).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ellzero/path/path_work.hpp"
#include "ellzero/swaps/neighbourhood.hpp"

namespace ellzero {

class Confirmation : PathStep {
  public:
    explicit Confirmation(PathWork& work);

    // The model itself if it stands at lambda_0 for certain, else what a descent from it finds. That may exceed max_support; at
    // the first point of a path, exact moves do not lead there.
    Model certified(Model model, double lambda_0, bool is_first);
    // Models that are about to be certified, each at its lambda_0. X is read for as many of them as one read serves, from
    // `start` on; returns where these end.
    using Ahead = std::vector<std::pair<const Model*, double>>;
    size_t foresee(const Ahead& ahead, size_t start);
    // Exact swaps of the wanted sizes, where they are asked for.
    void exchange_at_sizes();

  private:
    void make(const Move& move);
    Move find_move(Model& model, double lambda_0);
    void settle(Model& model, double lambda_0, double leaves_above, double enters_below);

    std::unique_ptr<Neighbourhood> neighbourhood_;  // for q_best and exhaustive search
};

}  // namespace ellzero
