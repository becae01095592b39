// The quadratic model of G on a support: its Hessian, kept from one support to the next, and its minimiser.
#pragma once

#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

// D at the iterate for steps of finite length: the hinge's own says nothing about them (see Problem::broad_loss).
std::vector<double> finite_curvatures(const Problem& problem, const Iterate& it);

// A feature that leaves, by the model: with V = (H^-1)_II of its coordinates I, the others refitted.
struct Removal {
    int32_t head;
    std::vector<int64_t> positions;  // I, the head's first
    std::vector<double> inverse;     // V^-1, row-major
    std::vector<double> pull;        // V^-1 beta_I
    double cost = 0.0;               // beta_I' V^-1 beta_I / 2
};

// The inverse of a small positive definite matrix A, row-major; v' A^-1 v.
std::vector<double> inverted(const std::vector<double>& matrix, int64_t order);
double inverse_form(const std::vector<double>& matrix, const std::vector<double>& v);

// m(s) = g.s + s'Hs/2 + lambda_1 (|beta + s| - |beta|) over the box, s = steps of (beta on the support, intercepts).
// lambda_2 is inside g and H.
class Quadratic {
  public:
    explicit Quadratic(const Problem& problem) : problem_(problem) {}

    // H = Z'DZ + 2 lambda_2 I on the iterate's support, where d says what D is (see Design::apply_curvature).
    void build(const Iterate& it, const std::vector<double>& d);
    // The same, but rows whose curvature has changed little since the last H keep their part in it. Whether H has changed.
    bool follow(const Iterate& it, const std::vector<double>& d, bool closely = false);

    // Minimises the model with gradient g (support, then intercepts). `damping` is relative to the scale of H.
    const std::vector<double>& minimise(const Iterate& it, const std::vector<double>& g, double damping);
    // m(step): the predicted change of G.
    double change(const Iterate& it, const std::vector<double>& step) const;
    // (H^-1)_kk of the support coordinates.
    std::vector<double> inverse_diagonal();
    // The removal of each feature of the support that pays for coming in, in the order of their heads' positions.
    std::vector<Removal> removals(const Iterate& it);

    // The Cholesky factor behind inverse_diagonal(), rows packed one after another.
    const double* factor() const { return factor_.data(); }
    int64_t order() const { return order_; }
    // Whether the last factorisation met a negative pivot: rows of an adapted H need not fit together.
    bool indefinite() const { return indefinite_; }

  private:
    bool solve_face(const Iterate& it, const std::vector<double>& at);
    void descend(const Iterate& it);
    void factorise(const std::vector<int64_t>& free);
    void factorise_all();
    // (H^-1)_II of the factorised H, row-major.
    std::vector<double> inverse_block(const std::vector<int64_t>& positions) const;
    int64_t solve_many_rows(const std::vector<int64_t>& free, int64_t first);
    void solve_few_rows(const std::vector<int64_t>& free, int64_t first, int64_t done);
    bool orthogonalise(const std::vector<int64_t>& free);
    void forget_factor() {
        factored_ = 0;
        orthogonal_ = false;
    }
    bool kinked(const Iterate& it) const;
    double entry(int64_t i, int64_t j) const { return i >= j ? hessian_[i * ld_ + j] : hessian_[j * ld_ + i]; }
    std::vector<double> curvatures(const std::vector<double>& d) const;
    // Carries H over to the iterate's support; false (and nothing done) if too many columns are new.
    bool adapt(const Iterate& it);
    // Brings H near to the curvatures d, row by row; nothing is done if too many rows are far from them.
    enum class Renewed { none, some, too_many };
    Renewed renew(const std::vector<double>& d, bool closely);
    // Curvature that H gets in directions in which G is flat: softmax does not change if all outputs are raised alike.
    double gauge(int64_t i, int64_t j) const;
    void set_columns(const std::vector<int32_t>& columns);
    int64_t size() const { return std::ssize(columns_); }
    void set_damping(double relative);
    double* row(int64_t a) { return &factor_[a * (a + 1) / 2]; }

    const Problem& problem_;
    std::vector<int32_t> columns_;  // of H
    int64_t ld_ = 1;                // support + constants
    int64_t order_ = 0;             // support + intercepts, if there are any
    double relative_damping_ = 0.0;
    std::vector<double> damping_;  // added to the diagonal
    bool indefinite_ = false;
    int64_t factored_ = 0;         // leading rows of the factor that fit H and the damping
    bool orthogonal_ = false;      // whether the factor comes from the columns themselves: H has too few digits
    std::vector<double> hessian_;  // lower triangle, row-major
    std::vector<double> d_;        // of H
    double built_of_ = 0.0;        // the curvature of all rows when all of H was made
    std::vector<double> gradient_, step_, trial_, factor_, scratch_;
};

}  // namespace ellzero
