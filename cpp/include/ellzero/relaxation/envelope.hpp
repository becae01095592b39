// One coordinate of the exact problem: its box, what it can gain (the conjugate of its penalty), and the convex envelope of
// charge [beta != 0] + lambda_1 |beta| + lambda_2 beta^2 over the box.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ellzero/problem/penalty.hpp"

namespace ellzero {

struct Box {
    double low, high;
};

// lambda_1 |beta| + lambda_2 beta^2 of one coordinate, whose ridge may be its own.
struct Cost {
    double lambda_1, lambda_2;

    Cost(const Penalty& penalty, double more = 0.0) : lambda_1(penalty.lambda_1), lambda_2(penalty.lambda_2 + more) {}
};

// s(v): the largest v beta - lambda_1 |beta| - lambda_2 beta^2 over the box.
inline double gain(double v, const Box& box, const Cost& cost) {
    const double pull = std::abs(v) - cost.lambda_1;
    double at = 0.0;
    if (pull > 0.0) at = std::copysign(cost.lambda_2 > 0.0 ? pull / (2.0 * cost.lambda_2) : Penalty::infinity, v);
    at = std::clamp(at, box.low, box.high);
    const double out = v * at - (cost.lambda_1 * std::abs(at) + cost.lambda_2 * at * at);
    return std::isnan(out) ? Penalty::infinity : out;  // infinity less infinity: the gain is beyond all numbers
}

// On each side of zero the envelope is a straight line up to its knee, where it meets the penalty, charge included; beyond the
// knee it is this penalty. A coordinate that is in has paid: its charge is zero and so are its knees.
class Envelope {
  public:
    Envelope(const Box& box, double charge, const Cost& cost)
        : box_(box), charge_(charge), lambda_1_(cost.lambda_1), lambda_2_(cost.lambda_2) {
        set(up_, box.high);
        set(down_, -box.low);
    }

    const Box& box() const { return box_; }
    double value(double x) const {
        const double a = std::abs(x);
        const Side& side = x < 0.0 ? down_ : up_;
        return a <= side.knee ? (a == 0.0 ? 0.0 : side.slope * a) : charge_ + a * (lambda_1_ + lambda_2_ * a);
    }
    // Derivatives at x != 0.
    double slope(double x) const {
        const double a = std::abs(x);
        const Side& side = x < 0.0 ? down_ : up_;
        return std::copysign(a <= side.knee ? side.slope : lambda_1_ + 2.0 * lambda_2_ * a, x);
    }
    // The derivative at zero towards a side.
    double slope_at_zero(double side) const { return std::copysign(side < 0.0 ? down_.slope : up_.slope, side); }
    double curvature(double x) const { return std::abs(x) < knee(x) ? 0.0 : 2.0 * lambda_2_; }
    double knee(double x) const { return x < 0.0 ? down_.knee : up_.knee; }
    // The slope of the envelope at zero on the side to which a gradient g pulls.
    double threshold(double g) const { return g > 0.0 ? down_.slope : up_.slope; }
    bool stays_at_zero(double g) const { return box_.low <= 0.0 && box_.high >= 0.0 && std::abs(g) <= threshold(g); }
    // min(|x| / knee, 1): the share of the charge that x pays, z of the perspective reformulation.
    double share(double x) const {
        if (x == 0.0) return 0.0;
        const double k = knee(x);
        return std::abs(x) >= k ? 1.0 : std::abs(x) / k;
    }
    // argmin of h/2 x^2 - q x + value(x) over the box.
    double proximal(double q, double h) const {
        const double a = std::abs(q);
        const Side& side = q < 0.0 ? down_ : up_;
        double x = 0.0;
        if (a > side.slope) {
            x = (a - side.slope) / h;
            if (!(x <= side.knee)) x = std::max((a - lambda_1_) / (h + 2.0 * lambda_2_), side.knee);
        }
        return std::clamp(std::copysign(x, q), box_.low, box_.high);
    }

  private:
    struct Side {
        double knee, slope;
    };
    void set(Side& side, double reach) const {
        if (charge_ <= 0.0) {
            side = {0.0, lambda_1_};
            return;
        }
        side.knee = std::min(lambda_2_ > 0.0 ? std::sqrt(charge_ / lambda_2_) : Penalty::infinity, reach);
        if (side.knee <= 0.0) side = {0.0, Penalty::infinity};
        else if (std::isinf(side.knee)) side.slope = lambda_1_;
        else side.slope = lambda_1_ + charge_ / side.knee + lambda_2_ * side.knee;
    }

    Box box_;
    double charge_, lambda_1_, lambda_2_;
    Side up_{}, down_{};
};

}  // namespace ellzero
