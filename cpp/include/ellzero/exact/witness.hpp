// The debug witness: a known good solution that must not be cut off. Tests follow it through the tree.
#pragma once

#include <stdexcept>

#include "ellzero/exact/incumbent.hpp"
#include "ellzero/exact/node.hpp"
#include "ellzero/exact/region.hpp"

namespace ellzero {

struct Witness {
    Model model;
    double objective = 0.0;
};

struct WitnessLost : std::logic_error {
    using std::logic_error::logic_error;
};

// Follows the witness through one node. Without a witness, or at a node that does not hold it, all checks pass.
class WitnessWatch {
  public:
    // Loads the node's region to see whether the witness is in it.
    WitnessWatch(const Witness* witness, const Incumbent& incumbent, const Node& node, Region& region);

    // Throw WitnessLost if the node lost the witness, its region does not hold it any more, or a bound is above its objective;
    // but not if the incumbent is as good.
    void check_lost(bool lost, const char* what) const;
    void check_region(const Region& region, const char* what) const;
    void check_bound(double bound, const char* what) const;
    // Checks the bound of the leaf of this column (-1: of none). The witness is in the leaf of its one undecided feature.
    void check_leaf(const Region& region, int32_t column, double bound) const;

  private:
    const Witness* witness_;  // null if it is not to be followed here
    const Incumbent& incumbent_;
    int64_t node_;
};

}  // namespace ellzero
