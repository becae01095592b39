// The part of the solutions that a node stands for: which features are in, out or free, and the box of each coefficient. A dual
// point bounds the objective over it, and so fixes features and shrinks boxes.
#pragma once

#include <memory>
#include <vector>

#include "ellzero/exact/dual.hpp"
#include "ellzero/relaxation/envelope.hpp"

namespace ellzero {

// What a node leaves to its children: its region, as changes of the root's, and where their relaxations start.
struct State {
    struct Shrunk {
        int32_t column;
        float low, high;  // rounded outward
    };
    std::vector<int32_t> in;
    std::vector<uint64_t> out;  // a bit per column
    std::vector<Shrunk> boxes;

    std::vector<int32_t> columns;
    std::vector<double> beta;
    std::vector<float> shares;  // of the charge, of each of these columns; only of nodes that wait
    double intercept = 0.0, mu = 0.0;
    std::vector<float> alpha;   // the parent's dual point, for the hinge
    std::vector<int32_t> near;  // columns that may soon enter
};

// A feature of which the parent decided: column -1 is no decision.
struct Decision {
    int32_t column = -1;
    bool in = false;
};

// The solutions that a swap leads to from a support, the home: at most `size` of its features leave, at most `size` others
// come.
struct SwapLimit {
    std::vector<uint8_t> home;  // a flag per column; empty: all solutions
    int64_t homes = 0;          // features at home, those of them included that have no column any more
    int64_t size = 0;
};

class Region {
  public:
    // At most k features (k may exceed the columns), each at lambda_0, or those that swaps lead to. `free_bound` holds
    // unpenalized features that nothing else holds.
    Region(const Problem& problem, double lambda_0, int64_t k, double free_bound, const SwapLimit& swaps);

    enum class Status : uint8_t { free, in, out, always };

    // False if the region holds nothing better than `cutoff`.
    bool load(const State& state, Decision decision, double cutoff);
    void store(State& state) const;

    Status status(int32_t j) const { return status_[j]; }
    const Box& box(int32_t j) const { return box_[j]; }
    const std::vector<int32_t>& in() const { return in_; }
    const std::vector<int32_t>& free() const { return free_; }
    // Unpenalized features, and those of them that have neither a penalty nor bounds of their own.
    const std::vector<int32_t>& always() const { return always_; }
    const std::vector<int32_t>& unheld() const { return unheld_; }
    // Free features of the home of swaps: they are in unless they leave.
    const std::vector<int32_t>& home_free() const { return home_free_; }
    bool at_home(int32_t j) const { return !swaps_.home.empty() && swaps_.home[j]; }
    // How many other free features may still come in; may exceed the number of free ones.
    int64_t left() const { return left_; }
    bool limited() const { return left_ < std::ssize(free_) - std::ssize(home_free_); }

    // The lower bound of the objective over the region that theta proves; v_j = x_j . theta for all columns that are not out.
    double bound(const DualPoint& dual, const std::vector<double>& v) { return bound(dual, v, free_); }
    // The same as if the other free columns were out (an estimate from above, where they are not), with one more column in.
    double bound(const DualPoint& dual, const std::vector<double>& v, const std::vector<int32_t>& free, int32_t also_in = -1);
    // Of the last bound(): what a home feature gains by leaving, and what those gain that may leave.
    double gain_of_leaving(int32_t j) const { return lambda_0_ - gains_[j]; }
    bool best_leaves(int32_t j) const { return gain_of_leaving(j) > 0.0 && gain_of_leaving(j) >= leaving_.last; }
    double gain_of_swaps() const { return leaving_.total; }
    // Fixes features and shrinks boxes with the last bound(): what they lose is above the cutoff. False as in load().
    bool tighten(const std::vector<double>& v, double cutoff);
    // Whether a solution is in the region.
    bool contains(const Model& model) const;

    // Makes the present boxes those of the root, so that states need not repeat them.
    void keep_boxes() { root_ = box_; }
    const std::vector<Box>& boxes() const { return root_; }
    void set_boxes(const std::vector<Box>& boxes) { root_ = boxes; }

  private:
    // What numbers and penalties imply. False as in load().
    bool settle(double cutoff);
    void count();
    void shrink(int32_t j, double base, double cutoff, double v);
    double noise(int32_t j) const { return norms_[j] * dual_norm_; }

    const Problem& problem_;
    double lambda_0_;
    int64_t most_;  // features that come in
    const SwapLimit& swaps_;
    std::vector<Box> root_, box_;
    std::vector<double> norms_;  // of rounding errors in x_j . theta, per unit of the dual's norm
    std::vector<Status> status_;
    std::vector<int32_t> in_, free_, always_, unheld_, home_free_;
    int64_t left_ = 0, may_leave_ = 0;
    // The largest of some rewards, as many as there may be: their sum, the least of them, and the largest of the others.
    struct Chosen {
        double total = 0.0, last = 0.0, next = 0.0;
    };
    static Chosen choose(std::vector<double>& rewards, int64_t most);
    // of the last bound
    double value_ = 0.0, dual_norm_ = 0.0;
    Chosen coming_, leaving_;
    std::vector<double> gains_, rewards_, leavers_;
};

}  // namespace ellzero
