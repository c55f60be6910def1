// SPDX-License-Identifier: Apache-2.0
// Types, attributes and entries of HDF5 files in words, for `inspect`. Reads no data.
#ifndef PS_IO_HDF5_DESCRIBE_H
#define PS_IO_HDF5_DESCRIBE_H

#include "io/hdf5_common.h"

// "f64", "complex f32", "{a: i32, v: i16[3], s: text}", "f32[2, 3] per element", "text".
void ps_hdf5_describe_type(hid_t type, struct ps_text *out);
// The value where it is short, else its type and shape.
void ps_hdf5_describe_attribute(hid_t object, const char *name, struct ps_text *out);
// The further keys of an `inputs:` entry that reads the dataset (", complex: parts, cf: true");
// nothing when the defaults do.
void ps_hdf5_entry_keys(hid_t set, struct ps_text *out);

#endif
