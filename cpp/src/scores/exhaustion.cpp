#include "ellzero/scores/exhaustion.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>

#include "ellzero/data/simd.hpp"

namespace ellzero {
namespace {

using Support = std::vector<int32_t>;

constexpr int last_columns = 3;            // that complete a prefix, counted together
constexpr double rounding = 1e-9;          // of sums of entropies, relative: what is closer to the level stays open
constexpr size_t largest_table = 1 << 22;  // counts whose logarithms are kept
constexpr double inner = 0.9;              // of a box
constexpr double largest_found = 6.0;      // of coefficients that Newton's method reaches in few steps
constexpr int64_t at_once = 256;           // prefixes between two looks at the clock, for each thread

double x_log_x(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// Rows of one layer in one cell of a prefix, as words of bits.
struct Segment {
    size_t begin = 0, end = 0;  // words
    int cell = 0;
    bool positive = true;
    double worth = 1.0;
    int32_t total = 0;
};

ELLZERO_INLINE int32_t count_of(const uint64_t* a, const uint64_t* b, size_t begin, size_t end) {
    int32_t sum = 0;
    for (size_t i = begin; i < end; ++i) sum += std::popcount(a[i] & b[i]);
    return sum;
}

// counts[s] of the rows of each segment that have the columns of both a and b
ELLZERO_SIMD void count_both(const uint64_t* a, const uint64_t* b, const Segment* segments, size_t count, int32_t* counts) {
    for (size_t s = 0; s < count; ++s) counts[s] = count_of(a, b, segments[s].begin, segments[s].end);
}

// A prefix with all triples of columns that complete it.
class Prefix {
  public:
    Prefix(const ScoreRows& rows, const std::vector<RowLayer>& layers, const std::vector<double>& table)
        : rows_(rows), layers_(layers), table_(table) {}

    // Cells of one label have no entropy, nor do their parts: they are left out.
    void set(std::span<const int32_t> prefix, std::span<const int32_t> rest) {
        const int cells = 1 << prefix.size();
        std::vector<std::vector<std::vector<int32_t>>> members(layers_.size(), std::vector<std::vector<int32_t>>(cells));
        std::vector<uint8_t> up(cells, 0), down(cells, 0);
        for (size_t l = 0; l < layers_.size(); ++l)
            for (const int32_t i : layers_[l].rows) {
                int code = 0;
                for (size_t j = 0; j < prefix.size(); ++j) code |= rows_.column(prefix[j])[i] << j;
                members[l][code].push_back(i);
                (layers_[l].positive ? up : down)[code] = 1;
            }
        segments_.clear();
        std::vector<int32_t> order;  // rows, with -1 where a word is not full
        cells_ = 0;
        for (int code = 0; code < cells; ++code) {
            if (!up[code] || !down[code]) continue;
            for (size_t l = 0; l < layers_.size(); ++l) {
                const auto& these = members[l][code];
                if (these.empty()) continue;
                const size_t begin = order.size() / 64;
                order.insert(order.end(), these.begin(), these.end());
                order.resize((order.size() + 63) / 64 * 64, -1);
                segments_.push_back({begin, order.size() / 64, cells_, layers_[l].positive, layers_[l].worth,
                                     static_cast<int32_t>(these.size())});
            }
            ++cells_;
        }
        words_ = order.size() / 64;
        columns_ = rest.size();
        bits_.assign(columns_ * words_, 0);
        for (size_t c = 0; c < columns_; ++c) {
            const uint8_t* x = rows_.column(rest[c]);
            for (size_t i = 0; i < order.size(); ++i)
                bits_[c * words_ + i / 64] |= static_cast<uint64_t>(order[i] >= 0 ? x[order[i]] : 0) << (i % 64);
        }
        const size_t s = segments_.size();
        pairs_.resize(columns_ * columns_ * s);
        for (size_t a = 0; a < columns_; ++a)
            for (size_t b = a; b < columns_; ++b) count_both(bits(a), bits(b), segments_.data(), s, pair(a, b));
        both_.resize(words_);
        all_.resize(s);
        up_.assign(8 * static_cast<size_t>(cells_), 0.0);
        down_ = up_;
    }

    void choose(size_t t, size_t u) {
        t_ = t;
        u_ = u;
        for (size_t i = 0; i < words_; ++i) both_[i] = bits(t)[i] & bits(u)[i];
    }

    // The entropy of the prefix with t, u and v.
    double entropy(size_t v) {
        count_both(both_.data(), bits(v), segments_.data(), segments_.size(), all_.data());
        std::fill(up_.begin(), up_.end(), 0.0);
        std::fill(down_.begin(), down_.end(), 0.0);
        for (size_t s = 0; s < segments_.size(); ++s) {
            const Segment& segment = segments_[s];
            const int32_t tuv = all_[s], tu = pair(t_, u_)[s], tv = pair(t_, v)[s], uv = pair(u_, v)[s];
            const int32_t ones[3] = {pair(t_, t_)[s], pair(u_, u_)[s], pair(v, v)[s]};
            const int32_t counts[8] = {segment.total - ones[0] - ones[1] - ones[2] + tu + tv + uv - tuv,
                                       ones[0] - tu - tv + tuv,
                                       ones[1] - tu - uv + tuv,
                                       tu - tuv,
                                       ones[2] - tv - uv + tuv,
                                       tv - tuv,
                                       uv - tuv,
                                       tuv};
            double* to = &(segment.positive ? up_ : down_)[8 * static_cast<size_t>(segment.cell)];
            for (int i = 0; i < 8; ++i) to[i] += segment.worth * counts[i];
        }
        double sum = 0.0;
        if (table_.empty())
            for (size_t i = 0; i < up_.size(); ++i) sum += x_log_x(up_[i] + down_[i]) - x_log_x(up_[i]) - x_log_x(down_[i]);
        else
            for (size_t i = 0; i < up_.size(); ++i) {
                const auto p = static_cast<int64_t>(up_[i]), n = static_cast<int64_t>(down_[i]);
                sum += table_[p + n] - table_[p] - table_[n];
            }
        return sum;
    }

  private:
    const uint64_t* bits(size_t c) const { return &bits_[c * words_]; }
    int32_t* pair(size_t a, size_t b) { return &pairs_[(a * columns_ + b) * segments_.size()]; }

    const ScoreRows& rows_;
    const std::vector<RowLayer>& layers_;
    const std::vector<double>& table_;
    std::vector<Segment> segments_;
    std::vector<uint64_t> bits_, both_;
    std::vector<int32_t> pairs_, all_;
    std::vector<double> up_, down_;  // eight parts of each cell
    size_t words_ = 0, columns_ = 0, t_ = 0, u_ = 0;
    int cells_ = 0;
};

class Exhauster {
  public:
    Exhauster(const ScoreRows& rows, const std::vector<RowLayer>& layers, const ScoreLimits& limits, const Completions& asked,
              const LatticeSearch& search)
        : rows_(rows), layers_(layers), limits_(limits), asked_(asked), search_(search) {
        size_t most = 1;
        bool whole = true;
        for (const RowLayer& layer : layers_) {
            most += layer.rows.size();
            whole = whole && layer.worth == 1.0;
        }
        if (whole && most <= largest_table) {
            table_.resize(most);
            for (size_t i = 0; i < most; ++i) table_[i] = x_log_x(static_cast<double>(i));
        }
        out_.best.loss = search.upper;
    }

    Exhaustion run(Team& team, Monitor& monitor) {
        const int missing = asked_.size - static_cast<int>(asked_.inside.size());
        const auto binary = [&](int32_t j) { return rows_.largest(j) <= 1; };
        const bool counted = std::all_of(asked_.inside.begin(), asked_.inside.end(), binary) &&
                             std::all_of(asked_.maybe.begin(), asked_.maybe.end(), binary);
        last_ = std::min(missing, counted ? last_columns : last_columns - 1);
        list_prefixes(asked_.inside, 0, missing - last_);
        const auto prefixes = static_cast<int64_t>(starts_.size());
        out_.finished = true;
        std::vector<Prefix> room(team.size(), Prefix(rows_, layers_, table_));
        for (int64_t first = 0; first < prefixes && out_.finished; first += at_once * team.size()) {
            const int64_t count = std::min(at_once * team.size(), prefixes - first);
            team.run(count, 1, [&](int64_t begin, int64_t end, int thread) {
                for (int64_t i = begin; i < end; ++i) complete(first + i, room[thread]);
            });
            monitor.poll();
            out_.finished = !late_ && (LatticeSearch::Clock::now() < search_.deadline || first + count == prefixes);
        }
        if (out_.best.points.empty()) out_.best.loss = std::numeric_limits<double>::infinity();
        return std::move(out_);
    }

  private:
    void list_prefixes(Support support, int32_t from, int missing) {
        if (missing == 0) {
            starts_.push_back(from);
            prefixes_.insert(prefixes_.end(), support.begin(), support.end());
            return;
        }
        const auto end = static_cast<int32_t>(asked_.maybe.size());
        for (int32_t i = from; i < end; ++i) {
            if (!limits_.admits(support, asked_.maybe[i])) continue;
            support.push_back(asked_.maybe[i]);
            list_prefixes(support, i + 1, missing - 1);
            support.pop_back();
        }
    }

    double level() const {
        return search_.listing ? search_.level : std::min(search_.level, out_.best.loss * (1.0 - search_.share));
    }

    void complete(int64_t place, Prefix& prefix) {
        if (late_ || LatticeSearch::Clock::now() > search_.deadline) {
            late_ = true;
            return;
        }
        const size_t length = asked_.size - last_;
        Support support(prefixes_.begin() + static_cast<std::ptrdiff_t>(place * length),
                        prefixes_.begin() + static_cast<std::ptrdiff_t>((place + 1) * length));
        Support rest;
        for (size_t i = starts_[place]; i < asked_.maybe.size(); ++i)
            if (limits_.admits(support, asked_.maybe[i])) rest.push_back(asked_.maybe[i]);
        if (rest.size() < static_cast<size_t>(last_)) return;
        if (last_ == last_columns) triples(prefix, support, rest);
        else one_by_one(support, rest, 0);
    }

    void triples(Prefix& prefix, Support& support, const Support& rest) {
        prefix.set(support, rest);
        int64_t looked = 0;
        double open = open_below();
        for (size_t t = 0; t + 2 < rest.size(); ++t)
            for (size_t u = t + 1; u + 1 < rest.size(); ++u) {
                if (limits_.meet(rest[t], rest[u])) continue;
                prefix.choose(t, u);
                for (size_t v = u + 1; v < rest.size(); ++v) {
                    if (limits_.meet(rest[t], rest[v]) || limits_.meet(rest[u], rest[v])) continue;
                    ++looked;
                    if (prefix.entropy(v) >= open) continue;
                    Support whole = support;
                    whole.insert(whole.end(), {rest[t], rest[u], rest[v]});
                    settle(std::move(whole));
                    open = open_below();
                }
            }
        const std::lock_guard lock(mutex_);
        out_.supports += looked;
    }

    void one_by_one(Support& support, const Support& rest, size_t from) {
        if (support.size() == static_cast<size_t>(asked_.size)) {
            {
                const std::lock_guard lock(mutex_);
                ++out_.supports;
            }
            if (cell_entropy(rows_.cells(support)) < open_below()) settle(support);
            return;
        }
        for (size_t i = from; i < rest.size(); ++i) {
            if (!limits_.admits(support, rest[i])) continue;
            support.push_back(rest[i]);
            one_by_one(support, rest, i + 1);
            support.pop_back();
        }
    }

    double open_below() {
        const std::lock_guard lock(mutex_);
        return level() * (1.0 + rounding);
    }

    // A support that entropy leaves open: its dual point closes it, or boxes of points do.
    void settle(Support support) {
        if (!limits_.rules.obeys(support)) return;
        std::sort(support.begin(), support.end());
        const Cells cells = rows_.cells(support);
        LatticeSearch search = search_;
        {
            const std::lock_guard lock(mutex_);
            search.level = level();
            search.upper = std::min(search.upper, out_.best.loss);
        }
        search.recording = true;
        LatticeResult found = search_lattice(cells, support, limits_, search);
        if (found.stopped) late_ = true;
        const std::lock_guard lock(mutex_);
        ++out_.survivors;
        out_.least = std::min(out_.least, found.least);
        if (!found.best.points.empty() && found.best.loss < out_.best.loss) out_.best = found.best;
        if (found.bounds.size() == 1 && found.bounds[0] >= search.level && is_inner(support, found.models)) return;
        out_.listed.push_back(std::move(support));
        out_.boxes.push_back(std::move(found));
    }

    // Whether the verifier finds this model by itself: its steps know no box, and are few.
    bool is_inner(const Support& support, const std::vector<double>& model) const {
        for (size_t i = 0; i < support.size(); ++i) {
            if (support[i] == limits_.ones) continue;
            const double most = inner * limits_.most * limits_.high[support[i]],
                         least = inner * limits_.most * limits_.low[support[i]];
            if (!(model[i] > least && model[i] < most)) return false;
        }
        return std::all_of(model.begin(), model.end(), [](double b) { return std::abs(b) < largest_found; });
    }

    const ScoreRows& rows_;
    const std::vector<RowLayer>& layers_;
    const ScoreLimits& limits_;
    const Completions& asked_;
    const LatticeSearch& search_;
    std::vector<double> table_;
    std::vector<int32_t> starts_, prefixes_;
    int last_ = 0;
    std::mutex mutex_;
    std::atomic<bool> late_{false};
    Exhaustion out_;
};

}  // namespace

Exhaustion exhaust(const ScoreRows& rows, const std::vector<RowLayer>& layers, const ScoreLimits& limits,
                   const Completions& completions, const LatticeSearch& search, Team& team, Monitor& monitor) {
    return Exhauster(rows, layers, limits, completions, search).run(team, monitor);
}

}  // namespace ellzero
