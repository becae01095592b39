// Finds the columns that could enter, without reading X more often than needed.
//
// X is read in full only for a few unit vectors q_1, ..., q_m (past residuals, orthonormalised in the weighted space). For a
// residual r = sum_k c_k q_k + rest, every gradient is known up to a radius:
//     | x_j . r - sum_k c_k (x_j . q_k) |  <=  ||rest|| * sqrt(||x_j||^2 - sum_k (x_j . q_k)^2),
// since `rest` is orthogonal to all q_k. Only columns whose interval reaches the threshold are read.
//
// The bound is exact but wide: a column that has nothing to do with `rest` has a product near ||x_j|| ||rest|| / sqrt(n). The
// sweeps, whose models are only proposals, therefore screen by the likely radius, a few times that; what a path returns is
// checked by the certain one, and no column that could enter is missed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ellzero/data/tables.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct Candidate {
    int32_t column;  // the head of a group
    double slope;    // x_j . r
    double gain;     // the surrogate's decrease, see Penalty::entry_gain; in the currency that was asked for
};

enum class Radius { certain, likely };
// What columns are compared by: their gain, or what they gain for their price, which is compared with lambda_0.
enum class Currency { gain, gain_per_price };

class Screening {
  public:
    explicit Screening(const Problem& problem);

    struct Result {
        std::vector<Candidate> candidates;  // gain above the threshold, best first
        double rest = 0.0;                  // no other column outside the model gains more than this
    };
    // All columns that gain more than `must`, and the best `enough` of those that gain more than `may` <= must.
    Result above(const Iterate& it, double must, double may, int enough, Radius radius, Currency currency);

    // Makes directions of `count` residuals that will be asked about, at most `foresight()`: one read of X serves all of them.
    void foresee(size_t count, const std::function<const std::vector<double>&(size_t)>& residual);
    size_t foresight() const;

  private:
    // Splits a residual: its coefficients_ along the directions, and the rest_ of it.
    void project(const std::vector<double>& r);
    // Centers the columns and sets radius_ so that gradient_j is in center_j +- radius_ sqrt(free_j).
    void estimate(const Iterate& it, Radius radius);
    void read_everything(const Iterate& it);
    // Puts candidates in order, the best of them; all that gain more than `must`, and more than `enough` of the others, stay.
    static void put_in_order(Result& found, double must, int enough);
    void read(size_t count);
    void read_slopes(const Iterate& it);
    void forget(size_t slot);

    const Problem& problem_;
    const double steepness_;
    size_t capacity_;
    std::unique_ptr<ScreeningTable> table_;        // x_j . q_k for all j, and what follows from these
    bool elsewhere_ = false;                       // the table is where X is, and counts no reads
    std::vector<std::vector<double>> directions_;  // q_k
    std::vector<double> coefficients_, rest_, root_;
    double length_ = 0.0;  // of the residual
    double radius_ = 0.0;
    double rented_ = 0.0;  // share of X read column by column since the last full read
};

}  // namespace ellzero
