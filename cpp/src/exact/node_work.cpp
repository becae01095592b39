#include "ellzero/exact/node_work.hpp"

#include <algorithm>
#include <utility>

namespace ellzero {
namespace {

// A new clause pays this part of the pool's charge at first.
constexpr double share_of_new_clause = 0.7;

// What the cheapest member of each clause would pay in the pool, or a share of that.
std::vector<double> pool_charges(const Charges& charges, double share) {
    std::vector<double> out;
    out.reserve(charges.cheapest.size());
    for (const double price : charges.cheapest) out.push_back(share * charges.of_pool(price));
    return out;
}

// The charges of clauses that may have lost members since; those that are new pay as `others`.
std::vector<double> carried(const ColumnLists& from, const std::vector<double>& charges, const ColumnLists& to,
                            std::vector<double> others, int64_t columns) {
    std::vector<double> by_column(columns, 0.0), out = std::move(others);
    for (int64_t k = 0; k < std::min<int64_t>(from.count(), std::ssize(charges)); ++k)
        for (const int32_t j : from[k]) by_column[j] = charges[k];
    for (int64_t k = 0; k < to.count(); ++k)
        if (const double charge = by_column[to[k].front()]; charge > 0.0) out[k] = charge;
    return out;
}

}  // namespace

NodeWork::NodeWork(const NodeSetting& setting)
    : region(setting.problem, setting.options), relaxation(setting.problem), aside(setting.problem), setting_(setting) {}

void NodeWork::forget() {
    if (setting_.problem.loss.constant_curvature()) return;
    relaxation.forget();
    aside.forget();
}

void NodeWork::start(const State& state) {
    std::vector<Relaxation::Coordinate> coordinates;
    coordinates.reserve(state.columns.size());
    for (size_t k = 0; k < state.columns.size(); ++k)
        coordinates.push_back({state.columns[k], {}, Charges::paid, state.beta[k]});
    working.near = state.near;
    begin(coordinates, state.intercept, state.mu, state.clauses, state.charges);
    if (setting_.has_kink()) relaxation.smooth(node_tolerances::smoothing, state.alpha.empty() ? nullptr : &state.alpha);
}

void NodeWork::restart() {
    const std::vector<Relaxation::Coordinate> coordinates = relaxation.coordinates();
    const Charges charges = relaxation.charges();
    begin(coordinates, relaxation.intercept(), charges.mu, ColumnLists(clauses_), charges.clauses);
    if (setting_.has_kink()) relaxation.smooth(node_tolerances::smoothing, &proof.dual.alpha);
}

void NodeWork::begin(const std::vector<Relaxation::Coordinate>& from, const std::vector<double>& intercept, double mu,
                     const ColumnLists& clauses, const std::vector<double>& charges) {
    std::erase_if(working.near, [&](int32_t j) { return !region.undecided(j); });
    working.columns = ColumnSet(setting_.problem.columns());
    const Problem& problem = setting_.problem;
    std::vector<Relaxation::Coordinate> coordinates;
    std::vector<double> at(problem.columns(), 0.0);
    for (const auto& c : from) at[c.column] = c.beta;
    // All columns of a group follow each other.
    const auto take = [&](int32_t feature) {
        for (const int32_t j : problem.members(feature)) {
            if (working.columns.test(j) || region.status(j) == Region::Status::out) continue;
            working.columns.insert(j);
            coordinates.push_back({j, region.box(j), region.group(j), at[j], region.moved(j)});
        }
    };
    for (const auto& c : from)
        if (c.beta != 0.0) take(problem.head(c.column));
    for (const auto* list : {&region.in(), &region.always(), &region.home_undecided()})
        for (const int32_t j : *list) take(problem.head(j));
    Charges started{setting_.options.lambda_0, region.limited() ? mu : 0.0, {}, region.room(), region.by_price(),
                    region.cheapest()};
    ColumnLists now;
    for (const auto& clause : region.clauses()) now.add(clause);
    started.clauses = carried(clauses, charges, now, pool_charges(started, share_of_new_clause), setting_.problem.columns());
    clauses_ = std::move(now);
    relaxation.begin(std::move(coordinates), intercept, std::move(started));
}

std::vector<Relaxation::Coordinate> NodeWork::coordinates() const {
    std::vector<Relaxation::Coordinate> out;
    for (Relaxation::Coordinate c : relaxation.coordinates()) {
        if (region.status(c.column) == Region::Status::out) continue;
        c.box = region.box(c.column);
        c.group = region.group(c.column);
        out.push_back(c);
    }
    return out;
}

Charges NodeWork::charges() const {
    Charges out = relaxation.charges();
    ColumnLists now;
    for (const auto& clause : region.clauses()) now.add(clause);
    out.cheapest = region.cheapest();
    out.clauses = carried(clauses_, out.clauses, now, pool_charges(out, 1.0), setting_.problem.columns());
    out.room = region.room();
    return out;
}

NodeWork::Child NodeWork::child(const Decision& decision) const {
    Child out{coordinates(), charges(), 0.0};
    for (const int32_t j : region.in()) out.paid += region.price(j);
    Charges& charges = out.charges;
    const auto listed = [&](int32_t j) {
        return std::find(decision.block.begin(), decision.block.end(), setting_.problem.head(j)) != decision.block.end();
    };
    const auto put_out = [](Relaxation::Coordinate& c) { c = {c.column, {0.0, 0.0}, Charges::paid, 0.0}; };
    if (!decision.in) {
        for (auto& c : out.coordinates)
            if (listed(c.column)) put_out(c);
        return out;
    }
    const int32_t clause = region.clause_of(decision.block.front());
    const bool alone = decision.block.size() == 1;
    // The decision's features take the room of the cheapest of them, in the place of that of their clause.
    double price = Penalty::infinity;
    for (const int32_t j : decision.block) price = std::min(price, region.price(j));
    charges.room -= charges.weight(price);
    if (clause >= 0) charges.room += charges.weight(charges.cheapest[clause]);
    if (clause < 0 && !alone) {
        charges.cheapest.push_back(price);
        charges.clauses.push_back(share_of_new_clause * charges.of_pool(price));
    } else if (clause >= 0 && alone) {
        charges.clauses.erase(charges.clauses.begin() + clause);
        charges.cheapest.erase(charges.cheapest.begin() + clause);
    } else if (clause >= 0) {
        charges.clauses[clause] += charges.lambda_0 * (price - charges.cheapest[clause]);
        charges.cheapest[clause] = price;
    }
    if (alone) out.paid += price;
    const int32_t group =
        clause < 0 ? Charges::first_clause + static_cast<int32_t>(charges.clauses.size()) - 1 : Charges::first_clause + clause;
    for (auto& c : out.coordinates) {
        if (listed(c.column)) {
            c.group = alone ? Charges::paid : group;
            continue;
        }
        if (clause >= 0 && c.group == group) c.group = Charges::pool;
        else if (clause >= 0 && alone && c.group > group) --c.group;
        if (c.group == Charges::pool && !(charges.room >= charges.weight(region.price(c.column)))) put_out(c);
    }
    return out;
}

void NodeWork::begin_aside(std::vector<Relaxation::Coordinate> coordinates, Charges charges) {
    if (setting_.has_kink()) aside.smooth(node_tolerances::smoothing, &proof.dual.alpha);
    aside.begin(std::move(coordinates), relaxation.intercept(), std::move(charges));
}

std::shared_ptr<State> NodeWork::leave() const {
    auto state = std::make_shared<State>();
    region.store(*state);
    for (const auto& c : relaxation.coordinates())
        if (c.beta != 0.0 && region.status(c.column) != Region::Status::out) {
            state->columns.push_back(c.column);
            state->beta.push_back(c.beta);
        }
    state->intercept = relaxation.intercept();
    state->mu = relaxation.charges().mu;
    const std::vector<double> others(state->clauses.count(), 0.0);
    state->charges = carried(clauses_, relaxation.charges().clauses, state->clauses, others, setting_.problem.columns());
    for (const int32_t j : working.near)
        if (region.undecided(j)) state->near.push_back(j);
    if (setting_.has_kink()) state->alpha = proof.dual.alpha;
    return state;
}

std::shared_ptr<State> NodeWork::leave_with_shares() const {
    std::shared_ptr<State> state = leave();
    const auto& coordinates = relaxation.coordinates();
    std::vector<float> shares(setting_.problem.columns(), 0.0F);
    for (size_t k = 0; k < coordinates.size(); ++k) shares[coordinates[k].column] = static_cast<float>(relaxation.share(k));
    for (const int32_t j : state->columns) state->shares.push_back(shares[j]);
    return state;
}

}  // namespace ellzero
