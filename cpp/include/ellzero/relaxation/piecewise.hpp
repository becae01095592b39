// The model of a node's relaxation around a point: g.s + s'Hs/2 plus the envelopes, minimised over a few coordinates and the
// intercept. Sweeps over the coordinates find the pieces of the envelopes, Newton's steps the minimum within them.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/relaxation/envelope.hpp"
#include "ellzero/relaxation/quadratic_form.hpp"

namespace ellzero {

class PiecewiseModel {
  public:
    // `damping` is added to H's diagonal; without an intercept its coordinate is left alone.
    PiecewiseModel(QuadraticForm& form, const std::vector<const Envelope*>& envelopes, const std::vector<double>& g,
                   const std::vector<double>& damping, bool intercept)
        : form_(form), envelopes_(envelopes), g_(g), damping_(damping), size_(std::ssize(envelopes)), intercept_(intercept) {}

    // Moves the coordinates `x` to the minimiser, but for steps that gain less than `floor`.
    void minimise(std::vector<double>& x, double floor);
    // The model where `x` was moved to.
    double value(const std::vector<double>& x) const;
    // The step of the intercept.
    double intercept_step() const { return form_.at(size_); }

  private:
    double slope(int64_t k) const { return g_[k] + form_.slope(k) + damping_[k] * form_.at(k); }
    double sweep(std::vector<double>& x);
    // Takes Newton's step within the present pieces, each coordinate as far as its piece reaches. Returns whether all went the
    // whole way.
    bool face_step(std::vector<double>& x);
    // Chooses the face: the coordinates inside their pieces, and the intercept. right_ becomes their negative slopes. False if
    // the face is empty.
    bool choose_face(const std::vector<double>& x);
    // Conjugate gradients on the face: face_move_ solves H s = right_ there. False if the model is flat.
    bool solve_face(const std::vector<double>& x);
    // Sets targets_, where each coordinate of the face ends, at the latest with its piece. Returns the part of the step after
    // which the first piece ends.
    double choose_targets(const std::vector<double>& x);
    // Moves the face from `from`: to its targets if the length is one, else by this part of face_move_. `go_back` undoes the
    // move to the targets.
    void go(const std::vector<double>& from, double length, std::vector<double>& x);
    void go_back(const std::vector<double>& from, std::vector<double>& x);

    QuadraticForm& form_;
    const std::vector<const Envelope*>& envelopes_;
    const std::vector<double>& g_;
    const std::vector<double>& damping_;
    int64_t size_;
    bool intercept_;
    std::vector<int32_t> face_;
    std::vector<double> right_, face_move_, targets_;
};

}  // namespace ellzero
