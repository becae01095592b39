#include "ellzero/problem/pool.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ellzero {
namespace {

constexpr size_t most_prices = 4096;

// Replaces a model by a better one; returns whether that has other features.
bool replace_by_better(Model& kept, const Model& model) {
    if (kept.support != model.support) {
        if (model.cost >= kept.cost) return false;
        kept = model;
        return true;
    }
    // Of two fits of one support the one that knows more of where it stands is kept.
    const auto knowledge = [](const Model& one) { return 2 * one.certain + one.swap_free; };
    const double rounding = 1e-9 * std::abs(kept.cost);
    if (model.cost < kept.cost - rounding || (model.cost <= kept.cost + rounding && knowledge(model) >= knowledge(kept))) {
        const bool searched = kept.searched || model.searched;
        kept = model;
        kept.searched = searched;
    }
    return false;
}

}  // namespace

bool Pool::insert(const Model& model) {
    if (rules_ && !rules_.obeys(model.support)) return false;
    const bool cheaper = unequal_ && insert_by_price(model);
    auto [place, fresh] = best_.try_emplace(model.size, model);
    return fresh || replace_by_better(place->second, model) || cheaper;
}

bool Pool::insert_by_price(const Model& model) {
    const auto dearer = front_.upper_bound(model.spent);
    if (dearer != front_.begin()) {
        auto& [price, cheaper] = *std::prev(dearer);
        if (price == model.spent) {
            if (!replace_by_better(cheaper, model)) return false;
        } else if (cheaper.cost <= model.cost) {
            return false;
        }
    }
    const auto place = front_.try_emplace(model.spent, model).first;
    auto next = std::next(place);
    while (next != front_.end() && next->second.cost >= model.cost) next = front_.erase(next);
    if (front_.size() > most_prices) front_.erase(next != front_.end() ? next : std::prev(place));
    return true;
}

std::vector<const Model*> Pool::by_price(int most) const {
    std::vector<const Model*> out;
    for (const auto& [size, model] : best_)
        if (size <= most) out.push_back(&model);
    if (!unequal_) return out;
    for (const auto& [price, model] : front_)
        if (model.size <= most) out.push_back(&model);
    std::stable_sort(out.begin(), out.end(), [](const Model* a, const Model* b) {
        return a->spent != b->spent ? a->spent < b->spent : a->cost < b->cost;
    });
    return out;
}

const Model& Pool::best(double lambda_0, int most, double budget) const {
    const Model* out = nullptr;
    const auto look_at = [&](const Model& model) {
        const bool allowed = model.size <= most && model.spent <= budget;
        if (!out || (allowed && model.objective(lambda_0) < out->objective(lambda_0))) out = &model;
    };
    for (const auto& [size, model] : best_) look_at(model);
    for (const auto& [price, model] : front_) look_at(model);
    return *out;
}

const Model* Pool::of_size(int size) const {
    const auto place = best_.find(size);
    return place == best_.end() ? nullptr : &place->second;
}

std::vector<int> Pool::sizes() const {
    std::vector<int> out;
    out.reserve(best_.size());
    for (const auto& [size, model] : best_) out.push_back(size);
    return out;
}

std::vector<Model> Pool::by_size(int most) const {
    std::vector<Model> out;
    for (const auto& [size, model] : best_)
        if (size <= most) out.push_back(model);
    return out;
}

std::vector<Pool::Vertex> Pool::envelope(int most) const {
    std::vector<Vertex> out;
    for (const Model* next : by_price(most)) {
        const Model& model = *next;
        if (!out.empty() && model.spent == out.back().model.spent) continue;  // a better one came before
        double upper = Penalty::infinity;
        while (!out.empty()) {
            upper = (out.back().model.cost - model.cost) / (model.spent - out.back().model.spent);
            if (upper < out.back().upper) break;
            out.pop_back();  // never best: both neighbours beat it
            upper = Penalty::infinity;
        }
        if (upper > 0.0) out.push_back({model, upper});
    }
    return out;
}

}  // namespace ellzero
