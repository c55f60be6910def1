// SPDX-License-Identifier: Apache-2.0
// Groups of integers: sums in 64 bits that cannot overflow within a group, squares cut in pieces
// of 32 bits. Part of tile_code.h.
#define LANES_INT 16

// The accumulators of one group, one per lane; piece i of squares is in units of 2^(32 i).
struct sums_int {
    int64_t low[LANES_INT], high[LANES_INT]; // of the sum: low + 2^32 high
    uint64_t square[4][LANES_INT];
    uint64_t smallest[LANES_INT], largest[LANES_INT]; // keys
};

static inline void flush_int(const struct group *group, const struct sums_int *sums)
{
    const struct ps_reduce_planes *planes = group->planes;
    for (int l = group->skip; l < group->lanes; l++) {
        int64_t output = group->output + l % group->fold;
        ps_reduce_extremes(planes, output, sums->smallest[l], sums->largest[l]);
        if (planes->sum != NULL) {
            ps_exact_add_signed(planes->sum + output, planes->stride, 0, sums->low[l]);
            ps_exact_add_signed(planes->sum + output, planes->stride, 32, sums->high[l]);
        }
        for (int i = 0; planes->squares != NULL && i < 4; i++)
            ps_exact_add(planes->squares + output, planes->stride, 32 * i, sums->square[i][l],
                         false);
    }
}

// IS64: values of 64 bits, whose squares have 128. KEY(value): the order-preserving key.
#define KEY_SIGNED(value) ps_reduce_key_signed((int64_t)(value))
#define KEY_UNSIGNED(value) ((uint64_t)(value))
#define LOW_SIGNED(value) ((int64_t)((uint64_t)(value)&0xffffffffu))
#define HIGH_SIGNED(value) ((int64_t)(value) >> 32)
#define HIGH_UNSIGNED(value) ((int64_t)((uint64_t)(value) >> 32))
#define MAGNITUDE_SIGNED(value) ((value) < 0 ? (uint64_t)0 - (uint64_t)(value) : (uint64_t)(value))
#define MAGNITUDE_UNSIGNED(value) ((uint64_t)(value))

#define INTEGERS(NAME, TYPE, SIGN, IS64)                                                           \
    static inline void row_##NAME(const TYPE *data, int count, bool squares,                       \
                                  struct sums_int *sums, TYPE *small, TYPE *large)                 \
    {                                                                                              \
        for (int l = 0; l < count; l++) {                                                          \
            TYPE value = data[l];                                                                  \
            small[l] = value < small[l] ? value : small[l];                                        \
            large[l] = value > large[l] ? value : large[l];                                        \
        }                                                                                          \
        for (int l = 0; l < count; l++) {                                                          \
            TYPE value = data[l];                                                                  \
            sums->low[l] += (IS64) ? LOW_SIGNED(value) : (int64_t)value;                           \
            if (IS64)                                                                              \
                sums->high[l] += HIGH_##SIGN(value);                                               \
        }                                                                                          \
        for (int l = 0; squares && l < count; l++) {                                               \
            uint64_t size = MAGNITUDE_##SIGN(data[l]);                                             \
            if (IS64) {                                                                            \
                __extension__ unsigned __int128 square = (unsigned __int128)size * size;           \
                for (int i = 0; i < 4; i++)                                                        \
                    sums->square[i][l] += (uint32_t)(square >> (32 * i));                          \
            } else {                                                                               \
                sums->square[0][l] += (uint32_t)(size * size);                                     \
                sums->square[1][l] += size * size >> 32;                                           \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void group_##NAME(const struct group *group, const void *data)                          \
    {                                                                                              \
        struct sums_int sums = {0};                                                                \
        TYPE small[LANES_INT], large[LANES_INT];                                                   \
        const TYPE *row = data;                                                                    \
        memcpy(small, row, sizeof small);                                                          \
        memcpy(large, row, sizeof large);                                                          \
        bool squares = group->planes->squares != NULL;                                             \
        for (int64_t r = 0; r < group->rows; r++, row += group->stride)                            \
            row_##NAME(row, LANES_INT, squares, &sums, small, large);                              \
        for (int l = 0; l < LANES_INT; l++) {                                                      \
            sums.smallest[l] = KEY_##SIGN(small[l]);                                               \
            sums.largest[l] = KEY_##SIGN(large[l]);                                                \
        }                                                                                          \
        flush_int(group, &sums);                                                                   \
    }                                                                                              \
    static void few_##NAME(const struct group *group, const void *data, int64_t count)             \
    {                                                                                              \
        struct group one = *group;                                                                 \
        for (int64_t i = 0; i < count; i++) {                                                      \
            TYPE value = ((const TYPE *)data)[i], small = value, large = value;                    \
            struct sums_int sums = {0};                                                            \
            row_##NAME(&value, 1, group->planes->squares != NULL, &sums, &small, &large);          \
            sums.smallest[0] = sums.largest[0] = KEY_##SIGN(value);                                \
            one.output = group->output + i % group->fold;                                          \
            one.lanes = one.fold = 1;                                                              \
            flush_int(&one, &sums);                                                                \
        }                                                                                          \
    }

INTEGERS(i8, int8_t, SIGNED, false)
INTEGERS(i16, int16_t, SIGNED, false)
INTEGERS(i32, int32_t, SIGNED, false)
INTEGERS(i64, int64_t, SIGNED, true)
INTEGERS(u8, uint8_t, UNSIGNED, false)
INTEGERS(u16, uint16_t, UNSIGNED, false)
INTEGERS(u32, uint32_t, UNSIGNED, false)
INTEGERS(u64, uint64_t, UNSIGNED, true)
