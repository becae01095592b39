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
// A diagonal is made anew when no more than this part of its columns is left.
constexpr double few_enough_to_renew = 0.6;
// Relative to a budget, so much more is allowed for what comes in, and what two features would exceed it by for certain is more
// than that.
constexpr double more_room = 10.0 * budget_slack, certainly = 1e-9;

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
      diagonals_(options.diagonals),
      most_(static_cast<double>(options.swaps.limits() ? options.swaps.size : options.k)),
      by_price_(options.has_budget() && !options.swaps.limits()) {
    if (by_price_) most_ = options.budget * (1.0 + more_room);
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

bool Region::load(const State& state, const Decision& decision, double cutoff) {
    const int64_t p = problem_.columns();
    box_ = root_;
    set_diagonal(state.diagonal);
    tried_ = state.tried;
    status_.assign(p, Status::undecided);
    for (int32_t j = 0; j < p; ++j)
        if (state.out.test(j)) status_[j] = Status::out;
    if (!decision.in)
        for (const int32_t j : decision.block) status_[j] = Status::out;
    for (const int32_t j : always_) status_[j] = Status::always;
    in_.clear();
    clauses_.clear();
    clause_of_.assign(p, -1);
    for (int64_t k = 0; k < state.clauses.count(); ++k) require_one_of(state.clauses[k]);
    if (decision.made() && decision.in) require_one_of(decision.block);
    for (const auto& [j, low, high] : state.boxes)
        box_[j] = {std::max(box_[j].low, low / unit(j)), std::min(box_[j].high, high / unit(j))};
    undecided_.clear();
    for (int32_t j = 0; j < p; ++j)
        if (status_[j] == Status::undecided && problem_.is_head(j)) undecided_.push_back(j);
    return settle(cutoff);
}

void Region::require_one_of(std::span<const int32_t> columns) {
    const int32_t clause = columns.empty() ? -1 : clause_of_[columns.front()];
    const auto elsewhere = [&](int32_t j) { return status_[j] == Status::in || clause_of_[j] != clause; };
    if (std::any_of(columns.begin(), columns.end(), elsewhere)) return;
    if (clause < 0) {
        clauses_.emplace_back(columns.begin(), columns.end());
    } else {
        for (const int32_t j : clauses_[clause]) clause_of_[j] = -1;
        clauses_[clause].assign(columns.begin(), columns.end());
    }
    for (const int32_t j : columns) clause_of_[j] = clause < 0 ? static_cast<int32_t>(clauses_.size()) - 1 : clause;
}

bool Region::settle_clauses() {
    bool came = false;
    for (auto& clause : clauses_) {
        std::erase_if(clause, [&](int32_t j) { return status_[j] == Status::out; });
        if (clause.empty()) return false;
        const auto in = [&](int32_t j) { return status_[j] == Status::in; };
        if (clause.size() == 1 && !in(clause.front())) {
            status_[clause.front()] = Status::in;
            in_.push_back(clause.front());
            came = true;
        }
        if (std::any_of(clause.begin(), clause.end(), in)) clause.clear();
    }
    std::erase_if(clauses_, [](const auto& clause) { return clause.empty(); });
    std::fill(clause_of_.begin(), clause_of_.end(), -1);
    cheapest_.assign(clauses_.size(), Penalty::infinity);
    for (size_t k = 0; k < clauses_.size(); ++k)
        for (const int32_t j : clauses_[k]) {
            clause_of_[j] = static_cast<int32_t>(k);
            cheapest_[k] = std::min(cheapest_[k], price(j));
        }
    if (came) std::erase_if(undecided_, [&](int32_t j) { return status_[j] != Status::undecided; });
    return true;
}

bool Region::obey(bool& changed) {
    changed = false;
    if (!problem_.rules) return true;
    std::vector<Known> known = problem_.rules.known();
    for (const int32_t j : in_) {
        if (known[j] == Known::out) return false;
        known[j] = Known::in;
    }
    for (int32_t j = 0; j < problem_.columns(); ++j)
        if (status_[j] == Status::out && problem_.is_head(j)) {
            if (known[j] == Known::in) return false;
            known[j] = Known::out;
        }
    if (!problem_.rules.propagate(known)) return false;
    for (const int32_t j : undecided_) {
        if (known[j] == Known::open) continue;
        changed = true;
        status_[j] = known[j] == Known::in ? Status::in : Status::out;
        if (known[j] == Known::in) in_.push_back(j);
    }
    if (changed) std::erase_if(undecided_, [&](int32_t j) { return status_[j] != Status::undecided; });
    return true;
}

void Region::set_diagonal(const std::shared_ptr<const Diagonal>& diagonal) {
    diagonal_ = diagonal;
    moved_.assign(problem_.columns(), 0.0);
    if (!diagonal_) return;
    for (size_t k = 0; k < diagonal_->columns.size(); ++k) moved_[diagonal_->columns[k]] = diagonal_->curvatures[k];
}

std::shared_ptr<Diagonal> Region::renew_diagonal(bool root) {
    std::vector<int32_t> alive;
    const auto add = [&](const std::vector<int32_t>& columns) {
        for (const int32_t j : columns)
            if (problem_.X.square(j) > 0.0) alive.push_back(j);
    };
    add(columns_of(in_));
    add(always_);
    add(columns_of(undecided_));
    const int64_t count = std::ssize(alive);
    if (!diagonals_ || !worth_moving_curvature(problem_, count, root)) return nullptr;
    if (tried_ > 0 && static_cast<double>(count) > few_enough_to_renew * static_cast<double>(tried_)) return nullptr;
    tried_ = count;
    std::shared_ptr<Diagonal> made = make_diagonal(problem_, std::move(alive));
    if (made) set_diagonal(made);
    return made;
}

double Region::unit(int32_t j) const {
    const double square = problem_.X.square(j);
    return square > 0.0 ? std::ldexp(1.0, std::ilogb(square) / 2) : 1.0;
}

void Region::store(State& state) const {
    const int64_t p = problem_.columns();
    state.clauses.clear();
    for (const int32_t j : in_) state.clauses.add({&j, 1});
    for (const auto& clause : clauses_) state.clauses.add(clause);
    state.out = ColumnSet(p);
    for (int32_t j = 0; j < p; ++j)
        if (status(j) == Status::out) state.out.insert(j);
    state.diagonal = diagonal_;
    state.tried = tried_;
    state.boxes.clear();
    // A box matters once it is narrower than the envelope's knee (a wider one follows again from the cutoff).
    const bool bends = problem_.penalty.lambda_2 > 0.0 && lambda_0_ > 0.0;
    const auto keep = [&](int32_t j, double wide) {
        if (box_[j].low > std::max(root_[j].low, -wide) || box_[j].high < std::min(root_[j].high, wide))
            state.boxes.push_back({j, round_down(box_[j].low * unit(j)), round_up(box_[j].high * unit(j))});
    };
    for (const int32_t j : columns_of(in_)) keep(j, Penalty::infinity);
    for (const int32_t j : always_) keep(j, Penalty::infinity);
    for (const int32_t j : columns_of(undecided_))
        keep(j, bends ? std::sqrt(charge(j) / problem_.penalty.lambda_2) : Penalty::infinity);
}

void Region::count() {
    const auto home = [&](int32_t j) { return at_home(j); };
    const int64_t homes_in = std::count_if(in_.begin(), in_.end(), home);
    home_undecided_.clear();
    if (swaps_.limits()) std::copy_if(undecided_.begin(), undecided_.end(), std::back_inserter(home_undecided_), home);
    left_ = by_price_ ? most_ - taken(in_) - taken_by_clauses()
                      : most_ - static_cast<double>((std::ssize(in_) - homes_in) + std::ssize(clauses_));
    limited_ =
        left_ < (by_price_ ? taken(undecided_) - taken_by_clauses()
                           : static_cast<double>(std::ssize(undecided_) - std::ssize(home_undecided_) - std::ssize(clauses_)));
    may_leave_ = swaps_.size - (swaps_.homes - homes_in - std::ssize(home_undecided_));
}

double Region::taken(const std::vector<int32_t>& columns) const {
    double total = 0.0;
    for (const int32_t j : columns) total += weight(j);
    return total;
}

double Region::taken_by_clauses() const {
    if (!by_price_) return static_cast<double>(std::ssize(clauses_));
    double total = 0.0;
    for (const double price : cheapest_) total += price;
    return total;
}

double Region::paid() const {
    if (!problem_.penalty.unequal) return static_cast<double>(in_.size() + home_undecided_.size());
    double total = 0.0;
    for (const auto* list : {&in_, &home_undecided_})
        for (const int32_t j : *list) total += price(j);
    return total;
}

bool Region::one_more() const {
    if (!home_undecided_.empty() || !limited_ || std::ssize(clauses_) > 1) return false;
    if (!by_price_) return left_ + static_cast<double>(std::ssize(clauses_)) == 1.0;
    // The two cheapest do not fit together.
    double first = Penalty::infinity, second = Penalty::infinity;
    for (const int32_t j : undecided_) {
        const double other = std::max(first, weight(j));
        first = std::min(first, weight(j));
        second = std::min(second, other);
    }
    return first + second > left_ + taken_by_clauses() + certainly * most_;
}

void Region::cap(int32_t feature, double most) {
    for (const int32_t j : problem_.members(feature)) cap_column(j, most);
}

void Region::cap_column(int32_t j, double most) { box_[j] = {std::max(box_[j].low, -most), std::min(box_[j].high, most)}; }

std::vector<int32_t> Region::columns_of(const std::vector<int32_t>& features) const {
    if (!problem_.grouped()) return features;
    std::vector<int32_t> out;
    for (const int32_t feature : features)
        for (const int32_t j : problem_.members(feature)) out.push_back(j);
    return out;
}

bool Region::settle(double cutoff) {
    // 1. The rules, and the numbers: if no feature may leave the home any more, all of it is in.
    for (bool changed = true; changed;)
        if (!settle_clauses() || !obey(changed)) return false;
    count();
    if (left_ < 0 || may_leave_ < 0) return false;
    if (may_leave_ == 0 && !home_undecided_.empty()) {
        for (const int32_t j : home_undecided_) status_[j] = Status::in;
        in_.insert(in_.end(), home_undecided_.begin(), home_undecided_.end());
        std::erase_if(undecided_, [&](int32_t j) { return at_home(j); });
        if (problem_.rules) return settle(cutoff);
        count();
    }
    // 2. The costs: `staying` of the undecided features at home pay lambda_0, whichever leave, and one of each clause does.
    const int64_t staying = std::max<int64_t>(std::ssize(home_undecided_) - may_leave_, 0);
    double stay = Penalty::infinity;  // the least price of these
    for (const int32_t j : home_undecided_) stay = std::min(stay, price(j));
    auto prices = static_cast<double>(std::ssize(in_) + std::ssize(clauses_) + staying);
    if (problem_.penalty.unequal) {
        prices = staying > 0 ? stay * static_cast<double>(staying) : 0.0;
        for (const int32_t j : in_) prices += price(j);
        for (const double least : cheapest_) prices += least;
    }
    const double spare = cutoff - lambda_0_ * prices;
    if (spare < 0.0) return false;
    // What is spare if j comes in: the price that was counted for one of its clause, or of the home, may be its own.
    const auto left_over = [&](int32_t j) {
        const double counted = clause_of_[j] >= 0 ? cheapest_[clause_of_[j]] : at_home(j) && staying > 0 ? stay : 0.0;
        return spare - lambda_0_ * (price(j) - counted);
    };
    double last = spare, last_reach = largest_affordable(spare, problem_.penalty);
    const auto reach = [&](double most) {  // many features have the same
        if (most != last) last_reach = largest_affordable(last = most, problem_.penalty);
        return last_reach;
    };
    for (const int32_t j : in_) cap(j, reach(spare));
    for (const int32_t j : always_) cap_column(j, reach(spare));
    // 3. Features that the numbers or the costs keep from coming in are out. In the place of the cheapest of its clause, one
    // may take more room.
    const auto possible = [&](int32_t j) {
        if (left_over(j) < 0.0) return false;
        if (at_home(j)) return true;
        if (clause_of_[j] < 0) return fits(j);
        return !by_price_ || weight(j) - cheapest_[clause_of_[j]] <= left_;
    };
    if (!std::all_of(undecided_.begin(), undecided_.end(), possible)) {
        bool from_clause = false;
        std::erase_if(undecided_, [&](int32_t j) {
            const bool stays = possible(j);
            if (!stays) status_[j] = Status::out;
            from_clause = from_clause || (!stays && clause_of_[j] >= 0);
            return !stays;
        });
        // What is left of a clause may be in, or cost more; rules may ask for what is out.
        if (from_clause || problem_.rules) return settle(cutoff);
        count();
    }
    // 4. Features that can come in pay their price first, then their own penalty.
    for (const int32_t j : undecided_) cap(j, reach(std::max(left_over(j), 0.0)));
    return true;
}

bool Region::contains(const Model& model) const {
    ColumnSet used(problem_.columns());
    for (size_t k = 0; k < model.support.size(); ++k) {
        const int32_t j = model.support[k];
        const double b = model.beta[k];
        if (b == 0.0) continue;
        used.insert(problem_.head(j));
        if (status(j) == Status::out) return false;
        const double room = box_tolerance * (1.0 + std::abs(b));
        if (b < box_[j].low - room || b > box_[j].high + room) return false;
    }
    const auto uses = [&](int32_t j) { return used.test(j); };
    return std::all_of(in_.begin(), in_.end(), uses) && std::all_of(clauses_.begin(), clauses_.end(), [&](const auto& clause) {
        return std::any_of(clause.begin(), clause.end(), uses);
    });
}

}  // namespace ellzero
