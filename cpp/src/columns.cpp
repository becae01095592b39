#include "ellzero/columns.hpp"

#include <algorithm>

#include "ellzero/kernels.hpp"

namespace ellzero {
namespace {
// A pass over X is cut into pieces of this size, so that Ctrl-C is seen between them.
constexpr int64_t bytes_between_polls = int64_t{64} << 20;
// Columns that one thread takes at a time.
constexpr int64_t columns_per_chunk = 64;
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
    const double r_sum = mean_ ? kernels::sum(r, rows()) : 0.0;
    team_.run(std::ssize(columns), columns_per_chunk, [&](int64_t begin, int64_t end, int) {
        const auto part = columns.subspan(begin, end - begin);
        design_.dots(part, r, out.data() + begin);
        standardise(part, r_sum, out.data() + begin);
    }, std::ssize(columns) * design_.bytes() / (8 * std::max<int64_t>(count(), 1)));
    for (const int32_t j : columns) bytes_read_ += static_cast<double>(design_.bytes(j));
}

template <class Body>
void Columns::for_pieces(const Body& body) const {
    const int64_t average = std::max<int64_t>(design_.bytes() / std::max<int64_t>(count(), 1), 1);
    const int64_t piece = std::max(bytes_between_polls / average, columns_per_chunk);
    for (int64_t start = 0; start < count(); start += piece) {
        const int64_t stop = std::min(start + piece, count());
        team_.run(stop - start, columns_per_chunk,
                  [&](int64_t begin, int64_t end, int) { body(start + begin, end - begin); });
        monitor_.poll();
    }
    bytes_read_ += static_cast<double>(design_.bytes());
}

void Columns::all_dots(const double* r, double* out) const {
    const double r_sum = mean_ ? kernels::sum(r, rows()) : 0.0;
    for_pieces([&](int64_t first, int64_t size) {
        design_.dots(first, size, r, out + first);
        if (mean_ || scale_)
            for (int64_t j = first; j < first + size; ++j)
                out[j] = (out[j] - mean(static_cast<int32_t>(j)) * r_sum) * scale(static_cast<int32_t>(j));
    });
}

void Columns::products(const double* r, int64_t sides, const Take& take) const {
    double sums[most_sides];
    for (int64_t k = 0; k < sides; ++k) sums[k] = mean_ ? kernels::sum(r + k * rows(), rows()) : 0.0;
    for_pieces([&](int64_t first, int64_t size) {
        double values[most_sides * columns_per_chunk];
        design_.products(first, size, r, sides, values, columns_per_chunk);
        if (mean_ || scale_)
            for (int64_t k = 0; k < sides; ++k)
                for (int64_t c = 0; c < size; ++c) {
                    const auto j = static_cast<int32_t>(first + c);
                    double& value = values[k * columns_per_chunk + c];
                    value = (value - mean(j) * sums[k]) * scale(j);
                }
        take(first, size, values, columns_per_chunk);
    });
}

void Columns::products(const double* r, int64_t sides, double* out) const {
    products(r, sides, [&](int64_t first, int64_t size, const double* values, int64_t ld) {
        for (int64_t k = 0; k < sides; ++k) std::copy(values + k * ld, values + k * ld + size, out + k * count() + first);
    });
}

void Columns::curvatures(const double* d, std::vector<float>& diagonal, std::vector<float>& sums) const {
    const double total = kernels::sum(d, rows());
    std::vector<double> share(d, d + rows());
    for (double& value : share) value /= total;
    diagonal.resize(count());
    sums.resize(count());
    for_pieces([&](int64_t first, int64_t size) {
        double means[columns_per_chunk], variances[columns_per_chunk];
        design_.moments(first, size, share.data(), means, variances);
        for (int64_t c = 0; c < size; ++c) {
            const auto j = static_cast<int32_t>(first + c);
            const double shift = means[c] - mean(j);
            diagonal[j] = static_cast<float>(total * scale(j) * scale(j) * (variances[c] + shift * shift));
            sums[j] = static_cast<float>(total * scale(j) * shift);
        }
    });
}

void Columns::axpy(int32_t j, double a, double* out) const {
    const double step = a * scale(j);
    design_.axpy(j, step, out);
    if (mean_) kernels::add_scalar(-step * mean_[j], rows(), out);
    bytes_read_ += static_cast<double>(design_.bytes(j));
}

void Columns::gram(std::span<const int32_t> columns, const double* d, std::vector<double>& out) const {
    const size_t order = columns.size() + 1;
    out.resize(order * order);
    std::vector<double> means(columns.size()), scales(columns.size());
    for (size_t c = 0; c < columns.size(); ++c) {
        means[c] = mean(columns[c]);
        scales[c] = scale(columns[c]);
        bytes_read_ += static_cast<double>(design_.bytes(columns[c]));
    }
    design_.gram(columns, means.data(), scales.data(), d, out.data(), team_);
}

}  // namespace ellzero
