// Numbers that depend on nothing but a seed, the same with every standard library.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace harness {

class Random {
  public:
    explicit Random(uint64_t seed) : engine_(seed) {}

    // An integer of [low, high].
    int64_t integer(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
    }
    double uniform(double low = -1.0, double high = 1.0) {
        return low + (high - low) * 0x1p-53 * static_cast<double>(engine_() >> 11);
    }
    bool coin(double probability = 0.5) { return uniform(0.0, 1.0) < probability; }
    // From 10^low to 10^high.
    double magnitude(double low, double high) { return std::pow(10.0, uniform(low, high)); }
    std::vector<double> numbers(int64_t count, double low = -1.0, double high = 1.0) {
        std::vector<double> out(count);
        for (double& x : out) x = uniform(low, high);
        return out;
    }

  private:
    std::mt19937_64 engine_;
};

}  // namespace harness
