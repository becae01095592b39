#include "ellzero/problem/selection.hpp"

#include <algorithm>

namespace ellzero {
namespace {

template <class T>
const T* take(const T* from, const std::vector<int32_t>& columns, std::vector<T>& to) {
    if (!from) return nullptr;
    for (const int32_t j : columns) to.push_back(from[j]);
    return to.data();
}

}  // namespace

Selection::Selection(const Problem& whole, std::vector<int32_t> columns, Team& team)
    : columns_(std::move(columns)), design_(whole.X.design().select(columns_)) {
    const Columns& X = whole.X;
    X_ = std::make_unique<Columns>(*design_, take(X.means(), columns_, mean_), take(X.scales(), columns_, scale_),
                                   take(X.squares(), columns_, square_), team, X.monitor());
    Penalty penalty = whole.penalty;
    penalty.lower = take(whole.penalty.lower, columns_, lower_);
    penalty.upper = take(whole.penalty.upper, columns_, upper_);
    penalty.prices = take(whole.penalty.prices, columns_, prices_);
    Groups groups;
    if (whole.grouped()) {
        std::vector<int32_t> heads;
        std::vector<double> coupling;
        for (const int32_t j : columns_) {
            heads.push_back(place(whole.head(j)));
            coupling.push_back(whole.coupling(j));
        }
        groups = Groups(std::move(heads), std::move(coupling));
    }
    problem_ = std::make_unique<Problem>(Problem{*X_, whole.loss, whole.y, whole.w, penalty, whole.intercept, whole.tolerance,
                                                 whole.heavy, groups, whole.rules.on(columns_)});
}

int32_t Selection::place(int32_t column) const {
    return static_cast<int32_t>(std::lower_bound(columns_.begin(), columns_.end(), column) - columns_.begin());
}

Model Selection::inside(const Model& model) const {
    Model out = model;
    for (int32_t& j : out.support) j = place(j);
    return out;
}

Model Selection::outside(const Model& model) const {
    Model out = model;
    for (int32_t& j : out.support) j = columns_[j];
    return out;
}

}  // namespace ellzero
