// Branch and bound: the tree, and the threads that work on it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ellzero/exact/frontier.hpp"
#include "ellzero/exact/node_solver.hpp"
#include "ellzero/problem/selection.hpp"

namespace ellzero {

// relaxed: only nodes that wait are left (see Node).
enum class SearchStatus { finished, time_limit, node_limit, relaxed };

// The tree as a certificate tells it: one entry per node, parents first.
struct TreeRecord {
    std::vector<int64_t> parent;
    std::vector<int32_t> branch;            // columns of X
    std::vector<int8_t> side;               // 1: the column is in
    std::vector<std::vector<float>> alpha;  // its dual point; empty if it has none
};

class Search {
  public:
    // `incumbent` is any solution; the problem's columns and arrays must outlive the search. The root's relaxation starts
    // there.
    Search(const Problem& problem, const ExactOptions& options, const Model& incumbent, int threads);
    // The root's relaxation starts from what another search left at its own (the same columns, other penalties).
    void start_from(const Search& other);
    ~Search();

    void follow(const Model& witness, double objective);
    // Another solution, in the columns of X.
    void suggest(const Model& model);
    // More columns (of X) that may be branched on; nodes that use a fraction of one need not wait any more.
    void branch_also_on(const std::vector<int32_t>& columns);
    void branch_on_all();
    // Of the best node that waits, the columns (of X) of its relaxation that are not decided, and their shares.
    std::vector<std::pair<int32_t, double>> undecided_shares() const;
    // Works until the tree is finished, only nodes that wait are left, `seconds` have passed or the monitor stops it (then the
    // exception passes on, and the search can go on later).
    SearchStatus run(double seconds, int64_t node_limit, Monitor& monitor);

    const Model& incumbent() const { return best_; }
    double objective() const { return objective_.load(); }
    double lower_bound() const;
    int64_t nodes() const { return nodes_done_; }
    int64_t open() const;
    int64_t passes() const { return passes_; }
    int64_t newton_steps() const { return newton_steps_; }
    int64_t columns_left() const { return inner().columns(); }
    const TreeRecord& tree() const { return tree_; }
    // Columns (of X) that the root fixed to zero; empty before it is done.
    std::vector<int32_t> fixed_out() const;

    // Everything that a later process needs to go on, and back.
    struct Snapshot {
        Model incumbent;
        TreeRecord tree;
        std::vector<int32_t> columns;  // kept by the compaction; empty if it has not happened
        std::vector<Box> boxes;        // of the root, in the numbering of the nodes
        std::vector<Node> open;        // with their states
        double closed = 0.0;
        int64_t nodes_done = 0, picks = 0;
        bool rooted = false;
    };
    Snapshot snapshot() const;
    void restore(Snapshot snapshot);

  private:
    struct Workplace;
    class SharedIncumbent;

    // Runs the bodies in threads of their own, while this one polls the monitor and the clock. True if all came to their end.
    bool launch(const std::vector<std::function<void()>>& bodies, std::chrono::steady_clock::time_point until,
                Monitor& monitor);
    void process_root();
    void compact(State& state, int32_t& branch);
    void select_columns();
    void renumber_options();
    int32_t column_of_X(int32_t j) const { return selection_ ? columns_[j] : j; }
    void work();
    void polish(Workplace& place);
    void finish(const Node& node, NodeSolver::Outcome outcome);
    void keep(const Node& node, std::vector<float> alpha);
    Node make_child(const Node& parent, std::shared_ptr<const State> state, Decision decision, double bound);
    bool pick(Node& node);
    double prune_at() const { return objective() - options_.gap * std::abs(objective()); }
    const Problem& inner() const { return selection_ ? selection_->problem() : problem_; }

    const Problem& problem_;
    ExactOptions options_;                  // in the numbering of the nodes
    std::vector<uint8_t> integral_, home_;  // of the options, in that of X
    int threads_;
    std::unique_ptr<Witness> witness_;
    // After the root: the columns that are left, copied, and their boxes.
    std::vector<int32_t> columns_;
    std::unique_ptr<Team> serial_;
    std::unique_ptr<Selection> selection_;
    std::vector<Box> boxes_;
    bool rooted_ = false;
    std::shared_ptr<const State> root_;  // what it left, in the columns of X

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Frontier frontier_;
    std::atomic<bool> stop_{false};
    bool out_of_nodes_ = false;
    std::exception_ptr failure_;
    Model best_;  // in the columns of X
    std::atomic<double> objective_;
    std::atomic<bool> polished_{false};
    TreeRecord tree_;
    std::atomic<int64_t> proof_bytes_{0};
    double closed_ = Penalty::infinity;  // the least bound of closed leaves
    int64_t nodes_done_ = 0, passes_ = 0, newton_steps_ = 0, node_limit_ = 0;
};

}  // namespace ellzero
