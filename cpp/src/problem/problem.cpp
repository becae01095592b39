#include "ellzero/problem/problem.hpp"

#include <algorithm>
#include <numeric>

namespace ellzero {

Iterate::Iterate(const Problem& problem)
    : eta(problem.rows(), 0.0),
      r(problem.rows(), 0.0),
      d(problem.rows(), 0.0),
      problem_(problem),
      inside_(problem.columns(), 0) {
    if (!problem.penalty.prices) return;
    for (int64_t j = 0; j < problem.columns(); ++j)
        if (const auto column = static_cast<int32_t>(j); !problem.penalty.counted(column))
            add(column, problem.penalty.clip(0.0, column));
}

void Iterate::load(const Model& model) {
    for (const int32_t j : support) inside_[j] = 0;
    support = model.support;
    beta = model.beta;
    intercept = model.intercept;
    size = model.size;
    spent = model.spent;
    for (const int32_t j : support) inside_[j] = 1;
    refresh();
    evaluate(problem_.loss);
}

void Iterate::refresh() {
    std::fill(eta.begin(), eta.end(), intercept);
    const auto held = problem_.X.design().hold(support);
    problem_.X.add(support, beta.data(), eta.data());
}

Model Iterate::model() const {
    Model out;
    std::vector<size_t> order(support.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return support[a] < support[b]; });
    for (const size_t k : order) {
        out.support.push_back(support[k]);
        out.beta.push_back(beta[k]);
    }
    out.intercept = intercept;
    out.size = size;
    // Summed anew, in the order of the columns: one support has one sum, whatever came and left before.
    for (const int32_t j : out.support) out.spent += problem_.penalty.price(j);
    out.cost = true_cost();
    return out;
}

void Iterate::add(int32_t j, double value) {
    support.push_back(j);
    beta.push_back(value);
    inside_[j] = 1;
    size += problem_.penalty.counted(j);
    spent += problem_.penalty.price(j);
    if (value != 0.0) problem_.X.axpy(j, value, eta.data());
}

void Iterate::remove(size_t position) {
    const int32_t j = support[position];
    if (beta[position] != 0.0) problem_.X.axpy(j, -beta[position], eta.data());
    inside_[j] = 0;
    size -= problem_.penalty.counted(j);
    spent -= problem_.penalty.price(j);
    support.erase(support.begin() + static_cast<std::ptrdiff_t>(position));
    beta.erase(beta.begin() + static_cast<std::ptrdiff_t>(position));
}

void Iterate::prune() {
    for (size_t k = support.size(); k-- > 0;)
        if (beta[k] == 0.0 && problem_.penalty.counted(support[k])) remove(k);
}

void Iterate::evaluate(const Loss& loss_at) {
    loss = loss_at.evaluate(problem_.rows(), eta.data(), problem_.y, problem_.w, r.data(), d.data());
}

double Iterate::penalty() const {
    double total = 0.0;
    for (const double b : beta) total += problem_.penalty.value(b);
    return total;
}

double Iterate::true_cost() const {
    return problem_.loss.smoothed(0.0).value(problem_.rows(), eta.data(), problem_.y, problem_.w) + penalty();
}

}  // namespace ellzero
