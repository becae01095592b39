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

}  // namespace

int32_t Branching::choose(int depth, double bound) {
    // 1. Features at home first: those that leave decide which others come.
    const Region& region = work_.region;
    if (!region.home_undecided().empty()) return least_costly_to_leave();
    // 2. Features that the relaxation uses by a fraction; if it is integral but for rounding, any that it uses.
    Candidates candidates = fractional();
    if (candidates.empty() && !setting_.options.integral.empty()) return -1;
    if (candidates.empty()) candidates = used();
    // 3. Fixing may have taken all that the relaxation used: any other undecided feature.
    if (candidates.empty()) return region.undecided().empty() ? -1 : region.undecided().front();
    // 4. The largest coefficient, or near the root the best of several.
    std::sort(candidates.begin(), candidates.end());
    if (depth >= setting_.options.strong_depth || candidates.size() == 1)
        return work_.relaxation.coordinates()[candidates[0].second].column;
    candidates.resize(std::min(candidates.size(), strong_candidates));
    return try_children(candidates, bound);
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
        if (!work_.region.undecided(j) || !setting_.options.may_branch_on(j)) continue;
        const double share = work_.relaxation.share(k);
        if (share > integral && share < 1.0 - integral) out.emplace_back(-std::abs(coordinates[k].beta), k);
    }
    return out;
}

Branching::Candidates Branching::used() const {
    Candidates out;
    const auto& coordinates = work_.relaxation.coordinates();
    for (size_t k = 0; k < coordinates.size(); ++k)
        if (coordinates[k].beta != 0.0 && work_.region.undecided(coordinates[k].column))
            out.emplace_back(-std::abs(coordinates[k].beta), k);
    return out;
}

int32_t Branching::try_children(const Candidates& candidates, double bound) {
    const double missing = setting_.prune_at() - bound, now = pricing_.value_of(work_.relaxation);
    double best = -1.0;
    int32_t chosen = -1;
    for (const auto& [size, place] : candidates) {
        double score = 1.0;
        for (const bool in : {false, true}) score *= std::clamp(value_of_child(place, in) - now, least_rise * missing, missing);
        if (score > best) {
            best = score;
            chosen = work_.relaxation.coordinates()[place].column;
        }
    }
    return chosen;
}

double Branching::value_of_child(size_t place, bool in) {
    std::vector<Relaxation::Coordinate> child = work_.relaxation.coordinates();
    child[place].charged = false;
    if (!in) {
        child[place].beta = 0.0;
        child[place].box = {0.0, 0.0};
    }
    double most = work_.region.most_shares(in ? 1 : 0);
    if (most == 0.0) {
        for (auto& c : child)
            if (c.charged) c = {c.column, {0.0, 0.0}, false, 0.0};
        most = Penalty::infinity;
    }
    const double lambda_0 = setting_.options.lambda_0;
    work_.begin_aside(std::move(child), lambda_0, work_.relaxation.mu(), most);
    work_.aside.solve(strong_floor * setting_.incumbent.size(), strong_steps);
    return work_.aside.value() + lambda_0 * static_cast<double>(work_.region.in().size() + (in ? 1 : 0));
}

}  // namespace ellzero
