#include "ellzero/exact/node_work.hpp"

#include <utility>

namespace ellzero {

NodeWork::NodeWork(const NodeSetting& setting)
    : region(setting.problem, setting.options), relaxation(setting.problem), aside(setting.problem), setting_(setting) {}

void NodeWork::forget() {
    relaxation.forget();
    aside.forget();
}

void NodeWork::start(const State& state) {
    std::vector<Relaxation::Coordinate> coordinates;
    coordinates.reserve(state.columns.size());
    for (size_t k = 0; k < state.columns.size(); ++k) coordinates.push_back({state.columns[k], {}, false, state.beta[k]});
    working.near = state.near;
    begin(coordinates, state.intercept, state.mu);
    if (setting_.hinge()) relaxation.smooth(node_tolerances::smoothing, state.alpha.empty() ? nullptr : &state.alpha);
}

void NodeWork::restart() {
    begin(relaxation.coordinates(), relaxation.intercept(), relaxation.mu());
    if (setting_.hinge()) relaxation.smooth(node_tolerances::smoothing, &proof.dual.alpha);
}

void NodeWork::begin(const std::vector<Relaxation::Coordinate>& from, double intercept, double mu) {
    std::erase_if(working.near, [&](int32_t j) { return !region.undecided(j); });
    working.columns = ColumnSet(setting_.problem.columns());
    std::vector<Relaxation::Coordinate> coordinates;
    const auto take = [&](int32_t j, double beta) {
        if (working.columns.test(j) || region.status(j) == Region::Status::out) return;
        working.columns.insert(j);
        // Features at home are taken to stay, and are not charged: the gain of those that leave is counted in the bound.
        coordinates.push_back({j, region.box(j), region.undecided(j) && !region.at_home(j), beta});
    };
    for (const auto& c : from)
        if (c.beta != 0.0) take(c.column, c.beta);
    for (const auto* list : {&region.in(), &region.always(), &region.home_undecided()})
        for (const int32_t j : *list) take(j, 0.0);
    relaxation.begin(std::move(coordinates), intercept, setting_.options.lambda_0, region.limited() ? mu : 0.0,
                     region.most_shares());
}

void NodeWork::begin_aside(std::vector<Relaxation::Coordinate> coordinates, double lambda_0, double mu, double most) {
    if (setting_.hinge()) aside.smooth(node_tolerances::smoothing, &proof.dual.alpha);
    aside.begin(std::move(coordinates), relaxation.intercept(), lambda_0, mu, most);
}

std::shared_ptr<State> NodeWork::leave() const {
    auto state = std::make_shared<State>();
    region.store(*state);
    for (const auto& c : relaxation.coordinates())
        if (c.beta != 0.0 && region.status(c.column) != Region::Status::out) {
            state->columns.push_back(c.column);
            state->beta.push_back(c.beta);
        }
    state->intercept = relaxation.intercept();
    state->mu = relaxation.mu();
    for (const int32_t j : working.near)
        if (region.undecided(j)) state->near.push_back(j);
    if (setting_.hinge()) state->alpha = proof.dual.alpha;
    return state;
}

std::shared_ptr<State> NodeWork::leave_with_shares() const {
    std::shared_ptr<State> state = leave();
    const auto& coordinates = relaxation.coordinates();
    std::vector<float> shares(setting_.problem.columns(), 0.0F);
    for (size_t k = 0; k < coordinates.size(); ++k) shares[coordinates[k].column] = static_cast<float>(relaxation.share(k));
    for (const int32_t j : state->columns) state->shares.push_back(shares[j]);
    return state;
}

}  // namespace ellzero
