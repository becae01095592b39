// The squared error as p columns see it: G = X'WX, c = X'Wy, y'Wy. Work on a node then does not depend on the number of rows.
//
// Columns of zeros and of one other number that exclude each other, such as the levels of an attribute, are an attribute. In
// units in which that number is one, they often sum to one: the vector of ones is a null vector of G if there is an intercept.
// All that follows is in these units: coefficient j is along_j times that of the problem.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ellzero/exact/definite.hpp"
#include "ellzero/exact/options.hpp"
#include "ellzero/problem/problem.hpp"

namespace ellzero {

struct NormalEquations {
    Matrix gram;
    std::vector<double> cross;
    double square = 0.0;
    std::vector<double> ridge;       // 2 lambda_2 along_j^2
    std::vector<double> along;       // one for columns that are alone
    std::vector<int32_t> attribute;  // of each column, -1: alone
    int32_t attributes = 0;
    // An entry (i, j) as the verifier computes it is off by at most error size_i size_j.
    std::vector<double> sizes;
    double size = 0.0;  // of y
    double error = 0.0;

    explicit NormalEquations(int64_t columns) : gram(columns) {}
    int64_t columns() const { return gram.order(); }
};

// The normal equations, if nodes of this problem are solved with them: the squared error with a ridge, few columns and no
// limits but on the number of features. Null otherwise.
std::shared_ptr<const NormalEquations> normal_equations(const Problem& problem, const ExactOptions& options);

}  // namespace ellzero
