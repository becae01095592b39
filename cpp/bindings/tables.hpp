// Tables of numbers for every column that Python objects keep.
#pragma once

#include "ellzero/data/tables.hpp"

#include "arrays.hpp"

namespace ellzero::bindings {

// A copy, since Python may keep it longer than the core keeps the original.
nb::object copied(const double* values, size_t rows, size_t columns);
// The means, scales, squares and prices of the columns, None for what is null.
nb::object listed(const ColumnNumbers& numbers, int64_t columns);

// A Python object that the core may let go of in any thread.
class Kept {
  public:
    explicit Kept(nb::object object) : object_(std::move(object)) {}
    ~Kept();
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
    template <class... Arguments>
    nb::object call(const char* method, Arguments&&... arguments) const {
        return object_.attr(method)(std::forward<Arguments>(arguments)...);
    }

  private:
    nb::object object_;
};

// The objects have methods of the same names.
class PythonScreeningTable final : public ScreeningTable {
  public:
    PythonScreeningTable(nb::object object, int64_t rows) : object_(std::move(object)), rows_(rows) {}
    void add(const double* sides, int64_t count) override;
    void forget(size_t slot) override;
    void combine(const std::vector<double>& coefficients) override;
    void extend(double step) override;
    void read(const double* r) override;
    Found test(const Test& test) override;

  private:
    Kept object_;
    int64_t rows_;
};

class PythonSwapTable final : public SwapTable {
  public:
    PythonSwapTable(nb::object object, int64_t rows) : object_(std::move(object)), rows_(rows) {}
    void renew(const double* d) override;
    void add(std::span<const int32_t> features, const double* sides) override;
    void keep(std::span<const int32_t> features) override;
    void read_slopes(const double* residuals, int64_t count) override;
    std::vector<Found> rank(const Question& question) override;

  private:
    Kept object_;
    int64_t rows_;
};

}  // namespace ellzero::bindings
