#include "problems.hpp"

#include "ellzero/support/descent.hpp"

using namespace ellzero;

namespace harness {

Instance::Instance(Random& random, const Shape& shape)
    : rows_(shape.rows), x_(random.numbers(shape.rows * shape.columns)), y_(shape.rows) {
    const bool alike = shape.least_weight >= 0.1;
    for (int64_t i = 0; i < rows_; ++i)
        w_.push_back(alike ? random.uniform(shape.least_weight, 1.0) : random.magnitude(std::log10(shape.least_weight), 0.0));
    const bool regression = Loss{shape.loss}.regression();
    w_[0] = 0.0;
    double total = 0.0;
    for (const double weight : w_) total += weight;
    for (double& weight : w_) weight /= total;
    for (int64_t i = 0; i < rows_; ++i) {
        // The first two columns matter.
        const double signal = 2.0 * x_[i] - 1.5 * x_[rows_ + i] + random.uniform();
        y_[i] = regression ? shape.y_size * signal : (signal > 0.0 ? 1.0 : -1.0);
    }
    for (double& entry : x_) entry *= shape.x_size;
    standardise(shape.standardised);
    for (int64_t j = 0; j < shape.columns; ++j) {
        lower_.push_back(-random.uniform(0.0, 1.0));
        upper_.push_back(random.uniform(0.0, 2.0));
        prices_.push_back(shape.unpenalized && j == shape.columns - 1 ? 0.0 : shape.priced ? random.uniform(0.1, 1.0) : 1.0);
        if (shape.bounded) continue;
        lower_.back() = -Penalty::infinity;
        upper_.back() = Penalty::infinity;
    }
    design_ = make_dense<double>(x_.data(), rows_, shape.columns, rows_);
    columns_ = std::make_unique<Columns>(*design_, shape.standardised ? mean_.data() : nullptr,
                                         shape.standardised ? scale_.data() : nullptr, square_.data(), team_, monitor_);
    const Penalty penalty{shape.lambda_1, shape.lambda_2, lower_.data(), upper_.data(),
                          prices_.data(), shape.bounded,  shape.priced};
    // Huber's loss is bent at some residuals: those of the signal are about 1.5.
    const Loss loss = Loss{shape.loss, 0.0, 1, 0.8 * shape.y_size}.smoothed(1e-3);
    problem_ = std::make_unique<Problem>(Problem{*columns_, loss, y_.data(), w_.data(), penalty, shape.intercept, 1e-10});
}

void Instance::standardise(bool centre) {
    const int64_t columns = std::ssize(x_) / rows_;
    for (int64_t j = 0; j < columns; ++j) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < rows_; ++i) mean += w_[i] * x_[j * rows_ + i];
        if (!centre) mean = 0.0;
        for (int64_t i = 0; i < rows_; ++i) square += w_[i] * (x_[j * rows_ + i] - mean) * (x_[j * rows_ + i] - mean);
        mean_.push_back(mean);
        // A column whose squares underflow counts as constant.
        scale_.push_back(square > 0.0 ? 1.0 / std::sqrt(square) : 1.0);
        square_.push_back(centre && square > 0.0 ? 1.0 : square);
    }
}

std::vector<double> Instance::margins(const Model& model) const {
    std::vector<double> eta(rows_, model.intercept.empty() ? 0.0 : model.intercept.front());
    for (size_t k = 0; k < model.support.size(); ++k)
        for (int64_t i = 0; i < rows_; ++i) eta[i] += model.beta[k] * entry(i, model.support[k]);
    return eta;
}

double Instance::cost(const Model& model) const {
    const std::vector<double> eta = margins(model);
    double total = problem_->loss.smoothed(0.0).value(rows_, eta.data(), y_.data(), w_.data());
    for (const double b : model.beta) total += problem_->penalty.value(b);
    return total;
}

std::vector<double> Instance::products(const std::vector<double>& theta) const {
    std::vector<double> out(problem_->columns());
    columns_->all_dots(theta.data(), out.data());
    return out;
}

Model Instance::fit(const std::vector<int32_t>& support) const {
    Iterate it(*problem_);
    for (const int32_t j : support)
        if (!it.contains(j)) it.add(j, 0.0);
    return Descent(*problem_).refit(it);
}

}  // namespace harness
