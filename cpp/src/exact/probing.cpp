#include "ellzero/exact/probing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ellzero {
namespace {

// With more features than that whose boxes are too wide, branching first is better.
constexpr size_t most_features = 64;
// Each round narrows boxes by up to the relative rounding of a sum, or as far as they can be.
constexpr int most_rounds = 40;
// A round is worth its work if it takes so much off the sum of the logarithms of all widths, to the base of two, and another
// attempt at a box is not if this part of it is left or less.
constexpr double worth_a_round = 0.5, little_left = 0.5;
constexpr double smallest_width = 1e-300;  // in logarithms
// Coefficients are held where they move the predictions by so many units; further away where that is not enough, as it is where
// other columns make up for it.
constexpr double first_reach = 8.0, further = 1e4;
constexpr int most_tries = 4;
// The floor of a probe's relaxation, relative to the objective.
constexpr double floor_of_probe = 1e-9;

// The same where all boxes are narrowed. An end is cut again, at most so often, while a cut leaves no more than this part of
// it; all are cut again while that takes so much off the logarithm of a width, to the base of two, on average.
constexpr double floor_of_cut = 1e-4, enough_cut = 0.6, worth_another_pass = 0.25;
constexpr int most_cuts = 3;

}  // namespace

void Probing::look() {
    narrowed_ = false;
    note_boxes_around_zero();
    std::erase_if(features_, [&](int32_t j) { return !loose(j); });
    width_ = width();
}

void Probing::note_boxes_around_zero() {
    features_.clear();
    const Region& region = work_.region;
    for (const auto& list : {region.columns_of(region.in()), region.always(), region.columns_of(region.undecided())})
        for (const int32_t j : list)
            if (setting_.problem.X.square(j) > 0.0 && region.box(j).low <= 0.0 && region.box(j).high >= 0.0)
                features_.push_back(j);
}

bool Probing::narrow(std::vector<KeptPoint>& proofs) {
    if (features_.empty()) return true;
    const Region& region = work_.region;
    pricing_.bound(work_.proof.dual);
    std::vector<int32_t> left = features_;
    double now = width();
    for (int round = 0; round < most_rounds; ++round) {
        std::erase_if(left, [&](int32_t j) { return region.status(j) == Region::Status::out || !loose(j); });
        if (left.empty() || left.size() > most_features) break;
        for (const int32_t j : left)
            if (region.status(j) != Region::Status::out && !probe(j, proofs)) return false;
        const double before = std::exchange(now, width());
        if (before - now < worth_a_round) break;
    }
    narrowed_ = width_ - now >= worth_a_round;
    if (!narrowed_) pricing_.price_all(work_.proof.dual);
    return true;
}

double Probing::width() const {
    double total = 0.0;
    for (const int32_t j : features_) {
        const Box& box = work_.region.box(j);
        total += std::log2(std::max(box.high - box.low, smallest_width));
    }
    return total;
}

bool Probing::loose(int32_t j, double end) const {
    return pricing_.last_bound().noise(j) * std::abs(end) > setting_.negligible();
}

bool Probing::probe(int32_t j, std::vector<KeptPoint>& proofs) {
    const auto& coordinates = work_.relaxation.coordinates();
    const auto place = std::find_if(coordinates.begin(), coordinates.end(), [&](const auto& c) { return c.column == j; });
    const double best = place == coordinates.end() ? 0.0 : place->beta;
    const double unit = (setting_.problem.loss.regression() ? std::sqrt(setting_.incumbent.size()) : 1.0) /
                        std::sqrt(setting_.problem.X.square(j));
    for (const double side : {1.0, -1.0}) {
        double reach = first_reach * unit;
        for (int k = 0; k < most_tries; ++k, reach *= further) {
            const Box box = work_.region.box(j);
            const double end = side > 0.0 ? box.high : box.low, value = best + side * reach;
            if (!loose(j, end) || side * (end - value) <= 0.0) break;
            if (!probe_at(j, value, floor_of_probe, false, proofs)) return false;
            if (work_.region.status(j) == Region::Status::out) return true;
            const double now = side > 0.0 ? work_.region.box(j).high : work_.region.box(j).low;
            if (std::abs(now) < little_left * std::abs(end)) break;
        }
    }
    return true;
}

bool Probing::narrow_all(std::vector<KeptPoint>& proofs) {
    const Region& region = work_.region;
    note_boxes_around_zero();
    const double before = width();
    for (const int32_t j : features_)
        for (const double side : {1.0, -1.0})
            if (region.status(j) != Region::Status::out && !cut(j, side, proofs)) return false;
    narrowed_ = before - width() >= worth_another_pass * static_cast<double>(features_.size());
    if (!narrowed_) pricing_.price_all(work_.proof.dual);
    return true;
}

// The least objective with beta_j held at a value is convex in the value, and the dual point of that relaxation is a tangent:
// held at the end of the box, it cuts the end off as Newton's method would.
bool Probing::cut(int32_t j, double side, std::vector<KeptPoint>& proofs) {
    const Box& box = work_.region.box(j);
    const double reach = first_reach / std::sqrt(setting_.problem.X.square(j));
    for (int k = 0; k < most_cuts; ++k) {
        const double end = side > 0.0 ? box.high : -box.low;
        if (!(end > 0.0)) return true;
        if (!probe_at(j, side * std::min(end, reach), floor_of_cut, true, proofs)) return false;
        const double now = side > 0.0 ? box.high : -box.low;
        if (work_.region.status(j) == Region::Status::out || now > enough_cut * end) return true;
    }
    return true;
}

bool Probing::probe_at(int32_t j, double value, double floor, bool all_columns, std::vector<KeptPoint>& proofs) {
    Region& region = work_.region;
    const int32_t feature = setting_.problem.head(j);
    const bool decides = region.undecided(feature) && !region.at_home(feature);
    NodeWork::Child child = decides ? work_.child({{feature}, true}) : NodeWork::Child{work_.coordinates(), work_.charges()};
    std::erase_if(child.coordinates, [&](const auto& c) { return c.column == j; });
    const bool room = child.charges.room > 0.0;
    if (all_columns)
        for (const int32_t other : region.columns_of(region.undecided()))
            if (other != j && !work_.working.columns.test(other) && (room || region.group(other) != Charges::pool)) {
                const int32_t group = decides && setting_.problem.head(other) == feature ? Charges::paid : region.group(other);
                child.coordinates.push_back({other, region.box(other), group, 0.0, region.moved(other)});
            }
    child.coordinates.push_back({j, {value, value}, Charges::paid, value, region.moved(j)});
    work_.begin_aside(std::move(child.coordinates), std::move(child.charges));
    work_.aside.solve(floor * setting_.incumbent.size());
    DualPoint dual;
    pricing_.make_dual_of(work_.aside, dual);
    pricing_.price_all(dual);
    const bool left = region.tighten(pricing_.last_bound(), pricing_.slopes(), setting_.incumbent.cutoff());
    proofs.push_back(std::move(dual.kept));
    return left;
}

}  // namespace ellzero
