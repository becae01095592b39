#include "ellzero/exact/node_solver.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace ellzero {
namespace {
// Newton steps between two updates of the hinge's smoothing.
constexpr int steps_per_update = 2;
// After so many refinements of a node with few coordinates (many are ill-conditioned then) the smoothing falls.
constexpr int patient_refinements = 10;
constexpr size_t few_coordinates = 64;
// A node's value is known well enough for branching when its error is this share of what is missing to prune it.
constexpr double known_well = 0.05;
// Violated columns that enter the working set at a time.
constexpr size_t least_entering = 30;
// Columns whose slope is near enough to enter are priced first, at most this share of all.
constexpr double near_threshold = 0.5, near_share = 0.05;
constexpr int64_t least_near = 500;
// Groups are fixed where the gap is at most this share of the charge; how much of their room the shares of a group may take.
constexpr double small_gap = 0.75, group_size = 0.25;
// With more groups than that it is better to branch first.
constexpr double most_groups = 32.0;
// Each group leaves a dual point: a tree larger than this grows by one of them a node.
constexpr int64_t most_bytes_of_groups = int64_t{1} << 31;
// A node is solved again, at most so often, while at least this share of its free features was fixed.
constexpr int most_tightenings = 30;
constexpr double worth_another = 0.05;
}  // namespace

NodeSolver::NodeSolver(const Problem& problem, const ExactOptions& options, Incumbent& incumbent, const Witness* witness)
    : problem_(problem),
      options_(options),
      incumbent_(incumbent),
      witness_(witness),
      region_(problem, options.lambda_0, options.k, options.free_bound, options.swaps),
      relaxation_(problem),
      other_(problem),
      v_(problem.columns(), 0.0),
      working_(problem.columns(), 0) {}

void NodeSolver::check_witness(const Node& node, bool lost, const char* what) const {
    if (lost && witness_->objective < incumbent_.objective())
        throw WitnessLost("the known solution was lost at node " + std::to_string(node.id) + ": " + what);
}

NodeSolver::Outcome NodeSolver::run(const Node& node) {
    Outcome out;
    out.bound = node.bound;
    const bool follows =
        witness_ && region_.load(*node.state, node.decision, Penalty::infinity) && region_.contains(witness_->model);
    if (!region_.load(*node.state, node.decision, incumbent_.cutoff())) {
        check_witness(node, follows, "its region was found empty");
        out.bound = Penalty::infinity;
        return out;
    }
    // A node's outcome depends on nothing but the node and the incumbent: a resumed search repeats the one that was killed.
    relaxation_.forget();
    other_.forget();
    start(*node.state);
    for (int k = 0;; ++k) {
        const double known = incumbent_.objective();
        bound_node(node);
        out.proofs.push_back(dual_.alpha);
        out.bound = std::max(out.bound, bound_);
        check_witness(node, follows && out.bound > witness_->objective, "its bound is too high");
        round();
        if (out.bound >= incumbent_.prune_at(options_.gap)) return out;
        const int64_t before = std::ssize(region_.free());
        const bool left = tighten(out);
        check_witness(node, follows && !(left && region_.contains(witness_->model)), "fixing cut it off");
        if (!left) {
            out.bound = Penalty::infinity;
            return out;
        }
        // Where nothing is left to decide the node is one solution: its bound was good enough for the incumbent before it.
        if (region_.free().empty() && incumbent_.objective() < known && k < most_tightenings) {
            restart();
            continue;
        }
        // A node that may have to wait must not hold what was fixed: its shares say what comes next.
        const int64_t fixed = before - std::ssize(region_.free());
        const bool little = static_cast<double>(fixed) < worth_another * static_cast<double>(before);
        if (k >= most_tightenings || fixed == 0 || (little && options_.integral.empty())) break;
        restart();
    }
    if (worth_enumerating()) {
        enumerate(out);
        for (const auto& leaf : out.leaves)
            check_witness(node, follows && leaf.bound > witness_->objective && leaf_of_witness() == leaf.column,
                          "a leaf's bound is too high");
        return out;
    }
    out.branch = choose_branch(node, out.bound);
    if (out.branch < 0 && region_.free().empty()) return out;
    const std::shared_ptr<State> state = state_for_children();
    if (out.branch < 0) add_shares(*state);
    out.state = state;
    return out;
}

NodeSolver::Relaxed NodeSolver::relax(const State& state, double enough) {
    Relaxed out;
    if (!region_.load(state, {}, incumbent_.cutoff())) return out;
    start(state);
    out.bound = prove(relaxation_, 1e-3 * std::abs(incumbent_.objective()), [&] { return enough; },
                      [&](double value, double bound) { return good_enough(value, bound, enough); }, dual_);
    out.dual = dual_;
    const std::shared_ptr<State> solution = state_for_children();
    add_shares(*solution);
    out.state = solution;
    return out;
}

// The shares of the columns in a state: a feature that is in has one, so has one that stays at home.
void NodeSolver::add_shares(State& state) const {
    const auto& coordinates = relaxation_.coordinates();
    std::vector<float> shares(problem_.columns(), 0.0F);
    for (size_t k = 0; k < coordinates.size(); ++k) shares[coordinates[k].column] = static_cast<float>(relaxation_.share(k));
    for (const int32_t j : state.columns) state.shares.push_back(shares[j]);
}

void NodeSolver::start(const State& state) {
    std::vector<Relaxation::Coordinate> coordinates;
    for (size_t k = 0; k < state.columns.size(); ++k) coordinates.push_back({state.columns[k], {}, false, state.beta[k]});
    near_ = state.near;
    begin(coordinates, state.intercept, state.mu);
    if (hinge()) relaxation_.smooth(node_smoothing, state.alpha.empty() ? nullptr : &state.alpha);
}

// The relaxation of the region as it is now, from the solution of what it was.
void NodeSolver::restart() {
    begin(relaxation_.coordinates(), relaxation_.intercept(), relaxation_.mu());
    if (hinge()) relaxation_.smooth(node_smoothing, &dual_.alpha);
}

void NodeSolver::begin(const std::vector<Relaxation::Coordinate>& from, double intercept, double mu) {
    std::erase_if(near_, [&](int32_t j) { return region_.status(j) != Region::Status::free; });
    std::fill(working_.begin(), working_.end(), 0);
    std::vector<Relaxation::Coordinate> coordinates;
    const auto take = [&](int32_t j, double beta) {
        const auto status = region_.status(j);
        if (working_[j] || status == Region::Status::out) return;
        working_[j] = 1;
        // Features at home are taken to stay: what those gain that leave is counted in the bound.
        coordinates.push_back({j, region_.box(j), status == Region::Status::free && !region_.at_home(j), beta});
    };
    for (const auto& c : from)
        if (c.beta != 0.0) take(c.column, c.beta);
    for (const auto* list : {&region_.in(), &region_.always(), &region_.home_free()})
        for (const int32_t j : *list) take(j, 0.0);
    relaxation_.begin(std::move(coordinates), intercept, options_.lambda_0, region_.limited() ? mu : 0.0, most_shares());
}

double NodeSolver::most_shares(int64_t fewer) const {
    return region_.limited() ? static_cast<double>(region_.left() - fewer) : Penalty::infinity;
}

void NodeSolver::price(const std::vector<int32_t>& columns, const DualPoint& dual) {
    problem_.X.dots(columns, dual.theta.data(), values_);
    for (size_t c = 0; c < columns.size(); ++c) v_[columns[c]] = values_[c];
}

bool NodeSolver::add_violators(const std::vector<int32_t>& columns, Relaxation& to) {
    std::vector<std::pair<double, int32_t>> violators;
    for (const int32_t j : columns) {
        if (working_[j]) continue;
        const double excess = gain(v_[j], region_.box(j), problem_.penalty) - to.charge();
        if (excess > 1e-9 * to.charge()) violators.emplace_back(-excess, j);
    }
    const size_t count = std::min(least_entering + to.coordinates().size() / 2, violators.size());
    std::partial_sort(violators.begin(), violators.begin() + static_cast<std::ptrdiff_t>(count), violators.end());
    std::vector<int32_t> entering;
    for (size_t c = 0; c < count; ++c) entering.push_back(violators[c].second);
    const auto held = problem_.X.design().hold(entering);
    for (const int32_t j : entering) {
        working_[j] = 1;
        to.add(j, region_.box(j));
    }
    return count > 0;
}

double NodeSolver::value_of(const Relaxation& relaxation) const {
    const auto charged = static_cast<double>(region_.in().size() + region_.home_free().size());
    return relaxation.value() + options_.lambda_0 * charged - region_.gain_of_swaps();
}

void NodeSolver::bound_node(const Node& node) {
    const double size = std::abs(incumbent_.objective());
    const auto prune_at = [&] { return incumbent_.prune_at(options_.gap); };
    double floor = std::max(known_well * (prune_at() - node.bound), precision * size);
    if (!std::isfinite(floor)) floor = 1e-3 * size;
    bound_ = prove(relaxation_, floor, prune_at,
                   [&](double value, double bound) { return good_enough(value, bound, prune_at()); }, dual_);
}

bool NodeSolver::good_enough(double value, double bound, double wanted) const {
    return value - bound <=
           std::max(value < wanted ? known_well * (wanted - bound) : 0.0, precision * std::abs(incumbent_.objective()));
}

double NodeSolver::prove(Relaxation& relaxation, double floor, const std::function<double()>& wanted, const Accurate& accurate,
                         DualPoint& best) {
    const double size = std::abs(incumbent_.objective());
    double best_bound = -Penalty::infinity;
    std::vector<double> best_v;
    DualPoint dual;
    int at_the_floor = 0, refined = 0;
    double tau = node_smoothing;
    const auto refine = [&] {
        if (++refined > patient_refinements && relaxation.coordinates().size() <= few_coordinates)
            tau = std::max(0.7 * tau, least_smoothing);
        if (floor <= 1e-16 * size && ++at_the_floor > (hinge() ? 50 : 0)) return false;
        floor = std::max(floor * (hinge() ? 0.3 : 0.03), 1e-17 * size);
        return true;
    };
    for (int round = 0; round < most_rounds; ++round) {
        relaxation.solve(floor, hinge() ? steps_per_update : 100);
        make_dual(problem_, relaxation.residual(), relaxation.curvature(), unheld_columns(relaxation), dual);
        if (hinge()) relaxation.recentre(tau);
        // First the columns that matter most: what they say is nearly what all would.
        const std::vector<int32_t> few = likely_columns(relaxation);
        price(region_.in(), dual);
        price(region_.always(), dual);
        price(few, dual);
        const double estimate = region_.bound(dual, v_, few), value = value_of(relaxation);
        if (estimate < wanted() && round + 1 < most_rounds) {  // the last round ends with a full pass in any case
            if (add_violators(few, relaxation)) continue;
            if (!accurate(value, estimate) && refine()) continue;
        }
        price(region_.free(), dual);
        ++passes;
        if (const double bound = region_.bound(dual, v_); bound > best_bound || best_v.empty()) {
            best_bound = bound;
            best_v = v_;
            best = dual;
        }
        if (best_bound >= wanted()) break;
        choose_near(relaxation);
        if (add_violators(region_.free(), relaxation)) continue;
        if (accurate(value, best_bound) || !refine()) break;
    }
    v_ = std::move(best_v);
    return best_bound;
}

bool NodeSolver::tighten(Outcome& out) {
    region_.bound(dual_, v_);
    if (!region_.tighten(v_, incumbent_.cutoff())) return false;
    return fix_groups(out);
}

// A feature j is out once bound + charge - s_j is above the cutoff. For features that the relaxation uses s_j is the charge
// itself. But where their charge is lowered to a share, so is s_j, and the bound falls by little more than what the group pays:
// the dual point of that relaxation fixes the whole group. A single feature would need a branching of its own.
bool NodeSolver::fix_groups(Outcome& out) {
    const double charge = relaxation_.charge(), gap = (incumbent_.cutoff() - bound_) / charge;
    if (!(gap < small_gap) || incumbent_.proof_bytes() > most_bytes_of_groups) return true;
    const double room = group_size * (1.0 - gap), discount = std::max(1.0 - 1.1 * gap / (1.0 - 1.5 * room), 0.02);
    const auto& coordinates = relaxation_.coordinates();
    if (relaxation_.total_share() > most_groups * room) return true;
    double shares = 0.0;
    std::vector<size_t> group;
    for (size_t k = 0; k < coordinates.size(); ++k) {
        const double share = relaxation_.share(k);
        if (region_.status(coordinates[k].column) == Region::Status::free && share > 0.0 && share <= room) {
            group.push_back(k);
            shares += share;
        }
        if (group.empty() || (shares < room && k + 1 < coordinates.size())) continue;
        if (!fix_group(group, discount, out)) return false;
        group.clear();
        shares = 0.0;
    }
    return true;
}

bool NodeSolver::fix_group(std::span<const size_t> group, double discount, Outcome& out) {
    std::vector<Relaxation::Coordinate> coordinates = relaxation_.coordinates();
    for (const size_t k : group) coordinates[k].discount = discount;
    std::erase_if(coordinates, [&](const auto& c) { return region_.status(c.column) == Region::Status::out; });
    for (auto& c : coordinates) c.box = region_.box(c.column);
    const double charge = relaxation_.charge(), gap = incumbent_.cutoff() - bound_;
    if (hinge()) other_.smooth(node_smoothing, &dual_.alpha);
    other_.begin(std::move(coordinates), relaxation_.intercept(), charge, 0.0, Penalty::infinity);
    DualPoint dual;
    const auto near = near_;
    prove(other_, 0.01 * (charge - gap), [&] { return incumbent_.cutoff(); },
          [&](double value, double bound) { return value - bound <= 0.05 * (charge - gap); }, dual);
    near_ = near;
    std::fill(working_.begin(), working_.end(), 0);
    for (const auto& c : relaxation_.coordinates()) working_[c.column] = 1;
    region_.bound(dual, v_);
    out.proofs.push_back(std::move(dual.alpha));  // also if it shrinks no more than a box
    return region_.tighten(v_, incumbent_.cutoff());
}

std::shared_ptr<State> NodeSolver::state_for_children() {
    auto state = std::make_shared<State>();
    region_.store(*state);
    for (const auto& c : relaxation_.coordinates())
        if (c.beta != 0.0 && region_.status(c.column) != Region::Status::out) {
            state->columns.push_back(c.column);
            state->beta.push_back(c.beta);
        }
    state->intercept = relaxation_.intercept();
    state->mu = relaxation_.mu();
    for (const int32_t j : near_)
        if (region_.status(j) == Region::Status::free) state->near.push_back(j);
    if (hinge()) state->alpha = dual_.alpha;
    return state;
}

// The columns that are next to enter, by their slopes at the last full pass.
void NodeSolver::choose_near(const Relaxation& relaxation) {
    std::vector<std::pair<float, int32_t>> ratios;
    for (const int32_t j : region_.free()) {
        const double ratio =
            std::abs(v_[j]) / Envelope(region_.box(j), relaxation.charge(), problem_.penalty).threshold(-v_[j]);
        if (ratio > near_threshold) ratios.emplace_back(static_cast<float>(-ratio), j);
    }
    const auto most = std::max(least_near, static_cast<int64_t>(near_share * static_cast<double>(problem_.columns())));
    if (std::ssize(ratios) > most) {
        std::nth_element(ratios.begin(), ratios.begin() + most, ratios.end());
        ratios.resize(most);
    }
    near_.clear();
    for (const auto& [ratio, j] : ratios) near_.push_back(j);
    std::sort(near_.begin(), near_.end());
}

// At a bound of its own the slope of an unpenalized coordinate may have either sign.
std::vector<int32_t> NodeSolver::unheld_columns(const Relaxation& relaxation) const {
    std::vector<int32_t> out;
    if (region_.unheld().empty()) return out;
    for (const auto& c : relaxation.coordinates())
        if (region_.status(c.column) == Region::Status::always && c.beta > problem_.penalty.low(c.column) &&
            c.beta < problem_.penalty.high(c.column))
            out.push_back(c.column);
    return out;
}

std::vector<int32_t> NodeSolver::likely_columns(const Relaxation& relaxation) const {
    std::vector<int32_t> out;
    for (const auto& c : relaxation.coordinates())
        if (region_.status(c.column) == Region::Status::free) out.push_back(c.column);
    for (const int32_t j : near_)
        if (!working_[j]) out.push_back(j);
    return out;
}

}  // namespace ellzero
