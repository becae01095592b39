// The convex relaxation of a node on a working set of columns: loss + envelopes, by Newton steps on the coordinates that move.
//
// With a cardinality constraint the charge of a free coordinate is lambda_0 + mu, and mu >= 0 is raised until the shares of the
// charge (z of the perspective reformulation) sum to what is left of k.
#pragma once

#include <vector>

#include "ellzero/piecewise.hpp"
#include "ellzero/problem.hpp"

namespace ellzero {

class Relaxation {
  public:
    explicit Relaxation(const Problem& problem);

    struct Coordinate {
        int32_t column;
        Box box;
        bool free;  // pays the charge
        double beta;
    };

    // Starts anew from these coordinates. `most` is the largest sum of shares, infinite if there is no such constraint.
    void begin(std::vector<Coordinate> coordinates, double intercept, double lambda_0, double mu, double most);
    void add(int32_t column, const Box& box);
    // The hinge is solved as smoothed by this width; the other losses have none.
    void smooth(double tau) { loss_ = problem_.loss.smoothed(tau); }
    double smoothing() const { return loss_.smoothing; }

    // Improves until a step promises less than `floor`.
    void solve(double floor, int most_steps = 100);

    const std::vector<Coordinate>& coordinates() const { return coordinates_; }
    double share(size_t k) const { return envelopes_[k].share(coordinates_[k].beta); }
    double intercept() const { return intercept_; }
    double mu() const { return mu_; }
    double charge() const { return lambda_0_ + mu_; }
    // w f' at the solution: the dual point is its negative.
    const std::vector<double>& residual() const { return r_; }
    const std::vector<double>& curvature() const { return d_; }
    // The relaxation's value for the true hinge, with lambda_0 of free coordinates only.
    double value() const;

    int64_t newton_steps = 0;  // for profiles

  private:
    void solve_at_charge(double floor, int most_steps);
    bool step(double floor);
    double evaluate();
    void set_envelopes();
    double total_share() const;
    double line_search(const std::vector<double>& to);

    const Problem& problem_;
    Loss loss_;
    std::vector<Coordinate> coordinates_;
    std::vector<Envelope> envelopes_;
    double intercept_ = 0.0, lambda_0_ = 0.0, mu_ = 0.0, most_ = 0.0;
    std::vector<double> eta_, r_, d_;
    PiecewiseModel model_;
    // scratch
    std::vector<int32_t> columns_;
    std::vector<double> slopes_, along_, trial_, trial_r_, x_, g_;
    std::vector<size_t> active_;
    std::vector<const Envelope*> pieces_;
};

}  // namespace ellzero
