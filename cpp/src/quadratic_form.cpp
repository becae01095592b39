#include "ellzero/quadratic_form.hpp"

#include <algorithm>

#include "ellzero/kernels.hpp"

namespace ellzero {

GramForm::GramForm(WorkingGram& gram, std::span<const int32_t> columns, const std::vector<double>& d)
    : order_(std::ssize(columns) + 1), slopes_(order_, 0.0), at_(order_, 0.0) {
    gram.get(columns, d, matrix_);
    for (int64_t i = 0; i < order_; ++i)
        for (int64_t j = 0; j < i; ++j) matrix_[j * order_ + i] = matrix_[i * order_ + j];
}

void GramForm::move(int64_t k, double step) {
    at_[k] += step;
    kernels::axpy(step, &matrix_[k * order_], order_, slopes_.data());
}

double GramForm::value() const { return kernels::dot(at_.data(), slopes_.data(), order_); }

void GramForm::multiply(const std::vector<int64_t>& face, const std::vector<double>& along, std::vector<double>& out) {
    wide_.assign(order_, 0.0);
    for (size_t a = 0; a < face.size(); ++a) wide_[face[a]] = along[a];
    for (size_t a = 0; a < face.size(); ++a) out[a] = kernels::dot(&matrix_[face[a] * order_], wide_.data(), order_);
}

PackedForm::PackedForm(std::vector<double> packed, int64_t rows)
    : packed_(std::move(packed)), rows_(rows), image_(rows, 0.0), scratch_(rows) {
    for (int64_t k = 0; k * rows_ < std::ssize(packed_); ++k) diagonal_.push_back(kernels::dot(column(k), column(k), rows_));
}

double PackedForm::slope(int64_t k) const { return kernels::dot(column(k), image_.data(), rows_); }

void PackedForm::move(int64_t k, double step) { kernels::axpy(step, column(k), rows_, image_.data()); }

double PackedForm::value() const { return kernels::dot(image_.data(), image_.data(), rows_); }

void PackedForm::multiply(const std::vector<int64_t>& face, const std::vector<double>& along, std::vector<double>& out) {
    std::fill(scratch_.begin(), scratch_.end(), 0.0);
    for (size_t a = 0; a < face.size(); ++a) kernels::axpy(along[a], column(face[a]), rows_, scratch_.data());
    for (size_t a = 0; a < face.size(); ++a) out[a] = kernels::dot(column(face[a]), scratch_.data(), rows_);
}

}  // namespace ellzero
