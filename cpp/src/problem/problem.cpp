#include "ellzero/problem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ellzero {
namespace {
constexpr int64_t rows_per_chunk = 1024;
constexpr int64_t work_of_a_row = 16;  // operations of a loss
// A coefficient that changes predictions by so little, relative to their unit, is there for the rules alone.
constexpr double next_to_nothing = 1e-12;
}  // namespace

void put_back(const Problem& problem, const std::vector<int32_t>& support, Model& model) {
    if (!problem.rules || problem.rules.obeys(model.support)) return;
    const Penalty& penalty = problem.penalty;
    for (const int32_t j : support) {
        const auto place = std::ranges::lower_bound(model.support, j);
        if (place != model.support.end() && *place == j) continue;
        const double square = problem.X.square(j), size = next_to_nothing / (square > 0.0 ? std::sqrt(square) : 1.0);
        const double value = penalty.high(j) > 0.0 ? std::min(size, penalty.high(j)) : std::max(-size, penalty.low(j));
        model.beta.insert(model.beta.begin() + (place - model.support.begin()), value);
        model.support.insert(place, j);
        if (!problem.is_head(j)) continue;
        model.size += penalty.counted(j);
        model.spent += penalty.price(j);
    }
}

Iterate::Iterate(const Problem& problem)
    : intercept(problem.X.blocks(), 0.0),
      eta(problem.rows(), 0.0),
      r(problem.rows(), 0.0),
      d(problem.rows(), 0.0),
      problem_(problem),
      inside_(problem.columns(), 0) {
    for (int64_t j = 0; j < problem.columns(); ++j)
        if (const auto column = static_cast<int32_t>(j); problem.is_head(column) && !problem.penalty.counted(column)) {
            add(column, 0.0);
            for (size_t k = support.size() - problem.members(column).size(); k < support.size(); ++k) {
                beta[k] = problem.penalty.clip(0.0, support[k]);
                if (beta[k] != 0.0) problem.X.axpy(support[k], beta[k], eta.data());
            }
        }
}

void Iterate::load(const Model& model) {
    for (const int32_t j : support) inside_[j] = 0;
    support = model.support;
    beta = model.beta;
    intercept = model.intercept;
    intercept.resize(problem_.X.blocks(), 0.0);
    size = model.size;
    spent = model.spent;
    for (const int32_t j : support) inside_[j] = 1;
    if (last_.support == support && last_.beta == beta && last_.intercept == intercept && !last_.eta.empty()) {
        problem_.X.copy(last_.eta, eta);
        problem_.X.copy(last_.r, r);
        problem_.X.copy(last_.d, d);
        loss = last_.loss;
        return;
    }
    refresh();
    evaluate(problem_.loss);
    last_.support = support;
    last_.beta = beta;
    last_.intercept = intercept;
    problem_.X.copy(eta, last_.eta);
    problem_.X.copy(r, last_.r);
    problem_.X.copy(d, last_.d);
    last_.loss = loss;
}

void Iterate::begin_beside(const Iterate& other, int32_t head) {
    for (const int32_t j : support) inside_[j] = 0;
    support.clear();
    beta.clear();
    size = 0;
    spent = 0.0;
    intercept = other.intercept;
    eta = other.eta;
    r = other.r;
    d = other.d;
    loss = other.loss;
    add(head, 0.0);
}

void Iterate::refresh() {
    std::fill(eta.begin(), eta.end(), 0.0);
    problem_.X.add_constants(intercept.data(), eta.data());
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
    for (const int32_t j : out.support)
        if (problem_.is_head(j)) out.spent += problem_.penalty.price(j);
    out.cost = true_cost();
    return out;
}

void Iterate::add(int32_t head, double value) {
    for (const int32_t j : problem_.members(head)) {
        support.push_back(j);
        beta.push_back(value);
        inside_[j] = 1;
        if (value != 0.0) problem_.X.axpy(j, value, eta.data());
    }
    size += problem_.penalty.counted(head);
    spent += problem_.penalty.price(head);
}

void Iterate::remove(size_t position) {
    const int32_t head = problem_.head(support[position]);
    const size_t count = problem_.members(head).size();
    size_t found = 0;
    for (size_t k = position + 1; k-- > 0 && found < count;) found += take_out(k, head);
    for (size_t k = 0; k < support.size() && found < count;)
        if (take_out(k, head)) ++found;
        else ++k;
    size -= problem_.penalty.counted(head);
    spent -= problem_.penalty.price(head);
}

// Takes out the column at a position if it is of this group.
bool Iterate::take_out(size_t position, int32_t head) {
    const int32_t j = support[position];
    if (problem_.head(j) != head) return false;
    if (beta[position] != 0.0) problem_.X.axpy(j, -beta[position], eta.data());
    inside_[j] = 0;
    support.erase(support.begin() + static_cast<std::ptrdiff_t>(position));
    beta.erase(beta.begin() + static_cast<std::ptrdiff_t>(position));
    return true;
}

void Iterate::prune() {
    std::vector<int32_t> used;  // heads
    for (size_t k = 0; k < support.size(); ++k)
        if (beta[k] != 0.0) used.push_back(problem_.head(support[k]));
    std::sort(used.begin(), used.end());
    for (size_t k = support.size(); k > 0;) {
        const int32_t head = problem_.head(support[--k]);
        if (beta[k] != 0.0 || !problem_.penalty.counted(head)) continue;
        if (!std::binary_search(used.begin(), used.end(), head)) remove(k);
        k = std::min(k, support.size());  // others of its group went, too
    }
}

// The loss at eta, with r and d unless they are null; where there are many rows, threads share them, unless rows of several
// outputs belong together.
double Iterate::value(const Loss& loss_at, double* slopes, double* bends) const {
    const int64_t n = problem_.rows();
    if (loss_at.outputs > 1)
        return slopes ? loss_at.evaluate(n, eta.data(), problem_.y, problem_.w, slopes, bends)
                      : loss_at.value(n, eta.data(), problem_.y, problem_.w);
    f_.resize(n);
    problem_.X.team().run(n, rows_per_chunk, [&](int64_t begin, int64_t end, int) {
        loss_at.terms(end - begin, eta.data() + begin, problem_.y + begin, problem_.w + begin, f_.data() + begin,
                      slopes ? slopes + begin : nullptr, bends ? bends + begin : nullptr);
    }, n * work_of_a_row);
    return problem_.X.sum_over_rows(
        [&](int64_t first, int64_t count) { return Loss::total(count, problem_.w + first, f_.data() + first); });
}

void Iterate::evaluate(const Loss& loss_at) { loss = value(loss_at, r.data(), d.data()); }

double Iterate::penalty() const {
    double total = 0.0;
    for (const double b : beta) total += problem_.penalty.value(b);
    return total;
}

double Iterate::true_cost() const { return value(problem_.loss.smoothed(0.0), nullptr, nullptr) + penalty(); }

}  // namespace ellzero
