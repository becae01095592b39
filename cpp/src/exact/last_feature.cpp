#include "ellzero/exact/last_feature.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ellzero {
namespace {

using namespace node_tolerances;

// The last feature is enumerated up to this many leaves times rows: beyond it the work of one node would take too long.
constexpr int64_t most_enumerated = 2'000'000;
// Each leaf adds a dual point, and there are thousands. With more bytes of them than this, nodes branch instead.
constexpr int64_t most_bytes_of_leaves = int64_t{1} << 29;
// The first floor of a leaf, relative to the objective: most are closed by the first rough solution.
constexpr double floor_of_leaf = 0.01;

}  // namespace

bool LastFeature::worth_enumerating() const {
    const Region& region = work_.region;
    return setting_.incumbent.proof_bytes() < most_bytes_of_leaves && setting_.options.integral.empty() && region.one_more() &&
           std::ssize(region.undecided()) * setting_.problem.rows() <= most_enumerated;
}

std::vector<Leaf> LastFeature::enumerate() {
    const std::vector<double>& v = pricing_.slopes();
    std::vector<int32_t> candidates = work_.region.undecided();
    // A slope out of range counts as steep: NaN has no order.
    const auto steepness = [&](int32_t feature) {
        double steepest = 0.0;
        for (const int32_t j : setting_.problem.members(feature))
            steepest = std::isnan(v[j]) ? Penalty::infinity : std::max(steepest, std::abs(v[j]));
        return steepest;
    };
    std::sort(candidates.begin(), candidates.end(), [&](int32_t a, int32_t b) { return steepness(a) > steepness(b); });
    if (work_.region.clauses().empty()) candidates.push_back(-1);
    decided_ = decided_coordinates();
    std::vector<Leaf> leaves;
    for (const int32_t j : candidates) {
        leaves.push_back(solve(j));
        setting_.problem.X.monitor().poll();
    }
    return leaves;
}

Leaf LastFeature::solve(int32_t column) {
    const double prune_at = setting_.prune_at();
    const bool all = setting_.options.wanted.all;
    if (const Rules& rules = setting_.problem.rules) {
        std::vector<int32_t> support = work_.region.always();
        support.insert(support.end(), work_.region.in().begin(), work_.region.in().end());
        if (column >= 0) support.push_back(column);
        if (!rules.obeys(support)) return {column, {}, Penalty::infinity, {}};
    }
    Proof proof = prove(column, prune_at, all);
    Leaf out{column, {}, 0.0, {}};
    if (proof.bound < prune_at && !all) rounding_.offer_aside();
    if (proof.bound < prune_at && all) {
        std::vector<int32_t> support = work_.region.in();
        if (column >= 0) support.push_back(column);
        out.found = rounding_.find(support, work_.aside);
        // An open leaf needs no dual point, unless it may have to be shown that the support gains nothing.
        const bool open = out.found && out.found->needs_all;
        proof = open ? Proof{} : prove(column, out.found ? Penalty::infinity : prune_at, false);
    }
    out.bound = proof.bound;
    out.point = std::move(proof.dual.kept);
    return out;
}

std::vector<Relaxation::Coordinate> LastFeature::decided_coordinates() const {
    std::vector<Relaxation::Coordinate> out;
    for (auto c : work_.relaxation.coordinates())
        if (const auto status = work_.region.status(c.column);
            status == Region::Status::in || status == Region::Status::always) {
            c.group = Charges::paid;
            c.box = work_.region.box(c.column);
            out.push_back(c);
        }
    return out;
}

Proof LastFeature::prove(int32_t column, double enough, bool open) {
    std::vector<Relaxation::Coordinate> coordinates = decided_;
    if (column >= 0)
        for (const int32_t j : setting_.problem.members(column))
            coordinates.push_back({j, work_.region.box(j), Charges::paid, 0.0, work_.region.moved(j)});
    work_.begin_aside(std::move(coordinates), {});
    Relaxation& leaf = work_.aside;
    const double size = setting_.incumbent.size();
    double tau = smoothing, floor = floor_of_leaf * size;
    const double paid = column >= 0 ? work_.region.charge(column) : 0.0;
    Proof best;
    DualPoint dual;
    for (int round = 0; round < most_rounds && best.bound < enough; ++round) {
        leaf.solve(floor);
        pricing_.make_dual_of(leaf, dual);
        pricing_.price_decided(dual);
        if (column >= 0) pricing_.price_alone(column, dual);
        if (const double bound = pricing_.bound_of_leaf(dual, column); bound > best.bound) best = {bound, dual};
        const double value = pricing_.value_of(leaf) + paid;
        if (value - best.bound <= precision * size || (open && value < enough)) break;
        if (!setting_.has_kink() && floor <= nearly_finest_floor * size) break;
        floor = std::max(floor * lower_floor, finest_floor * size);
        tau = std::max(narrower * tau, least_smoothing);
        if (setting_.has_kink()) leaf.recentre(tau);
    }
    return best;
}

}  // namespace ellzero
