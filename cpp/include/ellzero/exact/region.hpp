// The part of the solutions that a node stands for: which features are in, out or undecided, the clauses that say of which at
// least one is in, and the box of each coefficient.
//
// A feature is a group of columns, most often of one. It is decided as a whole, and known by its head: lists of features are
// lists of heads. Boxes belong to columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ellzero/exact/diagonal.hpp"
#include "ellzero/exact/node.hpp"
#include "ellzero/exact/options.hpp"
#include "ellzero/problem/problem.hpp"
#include "ellzero/relaxation/charges.hpp"
#include "ellzero/relaxation/envelope.hpp"

namespace ellzero {

class RegionBound;

class Region {
  public:
    // Solutions with at most options.k counted features (k may exceed the number of columns), or whose prices sum to at most
    // options.budget, or those that options.swaps lead to.
    Region(const Problem& problem, const ExactOptions& options);

    // An unpenalized feature is always in, and pays nothing.
    enum class Status : uint8_t { undecided, in, out, always };

    // Sets the region of a child. False if it holds nothing better than `cutoff`.
    bool load(const State& state, const Decision& decision, double cutoff);
    void store(State& state) const;

    int32_t head(int32_t j) const { return problem_.head(j); }
    // Of the feature that a column belongs to.
    Status status(int32_t j) const { return status_[problem_.head(j)]; }
    bool undecided(int32_t j) const { return status(j) == Status::undecided; }
    const Box& box(int32_t j) const { return box_[j]; }
    // The diagonal that bounds of this region use, null if there is none; what it moves, and the cost of a coefficient then.
    const std::shared_ptr<const Diagonal>& diagonal() const { return diagonal_; }
    double moved(int32_t j) const { return moved_[j]; }
    Cost cost(int32_t j) const { return {problem_.penalty, 0.5 * moved_[j]}; }
    // Makes a new diagonal where so many columns are out that more curvature can be moved. Returns it, null if there is none.
    std::shared_ptr<Diagonal> renew_diagonal(bool root);
    // The columns of features.
    std::vector<int32_t> columns_of(const std::vector<int32_t>& features) const;
    const std::vector<int32_t>& in() const { return in_; }
    const std::vector<int32_t>& undecided() const { return undecided_; }
    // Clauses of two undecided features or more: at least one of each is in. They are disjoint.
    const std::vector<std::vector<int32_t>>& clauses() const { return clauses_; }
    // The clause of a feature, or -1.
    int32_t clause_of(int32_t j) const { return clause_of_[j]; }
    // The group of charges that a column pays in a relaxation (see Charges). Features at home are taken to stay, and pay none:
    // the gain of those that leave is counted in the bound.
    int32_t group(int32_t j) const {
        const int32_t head = problem_.head(j);
        if (!undecided(head) || at_home(head)) return Charges::paid;
        return clause_of_[head] < 0 ? Charges::pool : Charges::first_clause + clause_of_[head];
    }
    // Columns of unpenalized features, and those of them that are free: neither a penalty nor bounds of their own hold them.
    const std::vector<int32_t>& always() const { return always_; }
    const std::vector<int32_t>& free() const { return free_; }
    // Undecided features of the home of swaps: they are in unless they leave.
    const std::vector<int32_t>& home_undecided() const { return home_undecided_; }
    bool at_home(int32_t j) const { return swaps_.at_home(j); }
    // What is left for undecided features outside the home that come in beside one of each clause: so many features or, under a
    // budget, so much for their prices. It may exceed what all of them take.
    double left() const { return left_; }
    // What a feature takes of it.
    double weight(int32_t j) const { return by_price_ ? price(j) : 1.0; }
    bool by_price() const { return by_price_; }
    double price(int32_t j) const { return problem_.penalty.price(j); }
    // Whether j fits beside one feature of each clause.
    bool fits(int32_t j) const { return weight(j) <= left_; }
    // The cheapest feature of each clause: no other takes less room.
    const std::vector<double>& cheapest() const { return cheapest_; }
    double weight_of_clause(int32_t clause) const { return by_price_ ? cheapest_[clause] : 1.0; }
    // Whether at most one more feature comes in, clauses included.
    bool one_more() const;
    // The number of undecided features at home that may still leave.
    int64_t may_leave() const { return may_leave_; }
    bool limited() const { return limited_; }
    // left(), infinite if that is no limit.
    double room() const { return limited_ ? left_ : Penalty::infinity; }
    // What a feature pays for coming in.
    double charge(int32_t j) const { return lambda_0_ * price(j); }
    // The prices of what is in, and of all of the home that is undecided.
    double paid() const;

    // Fixes features and shrinks boxes where a dual point with slopes v proves that the rest is above the cutoff. False as in
    // load().
    bool tighten(const RegionBound& proved, const std::vector<double>& v, double cutoff);
    // Whether that fixes a feature, or makes a box much narrower.
    bool worth_tightening(const RegionBound& proved, const std::vector<double>& v, double cutoff) const;
    // Fixes features that are proved to be out, or in. False as in load().
    bool fix(std::span<const int32_t> out, std::span<const int32_t> in, double cutoff);
    // Whether a solution is in the region.
    bool contains(const Model& model) const;

    // Makes the present boxes those of the root, so that states need not repeat them.
    void keep_boxes() { root_ = box_; }
    const std::vector<Box>& boxes() const { return root_; }
    void set_boxes(const std::vector<Box>& boxes) { root_ = boxes; }

  private:
    // Says that at least one of these features is in. A clause that overlaps others without being part of one adds nothing.
    void require_one_of(std::span<const int32_t> columns);
    // Leaves features that are out out of all clauses. A feature alone in its clause is in. False if a clause is empty.
    bool settle_clauses();
    // Decides what the rules of the problem imply, where `changed` says whether that is anything. False as in load().
    bool obey(bool& changed);
    // Fixes features and shrinks boxes by what the limits on their number and the penalties imply. False as in load().
    bool settle(double cutoff);
    // A power of two next to the size of column j: in this unit boxes of any size are numbers of single precision.
    double unit(int32_t j) const;
    void count();
    void set_diagonal(const std::shared_ptr<const Diagonal>& diagonal);
    // Cuts the boxes of a feature, or of one column.
    void cap(int32_t feature, double most);
    void cap_column(int32_t j, double most);
    // The sum of the weights of these features; of the least one of each clause.
    double taken(const std::vector<int32_t>& columns) const;
    double taken_by_clauses() const;
    // The box of a coefficient after tighten(); `bound` holds where j is in.
    Box shrunk(int32_t j, double bound, const RegionBound& proved, const std::vector<double>& v, double cutoff) const;

    const Problem& problem_;
    const SwapNeighbourhood& swaps_;
    double lambda_0_;
    bool diagonals_;
    double most_;  // features that may come in, or their prices
    bool by_price_;
    bool limited_ = false;
    std::vector<Box> root_, box_;
    std::vector<Status> status_;
    std::shared_ptr<const Diagonal> diagonal_;
    int64_t tried_ = 0;  // see State
    std::vector<double> moved_;
    std::vector<std::vector<int32_t>> clauses_;
    std::vector<int32_t> clause_of_;
    std::vector<double> cheapest_;  // the least price of each clause
    std::vector<int32_t> in_, undecided_, always_, free_, home_undecided_;
    double left_ = 0.0;
    int64_t may_leave_ = 0;
};

}  // namespace ellzero
