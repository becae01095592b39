#include "ellzero/swaps/swap_model.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
// The curvature that a column has left beside the support is never taken for less than this part of it: the products are
// float32.
constexpr double least_left = 1e-5;
// Nor is its curvature on a sample less than this part of what its square on all rows makes likely: entries may be rare.
constexpr double least_of_sample = 0.1;
constexpr double doubt = 4.0;  // standard deviations
constexpr int64_t features_per_chunk = 16 * kernels::tile_width;
// Groups that are ranked again, with the matrix of their columns; larger groups than this are not.
constexpr size_t ranked_twice = 128;
constexpr size_t most_in_a_block = 64;
constexpr size_t most_blocks = 4096;
constexpr int64_t work_between_polls = 1'000'000'000;  // multiplications
// The products may take up to this share of X (if that is in memory) or this many bytes, whichever is more; but a few features
// always fit.
constexpr double memory_share = 1.0 / 8.0;
constexpr double free_bytes = 64.0 * (1 << 20);
constexpr double least_capacity = 64.0;

bool better(const Swap& a, const Swap& b) { return a.change != b.change ? a.change < b.change : a.column < b.column; }

void keep_best(std::vector<Swap>& list, size_t most) {
    if (list.size() <= most) return;
    std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(most), list.end(), better);
    list.resize(most);
}

std::vector<Swap> merged(const std::vector<std::vector<Swap>>& lists, size_t most) {
    std::vector<Swap> out;
    for (const auto& list : lists) out.insert(out.end(), list.begin(), list.end());
    keep_best(out, most);
    std::sort(out.begin(), out.end(), better);
    return out;
}

Swap swapped(const Removal& removal, int32_t column, double change) {
    return {static_cast<size_t>(removal.positions.front()), column, change, removal.cost};
}

}  // namespace

SwapModel::SwapModel(const Problem& problem, double most_drift, const Problem* whole)
    : problem_(problem), whole_(whole ? *whole : problem), most_drift_(most_drift), hessian_(problem) {
    const Design& design = problem.X.design();
    const double bytes = std::max(design.distant() ? 0.0 : memory_share * static_cast<double>(design.bytes()), free_bytes);
    const auto columns = static_cast<double>(std::max<int64_t>(problem.columns(), 1));
    capacity_ = static_cast<size_t>(std::max(least_capacity, bytes / columns / sizeof(float)));
    if (!problem.penalty.boxed() && !problem.penalty.unequal && !problem.grouped())
        table_ = design.swap_table(problem.X.numbers(nullptr));
}

bool SwapModel::follow(const Iterate& it, const std::vector<int32_t>& features) {
    std::vector<double> d = finite_curvatures(problem_, it);
    std::vector<double> own(d.size());  // D's diagonal
    problem_.X.design().curvature_diagonal(d.data(), own.data());
    const double total = problem_.X.sum(own.data());
    if (total <= 1e-8 * problem_.broad_loss().curvature_bound()) return false;
    double drift = 0.0;
    if (!d_.empty()) {
        scale_ = total / problem_.X.sum(own_.data());
        drift = problem_.X.sum_over_rows([&](int64_t first, int64_t count) {
            double sum = 0.0;
            for (int64_t i = first; i < first + count; ++i) sum += std::abs(own[i] - scale_ * own_[i]);
            return sum;
        });
    }
    if (d_.empty() || drift > most_drift_ * total) {
        d_ = std::move(d);
        own_ = std::move(own);
        scale_ = 1.0;
        products_.clear();
        blocks_.clear();
        renew_curvatures();
    }
    std::vector<int32_t> missing;
    for (const int32_t j : features)
        if (!products_.contains(j)) missing.push_back(j);
    if (products_.size() + missing.size() > capacity_) forget_all_but(features);
    if (!missing.empty()) read_products(missing);
    return true;
}

void SwapModel::renew_curvatures() {
    if (!table_) {
        sums_.resize(problem_.X.blocks());
        problem_.X.curvatures(d_.data(), diagonal_, sums_.front());
        if (problem_.X.blocks() > 1 && problem_.intercept) read_sums();
        if (&whole_ == &problem_) return;
        const double mean = problem_.X.total_curvature(d_.data()) / static_cast<double>(problem_.X.blocks());
        for (int32_t j = 0; j < problem_.columns(); ++j)
            diagonal_[j] = std::max(diagonal_[j], static_cast<float>(least_of_sample * mean * whole_.X.square(j)));
        return;
    }
    table_->renew(d_.data());
    problem_.X.count_pass();
}

void SwapModel::forget_all_but(const std::vector<int32_t>& features) {
    const std::unordered_set<int32_t> needed(features.begin(), features.end());
    std::erase_if(products_, [&](const auto& entry) { return !needed.contains(entry.first); });
    if (table_) table_->keep(features);
}

void SwapModel::read_products(const std::vector<int32_t>& columns) {
    const int64_t n = problem_.rows();
    const int64_t most = problem_.X.design().sides_at_a_time();
    std::vector<double> sides(n * std::min<int64_t>(std::ssize(columns), most));
    for (int64_t start = 0; start < std::ssize(columns); start += most) {
        const auto count = std::min<int64_t>(std::ssize(columns) - start, most);
        std::vector<float*> rows;
        std::fill(sides.begin(), sides.end(), 0.0);
        const auto held = problem_.X.design().hold(std::span(columns).subspan(start, count));
        for (int64_t k = 0; k < count; ++k) {
            double* side = sides.data() + k * n;
            problem_.X.axpy(columns[start + k], 1.0, side);
            problem_.X.apply_curvature(d_.data(), side);
            auto& row = products_[columns[start + k]];
            if (!table_) row.resize(problem_.columns());
            rows.push_back(row.data());
        }
        if (table_) {
            table_->add(std::span(columns).subspan(start, count), sides.data());
            problem_.X.count_pass();
            continue;
        }
        problem_.X.products(sides.data(), count, [&](int64_t first, int64_t size, const double* values, int64_t ld) {
            for (int64_t k = 0; k < count; ++k)
                for (int64_t c = 0; c < size; ++c) rows[k][first + c] = static_cast<float>(values[k * ld + c]);
        });
    }
}

// Where a loss couples outputs, a column has a product with the constant of each.
void SwapModel::read_sums() {
    const int64_t n = problem_.rows(), blocks = problem_.X.blocks();
    std::vector<double> side(n), constants(blocks);
    for (int64_t l = 0; l < blocks; ++l) {
        sums_[l].resize(problem_.columns());
        std::fill(side.begin(), side.end(), 0.0);
        constants.assign(blocks, 0.0);
        constants[l] = 1.0;
        problem_.X.add_constants(constants.data(), side.data());
        problem_.X.design().apply_curvature(d_.data(), side.data());
        problem_.X.products(side.data(), 1, [&](int64_t first, int64_t size, const double* values, int64_t) {
            for (int64_t c = 0; c < size; ++c) sums_[l][first + c] = static_cast<float>(values[c]);
        });
    }
}

std::vector<const float*> SwapModel::rows_of(const Iterate& it) const {
    std::vector<const float*> rows;
    rows.reserve(it.support.size() + sums_.size());
    for (const int32_t j : it.support) rows.push_back(products_.at(j).data());
    for (int64_t l = 0; l < problem_.constants(); ++l) rows.push_back(sums_[l].data());
    return rows;
}

// Both forms of the formula, for a tile of columns at a time: where every feature is one column at the same price without a
// box, the kernel finds the best of all removals; else what columns gain is summed over their features first.
void SwapModel::rank_some(const Iterate& it, const double* slopes, size_t most, std::span<const int32_t> heads,
                          const Terms& terms, std::vector<Swap>& list) const {
    constexpr int64_t width = kernels::tile_width;
    const Penalty& penalty = problem_.penalty;
    const bool plain = !problem_.grouped() && !penalty.unequal && !penalty.boxed();
    const int64_t order = hessian_.order(), features = std::ssize(heads), leaving = std::ssize(removals_);
    const std::vector<const float*> rows = rows_of(it);
    std::vector<int32_t> columns;
    std::vector<int64_t> feature;  // of each column, its place among the heads
    for (int64_t f = 0; f < features; ++f)
        for (const int32_t j : problem_.members(heads[f])) {
            if (whole_.X.square(j) <= 0.0) continue;
            columns.push_back(j);
            feature.push_back(f);
        }
    std::vector<double> t(order * width), u(order * width), gains(plain ? 0 : leaving * features, 0.0);
    double left[width], slope[width];
    for (int64_t first = 0; first < std::ssize(columns); first += width) {
        const auto tile = std::span(columns).subspan(first, std::min<int64_t>(width, std::ssize(columns) - first));
        load_tile(rows, tile, t.data());
        kernels::solve_forward(hessian_.factor(), order, t.data(), left);
        kernels::solve_backward(hessian_.factor(), order, t.data(), u.data());
        const int64_t count = std::ssize(tile);
        for (int64_t l = 0; l < width; ++l) {
            const double data = l < count ? scale_ * static_cast<double>(diagonal_[tile[l]]) : 1.0;
            const double whole = data + 2.0 * penalty.lambda_2;
            left[l] = std::max({whole - left[l], least_left * whole, 1e-300});
            slope[l] = l < count ? slopes[tile[l]] : 0.0;
        }
        if (plain) {
            double spare[width], best[width];
            int64_t chosen[width];
            std::fill_n(spare, width, -penalty.lambda_1);
            std::fill_n(best, width, Penalty::infinity);
            std::fill_n(chosen, width, -1);
            for (int64_t k = 0; k < leaving; ++k) {
                const Removal& removal = removals_[k];
                kernels::improve_best(removal.cost, removal.pull.front(), removal.inverse.front(),
                                      u.data() + removal.positions.front() * width, slope, spare, left, k, best, chosen);
            }
            for (int64_t l = 0; l < count; ++l)
                if (chosen[l] >= 0) list.push_back(swapped(removals_[chosen[l]], tile[l], best[l]));
            continue;
        }
        for (int64_t k = 0; k < leaving; ++k) {
            double pulled[width], freed[width];
            kernels::quadratic_forms(removals_[k].inverse.data(), removals_[k].pull.data(), removals_[k].positions.data(),
                                     std::ssize(removals_[k].positions), u.data(), pulled, freed);
            for (int64_t l = 0; l < count; ++l) {
                const double steep = problem_.coupling(tile[l]) * (left[l] + freed[l]) - 2.0 * penalty.lambda_2;
                gains[k * features + feature[first + l]] +=
                    penalty.entry_gain(slope[l] - pulled[l], std::max(steep, 1e-300), tile[l]);
            }
        }
    }
    for (int64_t f = 0; f < features && !plain; ++f) {
        const Swap best = best_for(it, heads[f], terms, [&](int64_t k) { return gains[k * features + f]; });
        if (best.change < Penalty::infinity) list.push_back(best);
    }
    keep_best(list, most);
}

// The products of columns with the support, a side for each.
void SwapModel::load_tile(std::span<const float* const> rows, std::span<const int32_t> columns, double* t) const {
    constexpr int64_t width = kernels::tile_width;
    const int64_t count = std::ssize(columns);
    const bool neighbours = columns.back() - columns.front() == count - 1;
    for (size_t a = 0; a < rows.size(); ++a) {
        double* row = t + static_cast<int64_t>(a) * width;
        if (neighbours) kernels::widen(scale_, rows[a] + columns.front(), count, row);
        for (int64_t l = 0; l < count && !neighbours; ++l) row[l] = scale_ * static_cast<double>(rows[a][columns[l]]);
        std::fill(row + count, row + width, 0.0);
    }
}

template <class Gain>
Swap SwapModel::best_for(const Iterate& it, int32_t head, const Terms& terms, const Gain& gain) const {
    Swap best{0, head, Penalty::infinity, 0.0};
    for (int64_t k = 0; k < std::ssize(removals_); ++k) {
        const double dearer = problem_.penalty.price(head) - problem_.penalty.price(removals_[k].head);
        if (it.spent + dearer > terms.budget) continue;
        const double change = removals_[k].cost + terms.lambda_0 * dearer - gain(k);
        if (change < best.change) best = swapped(removals_[k], head, change);
    }
    return best;
}

bool SwapModel::prepare(const Iterate& it) {
    if (it.size == 0 || !follow(it, it.support)) return false;
    std::vector<double> d(d_);
    for (double& value : d) value *= scale_;
    hessian_.follow(it, d, true);
    removals_ = hessian_.removals(it);
    // On a sample, what a swap gains is off by a share of what its removal costs: of dear removals, more is left to be tried.
    if (&whole_ != &problem_)
        for (Removal& removal : removals_) removal.cost *= 1.0 - doubt / std::sqrt(static_cast<double>(problem_.rows()));
    return true;
}

void SwapModel::read_slopes(const double* residuals, int64_t count) {
    if (table_) {
        table_->read_slopes(residuals, count);
        problem_.X.count_pass();
        return;
    }
    slopes_.resize(problem_.columns() * count);
    problem_.X.products(residuals, count, slopes_.data());
}

std::vector<Swap> SwapModel::rank_read(const Iterate& it, int64_t which, size_t most) {
    return table_ ? rank_elsewhere(it, which, most) : rank(it, slopes_.data() + which * problem_.columns(), most);
}

std::vector<Swap> SwapModel::rank_elsewhere(const Iterate& it, int64_t which, size_t most) {
    if (!prepare(it)) return {};
    std::vector<int32_t> removable;
    std::vector<double> variance(it.support.size(), 0.0), cost(it.support.size(), 0.0);
    for (const Removal& removal : removals_) {
        const int64_t k = removal.positions.front();
        removable.push_back(static_cast<int32_t>(k));
        variance[k] = 1.0 / removal.inverse.front();
        cost[k] = removal.cost;
    }
    const size_t order = hessian_.order();
    const auto found = table_->rank({which,
                                     it.support,
                                     removable,
                                     it.beta,
                                     variance,
                                     {hessian_.factor(), order * (order + 1) / 2},
                                     scale_,
                                     problem_.penalty.lambda_1,
                                     2.0 * problem_.penalty.lambda_2,
                                     least_left,
                                     static_cast<int64_t>(most)});
    std::vector<Swap> out;
    out.reserve(found.size());
    for (const auto& [column, position, change] : found)
        out.push_back({static_cast<size_t>(position), column, change, cost[position]});
    problem_.X.monitor().poll();
    return out;
}

std::vector<Swap> SwapModel::rank(const Iterate& it, const double* slopes, size_t most, const Terms& terms) {
    if (table_) {  // the slopes are here, and so is the rest from now on
        table_.reset();
        d_.clear();
        products_.clear();
    }
    if (!prepare(it)) return {};
    std::vector<int32_t> heads;
    for (int32_t j = 0; j < problem_.columns(); ++j)
        if (problem_.is_head(j) && !it.contains(j) && whole_.varies(j)) heads.push_back(j);
    const int64_t features = std::ssize(heads), work = hessian_.order() * hessian_.order() + 1;
    const int64_t piece = features_per_chunk * std::max<int64_t>(1, work_between_polls / (work * features_per_chunk));
    std::vector<std::vector<Swap>> found((features + features_per_chunk - 1) / features_per_chunk);
    for (int64_t start = 0; start < features; start += piece) {
        const int64_t count = std::min(piece, features - start);
        problem_.X.team().run(count, features_per_chunk, [&](int64_t begin, int64_t end, int) {
            rank_some(it, slopes, most, std::span(heads).subspan(start + begin, end - begin), terms,
                      found[(start + begin) / features_per_chunk]);
        }, count * work);
        problem_.X.monitor().poll();
    }
    if (!problem_.grouped()) return merged(found, most);
    return merged({ranked_again(it, slopes, merged(found, std::max(ranked_twice, most)), terms)}, most);
}

const std::vector<double>& SwapModel::block(int32_t head, const std::vector<int32_t>& columns) {
    if (blocks_.size() >= most_blocks && !blocks_.contains(head)) blocks_.clear();
    std::vector<double>& found = blocks_[head];
    if (found.empty()) {
        const auto held = problem_.X.design().hold(columns);
        problem_.X.gram(columns, d_.data(), found);
    }
    return found;
}

std::vector<SwapModel::Entering> SwapModel::entering(std::span<const float* const> rows, std::span<const Swap> swaps) {
    constexpr int64_t width = kernels::tile_width;
    const int64_t order = hessian_.order();
    std::vector<Entering> out(swaps.size());
    // 1. The columns of all groups, as many at a time as a tile holds.
    struct Place {
        size_t group;
        int64_t member;
    };
    std::vector<Place> places;
    std::vector<int32_t> columns;
    std::vector<std::vector<double>> forward(swaps.size());  // L^-1 of the products with the support
    for (size_t g = 0; g < swaps.size(); ++g) {
        for (const int32_t j : problem_.members(swaps[g].column))
            if (problem_.X.square(j) > 0.0) out[g].columns.push_back(j);
        if (out[g].columns.size() > most_in_a_block) out[g].columns.clear();
        const int64_t m = std::ssize(out[g].columns);
        for (int64_t a = 0; a < m; ++a) places.push_back({g, a});
        columns.insert(columns.end(), out[g].columns.begin(), out[g].columns.end());
        out[g].along.resize(m * order);
        forward[g].resize(m * order);
        if (m > 0) block(swaps[g].column, out[g].columns);
    }
    const int64_t tiles = (std::ssize(places) + width - 1) / width;
    problem_.X.team().run(tiles, 1, [&](int64_t begin, int64_t end, int) {
        std::vector<double> t(order * width), u(order * width);
        double squares[width];
        for (int64_t first = begin * width; first < std::min<int64_t>(end * width, std::ssize(places)); first += width) {
            const int64_t count = std::min<int64_t>(width, std::ssize(places) - first);
            load_tile(rows, std::span(columns).subspan(first, count), t.data());
            kernels::solve_forward(hessian_.factor(), order, t.data(), squares);
            kernels::solve_backward(hessian_.factor(), order, t.data(), u.data());
            for (int64_t l = 0; l < count; ++l)
                for (int64_t a = 0; a < order; ++a) {
                    const auto [g, member] = places[first + l];
                    forward[g][member * order + a] = t[a * width + l];
                    out[g].along[member * order + a] = u[a * width + l];
                }
        }
    }, std::ssize(places) * order * order);
    // 2. What is left of each group's products beside the support.
    for (size_t g = 0; g < swaps.size(); ++g) {
        Entering& in = out[g];
        const int64_t m = std::ssize(in.columns), ld = m + problem_.X.blocks();
        if (m == 0) continue;
        const std::vector<double>& gram = block(swaps[g].column, in.columns);
        in.left.resize(m * m);
        for (int64_t a = 0; a < m; ++a) {
            in.whole.push_back(scale_ * gram[a * ld + a] + 2.0 * problem_.penalty.lambda_2);
            for (int64_t b = 0; b <= a; ++b)
                in.left[a * m + b] = (a == b ? in.whole[a] : scale_ * gram[a * ld + b]) -
                                     kernels::dot(&forward[g][a * order], &forward[g][b * order], order);
        }
    }
    return out;
}

double SwapModel::gain(const Entering& in, const Removal& removal, const double* slopes) const {
    const int64_t m = std::ssize(in.columns), order = hessian_.order(), leaving = std::ssize(removal.positions);
    std::vector<double> matrix(m * m), slope(m), freed(leaving);
    for (int64_t a = 0; a < m; ++a) {
        const double* at = &in.along[a * order];
        double g = slopes[in.columns[a]];
        for (int64_t c = 0; c < leaving; ++c) {
            g -= at[removal.positions[c]] * removal.pull[c];
            freed[c] = 0.0;
            for (int64_t b = 0; b < leaving; ++b) freed[c] += removal.inverse[c * leaving + b] * at[removal.positions[b]];
        }
        slope[a] = std::copysign(std::max(std::abs(g) - problem_.penalty.lambda_1, 0.0), g);
        for (int64_t b = 0; b <= a; ++b) {
            double entry = in.left[a * m + b];
            for (int64_t c = 0; c < leaving; ++c) entry += freed[c] * in.along[b * order + removal.positions[c]];
            if (a == b) entry = std::max(entry, least_left * in.whole[a]);
            matrix[a * m + b] = matrix[b * m + a] = entry;
        }
    }
    return 0.5 * inverse_form(matrix, slope);
}

std::vector<Swap> SwapModel::ranked_again(const Iterate& it, const double* slopes, std::span<const Swap> swaps,
                                          const Terms& terms) {
    const std::vector<Entering> all = entering(rows_of(it), swaps);
    std::vector<Swap> out(swaps.begin(), swaps.end());
    problem_.X.team().run(std::ssize(swaps), 8, [&](int64_t begin, int64_t end, int) {
        for (int64_t g = begin; g < end; ++g) {
            if (all[g].columns.empty()) continue;  // too many to rank them again
            out[g] = best_for(it, swaps[g].column, terms, [&](int64_t k) { return gain(all[g], removals_[k], slopes); });
        }
    }, std::ssize(swaps) * std::ssize(removals_) * 1000);
    std::erase_if(out, [](const Swap& swap) { return !(swap.change < Penalty::infinity); });
    return out;
}

}  // namespace ellzero
