// The decisions at a node: rounding to a solution, enumerating the last feature, choosing the feature to branch on.
#include <algorithm>
#include <cmath>

#include "ellzero/exact/node_solver.hpp"

namespace ellzero {
namespace {
// Rounds of the method of multipliers after which the values of a refit are compared.
constexpr int rounds_compared = 5;
// Supports that were rounded to are remembered.
constexpr size_t remembered = 64;
// Leaves times rows up to which the last feature is enumerated.
constexpr int64_t most_enumerated = 2'000'000;
// Leaves come by the thousand; a tree larger than this grows by branching alone.
constexpr int64_t most_bytes_of_leaves = int64_t{1} << 29;
constexpr size_t strong_candidates = 8;
constexpr int strong_steps = 4;
constexpr double integral = 1e-6;  // shares this close to 0 or 1
}  // namespace

// Keeps what is in and the features that pay most of their charge, and refits.
void NodeSolver::round() {
    const auto& coordinates = relaxation_.coordinates();
    std::vector<std::pair<double, size_t>> order;
    std::vector<size_t> kept;
    for (size_t k = 0; k < coordinates.size(); ++k) {
        if (const int32_t j = coordinates[k].column; !coordinates[k].free) {
            const bool leaves = region_.status(j) == Region::Status::free && region_.best_leaves(j);
            if (!leaves) kept.push_back(k);
        } else if (coordinates[k].beta != 0.0) {
            order.emplace_back(-std::abs(coordinates[k].beta), k);
        }
    }
    std::sort(order.begin(), order.end());
    const bool all = region_.limited() && options_.swaps.home.empty();
    const int64_t most = all ? region_.left() : std::min<int64_t>(region_.left(), std::llround(relaxation_.total_share()));
    for (size_t c = 0; c < order.size() && static_cast<int64_t>(c) < most; ++c) kept.push_back(order[c].second);
    std::sort(kept.begin(), kept.end(), [&](size_t a, size_t b) { return coordinates[a].column < coordinates[b].column; });
    std::vector<int32_t> support;
    std::vector<double> beta;
    for (const size_t k : kept) {
        support.push_back(coordinates[k].column);
        beta.push_back(coordinates[k].beta);
    }
    if (std::find(tried_.begin(), tried_.end(), support) != tried_.end()) return;
    if (tried_.size() >= remembered) tried_.erase(tried_.begin());
    tried_.push_back(support);
    incumbent_.offer(refit(support, beta, relaxation_.intercept()));
}

Model NodeSolver::refit(const std::vector<int32_t>& support, const std::vector<double>& beta, double intercept) {
    std::vector<Relaxation::Coordinate> coordinates;
    for (size_t k = 0; k < support.size(); ++k) {
        const int32_t j = support[k];
        coordinates.push_back({j, {problem_.penalty.low(j), problem_.penalty.high(j)}, false, beta[k]});
    }
    std::sort(coordinates.begin(), coordinates.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
    other_.begin(std::move(coordinates), intercept, 0.0, 0.0, Penalty::infinity);
    const double size = std::abs(incumbent_.objective());
    if (hinge()) {
        const auto counted =
            std::count_if(support.begin(), support.end(), [&](int32_t j) { return problem_.penalty.counted(j); });
        const double charged = options_.lambda_0 * static_cast<double>(counted);
        double tau = node_smoothing, last = Penalty::infinity;
        other_.smooth(tau);
        for (int round = 1; round <= most_rounds; ++round) {
            other_.solve(1e-17 * size, 5);
            tau = std::max(0.5 * tau, least_smoothing);
            other_.recentre(tau);
            // The values need not fall one by one: several are compared at a time.
            if (round % rounds_compared != 0) continue;
            const double value = other_.value(), gained = last - value;
            if (gained <= 1e-13 * size || value + charged - incumbent_.objective() > 100.0 * gained) break;
            last = value;
        }
    } else {
        other_.solve(1e-17 * size);
    }
    Model model;
    model.cost = other_.value();
    model.intercept = other_.intercept();
    for (const auto& c : other_.coordinates()) {
        if (c.beta == 0.0 && problem_.penalty.counted(c.column)) continue;
        model.support.push_back(c.column);
        model.beta.push_back(c.beta);
        model.size += problem_.penalty.counted(c.column);
    }
    return model;
}

// The leaf that holds the witness: that of its one feature that is not in yet.
int32_t NodeSolver::leaf_of_witness() const {
    for (size_t k = 0; k < witness_->model.support.size(); ++k)
        if (const int32_t j = witness_->model.support[k];
            witness_->model.beta[k] != 0.0 && region_.status(j) == Region::Status::free)
            return j;
    return -1;
}

bool NodeSolver::worth_enumerating() const {
    return incumbent_.proof_bytes() < most_bytes_of_leaves && options_.integral.empty() && region_.home_free().empty() &&
           region_.limited() && region_.left() == 1 && std::ssize(region_.free()) * problem_.rows() <= most_enumerated;
}

// With one more feature the node is a list of convex problems of a few features each, and no pass over X is needed for them.
void NodeSolver::enumerate(Outcome& out) {
    std::vector<Relaxation::Coordinate> inside;
    for (auto c : relaxation_.coordinates())
        if (const auto status = region_.status(c.column); status == Region::Status::in || status == Region::Status::always) {
            c.free = false;
            c.box = region_.box(c.column);
            inside.push_back(c);
        }
    std::vector<int32_t> candidates = region_.free();
    std::sort(candidates.begin(), candidates.end(), [&](int32_t a, int32_t b) { return std::abs(v_[a]) > std::abs(v_[b]); });
    candidates.push_back(-1);
    out.bound = Penalty::infinity;
    for (const int32_t j : candidates) {
        std::vector<Relaxation::Coordinate> coordinates = inside;
        if (j >= 0) coordinates.push_back({j, region_.box(j), false, 0.0});
        const double size = std::abs(incumbent_.objective()), prune_at = incumbent_.prune_at(options_.gap);
        double tau = node_smoothing, floor = 0.01 * size, bound = -Penalty::infinity;
        if (hinge()) other_.smooth(tau, &dual_.alpha);
        other_.begin(std::move(coordinates), relaxation_.intercept(), 0.0, 0.0, Penalty::infinity);
        DualPoint dual, best;
        for (int round = 0; round < most_rounds && bound < prune_at; ++round) {
            other_.solve(floor);
            make_dual(problem_, other_.residual(), other_.curvature(), unheld_columns(other_), dual);
            price(region_.in(), dual);
            price(region_.always(), dual);
            if (j >= 0) v_[j] = problem_.X.dot(j, dual.theta.data(), 0.0);
            if (const double found = region_.bound(dual, v_, {}, j); found > bound) {
                bound = found;
                best = dual;
            }
            if (value_of(other_) + (j >= 0 ? options_.lambda_0 : 0.0) - bound <= precision * size) break;
            if (!hinge() && floor <= 1e-16 * size) break;
            floor = std::max(floor * 0.03, 1e-17 * size);
            tau = std::max(0.7 * tau, least_smoothing);
            if (hinge()) other_.recentre(tau);
        }
        if (bound < prune_at) {
            std::vector<int32_t> support;
            std::vector<double> beta;
            for (const auto& c : other_.coordinates()) {
                support.push_back(c.column);
                beta.push_back(c.beta);
            }
            incumbent_.offer(refit(support, beta, other_.intercept()));
        }
        out.bound = std::min(out.bound, bound);
        out.leaves.push_back({j, std::move(best.alpha), bound});
        problem_.X.monitor().poll();
    }
}

int32_t NodeSolver::choose_branch(const Node& node, double bound) {
    // What leaves decides what comes: features at home first, the one that leaves at the least cost.
    const auto& home = region_.home_free();
    if (!home.empty())
        return *std::max_element(home.begin(), home.end(),
                                 [&](int32_t a, int32_t b) { return region_.gain_of_leaving(a) < region_.gain_of_leaving(b); });
    std::vector<std::pair<double, size_t>> candidates;
    const auto& coordinates = relaxation_.coordinates();
    for (size_t k = 0; k < coordinates.size(); ++k) {
        if (region_.status(coordinates[k].column) != Region::Status::free || !may_branch_on(coordinates[k].column)) continue;
        const double share = relaxation_.share(k);
        if (share > integral && share < 1.0 - integral) candidates.emplace_back(-std::abs(coordinates[k].beta), k);
    }
    if (candidates.empty() && !options_.integral.empty()) return -1;
    if (candidates.empty())  // integral but for rounding: any free feature that is used will do
        for (size_t k = 0; k < coordinates.size(); ++k)
            if (coordinates[k].beta != 0.0 && region_.status(coordinates[k].column) == Region::Status::free)
                candidates.emplace_back(-std::abs(coordinates[k].beta), k);
    // Fixing may have taken all that the relaxation used: any other free feature.
    if (candidates.empty()) return region_.free().empty() ? -1 : region_.free().front();
    std::sort(candidates.begin(), candidates.end());
    if (node.depth >= options_.strong_depth || candidates.size() == 1) return coordinates[candidates[0].second].column;

    candidates.resize(std::min(candidates.size(), strong_candidates));
    const double missing = incumbent_.prune_at(options_.gap) - bound, now = value_of(relaxation_);
    double best = -1.0;
    int32_t chosen = -1;
    for (const auto& [size, place] : candidates) {
        double score = 1.0;
        for (const bool in : {false, true}) score *= std::clamp(try_child(place, in) - now, 1e-6 * missing, missing);
        if (score > best) {
            best = score;
            chosen = coordinates[place].column;
        }
    }
    return chosen;
}

// The value of a child's relaxation on the working set alone.
double NodeSolver::try_child(size_t place, bool in) {
    std::vector<Relaxation::Coordinate> child = relaxation_.coordinates();
    child[place].free = false;
    if (!in) {
        child[place].beta = 0.0;
        child[place].box = {0.0, 0.0};
    }
    double most = most_shares(in);
    if (most == 0.0) {
        for (auto& c : child)
            if (c.free) c = {c.column, {0.0, 0.0}, false, 0.0};
        most = Penalty::infinity;
    }
    if (hinge()) other_.smooth(node_smoothing, &dual_.alpha);
    other_.begin(std::move(child), relaxation_.intercept(), options_.lambda_0, relaxation_.mu(), most);
    other_.solve(1e-4 * std::abs(incumbent_.objective()), strong_steps);
    return other_.value() + options_.lambda_0 * static_cast<double>(region_.in().size() + (in ? 1 : 0));
}

}  // namespace ellzero
