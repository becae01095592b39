// A problem restricted to some of its columns, copied: a search that stays among few columns then runs in cache.
#pragma once

#include <memory>
#include <vector>

#include "ellzero/problem/problem.hpp"

namespace ellzero {

class Selection {
  public:
    // `columns` increasing, whole groups; all unpenalized columns must be among them. `team` does the work.
    Selection(const Problem& whole, std::vector<int32_t> columns, Team& team);
    Selection(const Selection&) = delete;
    Selection& operator=(const Selection&) = delete;

    const Problem& problem() const { return *problem_; }
    // A model of the whole problem whose support is selected, and back.
    Model inside(const Model& model) const;
    Model outside(const Model& model) const;

  private:
    // Where a column of the whole problem is among those that are selected.
    int32_t place(int32_t column) const;

    std::vector<int32_t> columns_;
    std::vector<double> mean_, scale_, square_, lower_, upper_, prices_;
    std::unique_ptr<Design> design_;
    std::unique_ptr<Columns> X_;
    std::unique_ptr<Problem> problem_;
};

}  // namespace ellzero
