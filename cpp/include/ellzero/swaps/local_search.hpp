// Algorithm 2 for models of many sizes at once.
//
// The swaps of all sizes draw on the same few columns: those of the models, and those that nearly fit. The search runs among a
// selection of them, copied and so in cache, up and down the sizes; each size's result is then held against all columns, and
// what promises more joins the selection.
#pragma once

#include <functional>
#include <set>

#include "ellzero/problem/pool.hpp"
#include "ellzero/problem/selection.hpp"
#include "ellzero/swaps/exchange.hpp"

namespace ellzero {

// Quick: swaps alone, from the models that are there. Thorough: also a beam of models grown anew, and kicks.
enum class Effort { quick, thorough };

class LocalSearch {
  public:
    // Models of the sizes `wanted` are those that the caller is after; others serve as starts for them.
    // Where the models come from such a search on a sample of the rows, it is only finished: see finish().
    LocalSearch(const Problem& problem, Effort effort, std::set<int> wanted, const Problem* sample = nullptr,
                Desk* lent = nullptr);

    // Larger models are left as they are: ranking costs p times the square of their size.
    static constexpr int largest = 512;

    // Lets these columns take part in every swap.
    void consider(const std::vector<int32_t>& columns) { promising_.insert(columns.begin(), columns.end()); }
    // Improves the pool's models of these sizes; `report` hears the share of the work that is done and the size at hand.
    using Report = std::function<void(double fraction, int size)>;
    void run(Pool& pool, const std::set<int>& sizes, const Report& report);

  private:
    std::vector<int32_t> selected(const Pool& pool) const;
    // The steps of a search among selected columns: swaps, then a beam of models, or kicks.
    enum class Step { swaps, beam, kicks };
    void search_among(Pool& pool, const std::set<int>& sizes, Step step);
    void swap_up_and_down(Exchange& exchange, Pool& pool, const std::set<int>& sizes) const;
    // Ways out of a model that no swap improves, kicked once: a feature is barred, or a column is forced in, and swaps go on
    // from there until nothing improves. Returns whether a better model of this size was found.
    bool kick(const Selection& selection, Exchange& exchange, Pool& pool, int size);
    bool look_outside(Pool& pool, const std::set<int>& sizes);
    // Swaps on all rows, until no swap that is ranked well improves a model of these sizes, nor one that its neighbours make.
    void finish(Pool& pool, const std::set<int>& sizes, const Report& report);
    bool start_from(Pool& pool, int neighbour, int size);
    // The features of these models, as many models as fit into the swap model's memory.
    std::vector<int32_t> features_from(const Pool& pool, const std::vector<int>& sizes, size_t start) const;

    const Problem& problem_;
    const Effort effort_;
    std::set<int> wanted_;
    const bool finishes_;
    Exchange whole_;
    std::set<std::pair<int, std::vector<int32_t>>> started_;  // sizes, and the neighbours that they were started from
    std::set<std::vector<int32_t>> kicked_;                   // supports
    std::set<int32_t> promising_;                             // columns that were ranked well
};

}  // namespace ellzero
