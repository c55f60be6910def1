// SPDX-License-Identifier: Apache-2.0
// One line per format: its row, defined at the end of the file that implements it.
#ifndef PS_IO_FORMATS_H
#define PS_IO_FORMATS_H

#include "io/format.h"

extern const struct ps_format ps_format_hdf5;    // io/hdf5_read.c
extern const struct ps_format ps_format_csv;     // io/csv_read.c
extern const struct ps_format ps_format_npy;     // io/npy.c
extern const struct ps_format ps_format_npz;     // io/npz.c
extern const struct ps_format ps_format_raw;     // io/raw.c
extern const struct ps_format ps_format_pattern; // io/pattern.c
extern const struct ps_format ps_format_null;    // io/null.c
extern const struct ps_format ps_format_digest;  // io/digest.c

#endif
