// The charges that coordinates of a relaxation pay for their features, and the search for them.
//
// Coordinates are in groups: those that have paid, the pool, and one group for each clause. At least one feature of a clause
// comes in, and at most `room` more than that of all. The shares z of the perspective reformulation keep to both: those of a
// clause sum to at least one, all of them to at most room + the number of clauses. The multiplier mu >= 0 of the limit is paid
// by all, and what a clause is short of is taken off the charge of its members. Each feature also pays lambda_0 times its
// price. Under a budget the room is for prices: shares are weighed by them, and a clause takes that of its cheapest member.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/problem/penalty.hpp"

namespace ellzero {

struct Charges {
    // Groups; that of clause k is first_clause + k.
    static constexpr int32_t paid = -1, pool = 0, first_clause = 1;

    double lambda_0 = 0.0, mu = 0.0;
    std::vector<double> clauses;  // what the cheapest member of each clause pays
    double room = Penalty::infinity;
    bool by_price = false;         // the room is for prices
    std::vector<double> cheapest;  // the least price of each clause
    bool fixed = false;            // they are not searched for

    bool searched() const { return !fixed && (room < Penalty::infinity || !clauses.empty()); }
    double weight(double price) const { return by_price ? price : 1.0; }
    double of_pool(double price) const { return lambda_0 * price + mu * weight(price); }
    double of(int32_t group, double price) const {
        if (group == paid) return 0.0;
        if (group == pool) return of_pool(price);
        const int32_t clause = group - first_clause;
        return clauses[clause] + lambda_0 * (price - cheapest[clause]);
    }
    // The limit on the weighed sum of all shares, infinite if there is none.
    double most_shares() const;
    // No member of a clause pays more than the pool, unless nothing may come in beside the clauses.
    double most_of_clause(size_t k) const { return room > 0.0 ? of_pool(cheapest[k]) : Penalty::infinity; }
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

    // Moves the charges, given the sum of shares of each group, the pool first, and their weighed sum. False if they are good
    // as they are.
    bool adjust(Charges& charges, const std::vector<double>& sums, const std::vector<double>& weighed);

  private:
    struct Group {
        double charge = 0.0, ratio = 0.0, power = 1.0, least = 0.0;
        double next(double now, double ratio_now);
    };
    bool adjust_pool(Charges& charges, const std::vector<double>& weighed);
    bool adjust_clause(size_t k, Charges& charges, double sum);

    // Whether shares that sum to this are close enough to what is allowed.
    bool close(double sum, double allowed, double charge) const;

    std::vector<Group> groups_;
    double least_ = 0.0, floor_ = 0.0;
};

}  // namespace ellzero
