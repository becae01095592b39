// Small random problems that own their data, and their objective by plain loops.
#pragma once

#include <memory>

#include "ellzero/problem/problem.hpp"
#include "harness.hpp"

namespace harness {

struct Shape {
    ellzero::LossKind loss = ellzero::LossKind::logistic;
    int64_t rows = 20, columns = 6;
    bool intercept = true, standardised = false, bounded = false, unpenalized = false, priced = false;
    double lambda_1 = 0.0, lambda_2 = 0.0;
    double x_size = 1.0, y_size = 1.0;  // y of a regression
    double least_weight = 0.1;          // of a row, relative to the largest
};

class Instance {
  public:
    Instance(Random& random, const Shape& shape);
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    const ellzero::Problem& problem() const { return *problem_; }
    // Column j as the solvers see it.
    double entry(int64_t i, int32_t j) const { return (x_[j * rows_ + i] - columns_->mean(j)) * columns_->scale(j); }
    std::vector<double> margins(const ellzero::Model& model) const;
    // Loss and penalty, lambda_0 not included.
    double cost(const ellzero::Model& model) const;
    // x_j . theta for all columns
    std::vector<double> products(const std::vector<double>& theta) const;
    // The best model with these features and the unpenalized ones, nearly.
    ellzero::Model fit(const std::vector<int32_t>& support) const;

  private:
    void standardise(bool centre);

    int64_t rows_;
    std::vector<double> x_, y_, w_, mean_, scale_, square_, lower_, upper_, prices_;
    ellzero::Team team_{1};
    ellzero::Monitor monitor_;
    std::unique_ptr<ellzero::Design> design_;
    std::unique_ptr<ellzero::Columns> columns_;
    std::unique_ptr<ellzero::Problem> problem_;
};

}  // namespace harness
