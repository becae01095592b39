#include "ellzero/scores/lattice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ellzero {
namespace {

constexpr double still = 1e-9;  // a scale below this says nothing about points

using Box = std::vector<int32_t>;

class Lattice {
  public:
    Lattice(const Cells& cells, std::span<const int32_t> support, const ScoreLimits& limits, const LatticeSearch& search)
        : cells_(cells), support_(support), limits_(limits), search_(search), k_(support.size()), w_(k_, 0) {
        for (const int32_t j : support) {
            low_.push_back(limits.low[j]);
            high_.push_back(limits.high[j]);
        }
        out_.best.loss = search.upper;
    }

    LatticeResult run() {
        CellFit root = fit_support(cells_, support_, limits_);
        order_.resize(k_);
        std::iota(order_.begin(), order_.end(), 0);
        std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return std::abs(root.b[a]) > std::abs(root.b[b]); });
        const double bound = dual_bound(cells_, root.b, low_, high_, limits_);
        if (bound >= level()) add(low_, high_, root.b, bound);
        else branch({root.b, limits_.least}, 0, low_, high_, bound);
        if (out_.best.points.empty()) out_.best.loss = std::numeric_limits<double>::infinity();
        return std::move(out_);
    }

  private:
    struct Ray {
        std::vector<double> b;  // coefficients of all columns and the intercept
        double scale = 0.0;
    };

    double level() const {
        return search_.listing ? search_.level : std::min(search_.level, out_.best.loss * (1.0 - search_.share));
    }

    void add(const Box& low, const Box& high, const std::vector<double>& b, double bound) {
        const bool card = low == high && bound < level();
        if (!(search_.listing && card)) out_.least = std::min(out_.least, bound);
        if (!search_.recording) return;
        out_.low.insert(out_.low.end(), low.begin(), low.end());
        out_.high.insert(out_.high.end(), high.begin(), high.end());
        out_.models.insert(out_.models.end(), b.begin(), b.end());
        out_.bounds.push_back(bound);
    }

    // The first `fixed` columns of the order have the points w_, on a ray; the others are free in their boxes.
    Ray relax(int fixed, const Ray& start) {
        ++nodes_;
        const size_t rest = k_ - fixed, d = rest + 1, m = cells_.positive.size();
        std::vector<double> z(m * d), low(d + 1, limits_.least), high(d + 1, limits_.most), b(d + 1);
        for (size_t c = 0; c < m; ++c) {
            const double* row = &cells_.z[c * k_];
            double score = 0.0;
            for (int i = 0; i < fixed; ++i) score += w_[order_[i]] * row[order_[i]];
            z[c * d] = score;
            for (size_t i = 0; i < rest; ++i) z[c * d + 1 + i] = row[order_[fixed + i]];
        }
        for (size_t i = 0; i < rest; ++i) {
            const int j = order_[fixed + i];
            low[1 + i] = limits_.most * low_[j];
            high[1 + i] = limits_.most * high_[j];
            b[1 + i] = start.b[j];
        }
        low[d] = -limits_.free_intercept();
        high[d] = limits_.free_intercept();
        const int last = order_[fixed - 1];
        b[0] = start.scale > still ? start.scale : w_[last] != 0 ? std::max(start.b[last] / w_[last], 0.1) : 0.1;
        b[d] = start.b[k_];
        const CellFit fit = fit_cells(cells_, z, low, high, std::move(b));
        Ray out{std::vector<double>(k_ + 1), fit.b[0]};
        for (int i = 0; i < fixed; ++i) out.b[order_[i]] = fit.b[0] * w_[order_[i]];
        for (size_t i = 0; i < rest; ++i) out.b[order_[fixed + i]] = fit.b[1 + i];
        out.b[k_] = fit.b[d];
        if (rest == 0 && fit.loss < out_.best.loss * (1.0 - search_.share))
            out_.best = {{support_.begin(), support_.end()}, w_, fit.b[0], fit.b[d], fit.loss};
        return out;
    }

    bool stop() {
        if (!out_.stopped)
            out_.stopped = nodes_ >= search_.node_limit || (nodes_ % 16 == 0 && LatticeSearch::Clock::now() > search_.deadline);
        return out_.stopped;
    }

    // A box that its dual point does not close.
    void branch(const Ray& ray, int fixed, const Box& low, const Box& high, double bound) {
        if (std::cmp_equal(fixed, k_) || stop()) {
            add(low, high, ray.b, bound);
            return;
        }
        const int j = order_[fixed];
        // Where the relaxation has its points. Of the first column only the sign is known: the scale is free.
        double middle = ray.scale > still ? ray.b[j] / ray.scale : 0.0;
        if (fixed == 0 && limits_.least < limits_.most) middle = ray.b[j] > 0.0 ? high[j] + 0.5 : low[j] - 0.5;
        const auto up = static_cast<int32_t>(std::ceil(std::clamp(middle, static_cast<double>(low[j]), high[j] + 1.0)));
        outwards(ray, fixed, low, high, up, 1);
        outwards(ray, fixed, low, high, up - 1, -1);
    }

    void outwards(const Ray& ray, int fixed, const Box& low, const Box& high, int32_t from, int side) {
        const int j = order_[fixed];
        for (int32_t v = from; v >= low[j] && v <= high[j]; v += side) {
            Box least(low), most(high);
            if (v == 0 && limits_.by_size() && support_[j] != limits_.ones) {  // such a card has a smaller support
                least[j] = most[j] = 0;
                add(least, most, ray.b, std::numeric_limits<double>::infinity());
                continue;
            }
            w_[j] = v;
            const Ray next = relax(fixed + 1, ray);
            (side > 0 ? least : most)[j] = v;
            const double beyond = dual_bound(cells_, next.b, least, most, limits_);
            if (beyond >= level() || stop()) {
                add(least, most, next.b, beyond);
                break;
            }
            least[j] = most[j] = v;
            const double bound = dual_bound(cells_, next.b, least, most, limits_);
            if (bound >= level()) add(least, most, next.b, bound);
            else branch(next, fixed + 1, least, most, bound);
        }
        w_[j] = 0;
    }

    const Cells& cells_;
    std::span<const int32_t> support_;
    const ScoreLimits& limits_;
    const LatticeSearch& search_;
    size_t k_;
    Box w_, low_, high_;
    std::vector<int> order_;
    LatticeResult out_;
    int64_t nodes_ = 0;
};

}  // namespace

LatticeResult search_lattice(const Cells& cells, std::span<const int32_t> support, const ScoreLimits& limits,
                             const LatticeSearch& search) {
    return Lattice(cells, support, limits, search).run();
}

}  // namespace ellzero
