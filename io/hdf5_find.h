// SPDX-License-Identifier: Apache-2.0
// Finding the dataset that an input reads, and whether all that it consists of is there.
#ifndef PS_IO_HDF5_FIND_H
#define PS_IO_HDF5_FIND_H

#include "io/hdf5_links.h"

// Opens the dataset `wanted`, or the only numeric one when it is NULL. *name_out is its path (to be
// freed), *found_out where it was found. -1 on failure: no such name (with the nearest one), a
// broken link, a group, ... . Links are followed, into other files too where `places` allows it.
hid_t ps_hdf5_find(hid_t file, const struct ps_hdf5_places *places, const char *wanted,
                   struct ps_hdf5_found *found_out, char **name_out, struct ps_error *error);

// Fails when a filter is not installed, or a source of a virtual dataset or an external file is
// missing, too short or outside of the folder: the library would give fill values. To be called
// before the dataset's shape is asked for, which opens sources. name: for messages.
bool ps_hdf5_check_storage(struct ps_hdf5_places *places, hid_t set, const char *name,
                           struct ps_error *error);
// The same for the sources of a virtual dataset (io/hdf5_virtual.c).
bool ps_hdf5_check_sources(struct ps_hdf5_places *places, hid_t set, hid_t properties,
                           const char *name, struct ps_error *error);

#endif
