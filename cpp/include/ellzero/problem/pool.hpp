// The best models that have been seen: of each size and, where prices differ, for what they cost.
//
// Since lambda_1 and lambda_2 are fixed along a path, G of a model does not depend on lambda_0: the best model of each size is
// all that is worth keeping, and the best at a lambda_0 is on their lower envelope. With unequal prices it is on that of the
// models that no cheaper one beats.
#pragma once

#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

class Pool {
  public:
    // `unequal`: prices differ.
    explicit Pool(bool unequal = false, Rules rules = {}) : unequal_(unequal), rules_(std::move(rules)) {}

    // Keeps the model if it obeys the rules, and is better than the one of its size, or than all that cost no more; returns
    // whether it is.
    bool insert(const Model& model);
    // The best model at lambda_0 with at most `most` features and prices of at most `budget`.
    const Model& best(double lambda_0, int most, double budget = Penalty::infinity) const;
    // Null if no model of that size has been seen.
    const Model* of_size(int size) const;
    // The largest model with fewer features; the null model is always there.
    const Model& largest_below(int size) const { return std::prev(best_.lower_bound(size))->second; }
    int largest() const { return best_.rbegin()->first; }
    std::vector<int> sizes() const;
    std::vector<Model> by_size(int most = unlimited) const;

    // The models that are best for some lambda_0, from cheap to dear, each with the largest lambda_0 at which it is.
    struct Vertex {
        Model model;
        double upper;
    };
    std::vector<Vertex> envelope(int most) const;

    static constexpr int unlimited = std::numeric_limits<int>::max();

  private:
    bool insert_by_price(const Model& model);
    // All models with at most `most` features, from cheap to dear.
    std::vector<const Model*> by_price(int most) const;

    bool unequal_;
    Rules rules_;
    std::map<int, Model> best_;
    std::map<double, Model> front_;  // by price, if prices differ: no model costs more and has a larger G than another
};

}  // namespace ellzero
