#include "ellzero/node_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace ellzero {
namespace {
constexpr int most_rounds = 80;
// Smoothing of the hinge.
const double node_smoothing = getenv("EZ_TAU") ? atof(getenv("EZ_TAU")) : 0.1;
const int hinge_steps = getenv("EZ_STEPS") ? atoi(getenv("EZ_STEPS")) : 100;
constexpr double first_smoothing = 0.1, smoothing_factor = 0.2, last_smoothing = 1e-9;
// A node's value is known well enough for branching when its error is this share of what is missing to prune it.
constexpr double good_enough = 0.05;
constexpr double precision = 1e-10;  // relative: closer no bound can be expected
// Violated columns that enter the working set at a time.
constexpr size_t least_entering = 30;
// Columns whose slope is near enough to enter are priced first, at most this share of all.
constexpr double near_threshold = 0.5, near_share = 0.05;
constexpr int64_t least_near = 500;
constexpr size_t strong_candidates = 8;
constexpr int strong_steps = 4;
constexpr double integral = 1e-6;  // shares this close to 0 or 1
constexpr size_t remembered = 64;
const double probe_margin = getenv("EZ_PM") ? atof(getenv("EZ_PM")) : 1.2;
}  // namespace

NodeSolver::NodeSolver(const Problem& problem, const ExactOptions& options, Incumbent& incumbent, const Witness* witness)
    : problem_(problem),
      options_(options),
      incumbent_(incumbent),
      witness_(witness),
      region_(problem, options.lambda_0, options.k, options.free_bound),
      relaxation_(problem),
      other_(problem),
      v_(problem.columns(), 0.0),
      working_(problem.columns(), 0) {}

void NodeSolver::check_witness(const Node& node, double bound, const char* what) const {
    if (!witness_ || witness_->objective >= incumbent_.objective() || bound <= witness_->objective) return;
    throw WitnessLost("the known solution was lost at node " + std::to_string(node.id) + ": " + what);
}

void NodeSolver::start(const State& state) {
    std::fill(working_.begin(), working_.end(), 0);
    std::vector<Relaxation::Coordinate> coordinates;
    const auto take = [&](int32_t j, double beta) {
        const auto status = region_.status(j);
        if (working_[j] || status == Region::Status::out) return;
        working_[j] = 1;
        coordinates.push_back({j, region_.box(j), status == Region::Status::free, beta});
    };
    for (size_t k = 0; k < state.columns.size(); ++k) take(state.columns[k], state.beta[k]);
    for (const int32_t j : region_.in()) take(j, 0.0);
    for (const int32_t j : region_.always()) take(j, 0.0);
    const double most = region_.limited() ? static_cast<double>(region_.left()) : Penalty::infinity;
    relaxation_.begin(std::move(coordinates), state.intercept, options_.lambda_0, region_.limited() ? state.mu : 0.0, most);
    near_.clear();
    for (const int32_t j : state.near)
        if (region_.status(j) == Region::Status::free) near_.push_back(j);
}

void NodeSolver::price(const std::vector<int32_t>& columns) {
    problem_.X.dots(columns, dual_.theta.data(), values_);
    for (size_t c = 0; c < columns.size(); ++c) v_[columns[c]] = values_[c];
}

bool NodeSolver::add_violators(const std::vector<int32_t>& columns) {
    std::vector<std::pair<double, int32_t>> violators;
    for (const int32_t j : columns) {
        if (working_[j] || region_.status(j) != Region::Status::free) continue;
        const double excess = gain(v_[j], region_.box(j), problem_.penalty) - relaxation_.charge();
        if (excess > 1e-9 * relaxation_.charge()) violators.emplace_back(-excess, j);
    }
    const size_t most = least_entering + relaxation_.coordinates().size() / 2;
    const size_t count = std::min(most, violators.size());
    std::partial_sort(violators.begin(), violators.begin() + static_cast<std::ptrdiff_t>(count), violators.end());
    for (size_t c = 0; c < count; ++c) {
        const int32_t j = violators[c].second;
        working_[j] = 1;
        relaxation_.add(j, region_.box(j));
    }
    return count > 0;
}

double NodeSolver::relaxed_value() const {
    return relaxation_.value() + options_.lambda_0 * static_cast<double>(region_.in().size());
}

NodeSolver::Outcome NodeSolver::run(const Node& node) {
    Outcome out;
    out.bound = node.bound;
    const State& from = *node.state;
    const bool follows = witness_ && (region_.load(from, node.decision, Penalty::infinity), region_.contains(witness_->model));
    if (!region_.load(from, node.decision, incumbent_.cutoff())) {
        if (follows) check_witness(node, Penalty::infinity, "its region was found empty");
        out.bound = Penalty::infinity;
        return out;
    }
    start(from);
    const bool hinge = problem_.loss.kind == LossKind::hinge;
    if (hinge) relaxation_.smooth(node_smoothing, from.alpha.empty() ? nullptr : &from.alpha);
    double floor = std::max(good_enough * (incumbent_.prune_at(options_.gap) - node.bound), precision * incumbent_.objective());
    if (!std::isfinite(floor)) floor = 1e-3 * std::abs(incumbent_.objective());
    double best = -Penalty::infinity, value = 0.0;
    std::vector<double> best_v;
    DualPoint best_dual;
    int at_the_floor = 0;
    for (int round = 0; round < most_rounds; ++round) {
        relaxation_.solve(floor, hinge ? hinge_steps : 100);
        make_dual(problem_, relaxation_.residual(), relaxation_.curvature(), region_.unheld(), dual_);
        if (hinge) relaxation_.recentre();
        const double prune_at = incumbent_.prune_at(options_.gap), size = std::abs(incumbent_.objective());
        value = relaxed_value();
        const auto accurate = [&](double bound) {
            return value - bound <= std::max(value < prune_at ? good_enough * (prune_at - bound) : 0.0, precision * size);
        };
        const auto refine = [&] {
            if (floor <= 1e-16 * size && ++at_the_floor > (hinge ? 50 : 0)) return false;
            floor = std::max(floor * (hinge ? 0.3 : 0.03), 1e-17 * size);
            return true;
        };
        // First the columns that matter most: what they say is nearly what all would.
        const std::vector<int32_t> few = likely_columns();
        price(region_.in());
        price(region_.always());
        price(few);
        const double estimate = region_.bound(dual_, v_, few);
        if (estimate < prune_at) {
            if (add_violators(few)) continue;
            if (!accurate(estimate) && refine()) continue;
        }
        price(region_.free());
        ++passes;
        const double bound = region_.bound(dual_, v_);
        if (bound > best) {
            best = bound;
            best_v = v_;
            best_dual = dual_;
        }
        if (std::max(best, node.bound) >= prune_at) break;
        choose_near();
        if (add_violators(region_.free())) continue;
        if (accurate(best) || !refine()) break;
    }
    if (getenv("EZ_TRACE")) {
        int nz = 0, fr = 0; for (size_t k = 0; k < relaxation_.coordinates().size(); ++k) { nz += relaxation_.coordinates()[k].beta != 0.0; fr += relaxation_.coordinates()[k].beta != 0.0 && relaxation_.share(k) < 1; }
        double zs = 0; for (size_t k = 0; k < relaxation_.coordinates().size(); ++k) if (relaxation_.coordinates()[k].free) zs += relaxation_.share(k); fprintf(stderr, "Z %.3f node %ld depth %d in %zu free %zu parent %.6f D %.6f R %.6f W %zu nz %d frac %d newton %ld passes %ld tau %.1e mu %.3g\n", zs, node.id, node.depth, region_.in().size(), region_.free().size(), node.bound, best, value, relaxation_.coordinates().size(), nz, fr, relaxation_.newton_steps, passes, relaxation_.smoothing(), relaxation_.mu());
    }
    out.bound = std::max(best, node.bound);
    out.alpha = best_dual.alpha;
    bound_ = best;
    dual_ = best_dual;
    if (follows) check_witness(node, best, "bound");
    round();
    if (out.bound >= incumbent_.prune_at(options_.gap)) return out;
    if (best > -Penalty::infinity) {
        region_.bound(best_dual, best_v);
        if (!region_.tighten(best_v, incumbent_.cutoff())) {
            if (follows) check_witness(node, Penalty::infinity, "fixing closed the node");
            out.bound = Penalty::infinity;
            return out;
        }
        if (follows && !region_.contains(witness_->model)) check_witness(node, Penalty::infinity, "fixing or peeling cut it off");
    }
    v_ = best_v;
    out.branch = choose_branch(node, out.bound);
    if (out.branch < 0) return out;
    auto state = state_for_children();
    if (hinge) state->alpha = out.alpha;
    out.state = std::move(state);
    return out;
}

std::shared_ptr<State> NodeSolver::state_for_children() {
    auto state = std::make_shared<State>();
    region_.store(*state);
    for (const auto& c : relaxation_.coordinates())
        if (c.beta != 0.0 && region_.status(c.column) != Region::Status::out) {
            state->columns.push_back(c.column);
            state->beta.push_back(c.beta);
        }
    state->intercept = relaxation_.intercept();
    state->mu = relaxation_.mu();
    state->near = near_;
    return state;
}

// The columns that are next to enter, by their slopes at the last full pass.
void NodeSolver::choose_near() {
    std::vector<std::pair<float, int32_t>> ratios;
    for (const int32_t j : region_.free()) {
        const double ratio = std::abs(v_[j]) / Envelope(region_.box(j), relaxation_.charge(), problem_.penalty).threshold(-v_[j]);
        if (ratio > near_threshold) ratios.emplace_back(static_cast<float>(-ratio), j);
    }
    const auto most = std::max(least_near, static_cast<int64_t>(near_share * static_cast<double>(problem_.columns())));
    if (std::ssize(ratios) > most) {
        std::nth_element(ratios.begin(), ratios.begin() + most, ratios.end());
        ratios.resize(most);
    }
    near_.clear();
    for (const auto& [ratio, j] : ratios) near_.push_back(j);
    std::sort(near_.begin(), near_.end());
}

std::vector<int32_t> NodeSolver::likely_columns() const {
    std::vector<int32_t> out;
    for (const auto& c : relaxation_.coordinates())
        if (c.free) out.push_back(c.column);
    for (const int32_t j : near_)
        if (!working_[j]) out.push_back(j);
    return out;
}

std::vector<std::vector<float>> NodeSolver::probe() {
    const double gap = incumbent_.cutoff() - bound_;
    const double curvature = std::accumulate(relaxation_.curvature().begin(), relaxation_.curvature().end(), 0.0);
    struct Candidate {
        double gain;
        size_t place;
        double from;
    };
    std::vector<Candidate> candidates;
    const auto& coordinates = relaxation_.coordinates();
    for (size_t k = 0; k < coordinates.size(); ++k) {
        const auto& c = coordinates[k];
        if (region_.status(c.column) != Region::Status::free || c.beta == 0.0) continue;
        const Box& box = region_.box(c.column);
        const double pull = std::abs(v_[c.column]);
        // Where 0.7 h/2 t^2 + lambda_2 t^2 - pull t + lambda_0 = gap, more or less.
        const double a = problem_.penalty.lambda_2 + 0.35 * curvature * problem_.X.square(c.column);
        const double rest = probe_margin * gap - options_.lambda_0;
        const double t = rest > 0.0 ? (pull + std::sqrt(pull * pull + 4.0 * a * rest)) / (2.0 * a) : pull / a;
        const double reach = std::min(Envelope(box, relaxation_.charge(), problem_.penalty).knee(c.beta), c.beta > 0.0 ? box.high : -box.low);
        if (t < 0.8 * reach) candidates.push_back({reach / t, k, t});
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
    std::vector<std::vector<float>> proofs;
    constexpr size_t batch = Columns::most_sides / 2;
    const int64_t n = problem_.rows(), p = problem_.columns();
    std::vector<double> thetas(batch * n), products(batch * p);
    int64_t shrunk = 0;
    double before = 0, after = 0;
    for (size_t first = 0; first < candidates.size(); first += batch) {
        const size_t count = std::min(batch, candidates.size() - first);
        std::vector<DualPoint> duals(count);
        for (size_t c = 0; c < count; ++c) {
            const Candidate& candidate = candidates[first + c];
            std::vector<Relaxation::Coordinate> child = coordinates;
            for (auto& each : child) each.box = region_.box(each.column);
            auto& mine = child[candidate.place];
            mine.free = false;
            if (mine.beta > 0.0) mine.box.low = candidate.from;
            else mine.box.high = -candidate.from;
            if (problem_.loss.kind == LossKind::hinge) other_.smooth(relaxation_.smoothing(), &dual_.alpha);
            const double most = region_.limited() ? static_cast<double>(region_.left() - 1) : Penalty::infinity;
            other_.begin(std::move(child), relaxation_.intercept(), options_.lambda_0, relaxation_.mu(), most);
            other_.solve(0.02 * gap, 4);
            make_dual(problem_, other_.residual(), other_.curvature(), region_.unheld(), duals[c]);
            std::copy(duals[c].theta.begin(), duals[c].theta.end(), thetas.begin() + static_cast<std::ptrdiff_t>(c) * n);
        }
        problem_.X.products(thetas.data(), static_cast<int64_t>(count), products.data());
        for (size_t c = 0; c < count; ++c) {
            const int32_t j = coordinates[candidates[first + c].place].column;
            if (region_.status(j) != Region::Status::free) continue;
            std::copy(products.begin() + static_cast<std::ptrdiff_t>(c) * p, products.begin() + static_cast<std::ptrdiff_t>(c + 1) * p, v_.begin());
            const Box old = region_.box(j);
            const double bb = region_.bound(duals[c], v_);
            region_.tighten(v_, incumbent_.cutoff());
            const double width = coordinates[candidates[first + c].place].beta > 0.0 ? region_.box(j).high / old.high : region_.box(j).low / old.low;
            if (getenv("EZ_PROBE")) fprintf(stderr, "probe %d from %.3f bound %.4f (est %.4f) gap %.4f box %.3f %.3f -> %.3f %.3f\n", j, candidates[first + c].from, bb, other_.value(), gap, old.low, old.high, region_.box(j).low, region_.box(j).high);
            if (width < 0.9) {
                proofs.push_back(duals[c].alpha);
                ++shrunk;
            }
        }
    }
    if (getenv("EZ_TRACE")) fprintf(stderr, "probed %zu shrunk %ld free %zu\n", candidates.size(), shrunk, region_.free().size());
    (void)before; (void)after;
    return proofs;
}

// Keeps what is in and the features that pay most of their charge, and refits.
void NodeSolver::round() {
    std::vector<std::pair<double, size_t>> order;
    const auto& coordinates = relaxation_.coordinates();
    std::vector<size_t> kept;
    for (size_t k = 0; k < coordinates.size(); ++k) {
        if (!coordinates[k].free) kept.push_back(k);
        else if (relaxation_.share(k) > 0.0) order.emplace_back(-std::abs(coordinates[k].beta), k);
    }
    std::sort(order.begin(), order.end());
    int64_t most = region_.left();
    if (!region_.limited()) {
        double total = 0.0;
        for (const auto& [size, k] : order) total += relaxation_.share(k);
        most = std::min<int64_t>(most, std::llround(total));
    }
    for (size_t c = 0; c < order.size() && std::ssize(kept) < std::ssize(coordinates) && static_cast<int64_t>(c) < most; ++c)
        kept.push_back(order[c].second);
    std::vector<int32_t> support;
    std::vector<double> beta;
    for (const size_t k : kept) support.push_back(coordinates[k].column);
    std::vector<size_t> by_column(kept.size());
    std::iota(by_column.begin(), by_column.end(), size_t{0});
    std::sort(by_column.begin(), by_column.end(), [&](size_t a, size_t b) { return support[a] < support[b]; });
    std::vector<int32_t> sorted;
    for (const size_t a : by_column) {
        sorted.push_back(support[a]);
        beta.push_back(coordinates[kept[a]].beta);
    }
    if (std::find(tried_.begin(), tried_.end(), sorted) != tried_.end()) return;
    if (tried_.size() >= remembered) tried_.erase(tried_.begin());
    tried_.push_back(sorted);
    incumbent_.offer(refit(sorted, beta, relaxation_.intercept()));
}

Model NodeSolver::refit(const std::vector<int32_t>& support, const std::vector<double>& beta, double intercept) {
    std::vector<Relaxation::Coordinate> coordinates;
    for (size_t k = 0; k < support.size(); ++k) {
        const int32_t j = support[k];
        Box box{problem_.penalty.low(j), problem_.penalty.high(j)};
        coordinates.push_back({j, box, false, beta[k]});
    }
    other_.begin(std::move(coordinates), intercept, 0.0, 0.0, Penalty::infinity);
    const double size = std::abs(incumbent_.objective());
    if (problem_.loss.kind == LossKind::hinge) {
        const double charged = options_.lambda_0 * static_cast<double>(support.size());
        for (double tau = first_smoothing;; tau = std::max(tau * smoothing_factor, last_smoothing)) {
            other_.smooth(tau);
            other_.solve(std::min(1e-6 * size, 0.01 * tau));
            // The smoothing can have hidden no more than tau / 2.
            if (tau == last_smoothing || other_.value() + charged - tau > incumbent_.objective()) break;
        }
    }
    other_.solve(1e-17 * size);
    Model model;
    model.cost = other_.value();
    model.intercept = other_.intercept();
    for (const auto& c : other_.coordinates()) {
        if (c.beta == 0.0 && problem_.penalty.counted(c.column)) continue;
        model.support.push_back(c.column);
        model.beta.push_back(c.beta);
        model.counted += problem_.penalty.counted(c.column);
    }
    return model;
}

int32_t NodeSolver::choose_branch(const Node& node, double bound) {
    std::vector<std::pair<double, size_t>> candidates;
    const auto& coordinates = relaxation_.coordinates();
    for (size_t k = 0; k < coordinates.size(); ++k) {
        if (region_.status(coordinates[k].column) != Region::Status::free) continue;
        const double share = relaxation_.share(k);
        if (share > integral && share < 1.0 - integral) candidates.emplace_back(-std::abs(coordinates[k].beta), k);
    }
    if (candidates.empty())  // integral but for rounding: any free feature that is used will do
        for (size_t k = 0; k < coordinates.size(); ++k)
            if (coordinates[k].beta != 0.0 && region_.status(coordinates[k].column) == Region::Status::free)
                candidates.emplace_back(-std::abs(coordinates[k].beta), k);
    if (candidates.empty()) return -1;
    std::sort(candidates.begin(), candidates.end());
    if (node.depth >= options_.strong_depth || candidates.size() == 1) return coordinates[candidates[0].second].column;

    candidates.resize(std::min(candidates.size(), strong_candidates));
    const double missing = incumbent_.prune_at(options_.gap) - bound, now = relaxed_value();
    double best = -1.0;
    int32_t chosen = -1;
    for (const auto& [size, place] : candidates) {
        double score = 1.0;
        for (const bool in : {false, true}) {
            const double rise = try_child(coordinates, place, in) - now;
            score *= std::clamp(rise, 1e-6 * missing, missing);
        }
        if (score > best) {
            best = score;
            chosen = coordinates[place].column;
        }
    }
    return chosen;
}

// The child's relaxation on the working set alone.
double NodeSolver::try_child(const std::vector<Relaxation::Coordinate>& coordinates, size_t place, bool in) {
    std::vector<Relaxation::Coordinate> child = coordinates;
    child[place].free = false;
    if (!in) {
        child[place].beta = 0.0;
        child[place].box = {0.0, 0.0};
    }
    double most = region_.limited() ? static_cast<double>(region_.left() - in) : Penalty::infinity;
    if (most == 0.0) {
        for (auto& c : child)
            if (c.free) c = {c.column, {0.0, 0.0}, false, 0.0};
        most = Penalty::infinity;
    }
    if (problem_.loss.kind == LossKind::hinge) other_.smooth(relaxation_.smoothing(), &dual_.alpha);
    other_.begin(std::move(child), relaxation_.intercept(), options_.lambda_0, relaxation_.mu(), most);
    other_.solve(1e-4 * std::abs(incumbent_.objective()), strong_steps);
    return other_.value() + options_.lambda_0 * static_cast<double>(region_.in().size() + (in ? 1 : 0));
}

}  // namespace ellzero
