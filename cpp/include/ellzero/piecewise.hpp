// The quadratic model of a node's relaxation: g.s + s'Hs/2 plus the envelopes, minimised over a few coordinates and the intercept.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/envelope.hpp"

namespace ellzero {

class PiecewiseModel {
  public:
    // H (row-major of order ld, lower triangle) is taken over; the intercept, if there is one, is its last row.
    std::vector<double>& hessian() { return hessian_; }
    // `x` are the coordinates now, g the gradient of the smooth part there (the intercept last). Afterwards x holds the minimiser
    // and the return value the change of the model.
    double minimise(std::vector<double>& x, const std::vector<const Envelope*>& envelopes, const std::vector<double>& g,
                    bool intercept);
    // How far the intercept moved.
    double intercept_step() const { return intercept_; }

  private:
    double sweep(std::vector<double>& x);
    // Newton's step within the present pieces, as far as they reach. Whether it went all the way.
    bool face_step(std::vector<double>& x);
    void move(int64_t k, double step);
    // The face's step into rhs_; false if the model is flat there.
    bool solve_by_factor(const std::vector<double>& x);
    bool solve_by_gradients(const std::vector<double>& x);
    bool factorise(int64_t order);

    std::vector<double> hessian_;
    int64_t size_ = 0, ld_ = 1, order_ = 0;  // coordinates, + 1, + intercept
    const std::vector<const Envelope*>* envelopes_ = nullptr;
    double intercept_ = 0.0;
    std::vector<double> gradient_, factor_, rhs_;
    std::vector<int64_t> face_;
};

}  // namespace ellzero
