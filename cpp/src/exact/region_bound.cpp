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
    : problem_(problem), region_(region), gains_(problem.columns()), totals_(problem.grouped() ? problem.columns() : 0) {
    const Columns& X = problem.X;
    const double rounding = (static_cast<double>(problem.rows()) + more_terms) * rounding_of_products;
    const double underflow = (static_cast<double>(problem.rows()) + more_terms) * least;
    for (int32_t j = 0; j < problem.columns(); ++j) {
        norms_.push_back(rounding * std::hypot(std::sqrt(X.square(j) + underflow), X.centre(j)));
        lost_.push_back(underflow * (1.0 + X.scale(j)));
    }
}

double RegionBound::noise(int32_t j) const {
    return norms_[j] * dual_norm_ + lost_[j] + (added_.empty() ? 0.0 : rounding_of_products * std::abs(added_[j]));
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

void RegionBound::Knapsack::fill(std::vector<Weighed> features, double room) {
    features_ = std::move(features);
    std::sort(features_.begin(), features_.end(),
              [](const Weighed& a, const Weighed& b) { return a.reward / a.weight > b.reward / b.weight; });
    rewards_.assign(1, 0.0);
    weights_.assign(1, 0.0);
    for (const auto& [reward, weight] : features_) {
        rewards_.push_back(rewards_.back() + reward);
        weights_.push_back(weights_.back() + weight);
    }
    room_ = room;
    total_ = value(room);
}

double RegionBound::Knapsack::value(double room) const {
    if (!(room > 0.0)) return 0.0;
    const auto full = std::upper_bound(weights_.begin(), weights_.end(), room) - weights_.begin() - 1;
    if (full == size()) return rewards_.back();
    return rewards_[full] + features_[full].reward * ((room - weights_[full]) / features_[full].weight);
}

double RegionBound::Knapsack::fall_with(const Weighed& feature) const {
    return std::max(total_ - value(room_ - feature.weight) - feature.reward, 0.0);
}

double RegionBound::Knapsack::fall_without(const Weighed& feature) const {
    return std::max(feature.reward - (value(room_ + feature.weight) - total_), 0.0);
}

double RegionBound::find_gain_of_feature(int32_t j, const std::vector<double>& v) {
    if (!problem_.grouped()) return find_gain(j, v[j]);
    double total = 0.0, size = 0.0, terms = 0.0;
    for (const int32_t column : problem_.members(j)) {
        const double gained = find_gain(column, v[column]);
        total += gained;
        size += std::abs(gained);
        terms += 1.0;
    }
    return totals_[j] = terms > 1.0 ? total + terms * unit * size : total;  // rounded up
}

double RegionBound::find_gain(int32_t j, double v) {
    const Box& box = region_.box(j);
    // A constant column gains nothing; where nothing holds its coefficient, rounding would seem to gain all.
    if (problem_.X.square(j) == 0.0 && !std::isfinite(box.high - box.low)) return gains_[j] = 0.0;
    const double e = noise(j);
    return gains_[j] = std::max(ellzero::gain(v - e, box, region_.cost(j)), ellzero::gain(v + e, box, region_.cost(j)));
}

RegionBound::Sum RegionBound::decided(const DualPoint& dual, const std::vector<double>& v) {
    dual_norm_ = dual.norm;
    added_ = dual.added;
    Sum sum{dual.loss_part, std::abs(dual.loss_part)};
    for (const int32_t j : region_.in()) sum.take(find_gain_of_feature(j, v) - region_.charge(j));
    for (const int32_t j : region_.always()) sum.take(find_gain(j, v[j]));
    return sum;
}

void RegionBound::choose_tops(const std::vector<int32_t>& undecided) {
    tops_.assign(region_.clauses().size(), {});
    if (tops_.empty()) return;
    for (const int32_t j : undecided) {
        if (region_.clause_of(j) < 0) continue;
        Top& top = tops_[region_.clause_of(j)];
        const double reward = this->reward(j);
        if (top.column < 0 || reward > top.first) {
            top = {j, top.column, reward, top.first};
        } else if (reward > top.second) {
            top.second = reward;
            top.other = j;
        }
    }
}

double RegionBound::rounded_down(const Sum& sum) {
    value_ = sum.total - (static_cast<double>(sum.terms) + more_terms) * (rounding_of_sums * sum.size + least);
    if (std::isnan(value_)) value_ = -Penalty::infinity;
    return value_;
}

double RegionBound::compute(const DualPoint& dual, const std::vector<double>& v, const std::vector<int32_t>& undecided) {
    Sum sum = decided(dual, v);
    for (const int32_t j : undecided) find_gain_of_feature(j, v);
    choose_tops(undecided);
    for (const Top& top : tops_) sum.take(top.first);
    rewards_.clear();
    leavers_.clear();
    weighed_.clear();
    for (const int32_t j : undecided) {
        const double reward = this->reward(j);
        const int32_t clause = region_.clause_of(j);
        if (clause >= 0 && tops_[clause].column == j) continue;
        if (region_.at_home(j)) {
            sum.take(reward);
            if (reward < 0.0) leavers_.push_back(-reward);
        } else if (reward > 0.0 && !region_.by_price()) {
            rewards_.push_back(reward);
        } else if (reward > 0.0 && region_.fits(j)) {
            weighed_.push_back({reward, region_.weight(j)});
        }
    }
    if (region_.by_price()) {
        knapsack_.fill(weighed_, region_.left());
        sum.take(knapsack_.total());
    }
    // A budget, or a limit that is none, may leave room for more than can be counted.
    const auto most = static_cast<double>(rewards_.size() + 1);
    coming_ = choose(rewards_, static_cast<int64_t>(std::clamp(region_.left(), 0.0, most)));
    leaving_ = choose(leavers_, region_.may_leave());
    sum.take(coming_.total);
    sum.take(leaving_.total);
    sum.terms += std::ssize(rewards_) + std::ssize(weighed_) + std::ssize(leavers_);
    return rounded_down(sum);
}

double RegionBound::compute_leaf(const DualPoint& dual, const std::vector<double>& v, int32_t column) {
    Sum sum = decided(dual, v);
    if (column >= 0) sum.take(find_gain_of_feature(column, v) - region_.charge(column));
    return rounded_down(sum);
}

double RegionBound::raised(double rise) const {
    return value_ + rise - rounding_of_choice * (std::abs(value_) + std::abs(rise));
}

RegionBound::Decided RegionBound::if_decided_within_budget(int32_t j) const {
    const auto weighed = [&](int32_t i) { return Weighed{reward(i), region_.weight(i)}; };
    const int32_t clause = region_.clause_of(j);
    const Weighed mine = weighed(j);
    const double in = knapsack_.fall_with(mine), out = knapsack_.fall_without(mine);
    if (clause < 0) return {raised(in), raised(out)};
    // As below: in the place of the best of its clause, or beside it if it fits.
    const Top& top = tops_[clause];
    if (top.column != j) {
        const double instead = top.first - mine.reward;
        return region_.fits(j) ? Decided{raised(std::min(instead, in)), raised(out)} : Decided{raised(instead), value_};
    }
    const bool beside = top.other >= 0 && region_.fits(top.other);
    return {value_, raised(top.first - top.second + (beside ? knapsack_.fall_without(weighed(top.other)) : 0.0))};
}

RegionBound::Decided RegionBound::if_decided(int32_t j) const {
    if (region_.by_price()) return if_decided_within_budget(j);
    // A chosen feature outside the home comes in; a chosen one at home leaves.
    const bool home = region_.at_home(j);
    const double reward = home ? gain_of_leaving(j) : this->reward(j);
    const Chosen& chosen = home ? leaving_ : coming_;
    double last = chosen.last, next = chosen.next;
    if (const int32_t clause = region_.clause_of(j); clause >= 0) {
        // It may come in for the best of its clause, or beside it. Where the best is out, the second one takes its place, and
        // another one that of the second if that had come in anyway.
        const Top& top = tops_[clause];
        const bool more = region_.fits(j);
        if (top.column == j) return {value_, raised(top.first - (more ? std::min(top.second, next) : top.second))};
        last = more ? std::min(top.first, last) : top.first;
        if (!more) next = Penalty::infinity;
    }
    const double if_chosen = raised(std::max(last - reward, 0.0));
    const double if_not = raised(std::max(reward - next, 0.0));
    return home ? Decided{if_not, if_chosen} : Decided{if_chosen, if_not};
}

}  // namespace ellzero
