#include "ellzero/path/exploration.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/support/hard_thresholding.hpp"

namespace ellzero {
namespace {

// When the support did not change all the same, lambda_0 falls at least by this factor.
constexpr double largest_ratio = 0.8;
// A grid that starts late is approached from the first entry in steps of this factor; a sweep that ends with few features goes
// on below its last lambda_0.
constexpr double approach = 0.7;
constexpr int most_overshoots = 8;
constexpr int short_sweep = 64;
constexpr double latest_approach = 1e-4;
// A path has a model of every size up to this one.
constexpr int complete_up_to = 64;
// Backward elimination takes out this share of a large support at once, one feature of a small one.
constexpr int elimination_share = 64;

}  // namespace

Exploration::Exploration(PathWork& work) : PathStep(work) {
    if (problem_.rules) {
        exchange_ = std::make_unique<Exchange>(problem_, Penalty::infinity);
        return;
    }
    current_ = descent_.refit(it_);
    work_.keep(current_);
}

void Exploration::run() {
    if (exchange_) {
        adopt_seeds();  // one of them obeys
        if (options_.sweep) grow_and_shrink();
        for (const int size : options_.sizes)
            if (size > pool_.sizes().front()) grow_to(size);
        return;
    }
    if (options_.sweep) {
        forward();
        if (options_.algorithm != Algorithm::iht) {
            backward();
            fill(complete_up_to);
        }
    }
    adopt_seeds();
    if (options_.algorithm == Algorithm::iht) threshold_to_sizes();
    for (const int size : options_.sizes) grow_to(size);
}

// With rules, there is no sweep along lambda_0, at which single coordinates come and go: models grow by the feature that gains
// most for its price, with its partners, until all gain too little; then the cheapest leave, one after another.
void Exploration::grow_and_shrink() {
    Model model = pool_.by_size().front();
    const double last = options_.lambda_0.empty() ? 0.0 : approach * options_.lambda_0.back();
    int poor = 0;
    for (int step = 0; step < options_.n_lambda && poor < most_overshoots; ++step) {
        problem_.X.monitor().poll();
        Model next = exchange_->grown(model, Penalty::infinity);
        if (!std::isfinite(next.cost) || next.spent <= model.spent || !work_.worth_keeping(next)) break;
        const double gain = (model.cost - next.cost) / (next.spent - model.spent);
        first_ = std::max(first_, gain);
        poor = gain < std::max(last, options_.lambda_min_ratio * first_) ? poor + 1 : 0;
        work_.keep(next);
        model = std::move(next);
        work_.report(0.6 * (step + 1.0) / options_.n_lambda, gain, model.size);
    }
    for (;;) {
        problem_.X.monitor().poll();
        Model next = exchange_->shrunk(model, Penalty::infinity);
        if (!std::isfinite(next.cost) || next.size >= model.size) break;
        work_.keep(next);
        model = std::move(next);
    }
    fill(complete_up_to);
}

// Solves at one lambda_0, started from the last. Returns whether the model is small enough to go on.
bool Exploration::visit(double lambda_0) {
    if (!current_.stands_at(lambda_0)) current_ = descent_.solve(it_, lambda_0, work_.explored, Radius::likely);
    work_.keep(current_);
    return work_.worth_keeping(current_);
}

void Exploration::forward() {
    first_ = descent_.next_lambda_0(it_);
    if (first_ > 0.0) current_.enters_below = first_;
    const double last = options_.lambda_0.empty() ? sweep_dynamic() : sweep_grid();
    const int enough = beyond(it_.size);
    double lambda_0 = last;
    for (int step = 0; step < most_overshoots && it_.size < std::min(enough, short_sweep) && lambda_0 > 0.0; ++step) {
        lambda_0 *= approach;
        if (!visit(lambda_0)) break;
    }
}

// Both return the last lambda_0, or zero if the sweep should not be continued below it.
double Exploration::sweep_grid() {
    const auto& grid = options_.lambda_0;
    if (grid.front() > 0.0)
        for (double near = approach * first_; near > std::max(grid.front(), latest_approach * first_); near *= approach)
            if (!visit(near)) return 0.0;
    for (size_t index = 0; index < grid.size(); ++index) {
        if (!visit(grid[index])) return 0.0;
        work_.report(0.6 * static_cast<double>(index + 1) / static_cast<double>(grid.size()), grid[index]);
    }
    return grid.back();
}

double Exploration::sweep_dynamic() {
    double lambda_0 = first_;
    for (int index = 0; index < options_.n_lambda; ++index) {
        const std::vector<int32_t> before = current_.support;
        if (!visit(lambda_0)) return 0.0;
        work_.report(0.6 * (index + 1.0) / options_.n_lambda, lambda_0);
        const bool stuck = index > 0 && before == current_.support;
        const double next = std::min(just_below * descent_.next_lambda_0(it_), (stuck ? largest_ratio : just_below) * lambda_0);
        if (next <= 0.0 || next < options_.lambda_min_ratio * first_) break;
        lambda_0 = next;
    }
    return lambda_0;
}

// The smallest size that may serve: half of the smallest that is wanted. What is asked for later is fitted then.
int Exploration::least() const {
    int smallest = 0;
    if (!options_.sizes.empty()) smallest = *std::min_element(options_.sizes.begin(), options_.sizes.end());
    else if (!options_.lambda_0.empty()) smallest = pool_.best(options_.lambda_0.front(), options_.max_support).size;
    return std::max(1, smallest / 2);
}

// Goes down from the largest model, always taking out the feature whose removal costs least.
void Exploration::backward() {
    if (std::ssize(it_.support) > Refit::largest) return;
    while (it_.size > least()) {
        problem_.X.monitor().poll();
        for (int left = std::max(1, it_.size / elimination_share); left > 0; --left) descent_.shrink(it_);
        work_.keep(descent_.refit(it_));
    }
}

void Exploration::fill(int most) {
    for (int size = least(); size <= std::min(pool_.largest(), most); ++size) {
        const Model *smaller = pool_.of_size(size - 1), *model = pool_.of_size(size);
        if (smaller && !(model && model->cost <= smaller->cost)) grow(*smaller);
    }
}

// Grows the largest smaller model to a size beyond what has been seen; in vain if no column improves it.
void Exploration::grow_to(int size) {
    while (!pool_.of_size(size)) {
        const Model& smaller = pool_.largest_below(size);
        grow(smaller);
        if (pool_.largest_below(size).size == smaller.size) return;
    }
}

void Exploration::grow(const Model& model) {
    problem_.X.monitor().poll();
    if (exchange_) {
        if (const Model grown = exchange_->grown(model, Penalty::infinity); std::isfinite(grown.cost)) work_.keep(grown);
        return;
    }
    it_.load(model);
    if (descent_.extend(it_)) work_.keep(descent_.refit(it_));
}

// A step that would bring a coefficient back into its box may cost more than the seed does: it starts inside.
void Exploration::adopt_seeds() {
    for (Model seed : options_.seeds) {
        for (size_t k = 0; k < seed.beta.size(); ++k) seed.beta[k] = problem_.penalty.clip(seed.beta[k], seed.support[k]);
        it_.load(seed);
        Model model = descent_.refit(it_);
        put_back(problem_, seed.support, model);
        work_.keep(model);
    }
}

// Computes the sizes that the path skipped, each from the largest smaller model (the paper's procedure for the constrained
// problem).
void Exploration::threshold_to_sizes() {
    HardThresholding thresholding(problem_, descent_);
    std::vector<int> sizes = options_.sizes;
    std::sort(sizes.begin(), sizes.end());
    for (const int size : sizes) {
        if (pool_.of_size(size)) continue;
        it_.load(pool_.largest_below(size));
        work_.keep(thresholding.at_most(it_, size));
    }
}

}  // namespace ellzero
