#include "ellzero/exact/region_bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace ellzero {
namespace {

constexpr double unit = 0x1p-52;  // the spacing of numbers next to one
// A dot product of n terms is off by at most n units of its size; so much more for centring, scaling and the squares.
constexpr double more_terms = 8.0, rounding_of_products = 2.0 * unit;
// A sum of so many terms may be off by this for each of them, relative to its size.
constexpr double rounding_of_sums = 4.0 * unit;
// An operation whose result underflows is off by less than the least number.
constexpr double least = std::numeric_limits<double>::denorm_min();
// The rounding of the sum of a bound and one reward, relative to both.
constexpr double rounding_of_choice = 1e-14;

}  // namespace

RegionBound::RegionBound(const Problem& problem, const Region& region)
    : problem_(problem), region_(region), gains_(problem.columns()) {
    const Columns& X = problem.X;
    const double rounding = (static_cast<double>(problem.rows()) + more_terms) * rounding_of_products;
    const double underflow = (static_cast<double>(problem.rows()) + more_terms) * least;
    for (int32_t j = 0; j < problem.columns(); ++j) {
        norms_.push_back(rounding * std::hypot(std::sqrt(X.square(j) + underflow), X.mean(j) * X.scale(j)));
        lost_.push_back(underflow * (1.0 + X.scale(j)));
    }
}

RegionBound::Chosen RegionBound::choose(std::vector<double>& rewards, int64_t most) {
    Chosen out;
    if (std::ssize(rewards) > most) {
        std::nth_element(rewards.begin(), rewards.begin() + most, rewards.end(), std::greater<>());
        out.next = rewards[most];
        rewards.resize(most);
        out.last = most > 0 ? *std::min_element(rewards.begin(), rewards.end()) : out.next;
    } else if (std::ssize(rewards) == most && most > 0) {
        out.last = *std::min_element(rewards.begin(), rewards.end());
    }
    for (const double reward : rewards) out.total += reward;
    return out;
}

double RegionBound::compute(const DualPoint& dual, const std::vector<double>& v, const std::vector<int32_t>& undecided,
                            int32_t also_in) {
    dual_norm_ = dual.norm;
    const double lambda_0 = region_.lambda_0();
    double total = dual.loss_part, size = std::abs(total);
    const auto gain_of = [&](int32_t j) {
        const double e = noise(j);
        const Box& box = region_.box(j);
        gains_[j] = std::max(ellzero::gain(v[j] - e, box, problem_.penalty), ellzero::gain(v[j] + e, box, problem_.penalty));
        return gains_[j];
    };
    const auto take = [&](double amount) {
        total -= amount;
        size += std::abs(amount);
    };
    for (const int32_t j : region_.in()) take(gain_of(j) - lambda_0);
    for (const int32_t j : region_.always()) take(gain_of(j));
    if (also_in >= 0) take(gain_of(also_in) - lambda_0);
    rewards_.clear();
    leavers_.clear();
    for (const int32_t j : undecided) {
        const double reward = gain_of(j) - lambda_0;
        if (region_.at_home(j)) {
            take(reward);
            if (reward < 0.0) leavers_.push_back(-reward);
        } else if (reward > 0.0) {
            rewards_.push_back(reward);
        }
    }
    coming_ = choose(rewards_, region_.left());
    leaving_ = choose(leavers_, region_.may_leave());
    take(coming_.total);
    take(leaving_.total);
    const size_t terms =
        region_.in().size() + region_.always().size() + region_.home_undecided().size() + rewards_.size() + leavers_.size();
    value_ = total - (static_cast<double>(terms) + more_terms) * (rounding_of_sums * size + least);
    if (std::isnan(value_)) value_ = -Penalty::infinity;
    return value_;
}

RegionBound::Decided RegionBound::if_decided(int32_t j) const {
    // A chosen feature outside the home comes in; a chosen one at home leaves.
    const bool home = region_.at_home(j);
    const double reward = home ? region_.lambda_0() - gains_[j] : gains_[j] - region_.lambda_0();
    const Chosen& chosen = home ? leaving_ : coming_;
    const auto raised = [&](double rise) { return value_ + rise - rounding_of_choice * (std::abs(value_) + rise); };
    const double if_chosen = raised(std::max(chosen.last - reward, 0.0));
    const double if_not = raised(std::max(reward - chosen.next, 0.0));
    return home ? Decided{if_not, if_chosen} : Decided{if_chosen, if_not};
}

}  // namespace ellzero
