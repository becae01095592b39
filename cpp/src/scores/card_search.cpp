#include "ellzero/scores/card_search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "ellzero/data/simd.hpp"

namespace ellzero {
namespace {

using Support = std::vector<int32_t>;

constexpr int most_idle = 2;        // rounds of lattice searches without a better card
constexpr double rounding = 1e-10;  // a support is better by more than this share, or not at all

struct Fitted {
    Support support;  // ascending
    std::vector<double> b;
    double loss = 0.0;  // with the price of the columns
};

bool before(const Fitted& a, const Fitted& b) { return a.loss != b.loss ? a.loss < b.loss : a.support < b.support; }

// Sums of slopes, of curvatures and of their second moments, over the values of a column.
ELLZERO_SIMD void column_sums(const uint8_t* x, const float* slope, const float* curve, int64_t n, double* out) {
    constexpr int64_t block = 1024;  // so that float sums keep their digits
    double g = 0.0, h = 0.0, hh = 0.0;
    for (int64_t begin = 0; begin < n; begin += block) {
        const int64_t end = std::min(begin + block, n);
        float a = 0.0F, b = 0.0F, c = 0.0F;
#pragma omp simd reduction(+ : a, b, c)
        for (int64_t i = begin; i < end; ++i) {
            const auto one = static_cast<float>(x[i]);
            a += one * slope[i];
            b += one * curve[i];
            c += one * one * curve[i];
        }
        g += a;
        h += b;
        hh += c;
    }
    out[0] = g;
    out[1] = h;
    out[2] = hh;
}

class CardSearch {
  public:
    CardSearch(const ScoreRows& rows, const ScoreLimits& limits, const CardSearchOptions& options, Team& team, Monitor& monitor)
        : rows_(rows), limits_(limits), options_(options), team_(team), monitor_(monitor) {}

    Card run() {
        const std::optional<Support> start = obeying(limits_.ones < 0 ? Support{} : Support{limits_.ones}, {}, {}, {});
        if (!start) return {};
        std::vector<Fitted> beam{fit(*start)};
        remember(beam);
        for (size_t size = start->size(); std::cmp_less(size, limits_.k) && !late(); ++size) {
            std::vector<Fitted> next = extend(beam, options_.candidates);
            if (next.empty()) break;
            remember(next);
            next.resize(std::min<size_t>(next.size(), options_.width));
            beam = std::move(next);
        }
        for (size_t start = 0; start < std::min<size_t>(beam.size(), 3) && !late(); ++start) exchange(beam[start]);
        return points();
    }

  private:
    bool late() {
        monitor_.poll();
        return LatticeSearch::Clock::now() > options_.deadline;
    }

    Fitted fit(Support support, std::vector<double> start = {}) const {
        std::sort(support.begin(), support.end());
        CellFit found = fit_support(rows_.cells(support), support, limits_, std::move(start));
        const double cost = limits_.cost(support.size());
        return {std::move(support), std::move(found.b), found.loss + cost};
    }

    void remember(const std::vector<Fitted>& found) {
        for (const Fitted& each : found) pool_.emplace(each.support, each.loss);
    }

    // A support that obeys the rules, near another one: some columns must be in, others must be out. Nothing: none was found.
    std::optional<Support> obeying(Support support, const Support& in, const Support& out,
                                   const std::vector<double>& worth) const {
        if (!limits_.rules) return support;
        auto found = limits_.rules.closed(support, in, out, [&](int32_t j) { return worth.empty() ? 0.0 : worth[j]; });
        if (found && found->size() > static_cast<size_t>(limits_.k)) found.reset();
        return found;
    }

    // The columns that one step of Newton's method in them and the intercept would gain most from. What columns are worth is
    // that gain, or the coefficient that they have.
    Support ranked(const Fitted& model, int count, std::vector<double>& worth) const {
        const int64_t n = rows_.rows();
        std::vector<float> slope(n), curve(n);
        double all = 0.0;
        for (int64_t i = 0; i < n; ++i) {
            double eta = model.b.back();
            for (size_t j = 0; j < model.support.size(); ++j) eta += rows_.column(model.support[j])[i] * model.b[j];
            const double s = 1.0 / (1.0 + std::exp(-eta));
            slope[i] = static_cast<float>(rows_.weight(i) * ((rows_.label(i) > 0.0 ? 1.0 : 0.0) - s));
            curve[i] = static_cast<float>(rows_.weight(i) * s * (1.0 - s));
            all += curve[i];
        }
        std::vector<std::pair<double, int32_t>> gains;
        worth.assign(rows_.columns(), 0.0);
        for (size_t j = 0; j < model.support.size(); ++j) worth[model.support[j]] = std::abs(model.b[j]);
        for (int32_t j = 0; j < rows_.columns(); ++j) {
            if (!limits_.admits(model.support, j)) continue;
            double sums[3];
            column_sums(rows_.column(j), slope.data(), curve.data(), n, sums);
            if ((sums[0] > 0.0 ? limits_.high[j] : limits_.low[j]) == 0) continue;
            const double curvature = std::max(sums[2] - sums[1] * sums[1] / std::max(all, 1e-300), 1e-12 * (all + 1.0));
            // A column that separates the rows gains no more than the whole of its slope at the end of its box.
            worth[j] = std::min(sums[0] * sums[0] / curvature, 20.0 * std::abs(sums[0]));
            gains.emplace_back(-worth[j], j);
        }
        const size_t kept = std::min<size_t>(gains.size(), count);
        std::partial_sort(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(kept), gains.end());
        Support out;
        for (size_t i = 0; i < kept; ++i) out.push_back(gains[i].second);
        return out;
    }

    // All models with one column more, the best first, each support once.
    std::vector<Fitted> extend(const std::vector<Fitted>& models, int count) {
        std::vector<std::vector<Fitted>> found(models.size());
        team_.run(static_cast<int64_t>(models.size()), 1, [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i) {
                std::vector<double> worth;
                for (const int32_t j : ranked(models[i], count, worth)) {
                    Support support = models[i].support;
                    support.push_back(j);
                    if (auto near = obeying(std::move(support), {j}, {}, worth)) found[i].push_back(fit(std::move(*near)));
                }
            }
        }, work());
        std::vector<Fitted> out;
        for (auto& each : found) std::move(each.begin(), each.end(), std::back_inserter(out));
        std::sort(out.begin(), out.end(), before);
        const auto twice = [](const Fitted& a, const Fitted& b) { return a.support == b.support; };
        out.erase(std::unique(out.begin(), out.end(), twice), out.end());
        return out;
    }

    // Takes the best exchange of one column for another, as long as there is one.
    void exchange(Fitted model) {
        while (!late() && !model.support.empty()) {
            std::vector<Fitted> without;
            for (size_t i = 0; i < model.support.size(); ++i) {
                if (model.support[i] == limits_.ones) continue;
                Support rest = model.support;
                rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
                if (auto near = obeying(std::move(rest), {}, {model.support[i]}, {})) without.push_back(fit(std::move(*near)));
            }
            std::vector<Fitted> found = extend(without, options_.candidates);
            found.insert(found.end(), without.begin(), without.end());  // what left may have made room, or have cost too much
            std::sort(found.begin(), found.end(), before);
            if (found.empty()) return;
            remember(found);
            if (!(found[0].loss < model.loss * (1.0 - rounding))) return;
            model = found[0];
        }
    }

    // Whole points for the supports with the least losses; those that cannot win any more are left out.
    Card points() {
        std::vector<std::pair<double, Support>> order;
        order.reserve(pool_.size());
        for (const auto& [support, loss] : pool_) order.emplace_back(loss, support);
        std::sort(order.begin(), order.end());
        order.resize(std::min<size_t>(order.size(), options_.lattices));
        Card best;
        int idle = 0;
        const size_t round = 8;  // searched with the same best card, so that the number of threads does not matter
        for (size_t first = 0; first < order.size(); first += round) {
            if ((first > 0 && late()) || order[first].first >= best.loss) break;
            const size_t count = std::min(round, order.size() - first);
            std::vector<Card> found(count);
            team_.run(static_cast<int64_t>(count), 1, [&](int64_t begin, int64_t end, int) {
                for (int64_t i = begin; i < end; ++i) {
                    LatticeSearch search;
                    const Support& support = order[first + i].second;
                    const double cost = limits_.cost(support.size());
                    search.level = search.upper = best.loss - cost;
                    search.node_limit = options_.nodes;
                    found[i] = search_lattice(rows_.cells(support), support, limits_, search).best;
                    found[i].loss += cost;
                }
            }, work());
            bool better = first == 0;
            for (Card& each : found)
                if (each.loss < best.loss) {
                    best = std::move(each);
                    better = true;
                }
            idle = better ? 0 : idle + 1;
            if (idle >= most_idle) break;
        }
        return best;
    }

    int64_t work() const { return rows_.rows() * 100 + Team::worth_sharing; }

    const ScoreRows& rows_;
    const ScoreLimits& limits_;
    const CardSearchOptions& options_;
    Team& team_;
    Monitor& monitor_;
    std::map<Support, double> pool_;
};

}  // namespace

Card search_card(const ScoreRows& rows, const ScoreLimits& limits, const CardSearchOptions& options, Team& team,
                 Monitor& monitor) {
    return CardSearch(rows, limits, options, team, monitor).run();
}

}  // namespace ellzero
