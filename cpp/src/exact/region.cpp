#include "ellzero/exact/region.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "ellzero/exact/last_root.hpp"

namespace ellzero {
namespace {

// A solution that is known up to rounding may lie so far outside its box, relative to 1 + |beta|.
constexpr double box_tolerance = 1e-9;

float round_down(double x) {
    const auto f = static_cast<float>(x);
    return f <= x ? f : std::nextafter(f, -std::numeric_limits<float>::infinity());
}
float round_up(double x) { return -round_down(-x); }

// Beyond lambda_1 m + lambda_2 m^2 = most a coefficient costs too much.
double largest_affordable(double most, const Penalty& penalty) { return last_root(penalty.lambda_2, penalty.lambda_1, -most); }

}  // namespace

Region::Region(const Problem& problem, const ExactOptions& options)
    : problem_(problem),
      swaps_(options.swaps),
      lambda_0_(options.lambda_0),
      most_(options.swaps.limits() ? options.swaps.size : options.k) {
    const Penalty& penalty = problem.penalty;
    const bool penalised = penalty.lambda_1 > 0.0 || penalty.lambda_2 > 0.0;
    const double most = options.free_bound;
    for (int32_t j = 0; j < problem.columns(); ++j) {
        Box box{penalty.low(j), penalty.high(j)};
        if (!penalty.counted(j)) {
            always_.push_back(j);
            if (!penalised && std::max(-box.low, box.high) >= most * (1.0 - box_tolerance)) free_.push_back(j);
            if (!penalised) box = {std::max(box.low, -most), std::min(box.high, most)};
        }
        root_.push_back(box);
    }
}

bool Region::load(const State& state, Decision decision, double cutoff) {
    const int64_t p = problem_.columns();
    box_ = root_;
    status_.assign(p, Status::undecided);
    for (int32_t j = 0; j < p; ++j)
        if (state.out.test(j)) status_[j] = Status::out;
    in_ = state.in;
    if (decision.made()) {
        if (decision.in) in_.push_back(decision.column);
        else status_[decision.column] = Status::out;
    }
    for (const int32_t j : in_) status_[j] = Status::in;
    for (const int32_t j : always_) status_[j] = Status::always;
    for (const auto& [j, low, high] : state.boxes)
        box_[j] = {std::max(box_[j].low, low / unit(j)), std::min(box_[j].high, high / unit(j))};
    undecided_.clear();
    for (int32_t j = 0; j < p; ++j)
        if (status_[j] == Status::undecided) undecided_.push_back(j);
    return settle(cutoff);
}

double Region::unit(int32_t j) const {
    const double square = problem_.X.square(j);
    return square > 0.0 ? std::ldexp(1.0, std::ilogb(square) / 2) : 1.0;
}

void Region::store(State& state) const {
    const int64_t p = problem_.columns();
    state.in = in_;
    state.out = ColumnSet(p);
    for (int32_t j = 0; j < p; ++j)
        if (status_[j] == Status::out) state.out.insert(j);
    state.boxes.clear();
    // A box matters once it is narrower than the envelope's knee (a wider one follows again from the cutoff).
    const double knee = problem_.penalty.lambda_2 > 0.0 && lambda_0_ > 0.0 ? std::sqrt(lambda_0_ / problem_.penalty.lambda_2)
                                                                           : Penalty::infinity;
    const auto keep = [&](int32_t j, double wide) {
        if (box_[j].low > std::max(root_[j].low, -wide) || box_[j].high < std::min(root_[j].high, wide))
            state.boxes.push_back({j, round_down(box_[j].low * unit(j)), round_up(box_[j].high * unit(j))});
    };
    for (const int32_t j : in_) keep(j, Penalty::infinity);
    for (const int32_t j : always_) keep(j, Penalty::infinity);
    for (const int32_t j : undecided_) keep(j, knee);
}

void Region::count() {
    const auto home = [&](int32_t j) { return at_home(j); };
    const int64_t homes_in = std::count_if(in_.begin(), in_.end(), home);
    home_undecided_.clear();
    if (swaps_.limits()) std::copy_if(undecided_.begin(), undecided_.end(), std::back_inserter(home_undecided_), home);
    left_ = most_ - (std::ssize(in_) - homes_in);
    may_leave_ = swaps_.size - (swaps_.homes - homes_in - std::ssize(home_undecided_));
}

void Region::cap(int32_t j, double most) { box_[j] = {std::max(box_[j].low, -most), std::min(box_[j].high, most)}; }

bool Region::settle(double cutoff) {
    // 1. The numbers: if no feature may leave the home any more, all of it is in.
    count();
    if (left_ < 0 || may_leave_ < 0) return false;
    if (may_leave_ == 0 && !home_undecided_.empty()) {
        for (const int32_t j : home_undecided_) status_[j] = Status::in;
        in_.insert(in_.end(), home_undecided_.begin(), home_undecided_.end());
        std::erase_if(undecided_, [&](int32_t j) { return at_home(j); });
        count();
    }
    // 2. The costs: `staying` of the undecided features at home pay lambda_0, whichever leave.
    const int64_t staying = std::max<int64_t>(std::ssize(home_undecided_) - may_leave_, 0);
    const double spare = cutoff - lambda_0_ * static_cast<double>(std::ssize(in_) + staying);
    if (spare < 0.0) return false;
    const double inside = largest_affordable(spare, problem_.penalty);
    for (const int32_t j : in_) cap(j, inside);
    for (const int32_t j : always_) cap(j, inside);
    // 3. Features that the numbers or the costs keep from coming in are out.
    if (const bool affordable = !(spare < lambda_0_); left_ == 0 || !affordable) {
        std::erase_if(undecided_, [&](int32_t j) {
            const bool possible = at_home(j) ? affordable || staying > 0 : affordable && left_ > 0;
            if (!possible) status_[j] = Status::out;
            return !possible;
        });
        count();
    }
    // 4. Features that can come in pay lambda_0 first, then their own penalty.
    const double outside = largest_affordable(std::max(spare - lambda_0_, 0.0), problem_.penalty);
    for (const int32_t j : undecided_) cap(j, at_home(j) && staying > 0 ? inside : outside);
    return true;
}

bool Region::contains(const Model& model) const {
    ColumnSet used(problem_.columns());
    for (size_t k = 0; k < model.support.size(); ++k) {
        const int32_t j = model.support[k];
        const double b = model.beta[k];
        if (b == 0.0) continue;
        used.insert(j);
        if (status_[j] == Status::out) return false;
        const double room = box_tolerance * (1.0 + std::abs(b));
        if (b < box_[j].low - room || b > box_[j].high + room) return false;
    }
    return std::all_of(in_.begin(), in_.end(), [&](int32_t j) { return used.test(j); });
}

}  // namespace ellzero
