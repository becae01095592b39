// The columns that a relaxation holds, and those that are next to enter. Each relaxation has a working set of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "ellzero/exact/column_set.hpp"

namespace ellzero {

struct WorkingSet {
    ColumnSet columns;
    // Columns whose slopes were nearly large enough at the last full pass; they are priced before the others. Increasing, and
    // of the region as it was then.
    std::vector<int32_t> near;
};

}  // namespace ellzero
