// Iterative hard thresholding, penalised (eq. iht of the paper) and for at most k features (eq. ihtcard).
#pragma once

#include <vector>

#include "ellzero/support/descent.hpp"

namespace ellzero {

class HardThresholding {
  public:
    HardThresholding(const Problem& problem, Descent& descent) : problem_(problem), descent_(descent) {}

    // Both start at the iterate and end at a fixed point of their update, minimised on its support: `penalised` as in Theorem 1
    // with L_hat for L_hat_j, `at_most` as in Theorem 3. P never rises.
    Model penalised(Iterate& it, double lambda_0) { return run(it, lambda_0, -1); }
    Model at_most(Iterate& it, int size) { return run(it, 0.0, size); }

    // L_hat: above the Lipschitz constant of the gradient, found by power iteration.
    double step_curvature();

  private:
    Model run(Iterate& it, double lambda_0, int size);
    // The point that minimises the surrogate around the iterate.
    Model step(const Iterate& it, double lambda_0, int size);
    double largest_eigenvalue() const;

    const Problem& problem_;
    Descent& descent_;
    double curvature_ = 0.0;
    std::vector<double> slopes_;
};

}  // namespace ellzero
