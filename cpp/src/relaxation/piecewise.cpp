#include "ellzero/relaxation/piecewise.hpp"

#include <algorithm>
#include <cmath>

#include "ellzero/data/kernels.hpp"

namespace ellzero {
namespace {

// Rounds of a few sweeps, which find the pieces, and one Newton step within them: they end sooner, once little is gained.
constexpr int most_rounds = 60;
constexpr int sweeps_per_round = 2;
// A sweep that gains less than this part of what was gained ends the search.
constexpr double negligible = 1e-6;
// Conjugate gradients on the face go on to this relative residual, or so often: the next sweeps correct a rough step.
constexpr double solved = 1e-3;
constexpr int64_t most_gradients = 30;
// A column without curvature: its step is bounded by its box alone, and nothing is divided by zero.
constexpr double least_curvature = 1e-300;

// A step on a cone is halved so often.
constexpr int most_shorter = 6;

}  // namespace

PiecewiseModel::PiecewiseModel(QuadraticForm& form, const std::vector<const Envelope*>& envelopes,
                               const std::vector<Joint>& joints, const std::vector<double>& g,
                               const std::vector<double>& damping, int64_t intercepts)
    : form_(form),
      envelopes_(envelopes),
      joints_(joints),
      g_(g),
      damping_(damping),
      size_(std::ssize(envelopes)),
      intercepts_(intercepts) {
    for (const Joint& joint : joints_) couplings_.push_back(coupling(joint));
}

// Gershgorin's bound of the largest eigenvalue, where the diagonal is one.
double PiecewiseModel::coupling(const Joint& joint) const {
    const auto root = [&](int64_t k) { return std::sqrt(std::max(form_.diagonal(k) + damping_[k], 0.0)); };
    double most = 1.0;
    const int64_t end = joint.first + joint.size();
    for (int64_t i = joint.first; i < end; ++i) {
        double sum = 1.0;
        for (int64_t k = joint.first; k < end; ++k)
            if (const double unit = root(i) * root(k); k != i && unit > 0.0) sum += std::abs(form_.entry(i, k)) / unit;
        most = std::max(most, sum);
    }
    return most;
}

double PiecewiseModel::Piece::end(double x, double step) const {
    const double at = std::abs(x);
    const double far = x > 0.0 ? box.high : -box.low;
    const double near = std::max(x > 0.0 ? box.low : -box.high, 0.0);
    if (step > 0.0) return at < knee ? knee : far;
    return at > knee ? std::max(knee, near) : near;
}

void PiecewiseModel::minimise(std::vector<double>& x, double floor) {
    double gained = 0.0;
    for (int round = 0; round < most_rounds; ++round) {
        double last = 0.0;
        for (int k = 0; k < sweeps_per_round; ++k) gained += last = sweep(x);
        if (last <= floor) break;
        const bool whole = face_step(x);
        if (whole && last <= negligible * gained) break;
    }
}

double PiecewiseModel::value(const std::vector<double>& x) const {
    double total = 0.5 * form_.value();
    for (int64_t k = 0; k < size_ + intercepts_; ++k) total += form_.at(k) * (g_[k] + 0.5 * damping_[k] * form_.at(k));
    for (int64_t k = 0; k < size_; ++k)
        if (envelopes_[k]) total += envelopes_[k]->value(x[k]);
    for (const Joint& joint : joints_) total += joint.envelope->value(joint.of(x));
    return total;
}

double PiecewiseModel::sweep(std::vector<double>& x) {
    double gained = 0.0;
    int64_t next = 0;
    for (size_t k = 0; k < joints_.size(); ++k) {
        gained += sweep_alone(next, joints_[k].first, x);
        gained += sweep_joint(k, x);
        next = joints_[k].first + joints_[k].size();
    }
    gained += sweep_alone(next, size_, x);
    return gained + sweep_intercepts();
}

double PiecewiseModel::sweep_alone(int64_t from, int64_t to, std::vector<double>& x) {
    double gained = 0.0;
    for (int64_t k = from; k < to; ++k) {
        const double h = std::max(form_.diagonal(k) + damping_[k], least_curvature);
        const double at = envelopes_[k]->proximal(h * x[k] - slope(k), h);
        const double step = at - x[k];
        if (step == 0.0) continue;
        gained += 0.5 * h * step * step;
        form_.move(k, step);
        x[k] = at;
    }
    return gained;
}

// All coordinates of a joint move at once, on an upper bound of the model in which they are separate: single ones could not
// leave zero, and would stall next to it.
double PiecewiseModel::sweep_joint(size_t number, std::vector<double>& x) {
    const Joint& joint = joints_[number];
    const int64_t count = joint.size();
    pull_.resize(count);
    bend_.resize(count);
    to_.resize(count);
    for (int64_t a = 0; a < count; ++a) {
        const int64_t k = joint.first + a;
        bend_[a] = couplings_[number] * std::max(form_.diagonal(k) + damping_[k], least_curvature);
        pull_[a] = bend_[a] * x[k] - slope(k);
    }
    joint.envelope->proximal(pull_, bend_, to_);
    double gained = 0.0;
    for (int64_t a = 0; a < count; ++a) {
        const int64_t k = joint.first + a;
        const double step = to_[a] - x[k];
        if (step == 0.0) continue;
        gained += 0.5 * bend_[a] * step * step;
        form_.move(k, step);
        x[k] = to_[a];
    }
    return gained;
}

double PiecewiseModel::sweep_intercepts() {
    double gained = 0.0;
    for (int64_t k = size_; k < size_ + intercepts_; ++k) {
        const double h = std::max(form_.diagonal(k) + damping_[k], least_curvature), step = -slope(k) / h;
        form_.move(k, step);
        gained += 0.5 * h * step * step;
    }
    return gained;
}

bool PiecewiseModel::solve_face() {
    const int64_t m = std::ssize(face_);
    std::vector<double> diagonal(m), extra(m), z(m), along(m), image(m);
    face_move_.assign(m, 0.0);
    for (int64_t a = 0; a < m; ++a) {
        const int64_t k = face_[a];
        extra[a] = damping_[k] + pieces_[a].bend;
        diagonal[a] = form_.diagonal(k) + extra[a];
        if (!(diagonal[a] > 0.0)) return false;
        along[a] = z[a] = right_[a] / diagonal[a];
    }
    double rho = kernels::dot(right_.data(), z.data(), m);
    const double enough = solved * solved * rho;
    for (int64_t k = 0; k < std::min(m, most_gradients) && rho > enough; ++k) {
        form_.multiply(face_, along, image);
        for (int64_t a = 0; a < m; ++a) image[a] += extra[a] * along[a];
        for (const Cone& cone : cones_) {
            const double flat = cone.factor * kernels::dot(cone.t.data(), along.data() + cone.first, cone.count);
            kernels::axpy(-flat, cone.t.data(), cone.count, image.data() + cone.first);
        }
        const double bend = kernels::dot(along.data(), image.data(), m);
        if (!(bend > 0.0)) break;
        kernels::axpy(rho / bend, along.data(), m, face_move_.data());
        kernels::axpy(-rho / bend, image.data(), m, right_.data());
        for (int64_t a = 0; a < m; ++a) z[a] = right_[a] / diagonal[a];
        const double next = kernels::dot(right_.data(), z.data(), m);
        for (int64_t a = 0; a < m; ++a) along[a] = z[a] + next / rho * along[a];
        rho = next;
    }
    return true;
}

bool PiecewiseModel::choose_face(const std::vector<double>& x) {
    face_.clear();
    right_.clear();
    pieces_.clear();
    cones_.clear();
    size_t joint = 0;
    for (int64_t k = 0; k < size_; ++k) {
        if (!envelopes_[k]) {
            add_to_face(joints_[joint], x);
            k += joints_[joint++].size() - 1;
            continue;
        }
        const Envelope& e = *envelopes_[k];
        if (x[k] == 0.0 || x[k] <= e.box().low || x[k] >= e.box().high) continue;
        face_.push_back(static_cast<int32_t>(k));
        right_.push_back(-slope(k) - e.slope(x[k]));
        pieces_.push_back({e.box(), e.knee(x[k]), e.curvature(x[k])});
    }
    for (int64_t k = size_; k < size_ + intercepts_; ++k) {
        face_.push_back(static_cast<int32_t>(k));
        right_.push_back(-slope(k));
        pieces_.push_back({{-Penalty::infinity, Penalty::infinity}, 0.0, 0.0});
    }
    return !face_.empty();
}

void PiecewiseModel::add_to_face(const Joint& joint, const std::vector<double>& x) {
    const JointEnvelope& e = *joint.envelope;
    const std::span<const double> at = joint.of(x);
    const double z = e.share(at);
    if (z == 0.0 && e.value(at) == 0.0) return;
    if (e.held_by_box(at)) return;
    Cone cone{std::ssize(face_), 0, 0.0, {}};
    for (int64_t a = 0; a < joint.size(); ++a) {
        const int64_t k = joint.first + a;
        if (x[k] == 0.0 || x[k] <= e.box(a).low || x[k] >= e.box(a).high) continue;
        face_.push_back(static_cast<int32_t>(k));
        right_.push_back(-slope(k) - e.slope(at, a));
        pieces_.push_back({e.box(a), 0.0, z > 0.0 ? 2.0 * e.ridge(a) / z : 0.0});
        cone.t.push_back(e.ridge(a) * x[k]);
    }
    cone.count = std::ssize(cone.t);
    if (const double square = e.square(at); z < 1.0 && square > 0.0 && cone.count > 0) {
        cone.factor = 2.0 / (z * square);
        cones_.push_back(std::move(cone));
    }
}

double PiecewiseModel::choose_targets(const std::vector<double>& x) {
    double shortest = 1.0;
    targets_.resize(face_.size());
    for (size_t a = 0; a < face_.size(); ++a) {
        const int64_t k = face_[a];
        if (k >= size_) continue;
        targets_[a] = x[k] + face_move_[a];
        const double side = x[k] > 0.0 ? 1.0 : -1.0, at = std::abs(x[k]), step = side * face_move_[a];
        const double stop = pieces_[a].end(x[k], step);
        if (step == 0.0 || !((stop - at) / step < 1.0)) continue;
        shortest = std::min(shortest, (stop - at) / step);
        targets_[a] = side * stop;
    }
    return shortest;
}

void PiecewiseModel::go(const std::vector<double>& from, double length, std::vector<double>& x) {
    for (size_t a = 0; a < face_.size(); ++a) {
        const int64_t k = face_[a];
        const double target = k >= size_ ? 0.0 : length == 1.0 ? targets_[a] : from[k] + length * face_move_[a];
        const double step = k >= size_ ? length * face_move_[a] : target - from[k];
        if (step == 0.0) continue;
        form_.move(k, step);
        if (k < size_) x[k] = target;
    }
}

void PiecewiseModel::go_back(const std::vector<double>& from, double length, std::vector<double>& x) {
    for (size_t a = 0; a < face_.size(); ++a)
        if (const int64_t k = face_[a]; k >= size_) form_.move(k, -length * face_move_[a]);
        else form_.move(k, from[k] - x[k]);
    x = from;
}

bool PiecewiseModel::face_step(std::vector<double>& x) {
    if (!choose_face(x) || !solve_face()) return true;  // the sweeps alone decide
    // To the end of each coordinate's piece; if the model does not like that, all of them to where the first piece ends.
    const double shortest = choose_targets(x);
    const double before = value(x);
    const std::vector<double> from = x;
    double length = 1.0;
    go(from, length, x);
    if (shortest < 1.0 && value(x) > before) {
        go_back(from, length, x);
        go(from, length = shortest, x);
    }
    if (cones_.empty()) return shortest == 1.0;
    // On a cone, which is no quadratic function, the step may be too long.
    for (int k = 0; k < most_shorter && value(x) > before; ++k) {
        go_back(from, length, x);
        go(from, length *= 0.5, x);
    }
    if (value(x) > before) go_back(from, length, x);
    return shortest == 1.0 && length == 1.0;
}

}  // namespace ellzero
