// On a fixed support the problem is small and convex: damped Newton steps on it, not hundreds of sweeps.
#pragma once

#include <vector>

#include "ellzero/problem/problem.hpp"
#include "ellzero/support/quadratic.hpp"

namespace ellzero {

class Refit {
  public:
    explicit Refit(const Problem& problem) : problem_(problem), model_(problem) {}

    // Minimises G over the iterate's support and intercept. `floor` is an amount of objective not worth a step.
    // Returns whether it converged; it gives up, without converging, once it cannot be expected to get below `target`.
    bool run(Iterate& it, double floor, double target = Penalty::infinity);
    // Minimises G over the intercepts alone, one after another.
    void intercept(Iterate& it);
    // Estimated rise of G when a support coordinate leaves and the others refit: beta_i^2 / (2 (H^-1)_ii). That of a group
    // stands at its head.
    std::vector<double> removal_costs(const Iterate& it);

    // Larger supports are left to coordinate descent: the Hessian would no longer be small beside X.
    static constexpr int64_t largest = 1500;

  private:
    bool newton(Iterate& it, const Loss& loss, double floor, double target);
    void solve_hinge(Iterate& it);
    // Raises the outputs of each column alike, to where the penalty is least; softmax does not change. Whether any was moved.
    bool centre(Iterate& it) const;
    void intercept_of(Iterate& it, int64_t output);
    // What the model promises of a step: the change of G, and the slope of G at its start.
    struct Promise {
        double change, slope;
    };
    // Fills step_ and along_ = X step_ from the model with residual r.
    Promise find_step(const Iterate& it, const std::vector<double>& r);
    // The same with a model that fits where the iterate is.
    Promise plan(const Iterate& it, const Loss& loss, double floor);
    // The curvature of G along the step, where the iterate is now.
    double curvature_along(const Iterate& it) const;
    void save(const Iterate& it);
    void restore(Iterate& it, const Loss& loss);
    bool take_step(Iterate& it, const Loss& loss, double length, double bound);
    double extend_step(Iterate& it, const Loss& loss, double factor, double least);

    const Problem& problem_;
    Quadratic model_;
    double damping_ = 0.0;
    std::vector<double> gradient_, step_, along_;
    std::vector<double> eta_, beta_, intercept_;  // where a step starts
};

}  // namespace ellzero
