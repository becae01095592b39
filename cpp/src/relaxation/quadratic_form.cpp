#include "ellzero/relaxation/quadratic_form.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ellzero/data/kernels.hpp"

namespace ellzero {

void QuadraticForm::begin(WorkingGram& gram, std::span<const int32_t> columns, const std::vector<double>& d) {
    gram.get(columns, d, matrix_);
    order_ = std::llround(std::sqrt(static_cast<double>(matrix_.size())));
    at_.assign(order_, 0.0);
    slopes_.assign(order_, 0.0);
    set_units();
    rounded_.resize(matrix_.size());
    // In squares: both triangles stay in the cache.
    constexpr int64_t side = 32;
    for (int64_t rows = 0; rows < order_; rows += side)
        for (int64_t from = 0; from <= rows; from += side)
            for (int64_t i = rows; i < std::min(rows + side, order_); ++i)
                for (int64_t j = from; j <= std::min(from + side - 1, i); ++j) {
                    const double entry = matrix_[i * order_ + j];
                    matrix_[j * order_ + i] = entry;
                    rounded_[i * order_ + j] = rounded_[j * order_ + i] = static_cast<float>(entry * units_[i] * units_[j]);
                }
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
