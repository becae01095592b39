#include "ellzero/exact/branching.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {

// Strong branching: candidates that are tried, Newton steps of each child, and the floor of these steps, relative to the
// objective. A rough order of the candidates is enough.
constexpr size_t strong_candidates = 8;
constexpr int strong_steps = 4;
constexpr double strong_floor = 1e-4;
// A child that does not rise counts as if it rose by this part of what is missing: the other child decides then.
constexpr double least_rise = 1e-6;
constexpr double integral = 1e-6;  // a share this close to 0 or 1 is no fraction
// Features of a block have at least this correlation with its centre. Where the loss is flat beyond a margin, a block that is
// out hardly raises the bound either, and clauses cost more than they gain, but of features that nearly repeat each other.
constexpr double usual = 0.5, usual_of_margins = 0.9;
// Where a block has more than this part of all columns, and more than so many, its features have something in common but are no
// look-alikes: only those that resemble the centre more closely are decided with it.
constexpr double large_block = 0.02;
constexpr int64_t least_large_block = 16;
// Correlations of few rows are high by chance: by so many of their standard deviations, 1 / sqrt(rows), more is asked for.
constexpr double noise = 1.7;
constexpr double closer = 0.4;    // of the way to a correlation of one
constexpr double closest = 0.95;  // features beyond it are copies, however many there are
// A clause pays the price of its cheapest feature, so that one with prices further apart than this factor says little.
constexpr double much_dearer = 2.0;

bool similar_prices(double a, double b) { return a <= much_dearer * b && b <= much_dearer * a; }

}  // namespace

Branching::Block Branching::choose(int depth, double bound) {
    // 1. Features at home first: those that leave decide which others come.
    const Region& region = work_.region;
    if (!region.home_undecided().empty()) return {least_costly_to_leave()};
    // 2. Features of the pool that the relaxation uses by a fraction: the largest coefficient, and all that resemble it.
    Candidates candidates = fractional();
    if (candidates.empty() && region.clauses().empty()) {
        if (!setting_.options.integral.empty()) return {};
        // It is integral but for rounding: any that it uses. Fixing may have taken these: any other undecided feature.
        candidates = used();
        if (candidates.empty()) return region.undecided().empty() ? Block{} : Block{region.undecided().front()};
    }
    if (candidates.empty()) return split(bound);
    std::sort(candidates.begin(), candidates.end());
    Block block = block_around(candidates[0].second);
    // 3. Near the root, single features are the best of several.
    if (block.size() > 1 || depth >= setting_.options.strong_depth || candidates.size() == 1) return block;
    candidates.resize(std::min(candidates.size(), strong_candidates));
    std::vector<Block> blocks;
    for (const auto& [size, j] : candidates) blocks.push_back({j});
    return best_of(std::move(blocks), bound);
}

int32_t Branching::least_costly_to_leave() const {
    const auto& home = work_.region.home_undecided();
    const RegionBound& bound = pricing_.last_bound();
    return *std::max_element(home.begin(), home.end(),
                             [&](int32_t a, int32_t b) { return bound.gain_of_leaving(a) < bound.gain_of_leaving(b); });
}

Branching::Candidates Branching::fractional() const {
    Candidates out;
    const auto& coordinates = work_.relaxation.coordinates();
    for (size_t k = 0; k < coordinates.size(); ++k) {
        const int32_t j = coordinates[k].column;
        if (!work_.relaxation.leads(k) || work_.region.group(j) != Charges::pool || !setting_.options.may_branch_on(j))
            continue;
        const double share = work_.relaxation.share(k);
        if (share > integral && share < 1.0 - integral) out.emplace_back(-work_.relaxation.size(k), j);
    }
    return out;
}

Branching::Candidates Branching::used() const {
    Candidates out;
    const auto& coordinates = work_.relaxation.coordinates();
    for (size_t k = 0; k < coordinates.size(); ++k)
        if (const double size = work_.relaxation.leads(k) ? work_.relaxation.size(k) : 0.0;
            size != 0.0 && work_.region.group(coordinates[k].column) == Charges::pool)
            out.emplace_back(-size, coordinates[k].column);
    return out;
}

Branching::Block Branching::block_around(int32_t j) {
    if (setting_.options.alike.value_or(0.0) > 1.0) return {j};
    const std::vector<float>& correlation = correlations_.between(j, work_.region.undecided());
    const auto resembling = [&](double alike) {
        Block out;
        for (const int32_t i : work_.region.undecided())
            if (i == j || (work_.region.group(i) == Charges::pool && setting_.options.may_branch_on(i) &&
                           correlation[i] >= alike && similar_prices(work_.region.price(i), work_.region.price(j))))
                out.push_back(i);
        return out;
    };
    if (setting_.options.alike) return resembling(*setting_.options.alike);
    const auto few =
        std::max(least_large_block, static_cast<int64_t>(large_block * static_cast<double>(setting_.problem.columns())));
    const double chance = noise / std::sqrt(static_cast<double>(setting_.problem.rows()));
    double alike = std::min((setting_.problem.loss.has_margin() ? usual_of_margins : usual) + chance, closest);
    Block out = resembling(alike);
    while (std::ssize(out) > few && alike < closest) out = resembling(alike += closer * (1.0 - alike));
    return out;
}

Branching::Block Branching::split(double bound) {
    const Region& region = work_.region;
    const auto& coordinates = work_.relaxation.coordinates();
    // Each clause: the sum of its shares, and its members with the two largest.
    struct Shares {
        double sum = 0.0, first = 0.0, second = 0.0;
        int32_t best = -1, next = -1;
    };
    std::vector<Shares> clauses(region.clauses().size());
    for (size_t k = 0; k < coordinates.size(); ++k) {
        const int32_t j = coordinates[k].column;
        const double share = work_.relaxation.share(k);
        if (!work_.relaxation.leads(k) || region.clause_of(j) < 0 || share == 0.0) continue;
        Shares& of = clauses[region.clause_of(j)];
        of.sum += share;
        if (share > of.first) {
            of.second = std::exchange(of.first, share);
            of.next = std::exchange(of.best, j);
        } else if (share > of.second) {
            of.second = share;
            of.next = j;
        }
    }
    const auto widest = std::max_element(clauses.begin(), clauses.end(),
                                         [](const Shares& a, const Shares& b) { return a.sum - a.first < b.sum - b.first; });
    const auto& clause = region.clauses()[widest - clauses.begin()];
    if (widest->best < 0) return {clause.begin(), clause.begin() + std::ssize(clause) / 2};
    if (widest->next < 0) return {widest->best};
    // Two ways to split it; short solves of the children tell the better one.
    std::vector<Block> parts{nearer(clause, widest->best, widest->next)};
    if (parts[0].size() == 1) return parts[0];
    parts.push_back({widest->best});
    return best_of(std::move(parts), bound);
}

Branching::Block Branching::nearer(const std::vector<int32_t>& clause, int32_t first, int32_t second) {
    const std::vector<float> to_first = correlations_.between(first, clause);
    const std::vector<float>& to_second = correlations_.between(second, clause);
    Block out;
    for (const int32_t j : clause)
        if (j == first || (j != second && to_first[j] >= to_second[j])) out.push_back(j);
    return out;
}

Branching::Block Branching::best_of(std::vector<Block> blocks, double bound) {
    const double missing = setting_.prune_at() - bound, now = pricing_.value_of(work_.relaxation);
    double best = -1.0;
    size_t chosen = 0;
    for (size_t k = 0; k < blocks.size(); ++k) {
        double score = 1.0;
        for (const bool in : {false, true})
            score *= std::clamp(value_of_child({blocks[k], in}) - now, least_rise * missing, missing);
        if (score > best) {
            best = score;
            chosen = k;
        }
    }
    return std::move(blocks[chosen]);
}

double Branching::value_of_child(const Decision& decision) {
    NodeWork::Child child = work_.child(decision);
    work_.begin_aside(std::move(child.coordinates), std::move(child.charges));
    work_.aside.solve(strong_floor * setting_.incumbent.size(), strong_steps);
    return work_.aside.value() + setting_.options.lambda_0 * child.paid;
}

}  // namespace ellzero
