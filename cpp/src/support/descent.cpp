#include "ellzero/support/descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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
// Groups of several columns take longer to try: fewer of them.
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
      screening_(problem),
      lines_(problem.X.team().size(), Line(problem)) {
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
    std::vector<double> next(beta);
    for (int32_t j = 0; j < problem_.columns(); ++j)
        if (problem_.is_head(j) && !(step(j, beta.data(), slopes.data(), lambda_0, next.data()) <= most)) return false;
    std::vector<double> sums(problem_.X.blocks());
    problem_.X.block_sums(it.r.data(), sums.data());
    return !problem_.intercept || std::all_of(sums.begin(), sums.end(), [&](double slope) {
        return slope * slope <= 2.0 * curvature_safety * problem_.loss.curvature_bound() * most;
    });
}

double Descent::step(int32_t head, const double* beta, const double* slopes, double lambda_0, double* to) const {
    const Penalty& penalty = problem_.penalty;
    const Members members = problem_.members(head);
    const double price = lambda_0 * penalty.price(head);
    double change = 0.0;  // of the surrogate beside all columns at zero, without cancellation
    bool used = false, stays = false;
    for (const int32_t j : members) {
        const double curvature = problem_.curvature(j);
        const double target = beta[j] - slopes[j] / curvature;
        to[j] = curvature > 0.0 ? penalty.proximal(target, curvature, j) : beta[j];
        used |= beta[j] != 0.0;
        stays |= to[j] != 0.0;
        if (to[j] != 0.0 && curvature > 0.0) change += curvature * to[j] * (0.5 * to[j] - target) + penalty.value(to[j]);
    }
    if (stays && penalty.counted(head) && !(change + price <= 0.0)) {
        stays = false;
        for (const int32_t j : members) to[j] = 0.0;
    }
    double decrease = price * (used - stays);
    for (const int32_t j : members) {
        const double moved = to[j] - beta[j];
        decrease += penalty.value(beta[j]) - penalty.value(to[j]) - moved * (slopes[j] + 0.5 * problem_.curvature(j) * moved);
    }
    return decrease;
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
    std::vector<double> beta(problem_.columns(), 0.0), slopes(beta), to(beta);
    for (size_t k = 0; k < it.support.size(); ++k) beta[it.support[k]] = it.beta[k];
    double largest = 0.0;
    double r_sum = kernels::sum(it.r.data(), n);
    for (const int32_t head : order) {
        if (!problem_.is_head(head) || !problem_.varies(head)) continue;
        for (const int32_t j : problem_.members(head)) slopes[j] = problem_.X.dot(j, it.r.data(), r_sum);
        step(head, beta.data(), slopes.data(), lambda_0, to.data());
        double longest = 0.0;
        for (const int32_t j : problem_.members(head)) {
            const double change = to[j] - beta[j];
            if (std::abs(change) > std::abs(longest)) longest = change;
            largest = std::max(largest, problem_.curvature(j) * change * change);
        }
        if (longest == 0.0) continue;
        move(it, head, to.data());
        for (const int32_t j : problem_.members(head)) beta[j] = to[j];
        refresh_residual(it, head, r_sum);
        if (trace) {
            const double loss = problem_.loss.value(n, it.eta.data(), problem_.y, problem_.w);
            trace->push_back({head, longest, loss + it.penalty() + lambda_0 * it.spent});
        }
    }
    it.evaluate(problem_.loss);
    return largest;
}

void Descent::move(Iterate& it, int32_t head, const double* to) const {
    const Members members = problem_.members(head);
    const auto place = [&](int32_t j) { return static_cast<size_t>(std::ranges::find(it.support, j) - it.support.begin()); };
    const bool zero = std::all_of(members.begin(), members.end(), [&](int32_t j) { return to[j] == 0.0; });
    if (zero && problem_.penalty.counted(head)) return it.remove(place(head));
    if (!it.contains(head)) it.add(head, 0.0);
    for (const int32_t j : members) {
        double& beta = it.beta[place(j)];
        if (to[j] != beta) problem_.X.axpy(j, to[j] - beta, it.eta.data());
        beta = to[j];
    }
}

void Descent::refresh_residual(Iterate& it, int32_t head, double& r_sum) {
    const Design& design = problem_.X.design();
    for (const int32_t j : problem_.members(head)) {
        const bool all = problem_.X.centred() || design.couples_rows();
        const Design::Entries changed = all ? Design::Entries{0, nullptr, nullptr} : design.entries(j, rows_, values_);
        if (!changed.rows) {
            problem_.loss.residual(problem_.rows(), it.eta.data(), problem_.y, problem_.w, it.r.data());
            r_sum = kernels::sum(it.r.data(), problem_.rows());
            return;
        }
        for (int64_t k = 0; k < changed.count; ++k) {
            const int32_t i = changed.rows[k];
            r_sum -= it.r[i];
            problem_.loss.residual(1, &it.eta[i], &problem_.y[i], &problem_.w[i], &it.r[i]);
            r_sum += it.r[i];
        }
    }
}

std::vector<double> Descent::removal_costs(const Iterate& it, int32_t kept) {
    std::vector<double> costs = refit_.removal_costs(it);
    for (size_t k = 0; k < costs.size(); ++k) {
        const int32_t j = it.support[k];
        if (!problem_.penalty.counted(j) || !problem_.is_head(j) || j == kept) costs[k] = Penalty::infinity;
        else costs[k] /= problem_.penalty.price(j);
    }
    return costs;
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
    // Theorem 1 as the largest lambda_0 at which the boxed surrogate keeps the feature; without a bound in the way it is, of
    // one column, beta_i^2 (L_hat_i + 2 lambda_2) / 2.
    problem_.X.dots(support, it.r.data(), r_);
    std::vector<double> limits(support.size(), 0.0);
    for (size_t k = 0; k < support.size(); ++k) {
        const double b = it.beta[k];
        const int32_t head = problem_.head(support[k]);
        const auto at = head == support[k] ? static_cast<int64_t>(k) : std::ranges::find(support, head) - support.begin();
        limits[at] += b * (0.5 * problem_.curvature(support[k]) * b - r_[k]) - problem_.penalty.value(b);
    }
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
    d_.resize(problem_.rows());
    problem_.X.design().curvature_diagonal(finite_curvatures(problem_, it).data(), d_.data());
    const double flat = kernels::sum(d_.data(), problem_.rows()) / static_cast<double>(problem_.X.blocks()) /
                        problem_.broad_loss().curvature_bound();
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
    const bool kink = problem_.loss.has_kink();
    const int batch = 1 + it.size / 16;
    int entered = 0, failed = 0;
    for (const auto& [column, first_slope, first_gain] : found.candidates) {
        const bool several = problem_.members(column).size() > 1;
        const double price = problem_.penalty.price(column);
        double slope = first_slope, gain = first_gain;
        if (entered > 0) {
            slope = problem_.X.dot(column, it.r.data(), kernels::sum(it.r.data(), problem_.rows()));
            gain = problem_.penalty.entry_gain(slope, problem_.entry_curvature(column), column) / price;
            if (several || gain <= flatness * lambda_0) continue;
        }
        // Theorem 1 forbids leaving these outside; the others are tried while there is hope.
        const bool required = gain > lambda_0 && !kink;
        if (!required && failed >= trials(column)) break;
        if (several && kink) continue;  // a refit says what it gains
        const Line::Minimum minimum = several ? group_gain(it, column) : lines_[0].along(it.eta.data(), column, slope);
        if (minimum.gain <= lambda_0 * price + margin) {
            ++failed;
            continue;
        }
        it.add(column, minimum.at);
        if (several) return true;
        it.evaluate(problem_.loss);
        if (++entered >= batch) return true;
    }
    if (entered == 0 && kink) return enter_jointly(it, lambda_0, found, current);
    return entered > 0;
}

int Descent::trials(int32_t head) const { return problem_.members(head).size() == 1 ? exact_trials : group_trials; }

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

double Descent::joint_gain(Iterate& it, int32_t head, double lambda_0, const Model& before) {
    it.add(head, 0.0);
    descend(it, lambda_0);
    it.prune();
    return before.cost - it.true_cost();
}

Line::Minimum Descent::group_gain(Iterate& it, int32_t head) {
    if (problem_.loss.has_kink()) {  // at its corners nothing can move alone
        const Model before = it.model();
        const double gain = joint_gain(it, head, 0.0, before);
        it.load(before);
        return {0.0, gain};
    }
    if (!beside_) beside_.emplace(problem_);
    beside_->begin_beside(it, head);
    const double before = beside_->cost();
    refit_beside_.run(*beside_, negligible(it, 0.0));
    return {0.0, before - beside_->cost()};
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
    screening_.foresee(models.size(), [&](size_t k) -> const std::vector<double>& {
        it.load(*models[k]);
        return it.r;
    });
}

Descent::Entry Descent::best_entry(Iterate& it) {
    const auto look = [&](Radius radius) {
        return screening_.above(it, Penalty::infinity, 0.0, exact_trials, radius, Currency::gain_per_price);
    };
    auto found = look(Radius::likely);
    if (found.candidates.empty()) found = look(Radius::certain);
    std::vector<Candidate>& candidates = found.candidates;
    size_t count = 0;
    while (count < candidates.size() && std::cmp_less(count, trials(candidates[count].column))) ++count;
    candidates.resize(count);
    std::vector<int32_t> columns(count);
    std::ranges::transform(candidates, columns.begin(), &Candidate::column);
    const auto held = problem_.X.design().hold(columns);
    const auto several = [&](int64_t k) { return problem_.members(columns[k]).size() > 1; };
    std::vector<Line::Minimum> minima(count);
    problem_.X.team().run(std::ssize(columns), 1, [&](int64_t begin, int64_t end, int thread) {
        for (int64_t k = begin; k < end; ++k)
            if (!several(k)) minima[k] = lines_[thread].along(it.eta.data(), columns[k], candidates[k].slope);
    }, std::ssize(columns) * problem_.rows() * work_of_a_line);
    Entry best{-1, 0.0, 0.0};
    for (size_t k = 0; k < count; ++k) {
        if (several(static_cast<int64_t>(k))) minima[k] = group_gain(it, columns[k]);
        const double gain = std::max(candidates[k].gain, minima[k].gain / problem_.penalty.price(columns[k]));
        if (gain > best.gain) best = {columns[k], minima[k].at, gain};
    }
    return best;
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
