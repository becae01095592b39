// X that a Python object keeps.
#pragma once

#include "ellzero/data/stored.hpp"

#include "arrays.hpp"

namespace ellzero::bindings {

// The object has products(R, take), moments(w, take) and columns(list). `take(first, answers)` wants each column once; it
// returns False when the core wants no more. Its screening_table(...) and swap_table(...) return tables, or None.
class PythonSource final : public Source {
  public:
    PythonSource(nb::object object, int64_t rows, int64_t columns)
        : object_(std::move(object)), rows_(rows), columns_(columns) {}

    void all_products(const double* r, int64_t sides, const Design::Take& take, Monitor& monitor) const override;
    void all_moments(const double* w, const Design::Take& take, Monitor& monitor) const override;
    void fetch(std::span<const int32_t> columns, const std::function<void(int64_t, const void*)>& to) const override;
    std::unique_ptr<ScreeningTable> screening_table(const ColumnNumbers& numbers, const GainTerms& terms,
                                                    size_t directions) const override;
    std::unique_ptr<SwapTable> swap_table(const ColumnNumbers& numbers) const override;

  private:
    void pass(const char* question, nb::object argument, const Design::Take& take, Monitor& monitor) const;

    nb::object object_;
    int64_t rows_, columns_;
};

}  // namespace ellzero::bindings
