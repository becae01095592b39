#include "ellzero/exact/incumbent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ellzero {

BestModel::BestModel(const Model& model, const ExactOptions& options, Rules rules)
    : lambda_0_(options.lambda_0),
      k_(options.k),
      budget_(options.budget * (1.0 + 0.5 * budget_slack)),
      null_(options.null),
      wanted_(options.wanted),
      rules_(std::move(rules)),
      objective_(Penalty::infinity),
      level_(options.wanted.level) {
    set(model);
}

void BestModel::set(Model model) {
    model_ = std::move(model);
    objective_ = model_.objective(lambda_0_);
    if (std::isfinite(wanted_.within))
        level_ = std::min(level(), with_equals(objective() + wanted_.within * size_of(objective(), null_)));
}

Model BestModel::model() const {
    const std::lock_guard lock(mutex_);
    return model_;
}

void BestModel::offer(const Model& model) {
    const std::lock_guard lock(mutex_);
    if (model.size > k_ || model.spent > budget_ || !(model.objective(lambda_0_) < objective())) return;
    if (!rules_.obeys(model.support)) return;
    set(model);
    polished_ = false;
}

void BestModel::replace(Model model) {
    const std::lock_guard lock(mutex_);
    set(std::move(model));
}

void BestModel::lower_level(double objective) {
    const std::lock_guard lock(mutex_);
    level_ = std::min(level(), with_equals(objective));
}

std::optional<Model> BestModel::take_unpolished() {
    const std::lock_guard lock(mutex_);
    if (polished_.exchange(true)) return std::nullopt;
    return model_;
}

}  // namespace ellzero
