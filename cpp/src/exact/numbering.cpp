#include "ellzero/exact/numbering.hpp"

#include <algorithm>
#include <utility>

namespace ellzero {
namespace {

// The part of a diagonal that is about columns which have a place.
std::shared_ptr<const Diagonal> renumbered(const Diagonal& diagonal, const std::vector<int32_t>& place) {
    auto out = std::make_shared<Diagonal>();
    out->number = diagonal.number;
    for (size_t k = 0; k < diagonal.columns.size(); ++k)
        if (const int32_t j = place[diagonal.columns[k]]; j >= 0) {
            out->columns.push_back(j);
            out->curvatures.push_back(diagonal.curvatures[k]);
        }
    return out;
}

}  // namespace

std::vector<int32_t> Numbering::columns_of_X(std::vector<int32_t> columns) const {
    for (int32_t& j : columns) j = column_of_X(j);
    return columns;
}

bool Numbering::holds(const Model& model) const {
    const auto kept = [&](int32_t j) { return std::binary_search(columns_.begin(), columns_.end(), j); };
    return !selection_ || std::all_of(model.support.begin(), model.support.end(), kept);
}

std::vector<uint8_t> Numbering::inside(const std::vector<uint8_t>& flags) const {
    if (!selection_ || flags.empty()) return flags;
    std::vector<uint8_t> out;
    out.reserve(columns_.size());
    for (const int32_t j : columns_) out.push_back(flags[j]);
    return out;
}

ExactOptions Numbering::inside(const ExactOptions& options) const {
    ExactOptions out = options;
    out.integral = inside(options.integral);
    out.swaps.home = inside(options.swaps.home);
    return out;
}

void Numbering::compact(State& state, std::vector<int32_t>& block, std::vector<Box> boxes) {
    std::vector<int32_t> place(whole_.columns(), -1), kept;
    for (int32_t j = 0; j < whole_.columns(); ++j)
        if (!state.out.test(j)) {
            place[j] = static_cast<int32_t>(kept.size());
            kept.push_back(j);
        }
    if (!whole_.X.design().worth_copying(std::ssize(kept))) {
        boxes_ = std::move(boxes);
        return;
    }
    for (auto* list : {&state.clauses.members(), &state.columns, &state.near, &block})
        for (int32_t& j : *list) j = place.at(j);
    if (state.diagonal) state.diagonal = renumbered(*state.diagonal, place);
    state.out = ColumnSet(std::ssize(kept));
    boxes_.clear();
    for (const int32_t j : kept) boxes_.push_back(boxes[j]);
    select(std::move(kept));
}

void Numbering::restore(std::vector<int32_t> columns, std::vector<Box> boxes) {
    boxes_ = std::move(boxes);
    if (columns.empty()) columns_.clear();
    else select(std::move(columns));
}

std::shared_ptr<const Diagonal> Numbering::inside(const Diagonal& diagonal) const {
    std::vector<int32_t> place(whole_.columns(), -1);
    for (int32_t j = 0; j < inner().columns(); ++j) place[column_of_X(j)] = j;
    return renumbered(diagonal, place);
}

void Numbering::select(std::vector<int32_t> columns) {
    columns_ = std::move(columns);
    serial_ = std::make_unique<Team>(1);
    selection_ = std::make_unique<Selection>(whole_, columns_, *serial_);
}

}  // namespace ellzero
