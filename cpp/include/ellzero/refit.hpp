// On a fixed support the problem is small and convex: damped Newton steps on it, not hundreds of sweeps.
#pragma once

#include <vector>

#include "ellzero/problem.hpp"

namespace ellzero {

class Refit {
  public:
    explicit Refit(const Problem& problem) : problem_(problem) {}

    // Minimises G over the iterate's support and intercept. `floor` is an amount of objective not worth a step.
    // Returns whether it converged.
    bool run(Iterate& it, double floor);
    // The same for the intercept alone.
    void intercept(Iterate& it);
    // Estimated rise of G when a support coordinate leaves and the others refit: beta_i^2 / (2 (H^-1)_ii).
    const std::vector<double>& removal_costs(const Iterate& it);

    // Larger supports are left to coordinate descent: the Hessian would no longer be small beside X.
    static constexpr int64_t largest = 1500;

  private:
    bool newton(Iterate& it, const Loss& loss, double floor);
    void follow_barrier(Iterate& it);
    double find_step(const Iterate& it, const std::vector<double>& r, const std::vector<double>& d);
    bool take_step(Iterate& it, const Loss& loss, double length, double bound);
    void hessian(const Iterate& it, const std::vector<double>& d);
    void solve_model(const Iterate& it);
    bool solve_face(const Iterate& it, const std::vector<double>& at);
    void descend_model(const Iterate& it);
    void factorise(const Iterate& it, const std::vector<int64_t>& free);
    double absolute_damping(const Iterate& it) const;
    double model_change(const Iterate& it, const std::vector<double>& step) const;
    double extend_step(Iterate& it, const Loss& loss);
    bool kinked(const Iterate& it) const;

    const Problem& problem_;
    int64_t order_ = 0;  // support + intercept
    double damping_ = 0.0;
    std::vector<double> hessian_, factor_, gradient_, step_, trial_, along_, scratch_, costs_;
    std::vector<double> eta_, beta_;
    double intercept_ = 0.0;
};

}  // namespace ellzero
