#include "ellzero/exact/workplace.hpp"

#include <optional>

namespace ellzero {
namespace {

Columns view(const Columns& X, Team& team, Monitor& monitor) {
    return {X.design(), X.means(), X.scales(), X.squares(), team, monitor};
}

Problem with_columns(const Problem& problem, const Columns& X) {
    return {X,
            problem.loss,
            problem.y,
            problem.w,
            problem.penalty,
            problem.intercept,
            problem.tolerance,
            problem.heavy,
            problem.groups,
            problem.rules};
}

Witness inside(const Witness* witness, const Numbering& numbering) {
    return witness ? Witness{numbering.inside(witness->model), witness->objective} : Witness{};
}

}  // namespace

Workplace::Workplace(const Shared& shared, int threads)
    : shared_(shared),
      team_(threads),
      monitor_([this] { shared_.workers.leave_if_stopped(); }, {}),
      X_(view(shared_.numbering.inner().X, team_, monitor_)),
      problem_(with_columns(shared_.numbering.inner(), X_)),
      incumbent_(shared_),
      witness_(inside(shared_.witness, shared_.numbering)),
      solver_(problem_, shared_.options, incumbent_, shared_.witness ? &witness_ : nullptr) {
    if (const auto& boxes = shared_.numbering.boxes(); !boxes.empty()) solver_.region().set_boxes(boxes);
}

void Workplace::polish() {
    std::optional<Model> model = shared_.best.take_unpolished();
    if (!model || !shared_.numbering.holds(*model)) return;
    *model = shared_.numbering.inside(*model);
    incumbent_.offer(solver_.refit(model->support, model->beta, model->intercept));
    shared_.best.set_polished();
}

}  // namespace ellzero
