// SPDX-License-Identifier: Apache-2.0
// Groups of binary64 values. Part of tile_code.h, after tile_f32.h.
#define VECTORS_F64 (GROUP_BYTES / VECTOR)

typedef uint64_t vector_u64 __attribute__((vector_size(VECTOR)));
typedef int64_t vector_i64 __attribute__((vector_size(VECTOR)));

#if defined __AVX512F__
#define LESSER_I64(a, b) ((vector_i64)_mm512_min_epi64((__m512i)(a), (__m512i)(b)))
#define LARGER_I64(a, b) ((vector_i64)_mm512_max_epi64((__m512i)(a), (__m512i)(b)))
#elif defined __AVX2__
#define PICK_I64(mask, a, b)                                                                       \
    ((vector_i64)_mm256_blendv_pd((__m256d)(b), (__m256d)(a), (__m256d)(mask)))
#define LESSER_I64(a, b) PICK_I64(_mm256_cmpgt_epi64((__m256i)(b), (__m256i)(a)), a, b)
#define LARGER_I64(a, b) PICK_I64(_mm256_cmpgt_epi64((__m256i)(a), (__m256i)(b)), a, b)
#else
#define LESSER_I64(a, b) PICK(vector_i64, (a) < (b), a, b)
#define LARGER_I64(a, b) PICK(vector_i64, (a) > (b), a, b)
#endif

#if defined __AVX512F__
#define SQUARE_ERROR(x, p) ((vector_f64)_mm512_fmsub_pd((__m512d)(x), (__m512d)(x), (__m512d)(p)))
#elif defined __FMA__
#define SQUARE_ERROR(x, p) ((vector_f64)_mm256_fmsub_pd((__m256d)(x), (__m256d)(x), (__m256d)(p)))
#else
static inline vector_f64 square_error(vector_f64 value, vector_f64 square)
{
    vector_f64 shifted = value * 134217729.0; // see ps_bins64_square_error
    vector_f64 high = shifted - (shifted - value), low = value - high;
    return ((high * high - square) + 2 * high * low) + low * low;
}
#define SQUARE_ERROR(x, p) square_error(x, p)
#endif

struct look_f64 {
    int64_t above_zero[LANES_F64]; // smallest magnitude's bits, zeros as INT64_MAX
    int64_t smallest[LANES_F64], largest[LANES_F64]; // keys as in struct look_f32
};

static void look_f64(const double *data, int64_t rows, int64_t stride, struct look_f64 *look)
{
    vector_i64 above[VECTORS_F64], small[VECTORS_F64], large[VECTORS_F64];
    const vector_i64 most = (vector_i64){0} + INT64_MAX;
    for (int v = 0; v < VECTORS_F64; v++) {
        above[v] = small[v] = most;
        large[v] = (vector_i64){0} + INT64_MIN;
    }
    for (int64_t row = 0; row < rows; row++, data += stride) {
        __builtin_prefetch((const char *)data + GROUP_BYTES);
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS_F64; v++) {
            vector_i64 bits;
            memcpy(&bits, (const char *)data + v * VECTOR, VECTOR);
            vector_i64 magnitude = bits & most;
            vector_i64 key = bits ^ ((bits < 0) & most);
            above[v] = LESSER_I64(above[v], magnitude | ((magnitude == 0) & most));
            small[v] = LESSER_I64(small[v], key);
            large[v] = LARGER_I64(large[v], key);
        }
    }
    memcpy(look->above_zero, above, sizeof above);
    memcpy(look->smallest, small, sizeof small);
    memcpy(look->largest, large, sizeof large);
}

struct sums_f64 {
    double sum[LANES_F64], sum_rest[LANES_F64];
    double acc[LANES_F64], rest[LANES_F64];
    double error[LANES_F64], error_rest[LANES_F64];
};

#define INTO(acc, rest, value)                                                                     \
    do {                                                                                           \
        vector_f64 next = (acc) + (value);                                                         \
        (rest) += (value) - (next - (acc));                                                        \
        (acc) = next;                                                                              \
    } while (0)

// The bins of all lanes; see ps_bins64_add for the steps.
static inline void sums_f64(const double *data, int64_t rows, int64_t stride, bool squares,
                            struct sums_f64 *sums)
{
    vector_f64 sum[VECTORS_F64], sum_rest[VECTORS_F64], acc[VECTORS_F64], rest[VECTORS_F64];
    vector_f64 error[VECTORS_F64], error_rest[VECTORS_F64];
    memcpy(sum, sums->sum, sizeof sum);
    memcpy(acc, sums->acc, sizeof acc);
    memcpy(error, sums->error, sizeof error);
    for (int v = 0; v < VECTORS_F64; v++)
        sum_rest[v] = rest[v] = error_rest[v] = (vector_f64){0};
    for (int64_t row = 0; row < rows; row++, data += stride) {
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS_F64; v++) {
            vector_f64 value;
            memcpy(&value, (const char *)data + v * VECTOR, VECTOR);
            INTO(sum[v], sum_rest[v], value);
            if (squares) {
                vector_f64 square = value * value;
                INTO(acc[v], rest[v], square);
                vector_f64 lost = SQUARE_ERROR(value, square);
                INTO(error[v], error_rest[v], lost);
            }
        }
    }
    memcpy(sums->sum, sum, sizeof sum);
    memcpy(sums->sum_rest, sum_rest, sizeof sum_rest);
    memcpy(sums->acc, acc, sizeof acc);
    memcpy(sums->rest, rest, sizeof rest);
    memcpy(sums->error, error, sizeof error);
    memcpy(sums->error_rest, error_rest, sizeof error_rest);
}

static void value_f64(const struct group *group, int64_t output, double value)
{
    uint64_t bits = ps_exact_bits(value);
    if ((bits & INT64_MAX) <= 0x7ff0000000000000ull)
        ps_reduce_extremes(group->planes, output, ps_reduce_key_f64(bits), ps_reduce_key_f64(bits));
    ps_reduce_odd_f64(group->form, group->planes, output, value);
}

static void few_f64(const struct group *group, const void *data, int64_t count)
{
    const double *values = data;
    for (int64_t i = 0; i < count; i++)
        value_f64(group, group->output + i % group->fold, values[i]);
}

static void lane_f64(const struct group *group, const double *data, int64_t output)
{
    uint64_t largest = 0, bits;
    for (int64_t row = 0; row < group->rows; row++) {
        bits = ps_exact_bits(data[row * group->stride]) & INT64_MAX;
        if (bits > largest && bits < 0x7ff0000000000000ull)
            largest = bits;
    }
    const struct ps_reduce_planes *planes = group->planes;
    bool squares = planes->squares != NULL;
    int anchor = ps_bins64_anchor(largest);
    uint64_t from = ps_bins64_from(anchor, squares), to = ps_bins64_to(anchor);
    struct ps_bins64 bins = ps_bins64_empty(anchor);
    for (int64_t row = 0; row < group->rows; row++) {
        double value = data[row * group->stride];
        bits = ps_exact_bits(value);
        if ((bits & INT64_MAX) - from >= to - from || planes->sum == NULL) {
            value_f64(group, output, value);
            continue;
        }
        ps_bins64_add(&bins, value, squares);
        ps_reduce_extremes(planes, output, ps_reduce_key_f64(bits), ps_reduce_key_f64(bits));
    }
    int64_t whole[PS_BINS_MAX];
    struct ps_bins_layout layout = ps_bins64_layout(anchor, group->form->low, squares);
    ps_bins64_whole(&bins, anchor, &layout, whole);
    if (planes->sum != NULL)
        ps_bins_flush(&layout, whole, planes->sum + output,
                      squares ? planes->squares + output : NULL, planes->stride);
}

static void fold_f64(const struct group *group, struct look_f64 *look)
{
    for (int l = group->fold; l < group->lanes; l++) {
        int to = l % group->fold;
        if (look->above_zero[l] < look->above_zero[to])
            look->above_zero[to] = look->above_zero[l];
        if (look->smallest[l] < look->smallest[to])
            look->smallest[to] = look->smallest[l];
        if (look->largest[l] > look->largest[to])
            look->largest[to] = look->largest[l];
    }
}

static void group_f64(const struct group *group, const void *data)
{
    const struct ps_reduce_planes *planes = group->planes;
    struct look_f64 look;
    struct sums_f64 sums = {0};
    int anchors[LANES_F64];
    bool fits[LANES_F64], squares = planes->squares != NULL;
    look_f64(data, group->rows, group->stride, &look);
    if (group->fold < group->lanes)
        fold_f64(group, &look);
    for (int l = 0; l < LANES_F64; l++) {
        int lane = l < group->lanes ? l % group->fold : 0;
        int64_t below = ~look.smallest[lane], above = look.largest[lane];
        uint64_t largest = (uint64_t)(above > below ? above : below);
        anchors[l] = ps_bins64_anchor(largest);
        fits[l] = largest < ps_bins64_to(anchors[l]) &&
                  (uint64_t)look.above_zero[lane] >= ps_bins64_from(anchors[l], squares);
        sums.sum[l] = ps_bins64_start_sum(anchors[l]);
        sums.acc[l] = ps_bins64_start_square(anchors[l]);
        sums.error[l] = ps_bins64_start_error(anchors[l]);
    }
    if (squares)
        sums_f64(data, group->rows, group->stride, true, &sums);
    else if (planes->sum != NULL)
        sums_f64(data, group->rows, group->stride, false, &sums);
    for (int f = group->skip; f < group->fold; f++) {
        int64_t output = group->output + f, total[PS_BINS_MAX] = {0};
        if (!fits[f]) {
            for (int l = f; l < group->lanes; l += group->fold)
                lane_f64(group, (const double *)data + l, output);
            continue;
        }
        ps_reduce_extremes(planes, output, (uint64_t)look.smallest[f] ^ 1ull << 63,
                           (uint64_t)look.largest[f] ^ 1ull << 63);
        if (planes->sum == NULL)
            continue;
        struct ps_bins_layout layout = ps_bins64_layout(anchors[f], group->form->low, squares);
        for (int l = f; l < group->lanes; l += group->fold) {
            struct ps_bins64 bins = {sums.sum[l],  sums.sum_rest[l], sums.acc[l],
                                     sums.rest[l], sums.error[l],    sums.error_rest[l]};
            int64_t whole[PS_BINS_MAX];
            ps_bins64_whole(&bins, anchors[f], &layout, whole);
            for (int i = 0; i < layout.count; i++)
                total[i] += whole[i];
        }
        ps_bins_flush(&layout, total, planes->sum + output,
                      squares ? planes->squares + output : NULL, planes->stride);
    }
}
