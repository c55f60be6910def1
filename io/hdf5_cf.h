// SPDX-License-Identifier: Apache-2.0
// Packed and missing values as netCDF's conventions say (CF 1.11, sections 2.5.1 and 8.1; NetCDF
// User's Guide, appendix A): which numbers of a dataset stand for none, and what the others mean.
#ifndef PS_IO_HDF5_CF_H
#define PS_IO_HDF5_CF_H

#include "io/hdf5_common.h"

#define PS_HDF5_MISSING_MAX 16

struct ps_hdf5_cf {
    bool on;
    enum ps_dtype raw; // of the numbers as they are stored, by `_Unsigned`
    enum ps_dtype to;  // f32 for f32 that is only masked, else f64
    bool scaled;
    double scale, offset;
    int missing_count; // values of _FillValue and missing_value, in the raw dtype
    unsigned char missing[PS_HDF5_MISSING_MAX][8];
    bool has_low, has_high; // of valid_min, valid_max, valid_range
    bool limits_unpacked;   // they are meant for unpacked values
    double low, high;
};

// From the dataset's attributes; raw: its dtype as the library gives it. PS_INPUT for attributes
// that are no numbers where numbers are meant.
bool ps_hdf5_cf_read(hid_t set, enum ps_dtype raw, const char *label, struct ps_hdf5_cf *cf_out,
                     struct ps_error *error);
// The attributes that change what the numbers mean, for people ("scale_factor, _FillValue"); ""
// when there are none.
void ps_hdf5_cf_names(hid_t set, enum ps_dtype raw, struct ps_text *out);
// count raw numbers into cf->to. Missing ones become NaN. Fails on a whole number above 2^53 that
// f64 does not hold; *bad_out is its index.
bool ps_hdf5_cf_decode(const struct ps_hdf5_cf *cf, const void *from, int64_t count, void *to,
                       int64_t *bad_out);

#endif
