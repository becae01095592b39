#include "models.hpp"

#include <algorithm>

namespace ellzero::bindings {
namespace {

// Unpenalized features are always in, also where their coefficient is zero and was not packed.
void add_unpenalized(Model& model, const Penalty& penalty, int64_t columns) {
    if (!penalty.unpenalized) return;
    for (int64_t c = 0; c < columns; ++c) {
        const auto j = static_cast<int32_t>(c);
        if (!penalty.unpenalized[c]) continue;
        const auto place = std::lower_bound(model.support.begin(), model.support.end(), j);
        if (place != model.support.end() && *place == j) continue;
        model.beta.insert(model.beta.begin() + (place - model.support.begin()),
                          std::clamp(0.0, penalty.low(j), penalty.high(j)));
        model.support.insert(place, j);
    }
}

}  // namespace

nb::dict pack(const std::vector<Model>& models) {
    std::vector<int64_t> starts{0};
    std::vector<int32_t> columns;
    std::vector<double> values, intercept, cost;
    std::vector<uint8_t> converged;
    for (const Model& model : models) {
        columns.insert(columns.end(), model.support.begin(), model.support.end());
        values.insert(values.end(), model.beta.begin(), model.beta.end());
        starts.push_back(std::ssize(columns));
        intercept.push_back(model.intercept);
        cost.push_back(model.cost);
        converged.push_back(model.converged);
    }
    nb::dict out;
    out["starts"] = to_numpy(std::move(starts));
    out["columns"] = to_numpy(std::move(columns));
    out["values"] = to_numpy(std::move(values));
    out["intercept"] = to_numpy(std::move(intercept));
    out["cost"] = to_numpy(std::move(cost));
    out["converged"] = to_numpy(std::move(converged));
    return out;
}

std::vector<Model> unpack(const nb::dict& packed, const BoundProblem& problem) {
    const Penalty penalty = problem.penalty();
    const auto starts = nb::cast<Vector<int64_t>>(packed["starts"]);
    const auto columns = nb::cast<Vector<int32_t>>(packed["columns"]);
    const auto values = nb::cast<Vector<double>>(packed["values"]);
    const auto intercept = nb::cast<Vector<double>>(packed["intercept"]);
    std::vector<Model> out(intercept.shape(0));
    for (size_t k = 0; k < out.size(); ++k) {
        out[k].support.assign(columns.data() + starts.data()[k], columns.data() + starts.data()[k + 1]);
        out[k].beta.assign(values.data() + starts.data()[k], values.data() + starts.data()[k + 1]);
        out[k].intercept = intercept.data()[k];
        add_unpenalized(out[k], penalty, problem.core->columns());
        for (const int32_t j : out[k].support) out[k].counted += penalty.counted(j);
    }
    return out;
}

}  // namespace ellzero::bindings
