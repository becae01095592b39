// The losses f(eta, y). A Loss evaluates sums over rows that are already weighted: sum_i w_i f(eta_i, y_i).
//
// Several outputs are stacked: `n` is the number of rows times that of outputs, one output's rows after another's, and so are y
// and w. Softmax is the one loss that couples them: y is one in the row of its class and zero in those of the others.
#pragma once

#include <cstdint>

namespace ellzero {

enum class LossKind { logistic, squared_hinge, hinge, squared_error, softmax };

struct Loss {
    LossKind kind;
    // The width tau of Nesterov's smoothing of the hinge, f - tau/2 <= f_tau <= f; zero means the true hinge (value only).
    double smoothing = 0.0;
    int64_t outputs = 1;

    double value(int64_t n, const double* eta, const double* y, const double* w) const;
    // r_i = w_i f'(eta_i, y_i)
    void residual(int64_t n, const double* eta, const double* y, const double* w, double* r) const;
    // value, r as above and d_i = w_i f''(eta_i, y_i), in one pass; of softmax, d = w p (see Design::apply_curvature)
    double evaluate(int64_t n, const double* eta, const double* y, const double* w, double* r, double* d) const;
    // The same for rows that several threads share: f_i = f(eta_i, y_i), with r and d unless both are null; and then the sum of
    // all w_i f_i, in the order of `value` and `evaluate`.
    void terms(int64_t n, const double* eta, const double* y, const double* w, double* f, double* r, double* d) const;
    static double total(int64_t n, const double* w, const double* f);

    // sup of f'': L_j = curvature_bound * sum_i w_i x_ij^2
    double curvature_bound() const;
    // This loss at another smoothing; only the hinge changes.
    Loss smoothed(double tau) const { return kind == LossKind::hinge ? Loss{kind, tau, outputs} : *this; }
};

}  // namespace ellzero
