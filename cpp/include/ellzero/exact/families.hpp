// Curvature of the squared error that is taken from several columns together.
//
// For a family A of columns, with masses d_j >= 0 and a mass o >= 0 at zero, s = o + sum_A d_j, the form
//   beta' Q_A beta = min_t [ sum_A d_j (beta_j - t)^2 + o t^2 ],   Q_A = diag(d) - d d' / s,
// has the null vector of ones where o = 0, as the Gram matrix has on an attribute. A column that is alone has o = infinity: a
// diagonal. Where a column is out, its mass is at zero; where it is in, it has none: the form of a parent holds for its
// children.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ellzero/exact/normal_equations.hpp"

namespace ellzero {

// A form as a certificate keeps it: masses and directions are those of the problem's columns.
struct Families {
    std::vector<int32_t> columns;  // ascending
    std::vector<double> masses, along, ridges;
    std::vector<int32_t> family;
    std::vector<double> rest;  // the mass at zero of each family
    int64_t number = -1;       // in the tree, where its maker records it
};

// The part of the ridge that belongs to the convex part: of columns that are in, and of others.
inline constexpr double ridge_of_in = 0x1.ep-1, ridge_of_others = 0x1p-10;

// The form on the undecided columns of a region, by their places.
struct Form {
    std::vector<double> masses;
    std::vector<int32_t> family;  // -1: alone
    std::vector<double> rest;

    double total(int32_t family) const;
    void scale(double factor);
    // matrix -= Q
    void take_from(Matrix& matrix) const;
};

// The equations of the undecided columns, where those that are in have their best coefficients.
struct Reduced {
    std::vector<int32_t> in, free;
    Matrix gram;  // of the free columns, with their ridge
    std::vector<double> slopes;
    double base = 0.0;  // the least objective without free columns, less lambda_0

    Reduced(const NormalEquations& equations, std::vector<int32_t> in, std::vector<int32_t> free, double share_of_ridge = 1.0);
};

// A form that is found in a certificate, on the undecided columns.
Form form_of(const NormalEquations& equations, const Families& families, const std::vector<int32_t>& in,
             const std::vector<int32_t>& free);
// Masses of every column, all so small that they are no more than there is.
Form first_form(const NormalEquations& equations, const Reduced& region);
// Makes a form with larger masses where that is possible, by so many sweeps; then a certificate's, null if the verifier's test
// is not met.
std::shared_ptr<Families> improve(const NormalEquations& equations, const std::vector<int32_t>& in,
                                  const std::vector<int32_t>& free, Form& form, int sweeps, double barrier);

}  // namespace ellzero
