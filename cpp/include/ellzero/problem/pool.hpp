// The best model of each size that has been seen.
//
// Since lambda_1 and lambda_2 are fixed along a path, G of a model does not depend on lambda_0: the best model of each size is
// all that is worth keeping, and the best at a lambda_0 is on their lower envelope.
#pragma once

#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

class Pool {
  public:
    // Keeps the model if it is better than the one of its size; returns whether it is.
    bool insert(const Model& model);
    // The best model at lambda_0 with at most `most` features.
    const Model& best(double lambda_0, int most) const;
    // Null if no model of that size has been seen.
    const Model* of_size(int size) const;
    // The largest model with fewer features; the null model is always there.
    const Model& largest_below(int size) const { return std::prev(best_.lower_bound(size))->second; }
    int largest() const { return best_.rbegin()->first; }
    std::vector<int> sizes() const;
    std::vector<Model> by_size(int most = unlimited) const;

    // The models that are best for some lambda_0, from few features to many, each with the largest lambda_0 at which it is.
    struct Vertex {
        Model model;
        double upper;
    };
    std::vector<Vertex> envelope(int most) const;

    static constexpr int unlimited = std::numeric_limits<int>::max();

  private:
    std::map<int, Model> best_;
};

}  // namespace ellzero
