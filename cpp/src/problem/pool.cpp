#include "ellzero/problem/pool.hpp"

#include <cmath>

namespace ellzero {

bool Pool::insert(const Model& model) {
    auto [place, fresh] = best_.try_emplace(model.size, model);
    if (fresh) return true;
    Model& kept = place->second;
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

const Model& Pool::best(double lambda_0, int most) const {
    const Model* out = nullptr;
    for (const auto& [size, model] : best_)
        if (!out || (size <= most && model.objective(lambda_0) < out->objective(lambda_0))) out = &model;
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
    for (const auto& [size, model] : best_) {
        if (size > most) break;
        double upper = Penalty::infinity;
        while (!out.empty()) {
            upper = (out.back().model.cost - model.cost) / (size - out.back().model.size);
            if (upper < out.back().upper) break;
            out.pop_back();  // never best: both neighbours beat it
            upper = Penalty::infinity;
        }
        if (upper > 0.0) out.push_back({model, upper});
    }
    return out;
}

}  // namespace ellzero
