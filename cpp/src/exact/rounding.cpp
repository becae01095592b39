#include "ellzero/exact/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace ellzero {
namespace {

using namespace node_tolerances;

// So many supports that were rounded to are remembered, so that they are not refitted again.
constexpr size_t remembered = 64;
// The method of multipliers: Newton steps in a round, rounds between two values that are compared, and the factor of the
// smoothing in each round.
constexpr int steps_per_round = 5, rounds_compared = 5;
constexpr double faster = 0.5;
// A refit ends when its value gains less than this, relative to the objective, or when even so many times its last gain would
// not make it the incumbent.
constexpr double negligible_gain = 1e-13, hopeless = 100.0;

}  // namespace

void Rounding::round(const RegionBound& bound) {
    const auto& coordinates = work_.relaxation.coordinates();
    std::vector<int32_t> support;
    std::vector<double> beta;
    for (const size_t k : kept_coordinates(bound)) {
        support.push_back(coordinates[k].column);
        beta.push_back(coordinates[k].beta);
    }
    if (setting_.problem.rules && !obey(support, beta)) return;
    if (std::find(tried_.begin(), tried_.end(), support) != tried_.end()) return;
    if (tried_.size() >= remembered) tried_.erase(tried_.begin());
    tried_.push_back(support);
    setting_.incumbent.offer(refit(support, beta, work_.relaxation.intercept()));
}

// Moves a support to one near it that obeys the rules; features with large coefficients rather stay, or come.
bool Rounding::obey(std::vector<int32_t>& support, std::vector<double>& beta) const {
    const Problem& problem = setting_.problem;
    std::vector<double> at(problem.columns(), 0.0), worth(problem.columns(), 0.0);
    for (const auto& coordinate : work_.relaxation.coordinates()) {
        const int32_t j = coordinate.column;
        at[j] = coordinate.beta;
        worth[problem.head(j)] += std::abs(at[j]) * std::sqrt(problem.X.square(j));
    }
    std::vector<int32_t> heads, out;
    for (const int32_t j : support)
        if (problem.is_head(j)) heads.push_back(j);
    for (int32_t j = 0; j < problem.columns(); ++j)
        if (problem.is_head(j) && work_.region.status(j) == Region::Status::out) out.push_back(j);
    const auto closed = problem.rules.closed(heads, work_.region.in(), out, [&](int32_t j) { return worth[j]; });
    if (!closed) return false;
    support = work_.region.columns_of(*closed);
    std::ranges::sort(support);
    beta.clear();
    for (const int32_t j : support) beta.push_back(at[j]);
    return true;
}

// Keeps what is in and, of the charged features, those with the largest coefficients: one of each clause, and others.
std::vector<size_t> Rounding::kept_coordinates(const RegionBound& bound) const {
    const Region& region = work_.region;
    const auto& coordinates = work_.relaxation.coordinates();
    std::vector<std::pair<double, size_t>> order;
    std::vector<size_t> kept;
    for (size_t k = 0; k < coordinates.size(); ++k) {
        if (const int32_t j = region.head(coordinates[k].column); !coordinates[k].charged()) {
            const bool leaves = region.undecided(j) && bound.best_leaves(j);
            if (!leaves) kept.push_back(k);
        } else if (const double size = work_.relaxation.leads(k) ? work_.relaxation.size(k) : 0.0; size != 0.0) {
            order.emplace_back(-size, k);
        }
    }
    std::sort(order.begin(), order.end());
    const bool all = region.limited() && !setting_.options.swaps.limits();
    const int64_t used = std::llround(work_.relaxation.total_share()) - std::ssize(region.clauses());
    int64_t others = all ? std::ssize(order) : used;
    double room = region.left();
    std::vector<uint8_t> met(region.clauses().size(), 0);
    for (const auto& [size, k] : order) {
        const int32_t clause = coordinates[k].group - Charges::first_clause;
        const bool first = clause >= 0 && !std::exchange(met[clause], 1);
        const double weight = region.weight(coordinates[k].column) - (first ? region.weight_of_clause(clause) : 0.0);
        if (!first && (weight > room || others-- <= 0)) continue;
        room -= weight;
        const size_t end = k + setting_.problem.members(coordinates[k].column).size();
        for (size_t member = k; member < end; ++member) kept.push_back(member);
    }
    std::sort(kept.begin(), kept.end(), [&](size_t a, size_t b) { return coordinates[a].column < coordinates[b].column; });
    return kept;
}

Model Rounding::refit(const std::vector<int32_t>& support, const std::vector<double>& beta,
                      const std::vector<double>& intercept) {
    const Penalty& penalty = setting_.problem.penalty;
    std::vector<Relaxation::Coordinate> coordinates;
    for (size_t k = 0; k < support.size(); ++k) {
        const int32_t j = support[k];
        coordinates.push_back({j, {penalty.low(j), penalty.high(j)}, Charges::paid, beta[k]});
    }
    std::sort(coordinates.begin(), coordinates.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
    Relaxation& fit = work_.aside;
    fit.begin(std::move(coordinates), intercept, {});
    if (setting_.has_kink()) {
        double prices = 0.0;
        for (const int32_t j : support) prices += setting_.problem.is_head(j) ? penalty.price(j) : 0.0;
        solve_hinge(setting_.options.lambda_0 * prices);
    } else {
        fit.solve(finest_floor * setting_.incumbent.size());
    }
    fit.forget();  // supports that were tried before are not refitted: what comes must not depend on that
    Model model;
    model.cost = fit.value();
    model.intercept = fit.intercept();
    ColumnSet used(setting_.problem.columns());  // heads of groups that are not zero
    for (const auto& c : fit.coordinates())
        if (c.beta != 0.0) used.insert(setting_.problem.head(c.column));
    for (const auto& c : fit.coordinates()) {
        if (!used.test(setting_.problem.head(c.column)) && penalty.counted(c.column)) continue;
        model.support.push_back(c.column);
        model.beta.push_back(c.beta);
        if (!setting_.problem.is_head(c.column)) continue;
        model.size += penalty.counted(c.column);
        model.spent += penalty.price(c.column);
    }
    put_back(setting_.problem, support, model);
    return model;
}

void Rounding::solve_hinge(double charges) {
    Relaxation& fit = work_.aside;
    const double size = setting_.incumbent.size();
    double tau = smoothing, last = Penalty::infinity;
    fit.smooth(tau);
    for (int round = 1; round <= most_rounds; ++round) {
        fit.solve(finest_floor * size, steps_per_round);
        tau = std::max(faster * tau, least_smoothing);
        fit.recentre(tau);
        // The values need not fall one by one: several are compared at a time.
        if (round % rounds_compared != 0 || tau > least_smoothing) continue;
        const double value = fit.value(), gained = last - value;
        if (gained <= negligible_gain * size || value + charges - setting_.incumbent.level() > hopeless * gained) break;
        last = value;
    }
}

void Rounding::offer_aside() {
    std::vector<int32_t> support;
    std::vector<double> beta;
    for (const auto& c : work_.aside.coordinates()) {
        support.push_back(c.column);
        beta.push_back(c.beta);
    }
    setting_.incumbent.offer(refit(support, beta, work_.aside.intercept()));
}

std::optional<Found> Rounding::find(const std::vector<int32_t>& support, const Relaxation& relaxation) {
    const Penalty& penalty = setting_.problem.penalty;
    std::vector<int32_t> columns;
    std::vector<double> beta;
    for (const auto& c : relaxation.coordinates())
        if (!penalty.counted(c.column) ||
            std::find(support.begin(), support.end(), setting_.problem.head(c.column)) != support.end()) {
            columns.push_back(c.column);
            beta.push_back(c.beta);
        }
    Found out{support, refit(columns, beta, relaxation.intercept())};
    setting_.incumbent.offer(out.model);
    double prices = 0.0;
    for (const int32_t j : support) prices += penalty.price(j);
    // What is not a number is not wanted either: a search that lists it would never end.
    if (!(out.model.cost + setting_.options.lambda_0 * prices <= setting_.incumbent.level())) return std::nullopt;
    out.needs_all = out.model.size == std::ssize(support);
    for (size_t k = 0; k < out.model.support.size() && out.needs_all; ++k)
        if (const int32_t j = out.model.support[k]; penalty.counted(j) && setting_.problem.is_head(j))
            out.needs_all = !obeys_without(support, j) || needs(out.model, j);
    return out;
}

bool Rounding::obeys_without(const std::vector<int32_t>& support, int32_t feature) const {
    if (!setting_.problem.rules) return true;
    std::vector<int32_t> part = work_.region.always();
    std::ranges::copy_if(support, std::back_inserter(part), [&](int32_t j) { return j != feature; });
    return setting_.problem.rules.obeys(part);
}

bool Rounding::needs(const Model& model, int32_t feature) {
    const double little = 2.0 * Wanted::equal * setting_.incumbent.size();
    std::vector<int32_t> columns;
    std::vector<double> beta;
    double square = 0.0;
    for (size_t k = 0; k < model.support.size(); ++k) {
        if (setting_.problem.head(model.support[k]) == feature) {
            square += model.beta[k] * model.beta[k];
            continue;
        }
        columns.push_back(model.support[k]);
        beta.push_back(model.beta[k]);
    }
    // Without the feature the objective is higher by lambda_2 times the square of its coefficients at least: the rest is
    // convex.
    if (setting_.problem.penalty.lambda_2 * square > little) return true;
    return refit(columns, beta, model.intercept).cost > model.cost + little;
}

}  // namespace ellzero
