#include "ellzero/exact/search.hpp"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

namespace ellzero {
namespace {

using Clock = std::chrono::steady_clock;

struct Stopped {};

// Threads that ask for a pass over columns kept elsewhere at the same time share it.
constexpr int nodes_to_a_pass = 8;

}  // namespace

// The incumbent as the node solvers see it.
class Search::SharedIncumbent : public Incumbent {
  public:
    explicit SharedIncumbent(Search& search) : search_(search) {}
    double objective() const override { return search_.objective(); }
    void offer(const Model& model) override {
        search_.suggest(search_.selection_ ? search_.selection_->outside(model) : model);
    }

    int64_t proof_bytes() const override { return search_.proof_bytes_; }

  private:
    Search& search_;
};

// What one thread works with: its own view of the columns, since those count their reads and poll.
struct Search::Workplace {
    Workplace(Search& search, int threads)
        : team(threads),
          monitor(
              [&search] {
                  if (search.stop_) throw Stopped{};
              }, {}),
          X(search.inner().X.design(), search.inner().X.means(), search.inner().X.scales(), search.inner().X.squares(), team,
            monitor),
          problem{X,
                  search.inner().loss,
                  search.inner().y,
                  search.inner().w,
                  search.inner().penalty,
                  search.inner().intercept,
                  search.inner().tolerance},
          incumbent(search) {
        if (search.witness_) {
            witness = *search.witness_;
            if (search.selection_) witness.model = search.selection_->inside(witness.model);
        }
        solver = std::make_unique<NodeSolver>(problem, search.options_, incumbent, search.witness_ ? &witness : nullptr);
        if (!search.boxes_.empty()) solver->region().set_boxes(search.boxes_);
    }

    Team team;
    Monitor monitor;
    Columns X;
    Problem problem;
    SharedIncumbent incumbent;
    Witness witness;
    std::unique_ptr<NodeSolver> solver;
};

Search::Search(const Problem& problem, const ExactOptions& options, const Model& incumbent, int threads)
    : problem_(problem),
      options_(options),
      integral_(options.integral),
      home_(options.swaps.home),
      threads_(threads),
      best_(incumbent),
      objective_(incumbent.objective(options.lambda_0)) {
    auto state = std::make_shared<State>();
    state->columns = incumbent.support;
    state->beta = incumbent.beta;
    state->intercept = incumbent.intercept;
    // A feature of the incumbent is worth what its penalty costs; the multiplier of k is of that order.
    double spent = 1e-3 * std::abs(objective());
    for (const double b : incumbent.beta) spent += problem.penalty.lambda_2 * b * b;
    state->mu = spent / static_cast<double>(std::max(incumbent.size, 1));
    frontier_.set_root(make_child({}, std::move(state), {}, -Penalty::infinity));
}

Search::~Search() = default;

void Search::start_from(const Search& other) {
    if (!other.root_ || rooted_) return;
    auto state = std::make_shared<State>(*other.root_);
    state->in.clear();  // its region is that of another problem
    state->out.clear();
    state->boxes.clear();
    Node root = frontier_.root();
    root.state = std::move(state);
    frontier_.set_root(std::move(root));
}

void Search::follow(const Model& witness, double objective) {
    witness_ = std::make_unique<Witness>(Witness{witness, objective});
}

double Search::lower_bound() const {
    const std::lock_guard lock(mutex_);
    return std::min({objective(), closed_, frontier_.lower_bound()});
}

int64_t Search::open() const {
    const std::lock_guard lock(mutex_);
    return frontier_.size();
}

std::vector<int32_t> Search::fixed_out() const {
    std::vector<int32_t> out;
    if (root_)
        for (int64_t j = 0; j < problem_.columns(); ++j)
            if (root_->out[j >> 6] >> (j & 63) & 1) out.push_back(static_cast<int32_t>(j));
    return out;
}

void Search::suggest(const Model& model) {
    const std::lock_guard lock(mutex_);
    const double value = model.objective(options_.lambda_0);
    if (model.size > options_.k || !(value < objective())) return;
    best_ = model;
    objective_ = value;
    polished_ = false;
}

void Search::branch_also_on(const std::vector<int32_t>& columns) {
    const std::lock_guard lock(mutex_);
    const std::vector<uint8_t> before = options_.integral;
    for (const int32_t j : columns) integral_.at(j) = 1;
    renumber_options();
    frontier_.wake([&](int32_t j) { return options_.integral[j] && !before[j]; });
}

void Search::branch_on_all() {
    const std::lock_guard lock(mutex_);
    integral_.clear();
    renumber_options();
    frontier_.wake([](int32_t) { return true; });
}

std::vector<std::pair<int32_t, double>> Search::undecided_shares() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<int32_t, double>> out;
    const Node* node = frontier_.best_waiting();
    if (!node) return out;
    const State& state = *node->state;
    for (size_t k = 0; k < state.columns.size(); ++k) {
        const int32_t j = state.columns[k];
        const bool decided =
            std::find(state.in.begin(), state.in.end(), j) != state.in.end() || !problem_.penalty.counted(column_of_X(j));
        if (!decided) out.emplace_back(column_of_X(j), state.shares[k]);
    }
    return out;
}

// Solutions from outside are as precise as other algorithms need them; the search's own refit is better.
void Search::polish(Workplace& place) {
    Model model;
    {
        const std::lock_guard lock(mutex_);
        if (polished_) return;
        polished_ = true;
        model = best_;
    }
    if (selection_) {
        const auto kept = [&](int32_t j) { return std::binary_search(columns_.begin(), columns_.end(), j); };
        if (!std::all_of(model.support.begin(), model.support.end(), kept)) return;
        model = selection_->inside(model);
    }
    place.incumbent.offer(place.solver->refit(model.support, model.beta, model.intercept));
    polished_ = true;
}

Node Search::make_child(const Node& parent, std::shared_ptr<const State> state, Decision decision, double bound) {
    Node child;
    child.id = std::ssize(tree_.parent);
    child.depth = decision.column >= 0 ? parent.depth + 1 : parent.depth;
    child.bound = bound;
    child.state = std::move(state);
    child.decision = decision;
    tree_.parent.push_back(child.id == 0 ? -1 : parent.id);
    tree_.branch.push_back(decision.column >= 0 ? column_of_X(decision.column) : -1);
    tree_.side.push_back(decision.in);
    tree_.alpha.emplace_back();
    return child;
}

bool Search::launch(const std::vector<std::function<void()>>& bodies, Clock::time_point until, Monitor& monitor) {
    std::atomic<int> busy = static_cast<int>(bodies.size());
    std::vector<std::thread> threads;
    stop_ = false;
    for (const auto& body : bodies)
        threads.emplace_back([&] {
            try {
                body();
            } catch (const Stopped&) {
            } catch (...) {
                const std::lock_guard lock(mutex_);
                // The first one. A later one must not be destroyed under the lock: those of Python wait for the GIL.
                if (!failure_) failure_ = std::current_exception();
                stop_ = true;
            }
            const std::lock_guard lock(mutex_);
            --busy;
            changed_.notify_all();
        });
    std::exception_ptr interrupted;
    bool late = false;
    {
        std::unique_lock lock(mutex_);
        while (busy > 0) {
            changed_.wait_for(lock, std::chrono::milliseconds(20));
            lock.unlock();
            try {
                if (!stop_) monitor.poll();
            } catch (...) {
                interrupted = std::current_exception();
                stop_ = true;
            }
            lock.lock();
            late = late || (busy > 0 && Clock::now() >= until);
            if (late || out_of_nodes_) stop_ = true;
            if (stop_) changed_.notify_all();
        }
    }
    for (auto& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (interrupted) std::rethrow_exception(interrupted);
    return !stop_;
}

SearchStatus Search::run(double seconds, int64_t node_limit, Monitor& monitor) {
    const auto until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e8)));
    node_limit_ = node_limit;
    out_of_nodes_ = false;
    bool through = true;
    if (!rooted_) through = launch({[this] { process_root(); }}, until, monitor);
    const int workers = problem_.X.design().distant() && !selection_ ? std::max(threads_, nodes_to_a_pass) : threads_;
    if (through && rooted_) through = launch(std::vector<std::function<void()>>(workers, [this] { work(); }), until, monitor);
    // Nodes that were left in the middle are as open as before.
    frontier_.put_back();
    if (frontier_.size() == 0) return SearchStatus::finished;
    if (through && !out_of_nodes_ && frontier_.best_waiting()) return SearchStatus::relaxed;
    return out_of_nodes_ ? SearchStatus::node_limit : SearchStatus::time_limit;
}

void Search::process_root() {
    Workplace place(*this, threads_);
    const Node node = frontier_.root();
    if (nodes_done_ >= node_limit_) {
        out_of_nodes_ = true;
        return;
    }
    polish(place);
    NodeSolver::Outcome outcome = place.solver->run(node);
    const std::lock_guard lock(mutex_);
    passes_ += place.solver->passes;
    newton_steps_ += place.solver->take_newton_steps();
    frontier_.remove_root();
    root_ = place.solver->state_for_children();
    if (outcome.state) {
        place.solver->region().keep_boxes();
        boxes_ = place.solver->region().boxes();
        auto state = std::make_shared<State>(*outcome.state);
        state->boxes.clear();
        compact(*state, outcome.branch);
        outcome.state = std::move(state);
    }
    rooted_ = true;
    finish(node, std::move(outcome));
}

// Leaves out the columns that the root fixed to zero: from here on nodes speak of those that are left.
void Search::compact(State& state, int32_t& branch) {
    std::vector<int32_t> place(problem_.columns(), -1);
    columns_.clear();
    for (int64_t j = 0; j < problem_.columns(); ++j)
        if (!(state.out[j >> 6] >> (j & 63) & 1)) {
            place[j] = static_cast<int32_t>(columns_.size());
            columns_.push_back(static_cast<int32_t>(j));
        }
    if (!problem_.X.design().worth_copying(std::ssize(columns_))) {
        columns_.clear();
        return;
    }
    for (auto* list : {&state.in, &state.columns, &state.near})
        for (int32_t& j : *list) j = place.at(j);
    state.out.assign((columns_.size() + 63) / 64, 0);
    if (branch >= 0) branch = place[branch];
    std::vector<Box> boxes;
    for (const int32_t j : columns_) boxes.push_back(boxes_[j]);
    boxes_ = std::move(boxes);
    select_columns();
}

void Search::select_columns() {
    serial_ = std::make_unique<Team>(1);
    selection_ = std::make_unique<Selection>(problem_, columns_, *serial_);
    renumber_options();
}

void Search::renumber_options() {
    const auto inner = [&](const std::vector<uint8_t>& flags) {
        if (!selection_ || flags.empty()) return flags;
        std::vector<uint8_t> out;
        for (const int32_t j : columns_) out.push_back(flags[j]);
        return out;
    };
    options_.integral = inner(integral_);
    options_.swaps.home = inner(home_);
}

void Search::work() {
    Workplace place(*this, 1);
    polish(place);
    Node node;
    while (pick(node)) {
        NodeSolver::Outcome outcome = place.solver->run(node);
        const std::lock_guard lock(mutex_);
        frontier_.done(node);
        passes_ += std::exchange(place.solver->passes, 0);
        newton_steps_ += place.solver->take_newton_steps();
        finish(node, std::move(outcome));
        changed_.notify_all();
    }
}

bool Search::pick(Node& node) {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (stop_) return false;
        if (frontier_.ready()) {
            if (nodes_done_ + frontier_.in_work() >= node_limit_) {
                out_of_nodes_ = true;
                return false;
            }
            node = frontier_.take();
            if (node.bound >= prune_at()) {
                closed_ = std::min(closed_, node.bound);
                ++nodes_done_;
                continue;
            }
            frontier_.begin(node);
            return true;
        }
        if (frontier_.in_work() == 0) {
            changed_.notify_all();
            return false;
        }
        changed_.wait(lock);
    }
}

void Search::keep(const Node& node, std::vector<float> alpha) {
    proof_bytes_ += std::ssize(alpha) * static_cast<int64_t>(sizeof(float));
    tree_.alpha[node.id] = std::move(alpha);
}

void Search::finish(const Node& node, NodeSolver::Outcome outcome) {
    ++nodes_done_;
    // Further dual points of the same region are only children, one below the other.
    Node last = node;
    for (size_t k = 0; k < outcome.proofs.size(); ++k) {
        if (k > 0) last = make_child(last, nullptr, {}, outcome.bound);
        keep(last, std::move(outcome.proofs[k]));
    }
    for (auto& leaf : outcome.leaves) {
        ++nodes_done_;
        const Node in = leaf.column < 0 ? make_child(last, nullptr, {}, leaf.bound)
                                        : make_child(last, nullptr, {leaf.column, true}, leaf.bound);
        keep(in, std::move(leaf.alpha));
        if (leaf.column >= 0) last = make_child(last, nullptr, {leaf.column, false}, leaf.bound);
    }
    if (!outcome.state) {
        closed_ = std::min(closed_, outcome.bound);
        return;
    }
    if (outcome.branch < 0) {
        frontier_.add_waiting(make_child(last, outcome.state, {}, outcome.bound));
        return;
    }
    Node out = make_child(last, outcome.state, {outcome.branch, false}, outcome.bound);
    Node in = make_child(last, outcome.state, {outcome.branch, true}, outcome.bound);
    frontier_.add_children(node, std::move(out), std::move(in));
}

Search::Snapshot Search::snapshot() const {
    const std::lock_guard lock(mutex_);
    Frontier::Snapshot nodes = frontier_.snapshot();
    return {best_, tree_, columns_, boxes_, std::move(nodes.open), closed_, nodes_done_, nodes.picks, rooted_};
}

void Search::restore(Snapshot snapshot) {
    best_ = std::move(snapshot.incumbent);
    objective_ = best_.objective(options_.lambda_0);
    tree_ = std::move(snapshot.tree);
    proof_bytes_ = 0;
    for (const auto& alpha : tree_.alpha) proof_bytes_ += std::ssize(alpha) * static_cast<int64_t>(sizeof(float));
    columns_ = std::move(snapshot.columns);
    boxes_ = std::move(snapshot.boxes);
    if (!columns_.empty()) select_columns();
    frontier_.restore(std::move(snapshot.open), snapshot.picks);
    closed_ = snapshot.closed;
    nodes_done_ = snapshot.nodes_done;
    rooted_ = snapshot.rooted;
}

}  // namespace ellzero
