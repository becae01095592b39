#include "ellzero/path/confirmation.hpp"

#include <algorithm>
#include <cmath>

namespace ellzero {
namespace {

// Single moves that gain less than this share of the objective are left.
constexpr double worth_a_move = 1e-9;

}  // namespace

Confirmation::Confirmation(PathWork& work) : PathStep(work) {
    if (options_.algorithm != Algorithm::local_search || options_.swaps == SwapRule::ranked) return;
    const int64_t q = options_.swaps == SwapRule::exhaustive ? problem_.columns() : options_.q;
    neighbourhood_ = std::make_unique<Neighbourhood>(problem_, q, options_.improvement == Improvement::first);
}

Model Confirmation::certified(Model model, double lambda_0, bool is_first) {
    if (problem_.rules) return model;  // a single step may break them
    if (!(model.certain && model.stands_at(lambda_0))) {
        it_.load(model);
        model = descent_.solve(it_, lambda_0, options_.max_support, Radius::certain);
        work_.keep(model);
    }
    while (neighbourhood_ && model.size <= options_.max_support) {
        const Move move = find_move(model, lambda_0);
        if (move.position < 0 && move.column < 0) break;
        make(move);
        const Model next = descent_.solve(it_, lambda_0, options_.max_support, Radius::certain);
        // A gain that is lost in the fit (the hinge's smoothing, P near zero) does not count.
        const bool falls =
            next.objective(lambda_0) < model.objective(lambda_0) - worth_a_move * std::abs(model.objective(lambda_0));
        if (!falls || (is_first && next.size > options_.max_support)) {
            settle(model, lambda_0, lambda_0, lambda_0);
            break;
        }
        model = next;
        work_.keep(model);
    }
    return model;
}

size_t Confirmation::foresee(const Ahead& ahead, size_t start) {
    if (problem_.rules) return ahead.size();
    std::vector<const Model*> models;
    size_t k = start;
    for (; k < ahead.size() && models.size() < descent_.foresight(); ++k) {
        const auto& [model, lambda_0] = ahead[k];
        const bool again = !models.empty() && models.back()->support == model->support;
        if (!again && !(model->certain && model->stands_at(lambda_0))) models.push_back(model);
    }
    if (models.size() > 1) descent_.foresee(it_, models);
    return k;
}

void Confirmation::exchange_at_sizes() {
    if (!neighbourhood_) return;
    for (const int size : options_.sizes)
        while (const Model* model = pool_.of_size(size)) {
            if (model->swap_free) break;
            Model current = *model;
            it_.load(current);
            const Move move = neighbourhood_->find_swap(it_, 0.0, descent_.negligible(it_, 0.0));
            if (move.column >= 0) {
                make(move);
                if (pool_.insert(descent_.refit(it_))) continue;
            }  // no swap was found, or the refit lost its gain
            current.swap_free = true;
            pool_.insert(current);
        }
}

void Confirmation::make(const Move& move) {
    if (move.position >= 0) it_.remove(static_cast<size_t>(move.position));
    if (move.column >= 0) it_.add(move.column, move.at);
    it_.intercept.front() += move.shift;
    it_.refresh();
    it_.evaluate(problem_.loss);
}

// Step 2 of Algorithm 2 at a model that satisfies Theorem 1: a single move that lowers P, with neither feature if there is
// none.
Move Confirmation::find_move(Model& model, double lambda_0) {
    if (model.swap_free && model.stands_at(lambda_0)) return {};
    it_.load(model);
    const double worth = descent_.negligible(it_, lambda_0);
    const Move removal = neighbourhood_->cheapest_removal(it_);
    if (removal.position >= 0 && -removal.gain < lambda_0 - worth) return removal;
    // With unequal prices lambda_0 decides which swaps pay.
    const bool unequal = problem_.penalty.unequal;
    if (!model.swap_free || unequal) {
        const Move swap = neighbourhood_->find_swap(it_, lambda_0, worth);
        if (swap.column >= 0) return swap;
    }
    const Move addition = neighbourhood_->best_addition(it_);
    if (addition.gain > lambda_0 + worth) return addition;
    if (unequal) settle(model, lambda_0, lambda_0, lambda_0);
    else settle(model, lambda_0, std::min(model.leaves_above, -removal.gain), std::max(model.enters_below, addition.gain));
    return {};
}

// Notes that no single move improves the model at this lambda_0, nor between these two.
void Confirmation::settle(Model& model, double lambda_0, double leaves_above, double enters_below) {
    model.swap_free = model.certain = true;
    model.leaves_above = std::max(lambda_0, leaves_above);
    model.enters_below = std::min(lambda_0, enters_below);
    work_.keep(model);
}

}  // namespace ellzero
