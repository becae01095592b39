// Several coordinates that pay one charge together: the convex envelope of
// charge [beta != 0] + lambda_1 ||beta||_1 + sum_a ridge_a beta_a^2 over a box that holds zero.
//
// It is the least of charge z + lambda_1 ||beta||_1 + sum_a ridge_a beta_a^2 / z over shares z <= 1 with |beta_a| <= z reach_a,
// where reach_a is how far the box goes on that side: a cone around zero, and the penalty itself where z = 1. One coordinate
// alone has an Envelope, and so have those whose charge is paid: nothing joins them.
#pragma once

#include <span>
#include <vector>

#include "ellzero/relaxation/envelope.hpp"

namespace ellzero {

class JointEnvelope {
  public:
    JointEnvelope(double charge, double lambda_1) : charge_(charge), lambda_1_(lambda_1) {}
    void add(const Box& box, double ridge) { members_.push_back({box, ridge}); }
    void set_charge(double charge) { charge_ = charge; }

    size_t size() const { return members_.size(); }
    const Box& box(size_t a) const { return members_[a].box; }
    double ridge(size_t a) const { return members_[a].ridge; }
    double charge() const { return charge_; }

    // What all coordinates gain together where these are their slopes, before the charge is paid.
    double gain(std::span<const double> v) const;
    // z: the share of the charge that x pays; zero at zero.
    double share(std::span<const double> x) const;
    // Whether a box keeps the share from being smaller.
    bool held_by_box(std::span<const double> x) const { return share_and_cause(x).by < size(); }
    double value(std::span<const double> x) const;
    // The derivative along coordinate a, where it is not zero.
    double slope(std::span<const double> x, size_t a) const { return slope(x, a, share_and_cause(x)); }
    // The derivative at x in a direction, towards it.
    double along(std::span<const double> x, std::span<const double> direction) const;
    // x becomes the argmin of sum_a h_a x_a^2 / 2 - q_a x_a + value(x) over the box.
    void proximal(std::span<const double> q, std::span<const double> h, std::span<double> x) const;
    // sum_a ridge_a x_a^2
    double square(std::span<const double> x) const;

  private:
    struct Member {
        Box box;
        double ridge;
        double reach(double side) const { return side < 0.0 ? -box.low : box.high; }
    };
    // The least shares that the ridge and the box allow, if no share were too large, and the coordinate that the box is about.
    double share_by_ridge(std::span<const double> x) const { return std::sqrt(square(x) / charge_); }
    struct Held {
        double share = 0.0;
        size_t by = 0;
    };
    Held share_by_box(std::span<const double> x) const;
    // The share at x != 0, and the coordinate whose box it is due to; the number of coordinates if no box is.
    Held share_and_cause(std::span<const double> x) const;
    double slope(std::span<const double> x, size_t a, const Held& at) const;
    // What a share more gains at z, before the charge is paid, and how fast that falls.
    struct Worth {
        double value = 0.0, fall = 0.0;
    };
    Worth worth(double z, std::span<const double> q, std::span<const double> h) const;
    // The share at which it is worth the charge: below one, and above zero.
    double best_share(std::span<const double> q, std::span<const double> h, Worth at_one) const;

    double charge_, lambda_1_;
    std::vector<Member> members_;
};

}  // namespace ellzero
