// Algorithm 2 for models of many sizes at once.
//
// The swaps of all sizes draw on the same few columns: those of the models, and those that nearly fit. The search runs among a
// selection of them, copied and so in cache, up and down the sizes; each size's result is then held against all columns, and
// what promises more joins the selection.
#pragma once

#include <functional>
#include <set>

#include "ellzero/problem/pool.hpp"
#include "ellzero/swaps/exchange.hpp"

namespace ellzero {

class LocalSearch {
  public:
    explicit LocalSearch(const Problem& problem);

    // Larger models are left as they are: ranking costs p times the square of their size.
    static constexpr int largest = 512;

    // Improves the pool's models of these sizes; `report` hears the share of the work that is done and the size at hand.
    using Report = std::function<void(double fraction, int size)>;
    void run(Pool& pool, const std::set<int>& sizes, const Report& report);

  private:
    std::vector<int32_t> selected(const Pool& pool) const;
    void search_among(const std::vector<int32_t>& columns, Pool& pool, const std::set<int>& sizes);
    bool look_outside(Pool& pool, const std::set<int>& sizes);
    // The features of these models, as many models as fit into the swap model's memory.
    std::vector<int32_t> features_from(const Pool& pool, const std::vector<int>& sizes, size_t start) const;

    const Problem& problem_;
    Exchange whole_;
    std::set<int32_t> promising_;  // columns that were ranked well
};

}  // namespace ellzero
