#include "ellzero/exact/fixing.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ellzero {
namespace {

// Groups are tried where gap = (cutoff - bound) / charge is below `small_gap`; the shares of a group sum to about room =
// group_size (1 - gap).
constexpr double small_gap = 0.75, group_size = 0.25;
// discount = 1 - more_than_missing gap / (1 - more_than_room room), the factor of a group's charge: lowered by a little more
// than what is missing, for shares that are larger than the room, since they grow when their charge falls. A factor below the
// least one would leave nothing of the charge.
constexpr double more_than_missing = 1.1, more_than_room = 1.5, least_discount = 0.02;
// With more groups than that it is better to branch first.
constexpr double most_groups = 32.0;
// Each group adds a dual point. With more bytes of them than this, no groups are tried, and a node adds only its own.
constexpr int64_t most_bytes_of_groups = int64_t{1} << 31;
// The precision of a group's relaxation, relative to the charge less what is missing: its first floor, and the error of its
// value.
constexpr double floor_of_group = 0.01, precision_of_group = 0.05;

}  // namespace

bool Fixing::tighten(bool kept, std::vector<KeptPoint>& proofs) {
    return (kept ? tighten() : tighten_if_worth(work_.proof.dual.kept, proofs)) && fix_groups(proofs);
}

bool Fixing::tighten() { return work_.region.tighten(pricing_.last_bound(), pricing_.slopes(), setting_.incumbent.cutoff()); }

bool Fixing::tighten_if_worth(const KeptPoint& point, std::vector<KeptPoint>& proofs) {
    const double cutoff = setting_.incumbent.cutoff();
    if (!work_.region.worth_tightening(pricing_.last_bound(), pricing_.slopes(), cutoff)) return true;
    proofs.push_back(point);
    return tighten();
}

// A feature j is out once bound + charge - s_j is above the cutoff. For features that the relaxation uses s_j is the charge
// itself. But where their charge is lowered by the discount, so is s_j, and the bound falls by little more than what the group
// pays: the dual point of that relaxation fixes the whole group. Branching would need nodes for each of them.
bool Fixing::fix_groups(std::vector<KeptPoint>& proofs) {
    const Relaxation& relaxation = work_.relaxation;
    const double missing = setting_.incumbent.cutoff() - work_.proof.bound;
    const auto gap_of = [&](int32_t j) { return missing / relaxation.charges().of_pool(work_.region.price(j)); };
    const auto room_of = [&](int32_t j) { return group_size * (1.0 - gap_of(j)); };
    const auto& coordinates = relaxation.coordinates();
    double gap = Penalty::infinity;  // that of the dearest feature
    for (const auto& c : coordinates)
        if (work_.region.group(c.column) == Charges::pool) gap = std::min(gap, gap_of(c.column));
    if (!(gap < small_gap) || setting_.incumbent.proof_bytes() > most_bytes_of_groups) return true;
    const double room = group_size * (1.0 - gap);
    if (relaxation.total_share() > most_groups * room) return true;
    double shares = 0.0;
    std::vector<int32_t> group;
    for (size_t k = 0; k < coordinates.size(); ++k) {
        const double share = relaxation.share(k);
        const int32_t j = coordinates[k].column;
        if (relaxation.leads(k) && work_.region.group(j) == Charges::pool && share > 0.0 && gap_of(j) < small_gap &&
            share <= room_of(j)) {
            group.push_back(j);
            shares += share;
        }
        if (group.empty() || (shares < room && k + 1 < coordinates.size())) continue;
        if (!fix_group(group, proofs)) return false;
        group.clear();
        shares = 0.0;
    }
    return true;
}

bool Fixing::fix_group(std::span<const int32_t> group, std::vector<KeptPoint>& proofs) {
    const double missing = setting_.incumbent.cutoff() - work_.proof.bound;
    double charge = Penalty::infinity;  // the least of the group
    std::vector<Relaxation::Coordinate> coordinates = work_.coordinates();
    for (auto& c : coordinates) {
        if (std::find(group.begin(), group.end(), setting_.problem.head(c.column)) == group.end()) continue;
        const double own = work_.relaxation.charges().of_pool(work_.region.price(c.column)), gap = missing / own;
        const double room = group_size * (1.0 - gap);
        c.discount = std::max(1.0 - more_than_missing * gap / (1.0 - more_than_room * room), least_discount);
        charge = std::min(charge, own);
    }
    Charges charges = work_.charges();
    charges.fixed = true;
    work_.begin_aside(std::move(coordinates), std::move(charges));
    WorkingSet working = work_.working;
    Proof proof = pricing_.prove(work_.aside, working, {floor_of_group * (charge - missing), [&] {
        return setting_.incumbent.cutoff();
    }, [&](double value, double bound) { return value - bound <= precision_of_group * (charge - missing); }});
    pricing_.bound(proof.dual);
    return tighten_if_worth(proof.dual.kept, proofs);
}

}  // namespace ellzero
