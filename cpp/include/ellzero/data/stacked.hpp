// Several outputs on the same columns, as one design: its rows are those of X once for each output, one block after another,
// and its columns are atoms. Atom j * outputs + l is column j of X, centred and scaled, in the rows of output l, and zero in
// all others. The atoms of a column come in together: they are a group (see groups.hpp), and nothing else needs to know of
// outputs.
#pragma once

#include <memory>

#include "ellzero/data/design.hpp"

namespace ellzero {

// mean and scale are those of X's columns; each may be null. Where a loss couples the outputs of a row, as softmax does, d has
// the row's shares p_l times its weight, and the row's part of D is diag(d) - d d' / sum(d). All is borrowed.
std::unique_ptr<Design> make_stacked(const Design& X, const double* mean, const double* scale, int64_t outputs, bool coupled);

}  // namespace ellzero
