// The part of the solutions that a node stands for: which features are in, out or undecided, and the box of each coefficient.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/node.hpp"
#include "ellzero/exact/options.hpp"
#include "ellzero/problem/problem.hpp"
#include "ellzero/relaxation/envelope.hpp"

namespace ellzero {

class RegionBound;

class Region {
  public:
    // Solutions with at most options.k counted features (k may exceed the number of columns), or those that options.swaps lead
    // to.
    Region(const Problem& problem, const ExactOptions& options);

    // An unpenalized feature is always in, and pays no lambda_0.
    enum class Status : uint8_t { undecided, in, out, always };

    // Sets the region of a child. False if it holds nothing better than `cutoff`.
    bool load(const State& state, Decision decision, double cutoff);
    void store(State& state) const;

    Status status(int32_t j) const { return status_[j]; }
    bool undecided(int32_t j) const { return status_[j] == Status::undecided; }
    const Box& box(int32_t j) const { return box_[j]; }
    const std::vector<int32_t>& in() const { return in_; }
    const std::vector<int32_t>& undecided() const { return undecided_; }
    // Unpenalized features, and those of them that are free: neither a penalty nor bounds of their own hold them.
    const std::vector<int32_t>& always() const { return always_; }
    const std::vector<int32_t>& free() const { return free_; }
    // Undecided features of the home of swaps: they are in unless they leave.
    const std::vector<int32_t>& home_undecided() const { return home_undecided_; }
    bool at_home(int32_t j) const { return swaps_.at_home(j); }
    // The number of undecided features outside the home that may still come in; it may exceed those that there are.
    int64_t left() const { return left_; }
    // The number of undecided features at home that may still leave.
    int64_t may_leave() const { return may_leave_; }
    bool limited() const { return left_ < std::ssize(undecided_) - std::ssize(home_undecided_); }
    // The limit on a relaxation's sum of shares, if `fewer` of the features left have come in; infinite if there is none.
    double most_shares(int64_t fewer = 0) const { return limited() ? static_cast<double>(left_ - fewer) : Penalty::infinity; }
    double lambda_0() const { return lambda_0_; }

    // Fixes features and shrinks boxes where a dual point with slopes v proves that the rest is above the cutoff. False as in
    // load().
    bool tighten(const RegionBound& proved, const std::vector<double>& v, double cutoff);
    // Whether a solution is in the region.
    bool contains(const Model& model) const;

    // Makes the present boxes those of the root, so that states need not repeat them.
    void keep_boxes() { root_ = box_; }
    const std::vector<Box>& boxes() const { return root_; }
    void set_boxes(const std::vector<Box>& boxes) { root_ = boxes; }

  private:
    // Fixes features and shrinks boxes by what the limits on their number and the penalties imply. False as in load().
    bool settle(double cutoff);
    // A power of two next to the size of column j: in this unit boxes of any size are numbers of single precision.
    double unit(int32_t j) const;
    void count();
    void cap(int32_t j, double most);

    const Problem& problem_;
    const SwapNeighbourhood& swaps_;
    double lambda_0_;
    int64_t most_;  // features that may come in
    std::vector<Box> root_, box_;
    std::vector<Status> status_;
    std::vector<int32_t> in_, undecided_, always_, free_, home_undecided_;
    int64_t left_ = 0, may_leave_ = 0;
};

}  // namespace ellzero
