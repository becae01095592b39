#include "ellzero/support/descent.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

// Relative changes of the objective below this are noise.
constexpr double rounding = 1e-12;
constexpr int most_cycles = 10000;
// Candidates that Theorem 1 leaves outside but whose exact gain may still pay lambda_0: this many are tried.
constexpr int exact_trials = 8;
// Candidates for the hinge that are tried with a refit when none can enter alone.
constexpr size_t joint_trials = 2;
// Features that are tried without, the cheapest first: where the loss is far from its model, estimates err by half.
constexpr int removal_trials = 3;
// Groups take longer to try: fewer of them.
constexpr int group_trials = 3;
// Operations of a search along a line, for each row.
constexpr int64_t work_of_a_line = 32;
// The loss is flatter at the present eta than its curvature bound says; gains are larger by at most this factor.
constexpr double flattest = 0.25;

}  // namespace

Descent::Descent(const Problem& problem)
    : problem_(problem),
      refit_(problem),
      refit_beside_(problem),
      beside_(problem),
      screening_(problem),
      lines_(exact_trials, Line(problem)) {
    const std::vector<double> zero(problem.rows(), 0.0);
    null_cost_ = problem.loss.value(problem.rows(), zero.data(), problem.y, problem.w);
}

double Descent::size_of_objective(const Iterate& it, double lambda_0) const {
    return std::max(it.cost() + lambda_0 * it.spent, 1e-4 * null_cost_);
}

double Descent::negligible(const Iterate& it, double lambda_0) const {
    return 1e-2 * problem_.tolerance * size_of_objective(it, lambda_0);
}

bool Descent::stands(const Iterate& it, double lambda_0) const {
    const double most = problem_.tolerance * size_of_objective(it, lambda_0);
    std::vector<double> slopes(problem_.columns()), beta(problem_.columns(), 0.0);
    problem_.X.all_dots(it.r.data(), slopes.data());
    for (size_t k = 0; k < it.support.size(); ++k) beta[it.support[k]] = it.beta[k];
    const Penalty& penalty = problem_.penalty;
    for (int32_t j = 0; problem_.groups && j < problem_.columns(); ++j)
        if (problem_.is_head(j) && !(group_step(j, beta.data(), slopes.data(), lambda_0).decrease <= most)) return false;
    for (int32_t j = 0; !problem_.groups && j < problem_.columns(); ++j) {
        const double curvature = problem_.curvature(j);
        if (curvature <= 0.0) continue;
        const double from = beta[j], to = penalty.threshold(from - slopes[j] / curvature, curvature, lambda_0, j);
        const double price = lambda_0 * penalty.price(j) * ((from != 0.0) - (to != 0.0));
        const double step = to - from;
        const double decrease = price + penalty.value(from) - penalty.value(to) - step * (slopes[j] + 0.5 * curvature * step);
        if (!(decrease <= most)) return false;
    }
    std::vector<double> sums(problem_.X.blocks());
    problem_.X.block_sums(it.r.data(), sums.data());
    return !problem_.intercept || std::all_of(sums.begin(), sums.end(), [&](double slope) {
        return slope * slope <= 2.0 * curvature_safety * problem_.loss.curvature_bound() * most;
    });
}

Descent::GroupStep Descent::group_step(int32_t head, const double* beta, const double* slopes, double lambda_0) const {
    const Penalty& penalty = problem_.penalty;
    GroupStep out;
    bool used = false, stays = false;
    double before = 0.0, after = 0.0, without = 0.0;  // the surrogate but for the price
    const auto surrogate = [&](int32_t j, double from, double to) {
        const double step = to - from;
        return penalty.value(to) + step * (slopes[j] + 0.5 * problem_.curvature(j) * step);
    };
    for (const int32_t j : problem_.members(head)) {
        const double curvature = problem_.curvature(j), from = beta[j];
        const double to = curvature > 0.0 ? penalty.proximal(from - slopes[j] / curvature, curvature, j) : from;
        used |= from != 0.0;
        stays |= to != 0.0;
        before += penalty.value(from);
        after += surrogate(j, from, to);
        without += surrogate(j, from, 0.0);
        out.from.push_back(from);
        out.to.push_back(to);
    }
    const double price = lambda_0 * penalty.price(head);
    if (penalty.counted(head) && without < after + price * stays) {
        std::fill(out.to.begin(), out.to.end(), 0.0);
        after = without;
        stays = false;
    }
    out.decrease = before - after + price * (used - stays);
    return out;
}

bool Descent::descend(Iterate& it, double lambda_0, double target) {
    const double floor = negligible(it, lambda_0);
    if (std::ssize(it.support) <= Refit::largest) return refit_.run(it, floor, target);
    it.evaluate(problem_.loss);
    for (int cycles = 0; cycles < most_cycles; ++cycles) {
        problem_.X.monitor().poll();
        refit_.intercept(it);
        if (cycle(it, it.support, lambda_0) <= floor / static_cast<double>(problem_.columns())) return true;
    }
    return false;
}

double Descent::cycle(Iterate& it, const std::vector<int32_t>& columns, double lambda_0, std::vector<Step>* trace) {
    const int64_t n = problem_.rows();
    // A copy: `columns` may be the support, which changes below.
    const std::vector<int32_t> order(columns);  // NOLINT(performance-unnecessary-copy-initialization)
    double largest = 0.0;
    double r_sum = kernels::sum(it.r.data(), n);
    if (problem_.groups) return cycle_groups(it, order, lambda_0, trace);
    for (const int32_t j : order) {
        const double curvature = problem_.curvature(j);
        if (curvature <= 0.0) continue;
        size_t position = it.support.size();
        if (it.contains(j))
            position = static_cast<size_t>(std::find(it.support.begin(), it.support.end(), j) - it.support.begin());
        const double from = position < it.support.size() ? it.beta[position] : 0.0;
        const double slope = problem_.X.dot(j, it.r.data(), r_sum);
        const double to = problem_.penalty.threshold(from - slope / curvature, curvature, lambda_0, j);
        if (to == from) continue;
        largest = std::max(largest, curvature * (to - from) * (to - from));
        if (to == 0.0 && problem_.penalty.counted(j)) {
            it.remove(position);
        } else if (position == it.support.size()) {
            it.add(j, to);
        } else {
            it.beta[position] = to;
            problem_.X.axpy(j, to - from, it.eta.data());
        }
        // Sparse columns change few rows, so only their residuals are recomputed.
        const Design::Entries entries =
            problem_.X.centred() ? Design::Entries{n, nullptr, nullptr} : problem_.X.design().entries(j, rows_, values_);
        if (entries.rows) {
            for (int64_t k = 0; k < entries.count; ++k) {
                const int32_t i = entries.rows[k];
                r_sum -= it.r[i];
                problem_.loss.residual(1, &it.eta[i], &problem_.y[i], &problem_.w[i], &it.r[i]);
                r_sum += it.r[i];
            }
        } else {
            problem_.loss.residual(n, it.eta.data(), problem_.y, problem_.w, it.r.data());
            r_sum = kernels::sum(it.r.data(), n);
        }
        if (trace) {
            const double loss = problem_.loss.value(n, it.eta.data(), problem_.y, problem_.w);
            trace->push_back({j, to - from, loss + it.penalty() + lambda_0 * it.spent});
        }
    }
    it.evaluate(problem_.loss);
    return largest;
}

double Descent::cycle_groups(Iterate& it, const std::vector<int32_t>& columns, double lambda_0, std::vector<Step>* trace) {
    const int64_t n = problem_.rows();
    std::vector<double> beta(problem_.columns(), 0.0), slopes(problem_.columns(), 0.0);
    for (size_t k = 0; k < it.support.size(); ++k) beta[it.support[k]] = it.beta[k];
    double largest = 0.0;
    for (const int32_t head : columns) {
        if (!problem_.is_head(head)) continue;
        const Members members = problem_.members(head);
        const double r_sum = kernels::sum(it.r.data(), n);
        for (const int32_t j : members) slopes[j] = problem_.X.dot(j, it.r.data(), r_sum);
        const GroupStep step = group_step(head, beta.data(), slopes.data(), lambda_0);
        double longest = 0.0;
        for (size_t a = 0; a < members.size(); ++a) {
            const int32_t j = members.begin()[a];
            const double change = step.to[a] - step.from[a];
            if (std::abs(change) > std::abs(longest)) longest = change;
            largest = std::max(largest, problem_.curvature(j) * change * change);
            if (change != 0.0) problem_.X.axpy(j, change, it.eta.data());
            beta[j] = step.to[a];
        }
        if (longest == 0.0) continue;
        const bool zero = std::all_of(step.to.begin(), step.to.end(), [](double b) { return b == 0.0; });
        if (!it.contains(head)) it.add(head, 0.0);
        for (size_t k = 0; k < it.support.size(); ++k) it.beta[k] = beta[it.support[k]];
        if (zero && problem_.penalty.counted(head))
            it.remove(static_cast<size_t>(std::find(it.support.begin(), it.support.end(), head) - it.support.begin()));
        problem_.loss.residual(n, it.eta.data(), problem_.y, problem_.w, it.r.data());
        if (trace) {
            const double loss = problem_.loss.value(n, it.eta.data(), problem_.y, problem_.w);
            trace->push_back({head, longest, loss + it.penalty() + lambda_0 * it.spent});
        }
    }
    it.evaluate(problem_.loss);
    return largest;
}

std::vector<double> Descent::removal_costs(const Iterate& it, int32_t kept) {
    std::vector<double> costs = refit_.removal_costs(it);
    for (size_t k = 0; k < costs.size(); ++k) {
        const int32_t j = it.support[k];
        if (!problem_.penalty.counted(j) || !problem_.is_head(j) || j == kept) costs[k] = Penalty::infinity;
        else if (problem_.penalty.unequal) costs[k] /= problem_.penalty.price(j);
    }
    return costs;
}

// Adds what the columns of a group have to what its head has.
void Descent::sum_at_heads(const Iterate& it, std::vector<double>& values) const {
    std::unordered_map<int32_t, size_t> place;
    for (size_t k = 0; k < it.support.size(); ++k)
        if (problem_.is_head(it.support[k])) place[it.support[k]] = k;
    for (size_t k = 0; k < it.support.size(); ++k)
        if (!problem_.is_head(it.support[k])) values[place.at(problem_.head(it.support[k]))] += values[k];
}

// Takes out one feature if that lowers P: one that Theorem 1 forbids, or one of the cheapest by the refitted estimate.
bool Descent::drop(Iterate& it, double lambda_0, Model& current) {
    if (it.size == 0) return false;
    if (lambda_0 == 0.0 || std::ssize(it.support) > Refit::largest) {
        current.leaves_above = lambda_0;  // nothing has been looked at
        return false;
    }
    const std::vector<int32_t> support = it.support;
    std::vector<double> costs = removal_costs(it);
    // Theorem 1 as the largest lambda_0 at which the boxed surrogate keeps the coordinate; without a bound in the way it is
    // beta_i^2 (L_hat_i + 2 lambda_2) / 2.
    problem_.X.dots(support, it.r.data(), r_);
    std::vector<double> limits(support.size());
    for (size_t k = 0; k < support.size(); ++k) {
        const double b = it.beta[k];
        limits[k] = b * (0.5 * problem_.curvature(support[k]) * b - r_[k]) - problem_.penalty.value(b);
    }
    if (problem_.groups) sum_at_heads(it, limits);
    for (size_t k = 0; k < support.size(); ++k)
        limits[k] = costs[k] < Penalty::infinity ? limits[k] / problem_.penalty.price(support[k]) : Penalty::infinity;
    const auto least = std::ranges::min_element(limits);
    const auto forbidden = static_cast<size_t>(least - limits.begin());
    if (*least < lambda_0 && leave(it, support[forbidden], lambda_0, Penalty::infinity, current, costs[forbidden])) return true;
    for (int trial = 0; trial < removal_trials; ++trial) {
        const auto next = static_cast<size_t>(std::ranges::min_element(costs) - costs.begin());
        if (costs[next] >= lambda_0) break;
        // What the cheapest costs says how far the model stands; of the others it is enough that they do not pay.
        const double most = current.cost + lambda_0 * problem_.penalty.price(support[next]);
        if (leave(it, support[next], lambda_0, trial == 0 ? Penalty::infinity : most, current, costs[next])) return true;
    }
    current.leaves_above = *least;
    for (const double cost : costs)
        if (cost >= lambda_0) current.leaves_above = std::min(current.leaves_above, cost);
    return false;
}

bool Descent::leave(Iterate& it, int32_t column, double lambda_0, double target, Model& current, double& cost) {
    it.remove(static_cast<size_t>(std::ranges::find(it.support, column) - it.support.begin()));
    it.evaluate(problem_.loss);
    const bool fitted = descend(it, lambda_0, target);
    if (!fitted && it.cost() > target) {
        it.load(current);
        cost = Penalty::infinity;
        return false;
    }
    it.prune();
    Model without = it.model();
    without.converged = fitted;
    if (without.objective(lambda_0) < current.objective(lambda_0) - rounding * std::abs(current.objective(lambda_0))) {
        current = std::move(without);
        return true;
    }
    it.load(current);
    cost = std::max(lambda_0, (without.cost - current.cost) / problem_.penalty.price(column));
    return false;
}

// Lets the best columns in, greedily. The gradients of the others are refreshed after each entry.
bool Descent::enter(Iterate& it, double lambda_0, Radius radius, Model& current) {
    // Flatness: the loss's curvature at eta over its bound. A column's true gain is about its surrogate gain over this.
    const Loss broad = problem_.broad_loss();
    r_.resize(problem_.rows()), d_.resize(problem_.rows());
    broad.evaluate(problem_.rows(), it.eta.data(), problem_.y, problem_.w, r_.data(), d_.data());
    problem_.X.design().curvature_diagonal(d_.data(), r_.data());
    const double flat =
        kernels::sum(r_.data(), problem_.rows()) / static_cast<double>(problem_.X.blocks()) / broad.curvature_bound();
    const double flatness = std::clamp(flat, flattest, 1.0);
    // Without lambda_0 the minimum itself is wanted: there a small gain is worth as much more as the loss is flatter.
    const double margin = negligible(it, lambda_0),
                 least = 1e-2 * margin * (lambda_0 == 0.0 ? std::clamp(flat, 1e-6, 1.0) : 1.0);
    const Currency currency = lambda_0 == 0.0 ? Currency::gain : Currency::gain_per_price;
    const auto found =
        screening_.above(it, std::max(lambda_0, least), std::max(flatness * lambda_0, least), exact_trials, radius, currency);
    double best = found.rest;
    for (const Candidate& candidate : found.candidates) best = std::max(best, candidate.gain);
    current.enters_below = std::min(lambda_0, best / flatness);
    current.certain = radius == Radius::certain;

    if (lambda_0 == 0.0) {  // convex: all that pull enter at once, as many as are in already
        const size_t batch = std::min(found.candidates.size(), std::max<size_t>(16, it.support.size()));
        for (size_t k = 0; k < batch; ++k) it.add(found.candidates[k].column, 0.0);
        return batch > 0;
    }
    if (problem_.groups) return enter_groups(it, lambda_0, found, current);
    const int batch = 1 + it.size / 16;
    int entered = 0, failed = 0;
    for (const Candidate& candidate : found.candidates) {
        const double price = problem_.penalty.price(candidate.column);
        double slope = candidate.slope, gain = candidate.gain;
        if (entered > 0) {
            slope = problem_.X.dot(candidate.column, it.r.data(), kernels::sum(it.r.data(), problem_.rows()));
            gain = problem_.penalty.entry_gain(slope, problem_.entry_curvature(candidate.column), candidate.column) / price;
            if (gain <= flatness * lambda_0) continue;
        }
        // Theorem 1 forbids leaving these outside; the others are tried while there is hope.
        const bool required = gain > lambda_0 && !problem_.loss.has_kink();
        if (!required && failed >= exact_trials) break;
        const Line::Minimum minimum = lines_[0].along(it.eta.data(), candidate.column, slope);
        if (minimum.gain <= lambda_0 * price + margin) {
            ++failed;
            continue;
        }
        it.add(candidate.column, minimum.at);
        it.evaluate(problem_.loss);
        if (++entered >= batch) return true;
    }
    if (entered == 0 && problem_.loss.has_kink()) return enter_jointly(it, lambda_0, found, current);
    return entered > 0;
}

// At a corner of the hinge no coordinate can move alone, though together they can: the best candidates are tried with a refit.
// Theorem 1 asks nothing here (the bend is too narrow), so what the trials gained is where the next entry is due.
bool Descent::enter_jointly(Iterate& it, double lambda_0, const Screening::Result& found, Model& current) {
    const double margin = negligible(it, lambda_0);
    double best = 0.0;
    for (size_t k = 0; k < std::min<size_t>(found.candidates.size(), joint_trials); ++k) {
        const double gain = joint_gain(it, found.candidates[k].column, lambda_0, current);
        if (gain > lambda_0 * (it.spent - current.spent) + margin) return true;
        best = std::max(best, gain / problem_.penalty.price(found.candidates[k].column));
        it.load(current);
    }
    if (!found.candidates.empty()) current.enters_below = std::min(lambda_0, best);
    return false;
}

// Lets a group in, the best first. What it gains is at least what the surrogate promises, so that Theorem 1 holds where no
// candidate pays.
bool Descent::enter_groups(Iterate& it, double lambda_0, const Screening::Result& found, Model& current) {
    const double margin = negligible(it, lambda_0);
    int failed = 0;
    for (const Candidate& candidate : found.candidates) {
        if (candidate.gain <= lambda_0 && failed >= group_trials) break;
        const double wanted = lambda_0 * problem_.penalty.price(candidate.column) + margin;
        if (problem_.loss.has_kink()) {  // a refit says what it gains: it stays, if it is good
            if (joint_gain(it, candidate.column, lambda_0, current) > wanted) return true;
            it.load(current);
        } else if (group_gain(it, candidate.column) > wanted) {
            it.add(candidate.column, 0.0);
            return true;
        }
        ++failed;
    }
    return false;
}

double Descent::joint_gain(Iterate& it, int32_t column, double lambda_0, const Model& before) {
    it.add(column, 0.0);
    descend(it, lambda_0);
    it.prune();
    return before.cost - it.true_cost();
}

double Descent::group_gain(Iterate& it, int32_t head) {
    if (problem_.loss.has_kink()) {  // at its corners nothing can move alone
        const Model before = it.model();
        const double gain = joint_gain(it, head, 0.0, before);
        it.load(before);
        return gain;
    }
    beside_.begin_beside(it, head);
    const double before = beside_.cost();
    refit_beside_.run(beside_, negligible(it, 0.0));
    return before - beside_.cost();
}

Model Descent::refit(Iterate& it, double target) {
    const bool converged = descend(it, 0.0, target);
    if (!converged && it.cost() > target) {
        Model none;
        none.cost = Penalty::infinity;
        return none;
    }
    it.prune();
    Model out = it.model();
    out.converged = converged;
    return out;
}

Model Descent::solve(Iterate& it, double lambda_0, int max_support, Radius radius) {
    Model last;
    for (int round = 0;; ++round) {
        problem_.X.monitor().poll();
        const bool fitted = descend(it, lambda_0);
        it.prune();
        Model current = it.model();
        current.converged = fitted;
        // P falls with every entry, which is why this ends; where smoothing or rounding eats the gain, the entry is undone.
        if (round > 0 &&
            !(current.objective(lambda_0) < last.objective(lambda_0) - rounding * std::abs(last.objective(lambda_0)))) {
            it.load(last);
            return last;
        }
        while (drop(it, lambda_0, current)) {
        }
        if (it.size > max_support) return current;
        if (!enter(it, lambda_0, radius, current)) return current;
        last = std::move(current);
    }
}

void Descent::foresee(Iterate& it, const std::vector<const Model*>& models) {
    std::vector<std::vector<double>> residuals;
    for (const Model* model : models) {
        it.load(*model);
        residuals.push_back(it.r);
    }
    screening_.foresee(residuals);
}

Descent::Entry Descent::best_entry(Iterate& it) {
    const auto look = [&](Radius radius) {
        return screening_.above(it, Penalty::infinity, 0.0, exact_trials, radius, Currency::gain_per_price);
    };
    auto found = look(Radius::likely);
    if (found.candidates.empty()) found = look(Radius::certain);
    if (std::ssize(found.candidates) > exact_trials) found.candidates.resize(exact_trials);
    if (problem_.groups && std::ssize(found.candidates) > group_trials) found.candidates.resize(group_trials);
    Entry best{-1, 0.0, 0.0};
    for (const Entry& entry : problem_.groups ? tried_groups(it, found.candidates) : tried(it, found.candidates))
        if (entry.gain > best.gain) best = entry;
    return best;
}

// At most exact_trials candidates, side by side.
std::vector<Descent::Entry> Descent::tried(const Iterate& it, const std::vector<Candidate>& candidates) {
    const int64_t count = std::ssize(candidates);
    std::vector<int32_t> columns(candidates.size());
    std::ranges::transform(candidates, columns.begin(), &Candidate::column);
    const auto held = problem_.X.design().hold(columns);
    std::vector<Entry> out(candidates.size());
    problem_.X.team().run(count, 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t k = begin; k < end; ++k) {
            const auto& [column, slope, gain] = candidates[k];
            const Line::Minimum minimum = lines_[k].along(it.eta.data(), column, slope);
            out[k] = {column, minimum.at, std::max(gain, minimum.gain / problem_.penalty.price(column))};
        }
    }, count * problem_.rows() * work_of_a_line);
    return out;
}

std::vector<Descent::Entry> Descent::tried_groups(Iterate& it, const std::vector<Candidate>& candidates) {
    std::vector<Entry> out(candidates.size());
    std::ranges::transform(candidates, out.begin(), [&](const Candidate& candidate) -> Entry {
        const auto& [column, slope, gain] = candidate;
        return {column, 0.0, std::max(gain, group_gain(it, column) / problem_.penalty.price(column))};
    });
    return out;
}

double Descent::next_lambda_0(Iterate& it) {
    const double gain = best_entry(it).gain;
    return gain > rounding * null_cost_ ? gain : 0.0;  // less is the rounding of slopes that are zero
}

bool Descent::extend(Iterate& it) {
    const Entry best = best_entry(it);
    if (best.column < 0) return false;
    it.add(best.column, best.at);
    return true;
}

bool Descent::shrink(Iterate& it, int32_t kept) {
    const std::vector<double> costs = removal_costs(it, kept);
    const auto cheapest = std::ranges::min_element(costs);
    if (cheapest == costs.end() || *cheapest == Penalty::infinity) return false;
    it.remove(static_cast<size_t>(cheapest - costs.begin()));
    return true;
}

}  // namespace ellzero
