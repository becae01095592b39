// The model of a node's relaxation around a point: g.s + s'Hs/2 plus the envelopes, minimised over a few coordinates and the
// intercepts. Sweeps over the coordinates find the pieces of the envelopes, Newton's steps the minimum within them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ellzero/relaxation/envelope.hpp"
#include "ellzero/relaxation/joint_envelope.hpp"
#include "ellzero/relaxation/quadratic_form.hpp"

namespace ellzero {

// Coordinates of a model that share a charge: as many as their envelope has, one after the other.
struct Joint {
    int64_t first;
    const JointEnvelope* envelope;

    int64_t size() const { return static_cast<int64_t>(envelope->size()); }
    template <class T>
    std::span<T> of(std::vector<T>& values) const {
        return std::span<T>(values).subspan(first, envelope->size());
    }
    std::span<const double> of(const std::vector<double>& values) const {
        return std::span<const double>(values).subspan(first, envelope->size());
    }
};

class PiecewiseModel {
  public:
    // `damping` is added to H's diagonal. The last coordinates of H are those of the constants, of which the first `intercepts`
    // may move. Coordinates of `joints`, which are in their order, have no envelope of their own.
    PiecewiseModel(QuadraticForm& form, const std::vector<const Envelope*>& envelopes, const std::vector<Joint>& joints,
                   const std::vector<double>& g, const std::vector<double>& damping, int64_t intercepts);

    // Moves the coordinates `x` to the minimiser, but for steps that gain less than `floor`.
    void minimise(std::vector<double>& x, double floor);
    // The model where `x` was moved to.
    double value(const std::vector<double>& x) const;
    // The step of an intercept.
    double intercept_step(int64_t l) const { return form_.at(size_ + l); }

  private:
    double slope(int64_t k) const { return g_[k] + form_.slope(k) + damping_[k] * form_.at(k); }
    double sweep(std::vector<double>& x);
    // The same for coordinates from one to before another, for those of a joint, and for the intercepts. All return the gain.
    double sweep_alone(int64_t from, int64_t to, std::vector<double>& x);
    double sweep_joint(size_t number, std::vector<double>& x);
    double sweep_intercepts();
    // A factor of the diagonal of H, for the coordinates of a joint, that makes it an upper bound of H.
    double coupling(const Joint& joint) const;
    // Takes Newton's step within the present pieces, each coordinate as far as its piece reaches. Returns whether all went the
    // whole way.
    bool face_step(std::vector<double>& x);
    // Chooses the face: the coordinates inside their pieces, and the intercepts. right_ becomes their negative slopes. False if
    // the face is empty.
    bool choose_face(const std::vector<double>& x);
    // Adds the coordinates of a joint, unless a box bends its envelope where they are.
    void add_to_face(const Joint& joint, const std::vector<double>& x);
    // Conjugate gradients on the face: face_move_ solves H s = right_ there. False if the model is flat.
    bool solve_face();
    // Sets targets_, where each coordinate of the face ends, at the latest with its piece. Returns the part of the step after
    // which the first piece ends.
    double choose_targets(const std::vector<double>& x);
    // Moves the face from `from`: to its targets if the length is one, else by this part of face_move_. `go_back` undoes that.
    void go(const std::vector<double>& from, double length, std::vector<double>& x);
    void go_back(const std::vector<double>& from, double length, std::vector<double>& x);

    QuadraticForm& form_;
    const std::vector<const Envelope*>& envelopes_;
    const std::vector<Joint>& joints_;
    const std::vector<double>& g_;
    const std::vector<double>& damping_;
    int64_t size_;
    int64_t intercepts_;
    std::vector<int32_t> face_;
    std::vector<double> right_, face_move_, targets_;
    std::vector<double> couplings_, pull_, bend_, to_;  // of joints, and scratch
    // On the cone around zero the curvature of a joint is 2 ridge_a / z less factor t t', with t_a = ridge_a x_a.
    struct Cone {
        int64_t first, count;  // in the face
        double factor;
        std::vector<double> t;
    };
    // Where the piece of a coordinate of the face ends, and the curvature of its envelope there.
    struct Piece {
        Box box;
        double knee, bend;
        // The |x| at which it ends in the direction of a step: the knee, zero or an end of the box.
        double end(double x, double step) const;
    };
    std::vector<Piece> pieces_;
    std::vector<Cone> cones_;
};

}  // namespace ellzero
