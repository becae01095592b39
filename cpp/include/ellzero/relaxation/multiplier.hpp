// The search for the multiplier mu of a limit on the sum of shares: the sum falls as mu rises, and is to meet the limit.
#pragma once

namespace ellzero {

// Regula falsi on the logarithm of the sum, inside a bracket that is found by doubling.
class MultiplierSearch {
  public:
    // Multipliers of at most `least` count as zero.
    MultiplierSearch(double limit, double least) : limit_(limit), least_(least) {}

    // The multiplier to try next, when at mu the shares sum to `total`.
    double next(double mu, double total);

  private:
    struct End {
        double mu = -1.0, total = 0.0;  // mu < 0: not found yet
        bool found() const { return mu >= 0.0; }
    };
    double between() const;

    double limit_, least_;
    End low_, high_;  // sums above the limit, and below
};

}  // namespace ellzero
