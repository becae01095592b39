// Branch and bound: threads take open nodes, solve them, and record what they prove.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ellzero/exact/frontier.hpp"
#include "ellzero/exact/incumbent.hpp"
#include "ellzero/exact/node_solver.hpp"
#include "ellzero/exact/numbering.hpp"
#include "ellzero/exact/tree.hpp"
#include "ellzero/exact/workers.hpp"
#include "ellzero/exact/workplace.hpp"

namespace ellzero {

// The end of a run: the tree is finished; the time is over; the limit of nodes is reached; only nodes that wait are left (see
// Node), so that the problem is solved in which the other features may be used by fractions; a model was found that is good
// enough (see SearchLimits); or there are more supports than may be listed (see Wanted).
enum class SearchStatus { finished, time_limit, node_limit, relaxed, improved, too_many };

struct SearchLimits {
    double seconds = Penalty::infinity;
    int64_t nodes = std::numeric_limits<int64_t>::max();
    // A run of more than a few nodes ends with the first model below this objective.
    double enough = -Penalty::infinity;
    // Nodes are solved in turn, each by all threads: what is found does not depend on how many there are. Otherwise each thread
    // solves nodes of its own.
    bool in_turn = false;
};

class Search {
  public:
    // `incumbent` is any solution; the root's relaxation starts there. The problem's columns and arrays must outlive the
    // search.
    Search(const Problem& problem, const ExactOptions& options, const Model& incumbent, int threads);
    // Starts the root's relaxation where that of another search ended (the same columns, other penalties).
    void start_from(const Search& other);

    void follow(const Model& witness, double objective);
    // Offers another solution, in the columns of X.
    void suggest(const Model& model) { best_.offer(model); }
    // Allows branching on more columns (of X); nodes that use a fraction of one wait no more.
    void branch_also_on(const std::vector<int32_t>& columns);
    void branch_on_all();
    // The undecided columns (of X) in the relaxation of the best node that waits, and their shares.
    std::vector<std::pair<int32_t, double>> undecided_shares() const;
    // Works until the tree is finished, only nodes that wait are left, a limit is met or the monitor stops it (then the
    // exception passes on, and the search can go on later).
    SearchStatus run(const SearchLimits& limits, Monitor& monitor);

    // A leaf of the tree that stays open, since the best model of its support is wanted; in columns of X.
    struct Listed {
        int64_t node;
        double bound;
        Found found;
    };

    Model incumbent() const { return best_.model(); }
    double objective() const { return best_.objective(); }
    double level() const { return best_.level(); }
    // The leaves with supports that are wanted, and how many of them are models: their coefficients are not zero.
    std::vector<Listed> listed() const;
    int64_t models() const;
    // Nothing better than this is unknown: no solution, or none but those of listed supports.
    double lower_bound() const;
    struct Counts {
        int64_t nodes = 0, open = 0, passes = 0, newton_steps = 0, columns_left = 0;
    };
    Counts counts() const;
    const TreeRecord& tree() const { return tree_.record(); }
    // Columns (of X) that the root fixed to zero; empty before it is done.
    std::vector<int32_t> fixed_out() const;

    // Everything that a later process needs to go on. `restore` takes it back.
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
    Shared shared() { return {numbering_, inner_options_, witness_.get(), tree_, best_, workers_}; }
    // The bodies of threads.
    void process_root();
    void work();
    bool pick(Node& node);
    // Functions that need the lock.
    void count_work_of(NodeSolver& solver);
    bool out_of_nodes();
    bool found_enough();
    bool found_too_many();
    // Lists the support of a leaf.
    void list(int64_t node, double bound, Found found);
    double price(const Found& found) const;  // the least objective of a model that pays for this support
    // The level falls, so that a leaf may be listed that is not wanted any more.
    bool wanted(const Listed& leaf) const { return price(leaf.found) <= level(); }
    int64_t count_models() const;
    // Opens listed leaves again that are above the level by now. Returns whether there are any.
    bool reopen();
    // Ends the run for a reason that is no limit of time.
    void end(SearchStatus reason);
    // Records the node's dual points and leaves, each below the last. Returns the node below which its children go.
    Node record(const Node& node, NodeSolver::Outcome& outcome);
    // Closes the node, or opens its children below `last`.
    void finish(const Node& node, const Node& last, const NodeSolver::Outcome& outcome);
    // A child covers all of its parent, or one side of a block of the tree; the decision is in the nodes' numbering.
    Node make_child(const Node& parent, std::shared_ptr<const State> state, double bound) {
        return make_child(parent, std::move(state), bound, -1, {});
    }
    Node make_child(const Node& parent, std::shared_ptr<const State> state, double bound, int64_t block, Decision decision);
    void keep(int64_t node, KeptPoint point);
    void restore_diagonals(std::vector<Node>& nodes) const;
    int64_t add_block(const std::vector<int32_t>& columns) { return tree_.add_block(numbering_.columns_of_X(columns)); }

    Numbering numbering_;
    ExactOptions options_, inner_options_;  // in the columns of X, and of the nodes
    const int threads_;
    std::unique_ptr<Witness> witness_;
    BestModel best_;

    // Guarded by the lock of the workers.
    Workers workers_;
    Tree tree_;
    Frontier frontier_;
    Counts counts_;  // the work so far
    SearchLimits limits_;
    std::vector<Listed> listed_;
    std::multiset<double> lowest_;       // objectives of listed supports, as many as are wanted
    std::optional<SearchStatus> ended_;  // the reason, once the run is to end
    bool rooted_ = false;                // the root is done
    std::shared_ptr<const State> root_;  // what it left, in the columns of X
};

}  // namespace ellzero
