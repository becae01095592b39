// Bounds from dual points: below the objective of every model of their region, whatever the dual point; and close to the best
// of them where the dual point is good.
#include <algorithm>
#include <limits>

#include "ellzero/exact/region_bound.hpp"
#include "ellzero/relaxation/relaxation.hpp"
#include "problems.hpp"

using namespace ellzero;
using harness::Instance;
using harness::Random;
using harness::Shape;

namespace {

constexpr LossKind kinds[] = {LossKind::logistic, LossKind::squared_hinge, LossKind::hinge, LossKind::squared_error,
                              LossKind::huber};
constexpr double free_bound = 1e3;

Shape random_shape(Random& random, LossKind loss) {
    Shape out;
    out.loss = loss;
    out.intercept = random.coin();
    out.standardised = random.coin();
    out.bounded = random.coin();
    out.unpenalized = random.coin(0.3);
    out.priced = random.coin(0.4);
    out.lambda_1 = random.coin() ? 0.0 : random.magnitude(-4.0, -1.0);
    // Without bounds it is lambda_2 that holds the coefficients.
    out.lambda_2 = out.bounded && random.coin(0.3) ? 0.0 : random.magnitude(-4.0, -1.0);
    return out;
}

DualPoint dual_at(const Instance& instance, const std::vector<double>& eta, const std::vector<int32_t>& free = {}) {
    const Problem& problem = instance.problem();
    std::vector<double> r(problem.rows()), d(problem.rows());
    problem.loss.evaluate(problem.rows(), eta.data(), problem.y, problem.w, r.data(), d.data());
    DualPoint out;
    std::vector<Slope> wanted;
    wanted.reserve(free.size());
    for (const int32_t j : free) wanted.push_back({j, 0.0});
    make_dual(problem, {{}, {}, {0.0}, eta, r, d}, wanted, problem.penalty.lambda_2 == 0.0, nullptr, out);
    return out;
}

// Some features in, some out, a limit on their number or their prices, or a neighbourhood of a support: what a node of a tree
// may be.
struct Part {
    Part(Random& random, const Problem& problem) : penalty(problem.penalty) {
        const int64_t p = problem.columns();
        options.lambda_0 = random.magnitude(-3.0, -0.5);
        options.k = p;
        options.free_bound = free_bound;
        const int64_t kind = random.integer(0, 3);
        if (kind == 1) options.k = random.integer(1, p);
        if (kind == 3) options.budget = random.uniform(0.2, 3.0);
        if (kind == 2) {
            SwapNeighbourhood& swaps = options.swaps;
            swaps.home.resize(p);
            for (int32_t j = 0; j < p; ++j) swaps.home[j] = problem.penalty.counted(j) && random.coin() ? 1 : 0;
            swaps.homes = std::count(swaps.home.begin(), swaps.home.end(), 1);
            swaps.size = random.integer(0, 2);
        }
        // Blocks of one feature or more; those of several are outside of the home.
        const auto alone = [&](int32_t j) { return options.swaps.at_home(j); };
        for (int32_t j = 0; j < p; ++j) {
            if (!problem.penalty.counted(j) || !random.coin(0.4)) continue;
            Decision decision{{j}, random.coin(0.4)};
            while (j + 1 < p && problem.penalty.counted(j + 1) && !alone(j) && !alone(j + 1) && random.coin(0.4))
                decision.block.push_back(++j);
            decisions.push_back(decision);
        }
    }

    void leave_out_the_rest(const Problem& problem) {
        std::vector<uint8_t> decided(problem.columns(), 0);
        for (Decision& decision : decisions) {
            if (decision.in) decision.block.resize(1);
            for (const int32_t j : decision.block) decided[j] = 1;
        }
        for (int32_t j = 0; j < problem.columns(); ++j)
            if (!decided[j] && problem.penalty.counted(j)) decisions.push_back({{j}, false});
    }

    // Decides one block after the other, as a tree does. False if nothing is left.
    bool load(Region& region, double cutoff = Penalty::infinity) const {
        State state;
        if (!region.load(state, {}, cutoff)) return false;
        for (Decision decision : decisions) {
            region.store(state);
            // A limit may have decided some of it already.
            const auto has = [&](Region::Status status) {
                return std::any_of(decision.block.begin(), decision.block.end(),
                                   [&](int32_t j) { return region.status(j) == status; });
            };
            const bool in = has(Region::Status::in);
            if (in && !decision.in) return false;
            if (!in && decision.in && !has(Region::Status::undecided)) return false;
            std::erase_if(decision.block, [&](int32_t j) { return !region.undecided(j); });
            if ((in && decision.in) || decision.block.empty()) continue;
            if (!region.load(state, decision, cutoff)) return false;
        }
        return true;
    }

    // Whether a support of counted features belongs to it.
    bool holds(const std::vector<int32_t>& support) const {
        const auto used = [&](int32_t j) { return std::find(support.begin(), support.end(), j) != support.end(); };
        for (const Decision& decision : decisions)
            if (std::any_of(decision.block.begin(), decision.block.end(), used) != decision.in) return false;
        const SwapNeighbourhood& swaps = options.swaps;
        double prices = 0.0;
        for (const int32_t j : support) prices += penalty.price(j);
        if (!swaps.limits()) return std::ssize(support) <= options.k && prices <= options.budget;
        int64_t left = 0, came = 0;
        for (int32_t j = 0; j < std::ssize(swaps.home); ++j) {
            left += swaps.home[j] && !used(j);
            came += !swaps.home[j] && used(j);
        }
        return left <= swaps.size && came <= swaps.size;
    }

    const Penalty& penalty;
    ExactOptions options;
    std::vector<Decision> decisions;
};

struct Candidate {
    std::vector<int32_t> support;  // counted features
    Model model;                   // with the unpenalized ones
};

// The best model of each support.
std::vector<Candidate> all_models(const Instance& instance) {
    const Problem& problem = instance.problem();
    std::vector<Candidate> out;
    for (uint32_t bits = 0; bits < 1U << problem.columns(); ++bits) {
        std::vector<int32_t> support;
        bool counted = true;
        for (int32_t j = 0; j < problem.columns(); ++j)
            if (bits >> j & 1U) {
                support.push_back(j);
                counted = counted && problem.penalty.counted(j);
            }
        if (counted) out.push_back({support, instance.fit(support)});
    }
    return out;
}

double objective(const Instance& instance, const Candidate& candidate, double lambda_0) {
    double prices = 0.0;
    for (const int32_t j : candidate.support) prices += instance.problem().penalty.price(j);
    return instance.cost(candidate.model) + lambda_0 * prices;
}

// A model of the candidate's support with other coefficients, inside the region's boxes.
Candidate disturbed(Random& random, Candidate candidate, const Region& region, bool intercept) {
    Model& model = candidate.model;
    for (size_t k = 0; k < model.beta.size(); ++k) {
        const Box& box = region.box(model.support[k]);
        model.beta[k] = std::clamp(model.beta[k] + random.uniform(-0.1, 0.1), box.low, box.high);
    }
    model.intercept.resize(1, 0.0);
    if (intercept) model.intercept.front() += random.uniform(-0.1, 0.1);
    return candidate;
}

bool within(const Region& region, const Model& model) {
    for (size_t k = 0; k < model.beta.size(); ++k) {
        const Box& box = region.box(model.support[k]);
        if (model.beta[k] < box.low || model.beta[k] > box.high) return false;
    }
    return true;
}

// A feature whose best coefficient is zero is not used: such a model is that of a smaller support.
bool uses_all(const Candidate& candidate) {
    const Model& model = candidate.model;
    return std::all_of(candidate.support.begin(), candidate.support.end(), [&](int32_t j) {
        const auto place = std::find(model.support.begin(), model.support.end(), j) - model.support.begin();
        return place < std::ssize(model.beta) && model.beta[place] != 0.0;
    });
}

// The relaxation of the region over all of its columns, solved well.
struct Solved {
    double value;  // with the prices of what is in
    DualPoint dual;
};
Solved relax(const Instance& instance, const Part& part, const Region& region) {
    const Problem& problem = instance.problem();
    const bool hinge = problem.loss.kind == LossKind::hinge;
    std::vector<Relaxation::Coordinate> coordinates;
    for (const auto* columns : {&region.in(), &region.always(), &region.undecided()})
        for (const int32_t j : *columns)
            coordinates.push_back(
                {j, region.box(j), region.undecided(j) ? std::max(region.group(j), Charges::pool) : region.group(j), 0.0});
    Relaxation relaxation(problem);
    Charges charges{part.options.lambda_0, 0.0, {}, region.room(), region.by_price(), region.cheapest()};
    for (const double price : charges.cheapest) charges.clauses.push_back(charges.of_pool(price));
    relaxation.begin(coordinates, {}, charges);
    if (hinge) relaxation.smooth(0.5);
    for (int round = 0; round < (hinge ? 300 : 1); ++round) {
        relaxation.solve(1e-13);
        if (hinge) relaxation.recentre(0.5);
    }
    std::vector<Slope> wanted;
    for (const auto& c : relaxation.coordinates())
        if (std::find(region.always().begin(), region.always().end(), c.column) != region.always().end() &&
            !region.free().empty())
            wanted.push_back({c.column, 0.0});
    Solved out;
    out.value = relaxation.value();
    for (const int32_t j : region.in()) out.value += region.charge(j);
    make_dual(problem, {{}, {}, {0.0}, relaxation.predictions(), relaxation.residual(), relaxation.curvature()}, wanted,
              problem.penalty.lambda_2 == 0.0, nullptr, out.dual);
    return out;
}

}  // namespace

TEST(dual_point_bounds_the_loss_at_all_margins) {
    for (const LossKind kind : kinds)
        for (int trial = 0; trial < 30; ++trial) {
            const Instance instance(random, random_shape(random, kind));
            const Problem& problem = instance.problem();
            const int64_t n = problem.rows();
            const std::vector<double> start = random.numbers(n, -3.0, 3.0);
            const DualPoint dual = dual_at(instance, start);
            double total = 0.0, norm = 0.0;
            for (int64_t i = 0; i < n; ++i) {
                total += dual.theta[i];
                if (problem.w[i] > 0.0) norm += dual.theta[i] * dual.theta[i] / problem.w[i];
            }
            if (problem.intercept) CHECK(total == 0.0);
            CHECK_NEAR(dual.norm, std::sqrt(norm), 1e-10);
            // sum_i w_i f(eta_i) + theta_i eta_i is least where the dual point was made, and there it is the bound.
            const Loss loss = problem.loss.smoothed(0.0);
            const auto excess = [&](const std::vector<double>& eta) {
                double out = loss.value(n, eta.data(), problem.y, problem.w) - dual.loss_part;
                for (int64_t i = 0; i < n; ++i) out += dual.theta[i] * eta[i];
                return out;
            };
            for (int k = 0; k < 50; ++k)
                CHECK_AT_MOST(-1e-12, excess(random.numbers(n, -1.0, 1.0 + 0.2 * k)) / (1.0 + 0.2 * k));
            if (!problem.intercept && kind != LossKind::hinge) CHECK_NEAR(excess(start), 0.0, 1e-6);
        }
}

TEST(dual_point_vanishes_on_columns_that_nothing_holds) {
    int exact = 0, trials = 0;
    for (const LossKind kind : kinds)
        for (int trial = 0; trial < 20; ++trial) {
            Shape shape = random_shape(random, kind);
            shape.bounded = false;
            shape.unpenalized = true;
            shape.lambda_1 = shape.lambda_2 = 0.0;
            const Instance instance(random, shape);
            const auto last = static_cast<int32_t>(shape.columns - 1);
            // Margins on the bend of every loss, where all rows have room.
            std::vector<double> eta = random.numbers(shape.rows, 0.0, 0.3);
            for (int64_t i = 0; i < shape.rows; ++i) {
                if (kind == LossKind::hinge) eta[i] = instance.problem().y[i] * (1.0 - 1e-3 * (0.3 + eta[i]));
                if (kind == LossKind::huber) eta[i] += instance.problem().y[i] - 0.15;
            }
            const double before = std::abs(instance.products(dual_at(instance, eta).theta)[last]);
            const double after = std::abs(instance.products(dual_at(instance, eta, {last}).theta)[last]);
            CHECK_AT_MOST(after, before);
            exact += after <= 1e-14;
            ++trials;
        }
    CHECK(exact >= trials * 3 / 4);  // some rows may reach the end of their domain
}

TEST(bounds_hold_for_all_models_of_a_region) {
    int empty = 0, checked = 0;
    for (const LossKind kind : kinds)
        for (int trial = 0; trial < 25; ++trial) {
            const Instance instance(random, random_shape(random, kind));
            const Problem& problem = instance.problem();
            const auto models = all_models(instance);
            for (int k = 0; k < 8; ++k) {
                const Part part(random, problem);
                Region region(problem, part.options);
                if (!part.load(region)) {
                    ++empty;
                    for (const Candidate& candidate : models) CHECK(!part.holds(candidate.support));
                    continue;
                }
                // Dual points of good models, of bad ones, and of none.
                const auto& chosen = models[random.integer(0, std::ssize(models) - 1)].model;
                for (const auto& eta : {instance.margins(chosen), random.numbers(problem.rows(), -5.0, 5.0)}) {
                    const DualPoint dual = dual_at(instance, eta, region.free());
                    const double bound = RegionBound(problem, region).compute(dual, instance.products(dual.theta));
                    for (const Candidate& candidate : models) {
                        if (!part.holds(candidate.support)) continue;
                        const Candidate other = disturbed(random, candidate, region, problem.intercept);
                        CHECK_AT_MOST(bound, objective(instance, other, part.options.lambda_0) + 1e-12);
                        if (!within(region, candidate.model)) continue;
                        CHECK_AT_MOST(bound, objective(instance, candidate, part.options.lambda_0) + 1e-12);
                        CHECK(region.contains(candidate.model) || !uses_all(candidate));
                        ++checked;
                    }
                }
            }
        }
    CHECK(empty > 0 && checked > 1000);
}

TEST(regions_beyond_their_limits_are_empty) {
    const Instance instance(random, Shape{.lambda_2 = 0.1});
    ExactOptions options{.lambda_0 = 0.1};
    State came;
    for (const int32_t j : {0, 3, 4}) came.clauses.add({&j, 1});
    for (int64_t k = 0; k <= 6; ++k) {
        options.k = k;
        Region region(instance.problem(), options);
        CHECK(region.load(came, {}, Penalty::infinity) == (k >= 3));
    }
    ExactOptions one = options, two = options;
    one.swaps = {{1, 1, 1, 0, 0, 0}, 3, 1};
    two.swaps = {{1, 1, 1, 0, 0, 0}, 3, 2};
    Region near(instance.problem(), one), far(instance.problem(), two);
    CHECK(far.load(came, {}, Penalty::infinity));  // two features came
    CHECK(!near.load(came, {}, Penalty::infinity));
    State left;
    CHECK(far.load({}, {{0}, false}, Penalty::infinity));
    far.store(left);
    CHECK(near.load(left, {}, Penalty::infinity));
    CHECK(far.load(left, {{1}, false}, Penalty::infinity));
    far.store(left);
    CHECK(!near.load(left, {}, Penalty::infinity));  // two have left
    // Two features stay at home, whichever leaves: they alone cost 0.2.
    CHECK(near.load({}, {}, 0.21) && !near.load({}, {}, 0.19));
}

// The relaxation and its dual have the same value; where all is decided this is the best model's objective.
TEST(good_dual_points_give_the_value_of_the_relaxation) {
    int decided = 0, limited = 0;
    for (const LossKind kind : kinds)
        for (int trial = 0; trial < 60; ++trial) {
            Shape shape = random_shape(random, kind);
            shape.lambda_2 = random.magnitude(-3.0, -1.0);  // conditions are good enough to solve the relaxation well
            const Instance instance(random, shape);
            const Problem& problem = instance.problem();
            Part part(random, problem);
            part.options.swaps = {};
            if (trial % 3 == 0) part.leave_out_the_rest(problem);
            if (trial % 3 == 1) {
                part.decisions.clear();
                if (shape.priced && random.coin()) part.options.budget = 0.8;
                else part.options.k = 2;
            }
            Region region(problem, part.options);
            if (!part.load(region)) continue;
            const Solved solved = relax(instance, part, region);
            const double bound = RegionBound(problem, region).compute(solved.dual, instance.products(solved.dual.theta));
            // The method of multipliers comes near; a charge that still moves keeps it from coming nearer.
            const bool moves = region.limited() || !region.clauses().empty();
            const double missing = kind != LossKind::hinge ? 1e-5 : moves ? 3e-2 : 2e-3;
            CHECK_AT_MOST(solved.value, bound + missing);
            // The value is that of the charges that were found, and the bound that of the best.
            if (!moves) CHECK_AT_MOST(bound, solved.value + 1e-12);
            limited += region.limited();
            if (!region.undecided().empty()) continue;
            const Candidate best{region.in(), instance.fit(region.in())};
            // A refit of the hinge is one of the smoothed hinge.
            CHECK_NEAR(bound, objective(instance, best, part.options.lambda_0), 1e-5 + 0.5 * problem.loss.smoothing);
            ++decided;
        }
    CHECK(decided > 40 && limited > 40);
}

TEST(tightening_keeps_the_best_model_and_decides_others) {
    int64_t before = 0, after = 0, closed = 0;
    for (const LossKind kind : kinds)
        for (int trial = 0; trial < 80; ++trial) {
            Shape shape = random_shape(random, kind);
            if (trial % 2 == 0 && shape.bounded) shape.lambda_2 = random.magnitude(-300.0, -4.0);
            const Instance instance(random, shape);
            const Problem& problem = instance.problem();
            const auto models = all_models(instance);
            const Part part(random, problem);
            Region region(problem, part.options);
            if (!part.load(region)) continue;
            const Candidate* best = nullptr;
            for (const Candidate& candidate : models)
                if (part.holds(candidate.support) && within(region, candidate.model) && uses_all(candidate) &&
                    (!best ||
                     objective(instance, candidate, part.options.lambda_0) < objective(instance, *best, part.options.lambda_0)))
                    best = &candidate;
            if (!best) continue;
            const double least = objective(instance, *best, part.options.lambda_0);
            const DualPoint dual = relax(instance, part, region).dual;
            const std::vector<double> v = instance.products(dual.theta);
            before += std::ssize(region.undecided());
            RegionBound proved(problem, region);
            proved.compute(dual, v);
            CHECK(region.tighten(proved, v, least * (1.0 + 1e-9)));
            CHECK(region.contains(best->model));
            after += std::ssize(region.undecided());
            // Nothing is left below a cutoff that no model reaches, or the bound says how little was missing.
            Region other(problem, part.options);
            CHECK(part.load(other));
            RegionBound again(problem, other);
            const double bound = again.compute(dual, v);
            if (bound <= 0.0 || other.tighten(again, v, 0.5 * bound)) continue;
            ++closed;
        }
    CHECK(after < before * 4 / 5 && after > 0);
    CHECK(closed > 40);
}

TEST(bounds_of_any_size_are_finite_or_minus_infinity) {
    for (const LossKind kind : kinds)
        for (int trial = 0; trial < 500; ++trial) {
            Shape shape = random_shape(random, kind);
            // Squares of X and y are finite; all else may be anything.
            shape.x_size = random.magnitude(-160.0, 152.0);
            shape.y_size = random.magnitude(-300.0, 149.0);
            shape.least_weight = random.coin() ? 0.1 : random.magnitude(-323.0, -1.0);
            if (shape.lambda_1 > 0.0) shape.lambda_1 = random.magnitude(-323.0, 308.0);
            if (shape.lambda_2 > 0.0) shape.lambda_2 = random.magnitude(-323.0, 308.0);
            const Instance instance(random, shape);
            Part part(random, instance.problem());
            part.options.lambda_0 = random.magnitude(-323.0, 307.0);
            Region region(instance.problem(), part.options);
            if (!part.load(region)) continue;
            const double size = random.magnitude(-323.0, 150.0);
            const DualPoint dual = dual_at(instance, random.numbers(shape.rows, -size, size), region.free());
            const double bound = RegionBound(instance.problem(), region).compute(dual, instance.products(dual.theta));
            CHECK_AT_MOST(bound, std::numeric_limits<double>::max());
            // Nothing but what must be: the intercept is zero, features that are in pay, and so do those that stay at home.
            Candidate least{region.in(), {}};
            for (const auto& clause : region.clauses()) least.support.push_back(clause.front());
            for (int32_t j = 0; j < std::ssize(part.options.swaps.home); ++j)
                if (part.options.swaps.home[j] &&
                    std::find(region.undecided().begin(), region.undecided().end(), j) != region.undecided().end())
                    least.support.push_back(j);
            const double reached = objective(instance, least, part.options.lambda_0);
            if (std::isfinite(reached)) CHECK_AT_MOST(bound, reached * (1.0 + 1e-9));
        }
}

namespace {

// The loss in long double, whose range is that of no float64 problem.
long double loss_at(const Loss& loss, long double eta, long double y) {
    const long double residual = std::abs(eta - y), margin = y * eta, short_by = std::max(1.0L - margin, 0.0L);
    switch (loss.kind) {
        case LossKind::logistic: return margin > 0.0L ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
        case LossKind::squared_hinge: return short_by * short_by;
        case LossKind::hinge: return short_by;
        case LossKind::huber:
            if (residual > loss.delta) return loss.delta * (residual - 0.5L * loss.delta);
            break;
        default: break;
    }
    return 0.5L * residual * residual;
}

double any_number(Random& random) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    switch (random.integer(0, 9)) {
        case 0: return 0.0;
        case 1: return random.coin() ? nan : Penalty::infinity;
        case 2: return random.uniform();
        default: return (random.coin() ? 1.0 : -1.0) * random.magnitude(-323.0, 308.0);
    }
}

// Checks that a dual point is one, and returns sum_i theta_i^2 / w_i.
long double check_domain(const Problem& problem, const DualPoint& dual) {
    const LossKind kind = problem.loss.kind;
    long double sum = 0.0L, square = 0.0L;
    for (const double b : dual.kept.coefficients) CHECK(std::isfinite(b));
    for (int64_t i = 0; i < problem.rows(); ++i) {
        const double theta = dual.theta[i], w = problem.w[i];
        CHECK(std::isfinite(theta));
        sum += theta;
        CHECK(w > 0.0 || theta == 0.0);
        if (w > 0.0) square += static_cast<long double>(theta) * theta / w;
        CHECK(problem.loss.regression() || theta * problem.y[i] >= 0.0);
        CHECK(kind != LossKind::huber || std::abs(theta) <= w * problem.loss.delta);
        CHECK((kind != LossKind::hinge && kind != LossKind::logistic) || std::abs(theta) <= w);
    }
    CHECK(!problem.intercept || sum == 0.0L);
    CHECK_AT_MOST(static_cast<double>(std::sqrt(square)), dual.norm);
    CHECK(dual.loss_part < Penalty::infinity);
    return square;
}

// sum_i w_i f(eta_i) + theta_i eta_i is nowhere below the bound.
void check_against_losses(Random& random, const Problem& problem, const DualPoint& dual) {
    for (int k = 0; k < 5; ++k) {
        const double size = random.magnitude(-3.0, k == 0 ? 150.0 : 2.0);
        long double value = 0.0L, parts = 0.0L;
        for (int64_t i = 0; i < problem.rows(); ++i) {
            const double eta = random.uniform(-size, size);
            const long double loss = problem.w[i] * loss_at(problem.loss, eta, problem.y[i]);
            const long double product = static_cast<long double>(dual.theta[i]) * eta;
            value += loss + product;
            parts += std::abs(loss) + std::abs(product);
        }
        CHECK(dual.loss_part <= value + 1e-17L * parts);
    }
}

}  // namespace

TEST(dual_points_of_any_residual_and_weights_are_sound) {
    if (!harness::long_double_is_wider) return;
    constexpr double tiny_weights[] = {0.0, 5e-324, 1e-320, 1e-310, 1e-250, 1e-200, 1e-100, 1e-30, 1e-10, 0.1};
    int zero = 0, trials = 0;
    for (const LossKind kind : kinds)
        for (int trial = 0; trial < 1500; ++trial) {
            Shape shape = random_shape(random, kind);
            shape.y_size = random.coin() ? 1.0 : random.magnitude(-300.0, 150.0);
            const Instance instance(random, shape);
            Problem problem = instance.problem();
            const int64_t n = problem.rows();
            // One class, or single rows, of next to no weight.
            const double tiny = tiny_weights[random.integer(0, 9)];
            std::vector<double> w(n, 0.1), r(n), d(n, 0.0);
            const int64_t pattern = random.integer(0, 2);
            for (int64_t i = 0; i < n; ++i) {
                if (pattern == 1 ? problem.y[i] > 0.0 : pattern == 2 && random.coin()) w[i] = tiny;
                r[i] = random.coin() ? any_number(random) : w[i] * random.uniform();
                d[i] = w[i] * random.uniform(0.0, 1.0);
            }
            problem.w = w.data();
            if (random.coin()) problem.penalty.lambda_2 = 0.0;
            std::vector<Slope> wanted;
            if (random.coin(0.3)) wanted = {{0, 0.0}, {2, random.coin() ? 0.0 : any_number(random)}};
            DualPoint dual;
            const std::vector<double> eta = random.numbers(n, -3.0, 3.0);
            make_dual(problem, {{}, {}, {0.0}, eta, r, d}, wanted, true, nullptr, dual);

            zero += check_domain(problem, dual) == 0.0L;
            ++trials;
            check_against_losses(random, problem, dual);
        }
    CHECK(zero < trials / 2);
}

// X and y in other units, with penalties to match, make the same problem.
TEST(regions_do_not_depend_on_units) {
    int64_t decided = 0, narrower = 0;
    for (const LossKind kind : kinds)
        for (const int of_x : {-500, -450, -300, -40, 40, 300, 450, 500})
            for (int trial = 0; trial < 30; ++trial) {
                const int of_y = Loss{kind}.regression() ? static_cast<int>(random.integer(-100, 100)) : 0;
                const auto seed = static_cast<uint64_t>(random.integer(0, 1 << 30));
                Shape shape = random_shape(random, kind);
                shape.bounded = shape.unpenalized = shape.standardised = false;
                shape.lambda_2 = random.magnitude(-5.0, -1.0);
                Shape other = shape;
                other.x_size = std::ldexp(1.0, of_x);
                other.y_size = std::ldexp(1.0, of_y);
                other.lambda_1 = std::ldexp(shape.lambda_1, of_x + of_y);
                other.lambda_2 = std::ldexp(shape.lambda_2, 2 * of_x);
                Random first(seed), second(seed);
                const Instance plain(first, shape), scaled(second, other);
                const Part part(first, plain.problem());
                Part part_there = part;
                part_there.options.lambda_0 = std::ldexp(part.options.lambda_0, 2 * of_y);
                Region region(plain.problem(), part.options), there(scaled.problem(), part_there.options);
                const bool possible = part.load(region);
                CHECK(part_there.load(there) == possible);
                if (!possible) continue;
                std::vector<double> eta = first.numbers(shape.rows, -0.5, 0.5);
                const DualPoint dual = dual_at(plain, eta);
                for (double& margin : eta) margin = std::ldexp(margin, of_y);
                const DualPoint dual_there = dual_at(scaled, eta);
                const std::vector<double> v = plain.products(dual.theta), v_there = scaled.products(dual_there.theta);
                RegionBound bound(plain.problem(), region), bound_there(scaled.problem(), there);
                const double value = bound.compute(dual, v), value_there = bound_there.compute(dual_there, v_there);
                CHECK_NEAR(std::ldexp(value_there, -2 * of_y), value, 1e-13 * std::abs(value));
                const double cutoff = value + std::abs(value) * first.magnitude(-4.0, 1.0);
                const int64_t before = std::ssize(region.undecided());
                const bool left = region.tighten(bound, v, cutoff);
                CHECK(there.tighten(bound_there, v_there, std::ldexp(cutoff, 2 * of_y)) == left);
                if (!left) continue;
                CHECK(there.undecided() == region.undecided() && there.in() == region.in());
                decided += before - std::ssize(region.undecided());
                for (const auto* columns : {&region.in(), &region.undecided()})
                    for (const int32_t j : *columns) {
                        const Box &box = region.box(j), &box_there = there.box(j);
                        CHECK_NEAR(std::ldexp(box_there.high, of_x - of_y), box.high, 1e-11 * (box.high + 1e-9));
                        CHECK_NEAR(std::ldexp(box_there.low, of_x - of_y), box.low, 1e-11 * (1e-9 - box.low));
                        narrower += std::isfinite(box.high);
                    }
            }
    CHECK(decided > 50 && narrower > 500);
}

TEST(slopes_are_known_up_to_their_noise) {
    if (!harness::long_double_is_wider) return;
    int64_t underflows = 0, normal = 0;
    for (const LossKind kind : kinds)
        for (int trial = 0; trial < 400; ++trial) {
            Shape shape = random_shape(random, kind);
            shape.intercept = shape.standardised;  // columns are centred if there is an intercept, and only then
            shape.x_size = random.magnitude(-160.0, 152.0);
            shape.y_size = random.magnitude(-300.0, 149.0);
            shape.least_weight = random.coin() ? 0.1 : random.magnitude(-323.0, -1.0);
            const Instance instance(random, shape);
            const Problem& problem = instance.problem();
            const ExactOptions options{.lambda_0 = 0.1, .k = shape.columns, .swaps = {}, .integral = {}};  // it is borrowed
            Region region(problem, options);
            CHECK(region.load({}, {}, Penalty::infinity));
            const double size = random.magnitude(-40.0, 40.0);
            DualPoint dual = dual_at(instance, random.numbers(shape.rows, -size, size));
            // A multiple of a dual point is as good to test products with, but for the square of a hinge or an error.
            if (const double factor = random.magnitude(-320.0, 0.0); random.coin()) {
                for (double& theta : dual.theta) theta *= factor;
                dual.norm = dual.norm * factor + std::numeric_limits<double>::denorm_min();
            }
            const std::vector<double> v = instance.products(dual.theta);
            RegionBound bound(problem, region);
            bound.compute(dual, v);
            std::vector<int32_t> rows;
            std::vector<double> values;
            for (int32_t j = 0; j < problem.columns(); ++j) {
                if (!std::isfinite(bound.noise(j))) continue;
                const Design::Entries entries = problem.X.design().entries(j, rows, values);
                long double exact = 0.0L, sum = 0.0L;
                for (int64_t i = 0; i < problem.rows(); ++i) {
                    exact += static_cast<long double>(entries.values[i]) * dual.theta[i];
                    sum += dual.theta[i];
                }
                exact = (exact - sum * problem.X.mean(j)) * problem.X.scale(j);
                const long double error = std::abs(exact - static_cast<long double>(v[j]));
                if (!(error <= static_cast<long double>(bound.noise(j))))
                    harness::fail(std::source_location::current(), v[j], ", off by ", static_cast<double>(error), " > ",
                                  bound.noise(j));
                underflows += v[j] == 0.0 && exact != 0.0L;
                normal += bound.noise(j) < 1e-10 * std::abs(v[j]);
            }
        }
    CHECK(underflows > 20 && normal > 1000);
}
