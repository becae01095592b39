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
    Proof proof;            // what it proves
    // For the questions that come up beside: refits, groups, children, leaves. Each begins it anew; all share the curvatures
    // that it keeps.
    Relaxation aside;

    // Nothing that comes depends on earlier nodes.
    void forget();
    // The relaxation of the region, from where the parent ended.
    void start(const State& state);
    // The relaxation of the region as it is now, from the solution of what it was.
    void restart();
    // Begins the relaxation beside; the hinge is smoothed around the dual point.
    void begin_aside(std::vector<Relaxation::Coordinate> coordinates, double lambda_0, double mu, double most);

    // What the node leaves to its children.
    std::shared_ptr<State> leave() const;
    // With the shares of its columns: a feature that is in has one, so has one that stays at home.
    std::shared_ptr<State> leave_with_shares() const;

  private:
    void begin(const std::vector<Relaxation::Coordinate>& from, double intercept, double mu);

    const NodeSetting& setting_;
};

}  // namespace ellzero
