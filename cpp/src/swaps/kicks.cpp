#include "ellzero/swaps/kicks.hpp"

namespace ellzero {
namespace {

// Columns that are forced in: those whose swaps are ranked first.
constexpr size_t forced = 16;

}  // namespace

bool Kicks::kick(const Selection& selection, Exchange& exchange, Pool& pool, int size) {
    const Model* known = pool.of_size(size);
    if (!known || !kicked_.insert(selection.outside(*known).support).second) return false;
    const Model model = *known;
    bool better = false;
    const auto descend = [&](Model& trial, const Restraint& restraint) {
        exchange.improve(trial, restraint);
        trial.searched = false;  // without the restraint there may be more
        if (trial.size == size) better |= pool.insert(trial);
    };
    Model trial;
    for (const int32_t feature : model.support)
        if (exchange.replace(model, feature, trial)) descend(trial, {.barred = feature});
    for (const Swap& swap : exchange.ranked(model, forced))
        if (exchange.force(model, swap.column, trial)) descend(trial, {.kept = swap.column});
    return better;
}

}  // namespace ellzero
