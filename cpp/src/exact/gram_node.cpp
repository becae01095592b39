#include "ellzero/exact/gram_node.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

// The last features are enumerated at once if there are at most so many supports, and up to the larger number after one
// relaxation, which leaves fewer.
constexpr double few_supports = 1e5, most_supports = 3e6;
// A region is relaxed again at most so often, while at least this part of its features was fixed.
constexpr int most_rounds = 8;
constexpr double worth_another = 0.05;
// A form is made anew where no more than this part of its columns is undecided, or where a feature came in.
constexpr double few_enough_to_renew = 0.9;
constexpr int sweeps_at_root = 24, sweeps = 3;
constexpr double barrier_at_root = 0.3, barrier = 0.1;
// Rounds of coordinate descent; bounds are taken every so many, and so many without a gain end them.
constexpr int most_at_root = 600, most_descents = 60, between_bounds = 6, most_idle = 4;
// Then rounds over the sets of families.
constexpr int most_rounds_of_families = 20, between_family_bounds = 5, most_idle_bounds = 2;
constexpr double worth_mentioning = 1e-6, least_charge = 1e-12, least_curve = 1e-12;
// mu follows the sum of the shares.
constexpr double quick = 0.7, slow = 0.5;
// Supports from which swaps began, at most; swaps of two from those this close to the incumbent, relatively; the largest work
// for swaps of two and of three, in supports.
constexpr size_t most_met = 200;
constexpr double close_enough = 0.02, most_work_of_swaps = 1e7, most_work_at_root = 3e8;

}  // namespace

int GramNode::room() const {
    const auto undecided = static_cast<double>(region_.undecided().size());
    return static_cast<int>(std::min(region_.left(), undecided));
}

GramNode::Outcome GramNode::run(const Node& node, const WitnessWatch& watch) {
    Outcome out;
    out.bound = node.bound;
    const State& state = *node.state;
    families_ = state.families;
    tried_ = state.tried;
    decided_ = families_ ? state.decided : 0;
    mu_ = state.mu;
    beta_.assign(equations_.columns(), 0.0);
    for (size_t k = 0; k < state.columns.size(); ++k)
        beta_[state.columns[k]] = state.beta[k] / equations_.along[state.columns[k]];
    const bool root = node.depth == 0;
    if (root) {
        std::vector<int32_t> start = state.columns;
        std::sort(start.begin(), start.end());
        if (static_cast<double>(start.size()) <= region_.left()) swap(std::move(start), true);
    }
    for (int k = 0; k < most_rounds; ++k) {
        std::vector<int32_t> in = region_.in(), free = region_.undecided();
        std::sort(in.begin(), in.end());
        std::sort(free.begin(), free.end());
        const Reduced region(equations_, std::move(in), std::move(free));
        const double supports =
            room() <= Completions::most_features ? Completions::count(std::ssize(region.free), room()) : Penalty::infinity;
        if (supports <= (k > 0 ? most_supports : few_supports)) {
            enumerate(region, out);
            watch.check_bound(out.bound, "an enumerated bound is too high");
            return out;
        }
        Form form;
        const bool inherited = families_ != nullptr;
        if (inherited) form = form_of(equations_, *families_, region.in, region.free);
        else make_form(node, region, form, out);
        Point point = relax(region, form, root && k == 0);
        if (inherited && point.bound < setting_.prune_at()) renew_form(region, form, point, out);
        round(region, point);
        const int64_t fixed = fix(region, form, point, out);
        watch.check_bound(out.bound, "its bound is too high");
        if (fixed < 0) {
            watch.check_lost(std::isinf(out.bound), "fixing cut it off");
            return out;
        }
        watch.check_region(region_, "fixing cut it off");
        setting_.problem.X.monitor().poll();
        const bool few = room() <= Completions::most_features &&
                         Completions::count(std::ssize(region_.undecided()), room()) <= most_supports;
        if (few && k + 1 < most_rounds) continue;
        if (fixed == 0 || static_cast<double>(fixed) < worth_another * static_cast<double>(region.free.size())) break;
    }
    // Branch on the largest share that is below one.
    double largest = -1.0;
    for (const int32_t j : region_.undecided())
        if (const double size = std::abs(beta_[j]) * width_[j]; size > largest) {
            largest = size;
            out.branch = j;
        }
    out.closed = out.branch < 0;
    out.state = leave();
    return out;
}

std::shared_ptr<State> GramNode::leave() const {
    auto state = std::make_shared<State>();
    region_.store(*state);
    state->families = families_;
    state->tried = tried_;
    state->decided = decided_;
    state->mu = mu_;
    for (const int32_t j : region_.undecided())
        if (beta_[j] != 0.0) {
            state->columns.push_back(j);
            state->beta.push_back(beta_[j] * equations_.along[j]);
        }
    return state;
}

bool GramNode::enumerate(const Reduced& region, Outcome& out) {
    const double margin = Completions::margin(equations_, region.in, region.free, room());
    // A little more than enough: the gap is computed anew.
    const double enough = setting_.prune_at() + 1e-12 * setting_.incumbent.size(), below = enough + margin;
    const double value = completions_.least(region, room(), setting_.options.lambda_0, below - paid()) + paid();
    if (value < below) {
        std::vector<int32_t> support = region.in;
        for (const int32_t k : completions_.best()) support.push_back(region.free[k]);
        std::sort(support.begin(), support.end());
        offer(support, value);
    }
    out.bound = std::max(out.bound, value < below ? value - margin : enough);
    out.enumerated = true;
    return true;
}

void GramNode::make_form(const Node& node, const Reduced& region, Form& form, Outcome& out) {
    form = first_form(equations_, region);
    const bool first = node.depth == 0;
    auto made =
        improve(equations_, region.in, region.free, form, first ? sweeps_at_root : sweeps, first ? barrier_at_root : barrier);
    if (!made) {  // the ridge alone
        form.scale(0.0);
        made = improve(equations_, region.in, region.free, form, 0, 0.0);
    }
    tried_ = std::ssize(region.free);
    decided_ = region.in.size();
    families_ = made;
    if (made) out.made.push_back(made);
}

void GramNode::renew_form(const Reduced& region, Form& form, Point& point, Outcome& out) {
    const auto count = std::ssize(region.free);
    const bool few = static_cast<double>(count) <= few_enough_to_renew * static_cast<double>(tried_);
    if (!few && region.in.size() <= decided_) return;
    tried_ = count;
    decided_ = region.in.size();
    Form other = form;
    const auto made = improve(equations_, region.in, region.free, other, sweeps, barrier);
    if (!made) return;
    // More mass is not always a better bound: the set of forms is not convex.
    std::vector<double> beta = beta_, width = width_;
    const double mu = mu_;
    if (Point better = relax(region, other, false); better.bound > point.bound) {
        form = std::move(other);
        point = std::move(better);
        families_ = made;
        out.made.push_back(made);
        return;
    }
    beta_ = std::move(beta);
    width_ = std::move(width);
    mu_ = mu;
}

void GramNode::look(const Relaxing& state, Point& at) {
    double quadratic = 0.0;
    for (size_t j = 0; j < at.b.size(); ++j) quadratic += at.b[j] * (state.region.slopes[j] - at.v[j]);
    at.bound = state.region.base + paid() - 0.5 * quadratic - state.gains.compute(at.v);
}

void GramNode::follow(const Relaxing& state, double shares, double power, double least, double largest) {
    if (!state.limited) return;
    mu_ =
        std::max(mu_ * std::pow(std::clamp(shares / room(), least, largest), power), least_charge * setting_.incumbent.size());
}

double GramNode::sweep(Relaxing& state) const {
    const auto u = static_cast<int64_t>(state.width.size());
    Point& now = state.now;
    double shares = 0.0;
    const double price = mu_ + state.charge;
    for (int64_t j = 0; j < u; ++j) {
        const double own = state.width[j], curve = std::max(state.rest(j, j), least_curve * state.region.gram(j, j));
        const double pull = now.v[j] + curve * now.b[j], size = std::abs(pull), corner = std::sqrt(2.0 * price * own);
        double to = 0.0;
        if (size > corner) {
            const double knee = std::sqrt(2.0 * price / own);
            to = (size - corner) / curve;
            if (to > knee) to = std::max(knee, size / (curve + own));
            if (pull < 0.0) to = -to;
        }
        if (const double change = to - now.b[j]; change != 0.0) {
            kernels::axpy(-change, state.rest.row(j), u, now.v.data());
            now.b[j] = to;
        }
        shares += price > 0.0 ? std::min(1.0, std::abs(to) * std::sqrt(own / (2.0 * price))) : 0.0;
    }
    return shares;
}

void GramNode::descend(Relaxing& state, bool root) {
    Point &now = state.now, &best = state.best;
    int idle = 0;
    for (int k = 0; k < (root ? most_at_root : most_descents); ++k) {
        const double shares = sweep(state);
        if (k % between_bounds == between_bounds - 1) {
            look(state, now);
            const bool better = now.bound > best.bound + worth_mentioning * std::abs(best.bound) || best.b.empty();
            if (now.bound > best.bound || best.b.empty()) best = now;
            idle = better ? 0 : idle + 1;
            if (best.bound >= state.stop || idle >= most_idle) break;
        }
        follow(state, shares, quick, 0.5, 2.0);
    }
}

void GramNode::step_family(Relaxing& state, int64_t g, std::vector<double>& to) const {
    Point& now = state.now;
    const double price = mu_ + state.charge;
    const auto& members = state.gains.members(g);
    const FamilyGains::Best found = state.gains.best(g, now.v, price, to);
    double value = 0.0, linear = 0.0, square = 0.0;
    for (size_t i = 0; i < members.size(); ++i) {
        value += 0.5 * to[i] * now.v[members[i]];
        to[i] -= now.b[members[i]];
        linear += to[i] * now.v[members[i]];
    }
    for (size_t i = 0; i < members.size(); ++i)
        for (size_t l = 0; l < members.size(); ++l) square += to[i] * to[l] * state.rest(members[i], members[l]);
    const double gain = linear - (value + price * (found.count - state.counts[g]) - state.worth[g]);
    if (!(gain > 0.0)) return;
    const double length = square > gain ? gain / square : 1.0;
    for (size_t i = 0; i < members.size(); ++i)
        if (to[i] != 0.0) {
            now.b[members[i]] += length * to[i];
            kernels::axpy(-length * to[i], state.rest.row(members[i]), std::ssize(now.v), now.v.data());
        }
    state.worth[g] += length * (value - state.worth[g]);
    state.counts[g] += length * (found.count - state.counts[g]);
}

void GramNode::step_families(Relaxing& state) {
    Point &now = state.now, &best = state.best;
    now = best;
    const int64_t groups = state.gains.groups();
    std::vector<double> to;
    state.worth.assign(groups, 0.0);
    state.counts.assign(groups, 0.0);
    for (int64_t g = 0; g < groups; ++g)
        for (const int32_t j : state.gains.members(g)) {
            const double own = state.width[j];
            const double share = std::min(1.0, std::abs(now.b[j]) * std::sqrt(own / (2.0 * (mu_ + state.charge))));
            state.counts[g] += share;
            if (share > 0.0) state.worth[g] += 0.5 * own * now.b[j] * now.b[j] / share;
        }
    int bad = 0;
    for (int k = 0; k < most_rounds_of_families; ++k) {
        for (int64_t g = 0; g < groups; ++g) step_family(state, g, to);
        double shares = 0.0;
        for (const double count : state.counts) shares += count;
        follow(state, shares, slow, 0.67, 1.5);
        if (k % between_family_bounds == between_family_bounds - 1) {
            look(state, now);
            if (now.bound > best.bound + 1e-7 * std::abs(best.bound)) bad = 0;
            else if (++bad > most_idle_bounds) break;
            if (now.bound > best.bound) best = now;
            if (best.bound >= state.stop) break;
        }
    }
}

GramNode::Point GramNode::relax(const Reduced& region, const Form& form, bool root) {
    const auto u = static_cast<int64_t>(region.free.size());
    const double charge = setting_.options.lambda_0, stop = setting_.prune_at();
    Matrix rest = region.gram;  // P
    form.take_from(rest);
    std::vector<double> ridge(u), width(u);  // of the separable part, alone
    for (int64_t j = 0; j < u; ++j) {
        ridge[j] = equations_.ridge[region.free[j]] * (1.0 - ridge_of_others);
        rest(j, j) -= ridge[j];
        width[j] = region.gram(j, j) - rest(j, j);
    }
    FamilyGains gains(form, ridge, room(), charge);
    Relaxing state{region, rest, width, gains, charge, stop, region_.limited(), {}, {}, {}, {}};
    Point &now = state.now, &best = state.best;
    now.b.resize(u);
    now.v = region.slopes;
    for (int64_t j = 0; j < u; ++j) {
        now.b[j] = beta_[region.free[j]];
        if (now.b[j] != 0.0) kernels::axpy(-now.b[j], rest.row(j), u, now.v.data());
    }
    if (state.limited && !(mu_ > 0.0))
        for (int64_t j = 0; j < u; ++j) mu_ = std::max(mu_, 0.15 * region.slopes[j] * region.slopes[j] / width[j]);
    if (!state.limited) mu_ = 0.0;
    descend(state, root);
    width_.assign(equations_.columns(), 0.0);
    for (int64_t j = 0; j < u; ++j) width_[region.free[j]] = std::sqrt(width[j]);
    if (best.bound < stop && state.limited) step_families(state);
    // Coefficients that are next to nothing only make a certificate longer.
    double largest = 0.0;
    for (int64_t j = 0; j < u; ++j) largest = std::max(largest, std::abs(best.b[j]) * width_[region.free[j]]);
    best.v = region.slopes;
    for (int64_t j = 0; j < u; ++j) {
        if (std::abs(best.b[j]) * width_[region.free[j]] < 1e-7 * largest) best.b[j] = 0.0;
        beta_[region.free[j]] = best.b[j];
        if (best.b[j] != 0.0) kernels::axpy(-best.b[j], rest.row(j), u, best.v.data());
    }
    look(state, best);
    return best;
}

int64_t GramNode::fix(const Reduced& region, const Form& form, const Point& point, Outcome& out) {
    const auto u = static_cast<int64_t>(region.free.size());
    std::vector<double> ridge(u), less_in, less_out;
    for (int64_t j = 0; j < u; ++j) ridge[j] = equations_.ridge[region.free[j]] * (1.0 - ridge_of_others);
    FamilyGains gains(form, ridge, room(), setting_.options.lambda_0);
    const double best = gains.compute(point.v, less_in, less_out);
    const double bound = point.bound - margin(region, form, point, best), cutoff = setting_.incumbent.cutoff();
    if (!std::isfinite(bound) || !families_) return 0;
    const bool rises = bound > out.bound;
    out.bound = std::max(out.bound, bound);
    if (out.bound >= setting_.prune_at()) {
        if (rises) out.proofs.push_back(kept(region, point));
        return -1;
    }
    std::vector<int32_t> outside, inside;
    bool nothing = false;
    for (int64_t j = 0; j < u; ++j) {
        const bool must_out = bound + less_in[j] > cutoff, must_in = bound + less_out[j] > cutoff;
        nothing = nothing || (must_out && must_in);
        if (must_out) outside.push_back(region.free[j]);
        else if (must_in) inside.push_back(region.free[j]);
    }
    const auto fixed = static_cast<int64_t>(outside.size() + inside.size());
    if (rises || fixed > 0) out.proofs.push_back(kept(region, point));
    if (nothing || !region_.fix(outside, inside, cutoff)) {
        out.bound = Penalty::infinity;
        return -1;
    }
    return fixed;
}

std::vector<double> GramNode::decided(const Reduced& region, const std::vector<double>& b) const {
    const auto m = static_cast<int64_t>(region.in.size());
    Matrix matrix(m);
    std::vector<double> out(m);
    for (int64_t s = 0; s < m; ++s) {
        const double* row = equations_.gram.row(region.in[s]);
        for (int64_t t = 0; t < m; ++t) matrix(s, t) = row[region.in[t]];
        matrix(s, s) += equations_.ridge[region.in[s]];
        out[s] = equations_.cross[region.in[s]];
        for (size_t j = 0; j < b.size(); ++j)
            if (b[j] != 0.0) out[s] -= row[region.free[j]] * b[j];
    }
    factorise(matrix);
    solve(matrix, out);
    return out;
}

double GramNode::margin(const Reduced& region, const Form& form, const Point& point, double gains) const {
    // As the verifier's: what it may have rounded in v, in the quadratic part and in sums of gains.
    const std::vector<double> in = decided(region, point.b);
    const auto u = region.free.size(), m = region.in.size();
    const double rounding = (static_cast<double>(u + m) + 64.0) * std::numeric_limits<double>::epsilon();
    double parts = 0.0, quadratic = 0.0, held = 0.0, given = 0.0, off = 0.0;
    for (size_t s = 0; s < m; ++s) parts += equations_.sizes[region.in[s]] * std::abs(in[s]);
    for (size_t j = 0; j < u; ++j) parts += equations_.sizes[region.free[j]] * std::abs(point.b[j]);
    std::vector<double> drawn(form.rest.size(), 0.0), total(form.rest.size(), 0.0);
    for (size_t j = 0; j < u; ++j)
        if (form.family[j] >= 0) {
            drawn[form.family[j]] += form.masses[j] * std::abs(point.b[j]);
            total[form.family[j]] += form.masses[j];
        }
    for (size_t a = 0; a < total.size(); ++a) total[a] += form.rest[a];
    const auto take = [&](int32_t column, double b, double v, double kept, double mass, double shared) {
        const double whole = equations_.ridge[column], taken = whole - kept;
        double error = (equations_.error + rounding) * equations_.sizes[column] * (equations_.size + parts);
        error += rounding * ((taken + mass) * std::abs(b) + shared + std::abs(v));
        off += error * (error / kept);
        held += (taken + 2.0 * mass) * b * b;
    };
    for (size_t s = 0; s < m; ++s) {
        // Its part of the ridge may be either: the larger margin counts.
        const double ridge = equations_.ridge[region.in[s]], v = ridge * in[s];
        take(region.in[s], in[s], v, ridge * (1.0 - ridge_of_in), 0.0, 0.0);
        given += 0.5 * ridge * in[s] * in[s];
        quadratic += equations_.cross[region.in[s]] * in[s];
    }
    for (size_t j = 0; j < u; ++j) {
        const int32_t family = form.family[j];
        const double shared = family >= 0 && total[family] > 0.0 ? form.masses[j] * drawn[family] / total[family] : 0.0;
        take(region.free[j], point.b[j], point.v[j], equations_.ridge[region.free[j]] * (1.0 - ridge_of_others), form.masses[j],
             shared);
        quadratic += point.b[j] * (equations_.cross[region.free[j]] - point.v[j]);
    }
    const double largest = given + gains + setting_.options.lambda_0 * static_cast<double>(room() + 1) + paid();
    const double norm = std::sqrt(off),
                 squares = (equations_.error + rounding) * (equations_.size + parts) * (equations_.size + parts);
    return 1.05 *
               (squares + rounding * (held + std::abs(quadratic) + largest) + 2.0 * std::sqrt(largest) * norm + norm * norm) +
           1e-12 * setting_.incumbent.size();
}

KeptPoint GramNode::kept(const Reduced& region, const Point& point) const {
    const std::vector<double> in = decided(region, point.b);
    std::vector<std::pair<int32_t, double>> entries;
    entries.reserve(in.size() + point.b.size());
    for (size_t s = 0; s < in.size(); ++s) entries.emplace_back(region.in[s], in[s]);
    for (size_t j = 0; j < point.b.size(); ++j)
        if (point.b[j] != 0.0) entries.emplace_back(region.free[j], point.b[j]);
    std::sort(entries.begin(), entries.end());
    KeptPoint out;
    out.families = families_;
    for (const auto& [j, b] : entries) {
        out.columns.push_back(j);
        out.coefficients.push_back(b * equations_.along[j]);
    }
    return out;
}

// Models.

void GramNode::round(const Reduced& region, const Point& point) {
    std::vector<std::pair<double, int32_t>> order;
    for (size_t j = 0; j < point.b.size(); ++j)
        if (point.b[j] != 0.0) order.emplace_back(-std::abs(point.b[j]) * width_[region.free[j]], region.free[j]);
    std::sort(order.begin(), order.end());
    std::vector<int32_t> support = region.in;
    for (int k = 0; k < std::min<int>(room(), static_cast<int>(order.size())); ++k) support.push_back(order[k].second);
    std::sort(support.begin(), support.end());
    swap(std::move(support), false);
}

void GramNode::swap(std::vector<int32_t> support, bool root) {
    if (met_.size() >= most_met || !met_.insert(support).second) return;
    std::vector<int32_t> others;
    for (int32_t j = 0; j < equations_.columns(); ++j)
        if (!std::binary_search(support.begin(), support.end(), j)) others.push_back(j);
    double objective = Reduced(equations_, support, {}).base + setting_.options.lambda_0 * static_cast<double>(support.size());
    const int64_t p = equations_.columns();
    const auto work = [&](int count) { return Completions::count(p, count) * Completions::count(std::ssize(support), count); };
    while (exchange(support, objective, 1)) {
    }
    const double best = setting_.incumbent.objective();
    if (objective <= best * (1.0 + close_enough) && met_.insert(support).second && work(2) <= most_work_of_swaps)
        while (exchange(support, objective, 2)) {
            while (exchange(support, objective, 1)) {
            }
        }
    if (root && work(3) <= most_work_at_root)
        while (exchange(support, objective, 3)) {
            while (exchange(support, objective, 1) || exchange(support, objective, 2)) {
            }
        }
    if (objective < best) offer(support, objective);
}

bool GramNode::exchange(std::vector<int32_t>& support, double& objective, int count) {
    const auto m = static_cast<int>(support.size());
    if (m < count) return false;
    const double charge = setting_.options.lambda_0, enough = objective - 1e-9 * setting_.incumbent.size();
    std::vector<int> away(count);
    for (int i = 0; i < count; ++i) away[i] = i;
    std::vector<int32_t> best;
    double least = enough;
    for (;;) {
        setting_.problem.X.monitor().poll();
        std::vector<int32_t> in, free;
        for (int i = 0; i < m; ++i)
            if (std::find(away.begin(), away.end(), i) == away.end()) in.push_back(support[i]);
        for (int32_t j = 0; j < equations_.columns(); ++j)
            if (!std::binary_search(in.begin(), in.end(), j)) free.push_back(j);
        const double fixed = charge * static_cast<double>(in.size());
        const Reduced region(equations_, in, free);
        const double value = completions_.least(region, count, charge, least - fixed) + fixed;
        if (value < least) {
            least = value;
            best = in;
            for (const int32_t k : completions_.best()) best.push_back(free[k]);
        }
        int i = count - 1;
        while (i >= 0 && away[i] == m - count + i) --i;
        if (i < 0) break;
        ++away[i];
        for (int l = i + 1; l < count; ++l) away[l] = away[l - 1] + 1;
    }
    if (best.empty() && !(least < enough)) return false;
    std::sort(best.begin(), best.end());
    support = std::move(best);
    objective = least;
    return true;
}

void GramNode::offer(const std::vector<int32_t>& support, double objective) {
    if (objective < setting_.incumbent.objective()) setting_.incumbent.offer(refit_(support));
}

}  // namespace ellzero
