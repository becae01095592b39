// Fills the pool of a path with proposals: a forward sweep, backward elimination, and the sizes that both missed.
#pragma once

#include <memory>

#include "ellzero/path/path_work.hpp"
#include "ellzero/swaps/exchange.hpp"

namespace ellzero {

class Exploration : PathStep {
  public:
    // Starts where the iterate is.
    explicit Exploration(PathWork& work);

    void run();
    // Fills the sizes up to `most` that both sweeps jumped over, or met only in poor models: the next smaller model plus its
    // best column.
    void fill(int most);
    // The lambda_0 at which the first feature enters; zero before a sweep.
    double first() const { return first_; }

  private:
    bool visit(double lambda_0);
    void grow_and_shrink();
    void forward();
    double sweep_grid();
    double sweep_dynamic();
    int least() const;
    void backward();
    void grow_to(int size);
    void grow(const Model& model);
    void adopt_seeds();
    void threshold_to_sizes();

    Model current_;  // where the forward sweep is
    double first_ = 0.0;
    std::unique_ptr<Exchange> exchange_;  // null without rules
};

}  // namespace ellzero
