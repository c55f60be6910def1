// SPDX-License-Identifier: Apache-2.0
// Elements moved by an index map: what take, slice, reshape, transpose, concat and stack are. A
// piece fills a box of the output from one input; within it, each axis has a step in the input and
// one in the output, or a list of places in the input. One source for host and device.
#ifndef PS_KERNELS_SHAPE_GATHER_H
#define PS_KERNELS_SHAPE_GATHER_H

#include "kernels/window/element.h"

#define PS_GATHER_AXES 9 // the rows, and those of a row

// Steps, places and bases in words; a list holds places as well.
struct ps_gather_piece {
    int rank;
    int64_t dims[PS_GATHER_AXES], from[PS_GATHER_AXES], to[PS_GATHER_AXES];
    int64_t from_base, to_base;
    int64_t from_row, to_row; // a row of the input, of the output
    int listed;               // the axis that has the list; -1: none
    int input;                // of the stage, then of the step
    int dtype;                // of the input
};

// One piece of one launch: the rows are its first axis.
struct ps_gather_job {
    struct ps_gather_piece piece;
    int word_bytes; // of input and output: 1, 2, 4, 8, 16
    int out_dtype;  // differs from the piece's dtype: elements are converted, words are elements
    const int64_t *list;
    const char *in;
    char *out;
};

// Exactly, or as NumPy's astype rounds (64-bit integers to f64): only promotions are asked for, so
// f16 comes from integers of 8 bits and f32 from 16 bits or f16.
PS_EXACT uint64_t ps_gather_f16_of(int64_t value)
{
    uint32_t size = (uint32_t)(value < 0 ? -value : value), exponent = 25;
    if (size == 0)
        return 0;
    for (; size < 1024; size <<= 1)
        exponent--;
    return (value < 0 ? 0x8000u : 0) | exponent << 10 | (size & 1023);
}

PS_EXACT uint64_t ps_gather_convert(int from, int to, uint64_t raw)
{
    double value;
    float single;
    uint32_t bits;
    if (from == to)
        return raw;
    if (to < PS_F16)
        return ps_element_class(from).is_signed ? (uint64_t)ps_element_signed(from, raw) : raw;
    if (to == PS_F16)
        return ps_gather_f16_of(ps_element_class(from).is_signed ? ps_element_signed(from, raw)
                                                                 : (int64_t)raw);
    value = ps_element_number(from, raw);
    if (value != value)
        return ps_element_nan(to);
    if (to == PS_F64)
        return ps_exact_bits(value);
    single = (float)value;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

#endif
