#include "ellzero/support/screening.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"
#include "ellzero/support/screening_table.hpp"

namespace ellzero {
namespace {
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
// A direction is as long as a column: of few columns, directions would cost a good part of the memory and of the time of X.
constexpr int64_t columns_per_direction = 16;
// With more than this share of the columns in doubt, a full read serves the following checks too.
constexpr double most_in_doubt = 0.25;
// Candidates beyond those that were asked for: as some enter, others fall behind. No more are put in order.
constexpr size_t spare = 64;
// Candidates that are fetched together where X is kept elsewhere.
constexpr size_t fetched_ahead = 32;
// Standard deviations of a random column's product with `rest` that the likely radius covers.
constexpr double likely_deviations = 3.0;
}  // namespace

Screening::Screening(const Problem& problem)
    : problem_(problem), steepness_(curvature_safety * problem.broad_loss().curvature_bound()) {
    const size_t affordable = std::max<size_t>(most_bytes / sizeof(double) / std::max<size_t>(problem.columns(), 1), 1);
    capacity_ =
        std::min({most_directions, static_cast<size_t>(problem.X.design().entries_per_column() * memory_share), affordable});
    capacity_ = std::min(capacity_, static_cast<size_t>(problem.columns() / columns_per_direction));
    if (problem.X.design().bytes() <= small_bytes) capacity_ = 0;
    const Penalty& penalty = problem.penalty;
    if (!penalty.boxed() && !problem.grouped())
        table_ = problem.X.design().screening_table(problem.X.numbers(penalty.unequal ? penalty.prices : nullptr),
                                                    {penalty.lambda_1, steepness_, 2.0 * penalty.lambda_2}, capacity_);
    elsewhere_ = table_ != nullptr;
    if (!elsewhere_) table_ = std::make_unique<ScreeningTableInMemory>(problem, steepness_, capacity_);
}

void Screening::project(const std::vector<double>& r) {
    const int64_t n = problem_.rows();
    if (root_.empty()) {
        root_.resize(n);
        for (int64_t i = 0; i < n; ++i) root_[i] = std::sqrt(problem_.w[i]);
    }
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
    table_->combine(coefficients_);
}

void Screening::forget(size_t slot) {
    table_->forget(slot);
    directions_.erase(directions_.begin() + static_cast<std::ptrdiff_t>(slot));
}

// Reads X for the last `count` directions, which are new.
void Screening::read(size_t count) {
    const int64_t n = problem_.rows();
    const size_t known = directions_.size() - count;
    std::vector<double> sides(static_cast<int64_t>(count) * n);
    for (size_t k = 0; k < count; ++k)
        for (int64_t i = 0; i < n; ++i) sides[static_cast<int64_t>(k) * n + i] = root_[i] * directions_[known + k][i];
    table_->add(sides.data(), static_cast<int64_t>(count));
    if (elsewhere_) problem_.X.count_pass();
}

// Centers the columns at their slopes.
void Screening::read_slopes(const Iterate& it) {
    table_->read(it.r.data());
    if (elsewhere_) problem_.X.count_pass();
}

void Screening::read_everything(const Iterate& it) {
    const int64_t n = problem_.rows();
    rented_ = 0.0;
    radius_ = 0.0;
    const double length = std::sqrt(kernels::dot(rest_.data(), rest_.data(), n));
    if (length <= no_direction * length_) {
        // Storing rounding errors would spoil the orthonormal set and with it the bound.
        read_slopes(it);
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
    table_->extend(length);
}

void Screening::put_in_order(Result& found, double must, int enough) {
    auto& all = found.candidates;
    const auto better = [](const Candidate& a, const Candidate& b) {
        return a.gain != b.gain ? a.gain > b.gain : a.column < b.column;
    };
    const auto required = std::count_if(all.begin(), all.end(), [&](const Candidate& each) { return each.gain > must; });
    const size_t kept = std::max(static_cast<size_t>(required), static_cast<size_t>(enough) + spare);
    if (all.size() > kept) {
        std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), better);
        found.rest = std::max(found.rest, all[kept].gain);
        all.resize(kept);
    }
    std::sort(all.begin(), all.end(), better);
}

size_t Screening::foresight() const { return std::min<size_t>(capacity_, problem_.X.design().sides_at_a_time()); }

void Screening::foresee(size_t count, const std::function<const std::vector<double>&(size_t)>& residual) {
    const size_t ahead = std::min(count, foresight());
    // Room is made first: what the new directions do not say of a residual, those that stay must.
    while (directions_.size() + ahead > capacity_) forget(0);
    size_t made = 0;
    for (size_t k = 0; k < ahead; ++k) {
        project(residual(k));
        const double length = std::sqrt(kernels::dot(rest_.data(), rest_.data(), problem_.rows()));
        if (length <= no_direction * length_) continue;
        for (double& entry : rest_) entry /= length;
        directions_.push_back(rest_);
        ++made;
    }
    if (made > 0) read(made);
}

Screening::Result Screening::above(const Iterate& it, double must, double may, int enough, Radius radius, Currency currency) {
    const bool per_price = problem_.penalty.unequal && currency == Currency::gain_per_price;
    if (capacity_ == 0) {  // reading everything is as cheap as bounding it
        read_slopes(it);
        radius_ = 0.0;
    } else {
        estimate(it, radius);
    }
    // Rent or buy: once the single reads have cost a full one, the full one is bought.
    const double readable = std::min(most_in_doubt, 1.0 - rented_);
    const auto test = [&] { return table_->test({radius_, per_price, enough, may, must, it.support, it.r.data(), readable}); };
    ScreeningTable::Found found = test();
    if (radius_ > 0.0 && found.share > readable) {
        read_everything(it);
        found = test();
    } else if (radius_ > 0.0) {
        rented_ += found.share;
        if (elsewhere_) problem_.X.count_bytes(found.share * static_cast<double>(problem_.X.design().bytes()));
    }
    Result out;
    out.rest = found.rest;
    const double* slope = found.slopes.data();
    for (const int32_t head : found.columns) {
        const double own = *slope;
        double gain = 0.0;
        for (const int32_t j : problem_.members(head))
            gain += problem_.penalty.entry_gain(*slope++, problem_.entry_curvature(j), j);
        if (per_price) gain /= problem_.penalty.prices[head];
        // Compared with `may`, not with the threshold: by the likely radius even a sure gain can turn out smaller.
        if (gain > may) out.candidates.push_back({head, own, gain});
        else out.rest = std::max(out.rest, gain);
    }
    put_in_order(out, must, enough);
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
