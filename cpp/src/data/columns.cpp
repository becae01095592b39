#include "ellzero/data/columns.hpp"

#include <algorithm>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
// Columns that one thread takes at a time: fewer of long ones.
constexpr int64_t most_per_chunk = 64;
constexpr int64_t least_per_chunk = 8;
}  // namespace

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
    const double r_sum = mean_ ? kernels::sum(r, rows()) : 0.0;
    const int64_t work = design_.bytes() / (8 * std::max<int64_t>(count(), 1));  // of one column
    const int64_t chunk = std::clamp(Team::worth_sharing / std::max<int64_t>(work, 1), least_per_chunk, most_per_chunk);
    for_held(columns, [&](int64_t start, std::span<const int32_t> held) {
        team_.run(std::ssize(held), chunk, [&](int64_t begin, int64_t end, int) {
            const auto part = held.subspan(begin, end - begin);
            design_.dots(part, r, out.data() + start + begin);
            standardise(part, r_sum, out.data() + start + begin);
        }, std::ssize(held) * work);
    });
    for (const int32_t j : columns) bytes_read_ += static_cast<double>(design_.bytes(j));
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
    for (int64_t k = 0; k < sides; ++k) sums[k] = mean_ ? kernels::sum(r + k * rows(), rows()) : 0.0;
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
    const double total = kernels::sum(share.data(), rows());
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
    design_.axpy(j, step, out);
    if (mean_) kernels::add_scalar(-step * mean_[j], rows(), out);
    bytes_read_ += static_cast<double>(design_.bytes(j));
}

void Columns::add(std::span<const int32_t> columns, const double* a, double* out) const {
    std::vector<double> steps(a, a + columns.size());
    double shift = 0.0;
    for (size_t c = 0; c < columns.size(); ++c) {
        steps[c] *= scale(columns[c]);
        shift -= steps[c] * mean(columns[c]);
        bytes_read_ += static_cast<double>(design_.bytes(columns[c]));
    }
    design_.add(columns, steps.data(), out);
    if (shift != 0.0) kernels::add_scalar(shift, rows(), out);
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
    for (int64_t l = 0; l < blocks(); ++l) sums[l] = kernels::sum(r + l * n, n);
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
    design_.gram(columns, first, means.data(), scales.data(), d, out.data(), team_);
}

}  // namespace ellzero
