#include "ellzero/relaxation/working_gram.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

// Beyond these parts of new columns or changed rows a new start costs less.
constexpr double most_new_columns = 0.25, most_changed_rows = 0.4;
// Columns out of use are forgotten when so many times those in use, and a few, are kept; many, while no row changes: they cost
// nothing then.
constexpr int64_t most_kept = 2, few = 8, many = 500;

}  // namespace

WorkingGram::WorkingGram(const Columns& X, double tolerance) : X_(X), tolerance_(tolerance), place_(X.count(), -1) {}

void WorkingGram::get(std::span<const int32_t> columns, const std::vector<double>& d, std::vector<double>& out) {
    const int64_t size = std::ssize(columns), blocks = X_.blocks(), ld = size + blocks;
    if (const int64_t changed = changed_rows(d); worth_updating(columns, d, changed)) {
        if (std::ssize(kept_) > most_kept * (size + (changed > 0 ? few : many))) forget_unused(columns);
        if (changed > 0) update_rows(d);
        append(columns);
    } else {
        rebuild(columns, d);
    }
    out.resize(ld * ld);
    for (int64_t a = 0; a < size; ++a)
        for (int64_t b = 0; b <= a; ++b) out[a * ld + b] = entry(place_[columns[a]], place_[columns[b]]);
    for (int64_t l = 0; l < blocks; ++l) {
        for (int64_t b = 0; b < size; ++b) out[(size + l) * ld + b] = sums_[l][place_[columns[b]]];
        for (int64_t m = 0; m <= l; ++m) out[(size + l) * ld + size + m] = totals_[l * blocks + m];
    }
}

int64_t WorkingGram::changed_rows(const std::vector<double>& d) const {
    int64_t changed = 0;
    for (size_t i = 0; i < d_.size(); ++i) changed += differs(d[i], d_[i]);
    return changed;
}

bool WorkingGram::worth_updating(std::span<const int32_t> columns, const std::vector<double>& d, int64_t changed) const {
    if (d_.empty() || (changed > 0 && X_.design().couples_rows())) return false;
    const auto used = std::count_if(d.begin(), d.end(), [](double value) { return value != 0.0; });
    const auto fresh = std::count_if(columns.begin(), columns.end(), [&](int32_t j) { return place_[j] < 0; });
    return static_cast<double>(changed) <= most_changed_rows * static_cast<double>(used) &&
           static_cast<double>(fresh) <= most_new_columns * static_cast<double>(columns.size());
}

void WorkingGram::update_rows(const std::vector<double>& d) {
    std::vector<double> more(d.size(), 0.0), less(d.size(), 0.0);
    for (size_t i = 0; i < d.size(); ++i) {
        if (!differs(d[i], d_[i])) continue;
        (d[i] > d_[i] ? more : less)[i] = std::abs(d[i] - d_[i]);
        d_[i] = d[i];
    }
    add_rows(more, 1.0);
    add_rows(less, -1.0);
}

void WorkingGram::rebuild(std::span<const int32_t> columns, const std::vector<double>& d) {
    for (const int32_t j : kept_) place_[j] = -1;
    kept_.assign(columns.begin(), columns.end());
    rows_.resize(kept_.size());
    for (size_t k = 0; k < kept_.size(); ++k) {
        place_[kept_[k]] = static_cast<int32_t>(k);
        rows_[k].assign(k + 1, 0.0);
    }
    sums_.assign(X_.blocks(), std::vector<double>(kept_.size(), 0.0));
    totals_.assign(X_.blocks() * X_.blocks(), 0.0);
    d_ = d;
    add_rows(d, 1.0);
}

void WorkingGram::add_rows(const std::vector<double>& d, double sign) {
    if (std::all_of(d.begin(), d.end(), [](double value) { return value == 0.0; })) return;
    X_.gram(kept_, d.data(), scratch_);
    const int64_t size = std::ssize(kept_), blocks = X_.blocks(), ld = size + blocks;
    for (int64_t i = 0; i < size; ++i) kernels::axpy(sign, &scratch_[i * ld], i + 1, rows_[i].data());
    for (int64_t l = 0; l < blocks; ++l) {
        kernels::axpy(sign, &scratch_[(size + l) * ld], size, sums_[l].data());
        kernels::axpy(sign, &scratch_[(size + l) * ld + size], l + 1, &totals_[l * blocks]);
    }
}

void WorkingGram::append(std::span<const int32_t> columns) {
    const int64_t before = std::ssize(kept_);
    for (const int32_t j : columns) {
        if (place_[j] >= 0) continue;
        place_[j] = static_cast<int32_t>(kept_.size());
        kept_.push_back(j);
    }
    const int64_t size = std::ssize(kept_), ld = size + X_.blocks();
    if (size == before) return;
    X_.gram(kept_, d_.data(), scratch_, before);
    for (int64_t i = before; i < size; ++i) {
        const double* row = &scratch_[(i - before) * ld];
        rows_.emplace_back(row, row + i + 1);
    }
    for (int64_t l = 0; l < X_.blocks(); ++l) {
        const double* sums = &scratch_[(size - before + l) * ld];
        sums_[l].insert(sums_[l].end(), sums + before, sums + size);
    }
}

void WorkingGram::forget_unused(std::span<const int32_t> columns) {
    std::vector<uint8_t> used(kept_.size(), 0);
    for (const int32_t j : columns)
        if (place_[j] >= 0) used[place_[j]] = 1;
    std::vector<std::vector<double>> rows;
    std::vector<int32_t> kept;
    std::vector<std::vector<double>> sums(sums_.size());
    for (size_t i = 0; i < kept_.size(); ++i) {
        if (!used[i]) {
            place_[kept_[i]] = -1;
            continue;
        }
        std::vector<double> row;
        for (size_t j = 0; j <= i; ++j)
            if (used[j]) row.push_back(rows_[i][j]);
        place_[kept_[i]] = static_cast<int32_t>(kept.size());
        kept.push_back(kept_[i]);
        rows.push_back(std::move(row));
        for (size_t l = 0; l < sums.size(); ++l) sums[l].push_back(sums_[l][i]);
    }
    kept_ = std::move(kept);
    rows_ = std::move(rows);
    sums_ = std::move(sums);
}

}  // namespace ellzero
