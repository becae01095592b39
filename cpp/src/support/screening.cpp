#include "ellzero/support/screening.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
constexpr int64_t chunk = 4096;
// A column's products may take up to this share of its own bytes (in float64): cheap to keep and cheap to combine beside
// reading X.
constexpr double memory_share = 1.0 / 32.0;
// Directions: half of them for residuals that are foreseen, as many as one read of X serves; fewer where there are so many
// columns that memory counts.
constexpr size_t most_directions = 2 * Design::most_sides;
constexpr size_t most_bytes = size_t{1} << 29;
// A rest of a residual beside the directions that is this small, relative to its length, is rounding and makes no direction.
constexpr double no_direction = 1e-8;
// So small an X stays in the cache, where reading it is as cheap as bounding it. Small problems are then searched alike whether
// a row is there twice or has twice the weight.
constexpr int64_t small_bytes = 1 << 18;
// With more than this share of the columns in doubt, a full read serves the following checks too.
constexpr double most_in_doubt = 0.25;
// Candidates that are fetched together where X is kept elsewhere.
constexpr size_t fetched_ahead = 32;
// Standard deviations of a random column's product with `rest` that the likely radius covers.
constexpr double likely_deviations = 3.0;
}  // namespace

Screening::Screening(const Problem& problem)
    : problem_(problem),
      steepness_(curvature_safety * problem.broad_loss().curvature_bound()),
      center_(problem.columns()),
      least_(problem.columns()),
      most_(problem.columns()),
      root_(problem.rows()) {
    const size_t affordable = std::max<size_t>(most_bytes / sizeof(double) / std::max<size_t>(problem.columns(), 1), 1);
    capacity_ =
        std::min({most_directions, static_cast<size_t>(problem.X.design().entries_per_column() * memory_share), affordable});
    if (problem.X.design().bytes() <= small_bytes) capacity_ = 0;
    if (capacity_ > 0) free_.assign(problem.X.squares(), problem.X.squares() + problem.columns());
    for (int64_t i = 0; i < problem.rows(); ++i) root_[i] = std::sqrt(problem.w[i]);
    for (int32_t j = 0; problem.groups && j < problem.columns(); ++j)
        coupled_.push_back(problem.X.square(j) * problem.coupling(j));
}

void Screening::project(const std::vector<double>& r) {
    const int64_t n = problem_.rows();
    rest_.resize(n);
    for (int64_t i = 0; i < n; ++i) rest_[i] = root_[i] > 0.0 ? r[i] / root_[i] : 0.0;
    length_ = std::sqrt(kernels::dot(rest_.data(), rest_.data(), n));
    coefficients_.assign(directions_.size(), 0.0);
    // Twice: one round of Gram-Schmidt leaves a remainder that is not orthogonal to working precision.
    for (int round = 0; round < 2; ++round)
        for (size_t k = 0; k < directions_.size(); ++k) {
            const double c = kernels::dot(directions_[k].data(), rest_.data(), n);
            coefficients_[k] += c;
            kernels::axpy(-c, directions_[k].data(), n, rest_.data());
        }
}

void Screening::estimate(const Iterate& it, Radius radius) {
    const int64_t n = problem_.rows();
    project(it.r);
    // The margin covers the rounding of the stored products.
    radius_ = std::sqrt(kernels::dot(rest_.data(), rest_.data(), n)) + 1e-13 * length_;
    if (radius == Radius::likely) radius_ *= std::min(1.0, likely_deviations / std::sqrt(static_cast<double>(n)));
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        const double* columns[most_directions];
        for (size_t k = 0; k < products_.size(); ++k) columns[k] = products_[k].data() + begin;
        kernels::combine(columns, coefficients_.data(), static_cast<int64_t>(products_.size()), end - begin,
                         center_.data() + begin);
    });
}

// Takes a direction out: what its products explained of each column is unexplained again.
void Screening::forget(size_t slot) {
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        for (int64_t j = begin; j < end; ++j) free_[j] += products_[slot][j] * products_[slot][j];
    });
    products_.erase(products_.begin() + static_cast<std::ptrdiff_t>(slot));
    directions_.erase(directions_.begin() + static_cast<std::ptrdiff_t>(slot));
}

// Reads X for the last `count` directions, which are new.
void Screening::read(size_t count) {
    const int64_t n = problem_.rows(), p = problem_.columns();
    const size_t known = directions_.size() - count;
    std::vector<double> sides(static_cast<int64_t>(count) * n);
    for (size_t k = 0; k < count; ++k) {
        for (int64_t i = 0; i < n; ++i) sides[static_cast<int64_t>(k) * n + i] = root_[i] * directions_[known + k][i];
        products_.emplace_back(p);
    }
    problem_.X.products(sides.data(), static_cast<int64_t>(count),
                        [&](int64_t first, int64_t size, const double* values, int64_t ld) {
        for (size_t k = 0; k < count; ++k) {
            const double* found = values + static_cast<int64_t>(k) * ld;
            std::copy(found, found + size, products_[known + k].begin() + first);
            for (int64_t c = 0; c < size; ++c) free_[first + c] = std::max(free_[first + c] - found[c] * found[c], 0.0);
        }
    });
}

void Screening::read_everything(const Iterate& it) {
    const int64_t n = problem_.rows();
    rented_ = 0.0;
    radius_ = 0.0;
    const double length = std::sqrt(kernels::dot(rest_.data(), rest_.data(), n));
    if (length <= no_direction * length_) {
        // Storing rounding errors would spoil the orthonormal set and with it the bound.
        problem_.X.all_dots(it.r.data(), center_.data());
        return;
    }
    if (directions_.size() == capacity_) {
        // The direction that explains least of the present residual makes room.
        const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
        forget(
            static_cast<size_t>(std::min_element(coefficients_.begin(), coefficients_.end(), smaller) - coefficients_.begin()));
    }
    for (double& entry : rest_) entry /= length;
    directions_.push_back(rest_);
    read(1);
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        for (int64_t j = begin; j < end; ++j) center_[j] += length * products_.back()[j];
    });
}

size_t Screening::foresight() const { return std::min<size_t>(capacity_, Design::most_sides); }

void Screening::foresee(const std::vector<std::vector<double>>& residuals) {
    const size_t ahead = std::min(residuals.size(), foresight());
    // Room is made first: what the new directions do not say of a residual, those that stay must.
    while (directions_.size() + ahead > capacity_) forget(0);
    size_t count = 0;
    for (size_t k = 0; k < ahead; ++k) {
        project(residuals[k]);
        const double length = std::sqrt(kernels::dot(rest_.data(), rest_.data(), problem_.rows()));
        if (length <= no_direction * length_) continue;
        for (double& entry : rest_) entry /= length;
        directions_.push_back(rest_);
        ++count;
    }
    if (count > 0) read(count);
}

void Screening::bound_gains(const double* prices) {
    const Penalty& penalty = problem_.penalty;
    const double* square = problem_.groups ? coupled_.data() : problem_.X.squares();
    const double* free = radius_ > 0.0 ? free_.data() : problem_.X.squares();
    problem_.X.team().run(problem_.columns(), chunk, [&](int64_t begin, int64_t end, int) {
        kernels::gains(center_.data() + begin, free + begin, square + begin, radius_, penalty.lambda_1, steepness_,
                       2.0 * penalty.lambda_2, end - begin, least_.data() + begin, most_.data() + begin);
        for (int64_t c = begin; penalty.boxed() && c < end; ++c) {
            const auto j = static_cast<int32_t>(c);
            const double reach = radius_ * std::sqrt(free[c] + 1e-12 * square[c]);
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
    if (problem_.groups) sum_by_group();
}

void Screening::sum_by_group() {
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

double Screening::sure_gain(const Iterate& it, int rank) const {
    // Per chunk the best few, then the best few of those: the same whatever the number of threads.
    const int64_t p = problem_.columns();
    std::vector<std::vector<double>> best((p + chunk - 1) / chunk);
    problem_.X.team().run(p, chunk, [&](int64_t begin, int64_t end, int) {
        auto& heap = best[begin / chunk];  // the smallest of the kept gains on top
        for (int64_t c = begin; c < end; ++c) {
            const auto j = static_cast<int32_t>(c);
            const double gain = least_[c];
            if (std::ssize(heap) == rank && gain <= heap.front()) continue;
            if (it.contains(j)) continue;
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

std::vector<int32_t> Screening::in_doubt(const Iterate& it, double threshold, double& rest) const {
    const int64_t p = problem_.columns(), chunks = (p + chunk - 1) / chunk;
    std::vector<std::vector<int32_t>> lists(chunks);
    std::vector<double> rests(chunks, 0.0);
    problem_.X.team().run(p, chunk, [&](int64_t begin, int64_t end, int) {
        double& highest = rests[begin / chunk];
        for (int64_t c = begin; c < end; ++c) {
            const auto j = static_cast<int32_t>(c);
            const double gain = most_[c];
            if (gain <= std::min(threshold, highest) || it.contains(j)) continue;
            if (gain > threshold) lists[begin / chunk].push_back(j);
            else highest = gain;
        }
    });
    std::vector<int32_t> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    for (const double bound : rests) rest = std::max(rest, bound);
    return all;
}

Screening::Result Screening::above(const Iterate& it, double must, double may, int enough, Radius radius, Currency currency) {
    const bool per_price = problem_.penalty.unequal && currency == Currency::gain_per_price;
    const double* prices = per_price ? problem_.penalty.prices : nullptr;
    if (capacity_ == 0) {  // reading everything is as cheap as bounding it
        problem_.X.all_dots(it.r.data(), center_.data());
        radius_ = 0.0;
    } else {
        estimate(it, radius);
    }
    bound_gains(prices);
    Result out;
    // The `enough`-th best column gains at least the sure gain of that rank, so nothing below it is needed.
    const auto threshold = [&] { return std::clamp(sure_gain(it, enough) * (1.0 - 1e-9), may, must); };
    std::vector<int32_t> columns = in_doubt(it, threshold(), out.rest);
    if (radius_ > 0.0) {
        double bytes = 0.0;
        for (const int32_t head : columns)
            for (const int32_t j : problem_.members(head)) bytes += static_cast<double>(problem_.X.design().bytes(j));
        const double share = bytes / static_cast<double>(std::max<int64_t>(problem_.X.design().bytes(), 1));
        // Rent or buy: once the single reads have cost a full one, the full one is bought.
        if (share > most_in_doubt || rented_ + share > 1.0) {
            read_everything(it);
            bound_gains(prices);
            out.rest = 0.0;
            columns = in_doubt(it, threshold(), out.rest);
        } else {
            rented_ += share;
        }
    }
    if (radius_ > 0.0) {
        std::vector<int32_t> all;
        for (const int32_t head : columns)
            for (const int32_t j : problem_.members(head)) all.push_back(j);
        std::vector<double> slopes;
        problem_.X.dots(all, it.r.data(), slopes);
        for (size_t k = 0; k < all.size(); ++k) center_[all[k]] = slopes[k];
    }
    for (const int32_t head : columns) {
        double gain = problem_.entry_gain(head, center_.data());
        if (prices) gain /= prices[head];
        // Compared with `may`, not with the threshold: by the likely radius even a sure gain can turn out smaller.
        if (gain > may) out.candidates.push_back({head, center_[head], gain});
        else out.rest = std::max(out.rest, gain);
    }
    std::sort(out.candidates.begin(), out.candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.gain != b.gain ? a.gain > b.gain : a.column < b.column; });
    // Callers look at the best ones, one by one.
    if (problem_.X.design().distant()) {
        std::vector<int32_t> next;
        for (size_t k = 0; k < std::min(out.candidates.size(), fetched_ahead); ++k) {
            const Members members = problem_.members(out.candidates[k].column);
            if (next.empty() || next.size() + members.size() <= fetched_ahead)
                next.insert(next.end(), members.begin(), members.end());
        }
        problem_.X.design().hold(next);
    }
    problem_.X.monitor().poll();
    return out;
}

}  // namespace ellzero
