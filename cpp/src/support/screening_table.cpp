#include "ellzero/support/screening_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
constexpr int64_t chunk = 4096;
}  // namespace

ScreeningTableInMemory::ScreeningTableInMemory(const Problem& problem, double steepness, size_t directions)
    : problem_(problem),
      steepness_(steepness),
      center_(problem.columns()),
      least_(problem.columns()),
      most_(problem.columns()),
      inside_(problem.columns(), 0) {
    if (directions > 0) free_.assign(problem.X.squares(), problem.X.squares() + problem.columns());
    for (int32_t j = 0; problem.grouped() && j < problem.columns(); ++j)
        coupled_.push_back(problem.X.square(j) * problem.coupling(j));
}

void ScreeningTableInMemory::add(const double* sides, int64_t count) {
    const size_t known = products_.size();
    for (int64_t k = 0; k < count; ++k) products_.emplace_back(problem_.columns());
    problem_.X.products(sides, count, [&](int64_t first, int64_t size, const double* values, int64_t ld) {
        for (int64_t k = 0; k < count; ++k) {
            const double* found = values + k * ld;
            std::copy(found, found + size, products_[known + k].begin() + first);
            for (int64_t c = 0; c < size; ++c) free_[first + c] = std::max(free_[first + c] - found[c] * found[c], 0.0);
        }
    });
}

void ScreeningTableInMemory::forget(size_t slot) {
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        for (int64_t j = begin; j < end; ++j) free_[j] += products_[slot][j] * products_[slot][j];
    });
    products_.erase(products_.begin() + static_cast<std::ptrdiff_t>(slot));
}

void ScreeningTableInMemory::combine(const std::vector<double>& coefficients) {
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        std::vector<const double*> columns;
        columns.reserve(products_.size());
        for (const auto& products : products_) columns.push_back(products.data() + begin);
        kernels::combine(columns.data(), coefficients.data(), std::ssize(columns), end - begin, center_.data() + begin);
    });
}

void ScreeningTableInMemory::extend(double step) {
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        for (int64_t j = begin; j < end; ++j) center_[j] += step * products_.back()[j];
    });
}

void ScreeningTableInMemory::read(const double* r) { problem_.X.all_dots(r, center_.data()); }

void ScreeningTableInMemory::bound_gains(double radius, const double* prices) {
    const Penalty& penalty = problem_.penalty;
    const double* square = problem_.grouped() ? coupled_.data() : problem_.X.squares();
    const double* free = radius > 0.0 ? free_.data() : problem_.X.squares();
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        kernels::gains(center_.data() + begin, free + begin, square + begin, radius, penalty.lambda_1, steepness_,
                       2.0 * penalty.lambda_2, end - begin, least_.data() + begin, most_.data() + begin);
        for (int64_t c = begin; penalty.boxed() && c < end; ++c) {
            const auto j = static_cast<int32_t>(c);
            const double reach = radius * std::sqrt(free[c] + 1e-12 * square[c]);
            const double down = penalty.entry_gain(center_[c] - reach, problem_.entry_curvature(j), j);
            const double up = penalty.entry_gain(center_[c] + reach, problem_.entry_curvature(j), j);
            least_[c] = std::abs(center_[c]) <= reach ? 0.0 : std::min(down, up);
            most_[c] = std::max(down, up);
        }
        for (int64_t c = begin; prices && c < end; ++c) {
            const double price = prices[c] > 0.0 ? prices[c] : 1.0;  // those without a price are in
            least_[c] /= price;
            most_[c] /= price;
        }
    });
    if (problem_.grouped()) sum_by_group();
}

void ScreeningTableInMemory::sum_by_group() {
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        for (int64_t c = begin; c < end; ++c) {
            const auto head = static_cast<int32_t>(c);
            if (!problem_.is_head(head)) continue;
            double least = 0.0, most = 0.0;
            for (const int32_t j : problem_.members(head)) {
                least += least_[j];
                most += most_[j];
                if (j != head) least_[j] = most_[j] = 0.0;
            }
            least_[c] = least;
            most_[c] = most;
        }
    });
}

double ScreeningTableInMemory::sure_gain(int rank) const {
    // Per chunk the best few, then the best few of those: the same whatever the number of threads.
    const int64_t p = problem_.columns();
    std::vector<std::vector<double>> best((p + chunk - 1) / chunk);
    problem_.X.team().run(p, chunk, [&](int64_t begin, int64_t end, int) {
        auto& heap = best[begin / chunk];  // the smallest of the kept gains on top
        for (int64_t c = begin; c < end; ++c) {
            const double gain = least_[c];
            if (std::ssize(heap) == rank && gain <= heap.front()) continue;
            if (inside_[c]) continue;
            if (std::ssize(heap) == rank) {
                std::pop_heap(heap.begin(), heap.end(), std::greater<>());
                heap.pop_back();
            }
            heap.push_back(gain);
            std::push_heap(heap.begin(), heap.end(), std::greater<>());
        }
    });
    std::vector<double> all;
    for (const auto& heap : best) all.insert(all.end(), heap.begin(), heap.end());
    if (std::ssize(all) < rank) return 0.0;
    std::nth_element(all.begin(), all.begin() + (rank - 1), all.end(), std::greater<>());
    return all[rank - 1];
}

std::vector<int32_t> ScreeningTableInMemory::in_doubt(double threshold, double& rest) const {
    const int64_t p = problem_.columns(), chunks = (p + chunk - 1) / chunk;
    std::vector<std::vector<int32_t>> lists(chunks);
    std::vector<double> rests(chunks, 0.0);
    problem_.X.team().run(p, chunk, [&](int64_t begin, int64_t end, int) {
        double& highest = rests[begin / chunk];
        for (int64_t c = begin; c < end; ++c) {
            const auto j = static_cast<int32_t>(c);
            const double gain = most_[c];
            if (gain <= std::min(threshold, highest) || inside_[c]) continue;
            if (gain > threshold) lists[begin / chunk].push_back(j);
            else highest = gain;
        }
    });
    std::vector<int32_t> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    for (const double bound : rests) rest = std::max(rest, bound);
    return all;
}

ScreeningTable::Found ScreeningTableInMemory::test(const Test& test) {
    bound_gains(test.radius, test.per_price ? problem_.penalty.prices : nullptr);
    for (const int32_t j : test.inside) inside_[j] = 1;
    Found out;
    // The column of that rank gains at least the sure gain of that rank, so nothing below it is needed.
    const double threshold = std::clamp(sure_gain(test.rank) * (1.0 - 1e-9), test.may, test.must);
    out.columns = in_doubt(threshold, out.rest);
    for (const int32_t j : test.inside) inside_[j] = 0;
    const Design& design = problem_.X.design();
    std::vector<int32_t> all;
    double bytes = 0.0;
    for (const int32_t head : out.columns)
        for (const int32_t j : problem_.members(head)) {
            all.push_back(j);
            bytes += static_cast<double>(design.bytes(j));
        }
    out.share = bytes / static_cast<double>(std::max<int64_t>(design.bytes(), 1));
    if (test.radius == 0.0) {
        for (const int32_t j : all) out.slopes.push_back(center_[j]);
    } else if (out.share <= test.readable) {
        problem_.X.dots(all, test.r, out.slopes);
    } else {
        out.columns.clear();
    }
    return out;
}

}  // namespace ellzero
