// s'Hs of a few coordinates and the constants, which come last: H, the point s and H s.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ellzero/relaxation/working_gram.hpp"

namespace ellzero {

class QuadraticForm {
  public:
    // H = Z'DZ; s = 0
    void begin(WorkingGram& gram, std::span<const int32_t> columns, const std::vector<double>& d);

    double diagonal(int64_t k) const { return matrix_[k * order_ + k]; }
    double entry(int64_t i, int64_t k) const { return matrix_[i * order_ + k]; }
    double at(int64_t k) const { return at_[k]; }
    // (H s)_k
    double slope(int64_t k) const { return slopes_[k]; }
    // s_k += step
    void move(int64_t k, double step);
    // s'Hs
    double value() const;
    // out_a = (H p)_(face_a) for p that is `along` on the face and zero elsewhere, with H rounded to single precision (its
    // diagonal scaled to about one): directions need no more, and half the memory moves
    void multiply(const std::vector<int32_t>& face, const std::vector<double>& along, std::vector<double>& out);

  private:
    void set_units();

    int64_t order_ = 0;
    std::vector<double> matrix_;  // symmetric
    std::vector<float> rounded_;
    std::vector<double> units_;  // of the coordinates: powers of two, all one where H is of ordinary size
    std::vector<double> at_, slopes_, wide_;
};

}  // namespace ellzero
