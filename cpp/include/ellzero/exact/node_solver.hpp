// The work at one node: relax and bound it, round, fix features, and choose the feature to branch on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ellzero/exact/branching.hpp"
#include "ellzero/exact/fixing.hpp"
#include "ellzero/exact/gram_node.hpp"
#include "ellzero/exact/last_feature.hpp"
#include "ellzero/exact/node.hpp"
#include "ellzero/exact/node_setting.hpp"
#include "ellzero/exact/node_work.hpp"
#include "ellzero/exact/pricing.hpp"
#include "ellzero/exact/probing.hpp"
#include "ellzero/exact/rounding.hpp"
#include "ellzero/exact/witness.hpp"

namespace ellzero {

class NodeSolver {
  public:
    NodeSolver(const Problem& problem, const ExactOptions& options, Incumbent& incumbent, const Witness* witness);
    NodeSolver(const NodeSolver&) = delete;
    NodeSolver& operator=(const NodeSolver&) = delete;

    // closed: the node holds nothing better, or its leaves cover it. waits: none of its features may be branched on yet.
    enum class Ending { closed, waits, branches };
    struct Outcome {
        Ending ending = Ending::closed;
        double bound = -Penalty::infinity;
        // Dual points in their order: the bound, the fixed features and the boxes of each hold for the next. None if the region
        // was empty from the start.
        std::vector<KeptPoint> proofs;
        std::vector<Leaf> leaves;
        std::shared_ptr<Diagonal> diagonal;               // if the node made one
        std::vector<std::shared_ptr<Families>> families;  // that it made
        bool enumerated = false;                          // its last features are enumerated, after all proofs
        std::shared_ptr<const State> state;               // for the children; null if the node is closed
        std::vector<int32_t> branch;                      // the block, if it branches
        // The support of a closed node that is wanted; others of its region, if there are any, gain nothing.
        std::optional<Found> found;
    };
    Outcome run(const Node& node);
    // The state that the last node left, also if it was closed.
    std::shared_ptr<State> state_for_children() const { return gram_ ? gram_->leave() : work_.leave(); }

    // Solves the relaxation of a given region until its bound reaches `enough`, or is known well enough to stay below.
    struct Relaxed {
        double bound = Penalty::infinity;  // infinite if the region is found empty
        DualPoint dual;
        std::shared_ptr<const State> state;  // with the shares
    };
    Relaxed relax(const State& state, double enough);

    Model refit(const std::vector<int32_t>& support, const std::vector<double>& beta, const std::vector<double>& intercept) {
        return rounding_.refit(support, beta, intercept);
    }

    Region& region() { return work_.region; }
    // Counts since the last call, for profiles.
    int64_t take_passes() { return std::exchange(pricing_.passes, 0) + branching_.take_passes(); }
    int64_t take_newton_steps() {
        return std::exchange(work_.relaxation.newton_steps, 0) + std::exchange(work_.aside.newton_steps, 0);
    }

  private:
    Outcome run_gram(const Node& node, const WitnessWatch& watch);
    // Returns whether the node is still open.
    bool bound_and_fix(const Node& node, const WitnessWatch& watch, Outcome& out);
    // Finds the support that the features decide, or to which the undecided ones add nothing. Returns whether the node is done.
    bool collect(Outcome& out);
    bool uses_undecided() const;
    Pricing::Goal goal_at(const Node& node) const;
    bool worth_solving_again(int64_t undecided_before, double objective_before) const;

    const NodeSetting setting_;
    const Witness* witness_;
    NodeWork work_;
    Pricing pricing_;
    Fixing fixing_;
    Probing probing_;
    Rounding rounding_;
    LastFeature last_feature_;
    Branching branching_;
    std::unique_ptr<GramNode> gram_;  // if nodes are solved with the normal equations
};

}  // namespace ellzero
