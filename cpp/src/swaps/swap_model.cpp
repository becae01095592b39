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
constexpr int64_t tiles_per_chunk = 16;
constexpr int64_t groups_per_chunk = 64;
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

}  // namespace

SwapModel::SwapModel(const Problem& problem, double most_drift)
    : problem_(problem), most_drift_(most_drift), hessian_(problem) {
    const Design& design = problem.X.design();
    const double bytes = std::max(design.distant() ? 0.0 : memory_share * static_cast<double>(design.bytes()), free_bytes);
    const auto columns = static_cast<double>(std::max<int64_t>(problem.columns(), 1));
    capacity_ = static_cast<size_t>(std::max(least_capacity, bytes / columns / sizeof(float)));
    if (!problem.penalty.boxed() && !problem.penalty.unequal && !problem.groups)
        table_ = design.swap_table(problem.X.numbers(nullptr));
}

bool SwapModel::follow(const Iterate& it, const std::vector<int32_t>& features) {
    std::vector<double> d(it.d), r(it.r.size());
    if (problem_.loss.has_kink())
        problem_.broad_loss().evaluate(problem_.rows(), it.eta.data(), problem_.y, problem_.w, r.data(), d.data());
    std::vector<double> own(d.size());  // D's diagonal
    problem_.X.design().curvature_diagonal(d.data(), own.data());
    const double total = kernels::sum(own.data(), problem_.rows());
    if (total <= 1e-8 * problem_.broad_loss().curvature_bound()) return false;
    double drift = 0.0;
    if (!d_.empty()) {
        scale_ = total / kernels::sum(own_.data(), problem_.rows());
        for (size_t i = 0; i < own.size(); ++i) drift += std::abs(own[i] - scale_ * own_[i]);
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
            problem_.X.design().apply_curvature(d_.data(), side);
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

void SwapModel::rank_tiles(const Iterate& it, const double* slopes, size_t most, int64_t begin, int64_t end, const Terms& terms,
                           std::vector<Swap>& list) const {
    constexpr int64_t width = kernels::tile_width;
    const Penalty& penalty = problem_.penalty;
    const int64_t p = problem_.columns(), order = hessian_.order(), size = std::ssize(it.support);
    const std::vector<const float*> rows = rows_of(it);
    std::vector<double> t(order * width), u(order * width);
    double left[width], slope[width], spare[width], best[width];
    int64_t chosen[width];
    for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t first = tile * width, count = std::min(width, p - first);
        for (int64_t a = 0; a < order; ++a) {
            kernels::widen(scale_, rows[a] + first, count, t.data() + a * width);
            std::fill(t.begin() + a * width + count, t.begin() + (a + 1) * width, 0.0);
        }
        kernels::solve_forward(hessian_.factor(), order, t.data(), left);
        kernels::solve_backward(hessian_.factor(), order, t.data(), u.data());
        for (int64_t l = 0; l < width; ++l) {
            const bool real = l < count;
            const double data = real ? scale_ * static_cast<double>(diagonal_[first + l]) : 1.0;
            const double whole = data + 2.0 * penalty.lambda_2;
            left[l] = std::max({whole - left[l], least_left * whole, 1e-300});
            slope[l] = real ? slopes[first + l] : 0.0;
            spare[l] = -penalty.lambda_1;
            best[l] = Penalty::infinity;
            chosen[l] = -1;
        }
        for (int64_t k = 0; k < size && !penalty.unequal; ++k) {
            if (!penalty.counted(it.support[k])) continue;
            const double inverse = 1.0 / variance_[k], pull = it.beta[k] * inverse;
            kernels::improve_best(0.5 * it.beta[k] * pull, pull, inverse, u.data() + k * width, slope, spare, left, k, best,
                                  chosen);
        }
        for (int64_t l = 0; l < count; ++l) {
            const auto j = static_cast<int32_t>(first + l);
            if (it.contains(j) || problem_.X.square(j) <= 0.0) continue;
            if (penalty.unequal) {
                const Swap swap = best_at_prices(it, j, slope[l], left[l], u.data() + l, width, terms);
                if (swap.change < Penalty::infinity) list.push_back(swap);
                continue;
            }
            if (chosen[l] < 0) continue;
            const int64_t k = chosen[l];
            const double inverse = 1.0 / variance_[k], b = it.beta[k], cost = 0.5 * b * b * inverse, at = u[k * width + l];
            double change = best[l];
            if (penalty.boxed())
                change = cost - penalty.entry_gain(slope[l] - b * at * inverse,
                                                   left[l] + at * at * inverse - 2.0 * penalty.lambda_2, j);
            if (!std::isnan(change)) list.push_back({static_cast<size_t>(k), j, change, cost});
        }
    }
    keep_best(list, most);
}

void SwapModel::rank_groups(const Iterate& it, const double* slopes, size_t most, std::span<const int32_t> heads,
                            const Terms& terms, std::vector<Swap>& list) const {
    constexpr int64_t width = kernels::tile_width;
    const Penalty& penalty = problem_.penalty;
    const int64_t order = hessian_.order(), groups = std::ssize(heads), leaving = std::ssize(removals_);
    const std::vector<const float*> rows = rows_of(it);
    std::vector<int32_t> columns;
    std::vector<int64_t> group;  // of each column, its place among the heads
    for (int64_t g = 0; g < groups; ++g)
        for (const int32_t j : problem_.members(heads[g])) {
            if (problem_.X.square(j) <= 0.0) continue;
            columns.push_back(j);
            group.push_back(g);
        }
    std::vector<double> t(order * width), u(order * width), gains(leaving * groups, 0.0);
    double left[width];
    for (int64_t first = 0; first < std::ssize(columns); first += width) {
        const int64_t count = std::min<int64_t>(width, std::ssize(columns) - first);
        std::fill(t.begin(), t.end(), 0.0);
        for (int64_t a = 0; a < order; ++a)
            for (int64_t l = 0; l < count; ++l) t[a * width + l] = scale_ * static_cast<double>(rows[a][columns[first + l]]);
        kernels::solve_forward(hessian_.factor(), order, t.data(), left);
        kernels::solve_backward(hessian_.factor(), order, t.data(), u.data());
        for (int64_t l = 0; l < count; ++l) {
            const double whole = scale_ * static_cast<double>(diagonal_[columns[first + l]]) + 2.0 * penalty.lambda_2;
            left[l] = std::max({whole - left[l], least_left * whole, 1e-300});
        }
        for (int64_t k = 0; k < leaving; ++k) {
            double pulled[width], freed[width];
            kernels::quadratic_forms(removals_[k].inverse.data(), removals_[k].pull.data(), removals_[k].positions.data(),
                                     std::ssize(removals_[k].positions), u.data(), pulled, freed);
            for (int64_t l = 0; l < count; ++l) {
                const int32_t j = columns[first + l];
                const double steep = problem_.coupling(j) * (left[l] + freed[l]) - 2.0 * penalty.lambda_2;
                gains[k * groups + group[first + l]] += penalty.entry_gain(slopes[j] - pulled[l], std::max(steep, 1e-300), j);
            }
        }
    }
    for (int64_t g = 0; g < groups; ++g) {
        Swap best{0, heads[g], Penalty::infinity, 0.0};
        for (int64_t k = 0; k < leaving; ++k) {
            const Removal& removal = removals_[k];
            const double dearer = penalty.unequal ? penalty.price(heads[g]) - penalty.price(removal.head) : 0.0;
            if (it.spent + dearer > terms.budget) continue;
            const double change = removal.cost + terms.lambda_0 * dearer - gains[k * groups + g];
            if (change < best.change) best = {static_cast<size_t>(removal.positions.front()), heads[g], change, removal.cost};
        }
        if (best.change < Penalty::infinity) list.push_back(best);
    }
    keep_best(list, most);
}

Swap SwapModel::best_at_prices(const Iterate& it, int32_t j, double slope, double left, const double* u, int64_t width,
                               const Terms& terms) const {
    const Penalty& penalty = problem_.penalty;
    Swap best{0, j, Penalty::infinity, 0.0};
    for (int64_t k = 0; k < std::ssize(it.support); ++k) {
        if (!penalty.counted(it.support[k])) continue;
        const double dearer = penalty.price(j) - penalty.price(it.support[k]);
        if (it.spent + dearer > terms.budget) continue;
        const double inverse = 1.0 / variance_[k], b = it.beta[k], cost = 0.5 * b * b * inverse, at = u[k * width];
        const double change =
            cost + terms.lambda_0 * dearer -
            penalty.entry_gain(slope - b * at * inverse, left + at * at * inverse - 2.0 * penalty.lambda_2, j);
        if (change < best.change) best = {static_cast<size_t>(k), j, change, cost};
    }
    return best;
}

bool SwapModel::prepare(const Iterate& it) {
    if (it.size == 0 || !follow(it, it.support)) return false;
    std::vector<double> d(d_);
    for (double& value : d) value *= scale_;
    hessian_.follow(it, d, true);
    if (!problem_.groups) variance_ = hessian_.inverse_diagonal();
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
    for (size_t k = 0; k < it.support.size(); ++k)
        if (problem_.penalty.counted(it.support[k])) removable.push_back(static_cast<int32_t>(k));
    const size_t order = hessian_.order();
    const auto found = table_->rank({which,
                                     it.support,
                                     removable,
                                     it.beta,
                                     variance_,
                                     {hessian_.factor(), order * (order + 1) / 2},
                                     scale_,
                                     problem_.penalty.lambda_1,
                                     2.0 * problem_.penalty.lambda_2,
                                     least_left,
                                     static_cast<int64_t>(most)});
    std::vector<Swap> out;
    out.reserve(found.size());
    for (const auto& [column, position, change] : found)
        out.push_back(
            {static_cast<size_t>(position), column, change, 0.5 * it.beta[position] * it.beta[position] / variance_[position]});
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
    if (problem_.groups) return rank_all_groups(it, slopes, most, terms);
    const int64_t tiles = (problem_.columns() + kernels::tile_width - 1) / kernels::tile_width;
    const int64_t work_per_tile = kernels::tile_width * hessian_.order() * hessian_.order() + 1;
    const int64_t piece = tiles_per_chunk * std::max<int64_t>(1, work_between_polls / (work_per_tile * tiles_per_chunk));
    std::vector<std::vector<Swap>> found((tiles + tiles_per_chunk - 1) / tiles_per_chunk);
    for (int64_t start = 0; start < tiles; start += piece) {
        const int64_t count = std::min(piece, tiles - start);
        problem_.X.team().run(count, tiles_per_chunk, [&](int64_t begin, int64_t end, int) {
            rank_tiles(it, slopes, most, start + begin, start + end, terms, found[(start + begin) / tiles_per_chunk]);
        }, count * work_per_tile);
        problem_.X.monitor().poll();
    }
    return merged(found, most);
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
    std::vector<std::vector<double>> forward(swaps.size());  // L^-1 of the products with the support
    for (size_t g = 0; g < swaps.size(); ++g) {
        for (const int32_t j : problem_.members(swaps[g].column))
            if (problem_.X.square(j) > 0.0) out[g].columns.push_back(j);
        if (out[g].columns.size() > most_in_a_block) out[g].columns.clear();
        const int64_t m = std::ssize(out[g].columns);
        for (int64_t a = 0; a < m; ++a) places.push_back({g, a});
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
            std::fill(t.begin(), t.end(), 0.0);
            for (int64_t a = 0; a < order; ++a)
                for (int64_t l = 0; l < count; ++l) {
                    const auto [g, member] = places[first + l];
                    t[a * width + l] = scale_ * static_cast<double>(rows[a][out[g].columns[member]]);
                }
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
    const Penalty& penalty = problem_.penalty;
    const std::vector<Entering> all = entering(rows_of(it), swaps);
    std::vector<Swap> out(swaps.begin(), swaps.end());
    problem_.X.team().run(std::ssize(swaps), 8, [&](int64_t begin, int64_t end, int) {
        for (int64_t g = begin; g < end; ++g) {
            if (all[g].columns.empty()) continue;  // too many to rank them again
            Swap& best = out[g];
            best.change = Penalty::infinity;
            for (const Removal& removal : removals_) {
                const double dearer = penalty.unequal ? penalty.price(best.column) - penalty.price(removal.head) : 0.0;
                if (it.spent + dearer > terms.budget) continue;
                const double change = removal.cost + terms.lambda_0 * dearer - gain(all[g], removal, slopes);
                if (change < best.change)
                    best = {static_cast<size_t>(removal.positions.front()), best.column, change, removal.cost};
            }
        }
    }, std::ssize(swaps) * std::ssize(removals_) * 1000);
    std::erase_if(out, [](const Swap& swap) { return !(swap.change < Penalty::infinity); });
    return out;
}

std::vector<Swap> SwapModel::rank_all_groups(const Iterate& it, const double* slopes, size_t most, const Terms& terms) {
    removals_ = hessian_.removals(it);
    std::vector<int32_t> heads;
    for (int32_t j = 0; j < problem_.columns(); ++j)
        if (problem_.is_head(j) && !it.contains(j)) heads.push_back(j);
    const int64_t count = std::ssize(heads), work = 2 * hessian_.order() * hessian_.order() + 1;
    std::vector<std::vector<Swap>> found((count + groups_per_chunk - 1) / groups_per_chunk);
    const int64_t piece = groups_per_chunk * std::max<int64_t>(1, work_between_polls / (work * groups_per_chunk));
    for (int64_t start = 0; start < count; start += piece) {
        const int64_t size = std::min(piece, count - start);
        problem_.X.team().run(size, groups_per_chunk, [&](int64_t begin, int64_t end, int) {
            rank_groups(it, slopes, most, std::span(heads).subspan(start + begin, end - begin), terms,
                        found[(start + begin) / groups_per_chunk]);
        }, size * work);
        problem_.X.monitor().poll();
    }
    const std::vector<Swap> rough = merged(found, std::max(ranked_twice, most));
    return merged({ranked_again(it, slopes, rough, terms)}, most);
}

}  // namespace ellzero
