// The last features of a region, enumerated: each support has its least objective in closed form.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/families.hpp"

namespace ellzero {

class Completions {
  public:
    static constexpr int most_features = 3;

    // The work for so many more features of so many columns, in supports.
    static double count(int64_t columns, int room);
    // What rounding may add to an objective, for the verifier.
    static double margin(const NormalEquations& equations, const std::vector<int32_t>& in, const std::vector<int32_t>& free,
                         int room);

    // The least objective of all supports that is below `below`, or `below`; best() are the places of the features then.
    // `charge` is what each feature pays.
    double least(const Reduced& region, int room, double charge, double below);
    const std::vector<int32_t>& best() const { return best_; }

  private:
    struct Level {
        std::vector<double> line, slopes, pivots;
    };
    void look(int depth, int64_t from, double gain);

    const Matrix* gram_ = nullptr;
    int room_ = 0;
    double charge_ = 0.0, most_ = 0.0;  // the largest gain, in units of twice the objective
    Level levels_[most_features];
    int32_t chosen_[most_features] = {};
    std::vector<int32_t> best_;
};

}  // namespace ellzero
