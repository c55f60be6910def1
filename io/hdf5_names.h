// SPDX-License-Identifier: Apache-2.0
// Names of the datasets that outputs write: which can lie in one file, and the groups above them.
#ifndef PS_IO_HDF5_NAMES_H
#define PS_IO_HDF5_NAMES_H

#include "io/hdf5_common.h"

// Whether two outputs with these options can be datasets of one file (struct ps_format_writer).
bool ps_hdf5_may_share(const struct ps_values *a, const struct ps_values *b,
                       struct ps_error *error);
// The groups above the dataset `name`, those that are missing made without a note of the time: the
// ones that the library makes on the way would have one. False: the library's error stack tells.
bool ps_hdf5_make_groups(hid_t file, const char *name);

#endif
