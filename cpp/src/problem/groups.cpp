#include "ellzero/problem/groups.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ellzero {
namespace {
// Covers the rounding of the products.
constexpr double above = 1.0 + 1e-10;
// The products of more columns than this are not computed: their number bounds the coupling, too.
constexpr size_t most_members = 2000;
// Columns that are held together.
constexpr size_t at_a_time = 256;

// A bound for the largest eigenvalue of a matrix scaled to ones on its diagonal: the largest sum of a row, or the root of all
// squares. `ld` is the order of the lower triangle in memory.
double largest_eigenvalue(const std::vector<double>& gram, size_t order, size_t ld) {
    const auto entry = [&](size_t a, size_t b) { return std::abs(gram[std::max(a, b) * ld + std::min(a, b)]); };
    double sum = 1.0, squares = 0.0;
    for (size_t a = 0; a < order; ++a) {
        if (!(entry(a, a) > 0.0)) continue;
        double row = 0.0;
        for (size_t b = 0; b < order; ++b) {
            if (!(entry(b, b) > 0.0)) continue;
            const double scaled = entry(a, b) / std::sqrt(entry(a, a)) / std::sqrt(entry(b, b));
            row += scaled;
            squares += scaled * scaled;
        }
        sum = std::max(sum, row);
    }
    return std::max(1.0, std::min(sum, std::sqrt(squares)));
}

}  // namespace

Groups::Groups(std::vector<int32_t> heads, std::vector<double> coupling) {
    std::vector<int32_t> columns(heads.size());
    std::vector<int64_t> start(heads.size() + 1, 0);
    for (const int32_t head : heads) ++start[head + 1];
    for (size_t j = 0; j < heads.size(); ++j) start[j + 1] += start[j];
    std::vector<int64_t> next(start.begin(), start.end() - 1);
    for (size_t j = 0; j < heads.size(); ++j) columns[next[heads[j]]++] = static_cast<int32_t>(j);
    table_ = std::make_shared<const Table>(Table{std::move(heads), std::move(columns), std::move(start), std::move(coupling)});
}

std::vector<double> couplings(const Columns& X, const std::vector<int32_t>& heads, const double* w) {
    const Groups groups(heads, {});
    std::vector<double> out(heads.size(), 1.0);
    std::vector<int32_t> large;  // heads
    for (size_t j = 0; j < heads.size(); ++j)
        if (std::cmp_equal(heads[j], j) && groups.members(heads[j]).size() > 1) large.push_back(heads[j]);
    const bool distant = X.design().distant();
    const size_t most_held = std::min<size_t>(X.design().most_held(), distant ? at_a_time : most_members);
    for (size_t start = 0; start < large.size();) {
        std::vector<int32_t> held;
        size_t end = start;
        for (; end < large.size(); ++end) {
            const Members members = groups.members(large[end]);
            if (!held.empty() && held.size() + members.size() > most_held) break;
            held.insert(held.end(), members.begin(), members.end());
        }
        X.monitor().poll();
        const auto at_hand = held.size() <= most_held ? X.design().hold(held) : nullptr;
        X.team().run(static_cast<int64_t>(end - start), 1, [&](int64_t first, int64_t last, int) {
            Team alone(1);
            std::vector<double> mean, scale, gram;
            for (int64_t k = first; k < last; ++k) {
                const Members members = groups.members(large[start + k]);
                const std::vector<int32_t> columns(members.begin(), members.end());
                auto coupling = static_cast<double>(columns.size());
                if (columns.size() <= most_members && columns.size() <= most_held) {
                    mean.clear();
                    for (const int32_t j : columns) mean.push_back(X.mean(j));
                    scale.assign(columns.size(), 1.0);
                    gram.assign((columns.size() + 1) * (columns.size() + 1), 0.0);
                    X.design().gram(columns, 0, mean.data(), scale.data(), w, gram.data(), alone);
                    const double bound = above * largest_eigenvalue(gram, columns.size(), columns.size() + 1);
                    coupling = std::min(coupling, bound);  // the first one, if the bound is not a number
                }
                for (const int32_t j : columns) out[j] = coupling;
            }
        }, std::ssize(held) * X.rows());
        start = end;
    }
    return out;
}

}  // namespace ellzero
