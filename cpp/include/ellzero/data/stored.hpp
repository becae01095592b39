// Columns that are kept elsewhere: in a file, or on other machines. Passes over X are left to whoever keeps it; the few columns
// that the solvers work with (supports, candidates) are fetched once and stay at hand.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ellzero/data/design.hpp"

namespace ellzero {

// The keeper of X, whom the core asks for passes and columns. All functions may throw, and are called from several threads at
// once.
class Source {
  public:
    virtual ~Source() = default;
    // See Design::all_products and Design::all_moments.
    virtual void all_products(const double* r, int64_t sides, const Design::Take& take, Monitor& monitor) const = 0;
    virtual void all_moments(const double* w, const Design::Take& take, Monitor& monitor) const = 0;
    // See Design.
    virtual std::unique_ptr<ScreeningTable> screening_table(const ColumnNumbers&, const GainTerms&,
                                                            [[maybe_unused]] size_t directions) const {
        return nullptr;
    }
    virtual std::unique_ptr<SwapTable> swap_table(const ColumnNumbers&) const { return nullptr; }
    // The listed (distinct, increasing) columns: to(k, values) for the k-th, in the type of the design.
    virtual void fetch(std::span<const int32_t> columns, const std::function<void(int64_t, const void*)>& to) const = 0;
};

struct StoredShape {
    int64_t rows, columns;
    // Bytes of each column as a pass reads them; null if all entries are stored.
    const int64_t* column_bytes;
    // Memory for the columns at hand.
    int64_t resident_bytes;
};

// T is the type of the columns at hand: double, float or int8_t.
template <class T>
std::unique_ptr<Design> make_stored(std::unique_ptr<Source> source, const StoredShape& shape);

}  // namespace ellzero
