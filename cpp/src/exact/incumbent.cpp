#include "ellzero/exact/incumbent.hpp"

#include <utility>

namespace ellzero {

Model BestModel::model() const {
    const std::lock_guard lock(mutex_);
    return model_;
}

void BestModel::offer(const Model& model) {
    const std::lock_guard lock(mutex_);
    const double value = model.objective(lambda_0_);
    if (model.size > k_ || model.spent > budget_ || !(value < objective())) return;
    model_ = model;
    objective_ = value;
    polished_ = false;
}

void BestModel::replace(Model model) {
    const std::lock_guard lock(mutex_);
    model_ = std::move(model);
    objective_ = model_.objective(lambda_0_);
}

std::optional<Model> BestModel::take_unpolished() {
    const std::lock_guard lock(mutex_);
    if (polished_.exchange(true)) return std::nullopt;
    return model_;
}

}  // namespace ellzero
