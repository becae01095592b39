// Tables: numbers that the solvers keep for every column beside X, and the questions to all columns that these numbers answer.
// A table is where the columns are. Where that is a device, one number for every column is much to send; what is left in doubt
// is little.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ellzero {

// What a table must know of every column as the solvers see it; each may be null: no centring, no scaling, equal prices.
struct ColumnNumbers {
    const double* mean = nullptr;
    const double* scale = nullptr;
    const double* square = nullptr;  // never null
    const double* price = nullptr;
};

// What columns gain by entering, see kernels::gains.
struct GainTerms {
    double lambda_1, steepness, ridge;
};

// What screening knows of every column: its products with the directions, and how much of its square these leave free.
class ScreeningTable {
  public:
    virtual ~ScreeningTable() = default;
    // Reads X for `count` new directions.
    virtual void add(const double* sides, int64_t count) = 0;
    // Takes a direction out: what its products explained of each column is unexplained again.
    virtual void forget(size_t slot) = 0;
    // center = sum_k coefficient_k products_k; center += step * the last products; center = X'r, which reads X.
    virtual void combine(const std::vector<double>& coefficients) = 0;
    virtual void extend(double step) = 0;
    virtual void read(const double* r) = 0;

    struct Test {
        double radius;  // slopes are in center +- radius sqrt(free)
        bool per_price;
        int rank;                         // the columns that surely gain as much as that many others are enough,
        double may, must;                 // but for those that gain more than `must`; none that gain `may` or less
        std::span<const int32_t> inside;  // columns that are not asked
        const double* r;                  // whose slopes are bounded
        double readable;                  // the share of X that may be read for the columns in doubt
    };
    struct Found {
        double share = 0.0;            // of X, of the columns that may gain more than is enough
        std::vector<int32_t> columns;  // these, in any order (of groups, the heads); none if they are more than is readable
        std::vector<double> slopes;    // x_j . r of these, or of all columns of their groups; read unless the radius is zero
        double rest = 0.0;             // no other column outside gains more than this
    };
    virtual Found test(const Test& test) = 0;
};

// What the swap model knows of every column (see SwapModel), without boxes and groups and with equal prices.
class SwapTable {
  public:
    virtual ~SwapTable() = default;
    // Reads X for z_j'D z_j and z_j'D 1, and forgets all features.
    virtual void renew(const double* d) = 0;
    // Reads X for the products of new features; forgets all features but these.
    virtual void add(std::span<const int32_t> features, const double* sides) = 0;
    virtual void keep(std::span<const int32_t> features) = 0;
    // Reads X for the slopes of several iterates.
    virtual void read_slopes(const double* residuals, int64_t count) = 0;

    struct Question {
        int64_t iterate;                     // whose slopes count
        std::span<const int32_t> support;    // its features, in the order of the factor
        std::span<const int32_t> removable;  // positions in the support
        std::span<const double> beta, variance;
        std::span<const double> factor;  // of H, rows packed one after another
        double scale;                    // the present D is this multiple of that of the products
        double lambda_1, ridge, least_left;
        int64_t most;
    };
    struct Found {
        int32_t column, position;
        double change;
    };
    // The best swap for each of the `most` columns that promise most, best first.
    virtual std::vector<Found> rank(const Question& question) = 0;
};

}  // namespace ellzero
