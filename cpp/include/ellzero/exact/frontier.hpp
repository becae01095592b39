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
    // Before the root is done, it is all that there is.
    void set_root(Node root);
    const Node& root() const { return *queue_.begin(); }
    void remove_root() { queue_.clear(); }

    // Whether there is a node that is worth taking: a better one than all that wait.
    bool ready();
    // The dive's node, or the one with the best bound. It is open no more.
    Node take();
    // The node is in work until `done`, and open; `put_back`: all that are in work were left in the middle.
    void begin(const Node& node) { in_work_.emplace(node.id, node); }
    void done(const Node& node) { in_work_.erase(node.id); }
    void put_back();
    int64_t in_work() const { return std::ssize(in_work_); }

    // The children of a node; the second, the one with the feature in, may continue or begin a dive.
    void add_children(const Node& parent, Node out, Node in);
    void add_waiting(Node node);
    // Nodes whose relaxation uses a column of some kind, or no column at all, wait no more.
    void wake(const std::function<bool(int32_t)>& kind);
    // The best node that waits; null if none does.
    const Node* best_waiting() const { return waiting_.empty() ? nullptr : &*waiting_.begin(); }

    int64_t size() const { return std::ssize(queue_) + std::ssize(waiting_) + in_work() + (dive_ ? 1 : 0); }
    double lower_bound() const;  // infinite if there is no node

    // All nodes, and how many were picked from the queue, as if none were in work; and back.
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
