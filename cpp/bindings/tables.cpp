#include "tables.hpp"

namespace ellzero::bindings {
namespace {

template <class T>
nb::object array(std::span<const T> values) {
    return nb::cast(to_numpy(std::vector<T>(values.begin(), values.end())));
}

nb::object optional(const double* values, int64_t count) {
    return values ? array(std::span(values, static_cast<size_t>(count))) : nb::none();
}

template <class T>
std::vector<T> vector(const nb::object& values) {
    return to_vector(nb::cast<Vector<T>>(values));
}

}  // namespace

nb::object copied(const double* values, size_t rows, size_t columns) {
    return nb::cast(to_numpy(std::vector<double>(values, values + rows * columns), rows, columns));
}

nb::object listed(const ColumnNumbers& numbers, int64_t columns) {
    return nb::make_tuple(optional(numbers.mean, columns), optional(numbers.scale, columns), optional(numbers.square, columns),
                          optional(numbers.price, columns));
}

Kept::~Kept() {
    try {
        const WithGil acquire;
        object_.reset();
    } catch (...) {
        object_.release();  // the interpreter is gone, and all that it kept
    }
}

void PythonScreeningTable::add(const double* sides, int64_t count) {
    const WithGil acquire;
    object_.call("add", copied(sides, count, rows_));
}

void PythonScreeningTable::forget(size_t slot) {
    const WithGil acquire;
    object_.call("forget", slot);
}

void PythonScreeningTable::combine(const std::vector<double>& coefficients) {
    const WithGil acquire;
    object_.call("combine", array(std::span(coefficients)));
}

void PythonScreeningTable::extend(double step) {
    const WithGil acquire;
    object_.call("extend", step);
}

void PythonScreeningTable::read(const double* r) {
    const WithGil acquire;
    object_.call("read", copied(r, 1, rows_));
}

ScreeningTable::Found PythonScreeningTable::test(const Test& test) {
    const WithGil acquire;
    const nb::object found = object_.call("test", test.radius, test.per_price, test.rank, test.may, test.must,
                                          array(test.inside), copied(test.r, 1, rows_), test.readable);
    return {nb::cast<double>(found[0]), vector<int32_t>(found[1]), vector<double>(found[2]), nb::cast<double>(found[3])};
}

void PythonSwapTable::renew(const double* d) {
    const WithGil acquire;
    object_.call("renew", copied(d, 1, rows_));
}

void PythonSwapTable::add(std::span<const int32_t> features, const double* sides) {
    const WithGil acquire;
    object_.call("add", array(features), copied(sides, features.size(), rows_));
}

void PythonSwapTable::keep(std::span<const int32_t> features) {
    const WithGil acquire;
    object_.call("keep", array(features));
}

void PythonSwapTable::read_slopes(const double* residuals, int64_t count) {
    const WithGil acquire;
    object_.call("read_slopes", copied(residuals, count, rows_));
}

std::vector<SwapTable::Found> PythonSwapTable::rank(const Question& question) {
    const WithGil acquire;
    const nb::object found =
        object_.call("rank", question.iterate, array(question.support), array(question.removable), array(question.beta),
                     array(question.variance), array(question.factor), question.scale, question.lambda_1, question.ridge,
                     question.least_left, question.most);
    const auto columns = vector<int32_t>(found[0]), positions = vector<int32_t>(found[1]);
    const auto changes = vector<double>(found[2]);
    std::vector<Found> out;
    out.reserve(columns.size());
    for (size_t k = 0; k < columns.size(); ++k) out.push_back({columns[k], positions[k], changes[k]});
    return out;
}

}  // namespace ellzero::bindings
