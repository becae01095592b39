#include "ellzero/exact/definite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

// At least this, or so much for each row and column.
constexpr double least_margin = 1e-9, more_than_rounding = 8.0, more_terms = 64.0;

}  // namespace

int64_t factorise(Matrix& a, double least) {
    for (int64_t i = 0; i < a.order(); ++i)
        for (int64_t j = 0; j <= i; ++j) {
            const double rest = a(i, j) - kernels::dot(a.row(i), a.row(j), j);
            if (i == j && !(rest > least)) return i;
            a(i, j) = i == j ? std::sqrt(rest) : rest / a(j, j);
        }
    return a.order();
}

void solve(const Matrix& factor, std::vector<double>& x) {
    for (int64_t i = 0; i < factor.order(); ++i) x[i] = (x[i] - kernels::dot(factor.row(i), x.data(), i)) / factor(i, i);
    for (int64_t i = factor.order(); i-- > 0;) {
        x[i] /= factor(i, i);
        kernels::axpy(-x[i], factor.row(i), i, x.data());
    }
}

Matrix inverse(const Matrix& factor) {
    const int64_t order = factor.order();
    Matrix rows(order), out(order);  // row j of `rows`: column j of L^-1
    for (int64_t j = 0; j < order; ++j) {
        double* x = rows.row(j);
        x[j] = 1.0 / factor(j, j);
        for (int64_t i = j + 1; i < order; ++i) x[i] = -kernels::dot(factor.row(i) + j, x + j, i - j) / factor(i, i);
    }
    for (int64_t i = 0; i < order; ++i)
        for (int64_t j = 0; j <= i; ++j) out(i, j) = out(j, i) = kernels::dot(rows.row(i) + i, rows.row(j) + i, order - i);
    return out;
}

bool leaves_definite(const Matrix& gram, const std::vector<double>& diagonal, double margin) {
    Matrix rest = gram;
    for (int64_t j = 0; j < rest.order(); ++j) rest(j, j) -= diagonal[j] + margin;
    return factorise(rest) == rest.order();
}

double margin_for_verifier(int64_t rows, int64_t columns, double sizes) {
    const double rounding = (static_cast<double>(rows + columns) + more_terms) * std::numeric_limits<double>::epsilon();
    return std::max(least_margin, more_than_rounding * rounding * sizes);
}

}  // namespace ellzero
