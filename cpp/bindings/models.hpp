// Models across the border: a list of models as the arrays of a CSR matrix and one entry per model of everything else.
#pragma once

#include <vector>

#include "problem.hpp"

namespace ellzero::bindings {

nb::dict pack(const std::vector<Model>& models);
std::vector<Model> unpack(const nb::dict& packed, const BoundProblem& problem);

}  // namespace ellzero::bindings
