#include "ellzero/exact/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>

namespace ellzero {
namespace {

using Clock = Workers::Clock;

// Nodes in work where columns are kept elsewhere: threads that ask for a pass at the same time share it.
constexpr int nodes_to_a_pass = 8;
// A search that needs more nodes than that is long: one that starts from a better model needs fewer of them.
constexpr int64_t few_nodes = 2;
// No run is longer than that: the clock would overflow.
constexpr double most_seconds = 1e8;
// The first guess of what the limit k, or a budget, costs, relative to the objective, if no penalty of the coefficients costs
// anything.
constexpr double least_worth = 1e-3;

// The root's relaxation starts at the incumbent. The multiplier mu of k is what a feature is worth: of the order of what its
// penalty costs.
State start_at(const Model& incumbent, double objective, const Penalty& penalty, bool by_price) {
    State state;
    state.columns = incumbent.support;
    state.beta = incumbent.beta;
    state.intercept = incumbent.intercept;
    double spent = least_worth * std::abs(objective);
    for (const double b : incumbent.beta) spent += penalty.lambda_2 * b * b;
    const double weight = by_price ? incumbent.spent : incumbent.size;
    state.mu = spent / (weight > 0.0 ? weight : 1.0);
    return state;
}

}  // namespace

Search::Search(const Problem& problem, const ExactOptions& options, const Model& incumbent, int threads)
    : numbering_(problem),
      options_(options),
      inner_options_(options),
      threads_(threads),
      best_(incumbent, options, problem.rules) {
    // That a support gains nothing takes a bound with all its digits: the hinge's bound is linear in the dual point.
    const bool exact = options.wanted.all && problem.loss.has_kink();
    inner_options_.precise = options_.precise = exact || needs_precision(problem, options.gap);
    inner_options_.equations = options_.equations = normal_equations(problem, options);
    auto state = std::make_shared<const State>(start_at(incumbent, objective(), problem.penalty, options.has_budget()));
    frontier_.set_root(make_child({}, std::move(state), -Penalty::infinity));
}

void Search::start_from(const Search& other) {
    if (!other.root_ || rooted_) return;
    auto state = std::make_shared<State>(*other.root_);
    state->clauses.clear();  // its region is that of another problem
    state->charges.clear();
    state->out = {};
    state->boxes.clear();
    state->diagonal.reset();
    state->families.reset();
    state->tried = 0;
    Node root = frontier_.root();
    root.state = std::move(state);
    frontier_.set_root(std::move(root));
}

void Search::follow(const Model& witness, double objective) {
    witness_ = std::make_unique<Witness>(Witness{witness, objective});
}

// Running.

SearchStatus Search::run(const SearchLimits& limits, Monitor& monitor) {
    const auto length = std::chrono::duration<double>(std::min(limits.seconds, most_seconds));
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(length);
    limits_ = limits;
    ended_.reset();
    bool through = true;
    frontier_.put_back();  // nodes that another run left in the middle are as open as before
    // 1. The root, with all threads; it decides which columns are left.
    if (!rooted_) through = workers_.run({[this] { process_root(); }}, until, monitor);
    // 2. The other nodes, one a thread if not in turn.
    const bool distant = numbering_.whole().X.design().distant() && !numbering_.compacted();
    const int workers = limits.in_turn ? 1 : distant ? std::max(threads_, nodes_to_a_pass) : threads_;
    do {
        if (through && rooted_)
            through = workers_.run(std::vector<std::function<void()>>(workers, [this] { work(); }), until, monitor);
    } while (through && !ended_ && frontier_.size() == 0 && reopen());
    if (frontier_.size() == 0) return SearchStatus::finished;
    if (ended_) return *ended_;
    return through && frontier_.best_waiting() ? SearchStatus::relaxed : SearchStatus::time_limit;
}

void Search::process_root() {
    Workplace place(shared(), threads_);
    const Node node = frontier_.root();
    if (const auto lock = workers_.lock(); out_of_nodes()) return;
    place.polish();
    NodeSolver& solver = place.solver();
    NodeSolver::Outcome outcome = solver.run(node);
    const auto lock = workers_.lock();
    count_work_of(solver);
    frontier_.remove_root();
    const Node last = record(node, outcome);  // in the columns of X: they are not renumbered yet
    root_ = solver.state_for_children();
    if (outcome.state && !options_.equations) {
        solver.region().keep_boxes();
        auto state = std::make_shared<State>(*outcome.state);
        state->boxes.clear();
        numbering_.compact(*state, outcome.branch, solver.region().boxes());
        inner_options_ = numbering_.inside(options_);
        outcome.state = std::move(state);
    }
    rooted_ = true;
    finish(node, last, outcome);
}

void Search::work() {
    Workplace place(shared(), limits_.in_turn ? threads_ : 1);
    place.polish();
    Node node;
    while (pick(node)) {
        NodeSolver::Outcome outcome = place.solver().run(node);
        const auto lock = workers_.lock();
        frontier_.done(node);
        count_work_of(place.solver());
        finish(node, record(node, outcome), outcome);
        workers_.tell();
    }
}

bool Search::pick(Node& node) {
    auto lock = workers_.lock();
    for (;;) {
        if (workers_.stopped()) return false;
        if (frontier_.ready()) {
            if (out_of_nodes() || found_enough() || found_too_many()) return false;
            node = frontier_.take();
            if (node.bound >= level() - options_.gap * size_of(objective(), options_.null)) {
                tree_.close(node.bound);
                ++counts_.nodes;
                continue;
            }
            frontier_.begin(node);
            return true;
        }
        if (frontier_.in_work() == 0) {
            workers_.tell();
            return false;
        }
        workers_.wait(lock);
    }
}

bool Search::out_of_nodes() {
    if (counts_.nodes + frontier_.in_work() < limits_.nodes) return false;
    end(SearchStatus::node_limit);
    return true;
}

bool Search::found_enough() {
    if (counts_.nodes < few_nodes || !(objective() < limits_.enough)) return false;
    end(SearchStatus::improved);
    return true;
}

void Search::end(SearchStatus reason) {
    ended_ = reason;
    workers_.stop();
}

void Search::count_work_of(NodeSolver& solver) {
    counts_.passes += solver.take_passes();
    counts_.newton_steps += solver.take_newton_steps();
}

// The tree.

Node Search::make_child(const Node& parent, std::shared_ptr<const State> state, double bound, int64_t block,
                        Decision decision) {
    const bool root = tree_.record().parent.empty();
    Node child;
    child.id = tree_.add(root ? -1 : parent.id, block, decision.in);
    child.depth = decision.made() ? parent.depth + 1 : parent.depth;
    child.bound = bound;
    child.state = std::move(state);
    child.decision = std::move(decision);
    return child;
}

void Search::keep(int64_t node, KeptPoint point) {
    point.columns = numbering_.columns_of_X(std::move(point.columns));
    tree_.keep(node, std::move(point));
}

Node Search::record(const Node& node, NodeSolver::Outcome& outcome) {
    ++counts_.nodes;
    if (const auto& made = outcome.diagonal)
        made->number = tree_.add_diagonal(numbering_.columns_of_X(made->columns), made->curvatures);
    for (const auto& made : outcome.families) tree_.add_families(made);
    // Each further dual point of the region belongs to a node of its own, the one child of the last.
    Node last = node;
    for (size_t k = 0; k < outcome.proofs.size(); ++k) {
        if (k > 0) last = make_child(last, nullptr, outcome.bound);
        keep(last.id, std::move(outcome.proofs[k]));
    }
    if (outcome.enumerated) {
        if (!outcome.proofs.empty()) last = make_child(last, nullptr, outcome.bound);
        tree_.enumerate(last.id);
    }
    for (auto& leaf : outcome.leaves) {
        ++counts_.nodes;
        const bool none = leaf.column < 0;
        const int64_t block = none ? -1 : add_block({leaf.column});
        const Node made = make_child(last, nullptr, leaf.bound, block, none ? Decision{} : Decision{{leaf.column}, true});
        keep(made.id, std::move(leaf.point));
        if (leaf.found) list(made.id, std::max(leaf.bound, node.bound), std::move(*leaf.found));
        if (!none) last = make_child(last, nullptr, leaf.bound, block, {{leaf.column}, false});
    }
    return last;
}

void Search::finish(const Node& node, const Node& last, const NodeSolver::Outcome& outcome) {
    switch (outcome.ending) {
        case NodeSolver::Ending::closed:
            if (outcome.found) list(make_child(last, nullptr, outcome.bound).id, outcome.bound, *outcome.found);
            else tree_.close(outcome.bound);
            break;
        case NodeSolver::Ending::waits: {
            frontier_.add_waiting(make_child(last, outcome.state, outcome.bound));
            break;
        }
        case NodeSolver::Ending::branches: {
            const int64_t block = add_block(outcome.branch);
            Node out = make_child(last, outcome.state, outcome.bound, block, {outcome.branch, false});
            Node in = make_child(last, outcome.state, outcome.bound, block, {outcome.branch, true});
            frontier_.add_children(node, std::move(out), std::move(in));
            break;
        }
    }
}

// Supports that are wanted.

double Search::price(const Found& found) const {
    double prices = 0.0;
    for (const int32_t j : found.support) prices += numbering_.whole().penalty.price(j);
    return found.model.cost + options_.lambda_0 * prices;
}

void Search::list(int64_t node, double bound, Found found) {
    found = {numbering_.columns_of_X(std::move(found.support)), numbering_.outside(found.model), found.needs_all};
    if (found.needs_all && options_.wanted.count < std::numeric_limits<int64_t>::max()) {
        lowest_.insert(price(found));
        if (std::ssize(lowest_) > options_.wanted.count) lowest_.erase(std::prev(lowest_.end()));
        if (std::ssize(lowest_) == options_.wanted.count) best_.lower_level(*lowest_.rbegin());
    }
    listed_.push_back({node, bound, std::move(found)});
}

int64_t Search::count_models() const {
    return std::count_if(listed_.begin(), listed_.end(), [&](const Listed& leaf) {
        return leaf.found.model.size == std::ssize(leaf.found.support) && wanted(leaf);
    });
}

bool Search::found_too_many() {
    if (std::ssize(listed_) <= options_.wanted.most || count_models() <= options_.wanted.most) return false;
    end(SearchStatus::too_many);
    return true;
}

bool Search::reopen() {
    const auto above = std::partition(listed_.begin(), listed_.end(), [&](const Listed& leaf) { return wanted(leaf); });
    for (auto leaf = above; leaf != listed_.end(); ++leaf) {
        const Model model = numbering_.inside(leaf->found.model);
        auto state = std::make_shared<State>(start_at(model, objective(), numbering_.inner().penalty, options_.has_budget()));
        state->out = ColumnSet(numbering_.inner().columns());
        for (int32_t j = 0; j < numbering_.inner().columns(); ++j) {
            const auto& support = leaf->found.support;
            const int32_t head = numbering_.inner().head(j);
            const bool in = std::find(support.begin(), support.end(), numbering_.column_of_X(head)) != support.end();
            if (in && head == j) state->clauses.add({&j, 1});
            else if (!in) state->out.insert(j);
        }
        Node parent;
        parent.id = leaf->node;
        frontier_.add(make_child(parent, std::move(state), leaf->bound));
    }
    const bool any = above != listed_.end();
    listed_.erase(above, listed_.end());
    return any;
}

// Features to branch on.

void Search::branch_also_on(const std::vector<int32_t>& columns) {
    const auto lock = workers_.lock();
    const std::vector<uint8_t> before = inner_options_.integral;
    for (const int32_t j : columns) options_.integral.at(j) = 1;
    inner_options_ = numbering_.inside(options_);
    frontier_.wake([&](int32_t j) {
        const int32_t head = numbering_.inner().head(j);
        return inner_options_.integral[head] && !before[head];
    });
}

void Search::branch_on_all() {
    const auto lock = workers_.lock();
    options_.integral.clear();
    inner_options_ = numbering_.inside(options_);
    frontier_.wake([](int32_t) { return true; });
}

std::vector<std::pair<int32_t, double>> Search::undecided_shares() const {
    const auto lock = workers_.lock();
    std::vector<std::pair<int32_t, double>> out;
    const Node* node = frontier_.best_waiting();
    if (!node) return out;
    const State& state = *node->state;
    const auto in = [&](int32_t j) {
        for (int64_t k = 0; k < state.clauses.count(); ++k)
            if (state.clauses[k].size() == 1 && state.clauses[k].front() == j) return true;
        return false;
    };
    for (size_t k = 0; k < state.columns.size(); ++k) {
        const int32_t j = numbering_.inner().head(state.columns[k]), column = numbering_.column_of_X(j);
        if (k > 0 && numbering_.inner().head(state.columns[k - 1]) == j) continue;  // columns of a group follow each other
        if (!in(j) && numbering_.whole().penalty.counted(column)) out.emplace_back(column, state.shares[k]);
    }
    return out;
}

}  // namespace ellzero
