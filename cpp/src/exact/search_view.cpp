// Looking at a search, also while it runs, and its checkpoints.
#include <algorithm>
#include <utility>

#include "ellzero/exact/search.hpp"

namespace ellzero {

double Search::lower_bound() const {
    const auto lock = workers_.lock();
    double out = std::min({level(), tree_.closed_bound(), frontier_.lower_bound()});
    for (const Listed& leaf : listed_)
        if (!wanted(leaf)) out = std::min(out, leaf.bound);
    return out;
}

std::vector<Search::Listed> Search::listed() const {
    const auto lock = workers_.lock();
    std::vector<Listed> out;
    std::copy_if(listed_.begin(), listed_.end(), std::back_inserter(out), [&](const Listed& leaf) { return wanted(leaf); });
    return out;
}

int64_t Search::models() const {
    const auto lock = workers_.lock();
    return count_models();
}

Search::Counts Search::counts() const {
    const auto lock = workers_.lock();
    Counts out = counts_;
    out.open = frontier_.size();
    out.columns_left = numbering_.inner().columns();
    return out;
}

std::vector<int32_t> Search::fixed_out() const {
    const auto lock = workers_.lock();
    std::vector<int32_t> out;
    if (root_)
        for (int32_t j = 0; j < numbering_.whole().columns(); ++j)
            if (root_->out.test(j)) out.push_back(j);
    return out;
}

Search::Snapshot Search::snapshot() const {
    const auto lock = workers_.lock();
    Frontier::Snapshot nodes = frontier_.snapshot();
    return {.incumbent = best_.model(),
            .tree = tree_.record(),
            .columns = numbering_.columns(),
            .boxes = numbering_.boxes(),
            .open = std::move(nodes.open),
            .closed = tree_.closed_bound(),
            .nodes_done = counts_.nodes,
            .picks = nodes.picks,
            .rooted = rooted_};
}

// The states of a snapshot name their diagonals by number alone.
void Search::restore_diagonals(std::vector<Node>& nodes) const {
    const TreeRecord& tree = tree_.record();
    std::vector<std::shared_ptr<const Diagonal>> known(tree.diagonals.count());
    const auto look_up = [&](int64_t number) {
        const auto columns = tree.diagonals[number];
        const auto end = tree.curvatures.begin() + tree.diagonals.ends()[number];
        if (!known[number])
            known[number] =
                numbering_.inside(Diagonal{{columns.begin(), columns.end()}, {end - std::ssize(columns), end}, number});
        return known[number];
    };
    for (Node& node : nodes) {
        if (!node.state || !node.state->diagonal) continue;
        auto state = std::make_shared<State>(*node.state);
        state->diagonal = look_up(state->diagonal->number);
        node.state = std::move(state);
    }
}

void Search::restore(Snapshot snapshot) {
    best_.replace(std::move(snapshot.incumbent));
    tree_.restore(std::move(snapshot.tree), snapshot.closed);
    numbering_.restore(std::move(snapshot.columns), std::move(snapshot.boxes));
    inner_options_ = numbering_.inside(options_);
    restore_diagonals(snapshot.open);
    frontier_.restore(std::move(snapshot.open), snapshot.picks);
    counts_.nodes = snapshot.nodes_done;
    rooted_ = snapshot.rooted;
}

}  // namespace ellzero
