#include "ellzero/exact/correlations.hpp"

#include <cmath>

namespace ellzero {
namespace {

constexpr int64_t most_bytes = int64_t{1} << 27;  // of all that are remembered

}  // namespace

const std::vector<float>& Correlations::between(int32_t j, const std::vector<int32_t>& columns) {
    const Columns& X = problem_.X;
    const int64_t p = X.count();
    if (!known_.contains(j)) {
        if (std::ssize(known_) * p * static_cast<int64_t>(sizeof(float)) > most_bytes) known_.clear();
        known_.emplace(j, std::vector<float>(p, -1.0F));
    }
    std::vector<float>& known = known_[j];
    missing_.clear();
    for (const int32_t i : columns)
        if (known[i] < 0.0F) missing_.push_back(i);
    if (missing_.empty()) return known;
    ++passes;
    column_.assign(X.rows(), 0.0);
    X.axpy(j, 1.0, column_.data());
    for (int64_t i = 0; i < X.rows(); ++i) column_[i] *= problem_.w[i];
    X.dots(missing_, column_.data(), products_);
    for (size_t c = 0; c < missing_.size(); ++c) {
        const double size = std::sqrt(X.square(missing_[c])) * std::sqrt(X.square(j));
        known[missing_[c]] = size > 0.0 ? static_cast<float>(std::abs(products_[c]) / size) : 0.0F;
    }
    return known;
}

}  // namespace ellzero
