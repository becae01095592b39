#include "ellzero/data/columns.hpp"

#include <algorithm>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
// Columns that one thread takes at a time: fewer of long ones.
constexpr int64_t most_per_chunk = 64;
constexpr int64_t least_per_chunk = 8;
// Each piece of rows has a Gram matrix of its own: up to this order, all of them are small beside the vectors of a refit.
constexpr int64_t largest_in_parts = 64;
}  // namespace

std::vector<std::unique_ptr<Design>> Columns::parts_of(const Design& design) {
    std::vector<std::unique_ptr<Design>> out;
    for (int64_t first = 0; design.rows() > rows_at_a_time && first < design.rows(); first += rows_at_a_time) {
        out.push_back(design.rows_between(first, std::min(first + rows_at_a_time, design.rows())));
        if (!out.back()) return {};
    }
    return out;
}

template <class Body>
void Columns::for_parts(const Body& body) const {
    team_.run(std::ssize(parts_), 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t p = begin; p < end; ++p) body(p, p * rows_at_a_time);
    });
}

double Columns::sum(const double* r) const {
    return sum_over_rows([&](int64_t first, int64_t count) { return kernels::sum(r + first, count); });
}

void Columns::copy(const std::vector<double>& from, std::vector<double>& to) const {
    to.resize(from.size());
    for_rows([&](int64_t first, int64_t count) { std::copy_n(from.data() + first, count, to.data() + first); });
}

void Columns::apply_curvature(const double* d, double* v) const {
    if (design_.couples_rows()) return design_.apply_curvature(d, v);
    for_rows([&](int64_t first, int64_t count) {
        for (int64_t i = first; i < first + count; ++i) v[i] *= d[i];
    });
}

double Columns::total_curvature(const double* d) const {
    if (!design_.couples_rows()) return sum(d);
    std::vector<double> diagonal(rows());
    design_.curvature_diagonal(d, diagonal.data());
    return sum(diagonal.data());
}

double Columns::dot(int32_t j, const double* r, double r_sum) const {
    double out;
    design_.dots(std::span(&j, 1), r, &out);
    bytes_read_ += static_cast<double>(design_.bytes(j));
    return (out - mean(j) * r_sum) * scale(j);
}

void Columns::standardise(std::span<const int32_t> columns, double r_sum, double* out) const {
    if (!mean_ && !scale_) return;
    for (size_t c = 0; c < columns.size(); ++c) out[c] = (out[c] - mean(columns[c]) * r_sum) * scale(columns[c]);
}

void Columns::dots(std::span<const int32_t> columns, const double* r, std::vector<double>& out) const {
    out.resize(columns.size());
    if (design_.prefers_pass(columns)) {
        std::vector<double> all(count());
        all_dots(r, all.data());
        for (size_t c = 0; c < columns.size(); ++c) out[c] = all[columns[c]];
        return;
    }
    const double r_sum = mean_ ? sum(r) : 0.0;
    for (const int32_t j : columns) bytes_read_ += static_cast<double>(design_.bytes(j));
    if (!parts_.empty()) {
        const size_t size = columns.size();
        std::vector<double> found(parts_.size() * size);
        for_parts([&](int64_t p, int64_t first) { parts_[p]->dots(columns, r + first, found.data() + p * size); });
        std::fill(out.begin(), out.end(), 0.0);
        for (size_t p = 0; p < parts_.size(); ++p) kernels::axpy(1.0, found.data() + p * size, std::ssize(out), out.data());
        return standardise(columns, r_sum, out.data());
    }
    const int64_t work = design_.bytes() / (8 * std::max<int64_t>(count(), 1));  // of one column
    const int64_t chunk = std::clamp(Team::worth_sharing / std::max<int64_t>(work, 1), least_per_chunk, most_per_chunk);
    for_held(columns, [&](int64_t start, std::span<const int32_t> held) {
        team_.run(std::ssize(held), chunk, [&](int64_t begin, int64_t end, int) {
            const auto part = held.subspan(begin, end - begin);
            design_.dots(part, r, out.data() + start + begin);
            standardise(part, r_sum, out.data() + start + begin);
        }, std::ssize(held) * work);
    });
}

template <class Body>
void Columns::for_held(std::span<const int32_t> columns, const Body& body) const {
    const int64_t most = design_.most_held();
    for (int64_t start = 0; start < std::ssize(columns); start += std::min<int64_t>(most, std::ssize(columns))) {
        const auto part = columns.subspan(start, std::min<int64_t>(most, std::ssize(columns) - start));
        const auto held = design_.hold(part);
        body(start, part);
    }
}

void Columns::all_dots(const double* r, double* out) const { products(r, 1, out); }

void Columns::products(const double* r, int64_t sides, const Design::Take& take) const {
    double sums[Design::most_sides];
    for (int64_t k = 0; k < sides; ++k) sums[k] = mean_ ? sum(r + k * rows()) : 0.0;
    design_.all_products(r, sides, [&](int64_t first, int64_t size, double* values, int64_t ld) {
        if (mean_ || scale_)
            for (int64_t k = 0; k < sides; ++k)
                for (int64_t c = 0; c < size; ++c) {
                    const auto j = static_cast<int32_t>(first + c);
                    values[k * ld + c] = (values[k * ld + c] - mean(j) * sums[k]) * scale(j);
                }
        take(first, size, values, ld);
    }, team_, monitor_);
    bytes_read_ += static_cast<double>(design_.bytes());
}

void Columns::products(const double* r, int64_t sides, double* out) const {
    products(r, sides, [&](int64_t first, int64_t size, double* values, int64_t ld) {
        for (int64_t k = 0; k < sides; ++k) std::copy(values + k * ld, values + k * ld + size, out + k * count() + first);
    });
}

void Columns::curvatures(const double* d, std::vector<float>& diagonal, std::vector<float>& sums) const {
    std::vector<double> share(rows());
    design_.curvature_diagonal(d, share.data());
    const double total = sum(share.data());
    for (double& value : share) value /= total;
    diagonal.resize(count());
    sums.resize(count());
    design_.all_moments(share.data(), [&](int64_t first, int64_t size, const double* values, int64_t ld) {
        for (int64_t c = 0; c < size; ++c) {
            const auto j = static_cast<int32_t>(first + c);
            const double shift = values[c] - mean(j);
            diagonal[j] = static_cast<float>(total * scale(j) * scale(j) * (values[ld + c] + shift * shift));
            sums[j] = static_cast<float>(total * scale(j) * shift);
        }
    }, team_, monitor_);
    bytes_read_ += static_cast<double>(design_.bytes());
}

void Columns::axpy(int32_t j, double a, double* out) const {
    const double step = a * scale(j);
    bytes_read_ += static_cast<double>(design_.bytes(j));
    const auto move = [&](const Design& X, double* target) {
        X.axpy(j, step, target);
        if (mean_) kernels::add_scalar(-step * mean_[j], X.rows(), target);
    };
    if (parts_.empty()) return move(design_, out);
    for_parts([&](int64_t p, int64_t first) { move(*parts_[p], out + first); });
}

void Columns::add(std::span<const int32_t> columns, const double* a, double* out) const {
    std::vector<double> steps(a, a + columns.size());
    double shift = 0.0;
    for (size_t c = 0; c < columns.size(); ++c) {
        steps[c] *= scale(columns[c]);
        shift -= steps[c] * mean(columns[c]);
        bytes_read_ += static_cast<double>(design_.bytes(columns[c]));
    }
    const auto move = [&](const Design& X, double* target) {
        X.add(columns, steps.data(), target);
        if (shift != 0.0) kernels::add_scalar(shift, X.rows(), target);
    };
    if (parts_.empty()) return move(design_, out);
    for_parts([&](int64_t p, int64_t first) { move(*parts_[p], out + first); });
}

void Columns::add_all(const double* a, double* out) const {
    std::vector<int32_t> used;
    for (int64_t j = 0; j < count(); ++j)
        if (a[j] != 0.0) used.push_back(static_cast<int32_t>(j));
    for_held(used, [&](int64_t, std::span<const int32_t> held) {
        for (const int32_t j : held) axpy(j, a[j], out);
        monitor_.poll();
    });
}

void Columns::block_sums(const double* r, double* sums) const {
    const int64_t n = rows() / blocks();
    for (int64_t l = 0; l < blocks(); ++l)
        sums[l] = sum_over(team_, n, [&](int64_t first, int64_t count) { return kernels::sum(r + l * n + first, count); });
}

void Columns::add_constants(const double* a, double* out) const {
    const int64_t n = rows() / blocks();
    for (int64_t l = 0; l < blocks(); ++l) kernels::add_scalar(a[l], n, out + l * n);
}

void Columns::gram(std::span<const int32_t> columns, const double* d, std::vector<double>& out, int64_t first) const {
    const size_t order = columns.size() + blocks();
    out.resize((order - first) * order);
    std::vector<double> means(columns.size()), scales(columns.size());
    const auto used = static_cast<double>(rows() - std::count(d, d + rows(), 0.0));  // rows
    for (size_t c = 0; c < columns.size(); ++c) {
        means[c] = mean(columns[c]);
        scales[c] = scale(columns[c]);
        bytes_read_ += used / static_cast<double>(rows()) * static_cast<double>(design_.bytes(columns[c]));
    }
    if (parts_.empty() || std::ssize(columns) > largest_in_parts)
        return design_.gram(columns, first, means.data(), scales.data(), d, out.data(), team_);
    const size_t size = out.size();
    std::vector<double> found(parts_.size() * size);
    for_parts([&](int64_t p, int64_t start) {
        Team alone(1);
        parts_[p]->gram(columns, first, means.data(), scales.data(), d + start, found.data() + p * size, alone);
    });
    std::fill(out.begin(), out.end(), 0.0);
    for (size_t p = 0; p < parts_.size(); ++p) kernels::axpy(1.0, found.data() + p * size, std::ssize(out), out.data());
}

}  // namespace ellzero
