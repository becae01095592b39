#include "ellzero/swaps/neighbourhood.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {
// Removals whose gradients come from one read of X.
constexpr int64_t removals_per_read = 8;
constexpr int64_t columns_per_chunk = 64;
constexpr int64_t work_between_polls = 4'000'000;  // rows of candidates
}  // namespace

Neighbourhood::Neighbourhood(const Problem& problem, int64_t candidates, bool first)
    : problem_(problem), candidates_(candidates), first_(first), lines_(problem.X.team().size(), Line(problem)) {}

Move Neighbourhood::removal(const Iterate& it, size_t position, std::vector<double>& eta) {
    problem_.X.monitor().poll();
    const auto loss = [&](const std::vector<double>& at) {
        return problem_.loss.smoothed(0.0).value(problem_.rows(), at.data(), problem_.y, problem_.w);
    };
    eta = it.eta;
    problem_.X.axpy(it.support[position], -it.beta[position], eta.data());
    const double shift = lines_[0].settle(eta);
    return {static_cast<int>(position), -1, 0.0, shift, loss(it.eta) + problem_.penalty.value(it.beta[position]) - loss(eta)};
}

Move Neighbourhood::cheapest_removal(const Iterate& it) {
    Move best;
    best.gain = -Penalty::infinity;
    std::vector<double> eta;
    for (size_t k = 0; k < it.support.size(); ++k) {
        if (!problem_.penalty.counted(it.support[k])) continue;
        Move move = removal(it, k, eta);
        move.gain /= problem_.penalty.price(it.support[k]);
        if (move.gain > best.gain) best = move;
    }
    return best;
}

double Neighbourhood::Worth::of(double gain, int32_t j) const {
    return lambda_0 ? gain - *lambda_0 * penalty.price(j) : gain / penalty.price(j);
}

double Neighbourhood::Worth::needed(double worth, int32_t j) const {
    return lambda_0 ? worth + *lambda_0 * penalty.price(j) : worth * penalty.price(j);
}

Move Neighbourhood::best_entry(const Iterate& it, const double* eta, const double* slopes, double needed, const Worth& worth) {
    std::vector<int32_t> columns;
    for (int64_t c = 0; c < problem_.columns(); ++c) {
        const auto j = static_cast<int32_t>(c);
        if (!it.contains(j) && std::abs(slopes[c]) > problem_.penalty.lambda_1) columns.push_back(j);
    }
    const auto larger = [&](int32_t a, int32_t b) {
        return std::abs(slopes[a]) != std::abs(slopes[b]) ? std::abs(slopes[a]) > std::abs(slopes[b]) : a < b;
    };
    if (std::ssize(columns) > candidates_) {
        std::nth_element(columns.begin(), columns.begin() + candidates_, columns.end(), larger);
        columns.resize(candidates_);
    }
    // The steepest first: what it gains rules out most of the others after one look.
    std::sort(columns.begin(), columns.end(), larger);
    Move best;
    best.gain = needed;
    std::vector<Move> found;
    // Pieces grow: what the first ones find spares work in the later ones, whatever the number of threads. They stay small
    // enough to look at the monitor in between.
    const Design& design = problem_.X.design();
    const int64_t between_polls = work_between_polls / std::max<int64_t>(problem_.rows(), 1);
    const int64_t largest = std::min(std::max(columns_per_chunk, between_polls), design.most_held());
    for (int64_t start = 0, size = columns_per_chunk; start < std::ssize(columns);
         start += size, size = std::min(4 * size, largest)) {
        const int64_t count = std::min<int64_t>(size, std::ssize(columns) - start),
                      chunks = (count + columns_per_chunk - 1) / columns_per_chunk;
        found.assign(chunks, best);
        const auto held = design.hold(std::span(columns).subspan(start, count));
        problem_.X.team().run(count, columns_per_chunk, [&](int64_t begin, int64_t end, int thread) {
            Move& here = found[begin / columns_per_chunk];
            for (int64_t c = begin; c < end; ++c) {
                const int32_t j = columns[start + c];
                const Line::Minimum minimum = lines_[thread].along(eta, j, slopes[j], worth.needed(here.gain, j), true);
                const double gain = worth.of(minimum.gain, j);
                if (gain > here.gain) here = {-1, j, minimum.at, minimum.shift, gain};
            }
        }, count * problem_.rows());
        for (const Move& move : found)
            if (move.gain > best.gain) best = move;
        problem_.X.monitor().poll();
    }
    return best;
}

Move Neighbourhood::find_swap(const Iterate& it, double lambda_0, double worth) {
    const int64_t n = problem_.rows(), p = problem_.columns();
    std::vector<size_t> removable;
    for (size_t k = 0; k < it.support.size(); ++k)
        if (problem_.penalty.counted(it.support[k])) removable.push_back(k);
    const int64_t side_count = std::min<int64_t>(removals_per_read, std::ssize(removable));
    std::vector<std::vector<double>> etas(side_count);
    std::vector<Move> removals(side_count);
    std::vector<double> residuals(n * side_count), slopes(p * side_count);
    Move best;
    for (size_t start = 0; start < removable.size(); start += removals_per_read) {
        const size_t count = std::min<size_t>(removable.size() - start, removals_per_read);
        for (size_t k = 0; k < count; ++k) {
            removals[k] = removal(it, removable[start + k], etas[k]);
            removals[k].gain += lambda_0 * problem_.penalty.price(it.support[removable[start + k]]);
            problem_.loss.residual(n, etas[k].data(), problem_.y, problem_.w, residuals.data() + k * n);
        }
        problem_.X.products(residuals.data(), static_cast<int64_t>(count), slopes.data());
        for (size_t k = 0; k < count; ++k) {
            const Move& out = removals[k];
            const Move in = best_entry(it, etas[k].data(), slopes.data() + k * p, std::max(worth, best.gain) - out.gain,
                                       {problem_.penalty, lambda_0});
            if (in.column < 0) continue;
            best = {out.position, in.column, in.at, out.shift + in.shift, out.gain + in.gain};
            if (first_) return best;
        }
    }
    return best;
}

Move Neighbourhood::best_addition(const Iterate& it) {
    std::vector<double> slopes(problem_.columns());
    problem_.X.all_dots(it.r.data(), slopes.data());
    return best_entry(it, it.eta.data(), slopes.data(), 0.0, {problem_.penalty, std::nullopt});
}

}  // namespace ellzero
