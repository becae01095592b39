#include "ellzero/exact/node_solver.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {

// A node is solved again, at most so often, while at least this part of its undecided features was fixed.
constexpr int most_tightenings = 30;
constexpr double worth_another = 0.05;
// A node's value is known well enough for branching when its error is this part of what is missing to prune it. The root's is
// known better: it is what a search that is cut short can say, and every other node begins with it.
constexpr double known_well = 0.05, known_well_at_the_root = 0.005;

}  // namespace

NodeSolver::NodeSolver(const Problem& problem, const ExactOptions& options, Incumbent& incumbent, const Witness* witness)
    : setting_{problem, options, incumbent},
      witness_(witness),
      work_(setting_),
      pricing_(setting_, work_.region),
      fixing_(setting_, work_, pricing_),
      probing_(setting_, work_, pricing_),
      rounding_(setting_, work_),
      last_feature_(setting_, work_, pricing_, rounding_),
      branching_(setting_, work_, pricing_) {
    if (options.equations)
        gram_ = std::make_unique<GramNode>(setting_, work_.region, [this](const std::vector<int32_t>& support) {
            const std::vector<double> beta(support.size(), 0.0), intercept(setting_.problem.constants(), 0.0);
            return rounding_.refit(support, beta, intercept);
        });
}

NodeSolver::Outcome NodeSolver::run(const Node& node) {
    Outcome out;
    out.bound = node.bound;
    // 1. The region: what the parent left, and the decision that makes this child.
    const WitnessWatch watch(witness_, setting_.incumbent, node, work_.region);
    if (!work_.region.load(*node.state, node.decision, setting_.incumbent.cutoff())) {
        watch.check_lost(true, "its region was found empty");
        out.bound = Penalty::infinity;
        return out;
    }
    if (gram_) return run_gram(node, watch);
    // 2. Bound it, round, fix features. The outcome depends on nothing but the node and the incumbent: a resumed search repeats
    // the one that was killed.
    work_.forget();
    out.diagonal = work_.region.renew_diagonal(node.depth == 0);
    work_.start(*node.state);
    if (!bound_and_fix(node, watch, out)) return out;
    if (setting_.options.wanted.all && collect(out)) return out;
    // 3. Where one more feature is allowed, each of the undecided ones makes a leaf.
    if (last_feature_.worth_enumerating()) {
        out.leaves = last_feature_.enumerate();
        out.bound = Penalty::infinity;
        for (const Leaf& leaf : out.leaves) {
            if (!leaf.found) out.bound = std::min(out.bound, leaf.bound);
            watch.check_leaf(work_.region, leaf.column, leaf.bound);
        }
        return out;
    }
    // 4. Branch, or wait for more features to branch on.
    out.branch = branching_.choose(node.depth, out.bound);
    if (!out.branch.empty()) {
        out.ending = Ending::branches;
        out.state = work_.leave();
    } else if (!work_.region.undecided().empty()) {
        out.ending = Ending::waits;
        out.state = work_.leave_with_shares();
    }
    return out;
}

NodeSolver::Outcome NodeSolver::run_gram(const Node& node, const WitnessWatch& watch) {
    GramNode::Outcome found = gram_->run(node, watch);
    Outcome out;
    out.bound = found.bound;
    out.proofs = std::move(found.proofs);
    out.families = std::move(found.made);
    out.enumerated = found.enumerated;
    out.state = std::move(found.state);
    if (!found.closed) {
        out.ending = Ending::branches;
        out.branch = {found.branch};
    }
    return out;
}

bool NodeSolver::bound_and_fix(const Node& node, const WitnessWatch& watch, Outcome& out) {
    for (int k = 0;; ++k) {
        const double objective = setting_.incumbent.objective();
        work_.proof = pricing_.prove(work_.relaxation, work_.working, goal_at(node));
        // A node that is solved again often has the same bound: then its dual point is kept only if it fixes something.
        const double rounding = node_tolerances::precision * setting_.incumbent.size();
        const bool keeps = k == 0 || work_.proof.bound > out.bound + rounding;
        if (keeps) {
            out.proofs.push_back(work_.proof.dual.kept);
            out.bound = std::max(out.bound, work_.proof.bound);
        }
        watch.check_bound(out.bound, "its bound is too high");
        rounding_.round(pricing_.last_bound());
        if (out.bound >= setting_.prune_at()) return false;
        const int64_t undecided = std::ssize(work_.region.undecided());
        pricing_.bound(work_.proof.dual);  // of the best dual point, for both that follow
        probing_.look();
        const bool all = node.depth == 0 && setting_.options.narrow;
        const bool left =
            fixing_.tighten(keeps, out.proofs) && probing_.narrow(out.proofs) && (!all || probing_.narrow_all(out.proofs));
        if (left) watch.check_region(work_.region, "fixing cut it off");
        else watch.check_lost(true, "fixing cut it off");
        if (!left) {
            out.bound = Penalty::infinity;
            return false;
        }
        if (k >= most_tightenings || !(probing_.narrowed() || worth_solving_again(undecided, objective))) return true;
        work_.restart();
    }
}

bool NodeSolver::collect(Outcome& out) {
    const Region& region = work_.region;
    const bool decided = region.undecided().empty();
    // What features cost is part of a bound: it says what they gain only if that is nothing.
    if (!decided &&
        (setting_.problem.rules || setting_.options.lambda_0 > 0.0 || !region.clauses().empty() || uses_undecided()))
        return false;
    std::optional<Found> found = rounding_.find(region.in(), work_.relaxation);
    if (!found && !decided) return false;
    // The bound must be precise if there may be nothing to gain, or if the level fell below the support since it was computed.
    if (!decided || !found || !found->needs_all) {
        work_.restart();
        const double precise = node_tolerances::precision * setting_.incumbent.size();
        work_.proof = pricing_.prove(work_.relaxation, work_.working, {precise, [] {
            return Penalty::infinity;
        }, [precise](double value, double bound) { return value - bound <= precise; }});
        out.proofs.push_back(work_.proof.dual.kept);
        out.bound = std::max(out.bound, work_.proof.bound);
        pricing_.bound(work_.proof.dual);
    }
    if (!decided && out.bound < found->model.cost - Wanted::nothing * setting_.incumbent.size()) return false;
    out.found = std::move(found);
    return true;
}

bool NodeSolver::uses_undecided() const {
    const auto& coordinates = work_.relaxation.coordinates();
    return std::any_of(coordinates.begin(), coordinates.end(),
                       [&](const auto& c) { return c.beta != 0.0 && work_.region.undecided(c.column); });
}

Pricing::Goal NodeSolver::goal_at(const Node& node) const {
    const double size = setting_.incumbent.size();
    const double known = node.depth == 0 ? known_well_at_the_root : known_well;
    double floor = std::max(known * (setting_.prune_at() - node.bound), node_tolerances::precision * size);
    if (!std::isfinite(floor)) floor = node_tolerances::first_floor * size;
    return pricing_.goal_of_node(floor, known, [this] { return setting_.prune_at(); });
}

bool NodeSolver::worth_solving_again(int64_t undecided_before, double objective_before) const {
    const int64_t undecided = std::ssize(work_.region.undecided()), fixed = undecided_before - undecided;
    // With nothing left to decide the node is one solution, the new incumbent; its bound was only precise enough for the old
    // one.
    if (undecided == 0 && setting_.incumbent.objective() < objective_before) return true;
    // A node that may have to wait is solved again after any fixing: its shares say which features to branch on next.
    const bool little = static_cast<double>(fixed) < worth_another * static_cast<double>(undecided_before);
    return fixed > 0 && !(little && setting_.options.integral.empty());
}

NodeSolver::Relaxed NodeSolver::relax(const State& state, double enough) {
    Relaxed out;
    if (!work_.region.load(state, {}, setting_.incumbent.cutoff())) return out;
    work_.start(state);
    const double floor = node_tolerances::first_floor * setting_.incumbent.size();
    work_.proof =
        pricing_.prove(work_.relaxation, work_.working, pricing_.goal_of_node(floor, known_well, [enough] { return enough; }));
    out.bound = work_.proof.bound;
    out.dual = work_.proof.dual;
    out.state = work_.leave_with_shares();
    return out;
}

}  // namespace ellzero
