// SPDX-License-Identifier: Apache-2.0
// Unpacking LZF (Marc Lehmann's liblzf), the filter that comes with h5py. Packed data are runs: a
// first byte below 32 is followed by that many bytes and one, to be copied; else its upper three
// bits (7: and one more byte) and two are a length, its lower five and the next byte a distance
// back.
#include "io/hdf5_common.h"
#include "io/hdf5_filters.h"

#include <string.h>

struct run {
    size_t literal; // bytes to copy from the packed data, or 0
    size_t length, distance;
};

// False: the data end within the run.
static bool next_run(const unsigned char **at, const unsigned char *end, struct run *run)
{
    unsigned first = *(*at)++;
    *run = (struct run){0};
    if (first < 32) {
        run->literal = first + 1;
        return (size_t)(end - *at) >= run->literal;
    }
    run->length = (first >> 5) + 2;
    if (first >> 5 == 7 && *at < end)
        run->length += *(*at)++;
    if (*at >= end)
        return false;
    run->distance = ((first & 31) << 8 | *(*at)++) + 1;
    return true;
}

// Bytes when unpacked; 0: the data are corrupt.
static size_t unpacked_bytes(const unsigned char *at, size_t bytes)
{
    const unsigned char *end = at + bytes;
    struct run run;
    size_t size = 0;
    while (at < end) {
        if (!next_run(&at, end, &run) || (run.literal == 0 && run.distance > size))
            return 0;
        at += run.literal;
        size += run.literal + run.length;
    }
    return size;
}

static void unpack(const unsigned char *at, size_t bytes, unsigned char *out)
{
    const unsigned char *end = at + bytes;
    struct run run;
    while (at < end && next_run(&at, end, &run)) {
        memcpy(out, at, run.literal);
        at += run.literal;
        out += run.literal;
        for (size_t i = 0; i < run.length; i++, out++) // may overlap itself
            *out = *(out - run.distance);
    }
}

static size_t filter(unsigned flags, size_t value_count, const unsigned *values, size_t bytes,
                     size_t *room, void **data)
{
    (void)value_count, (void)values;
    if (!(flags & H5Z_FLAG_REVERSE))
        return 0; // does not pack
    size_t size = unpacked_bytes(*data, bytes);
    unsigned char *out = size > 0 ? H5allocate_memory(size, false) : NULL;
    if (out == NULL)
        return 0;
    unpack(*data, bytes, out);
    H5free_memory(*data);
    *data = out;
    return *room = size;
}

bool ps_hdf5_register_lzf(void)
{
    static const H5Z_class2_t class = {
        .version = H5Z_CLASS_T_VERS,
        .id = PS_HDF5_LZF,
        .encoder_present = 0,
        .decoder_present = 1,
        .name = "lzf",
        .filter = filter,
    };
    return H5Zregister(&class) >= 0;
}
