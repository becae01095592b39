// Passes over X on a CUDA device: entries are read once in their own type, sums are in float64.
//
// ENTRY is the type of X, SIDES the number of vectors that a kernel is made for; `sides` of them are there. A block has 256
// threads. The c-th column is columns[c], or first + c where there is no list. By column, column j begins at x + j * stride; by
// row, entry i of it is at x[i * stride + j].

typedef long long Index;
typedef signed char int8;

#define WARP 32
#define WARPS 8
#define THREADS (WARPS * WARP)
#define TILE 256    // rows of the vectors that a block keeps at hand
#define TOGETHER 4  // columns that a warp takes together, so that each entry of a vector serves several

__device__ inline Index number(const Index* columns, Index first, Index c) { return columns ? columns[c] : first + c; }

__device__ inline double total_of_warp(double value) {
    for (int step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

// Fills the tile with rows [base, base + TILE) of the vectors, zeros beyond their end.
__device__ inline void fetch_tile(const double* r, Index n, int sides, Index base, double* tile) {
    __syncthreads();
    for (int t = threadIdx.x; t < SIDES * TILE; t += THREADS) {
        const int s = t / TILE;
        const Index row = base + t % TILE;
        tile[t] = s < sides && row < n ? r[s * n + row] : 0.0;
    }
    __syncthreads();
}

// out[s * count + c] = x_(first + c) . r_s: a warp for some columns, its lanes along their rows
extern "C" __global__ void products_by_column(const ENTRY* x, Index n, Index stride, const Index* columns, Index first,
                                              Index count, const double* r, int sides, double* out) {
    __shared__ double tile[SIDES * TILE];
    const int lane = threadIdx.x % WARP;
    const Index column = ((Index)blockIdx.x * WARPS + threadIdx.x / WARP) * TOGETHER;
    const ENTRY* from[TOGETHER];
    // Columns beyond the last are the last once more, and are not written.
    for (int c = 0; c < TOGETHER; ++c) from[c] = x + number(columns, first, min(column + c, count - 1)) * stride;
    double sum[SIDES][TOGETHER];
#pragma unroll
    for (int s = 0; s < SIDES; ++s)
#pragma unroll
        for (int c = 0; c < TOGETHER; ++c) sum[s][c] = 0.0;
    for (Index base = 0; base < n; base += TILE) {
        fetch_tile(r, n, sides, base, tile);
        const int rows = (int)min((Index)TILE, n - base);
#pragma unroll 4
        for (int i = lane; i < rows; i += WARP) {
            double entry[TOGETHER];
#pragma unroll
            for (int c = 0; c < TOGETHER; ++c) entry[c] = (double)from[c][base + i];
#pragma unroll
            for (int s = 0; s < SIDES; ++s) {
                const double side = tile[s * TILE + i];
#pragma unroll
                for (int c = 0; c < TOGETHER; ++c) sum[s][c] += side * entry[c];
            }
        }
    }
#pragma unroll
    for (int s = 0; s < SIDES; ++s)
#pragma unroll
        for (int c = 0; c < TOGETHER; ++c) {
            const double value = total_of_warp(sum[s][c]);
            if (lane == 0 && s < sides && column + c < count) out[s * count + column + c] = value;
        }
}

// The same for rows that lie together: a thread for each column
extern "C" __global__ void products_by_row(const ENTRY* x, Index n, Index stride, const Index* columns, Index first,
                                           Index count, const double* r, int sides, double* out) {
    __shared__ double tile[SIDES * TILE];
    const Index column = (Index)blockIdx.x * THREADS + threadIdx.x;
    const ENTRY* from = x + number(columns, first, min(column, count - 1));
    double sum[SIDES];
#pragma unroll
    for (int s = 0; s < SIDES; ++s) sum[s] = 0.0;
    for (Index base = 0; base < n; base += TILE) {
        fetch_tile(r, n, sides, base, tile);
        const int rows = (int)min((Index)TILE, n - base);
#pragma unroll 4
        for (int i = 0; i < rows; ++i) {
            const double entry = (double)from[(base + i) * stride];
#pragma unroll
            for (int s = 0; s < SIDES; ++s) sum[s] += tile[s * TILE + i] * entry;
        }
    }
#pragma unroll
    for (int s = 0; s < SIDES; ++s)
        if (s < sides && column < count) out[s * count + column] = sum[s];
}

// out[c] and out[count + c]: weighted mean and variance of a column; the weights sum to one. A warp for each column.
extern "C" __global__ void moments_by_column(const ENTRY* x, Index n, Index stride, const Index* columns, Index first,
                                             Index count, const double* w, double* out) {
    const int lane = threadIdx.x % WARP;
    const Index column = (Index)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (column >= count) return;  // the whole warp does
    const ENTRY* from = x + number(columns, first, column) * stride;
    double sum = 0.0, square = 0.0;
#pragma unroll 8
    for (Index i = lane; i < n; i += WARP) sum += w[i] * (double)from[i];
    const double mean = total_of_warp(sum);
#pragma unroll 8
    for (Index i = lane; i < n; i += WARP) {
        const double apart = (double)from[i] - mean;
        square += w[i] * apart * apart;
    }
    square = total_of_warp(square);
    if (lane == 0) {
        out[column] = mean;
        out[count + column] = square;
    }
}

extern "C" __global__ void moments_by_row(const ENTRY* x, Index n, Index stride, const Index* columns, Index first, Index count,
                                          const double* w, double* out) {
    const Index column = (Index)blockIdx.x * THREADS + threadIdx.x;
    if (column >= count) return;
    const ENTRY* from = x + number(columns, first, column);
    double mean = 0.0, square = 0.0;
#pragma unroll 8
    for (Index i = 0; i < n; ++i) mean += w[i] * (double)from[i * stride];
#pragma unroll 8
    for (Index i = 0; i < n; ++i) {
        const double apart = (double)from[i * stride] - mean;
        square += w[i] * apart * apart;
    }
    out[column] = mean;
    out[count + column] = square;
}
