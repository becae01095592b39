#include "ellzero/exact/frontier.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ellzero {
namespace {

// Once in so many picks of the best bound a dive begins, which follows the children with the feature in to find solutions.
constexpr int64_t picks_per_dive = 16;

}  // namespace

void Frontier::set_root(Node root) {
    queue_.clear();
    queue_.insert(std::move(root));
}

bool Frontier::ready() {
    // A dive whose bound is no better than that of a node that waits returns to the queue.
    if (dive_ && !worth_going_on(*dive_)) {
        dive_->dives = false;
        queue_.insert(std::move(*dive_));
        dive_.reset();
    }
    return dive_ || (!queue_.empty() && worth_going_on(*queue_.begin()));
}

Node Frontier::take() {
    if (dive_) {
        Node node = std::move(*dive_);
        dive_.reset();
        return node;
    }
    ++picks_;
    return queue_.extract(queue_.begin()).value();
}

void Frontier::put_back() {
    for (auto& [id, node] : in_work_) {
        if (!node.dives) --picks_;
        if (node.dives && !dive_) dive_ = std::move(node);
        else queue_.insert(std::move(node));
    }
    in_work_.clear();
}

void Frontier::add_children(const Node& parent, Node out, Node in) {
    queue_.insert(std::move(out));
    const bool dives = parent.dives || picks_ % picks_per_dive == 1;
    if (dives && !dive_) {
        in.dives = true;
        dive_ = std::move(in);
    } else {
        queue_.insert(std::move(in));
    }
}

void Frontier::add_waiting(Node node) {
    node.waits = true;
    waiting_.insert(std::move(node));
}

void Frontier::wake(const std::function<bool(int32_t)>& kind) {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
        const auto next = std::next(at);
        if (const auto& used = at->state->columns; used.empty() || std::any_of(used.begin(), used.end(), kind)) {
            Node node = waiting_.extract(at).value();
            node.waits = false;
            queue_.insert(std::move(node));
        }
        at = next;
    }
}

double Frontier::lower_bound() const {
    double out = Penalty::infinity;
    for (const auto* nodes : {&queue_, &waiting_})
        if (!nodes->empty()) out = std::min(out, nodes->begin()->bound);
    if (dive_) out = std::min(out, dive_->bound);
    for (const auto& [id, node] : in_work_) out = std::min(out, node.bound);
    return out;
}

Frontier::Snapshot Frontier::snapshot() const {
    Snapshot out{{queue_.begin(), queue_.end()}, picks_};
    out.open.insert(out.open.end(), waiting_.begin(), waiting_.end());
    if (dive_) out.open.push_back(*dive_);
    for (const auto& [id, node] : in_work_) {
        if (!node.dives) --out.picks;
        out.open.push_back(node);
    }
    return out;
}

void Frontier::restore(std::vector<Node> open, int64_t picks) {
    queue_.clear();
    waiting_.clear();
    dive_.reset();
    for (Node& node : open) {
        if (node.waits) waiting_.insert(std::move(node));
        else if (node.dives && !dive_) dive_ = std::move(node);
        else queue_.insert(std::move(node));
    }
    picks_ = picks;
}

}  // namespace ellzero
