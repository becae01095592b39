#include "ellzero/swaps/beam.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ellzero {
namespace {

// Models of each size, the steepest columns that each of them is grown by, and the children that are refitted: those that
// promise most.
constexpr size_t width = 16, branches = 8, refitted = 32;

using Support = std::vector<int32_t>;

Support with(const Problem& problem, Support support, int32_t head) {
    for (const int32_t column : problem.members(head))
        support.insert(std::lower_bound(support.begin(), support.end(), column), column);
    return support;
}

struct Child {
    double promise;  // G less what the column would gain alone
    size_t parent;
    int32_t column;
};

}  // namespace

bool grow_beam(const Problem& problem, Exchange& exchange, Pool& pool, int largest) {
    const std::vector<int> sizes = pool.sizes();
    if (sizes.empty() || (sizes.front() != 0 && !problem.rules)) return false;
    std::vector<Model> level{*pool.of_size(sizes.front())};
    std::map<int, std::map<Support, Model>> models;  // by size: with rules, some features bring others with them
    bool better = false;
    for (int size = sizes.front() + 1; size <= largest && !level.empty(); ++size) {
        problem.X.monitor().poll();
        std::map<Support, Model>& next = models[size];
        if (const Model* known = pool.of_size(size)) next.emplace(known->support, *known);
        std::vector<Child> children;
        std::set<Support> seen;
        for (size_t parent = 0; parent < level.size(); ++parent)
            for (const Entry& entry : exchange.steepest(level[parent], branches)) {
                const Support support = with(problem, level[parent].support, entry.column);
                if (!next.contains(support) && seen.insert(support).second)
                    children.push_back({level[parent].cost - entry.gain, parent, entry.column});
            }
        std::stable_sort(children.begin(), children.end(),
                         [](const Child& a, const Child& b) { return a.promise < b.promise; });
        if (children.size() > refitted) children.resize(refitted);
        for (const Child& child : children) {
            const Model model = exchange.added(level[child.parent], child.column);
            if (std::isfinite(model.cost) && model.size <= largest) models[model.size].emplace(model.support, model);
        }
        // Not improved by swaps here: models of one size would become the same.
        if (problem.rules && next.empty()) continue;
        level.clear();
        for (auto& [support, model] : next) level.push_back(std::move(model));
        std::stable_sort(level.begin(), level.end(), [](const Model& a, const Model& b) { return a.cost < b.cost; });
        if (level.size() > width) level.resize(width);
        if (!level.empty()) better |= pool.insert(level.front());
    }
    return better;
}

}  // namespace ellzero
