// The charges that coordinates of a relaxation pay for their features, and the search for them.
//
// Coordinates are in groups: those that have paid, the pool, and one group for each clause. At least one feature of a clause
// comes in, and at most `room` more than that of all. The shares z of the perspective reformulation keep to both: those of a
// clause sum to at least one, all of them to at most room + the number of clauses. The multiplier mu >= 0 of the limit is paid
// by all, and what a clause is short of is taken off the charge of its members.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/problem/penalty.hpp"

namespace ellzero {

struct Charges {
    // Groups; that of clause k is first_clause + k.
    static constexpr int32_t paid = -1, pool = 0, first_clause = 1;

    double lambda_0 = 0.0, mu = 0.0;
    std::vector<double> clauses;  // what members of each clause pay
    double room = Penalty::infinity;
    bool fixed = false;  // they are not searched for

    bool searched() const { return !fixed && (room < Penalty::infinity || !clauses.empty()); }
    double of_pool() const { return lambda_0 + mu; }
    double of(int32_t group) const { return group == paid ? 0.0 : group == pool ? of_pool() : clauses[group - first_clause]; }
    double clause_count() const { return static_cast<double>(clauses.size()); }
    // The limit on the sum of all shares, infinite if there is none.
    double most_shares() const { return room + clause_count(); }
    // No member of a clause pays more than the pool, unless nothing may come in beside the clauses.
    double most_of_clause() const { return room > 0.0 ? of_pool() : Penalty::infinity; }
    // The part of the Lagrangian that no coordinate pays.
    double constant() const;
};

// Moves charges until the shares are as they should be: each by the power of (shares used / shares allowed) that the last two
// trials suggest.
class ChargeSearch {
  public:
    // Begins a search. It moves no charge to less than half of what it is now, since other coordinates would begin to pay then.
    // Charges of at most `least` count as zero; a charge is good where a better one would gain less than `floor`.
    void begin(const Charges& now, double least, double floor);
    // Forgets the powers of earlier searches.
    void forget() { groups_.clear(); }

    // Moves the charges, given the sum of shares of each group, the pool first. False if they are good as they are.
    bool adjust(Charges& charges, const std::vector<double>& sums);

  private:
    struct Group {
        double charge = 0.0, ratio = 0.0, power = 1.0, least = 0.0;
        double next(double now, double ratio_now);
    };
    bool adjust_pool(Charges& charges, const std::vector<double>& sums);
    bool adjust_clause(size_t k, Charges& charges, double sum);

    // Whether shares that sum to this are close enough to what is allowed.
    bool close(double sum, double allowed, double charge) const;

    std::vector<Group> groups_;
    double least_ = 0.0, floor_ = 0.0;
};

}  // namespace ellzero
