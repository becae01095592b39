// The convex relaxation of a node on a working set of columns: loss + envelopes, by Newton steps on the coordinates that move.
// Each step also finds the charges at which the shares are as they should be (see Charges).
//
// Columns of a group that is charged pay together: where they follow each other among the coordinates, they have one envelope.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ellzero/problem/problem.hpp"
#include "ellzero/relaxation/charges.hpp"
#include "ellzero/relaxation/envelope.hpp"
#include "ellzero/relaxation/joint_envelope.hpp"
#include "ellzero/relaxation/piecewise.hpp"
#include "ellzero/relaxation/quadratic_form.hpp"
#include "ellzero/relaxation/working_gram.hpp"

namespace ellzero {

class Relaxation {
  public:
    explicit Relaxation(const Problem& problem);

    struct Coordinate {
        int32_t column;
        Box box;
        int32_t group;  // of the charge that it pays (see Charges)
        double beta;
        double moved = 0.0;     // curvature of the loss that is in its ridge instead (see Diagonal)
        double discount = 1.0;  // it pays discount * charge

        bool charged() const { return group != Charges::paid; }
    };

    // Starts anew from these coordinates.
    void begin(std::vector<Coordinate> coordinates, const std::vector<double>& intercept, Charges charges);
    void add(int32_t column, const Box& box, int32_t group, double moved);
    // Forgets the curvatures of earlier problems, so that what comes does not depend on them.
    void forget() { gram_.forget(); }
    // f(z) = max over a in [0, 1] of a z - tau/2 (a - alpha)^2: smooths the hinge around a dual point alpha (none: zero). Where
    // alpha is optimal the smoothed problem has the solution of the true one, whatever tau: the method of multipliers.
    void smooth(double tau, const std::vector<float>* alpha = nullptr);
    // Moves alpha to the present dual point; a smaller width tau takes the next one closer to the solution.
    void recentre(double tau);

    // Takes at most `most_steps` Newton steps, until one promises less than `floor`.
    void solve(double floor, int most_steps = 100);

    const std::vector<Coordinate>& coordinates() const { return coordinates_; }
    // The share of its charge that a coordinate pays, or its group does.
    double share(size_t k) const { return joined(k) ? share_of(*joined(k)) : envelopes_[k].share(coordinates_[k].beta); }
    // The slope that x_j . theta should have where beta != 0: that of its envelope, less that of the curvature in its ridge.
    double slope(size_t k) const {
        const Coordinate& c = coordinates_[k];
        return (joined(k) ? slope_in(*joined(k), k) : envelopes_[k].slope(c.beta)) - c.moved * c.beta;
    }
    // Whether it is the first of its group, or alone; and the size of its coefficient, or of all of the group's.
    bool leads(size_t k) const { return problem_.is_head(coordinates_[k].column); }
    double size(size_t k) const;
    double total_share() const;  // of all coordinates that are charged
    const std::vector<double>& intercept() const { return intercept_; }
    const Charges& charges() const { return charges_; }
    const std::vector<double>& predictions() const { return eta_; }
    // w f' at the solution: the dual point is its negative.
    const std::vector<double>& residual() const { return r_; }
    const std::vector<double>& curvature() const { return d_; }
    // The relaxation's value for the true hinge. Of prices it holds what charged coordinates pay, and nothing for those that
    // are in.
    double value() const;

    int64_t newton_steps = 0;  // for profiles

  private:
    // One Newton step: the coordinates that may move, by their places, with their slopes and envelopes; where they go, and how
    // eta changes then.
    struct Step {
        std::vector<size_t> active;
        std::vector<int32_t> columns;
        std::vector<double> slopes, damping;     // the constants' last
        std::vector<const Envelope*> envelopes;  // null in a joint
        std::vector<Joint> joints;
        std::vector<double> to, along;
        std::vector<double> intercept;
        bool adjusted = false;  // the charges moved
    };

    // Returns false if nothing is left to gain.
    bool step(double floor);
    bool choose_active();
    // Returns the decrease of the objective that the model predicts, at the charges that it ends with.
    double minimise_model(double floor);
    // Moves the charges, given where the coordinates that may move are. False if the charges are good as they are.
    bool adjust();
    double line_search();
    double slope_along(double length);
    void move(double length);
    void evaluate();
    void set_eta();
    void set_envelopes();
    Envelope envelope(const Coordinate& c) const;
    double charge(const Coordinate& c) const;
    // Coordinates that pay together.
    struct Together {
        size_t first;
        JointEnvelope envelope;
    };
    // Joins each coordinate, or the one at this place, which is the last, to that before it, if both pay for one group.
    void join();
    void join(size_t k);
    const Together* joined(size_t k) const { return together_of_[k] >= 0 ? &together_[together_of_[k]] : nullptr; }
    // The coefficients of coordinates that pay together, in a scratch array.
    std::span<const double> coefficients(const Together& some) const;
    double share_of(const Together& some) const { return some.envelope.share(coefficients(some)); }
    double slope_in(const Together& some, size_t k) const { return some.envelope.slope(coefficients(some), k - some.first); }
    bool stays_at_zero(const Together& some, double nearly);
    void activate(size_t k, const Envelope* envelope);
    // The derivative of the envelopes of joints along the step.
    double slope_of_joints(double length);

    const Problem& problem_;
    Loss loss_;
    std::vector<Coordinate> coordinates_;
    std::vector<Envelope> envelopes_;
    std::vector<Together> together_;
    std::vector<int32_t> together_of_;  // of each coordinate, -1: it pays alone
    std::vector<double> intercept_;
    Charges charges_;
    ChargeSearch search_;
    double least_charge_ = 0.0;
    bool still_ = false;                       // the charges do not move any more
    std::vector<double> eta_, shift_, r_, d_;  // the smoothed hinge is evaluated at eta + shift
    WorkingGram gram_;
    QuadraticForm form_;
    Step step_;
    std::vector<int32_t> columns_;  // scratch, as what follows
    std::vector<double> slopes_, trial_, trial_r_, sums_, weighed_, point_, direction_;
    mutable std::vector<double> coefficients_;
};

}  // namespace ellzero
