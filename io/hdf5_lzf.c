// SPDX-License-Identifier: Apache-2.0
// LZF (Marc Lehmann's liblzf), the filter that comes with h5py. Packed data are runs: a
// first byte below 32 is followed by that many bytes and one, to be copied; else its upper three
// bits (7: and one more byte) and two are a length, its lower five and the next byte a distance
// back.
#include "io/hdf5_common.h"
#include "io/hdf5_filters.h"

#include <stdlib.h>
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

#define HASH_BITS 13
#define LONGEST_MATCH 264
#define FARTHEST 8192
#define LONGEST_LITERAL 32

struct packing {
    const unsigned char *from;
    unsigned char *out;
    size_t at, room;               // of out
    uint32_t last[1 << HASH_BITS]; // place behind the last three bytes of this hash; 0: none
};

static bool put_literals(struct packing *p, size_t first, size_t end)
{
    while (first < end) {
        size_t count = end - first < LONGEST_LITERAL ? end - first : LONGEST_LITERAL;
        if (p->at + count + 1 > p->room)
            return false;
        p->out[p->at++] = (unsigned char)(count - 1);
        memcpy(p->out + p->at, p->from + first, count);
        p->at += count;
        first += count;
    }
    return true;
}

static bool put_match(struct packing *p, size_t length, size_t distance)
{
    size_t back = distance - 1, code = length - 2;
    if (p->at + 3 > p->room)
        return false;
    p->out[p->at++] = (unsigned char)((code < 7 ? code : 7) << 5 | back >> 8);
    if (code >= 7)
        p->out[p->at++] = (unsigned char)(code - 7);
    p->out[p->at++] = (unsigned char)back;
    return true;
}

// Length of what the three bytes at `at` repeat, and how far back; 0: nothing near.
static size_t find_match(struct packing *p, size_t at, size_t bytes, size_t *distance_out)
{
    const unsigned char *here = p->from + at;
    uint32_t key = (uint32_t)here[0] << 16 | (uint32_t)here[1] << 8 | here[2];
    uint32_t *last = &p->last[key * 2654435761u >> (32 - HASH_BITS)];
    size_t before = *last, most = bytes - at < LONGEST_MATCH ? bytes - at : LONGEST_MATCH;
    *last = (uint32_t)at + 1;
    if (before == 0 || at - (before - 1) > FARTHEST)
        return 0;
    const unsigned char *there = p->from + before - 1;
    size_t length = 0;
    while (length < most && there[length] == here[length])
        length++;
    *distance_out = at - (before - 1);
    return length >= 3 ? length : 0;
}

// Bytes when packed; 0: not smaller.
static size_t pack(struct packing *p, size_t bytes)
{
    size_t at = 0, literal = 0, distance = 0;
    while (at + 3 <= bytes) {
        size_t length = find_match(p, at, bytes, &distance);
        if (length == 0) {
            at++;
            continue;
        }
        if (!put_literals(p, literal, at) || !put_match(p, length, distance))
            return 0;
        at += length;
        literal = at;
    }
    return put_literals(p, literal, bytes) ? p->at : 0;
}

static unsigned char *packed(const void *data, size_t bytes, size_t *size_out)
{
    struct packing *p = bytes > 4 && bytes < UINT32_MAX ? calloc(1, sizeof *p) : NULL;
    unsigned char *out = p != NULL ? H5allocate_memory(bytes, false) : NULL;
    *size_out = 0;
    if (out != NULL) {
        p->from = data;
        p->out = out;
        p->room = bytes - 1;
        *size_out = pack(p, bytes);
    }
    free(p);
    if (*size_out > 0)
        return out;
    if (out != NULL)
        H5free_memory(out);
    return NULL;
}

static unsigned char *unpacked(const void *data, size_t bytes, size_t *size_out)
{
    *size_out = unpacked_bytes(data, bytes);
    unsigned char *out = *size_out > 0 ? H5allocate_memory(*size_out, false) : NULL;
    if (out != NULL)
        unpack(data, bytes, out);
    return out;
}

static size_t filter(unsigned flags, size_t value_count, const unsigned *values, size_t bytes,
                     size_t *room, void **data)
{
    (void)value_count, (void)values;
    size_t size = 0;
    unsigned char *out =
        flags & H5Z_FLAG_REVERSE ? unpacked(*data, bytes, &size) : packed(*data, bytes, &size);
    if (out == NULL)
        return 0;
    H5free_memory(*data);
    *data = out;
    return *room = size;
}

// As h5py's filter has it: its revision, liblzf's version, and the bytes of a chunk, which tell
// readers how much room to take.
static herr_t set_local(hid_t create, hid_t type, hid_t space)
{
    unsigned values[3] = {4, 0x0105, 0}, flags = 0;
    hsize_t chunk[H5S_MAX_RANK];
    size_t count = 0, bytes = H5Tget_size(type);
    (void)space;
    int rank = H5Pget_chunk(create, H5S_MAX_RANK, chunk);
    for (int i = 0; i < rank; i++)
        bytes *= (size_t)chunk[i];
    values[2] = bytes <= UINT32_MAX ? (unsigned)bytes : 0;
    if (rank < 1 || bytes == 0 ||
        H5Pget_filter_by_id2(create, PS_HDF5_LZF, &flags, &count, NULL, 0, NULL, NULL) < 0)
        return -1;
    return H5Pmodify_filter(create, PS_HDF5_LZF, flags, 3, values) < 0 ? -1 : 1;
}

bool ps_hdf5_register_lzf(void)
{
    static const H5Z_class2_t class = {
        .version = H5Z_CLASS_T_VERS,
        .id = PS_HDF5_LZF,
        .encoder_present = 1,
        .decoder_present = 1,
        .name = "lzf",
        .set_local = set_local,
        .filter = filter,
    };
    return H5Zregister(&class) >= 0;
}
