// The balance of a softmax dual point. A_il = w_i q_il, l != y_i, is what a row of class y_i gives to class l. An intercept of
// each class asks that every class gives as much as it gets.
#pragma once

#include <cstdint>
#include <vector>

namespace ellzero {

// Lowers entries of A, which are multiples of one grid so coarse that their sums are exact, until that holds exactly. A has n
// rows for each of the classes, one class after another, with zeros in the rows of a class's own; `of_row` are the rows'
// classes.
void balance_classes(const std::vector<int32_t>& of_row, int64_t classes, std::vector<double>& A);

}  // namespace ellzero
