#include "ellzero/exact/region.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {

constexpr double unit = 0x1p-52;

float round_down(double x) {
    const auto f = static_cast<float>(x);
    return f <= x ? f : std::nextafter(f, -std::numeric_limits<float>::infinity());
}
float round_up(double x) { return -round_down(-x); }

// The positive root of lambda_1 m + lambda_2 m^2 = most: no coefficient can cost more.
double largest_affordable(double most, const Penalty& penalty) {
    const double a = penalty.lambda_2, b = penalty.lambda_1;
    if (a > 0.0) return 2.0 * most / (b + std::sqrt(b * b + 4.0 * a * most));
    return b > 0.0 ? most / b : Penalty::infinity;
}

// Beyond which m > 0 is lambda_2 m^2 + (lambda_1 - v) m + rest positive? Infinity if nowhere.
double positive_beyond(double v, double rest, const Penalty& penalty) {
    const double a = penalty.lambda_2, b = penalty.lambda_1 - v;
    if (a == 0.0) return b > 0.0 ? std::max(-rest / b, 0.0) : Penalty::infinity;
    const double square = b * b - 4.0 * a * rest;
    if (square < 0.0) return 0.0;
    return std::max((-b + std::sqrt(square)) / (2.0 * a), 0.0);
}

}  // namespace

Region::Region(const Problem& problem, double lambda_0, int64_t k, double free_bound, const SwapLimit& swaps)
    : problem_(problem), lambda_0_(lambda_0), most_(swaps.home.empty() ? k : swaps.size), swaps_(swaps) {
    const Columns& X = problem.X;
    const int64_t p = problem.columns();
    const double rounding = (static_cast<double>(problem.rows()) + 8.0) * unit * 2.0;
    for (int64_t c = 0; c < p; ++c) {
        const auto j = static_cast<int32_t>(c);
        Box box{problem.penalty.low(j), problem.penalty.high(j)};
        if (!problem.penalty.counted(j)) {
            always_.push_back(j);
            const bool penalised = problem.penalty.lambda_1 > 0.0 || problem.penalty.lambda_2 > 0.0;
            if (!penalised && (std::isinf(box.low) || std::isinf(box.high))) unheld_.push_back(j);
            if (!penalised) box = {std::max(box.low, -free_bound), std::min(box.high, free_bound)};
        }
        root_.push_back(box);
        const double shift = X.mean(j) * X.scale(j);
        norms_.push_back(rounding * std::sqrt(X.square(j) + shift * shift));
    }
    gains_.resize(p);
}

bool Region::load(const State& state, Decision decision, double cutoff) {
    const int64_t p = problem_.columns();
    box_ = root_;
    status_.assign(p, Status::free);
    for (int64_t j = 0; j < p; ++j)
        if (!state.out.empty() && (state.out[j >> 6] >> (j & 63) & 1)) status_[j] = Status::out;
    in_ = state.in;
    if (decision.column >= 0) {
        if (decision.in) in_.push_back(decision.column);
        else status_[decision.column] = Status::out;
    }
    for (const int32_t j : in_) status_[j] = Status::in;
    for (const int32_t j : always_) status_[j] = Status::always;
    for (const auto& [j, low, high] : state.boxes)
        box_[j] = {std::max(box_[j].low, static_cast<double>(low)), std::min(box_[j].high, static_cast<double>(high))};
    free_.clear();
    for (int64_t j = 0; j < p; ++j)
        if (status_[j] == Status::free) free_.push_back(static_cast<int32_t>(j));
    return settle(cutoff);
}

void Region::count() {
    const auto home = [&](int32_t j) { return at_home(j); };
    const int64_t homes_in = std::count_if(in_.begin(), in_.end(), home);
    home_free_.clear();
    if (!swaps_.home.empty()) std::copy_if(free_.begin(), free_.end(), std::back_inserter(home_free_), home);
    left_ = most_ - (std::ssize(in_) - homes_in);
    may_leave_ = swaps_.size - (swaps_.homes - homes_in - std::ssize(home_free_));
}

bool Region::settle(double cutoff) {
    count();
    if (left_ < 0 || may_leave_ < 0) return false;
    if (may_leave_ == 0 && !home_free_.empty()) {
        for (const int32_t j : home_free_) status_[j] = Status::in;
        in_.insert(in_.end(), home_free_.begin(), home_free_.end());
        std::erase_if(free_, [&](int32_t j) { return at_home(j); });
        count();
    }
    // So many of the free features at home stay, whichever leave.
    const int64_t staying = std::max<int64_t>(std::ssize(home_free_) - may_leave_, 0);
    const double spare = cutoff - lambda_0_ * static_cast<double>(std::ssize(in_) + staying);
    if (spare < 0.0) return false;
    const auto cap = [&](int32_t j, double m) { box_[j] = {std::max(box_[j].low, -m), std::min(box_[j].high, m)}; };
    const double inside = largest_affordable(spare, problem_.penalty);
    for (const int32_t j : in_) cap(j, inside);
    for (const int32_t j : always_) cap(j, inside);
    if (const bool affordable = spare >= lambda_0_; left_ == 0 || !affordable) {
        std::erase_if(free_, [&](int32_t j) {
            const bool possible = at_home(j) ? affordable || staying > 0 : affordable && left_ > 0;
            if (!possible) status_[j] = Status::out;
            return !possible;
        });
        count();
    }
    const double outside = largest_affordable(std::max(spare - lambda_0_, 0.0), problem_.penalty);
    for (const int32_t j : free_) cap(j, at_home(j) && staying > 0 ? inside : outside);
    return true;
}

Region::Chosen Region::choose(std::vector<double>& rewards, int64_t most) {
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

void Region::store(State& state) const {
    const int64_t p = problem_.columns();
    state.in = in_;
    state.out.assign((p + 63) / 64, 0);
    for (int64_t j = 0; j < p; ++j)
        if (status_[j] == Status::out) state.out[j >> 6] |= uint64_t{1} << (j & 63);
    state.boxes.clear();
    // A box matters once it is narrower than the envelope's knee (a wider one is had again from the cutoff).
    const double knee = problem_.penalty.lambda_2 > 0.0 && lambda_0_ > 0.0 ? std::sqrt(lambda_0_ / problem_.penalty.lambda_2)
                                                                           : Penalty::infinity;
    const auto keep = [&](int32_t j, double wide) {
        if (box_[j].low > std::max(root_[j].low, -wide) || box_[j].high < std::min(root_[j].high, wide))
            state.boxes.push_back({j, round_down(box_[j].low), round_up(box_[j].high)});
    };
    for (const int32_t j : in_) keep(j, Penalty::infinity);
    for (const int32_t j : always_) keep(j, Penalty::infinity);
    for (const int32_t j : free_) keep(j, knee);
}

double Region::bound(const DualPoint& dual, const std::vector<double>& v, const std::vector<int32_t>& free, int32_t also_in) {
    dual_norm_ = dual.norm;
    const Penalty& penalty = problem_.penalty;
    double total = dual.loss_part, size = std::abs(total);
    const auto gain_of = [&](int32_t j) {
        const double e = noise(j);
        gains_[j] = std::max(gain(v[j] - e, box_[j], penalty), gain(v[j] + e, box_[j], penalty));
        return gains_[j];
    };
    const auto take = [&](double amount) {
        total -= amount;
        size += std::abs(amount);
    };
    for (const int32_t j : in_) take(gain_of(j) - lambda_0_);
    for (const int32_t j : always_) take(gain_of(j));
    if (also_in >= 0) take(gain_of(also_in) - lambda_0_);
    rewards_.clear();
    leavers_.clear();
    for (const int32_t j : free) {
        const double reward = gain_of(j) - lambda_0_;
        if (at_home(j)) {
            take(reward);
            if (reward < 0.0) leavers_.push_back(-reward);
        } else if (reward > 0.0) {
            rewards_.push_back(reward);
        }
    }
    coming_ = choose(rewards_, left_);
    leaving_ = choose(leavers_, may_leave_);
    take(coming_.total);
    take(leaving_.total);
    const double terms =
        static_cast<double>(in_.size() + always_.size() + home_free_.size() + rewards_.size() + leavers_.size()) + 8.0;
    value_ = total - 4.0 * unit * terms * size;
    if (std::isnan(value_)) value_ = -Penalty::infinity;
    return value_;
}

// `base` bounds the objective with j in, but for what j itself gains.
void Region::shrink(int32_t j, double base, double cutoff, double v) {
    Box& box = box_[j];
    const double e = noise(j);
    const double up = positive_beyond(v + e, base - cutoff, problem_.penalty) * (1.0 + 1e-12);
    const double down = positive_beyond(-v + e, base - cutoff, problem_.penalty) * (1.0 + 1e-12);
    box = {std::max(box.low, -down), std::min(box.high, up)};
}

bool Region::tighten(const std::vector<double>& v, double cutoff) {
    if (!std::isfinite(value_)) return true;
    std::vector<int32_t> still;
    for (const int32_t j : in_) shrink(j, value_ + gains_[j], cutoff, v[j]);
    for (const int32_t j : always_)
        if (box_[j].low <= 0.0 && box_[j].high >= 0.0) shrink(j, value_ + gains_[j], cutoff, v[j]);
    const double slack = 1e-14 * std::abs(value_);
    for (const int32_t j : free_) {
        // What is chosen of the others comes in, of the home it leaves.
        const bool home = at_home(j);
        const double reward = home ? lambda_0_ - gains_[j] : gains_[j] - lambda_0_;
        const Chosen& chosen = home ? leaving_ : coming_;
        const double if_chosen = value_ + std::max(chosen.last - reward, 0.0) - slack;
        const double if_not = value_ + std::max(reward - chosen.next, 0.0) - slack;
        const double with = home ? if_not : if_chosen, without = home ? if_chosen : if_not;
        if (with > cutoff && without > cutoff) return false;
        if (with > cutoff) {
            status_[j] = Status::out;
            continue;
        }
        if (without > cutoff) {
            status_[j] = Status::in;
            in_.push_back(j);
        } else {
            still.push_back(j);
        }
        shrink(j, with + gains_[j], cutoff, v[j]);
    }
    free_ = std::move(still);
    return settle(cutoff);
}

bool Region::contains(const Model& model) const {
    std::vector<uint8_t> used(problem_.columns(), 0);
    for (size_t k = 0; k < model.support.size(); ++k) {
        const int32_t j = model.support[k];
        const double b = model.beta[k];
        if (b == 0.0) continue;
        used[j] = 1;
        if (status_[j] == Status::out) return false;
        const double room = 1e-9 * (1.0 + std::abs(b));
        if (b < box_[j].low - room || b > box_[j].high + room) return false;
    }
    return std::all_of(in_.begin(), in_.end(), [&](int32_t j) { return used[j]; });
}

}  // namespace ellzero
