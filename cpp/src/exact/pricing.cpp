#include "ellzero/exact/pricing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ellzero {
namespace {

using namespace node_tolerances;

// Newton steps between two updates of the hinge's smoothing; other losses are solved to the end.
constexpr int steps_per_update = 2, steps_to_the_end = 100;
// The smoothing falls after so many refinements, if there are few coordinates: many would be ill-conditioned then.
constexpr int patient_refinements = 10;
constexpr size_t few_coordinates = 64;
// The floor falls more slowly with the hinge, and it takes more rounds at the finest one: each moves the smoothing's centre.
constexpr double lower_floor_of_hinge = 0.3;
constexpr int hinge_rounds_at_the_floor = 50;
// s_j > (1 + violation) charge: column j violates the relaxation. Less is rounding.
constexpr double violation = 1e-9;
// Violated columns that enter the working set at a time: at least so many, and half as many as are there.
constexpr size_t least_entering = 30;
// Columns are priced first if their slope is above `near_threshold` times that at which they enter: at most `near_share` of all
// columns, or `least_near`.
constexpr double near_threshold = 0.5, near_share = 0.05;
constexpr int64_t least_near = 500;
// Little holds a coefficient if predictions can move by so many units in its box.
constexpr double wide = 1e4;

// Parts of a dual point that scaling takes off: the first that is tried, the largest, and the ratios between those that are
// tried.
constexpr double first_less = 1e-7, most_less = 0.2, much_more = 10.0, finest_ratio = 1.2;

// The precision of a relaxation from round to round.
class Refinement {
  public:
    Refinement(const NodeSetting& setting, double floor)
        : has_kink_(setting.has_kink()), size_(setting.incumbent.size()), floor_(floor) {}

    double floor() const { return floor_; }
    double smoothing() const { return smoothing_; }
    int steps() const { return has_kink_ ? steps_per_update : steps_to_the_end; }
    // Raises the precision. False if that is not possible.
    bool refine(const Relaxation& relaxation) {
        if (++refined_ > patient_refinements && relaxation.coordinates().size() <= few_coordinates)
            smoothing_ = std::max(narrower * smoothing_, least_smoothing);
        if (floor_ <= nearly_finest_floor * size_ && ++at_the_floor_ > (has_kink_ ? hinge_rounds_at_the_floor : 0))
            return false;
        floor_ = std::max(floor_ * (has_kink_ ? lower_floor_of_hinge : lower_floor), finest_floor * size_);
        return true;
    }

  private:
    bool has_kink_;
    double size_, floor_;
    double smoothing_ = node_tolerances::smoothing;
    int refined_ = 0, at_the_floor_ = 0;
};

}  // namespace

Pricing::Pricing(const NodeSetting& setting, const Region& region)
    : setting_(setting), region_(region), bound_(setting.problem, region), v_(setting.problem.columns(), 0.0) {}

Pricing::Goal Pricing::goal_of_node(double floor, double known, const std::function<double()>& wanted) const {
    const auto accurate = [this, known, wanted](double value, double bound) {
        const double missing = wanted();
        return value - bound <=
               std::max(value < missing ? known * (missing - bound) : 0.0, precision * setting_.incumbent.size());
    };
    return {floor, wanted, accurate};
}

Proof Pricing::prove(Relaxation& relaxation, WorkingSet& working, const Goal& goal) {
    Refinement refinement(setting_, goal.floor);
    Proof best;
    std::vector<double> best_v;
    DualPoint dual;
    for (int round = 0; round < most_rounds; ++round) {
        // 1. The solution on the working set, and its dual point.
        relaxation.solve(refinement.floor(), refinement.steps());
        make_dual_of(relaxation, dual);
        if (setting_.has_kink()) relaxation.recentre(refinement.smoothing());
        // 2. The columns that matter most: their estimate is nearly the bound of all.
        const std::vector<int32_t> few = likely_columns(relaxation, working);
        price_decided(dual);
        price(few, dual);
        const double estimate = bound(dual, few), value = value_of(relaxation);
        const auto enough = [&](double found) { return found >= goal.bound() || goal.accurate(value, found); };
        // The last round ends with a full pass in any case.
        if (!enough(estimate) && round + 1 < most_rounds) {
            const Scaled scaled = best_scale(dual, few, estimate);
            if (!enough(scaled.bound)) {
                const bool entered = add_violators(few, dual, relaxation, working), refined = refinement.refine(relaxation);
                if (entered || refined) continue;
            }
            if (scaled.factor < 1.0) {
                scale(setting_.problem, scaled.factor, dual);
                price_decided(dual);
            }
        }
        // 3. All columns: a bound that holds.
        price(region_.undecided(), dual);
        ++passes;
        if (const double found = bound(dual); found > best.bound || best_v.empty()) {
            best = {found, dual};
            best_v = v_;
        }
        if (best.bound >= goal.bound()) break;
        // 4. Columns that violate it enter; if none does, only precision is missing.
        choose_near(dual, relaxation, working);
        if (goal.accurate(value, best.bound)) break;
        if (add_violators(region_.undecided(), dual, relaxation, working)) continue;
        if (!refinement.refine(relaxation)) break;
    }
    v_ = std::move(best_v);
    return best;
}

Pricing::Scaled Pricing::best_scale(const DualPoint& dual, const std::vector<int32_t>& columns, double bound) {
    double less = 0.0, best = bound;
    if (!dual.added.empty()) return {1.0, best};  // an error of theta costs a diagonal more than it gains
    const std::vector<int32_t> in = region_.columns_of(region_.in()), undecided = region_.columns_of(columns);
    DualPoint trial;
    scaled_v_.resize(v_.size());
    const auto improves = [&](double part) {
        const double factor = 1.0 - part;
        for (const auto* list : {&region_.always(), &in, &undecided})
            for (const int32_t j : *list) scaled_v_[j] = factor * v_[j];
        trial.loss_part = loss_part_of_scaled(setting_.problem, dual, factor);
        trial.norm = factor * dual.norm;
        const double found = bound_.compute(trial, scaled_v_, columns);
        if (!(found > best)) return false;
        best = found;
        less = part;
        return true;
    };
    // The bound is concave in the factor: once it falls, it falls on.
    for (double part = first_less; part <= most_less; part *= much_more)
        if (!improves(part) && less > 0.0) break;
    for (double ratio = std::sqrt(much_more); less > 0.0 && ratio > finest_ratio; ratio = std::sqrt(ratio)) {
        const double at = less;
        if (!improves(at * ratio)) improves(at / ratio);
    }
    return {1.0 - less, best};
}

void Pricing::price(const std::vector<int32_t>& features, const DualPoint& dual) {
    price_columns(region_.columns_of(features), dual);
}

void Pricing::price_columns(const std::vector<int32_t>& columns, const DualPoint& dual) {
    setting_.problem.X.dots(columns, dual.theta.data(), values_);
    for (size_t c = 0; c < columns.size(); ++c) v_[columns[c]] = values_[c];
    if (!dual.added.empty())
        for (const int32_t j : columns) v_[j] += dual.added[j];
}

void Pricing::price_decided(const DualPoint& dual) {
    price(region_.in(), dual);
    price_columns(region_.always(), dual);
}

double Pricing::price_all(const DualPoint& dual) {
    price_decided(dual);
    price(region_.undecided(), dual);
    return bound(dual);
}

void Pricing::price_alone(int32_t j, const DualPoint& dual) {
    for (const int32_t column : setting_.problem.members(j))
        v_[column] = setting_.problem.X.dot(column, dual.theta.data(), 0.0) + (dual.added.empty() ? 0.0 : dual.added[column]);
}

double Pricing::gain_of_feature(int32_t j, double scale) const {
    double total = 0.0;
    for (const int32_t column : setting_.problem.members(j))
        total += gain(v_[column] / scale, region_.box(column), region_.cost(column));
    return total;
}

void Pricing::make_dual_of(const Relaxation& relaxation, DualPoint& out) const {
    // At a bound of its own the slope of a coordinate may have either sign.
    std::vector<Slope> wanted;
    const Penalty& penalty = setting_.problem.penalty;
    for (size_t k = 0; k < relaxation.coordinates().size(); ++k) {
        const auto& c = relaxation.coordinates()[k];
        const int32_t j = c.column;
        const bool held = c.beta <= std::max(penalty.low(j), c.box.low) || c.beta >= std::min(penalty.high(j), c.box.high);
        const bool unpenalized = !region_.free().empty() && region_.status(j) == Region::Status::always;
        if (!held && unpenalized) wanted.push_back({j, 0.0});
        else if (!held && c.beta != 0.0 && hardly_held(j)) wanted.push_back({j, relaxation.slope(k)});
    }
    Tangent at{{}, {}, relaxation.intercept(), relaxation.predictions(), relaxation.residual(), relaxation.curvature()};
    for (const auto& c : relaxation.coordinates()) {
        if (c.beta == 0.0 || setting_.problem.X.square(c.column) == 0.0) continue;  // a constant column predicts nothing
        at.columns.push_back(c.column);
        at.coefficients.push_back(c.beta);
    }
    make_dual(setting_.problem, std::move(at), wanted, setting_.options.precise, region_.diagonal(), out);
}

bool Pricing::hardly_held(int32_t j) const {
    const Box& box = region_.box(j);
    return setting_.options.precise && region_.moved(j) == 0.0 &&
           (box.high - box.low) * std::sqrt(setting_.problem.X.square(j)) > wide;
}

double Pricing::charge_of(int32_t j, const Relaxation& relaxation) const {
    return relaxation.charges().of(region_.group(j), region_.price(j));
}

double Pricing::value_of(const Relaxation& relaxation) const {
    return relaxation.value() + setting_.options.lambda_0 * region_.paid() - bound_.gain_of_swaps();
}

bool Pricing::add_violators(const std::vector<int32_t>& columns, const DualPoint& dual, Relaxation& to,
                            WorkingSet& working) const {
    const Problem& problem = setting_.problem;
    std::vector<std::pair<double, int32_t>> violators;
    for (const int32_t j : columns) {
        if (working.columns.test(j)) continue;
        const double charge = charge_of(j, to), excess = gain_of_feature(j, dual.scale) - charge;
        if (excess > violation * charge) violators.emplace_back(-excess, j);
    }
    const size_t count = std::min(least_entering + to.coordinates().size() / 2, violators.size());
    std::partial_sort(violators.begin(), violators.begin() + static_cast<std::ptrdiff_t>(count), violators.end());
    std::vector<int32_t> entering;
    entering.reserve(count);
    for (size_t c = 0; c < count; ++c) entering.push_back(violators[c].second);
    const std::vector<int32_t> entering_columns = region_.columns_of(entering);
    const auto held = problem.X.design().hold(entering_columns);
    for (const int32_t j : entering_columns) {
        working.columns.insert(j);
        to.add(j, region_.box(j), region_.group(j), region_.moved(j));
    }
    return count > 0;
}

void Pricing::choose_near(const DualPoint& dual, const Relaxation& relaxation, WorkingSet& working) const {
    const Problem& problem = setting_.problem;
    std::vector<std::pair<float, int32_t>> ratios;
    for (const int32_t j : region_.undecided()) {
        // A group enters where its gain is the charge. The root makes of the gain what a slope is.
        const double charge = charge_of(j, relaxation);
        const double ratio = problem.grouped() ? std::sqrt(gain_of_feature(j, dual.scale) / charge)
                                               : std::abs(v_[j] / dual.scale) /
                                                     Envelope(region_.box(j), charge, region_.cost(j)).threshold(-v_[j]);
        if (ratio > near_threshold) ratios.emplace_back(static_cast<float>(-ratio), j);
    }
    const auto most = std::max(least_near, static_cast<int64_t>(near_share * static_cast<double>(problem.columns())));
    if (std::ssize(ratios) > most) {
        std::nth_element(ratios.begin(), ratios.begin() + most, ratios.end());
        ratios.resize(most);
    }
    working.near.clear();
    for (const auto& [ratio, j] : ratios) working.near.push_back(j);
    std::sort(working.near.begin(), working.near.end());
}

std::vector<int32_t> Pricing::likely_columns(const Relaxation& relaxation, const WorkingSet& working) const {
    std::vector<int32_t> out;
    for (const auto& c : relaxation.coordinates())
        if (region_.undecided(c.column) && setting_.problem.is_head(c.column)) out.push_back(c.column);
    for (const int32_t j : working.near)  // as they were at the last full pass: some may be decided since
        if (!working.columns.test(j) && region_.undecided(j)) out.push_back(j);
    // Clauses are judged by their best members.
    for (const auto& clause : region_.clauses())
        for (const int32_t j : clause)
            if (!working.columns.test(j) && !std::binary_search(working.near.begin(), working.near.end(), j)) out.push_back(j);
    return out;
}

}  // namespace ellzero
