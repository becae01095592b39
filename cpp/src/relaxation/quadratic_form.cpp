#include "ellzero/relaxation/quadratic_form.hpp"

#include <cmath>
#include <cstdlib>

#include "ellzero/data/kernels.hpp"

namespace ellzero {

QuadraticForm::QuadraticForm(WorkingGram& gram, std::span<const int32_t> columns, const std::vector<double>& d)
    : order_(std::ssize(columns) + 1), at_(order_, 0.0), slopes_(order_, 0.0) {
    gram.get(columns, d, matrix_);
    for (int64_t i = 0; i < order_; ++i)
        for (int64_t j = 0; j < i; ++j) matrix_[j * order_ + i] = matrix_[i * order_ + j];
    set_units();
    rounded_.resize(matrix_.size());
    for (int64_t i = 0; i < order_; ++i)
        for (int64_t j = 0; j < order_; ++j)
            rounded_[i * order_ + j] = static_cast<float>(matrix_[i * order_ + j] * units_[i] * units_[j]);
}

void QuadraticForm::set_units() {
    // Single precision reaches from 2^-126 to 2^127.
    constexpr int ordinary = 30;
    units_.assign(order_, 1.0);
    for (int64_t k = 0; k < order_; ++k) {
        if (!(diagonal(k) > 0.0)) continue;
        if (const int exponent = std::ilogb(diagonal(k)) / 2; std::abs(exponent) > ordinary)
            units_[k] = std::ldexp(1.0, -exponent);
    }
}

void QuadraticForm::move(int64_t k, double step) {
    at_[k] += step;
    kernels::axpy(step, &matrix_[k * order_], order_, slopes_.data());
}

double QuadraticForm::value() const { return kernels::dot(at_.data(), slopes_.data(), order_); }

void QuadraticForm::multiply(const std::vector<int32_t>& face, const std::vector<double>& along, std::vector<double>& out) {
    wide_.assign(order_, 0.0);
    for (size_t a = 0; a < face.size(); ++a) wide_[face[a]] = along[a] / units_[face[a]];
    kernels::dots(rounded_.data(), order_, face.data(), 0, std::ssize(face), order_, wide_.data(), out.data());
    for (size_t a = 0; a < face.size(); ++a) out[a] /= units_[face[a]];
}

}  // namespace ellzero
