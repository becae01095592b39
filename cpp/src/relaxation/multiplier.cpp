#include "ellzero/relaxation/multiplier.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {

// The next trial keeps away from the ends of the bracket by this part of it.
constexpr double margin = 0.1;
// The sum at the upper end may be zero: this part of the limit stands for it in the logarithm.
constexpr double least_total = 1e-3;
// Without a bracket mu changes by at most this factor; from zero it begins at so many times the least one.
constexpr double most_factor = 2.0, first_factor = 10.0;

}  // namespace

double MultiplierSearch::next(double mu, double total) {
    const bool above = total - limit_ > 0.0;
    (above ? low_ : high_) = {mu, total};
    if (low_.found() && high_.found()) return between();
    // Shares fall about as 1 / mu.
    const double ratio = std::clamp(total / limit_, 1.0 / most_factor, most_factor);
    if (mu > least_) return mu * ratio;
    return above ? first_factor * least_ : 0.0;
}

double MultiplierSearch::between() const {
    const double a = std::log(low_.total / limit_), b = std::log(std::max(high_.total, least_total * limit_) / limit_);
    const double weight = std::clamp(a / (a - b), margin, 1.0 - margin);
    return low_.mu > 0.0 ? low_.mu * std::pow(high_.mu / low_.mu, weight) : weight * high_.mu;
}

}  // namespace ellzero
