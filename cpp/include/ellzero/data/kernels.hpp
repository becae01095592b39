// Inner loops over memory. Everything else in the core is bookkeeping around these.
#pragma once

#include <cstdint>

namespace ellzero::kernels {

// out[c] = x_c . r for `count` columns; `columns` lists them, or is null for first, first + 1, ...
// Sums are accumulated in float64 whatever the storage.
void dots(const double* x, int64_t stride, const int32_t* columns, int64_t first, int64_t count, int64_t n, const double* r,
          double* out);
void dots(const float* x, int64_t stride, const int32_t* columns, int64_t first, int64_t count, int64_t n, const double* r,
          double* out);
void dots(const int8_t* x, int64_t stride, const int32_t* columns, int64_t first, int64_t count, int64_t n, const double* r,
          double* out);

// out[k * ld + c] = x_c . r_k for `count` columns from `first` and `sides` vectors r_k = r + k * n: X is read once for all of
// them.
void products(const double* x, int64_t stride, int64_t first, int64_t count, int64_t n, const double* r, int64_t sides,
              double* out, int64_t ld);
void products(const float* x, int64_t stride, int64_t first, int64_t count, int64_t n, const double* r, int64_t sides,
              double* out, int64_t ld);
void products(const int8_t* x, int64_t stride, int64_t first, int64_t count, int64_t n, const double* r, int64_t sides,
              double* out, int64_t ld);

// out += a * x
void axpy(double a, const double* x, int64_t n, double* out);
void axpy(double a, const float* x, int64_t n, double* out);
void axpy(double a, const int8_t* x, int64_t n, double* out);

// out += sum_c a_c x_c over the listed columns
void add_columns(const double* x, int64_t stride, const int32_t* columns, const double* a, int64_t count, int64_t n,
                 double* out);
void add_columns(const float* x, int64_t stride, const int32_t* columns, const double* a, int64_t count, int64_t n,
                 double* out);
void add_columns(const int8_t* x, int64_t stride, const int32_t* columns, const double* a, int64_t count, int64_t n,
                 double* out);

// out = a * x
void widen(double a, const float* x, int64_t n, double* out);

// sum += sum_i w_i (x_i - pivot) and square += sum_i w_i (x_i - pivot)^2
void moments(const double* x, const double* w, int64_t n, double pivot, double& sum, double& square);
void moments(const float* x, const double* w, int64_t n, double pivot, double& sum, double& square);
void moments(const int8_t* x, const double* w, int64_t n, double pivot, double& sum, double& square);

// Columns of a Gram matrix are packed in panels of so many, row after row: entry i of column c stands at
// (c / panel_width * stride + i) * panel_width + c % panel_width, where panels have `stride` rows.
inline constexpr int64_t panel_width = 8;
// out_(i * panel_width) = scale * root_i * (x_i - mean): a column as the weighted Gram matrix needs it, in its panel
void pack(const double* x, const double* root, double mean, double scale, int64_t n, double* out);
void pack(const float* x, const double* root, double mean, double scale, int64_t n, double* out);
void pack(const int8_t* x, const double* root, double mean, double scale, int64_t n, double* out);
// out_(i * panel_width) = scale * root_i * (x_(rows_i) - mean): listed rows of such a column
void pack(const double* x, const int32_t* rows, const double* root, double mean, double scale, int64_t n, double* out);
void pack(const float* x, const int32_t* rows, const double* root, double mean, double scale, int64_t n, double* out);
void pack(const int8_t* x, const int32_t* rows, const double* root, double mean, double scale, int64_t n, double* out);

// gram[(i - first) * ld + j] += a_i . a_j for i in [begin, end), j <= i, of the packed columns a; first <= begin
void gram_rows(const double* packed, int64_t stride, int64_t n, int64_t begin, int64_t end, int64_t first, double* gram,
               int64_t ld);

double dot(const double* a, const double* b, int64_t n);
double sum(const double* a, int64_t n);
void add_scalar(double a, int64_t n, double* out);

// Of `count` rows of a matrix, at most four, the first `known` entries become those of its Cholesky factor, whose rows above
// them are packed one after another. The first `done` entries are the factor's already.
void factor_rows(const double* factor, int64_t done, int64_t known, int64_t count, double* const* rows);

// For `tile_width` right sides at once, interleaved (entry a of side l is t[a * tile_width + l]): t <- L^-1 t, and squares[l] =
// ||t_l||^2; then u <- L^-T t. L is lower triangular, its rows packed one after another. Entries before `first` are zero, and
// are not looked at.
inline constexpr int64_t tile_width = 32;
void solve_forward(const double* factor, int64_t order, double* t, double* squares, int64_t first = 0);
void solve_backward(const double* factor, int64_t order, const double* t, double* u);
// For each side l, with u_l the entries of its side at `count` positions: linear[l] = vector . u_l, quadratic[l] = u_l' matrix
// u_l.
void quadratic_forms(const double* matrix, const double* vector, const int64_t* positions, int64_t count, const double* u,
                     double* linear, double* quadratic);
// For each side l: the change cost - (|slope_l - pull row_l| + spare_l)_+^2 / (2 (left_l + inverse row_l^2)); where it is below
// best_l it becomes best_l, and chosen_l becomes `label`.
void improve_best(double cost, double pull, double inverse, const double* row, const double* slope, const double* spare,
                  const double* left, int64_t label, double* best, int64_t* chosen);

// center[j] = sum_k coefficient[k] * basis[k][j] for j in [0, count)
void combine(const double* const* basis, const double* coefficient, int64_t terms, int64_t count, double* center);

// The least and the most that columns can gain by entering, (|slope| - lambda_1)_+^2 / (2 (steepness square + ridge)), when
// slope_j is center_j up to radius * sqrt(free_j + 1e-12 square_j); the small term covers a free_j that is a difference of near
// equals.
void gains(const double* center, const double* free, const double* square, double radius, double lambda_1, double steepness,
           double ridge, int64_t count, double* least, double* most);

}  // namespace ellzero::kernels
