// What the undecided columns of a region gain beside a form, at slopes v: the largest sums for 0, 1, ... features, and how much
// less it is if a column must come in, or must not.
//
// With D_j = d_j + R_j, where R_j is what the form leaves of the ridge, a set T of columns of a family gains
//   h(T) = 1/2 [ sum_T v_j^2 / D_j + (sum_T d_j v_j / D_j)^2 / (s - sum_T d_j^2 / D_j) ].
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/families.hpp"

namespace ellzero {

class FamilyGains {
  public:
    // `ridge` is what the form leaves, `charge` what each feature pays.
    FamilyGains(const Form& form, std::vector<double> ridge, int room, double charge);

    // The largest gain.
    double compute(const std::vector<double>& v);
    // The same, with what it is less for each column if it must come in, or must not: these are zero or more.
    double compute(const std::vector<double>& v, std::vector<double>& less_in, std::vector<double>& less_out);

    // The best set of one family where each feature pays `price`: the coefficients of its members.
    struct Best {
        double gain = 0.0;  // less what it pays
        int count = 0;
    };
    int64_t groups() const { return std::ssize(members_); }
    const std::vector<int32_t>& members(int64_t group) const { return members_[group]; }
    Best best(int64_t group, const std::vector<double>& v, double price, std::vector<double>& coefficients);
    double width(int32_t j) const { return form_.masses[j] + ridge_[j]; }

  private:
    void prepare(int64_t group, const std::vector<double>& v);
    void tabulate(int64_t group, const std::vector<double>& v, bool each);
    template <class Visit>
    void visit(size_t first, int count, uint32_t set, double squares, double line, double divisor,
               const Visit& visit_set) const;

    const Form& form_;
    std::vector<double> ridge_;
    int room_;
    double charge_;
    std::vector<std::vector<int32_t>> members_;        // of families with undecided columns, and columns that are alone
    std::vector<double> totals_;                       // s of each group; zero: it is a diagonal
    std::vector<std::vector<double>> tables_;          // for each group, by the number of features
    std::vector<std::vector<double>> with_, without_;  // for each column
    std::vector<double> squares_, lines_, taken_;      // of the group in work
};

}  // namespace ellzero
