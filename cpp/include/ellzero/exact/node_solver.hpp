// What happens at one node: relax, price, bound, tighten, round, and choose the feature to branch on.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ellzero/exact/region.hpp"
#include "ellzero/relaxation/relaxation.hpp"

namespace ellzero {

struct Node {
    int64_t id = 0;
    int depth = 0;
    double bound = -Penalty::infinity;
    std::shared_ptr<const State> state;  // of the parent
    Decision decision;
    bool dives = false;  // its children are taken before better ones
    // Its relaxation uses no fraction of a feature that may be branched on: it waits until there are more of them.
    bool waits = false;
};

struct ExactOptions {
    double lambda_0 = 0.0;
    int64_t k = 0;            // at most so many features; the number of columns if there is no limit
    double gap = 1e-4;        // relative
    double free_bound = 0.0;  // see Region
    SwapLimit swaps;
    std::vector<uint8_t> integral;  // a flag per column: only these are branched on; empty: all
    int strong_depth = 4;           // candidates of nodes above this depth are tried before one is chosen
};

// The best solution so far, shared by all threads.
class Incumbent {
  public:
    virtual ~Incumbent() = default;
    virtual double objective() const = 0;
    // A solution in the node's numbering of columns.
    virtual void offer(const Model& model) = 0;
    // What the tree's dual points take: what makes many of them stops in time.
    virtual int64_t proof_bytes() const = 0;
    double prune_at(double gap) const { return objective() - gap * std::abs(objective()); }
    // Solutions above are of no interest. A little above the incumbent, whose objective is only known up to rounding.
    double cutoff() const { return objective() + 1e-9 * std::abs(objective()); }
};

// A known good solution that must not be cut off; tests follow it through the tree.
struct Witness {
    Model model;
    double objective = 0.0;
};

struct WitnessLost : std::logic_error {
    using std::logic_error::logic_error;
};

class NodeSolver {
  public:
    NodeSolver(const Problem& problem, const ExactOptions& options, Incumbent& incumbent, const Witness* witness);

    struct Outcome {
        double bound = -Penalty::infinity;
        // Dual points: each one's bound, fixings and boxes hold for the next. None if the region was empty from the start.
        std::vector<std::vector<float>> proofs;
        std::shared_ptr<const State> state;  // for the children; null if the node is closed
        int32_t branch = -1;                 // -1 with a state: the node waits
        // Where one more feature is allowed, each of the free ones in turn: all the rest of the node.
        struct Leaf {
            int32_t column;  // in; -1: none of them
            std::vector<float> alpha;
            double bound;
        };
        std::vector<Leaf> leaves;
    };
    Outcome run(const Node& node);
    // What the node leaves behind, also if it was closed.
    std::shared_ptr<State> state_for_children();

    // The relaxation of a region of one's own choice, until its bound is `enough` or known well enough to be less.
    struct Relaxed {
        double bound = Penalty::infinity;  // infinite if the region is found empty
        DualPoint dual;
        std::shared_ptr<const State> state;  // with the shares
    };
    Relaxed relax(const State& state, double enough);

    // The minimum of G on a support, to nearly full precision.
    Model refit(const std::vector<int32_t>& support, const std::vector<double>& beta, double intercept);

    Region& region() { return region_; }
    int64_t take_newton_steps() { return std::exchange(relaxation_.newton_steps, 0) + std::exchange(other_.newton_steps, 0); }
    int64_t passes = 0;  // over the free columns

  private:
    // Smoothing of the hinge: wide enough for well-conditioned steps, since the method of multipliers does not need it to
    // vanish. Where precision is wanted it falls down to the least one.
    static constexpr double node_smoothing = 0.8, least_smoothing = 1e-4;
    static constexpr double precision = 1e-10;  // relative: closer no bound can be expected
    static constexpr int most_rounds = 200;

    void start(const State& state);
    void restart();
    void begin(const std::vector<Relaxation::Coordinate>& coordinates, double intercept, double mu);
    // Solves the relaxation until its bound is good enough for what follows: bound_, dual_ and v_.
    void bound_node(const Node& node);
    // Whether a relaxation's value is close enough to its bound: what is missing to a better bound counts.
    bool good_enough(double value, double bound, double wanted) const;
    // Solves a relaxation and prices its columns in turn, until its dual point proves `wanted` or its error is accepted. The
    // best dual point is returned, with v_ = X' theta.
    using Accurate = std::function<bool(double value, double bound)>;
    double prove(Relaxation& relaxation, double floor, const std::function<double()>& wanted, const Accurate& accurate,
                 DualPoint& best);
    // Fixes features with the bound, then with dual points made for that. False if nothing in the region is left.
    bool tighten(Outcome& out);
    bool fix_groups(Outcome& out);
    bool fix_group(std::span<const size_t> group, double discount, Outcome& out);
    void price(const std::vector<int32_t>& columns, const DualPoint& dual);
    // Free columns outside the relaxation that its solution violates most, and whether there were any.
    bool add_violators(const std::vector<int32_t>& columns, Relaxation& to);
    void choose_near(const Relaxation& relaxation);
    std::vector<int32_t> likely_columns(const Relaxation& relaxation) const;
    std::vector<int32_t> unheld_columns(const Relaxation& relaxation) const;
    double value_of(const Relaxation& relaxation) const;
    void round();
    int32_t leaf_of_witness() const;
    bool worth_enumerating() const;
    void enumerate(Outcome& out);
    int32_t choose_branch(const Node& node, double bound);
    bool may_branch_on(int32_t j) const { return options_.integral.empty() || options_.integral[j]; }
    void add_shares(State& state) const;
    double try_child(size_t place, bool in);
    void check_witness(const Node& node, bool lost, const char* what) const;
    bool hinge() const { return problem_.loss.kind == LossKind::hinge; }
    double most_shares(int64_t fewer = 0) const;

    const Problem& problem_;
    const ExactOptions& options_;
    Incumbent& incumbent_;
    const Witness* witness_;
    Region region_;
    Relaxation relaxation_, other_;
    double bound_ = 0.0;
    DualPoint dual_;
    std::vector<double> v_, values_;
    std::vector<uint8_t> working_;  // columns of the relaxation
    std::vector<int32_t> near_;
    std::vector<std::vector<int32_t>> tried_;  // supports that were rounded to lately
};

}  // namespace ellzero
