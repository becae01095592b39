#include "ellzero/exact/witness.hpp"

#include <string>

namespace ellzero {
namespace {

// The witness's one feature that is undecided, or -1.
int32_t undecided_feature(const Model& model, const Region& region) {
    for (size_t k = 0; k < model.support.size(); ++k)
        if (const int32_t j = model.support[k]; model.beta[k] != 0.0 && region.undecided(j)) return region.head(j);
    return -1;
}

}  // namespace

WitnessWatch::WitnessWatch(const Witness* witness, const Incumbent& incumbent, const Node& node, Region& region)
    : witness_(witness), incumbent_(incumbent), node_(node.id) {
    const bool here = witness && region.load(*node.state, node.decision, Penalty::infinity) && region.contains(witness->model);
    if (!here) witness_ = nullptr;
}

void WitnessWatch::check_lost(bool lost, const char* what) const {
    if (witness_ && lost && witness_->objective < incumbent_.level())
        throw WitnessLost("the known solution was lost at node " + std::to_string(node_) + ": " + what);
}

void WitnessWatch::check_region(const Region& region, const char* what) const {
    if (witness_) check_lost(!region.contains(witness_->model), what);
}

void WitnessWatch::check_bound(double bound, const char* what) const {
    if (witness_) check_lost(bound > witness_->objective, what);
}

void WitnessWatch::check_leaf(const Region& region, int32_t column, double bound) const {
    if (witness_ && undecided_feature(witness_->model, region) == column) check_bound(bound, "a leaf's bound is too high");
}

}  // namespace ellzero
