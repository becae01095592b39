// The open nodes of a tree, and which of them is next. Each is in the queue, in a dive, in work, or waiting (see Node).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ellzero/exact/node.hpp"

namespace ellzero {

class Frontier {
  public:
    // The root is the only node until it is done.
    void set_root(Node root);
    const Node& root() const { return *queue_.begin(); }
    void remove_root() { queue_.clear(); }

    // Whether there is a node to take: one with a better bound than all that wait.
    bool ready();
    // Takes the dive's node out of the open ones or, without a dive, the node with the best bound.
    Node take();
    // A node in work counts as open until it is `done`. `put_back` returns all of them to the queue: their work was
    // interrupted.
    void begin(const Node& node) { in_work_.emplace(node.id, node); }
    void done(const Node& node) { in_work_.erase(node.id); }
    void put_back();
    int64_t in_work() const { return std::ssize(in_work_); }

    // Adds the children of a node. The second, which has the feature in, may continue or begin a dive.
    void add_children(const Node& parent, Node out, Node in);
    void add_waiting(Node node);
    void add(Node node) { queue_.insert(std::move(node)); }
    // Returns waiting nodes to the queue: those whose relaxation uses a column of this kind, or no column at all.
    void wake(const std::function<bool(int32_t)>& kind);
    // The waiting node with the best bound; null if none waits.
    const Node* best_waiting() const { return waiting_.empty() ? nullptr : &*waiting_.begin(); }

    int64_t size() const { return std::ssize(queue_) + std::ssize(waiting_) + in_work() + (dive_ ? 1 : 0); }
    double lower_bound() const;  // infinite if there is no node

    // All open nodes and the number of picks from the queue, as if no node were in work. `restore` takes them back.
    struct Snapshot {
        std::vector<Node> open;
        int64_t picks = 0;
    };
    Snapshot snapshot() const;
    void restore(std::vector<Node> open, int64_t picks);

  private:
    struct Order {
        bool operator()(const Node& a, const Node& b) const { return a.bound != b.bound ? a.bound < b.bound : a.id < b.id; }
    };
    bool worth_going_on(const Node& node) const { return waiting_.empty() || node.bound < waiting_.begin()->bound; }

    std::set<Node, Order> queue_;
    std::optional<Node> dive_;  // taken next, whatever its bound
    std::set<Node, Order> waiting_;
    std::map<int64_t, Node> in_work_;
    int64_t picks_ = 0;
};

}  // namespace ellzero
