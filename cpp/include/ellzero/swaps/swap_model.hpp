// Predicts the change of G by every swap, all coefficients refitted, with a quadratic model of G at the iterate.
//
// With H = Z'DZ + 2 lambda_2 I on the support (and intercept), u = H^-1 Z'D z_j, c_j = z_j'D z_j + 2 lambda_2 - z_j'DZ u and
// g_j the gradient of an outside column, exchanging a feature's columns I for the columns J of another and refitting the rest
// changes the model by
//     beta_I' W beta_I / 2  -  sum_J (|g_j - u_I' W beta_I| - lambda_1)^2 / (2 (c_j + u_I' W u_I)) / rho,   W = ((H^-1)_II)^-1,
// where rho is the coupling of J. For single columns, W = 1 / (H^-1)_ii and rho = 1, that is exact; for groups it is a lower
// bound of the gain, and the best by that are ranked again with the whole matrix C in the place of its diagonal c and of rho.
// All of it follows from the products Z'D X. They are computed for a feature when it first appears, many features to one read
// of X, and kept while D changes little: the model only ranks swaps, which are then tried.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "ellzero/data/tables.hpp"
#include "ellzero/support/quadratic.hpp"

namespace ellzero {

// The objective of a search: G + lambda_0 C, where C is the sum of a model's prices, with C at most `budget` and at most `most`
// features.
struct Terms {
    double lambda_0 = 0.0, budget = Penalty::infinity;
    int most = std::numeric_limits<int>::max();

    double objective(const Model& model) const { return model.objective(lambda_0); }
    bool allow(const Model& model) const { return model.size <= most && model.spent <= budget; }
    bool limited() const { return budget < Penalty::infinity; }
};

struct Swap {
    size_t position;  // in the iterate's support; of a group, that of its head
    int32_t column;
    double change;  // of the objective, by the model
    double cost;    // of the removal alone
};

class SwapModel {
  public:
    // The model is renewed when D has changed by more than `most_drift` of itself. Where the problem is that on a sample of the
    // rows, `whole` is that on all of them: its slopes are given.
    SwapModel(const Problem& problem, double most_drift, const Problem* whole = nullptr);

    // The best swap for each of about `most` columns, those that promise most, best first. The iterate minimises G on its
    // support; `slopes` are z_j . r for all columns. With equal prices the objective of all terms is G.
    std::vector<Swap> rank(const Iterate& it, const double* slopes, size_t most, const Terms& terms = {});
    // The same with slopes that the model reads and keeps itself, of several iterates at a time; `which` of them this one is.
    void read_slopes(const double* residuals, int64_t count);
    std::vector<Swap> rank_read(const Iterate& it, int64_t which, size_t most);
    // Brings D up to date with the iterate and reads what these features miss, many to one read of X; false where G is flat and
    // there is no model. Others may be forgotten: `capacity` features are kept.
    bool follow(const Iterate& it, const std::vector<int32_t>& features);
    size_t capacity() const { return capacity_; }

  private:
    // Makes the model of G on the iterate's support; false where there is none.
    bool prepare(const Iterate& it);
    void renew_curvatures();
    void read_sums();
    void read_products(const std::vector<int32_t>& columns);
    // Z'D X of the iterate's support and intercept, a row for each.
    std::vector<const float*> rows_of(const Iterate& it) const;
    void forget_all_but(const std::vector<int32_t>& features);
    std::vector<Swap> rank_elsewhere(const Iterate& it, int64_t which, size_t most);
    // The best swap for each of these features outside, given by their heads.
    void rank_some(const Iterate& it, const double* slopes, size_t most, std::span<const int32_t> heads, const Terms& terms,
                   std::vector<Swap>& list) const;
    void load_tile(std::span<const float* const> rows, std::span<const int32_t> columns, double* t) const;
    // The best swap for a feature outside that gains so much where the k-th of the removals is made.
    template <class Gain>
    Swap best_for(const Iterate& it, int32_t head, const Terms& terms, const Gain& gain) const;
    // The best swaps for these groups, with what their columns have in common.
    std::vector<Swap> ranked_again(const Iterate& it, const double* slopes, std::span<const Swap> swaps, const Terms& terms);
    // Groups that would come in, beside the support: u = H^-1 Z'D Z_J, what is left of its columns' products with each other
    // (C, its lower triangle), and their own curvatures.
    struct Entering {
        std::vector<int32_t> columns;
        std::vector<double> whole, along, left;
    };
    std::vector<Entering> entering(std::span<const float* const> rows, std::span<const Swap> swaps);
    // What it gains where another group leaves.
    double gain(const Entering& in, const Removal& removal, const double* slopes) const;
    // Z_J'D Z_J of a group's columns (and the constant), read once for each D.
    const std::vector<double>& block(int32_t head, const std::vector<int32_t>& columns);

    const Problem &problem_, &whole_;
    const double most_drift_;
    size_t capacity_;
    std::vector<double> d_, own_;                               // D of the time when the products were read, and its diagonal
    double scale_ = 1.0;                                        // the present D is about this multiple of it
    std::vector<float> diagonal_;                               // z_j'D z_j
    std::vector<std::vector<float>> sums_;                      // z_j'D 1, of each block's constant
    std::unordered_map<int32_t, std::vector<float>> products_;  // feature -> its products with all columns
    std::unordered_map<int32_t, std::vector<double>> blocks_;   // group -> the products of its columns with each other
    std::vector<double> slopes_;                                // of the iterates that read_slopes() was told of
    std::unique_ptr<SwapTable> table_;                          // keeps all this instead, if it is better kept where X is
    Quadratic hessian_;                                         // of the iterate that is ranked
    std::vector<Removal> removals_;                             // of its features
};

}  // namespace ellzero
