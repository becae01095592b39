// The node in work, as it changes: its region, its relaxation and the best dual point so far.
#pragma once

#include <memory>
#include <vector>

#include "ellzero/exact/dual.hpp"
#include "ellzero/exact/node_setting.hpp"
#include "ellzero/exact/region.hpp"
#include "ellzero/exact/working_set.hpp"
#include "ellzero/relaxation/relaxation.hpp"

namespace ellzero {

// A dual point, and the bound over a region that it proves.
struct Proof {
    double bound = -Penalty::infinity;
    DualPoint dual;
};

class NodeWork {
  public:
    explicit NodeWork(const NodeSetting& setting);

    Region region;
    Relaxation relaxation;  // of the region
    WorkingSet working;     // of this relaxation
    Proof proof;            // the best one so far
    // A second relaxation, for the small problems of a node: refits, groups, children, leaves. Each begins it anew; all share
    // the curvatures that it keeps.
    Relaxation aside;

    // Forgets earlier nodes, so that what comes does not depend on them.
    void forget();
    // Begins the relaxation of the region where the parent's ended.
    void start(const State& state);
    // Begins the relaxation of the region as it is now, from the solution of what it was.
    void restart();
    // The relaxation's coordinates and charges for the region as it is now.
    std::vector<Relaxation::Coordinate> coordinates() const;
    Charges charges() const;
    // A child as its relaxation would begin, on the working set alone; `paid` are the prices of what is in, beside the charges.
    struct Child {
        std::vector<Relaxation::Coordinate> coordinates;
        Charges charges;
        double paid = 0.0;
    };
    Child child(const Decision& decision) const;
    // Begins `aside`, with the hinge smoothed around the node's dual point.
    void begin_aside(std::vector<Relaxation::Coordinate> coordinates, Charges charges);

    // The state that the node leaves to its children.
    std::shared_ptr<State> leave() const;
    // leave(), with the shares of its columns: 1 for a feature that is in, or that stays at home.
    std::shared_ptr<State> leave_with_shares() const;

  private:
    // Begins the relaxation at this point; `charges` are those of clauses as they were.
    void begin(const std::vector<Relaxation::Coordinate>& from, const std::vector<double>& intercept, double mu,
               const ColumnLists& clauses, const std::vector<double>& charges);

    const NodeSetting& setting_;
    ColumnLists clauses_;  // of the relaxation
};

}  // namespace ellzero
