// SPDX-License-Identifier: Apache-2.0
// Groups of binary32 values, and of binary16 widened. Part of tile_code.h.
#if defined __AVX512F__
#define VECTOR 64
#elif defined __AVX2__
#define VECTOR 32
#else
#define VECTOR 16
#endif
#define VECTORS_F32 (GROUP_BYTES / VECTOR)
#define VECTORS_WIDE (LANES_F32 * 8 / VECTOR) // of the group's values as doubles

typedef uint32_t vector_u32 __attribute__((vector_size(VECTOR)));
typedef int32_t vector_i32 __attribute__((vector_size(VECTOR)));
typedef double vector_f64 __attribute__((vector_size(VECTOR)));
typedef float vector_half_f32 __attribute__((vector_size(VECTOR / 2)));

#if defined __AVX512F__
#define LESSER_U32(a, b) ((vector_u32)_mm512_min_epu32((__m512i)(a), (__m512i)(b)))
#define LESSER_I32(a, b) ((vector_i32)_mm512_min_epi32((__m512i)(a), (__m512i)(b)))
#define LARGER_I32(a, b) ((vector_i32)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#elif defined __AVX2__
#define LESSER_U32(a, b) ((vector_u32)_mm256_min_epu32((__m256i)(a), (__m256i)(b)))
#define LESSER_I32(a, b) ((vector_i32)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define LARGER_I32(a, b) ((vector_i32)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#else
#define PICK(type, mask, a, b) (type)(((type)(mask) & (a)) | (~(type)(mask) & (b)))
#define LESSER_U32(a, b) PICK(vector_u32, (a) < (b), a, b)
#define LESSER_I32(a, b) PICK(vector_i32, (a) < (b), a, b)
#define LARGER_I32(a, b) PICK(vector_i32, (a) > (b), a, b)
#endif

// What the first look finds in each lane. Keys: the bits of the value as a signed number, with
// the magnitude complemented below zero, so that they grow with it; NaN lies beyond infinity.
struct look_f32 {
    uint32_t above_zero[LANES_F32]; // smallest magnitude's bits minus 1, zeros as the largest
    int32_t smallest[LANES_F32], largest[LANES_F32];
};

static void look_f32(const float *data, int64_t rows, int64_t stride, struct look_f32 *look)
{
    vector_u32 above[VECTORS_F32];
    vector_i32 small[VECTORS_F32], large[VECTORS_F32];
    for (int v = 0; v < VECTORS_F32; v++) {
        above[v] = (vector_u32){0} - 1;
        small[v] = (vector_i32){0} + INT32_MAX;
        large[v] = (vector_i32){0} + INT32_MIN;
    }
    for (int64_t row = 0; row < rows; row++, data += stride) {
        __builtin_prefetch((const char *)data + GROUP_BYTES); // the next group's line
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS_F32; v++) {
            vector_u32 bits;
            memcpy(&bits, (const char *)data + v * VECTOR, VECTOR);
            vector_i32 value = (vector_i32)bits;
            vector_i32 key = value ^ (vector_i32)((vector_u32)(value >> 31) >> 1);
            above[v] = LESSER_U32(above[v], (bits & 0x7fffffffu) - 1);
            small[v] = LESSER_I32(small[v], key);
            large[v] = LARGER_I32(large[v], key);
        }
    }
    memcpy(look->above_zero, above, sizeof above);
    memcpy(look->smallest, small, sizeof small);
    memcpy(look->largest, large, sizeof large);
}

// The bins of all lanes; see ps_bins32_add for the steps.
struct sums_f32 {
    double sum[LANES_F32], acc[LANES_F32], rest[LANES_F32];
};

static void sums_f32(const float *data, int64_t rows, int64_t stride, struct sums_f32 *sums)
{
    vector_f64 sum[VECTORS_WIDE], acc[VECTORS_WIDE], rest[VECTORS_WIDE];
    memcpy(acc, sums->acc, sizeof acc);
    for (int v = 0; v < VECTORS_WIDE; v++)
        sum[v] = rest[v] = (vector_f64){0};
    for (int64_t row = 0; row < rows; row++, data += stride) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS_WIDE; v++) {
            vector_half_f32 narrow;
            memcpy(&narrow, (const char *)data + v * (VECTOR / 2), VECTOR / 2);
            vector_f64 value = __builtin_convertvector(narrow, vector_f64);
            vector_f64 square = value * value;
            vector_f64 next = acc[v] + square;
            sum[v] += value;
            rest[v] += square - (next - acc[v]);
            acc[v] = next;
        }
    }
    memcpy(sums->sum, sum, sizeof sum);
    memcpy(sums->acc, acc, sizeof acc);
    memcpy(sums->rest, rest, sizeof rest);
}

static void plain_f32(const float *data, int64_t rows, int64_t stride, struct sums_f32 *sums)
{
    vector_f64 sum[VECTORS_WIDE];
    for (int v = 0; v < VECTORS_WIDE; v++)
        sum[v] = (vector_f64){0};
    for (int64_t row = 0; row < rows; row++, data += stride) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS_WIDE; v++) {
            vector_half_f32 narrow;
            memcpy(&narrow, (const char *)data + v * (VECTOR / 2), VECTOR / 2);
            sum[v] += __builtin_convertvector(narrow, vector_f64);
        }
    }
    memcpy(sums->sum, sum, sizeof sum);
}

static void value_f32(const struct group *group, int64_t output, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) <= 0x7f800000u)
        ps_reduce_extremes(group->planes, output, ps_reduce_key_f32(bits), ps_reduce_key_f32(bits));
    ps_reduce_odd_f64(group->form, group->planes, output, value);
}

static void few_f32(const struct group *group, const void *data, int64_t count)
{
    const float *values = data;
    for (int64_t i = 0; i < count; i++)
        value_f32(group, group->output + i % group->fold, values[i]);
}

// One lane value by value: what fits goes into bins all the same.
static void lane_f32(const struct group *group, const float *data, int64_t output)
{
    uint32_t largest = 0, bits;
    for (int64_t row = 0; row < group->rows; row++) {
        memcpy(&bits, data + row * group->stride, sizeof bits);
        bits &= 0x7fffffffu;
        if (bits > largest && bits < 0x7f800000u)
            largest = bits;
    }
    const struct ps_reduce_planes *planes = group->planes;
    int anchor = ps_bins32_anchor(largest);
    uint32_t from = ps_bins32_from(anchor), to = ps_bins32_to(anchor);
    struct ps_bins32 bins = ps_bins32_empty(anchor);
    for (int64_t row = 0; row < group->rows; row++) {
        float value = data[row * group->stride];
        memcpy(&bits, &value, sizeof bits);
        if ((bits & 0x7fffffffu) - from >= to - from || planes->sum == NULL) {
            value_f32(group, output, value);
            continue;
        }
        ps_bins32_add(&bins, value);
        ps_reduce_extremes(planes, output, ps_reduce_key_f32(bits), ps_reduce_key_f32(bits));
    }
    int64_t whole[PS_BINS_MAX];
    struct ps_bins_layout layout = ps_bins32_layout(anchor, group->form->low);
    ps_bins32_whole(&bins, anchor, &layout, whole);
    if (planes->sum != NULL)
        ps_bins_flush(&layout, whole, planes->sum + output,
                      planes->squares != NULL ? planes->squares + output : NULL, planes->stride);
}

// Lanes of one output share what was found, and so an anchor.
static void fold_f32(const struct group *group, struct look_f32 *look)
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

static void group_f32(const struct group *group, const void *data)
{
    const struct ps_reduce_planes *planes = group->planes;
    struct look_f32 look;
    struct sums_f32 sums = {0};
    int anchors[LANES_F32];
    bool fits[LANES_F32];
    look_f32(data, group->rows, group->stride, &look);
    if (group->fold < group->lanes)
        fold_f32(group, &look);
    for (int l = 0; l < LANES_F32; l++) {
        int lane = l < group->lanes ? l % group->fold : 0;
        int32_t below = ~look.smallest[lane], above = look.largest[lane];
        uint32_t largest = (uint32_t)(above > below ? above : below);
        anchors[l] = ps_bins32_anchor(largest);
        fits[l] = largest < 0x7f800000u && look.above_zero[lane] >= ps_bins32_from(anchors[l]) - 1;
        sums.acc[l] = ps_bins32_start(anchors[l]);
    }
    if (planes->squares != NULL)
        sums_f32(data, group->rows, group->stride, &sums);
    else if (planes->sum != NULL)
        plain_f32(data, group->rows, group->stride, &sums);
    for (int f = group->skip; f < group->fold; f++) {
        int64_t output = group->output + f, total[PS_BINS_MAX] = {0};
        if (!fits[f]) {
            for (int l = f; l < group->lanes; l += group->fold)
                lane_f32(group, (const float *)data + l, output);
            continue;
        }
        ps_reduce_extremes(planes, output, (uint32_t)look.smallest[f] ^ 0x80000000u,
                           (uint32_t)look.largest[f] ^ 0x80000000u);
        if (planes->sum == NULL)
            continue;
        struct ps_bins_layout layout = ps_bins32_layout(anchors[f], group->form->low);
        for (int l = f; l < group->lanes; l += group->fold) {
            struct ps_bins32 bins = {sums.sum[l], sums.acc[l], sums.rest[l]};
            int64_t whole[PS_BINS_MAX];
            ps_bins32_whole(&bins, anchors[f], &layout, whole);
            for (int i = 0; i < layout.count; i++)
                total[i] += whole[i];
        }
        ps_bins_flush(&layout, total, planes->sum + output,
                      planes->squares != NULL ? planes->squares + output : NULL, planes->stride);
    }
}

// ---- binary16 ----

static void widen_f16(const uint16_t *from, float *to, int64_t count)
{
    int64_t i = 0;
#if defined __F16C__
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
#endif
    for (; i < count; i++)
        to[i] = ps_f16_to_f32(from[i]);
}

static void group_f16(const struct group *group, const void *data)
{
    float wide[PS_BINS_F32_ROWS * LANES_F32];
    struct group widened = *group;
    widened.stride = LANES_F32;
    for (int64_t row = 0; row < group->rows; row++)
        widen_f16((const uint16_t *)data + row * group->stride, wide + row * LANES_F32, LANES_F32);
    group_f32(&widened, wide);
}

static void few_f16(const struct group *group, const void *data, int64_t count)
{
    const uint16_t *values = data;
    for (int64_t i = 0; i < count; i++)
        value_f32(group, group->output + i % group->fold, ps_f16_to_f32(values[i]));
}
