// What is asked of all columns at once, of numbers that are kept for every column (see tables.hpp).
//
// Columns come in groups of 256, one for each block; those beyond the last column are zeros. A list has a head of four numbers
// (how many columns it has, as an integer; a bound for those that are not in it; the threshold), then the columns.

typedef long long Index;
typedef unsigned long long Bits;

#define WARP 32
#define GROUP 256
#define HEAD 4
#define EVERYONE 0xffffffffu
#define MOST_RANKED 256  // places that `set_threshold` finds
#define SEARCHERS 1024
#define INFINITE __longlong_as_double(0x7ff0000000000000ll)

__device__ inline double largest_of_warp(double value) {
    for (int step = WARP / 2; step > 0; step /= 2) value = fmax(value, __shfl_xor_sync(EVERYONE, value, step));
    return value;
}

// The largest value of a block; its first warp has it.
__device__ inline double largest_of_block(double value) {
    __shared__ double of_warp[GROUP / WARP];
    value = largest_of_warp(value);
    if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = value;
    __syncthreads();
    return largest_of_warp(of_warp[threadIdx.x % (GROUP / WARP)]);
}

// Whether this thread's column is among some that are listed.
__device__ inline bool is_listed(const double* columns, int count) {
    __shared__ bool listed[GROUP];
    listed[threadIdx.x] = false;
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += GROUP) {
        const Index place = (Index)columns[k] - (Index)blockIdx.x * GROUP;
        if (place >= 0 && place < GROUP) listed[place] = true;
    }
    __syncthreads();
    return listed[threadIdx.x];
}

// Makes room in a list for the columns of a warp that want it; the place of this thread's.
__device__ inline Index place_in(double* list, bool wanted) {
    const int lane = threadIdx.x % WARP;
    const unsigned all = __ballot_sync(EVERYONE, wanted);
    Bits first = 0;
    if (lane == 0 && all) first = atomicAdd((Bits*)list, (Bits)__popc(all));
    return (Index)__shfl_sync(EVERYONE, first, 0) + __popc(all & ((1u << lane) - 1u));
}

// Bounds of what each column gains. Its center is `base` (unless that is null) and a combination of kept products: `input` has
// the weights, their rows, and the columns inside the model, which gain nothing. sure_best is the largest sure gain of a group.
extern "C" __global__ void bound_gains(const double* kept, Index length, const double* base, const double* input, int used,
                                       int insiders, const double* free, const double* square, const double* half,
                                       double lambda_1, double radius, double* center, double* most, double* sure,
                                       double* sure_best) {
    const Index j = (Index)blockIdx.x * GROUP + threadIdx.x;
    const bool inside = is_listed(input + 2 * used, insiders);
    double at = base ? base[j] : 0.0;
#pragma unroll 8
    for (int k = 0; k < used; ++k) at += input[k] * kept[(Index)input[used + k] * length + j];
    const double slope = fabs(at) - lambda_1, reach = radius > 0.0 ? radius * sqrt(free[j] + 1e-12 * square[j]) : 0.0;
    const double high = slope + reach, low = slope - reach, steep = inside ? 0.0 : half[j];
    const double least = low > 0.0 ? low * low * steep : 0.0;
    center[j] = at;
    most[j] = high > 0.0 ? high * high * steep : 0.0;
    sure[j] = least;
    const double best = largest_of_block(least);
    if (threadIdx.x == 0) sure_best[blockIdx.x] = best;
}

struct Place {
    double value;
    Index at;
};
__device__ inline bool before(Place a, Place b) { return a.value > b.value || (a.value == b.value && a.at < b.at); }

// The first place of a block of SEARCHERS threads; all of them have it.
__device__ inline Place first_of_block(Place mine) {
    __shared__ Place of_warp[SEARCHERS / WARP];
    for (int round = 0; round < 2; ++round) {
        for (int step = WARP / 2; step > 0; step /= 2) {
            const Place other = {__shfl_xor_sync(EVERYONE, mine.value, step), __shfl_xor_sync(EVERYONE, mine.at, step)};
            if (before(other, mine)) mine = other;
        }
        if (round == 1) break;
        __syncthreads();
        if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = mine;
        __syncthreads();
        mine = of_warp[threadIdx.x % WARP];
    }
    return mine;
}

// Begins a list, with the value of the given rank as its threshold: no lower than `may`, no higher than `must`. The groups of
// that rank are found first; with `values` given, the rank is then that among all values, since all above are in these groups.
// Values of -inf have no rank. One block of SEARCHERS threads.
extern "C" __global__ void set_threshold(const double* best, Index groups, const double* values, int rank, double shrink,
                                         double may, double must, double* list) {
    __shared__ Index chosen[MOST_RANKED];
    const Place none = {-INFINITE, 1ll << 62};
    const int few = (int)min((Index)rank, groups);
    Place last = {INFINITE, -1};
    for (int k = 0; k < few; ++k) {
        Place mine = none;
        for (Index g = threadIdx.x; g < groups; g += SEARCHERS) {
            const Place here = {best[g], g};
            if (before(last, here) && before(here, mine)) mine = here;
        }
        last = first_of_block(mine);
        if (threadIdx.x == 0) chosen[k] = last.at;
    }
    __syncthreads();
    if (values && (few < rank || last.value > may)) {
        last = {INFINITE, -1};
        for (int k = 0; k < rank; ++k) {
            Place mine = none;
            for (Index v = threadIdx.x; v < (Index)few * GROUP; v += SEARCHERS) {
                const Place here = {values[chosen[v / GROUP] * GROUP + v % GROUP], v};
                if (before(last, here) && before(here, mine)) mine = here;
            }
            last = first_of_block(mine);
        }
    }
    if (!values && few < rank) last.value = -INFINITE;
    if (threadIdx.x == 0) {
        *(Bits*)list = 0;
        list[1] = 0.0;
        list[2] = rank > 0 ? fmin(fmax(last.value * shrink, may), must) : must;
    }
}

// Lists the columns that may gain more than the threshold, each after its center, as far as there is room.
extern "C" __global__ void list_doubtful(const double* most, const double* center, Index room, double* list) {
    const Index j = (Index)blockIdx.x * GROUP + threadIdx.x;
    const double gain = most[j];
    const bool doubtful = gain > list[2];
    const Index place = place_in(list, doubtful);
    if (doubtful && place < room) {
        list[HEAD + 2 * place] = center[j];
        list[HEAD + 2 * place + 1] = (double)j;
    }
    const double rest = largest_of_block(doubtful ? 0.0 : gain);
    // Numbers that are not negative are in the order of their bits.
    if (threadIdx.x == 0 && rest > 0.0) atomicMax((Bits*)list + 1, (Bits)__double_as_longlong(rest));
}

#ifdef ORDER

// The best swap of each column (see swap_model.hpp). `input` has pointers to the products of the support (null for rows that are
// not there), the inverse of the factor, the part of its transpose for the features that may leave, for each of these the
// inverse of its variance, its pull and the cost of its removal; and the columns of the support.
extern "C" __global__ void rank_swaps(const double* input, int removable, int support, const float* diagonal,
                                      const double* square, const double* slopes, double scale, double lambda_1, double ridge,
                                      double least_left, double* gain, int* choice, double* best) {
    extern __shared__ double at_hand[];
    const Index j = (Index)blockIdx.x * GROUP + threadIdx.x;
    const float* const* rows = (const float* const*)input;
    const int factors = ORDER * (ORDER + removable), terms = 3 * removable;
    for (int k = threadIdx.x; k < factors + terms; k += GROUP) at_hand[k] = input[ORDER + k];
    const bool inside = is_listed(input + ORDER + factors + terms, support);  // which also waits for all of the block
    const double *forward = at_hand, *backward = forward + ORDER * ORDER, *steep = at_hand + factors;
    const double *pull = steep + removable, *cost = pull + removable;
    double t[ORDER];
#pragma unroll
    for (int a = 0; a < ORDER; ++a) t[a] = rows[a] ? (double)rows[a][j] : 0.0;
    double squares = 0.0;
#pragma unroll
    for (int a = ORDER - 1; a >= 0; --a) {  // a row of the product needs no later entries
        double sum = 0.0;
#pragma unroll
        for (int b = 0; b <= a; ++b) sum += forward[a * ORDER + b] * t[b];
        t[a] = sum;
        squares += sum * sum;
    }
    const double whole = scale * (double)diagonal[j] + ridge, slope = slopes[j];
    const double left = fmax(fmax(whole - squares, least_left * whole), 1e-300);
    double least = INFINITE;
    int chosen = 0;
    for (int k = 0; k < removable; ++k) {
        double u = 0.0;
#pragma unroll
        for (int a = 0; a < ORDER; ++a) u += backward[k * ORDER + a] * t[a];
        const double pulled = fmax(fabs(slope - pull[k] * u) - lambda_1, 0.0);
        const double change = cost[k] - pulled * pulled / (2.0 * (left + steep[k] * u * u));
        if (change < least) {
            least = change;
            chosen = k;
        }
    }
    const double promised = inside || !(square[j] > 0.0) ? -INFINITE : -least;
    gain[j] = promised;
    choice[j] = chosen;
    const double highest = largest_of_block(promised);
    if (threadIdx.x == 0) best[blockIdx.x] = highest;
}

// Lists the columns that reach the threshold, each with its gain and choice.
extern "C" __global__ void list_swaps(const double* gain, const int* choice, Index room, double* list) {
    const Index j = (Index)blockIdx.x * GROUP + threadIdx.x;
    const bool wanted = gain[j] >= list[2] && gain[j] > -INFINITE;
    const Index place = place_in(list, wanted);
    if (!wanted || place >= room) return;
    list[HEAD + 3 * place] = gain[j];
    list[HEAD + 3 * place + 1] = (double)choice[j];
    list[HEAD + 3 * place + 2] = (double)j;
}

#endif
