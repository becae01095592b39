#include "ellzero/exact/correlations.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {

constexpr int64_t most_bytes = int64_t{1} << 27;  // of all that are remembered

}  // namespace

const std::vector<float>& Correlations::between(int32_t j, const std::vector<int32_t>& features) {
    const int64_t p = problem_.columns();
    if (!known_.contains(j)) {
        if (std::ssize(known_) * p * static_cast<int64_t>(sizeof(float)) > most_bytes) known_.clear();
        known_.emplace(j, std::vector<float>(p, -1.0F));
    }
    std::vector<float>& known = known_[j];
    missing_.clear();
    for (const int32_t i : features)
        if (known[i] < 0.0F) missing_.push_back(i);
    if (missing_.empty()) return known;
    std::vector<int32_t> columns;
    for (const int32_t i : missing_)
        for (const int32_t column : problem_.members(i)) columns.push_back(column);
    std::vector<double> squares(missing_.size(), 0.0);
    for (const int32_t member : problem_.members(j)) {
        multiply(member, columns);
        size_t at = 0;
        for (size_t c = 0; c < missing_.size(); ++c)
            for (const int32_t column : problem_.members(missing_[c])) {
                const double r = scaled(products_[at++], member, column);
                squares[c] += r * r;
            }
    }
    for (size_t c = 0; c < missing_.size(); ++c) {
        const size_t mine = problem_.members(j).size(), others = problem_.members(missing_[c]).size();
        const double chance = static_cast<double>(std::max(mine, others) - 1) / static_cast<double>(problem_.rows());
        known[missing_[c]] =
            static_cast<float>(std::sqrt(std::max(squares[c] / static_cast<double>(std::min(mine, others)) - chance, 0.0)));
    }
    return known;
}

void Correlations::multiply(int32_t j, const std::vector<int32_t>& columns) {
    const Columns& X = problem_.X;
    ++passes;
    column_.assign(X.rows(), 0.0);
    X.axpy(j, 1.0, column_.data());
    for (int64_t i = 0; i < X.rows(); ++i) column_[i] *= problem_.w[i];
    X.dots(columns, column_.data(), products_);
}

double Correlations::scaled(double product, int32_t j, int32_t i) const {
    const double size = std::sqrt(problem_.X.square(i)) * std::sqrt(problem_.X.square(j));
    return size > 0.0 ? std::abs(product) / size : 0.0;
}

}  // namespace ellzero
