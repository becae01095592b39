// Passes over X on a CUDA device: entries are read once in their own type, sums are in float64.
//
// ENTRY is the type of X, SIDES the number of vectors that a kernel is made for; `sides` of them are there. ALIGNED says that
// four entries which lie together may be read together. A block has 256 threads. The c-th column is column first + c of X. By
// column, column j begins at x + j * stride; by row, entry i of it is at x[i * stride + j]. Products with the s-th vector begin
// at out + s * pitch.

typedef long long Index;
typedef signed char int8;

#define WARP 32
#define WARPS 8
#define THREADS (WARPS * WARP)

__device__ inline double total_of_warp(double value) {
    for (int step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

struct __align__(sizeof(ENTRY) < 4 ? 4 * sizeof(ENTRY) : 16) Four {
    ENTRY entry[4];
};

// Four entries from `from` on, of which `left` are there; the others are zeros.
__device__ inline Four read_four(const ENTRY* from, Index left) {
    if (ALIGNED && left >= 4) return *(const Four*)from;
    Four out;
#pragma unroll
    for (int k = 0; k < 4; ++k) out.entry[k] = k < left ? from[k] : (ENTRY)0;
    return out;
}

// Fills the tile with `tall` rows of the vectors from `base` on, zeros beyond their end; `apart` doubles lie between vectors.
__device__ inline void fetch_tile(const double* r, Index n, int sides, Index base, int tall, int apart, double* tile) {
    __syncthreads();
    for (int t = threadIdx.x; t < SIDES * tall; t += THREADS) {
        const int s = t / tall, i = t % tall;
        tile[s * apart + i] = s < sides && base + i < n ? r[s * n + base + i] : 0.0;
    }
    __syncthreads();
}

#if SIDES <= 4

#define TALL 1024   // rows of the vectors that a block keeps at hand
#define TOGETHER 4  // columns that a warp takes together, so that each entry of a vector serves several

// A warp for some columns, its lanes along their rows
extern "C" __global__ void products_by_column(const ENTRY* x, Index n, Index stride, Index first, Index count, const double* r,
                                              int sides, Index pitch, double* out) {
    __shared__ __align__(16) double tile[SIDES * TALL];
    const int lane = threadIdx.x % WARP;
    const Index column = ((Index)blockIdx.x * WARPS + threadIdx.x / WARP) * TOGETHER;
    const ENTRY* from[TOGETHER];
    // Columns beyond the last are the last once more, and are not written.
#pragma unroll
    for (int c = 0; c < TOGETHER; ++c) from[c] = x + (first + min(column + c, count - 1)) * stride;
    double sum[SIDES][TOGETHER] = {};
    for (Index base = 0; base < n; base += TALL) {
        fetch_tile(r, n, sides, base, TALL, TALL, tile);
        const int rows = (int)min((Index)TALL, n - base);
#pragma unroll 2
        for (int i = 4 * lane; i < rows; i += 4 * WARP) {
            Four read[TOGETHER];
#pragma unroll
            for (int c = 0; c < TOGETHER; ++c) read[c] = read_four(from[c] + base + i, n - base - i);
#pragma unroll
            for (int s = 0; s < SIDES; ++s) {
                const double2* side = (const double2*)&tile[s * TALL + i];
                const double2 low = side[0], high = side[1];
#pragma unroll
                for (int c = 0; c < TOGETHER; ++c) {
                    sum[s][c] += low.x * (double)read[c].entry[0];
                    sum[s][c] += low.y * (double)read[c].entry[1];
                    sum[s][c] += high.x * (double)read[c].entry[2];
                    sum[s][c] += high.y * (double)read[c].entry[3];
                }
            }
        }
    }
#pragma unroll
    for (int s = 0; s < SIDES; ++s)
#pragma unroll
        for (int c = 0; c < TOGETHER; ++c) {
            const double value = total_of_warp(sum[s][c]);
            if (lane == 0 && s < sides && column + c < count) out[s * pitch + column + c] = value;
        }
}

// The same for rows that lie together: a thread for each column
extern "C" __global__ void products_by_row(const ENTRY* x, Index n, Index stride, Index first, Index count, const double* r,
                                           int sides, Index pitch, double* out) {
    __shared__ double tile[SIDES * TALL];
    const Index column = (Index)blockIdx.x * THREADS + threadIdx.x;
    const ENTRY* from = x + first + min(column, count - 1);
    double sum[SIDES] = {};
    for (Index base = 0; base < n; base += TALL) {
        fetch_tile(r, n, sides, base, TALL, TALL, tile);
        const int rows = (int)min((Index)TALL, n - base);
#pragma unroll 8
        for (int i = 0; i < rows; ++i) {
            const double entry = (double)from[(base + i) * stride];
#pragma unroll
            for (int s = 0; s < SIDES; ++s) sum[s] += tile[s * TALL + i] * entry;
        }
    }
#pragma unroll
    for (int s = 0; s < SIDES; ++s)
        if (s < sides && column < count) out[s * pitch + column] = sum[s];
}

// Weighted mean and variance of a column, out[c] and out[pitch + c]. A warp for each column, which it reads once: so many rows
// at a time that they stay at hand until their own mean is known; what they add to the moments follows from their weight.
#define AT_HAND 32
extern "C" __global__ void moments_by_column(const ENTRY* x, Index n, Index stride, Index first, Index count, const double* w,
                                             int, Index pitch, double* out) {
    const int lane = threadIdx.x % WARP;
    const Index column = (Index)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (column >= count) return;  // the whole warp does
    const ENTRY* from = x + (first + column) * stride;
    double weight = 0.0, mean = 0.0, square = 0.0;
    for (Index base = lane; base < n + lane; base += AT_HAND * WARP) {
        ENTRY entry[AT_HAND];
#pragma unroll
        for (int k = 0; k < AT_HAND; ++k) entry[k] = base + k * WARP < n ? from[base + k * WARP] : (ENTRY)0;
        double share = 0.0, sum = 0.0, apart = 0.0;
#pragma unroll
        for (int k = 0; k < AT_HAND; ++k) {
            const double own = base + k * WARP < n ? w[base + k * WARP] : 0.0;
            share += own;
            sum += own * (double)entry[k];
        }
        share = total_of_warp(share);
        if (share == 0.0) continue;
        const double center = total_of_warp(sum) / share;
#pragma unroll
        for (int k = 0; k < AT_HAND; ++k) {
            const double own = base + k * WARP < n ? w[base + k * WARP] : 0.0, step = (double)entry[k] - center;
            apart += own * step * step;
        }
        const double all = weight + share, step = center - mean;
        mean += step * (share / all);
        square += total_of_warp(apart) + step * step * weight * (share / all);
        weight = all;
    }
    if (lane == 0) {
        out[column] = mean;
        out[pitch + column] = square;
    }
}

extern "C" __global__ void moments_by_row(const ENTRY* x, Index n, Index stride, Index first, Index count, const double* w, int,
                                          Index pitch, double* out) {
    const Index column = (Index)blockIdx.x * THREADS + threadIdx.x;
    if (column >= count) return;
    const ENTRY* from = x + first + column;
    double mean = 0.0, square = 0.0;
#pragma unroll 8
    for (Index i = 0; i < n; ++i) mean += w[i] * (double)from[i * stride];
#pragma unroll 8
    for (Index i = 0; i < n; ++i) {
        const double apart = (double)from[i * stride] - mean;
        square += w[i] * apart * apart;
    }
    out[column] = mean;
    out[pitch + column] = square;
}

// Products of a few columns with one vector: list[0], as an integer, says how many, unless they are more than `most`; the c-th is
// column list[5 + 2 c], and its product goes before it. Entry i of column j is x[i * down + j * across]. Columns are seen centred
// and scaled where means and scales are given. A warp for each column.
extern "C" __global__ void listed_products(const ENTRY* x, Index n, Index down, Index across, const double* r, double r_sum,
                                           const double* mean, const double* scale, Index most, double* list) {
    const Index count = *(const Index*)list, warps = (Index)gridDim.x * WARPS;
    const int lane = threadIdx.x % WARP;
    if (count > most) return;
    for (Index c = (Index)blockIdx.x * WARPS + threadIdx.x / WARP; c < count; c += warps) {
        const Index column = (Index)list[5 + 2 * c];
        const ENTRY* from = x + column * across;
        double sum = 0.0;
#pragma unroll 8
        for (Index i = lane; i < n; i += WARP) sum += r[i] * (double)from[i * down];
        sum = total_of_warp(sum);
        if (mean) sum -= r_sum * mean[column];
        if (scale) sum *= scale[column];
        if (lane == 0) list[4 + 2 * c] = sum;
    }
}

#else

// Many vectors at once, by the matrix arithmetic that devices from compute capability 8.0 on have for float64. A warp takes
// PIECES times eight columns and SIDES vectors; sums[p][s] is a piece of eight columns by eight vectors, of which a lane has
// column lane / 4 and vectors 2 (lane % 4) and the next. Which rows of X are the four that one step takes does not matter, as
// long as the vectors agree: a lane reads four entries that lie together.
#define TALL 256
#define PIECES 2
#define STEPS (SIDES > 8 ? 2 : 4)  // of sixteen rows, whose entries are read before the first is used

// sums += a b for eight columns, four rows and eight vectors
__device__ inline void add_product(double (&sums)[2], double a, double b) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sums[0]), "+d"(sums[1])
        : "d"(a), "d"(b));
}

extern "C" __global__ void products_by_column(const ENTRY* x, Index n, Index stride, Index first, Index count, const double* r,
                                              int sides, Index pitch, double* out) {
    const int apart = TALL + 2;  // lanes that read together then read from different banks
    __shared__ __align__(16) double tile[SIDES * (TALL + 2)];
    const int lane = threadIdx.x % WARP, own = lane / 4, part = 4 * (lane % 4);
    const Index column = ((Index)blockIdx.x * WARPS + threadIdx.x / WARP) * 8 * PIECES + own;
    const ENTRY* from[PIECES];
#pragma unroll
    for (int p = 0; p < PIECES; ++p) from[p] = x + (first + min(column + 8 * p, count - 1)) * stride + part;
    double sums[PIECES][SIDES / 8][2] = {};
    for (Index base = 0; base < n; base += TALL) {
        fetch_tile(r, n, sides, base, TALL, apart, tile);
        const int rows = (int)min((Index)TALL, n - base);
        for (int i = 0; i < rows; i += 16 * STEPS) {
            Four read[STEPS][PIECES];
#pragma unroll
            for (int p = 0; p < PIECES; ++p)
#pragma unroll
                for (int k = 0; k < STEPS; ++k)
                    read[k][p] = read_four(from[p] + base + i + 16 * k, n - base - i - 16 * k - part);
#pragma unroll
            for (int k = 0; k < STEPS; ++k)
#pragma unroll
                for (int s = 0; s < SIDES / 8; ++s) {
                    const double2* side = (const double2*)&tile[(8 * s + own) * apart + i + 16 * k + part];
                    const double2 low = side[0], high = side[1];
#pragma unroll
                    for (int p = 0; p < PIECES; ++p) {
                        add_product(sums[p][s], (double)read[k][p].entry[0], low.x);
                        add_product(sums[p][s], (double)read[k][p].entry[1], low.y);
                        add_product(sums[p][s], (double)read[k][p].entry[2], high.x);
                        add_product(sums[p][s], (double)read[k][p].entry[3], high.y);
                    }
                }
        }
    }
#pragma unroll
    for (int p = 0; p < PIECES; ++p)
#pragma unroll
        for (int s = 0; s < SIDES / 8; ++s)
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                const int side = 8 * s + 2 * (lane % 4) + k;
                if (side < sides && column + 8 * p < count) out[side * pitch + column + 8 * p] = sums[p][s][k];
            }
}

// Here the four entries are of adjacent columns, each of another piece.
extern "C" __global__ void products_by_row(const ENTRY* x, Index n, Index stride, Index first, Index count, const double* r,
                                           int sides, Index pitch, double* out) {
    const int apart = TALL + 4;
    __shared__ __align__(16) double tile[SIDES * (TALL + 4)];
    const int lane = threadIdx.x % WARP, own = lane / 4, part = lane % 4;
    const Index column = ((Index)blockIdx.x * WARPS + threadIdx.x / WARP) * 32 + 4 * own;
    const ENTRY* from = x + first + min(column, count - 1);
    const Index left = count - column;
    double sums[4][SIDES / 8][2] = {};
    for (Index base = 0; base < n; base += TALL) {
        fetch_tile(r, n, sides, base, TALL, apart, tile);
        const int rows = (int)min((Index)TALL, n - base);
#pragma unroll 4
        for (int i = part; i < rows + part; i += 4) {
            const Four read = read_four(from + (base + i) * stride, base + i < n ? left : 0);
#pragma unroll
            for (int s = 0; s < SIDES / 8; ++s) {
                const double side = tile[(8 * s + own) * apart + i];
#pragma unroll
                for (int p = 0; p < 4; ++p) add_product(sums[p][s], (double)read.entry[p], side);
            }
        }
    }
#pragma unroll
    for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int s = 0; s < SIDES / 8; ++s)
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                const int side = 8 * s + 2 * (lane % 4) + k;
                if (side < sides && p < left) out[side * pitch + column + p] = sums[p][s][k];
            }
}

#endif
