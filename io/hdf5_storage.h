// SPDX-License-Identifier: Apache-2.0
// How a dataset is stored, for people.
#ifndef PS_IO_HDF5_STORAGE_H
#define PS_IO_HDF5_STORAGE_H

#include "io/hdf5_common.h"

// ", chunks 16x64 (4 of 12 written), shuffle, gzip-4, ratio 2.1": layout, filters with their
// parameters, external files, sources of virtual datasets. bytes: of the dataset; space may be -1.
void ps_hdf5_print_storage(hid_t set, hid_t space, uint64_t bytes, struct ps_text *out);
// Whether asking for the dataset's shape makes the library open other files: virtual and unlimited.
bool ps_hdf5_shape_needs_sources(hid_t set);

#endif
