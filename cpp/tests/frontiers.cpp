// The order in which open nodes are taken: by bound, but for dives, and never past the best node that waits.
#include "ellzero/exact/frontier.hpp"

#include <optional>

#include "harness.hpp"

using namespace ellzero;
using harness::Random;

namespace {

Node node_of(int64_t id, double bound, std::vector<int32_t> columns = {}) {
    auto state = std::make_shared<State>();
    state->columns = std::move(columns);
    Node out;
    out.id = id;
    out.bound = bound;
    out.state = state;
    return out;
}

std::vector<int64_t> drain(Frontier& frontier) {
    std::vector<int64_t> out;
    while (frontier.ready()) out.push_back(frontier.take().id);
    return out;
}

// A search of random nodes: every step takes a node and puts two children in its place, or lets it wait, or closes it. What
// happens to a node depends on its id alone, so that two searches differ only in the order of their nodes.
class Walk {
  public:
    Walk() { frontier.set_root(node_of(0, 0.0)); }

    // The id of the node that was taken; none if there is none to take.
    std::optional<int64_t> step() {
        if (!frontier.ready()) {
            if (!frontier.best_waiting()) return {};
            frontier.wake([](int32_t) { return true; });
        }
        const Node node = frontier.take();
        frontier.begin(node);
        finish(node);
        return node.id;
    }

    Frontier frontier;
    int64_t next = 1;

  private:
    void finish(const Node& node) {
        Random random(static_cast<uint64_t>(node.id) + 1);
        frontier.done(node);
        const bool full = next > 400;
        if (full || random.coin(0.1)) return;
        if (node.id > 20 && node.id < 100000 && random.coin(0.1)) {
            frontier.add_waiting(node_of(node.id + 100000, node.bound + random.uniform(0.0, 0.3), {1}));
            return;
        }
        Node out = node_of(next++, node.bound + random.uniform(0.0, 0.2));
        Node in = node_of(next++, node.bound + random.uniform(0.0, 0.5));
        frontier.add_children(node, std::move(out), std::move(in));
    }
};

}  // namespace

TEST(frontier_takes_nodes_by_bound_and_then_by_number) {
    Frontier frontier;
    std::vector<Node> open;
    for (const int64_t id : {5, 3, 8, 1, 9, 2}) open.push_back(node_of(id, id < 5 ? 1.0 : 0.1 * static_cast<double>(id)));
    frontier.restore(open, 0);
    CHECK(frontier.size() == 6);
    CHECK_NEAR(frontier.lower_bound(), 0.5, 0.0);
    CHECK(drain(frontier) == std::vector<int64_t>({5, 8, 9, 1, 2, 3}));
    CHECK(frontier.size() == 0 && std::isinf(frontier.lower_bound()));
}

TEST(frontier_follows_a_dive_whatever_its_bound) {
    Frontier frontier;
    frontier.set_root(node_of(0, 0.0));
    CHECK(frontier.root().id == 0);
    const Node root = frontier.take();
    frontier.add_children(root, node_of(1, 0.1), node_of(2, 0.9));  // the first pick begins a dive
    CHECK(frontier.ready());
    CHECK_NEAR(frontier.lower_bound(), 0.1, 0.0);
    const Node dive = frontier.take();
    CHECK(dive.id == 2 && dive.dives);
    frontier.add_children(dive, node_of(3, 0.95), node_of(4, 0.99));  // and its children continue it
    CHECK(frontier.ready() && frontier.take().id == 4);
    // The dive has ended; the next pick is the second, whose children are nodes among the others.
    CHECK(frontier.ready());
    const Node second = frontier.take();
    CHECK(second.id == 1);
    frontier.add_children(second, node_of(5, 0.2), node_of(6, 0.96));
    CHECK(drain(frontier) == std::vector<int64_t>({5, 3, 6}));
}

TEST(frontier_begins_a_dive_at_every_sixteenth_pick) {
    for (int64_t picks = 0; picks < 40; ++picks) {
        Frontier frontier;
        frontier.restore({node_of(1, 0.1)}, picks);
        const Node parent = frontier.take();
        frontier.add_children(parent, node_of(2, 0.2), node_of(3, 0.9));
        CHECK(frontier.ready());
        CHECK((frontier.take().id == 3) == (picks % 16 == 0));
    }
}

TEST(frontier_continues_a_dive_whatever_the_number_of_picks) {
    Frontier frontier;
    Node diving = node_of(1, 0.5);
    diving.dives = true;
    frontier.restore({node_of(2, 0.1), diving}, 5);
    CHECK(frontier.ready());
    const Node parent = frontier.take();
    CHECK(parent.id == 1 && frontier.snapshot().picks == 5);
    frontier.add_children(parent, node_of(3, 0.6), node_of(4, 0.9));
    CHECK(drain(frontier) == std::vector<int64_t>({4, 2, 3}));
}

TEST(frontier_lets_nodes_wait) {
    Frontier frontier;
    frontier.restore({node_of(1, 0.1), node_of(2, 0.5)}, 0);
    frontier.add_waiting(node_of(3, 0.3, {7}));
    frontier.add_waiting(node_of(4, 0.4, {8}));
    frontier.add_waiting(node_of(5, 0.6));
    CHECK(frontier.best_waiting()->id == 3 && frontier.best_waiting()->waits);
    CHECK(drain(frontier) == std::vector<int64_t>({1}));  // the other one is no better than the best that waits
    CHECK(frontier.size() == 4);
    CHECK_NEAR(frontier.lower_bound(), 0.3, 0.0);
    frontier.wake([](int32_t j) { return j == 7; });  // those that use column 7, and those that use none
    CHECK(frontier.best_waiting()->id == 4);
    CHECK(frontier.ready());
    const Node woken = frontier.take();
    CHECK(woken.id == 3 && !woken.waits && !frontier.ready());
    frontier.wake([](int32_t) { return true; });
    CHECK(frontier.best_waiting() == nullptr);
    CHECK(drain(frontier) == std::vector<int64_t>({4, 2, 5}));
}

TEST(frontier_gives_up_a_dive_that_leads_past_a_waiting_node) {
    Frontier frontier;
    frontier.set_root(node_of(0, 0.0));
    const Node root = frontier.take();
    frontier.add_children(root, node_of(1, 0.1), node_of(2, 0.9));
    frontier.add_waiting(node_of(3, 0.5, {1}));
    CHECK(frontier.ready() && frontier.take().id == 1);
    CHECK(!frontier.ready() && frontier.size() == 2);
    frontier.wake([](int32_t) { return true; });
    CHECK(drain(frontier) == std::vector<int64_t>({3, 2}));
}

TEST(frontier_counts_nodes_in_work_as_open) {
    Frontier frontier;
    frontier.restore({node_of(1, 0.1), node_of(2, 0.2)}, 3);
    const Node node = frontier.take();
    frontier.begin(node);
    CHECK(frontier.size() == 2 && frontier.in_work() == 1);
    CHECK_NEAR(frontier.lower_bound(), 0.1, 0.0);
    CHECK(frontier.snapshot().picks == 3 && frontier.snapshot().open.size() == 2);
    frontier.put_back();
    CHECK(frontier.in_work() == 0 && frontier.snapshot().picks == 3);
    CHECK(drain(frontier) == std::vector<int64_t>({1, 2}));
    frontier.begin(node);
    frontier.done(node);
    CHECK(frontier.size() == 0);
}

TEST(frontier_goes_on_from_a_snapshot_in_the_same_order) {
    int64_t waited = 0, dived = 0;
    for (int steps = 0; steps < 300; steps += 7) {
        Walk walk;
        for (int k = 0; k < steps; ++k) walk.step();
        const auto snapshot = walk.frontier.snapshot();
        CHECK(std::ssize(snapshot.open) == walk.frontier.size());
        Walk other;
        other.frontier.restore(snapshot.open, snapshot.picks);
        other.next = walk.next;
        CHECK(other.frontier.lower_bound() == walk.frontier.lower_bound());
        for (const Node& node : snapshot.open) {
            waited += node.waits;
            dived += node.dives;
        }
        while (const auto id = walk.step()) CHECK(other.step() == id);
        CHECK(!other.step());
    }
    CHECK(waited > 0 && dived > 0);
}
