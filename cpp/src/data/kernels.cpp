#include "ellzero/data/kernels.hpp"

#include <cmath>

#include "ellzero/data/simd.hpp"

// `omp simd` (no OpenMP runtime) permits reordering of the one sum it names; nothing else in the core is reassociated.

namespace ellzero::kernels {
namespace {

// Four columns at once: r is loaded once for all of them and the four sums hide each other's latency.
template <class T>
ELLZERO_INLINE void dot4(const T* a, const T* b, const T* c, const T* d, const double* r, int64_t n, double* out) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int64_t i = 0; i < n; ++i) {
        s0 += static_cast<double>(a[i]) * r[i];
        s1 += static_cast<double>(b[i]) * r[i];
        s2 += static_cast<double>(c[i]) * r[i];
        s3 += static_cast<double>(d[i]) * r[i];
    }
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    out[3] = s3;
}

template <class T>
ELLZERO_INLINE void dots_of(const T* x, int64_t stride, const int32_t* columns, int64_t first, int64_t count, int64_t n,
                            const double* r, double* out) {
    const auto column = [&](int64_t c) { return x + stride * (columns ? columns[c] : first + c); };
    int64_t c = 0;
    for (; c + 4 <= count; c += 4) dot4(column(c), column(c + 1), column(c + 2), column(c + 3), r, n, out + c);
    // The tail goes through the same four-sum loop, so that a column's value never depends on its neighbours.
    if (c < count) {
        const T* last = column(count - 1);
        double four[4];
        dot4(column(c), c + 1 < count ? column(c + 1) : last, c + 2 < count ? column(c + 2) : last, last, r, n, four);
        for (int64_t k = c; k < count; ++k) out[k] = four[k - c];
    }
}

// A column as it is, or widened into a buffer.
ELLZERO_INLINE const double* in_double(const double* x, int64_t, double*) { return x; }
template <class T>
ELLZERO_INLINE const double* in_double(const T* x, int64_t n, double* buffer) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) buffer[i] = static_cast<double>(x[i]);
    return buffer;
}

// Four columns by four right sides: sixteen sums from eight loads.
ELLZERO_INLINE void tile4(const double* const* x, const double* const* r, int64_t n, double sums[4][4]) {
    double s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    double s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
    const double *a0 = x[0], *a1 = x[1], *a2 = x[2], *a3 = x[3];
    const double *b0 = r[0], *b1 = r[1], *b2 = r[2], *b3 = r[3];
#pragma omp simd reduction(+ : s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33)
    for (int64_t k = 0; k < n; ++k) {
        const double x0 = a0[k], x1 = a1[k], x2 = a2[k], x3 = a3[k];
        s00 += x0 * b0[k], s01 += x0 * b1[k], s02 += x0 * b2[k], s03 += x0 * b3[k];
        s10 += x1 * b0[k], s11 += x1 * b1[k], s12 += x1 * b2[k], s13 += x1 * b3[k];
        s20 += x2 * b0[k], s21 += x2 * b1[k], s22 += x2 * b2[k], s23 += x2 * b3[k];
        s30 += x3 * b0[k], s31 += x3 * b1[k], s32 += x3 * b2[k], s33 += x3 * b3[k];
    }
    const double tile[4][4] = {{s00, s01, s02, s03}, {s10, s11, s12, s13}, {s20, s21, s22, s23}, {s30, s31, s32, s33}};
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) sums[a][b] = tile[a][b];
}

template <class T>
ELLZERO_INLINE void products_of(const T* x, int64_t stride, int64_t first, int64_t count, int64_t n, const double* r,
                                int64_t sides, double* out, int64_t ld) {
    // Rows in blocks: four columns' blocks stay in the nearest cache, made wide once, while all right sides pass over them.
    constexpr int64_t block = 512;
    double wide[4 * block];
    for (int64_t start = 0; start < n; start += block) {
        const int64_t rows = n - start < block ? n - start : block;
        for (int64_t c = 0; c < count; c += 4) {
            const double* columns[4];
            for (int64_t a = 0; a < 4; ++a) {
                const T* column = x + stride * (first + (c + a < count ? c + a : count - 1)) + start;
                columns[a] = in_double(column, rows, wide + a * block);
            }
            for (int64_t k = 0; k < sides; k += 4) {
                const double* vectors[4];
                for (int64_t b = 0; b < 4; ++b) vectors[b] = r + n * (k + b < sides ? k + b : sides - 1) + start;
                double sums[4][4];
                tile4(columns, vectors, rows, sums);
                for (int64_t b = 0; b < 4 && k + b < sides; ++b)
                    for (int64_t a = 0; a < 4 && c + a < count; ++a) {
                        double& target = out[(k + b) * ld + c + a];
                        target = start == 0 ? sums[a][b] : target + sums[a][b];
                    }
            }
        }
    }
}

template <class T>
ELLZERO_INLINE void axpy_of(double a, const T* x, int64_t n, double* out) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] += a * static_cast<double>(x[i]);
}

// Four columns at once: `out` is read and written once for all of them.
template <class T>
ELLZERO_INLINE void add_columns_of(const T* x, int64_t stride, const int32_t* columns, const double* a, int64_t count,
                                   int64_t n, double* out) {
    const auto column = [&](int64_t c) { return x + stride * columns[c]; };
    int64_t c = 0;
    for (; c + 4 <= count; c += 4) {
        const T *x0 = column(c), *x1 = column(c + 1), *x2 = column(c + 2), *x3 = column(c + 3);
        const double a0 = a[c], a1 = a[c + 1], a2 = a[c + 2], a3 = a[c + 3];
#pragma omp simd
        for (int64_t i = 0; i < n; ++i)
            out[i] += (a0 * static_cast<double>(x0[i]) + a1 * static_cast<double>(x1[i])) +
                      (a2 * static_cast<double>(x2[i]) + a3 * static_cast<double>(x3[i]));
    }
    for (; c < count; ++c) axpy_of(a[c], column(c), n, out);
}

template <class T>
ELLZERO_INLINE void moments_of(const T* x, const double* w, int64_t n, double pivot, double& sum, double& square) {
    double s = 0.0, q = 0.0;
#pragma omp simd reduction(+ : s, q)
    for (int64_t i = 0; i < n; ++i) {
        const double z = static_cast<double>(x[i]) - pivot, wz = w[i] * z;
        s += wz;
        q += wz * z;
    }
    sum += s;
    square += q;
}

template <class T>
ELLZERO_INLINE void pack_of(const T* x, const double* root, double mean, double scale, int64_t n, double* out) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i * panel_width] = scale * root[i] * (static_cast<double>(x[i]) - mean);
}

template <class T>
ELLZERO_INLINE void pack_of(const T* x, const int32_t* rows, const double* root, double mean, double scale, int64_t n,
                            double* out) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i * panel_width] = scale * root[i] * (static_cast<double>(x[rows[i]]) - mean);
}

}  // namespace

ELLZERO_SIMD void dots(const double* x, int64_t stride, const int32_t* columns, int64_t first, int64_t count, int64_t n,
                       const double* r, double* out) {
    dots_of(x, stride, columns, first, count, n, r, out);
}
ELLZERO_SIMD void dots(const float* x, int64_t stride, const int32_t* columns, int64_t first, int64_t count, int64_t n,
                       const double* r, double* out) {
    dots_of(x, stride, columns, first, count, n, r, out);
}
ELLZERO_SIMD void dots(const int8_t* x, int64_t stride, const int32_t* columns, int64_t first, int64_t count, int64_t n,
                       const double* r, double* out) {
    dots_of(x, stride, columns, first, count, n, r, out);
}

ELLZERO_SIMD void products(const double* x, int64_t stride, int64_t first, int64_t count, int64_t n, const double* r,
                           int64_t sides, double* out, int64_t ld) {
    products_of(x, stride, first, count, n, r, sides, out, ld);
}
ELLZERO_SIMD void products(const float* x, int64_t stride, int64_t first, int64_t count, int64_t n, const double* r,
                           int64_t sides, double* out, int64_t ld) {
    products_of(x, stride, first, count, n, r, sides, out, ld);
}
ELLZERO_SIMD void products(const int8_t* x, int64_t stride, int64_t first, int64_t count, int64_t n, const double* r,
                           int64_t sides, double* out, int64_t ld) {
    products_of(x, stride, first, count, n, r, sides, out, ld);
}

ELLZERO_SIMD void axpy(double a, const double* x, int64_t n, double* out) { axpy_of(a, x, n, out); }
ELLZERO_SIMD void axpy(double a, const float* x, int64_t n, double* out) { axpy_of(a, x, n, out); }
ELLZERO_SIMD void axpy(double a, const int8_t* x, int64_t n, double* out) { axpy_of(a, x, n, out); }

ELLZERO_SIMD void add_columns(const double* x, int64_t stride, const int32_t* columns, const double* a, int64_t count,
                              int64_t n, double* out) {
    add_columns_of(x, stride, columns, a, count, n, out);
}
ELLZERO_SIMD void add_columns(const float* x, int64_t stride, const int32_t* columns, const double* a, int64_t count, int64_t n,
                              double* out) {
    add_columns_of(x, stride, columns, a, count, n, out);
}
ELLZERO_SIMD void add_columns(const int8_t* x, int64_t stride, const int32_t* columns, const double* a, int64_t count,
                              int64_t n, double* out) {
    add_columns_of(x, stride, columns, a, count, n, out);
}

ELLZERO_SIMD void moments(const double* x, const double* w, int64_t n, double pivot, double& sum, double& square) {
    moments_of(x, w, n, pivot, sum, square);
}
ELLZERO_SIMD void moments(const float* x, const double* w, int64_t n, double pivot, double& sum, double& square) {
    moments_of(x, w, n, pivot, sum, square);
}
ELLZERO_SIMD void moments(const int8_t* x, const double* w, int64_t n, double pivot, double& sum, double& square) {
    moments_of(x, w, n, pivot, sum, square);
}

ELLZERO_SIMD void pack(const double* x, const double* root, double mean, double scale, int64_t n, double* out) {
    pack_of(x, root, mean, scale, n, out);
}
ELLZERO_SIMD void pack(const float* x, const double* root, double mean, double scale, int64_t n, double* out) {
    pack_of(x, root, mean, scale, n, out);
}
ELLZERO_SIMD void pack(const int8_t* x, const double* root, double mean, double scale, int64_t n, double* out) {
    pack_of(x, root, mean, scale, n, out);
}

ELLZERO_SIMD void pack(const double* x, const int32_t* rows, const double* root, double mean, double scale, int64_t n,
                       double* out) {
    pack_of(x, rows, root, mean, scale, n, out);
}
ELLZERO_SIMD void pack(const float* x, const int32_t* rows, const double* root, double mean, double scale, int64_t n,
                       double* out) {
    pack_of(x, rows, root, mean, scale, n, out);
}
ELLZERO_SIMD void pack(const int8_t* x, const int32_t* rows, const double* root, double mean, double scale, int64_t n,
                       double* out) {
    pack_of(x, rows, root, mean, scale, n, out);
}

ELLZERO_SIMD void gram_rows(const double* packed, int64_t stride, int64_t n, int64_t begin, int64_t end, int64_t first,
                            double* gram, int64_t ld) {
    // Tiles of six rows of the Gram matrix by one panel: 48 sums, which stay in registers, and no sum across a register: few
    // rows of X cost little, too. Rows past the end are computed from a repeated column and thrown away.
    constexpr int64_t height = 6, width = panel_width;
    for (int64_t i = begin; i < end; i += height) {
        const int64_t last = (i + height < end ? i + height : end) - 1;
        const double* a[height];
        for (int64_t r = 0; r < height; ++r) {
            const int64_t c = i + r < last ? i + r : last;
            a[r] = packed + c / width * width * stride + c % width;
        }
        for (int64_t j = 0; j <= last; j += width) {
            const double* b = packed + j * stride;
            double tile[height][width] = {};
            for (int64_t k = 0; k < n; ++k)
#pragma GCC unroll 6
                for (int64_t r = 0; r < height; ++r) {
                    const double y = a[r][width * k];
#pragma omp simd
                    for (int64_t c = 0; c < width; ++c) tile[r][c] += y * b[width * k + c];
                }
            for (int64_t row = i; row <= last; ++row)
                for (int64_t c = j; c <= row && c < j + width; ++c) gram[(row - first) * ld + c] += tile[row - i][c - j];
        }
    }
}

ELLZERO_SIMD double dot(const double* a, const double* b, int64_t n) {
    double s = 0.0;
#pragma omp simd reduction(+ : s)
    for (int64_t i = 0; i < n; ++i) s += a[i] * b[i];
    return s;
}

ELLZERO_SIMD double sum(const double* a, int64_t n) {
    double s = 0.0;
#pragma omp simd reduction(+ : s)
    for (int64_t i = 0; i < n; ++i) s += a[i];
    return s;
}

ELLZERO_SIMD void add_scalar(double a, int64_t n, double* out) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] += a;
}

ELLZERO_SIMD void factor_rows(const double* factor, int64_t done, int64_t known, int64_t count, double* const* rows) {
    double* const last = rows[count - 1];
    double* const four[4] = {rows[0], count > 1 ? rows[1] : last, count > 2 ? rows[2] : last, last};
    const double* row = factor + done * (done + 1) / 2;
    for (int64_t b = done; b < known; ++b) {
        double sums[4];
        dot4(four[0], four[1], four[2], four[3], row, b, sums);
        const double inverse = 1.0 / row[b];
        for (int64_t r = 0; r < count; ++r) rows[r][b] = (rows[r][b] - sums[r]) * inverse;
        row += b + 1;
    }
}

// The vector type makes the compiler hold a whole row of the tile in registers.
using Lanes = double __attribute__((vector_size(8 * sizeof(double)), aligned(8)));
static_assert(tile_width == int64_t{4} * 8);

ELLZERO_SIMD void solve_forward(const double* factor, int64_t order, double* t, double* squares, int64_t first) {
    auto* rows = reinterpret_cast<Lanes*>(t);
    Lanes q0{}, q1{}, q2{}, q3{};
    const double* row = factor + first * (first + 1) / 2;
    for (int64_t a = first; a < order; ++a) {
        Lanes s0 = rows[4 * a], s1 = rows[4 * a + 1], s2 = rows[4 * a + 2], s3 = rows[4 * a + 3];
        for (int64_t b = first; b < a; ++b) {
            const double f = row[b];
            s0 -= f * rows[4 * b], s1 -= f * rows[4 * b + 1], s2 -= f * rows[4 * b + 2], s3 -= f * rows[4 * b + 3];
        }
        const double inverse = 1.0 / row[a];
        s0 *= inverse, s1 *= inverse, s2 *= inverse, s3 *= inverse;
        q0 += s0 * s0, q1 += s1 * s1, q2 += s2 * s2, q3 += s3 * s3;
        rows[4 * a] = s0, rows[4 * a + 1] = s1, rows[4 * a + 2] = s2, rows[4 * a + 3] = s3;
        row += a + 1;
    }
    auto* out = reinterpret_cast<Lanes*>(squares);
    out[0] = q0, out[1] = q1, out[2] = q2, out[3] = q3;
}

ELLZERO_SIMD void solve_backward(const double* factor, int64_t order, const double* t, double* u) {
    const auto* right = reinterpret_cast<const Lanes*>(t);
    auto* rows = reinterpret_cast<Lanes*>(u);
    for (int64_t a = order; a-- > 0;) {
        Lanes s0 = right[4 * a], s1 = right[4 * a + 1], s2 = right[4 * a + 2], s3 = right[4 * a + 3];
        for (int64_t b = a + 1; b < order; ++b) {
            const double f = factor[b * (b + 1) / 2 + a];
            s0 -= f * rows[4 * b], s1 -= f * rows[4 * b + 1], s2 -= f * rows[4 * b + 2], s3 -= f * rows[4 * b + 3];
        }
        const double inverse = 1.0 / factor[a * (a + 1) / 2 + a];
        rows[4 * a] = s0 * inverse, rows[4 * a + 1] = s1 * inverse, rows[4 * a + 2] = s2 * inverse,
                 rows[4 * a + 3] = s3 * inverse;
    }
}

ELLZERO_SIMD void widen(double a, const float* x, int64_t n, double* out) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) out[i] = a * static_cast<double>(x[i]);
}

ELLZERO_SIMD void improve_best(double cost, double pull, double inverse, const double* row, const double* slope,
                               const double* spare, const double* left, int64_t label, double* best, int64_t* chosen) {
#pragma omp simd
    for (int64_t l = 0; l < tile_width; ++l) {
        const double away = slope[l] - pull * row[l];
        double strength = (away < 0.0 ? -away : away) + spare[l];
        strength = strength > 0.0 ? strength : 0.0;
        const double change = cost - 0.5 * strength * strength / (left[l] + inverse * row[l] * row[l]);
        const bool better = change < best[l];
        best[l] = better ? change : best[l];
        chosen[l] = better ? label : chosen[l];
    }
}

ELLZERO_SIMD void quadratic_forms(const double* matrix, const double* vector, const int64_t* positions, int64_t count,
                                  const double* u, double* linear, double* quadratic) {
    for (int64_t l = 0; l < tile_width; ++l) linear[l] = quadratic[l] = 0.0;
    for (int64_t a = 0; a < count; ++a) {
        const double* own = u + positions[a] * tile_width;
        double product[tile_width] = {};
        for (int64_t b = 0; b < count; ++b) {
            const double* other = u + positions[b] * tile_width;
            const double entry = matrix[a * count + b];
#pragma omp simd
            for (int64_t l = 0; l < tile_width; ++l) product[l] += entry * other[l];
        }
#pragma omp simd
        for (int64_t l = 0; l < tile_width; ++l) {
            linear[l] += vector[a] * own[l];
            quadratic[l] += product[l] * own[l];
        }
    }
}

ELLZERO_SIMD void combine(const double* const* basis, const double* coefficient, int64_t terms, int64_t count, double* center) {
    for (int64_t j = 0; j < count; ++j) center[j] = 0.0;
    for (int64_t k = 0; k < terms; ++k) {
        const double c = coefficient[k];
        const double* h = basis[k];
#pragma omp simd
        for (int64_t j = 0; j < count; ++j) center[j] += c * h[j];
    }
}

ELLZERO_SIMD void gains(const double* center, const double* free, const double* square, double radius, double lambda_1,
                        double steepness, double ridge, int64_t count, double* least, double* most) {
#pragma omp simd
    for (int64_t j = 0; j < count; ++j) {
        const double steep = steepness * square[j] + ridge, slope = std::abs(center[j]) - lambda_1;
        const double reach = radius * std::sqrt(free[j] + 1e-12 * square[j]);
        const double low = slope - reach > 0.0 ? slope - reach : 0.0, high = slope + reach > 0.0 ? slope + reach : 0.0;
        const double half = square[j] > 0.0 ? 0.5 / steep : 0.0;  // the slope of a constant column is rounding
        least[j] = low * low * half;
        most[j] = high * high * half;
    }
}

}  // namespace ellzero::kernels
