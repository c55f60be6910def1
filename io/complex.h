// SPDX-License-Identifier: Apache-2.0
// Complex numbers as real ones: what the option `complex` of the formats that have them means.
#ifndef PS_IO_COMPLEX_H
#define PS_IO_COMPLEX_H

#include "base/array.h"
#include "base/option.h"

enum ps_complex { // in the order of the option's choices
    PS_COMPLEX_PARTS,
    PS_COMPLEX_POLAR,
    PS_COMPLEX_REAL,
    PS_COMPLEX_IMAG,
    PS_COMPLEX_MAGNITUDE,
    PS_COMPLEX_PHASE,
};

// The option's row, for a format's table.
#define PS_COMPLEX_OPTION                                                                          \
    {                                                                                              \
        .key = "complex", .kind = PS_CHOICE, .choices = "parts|polar|real|imag|magnitude|phase",   \
        .help = "What complex numbers are read as: two columns (parts: re and im; polar: "         \
                "magnitude and phase), or one of these; must be said"                              \
    }

// What the option says; not given: PS_INPUT, naming path and the choices.
bool ps_complex_form(const struct ps_value *option, const char *path, enum ps_complex *form_out,
                     struct ps_error *error);
// Numbers that one complex number becomes: 2 or 1.
int ps_complex_width(enum ps_complex form);
// Adds the last axis, with names, where form makes two numbers of one. Errors name path.
bool ps_complex_array(enum ps_complex form, const char *path, struct ps_array *array,
                      struct ps_error *error);
// count pairs (re, im) of dtype f16, f32 or f64 (native) into count * width numbers of the same
// dtype. out may be pairs. Magnitudes neither overflow nor underflow on the way; phases lie in
// [-pi, pi], as atan2 gives them; f16 and f32 are computed in f64 and rounded once.
void ps_complex_convert(enum ps_complex form, enum ps_dtype dtype, const void *pairs, int64_t count,
                        void *out);

#endif
