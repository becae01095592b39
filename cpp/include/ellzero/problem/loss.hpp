// The losses f(eta, y). A Loss evaluates sums over rows that are already weighted: sum_i w_i f(eta_i, y_i).
//
// Several outputs are stacked: `n` is the number of rows times that of outputs, one output's rows after another's, and so are y
// and w. Softmax is the one loss that couples them: y is one in the row of its class and zero in those of the others.
#pragma once

#include <cstdint>

namespace ellzero {

enum class LossKind { logistic, squared_hinge, hinge, squared_error, huber, softmax };

struct Loss {
    LossKind kind;
    // The width tau of Nesterov's smoothing of the hinge, f - tau/2 <= f_tau <= f; zero means the true hinge (value only).
    double smoothing = 0.0;
    int64_t outputs = 1;
    double delta = 1.0;  // of Huber's loss: residuals beyond it cost by their size, not by their square

    double value(int64_t n, const double* eta, const double* y, const double* w) const;
    // r_i = w_i f'(eta_i, y_i)
    void residual(int64_t n, const double* eta, const double* y, const double* w, double* r) const;
    // value, r as above and d_i = w_i f''(eta_i, y_i), in one pass; of softmax, d = w p (see Design::apply_curvature)
    double evaluate(int64_t n, const double* eta, const double* y, const double* w, double* r, double* d) const;
    // The same for rows that several threads share: f_i = f(eta_i, y_i), with r and d unless both are null; and then the sum of
    // all w_i f_i, in the order of `value` and `evaluate`.
    void terms(int64_t n, const double* eta, const double* y, const double* w, double* f, double* r, double* d) const;
    static double total(int64_t n, const double* w, const double* f);

    // What algorithms ask of a loss; none of them asks its name.
    bool has_kink() const { return kind == LossKind::hinge; }                                       // its steps see it smoothed
    bool has_margin() const { return kind == LossKind::hinge || kind == LossKind::squared_hinge; }  // zero where y eta >= 1
    bool constant_curvature() const { return kind == LossKind::squared_error; }
    bool bends_gradually() const { return kind == LossKind::logistic; }  // f'' hardly changes where eta hardly does
    bool regression() const {
        return kind == LossKind::squared_error || kind == LossKind::huber;
    }  // y is a number, not a label
    bool couples_outputs() const { return kind == LossKind::softmax; }
    int64_t coupled_outputs() const { return couples_outputs() ? outputs : 1; }  // that a row's loss is a function of

    // sup of f'': L_j = curvature_bound * sum_i w_i x_ij^2
    double curvature_bound() const;

    // The conjugate f*(u) = sup_eta u eta - f(eta): for each theta in its domain (conjugate.cpp),
    //     sum_i w_i f(eta_i) >= sum_i -theta_i eta_i - w_i f*(-theta_i / w_i),   theta_i = w_i alpha_i sign_i.
    double dual_sign(double y) const;
    double clip_dual(double alpha) const;
    // -w f*(-theta / w), and the sum of the absolute values of its parts, to which its rounding errors are relative.
    struct DualTerm {
        double value, parts;
    };
    // The term of a row's theta times `scale`; entries of coupled outputs are `n` apart.
    DualTerm dual_term(double scale, const double* theta, const double* y, double w, int64_t n) const;

    // The loss whose residuals are in the domain of every loss of labels.
    static Loss logistic() { return {LossKind::logistic}; }
    // This loss at another smoothing; only the hinge changes.
    Loss smoothed(double tau) const { return has_kink() ? Loss{kind, tau, outputs, delta} : *this; }
};

}  // namespace ellzero
