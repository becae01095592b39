#include "ellzero/exact/correlations.hpp"

#include <cmath>
#include <utility>

namespace ellzero {
namespace {

constexpr int64_t most_bytes = int64_t{1} << 27;  // of all that are remembered

}  // namespace

const std::vector<float>& Correlations::with(int32_t j) {
    if (const auto found = known_.find(j); found != known_.end()) return found->second;
    const Columns& X = problem_.X;
    const int64_t p = X.count();
    if (std::ssize(known_) * p * static_cast<int64_t>(sizeof(float)) > most_bytes) known_.clear();
    std::vector<double> column(X.rows(), 0.0), products(p);
    X.axpy(j, 1.0, column.data());
    for (int64_t i = 0; i < X.rows(); ++i) column[i] *= problem_.w[i];
    X.all_dots(column.data(), products.data());
    ++passes;
    std::vector<float> out(p, 0.0F);
    for (int32_t i = 0; i < p; ++i)
        if (const double size = std::sqrt(X.square(i)) * std::sqrt(X.square(j)); size > 0.0)
            out[i] = static_cast<float>(std::abs(products[i]) / size);
    return known_.emplace(j, std::move(out)).first->second;
}

}  // namespace ellzero
