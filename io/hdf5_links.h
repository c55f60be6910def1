// SPDX-License-Identifier: Apache-2.0
// Following a path of links to an object, link by link and file by file: the library would open
// whatever an external link names, and does not say which link is broken.
#ifndef PS_IO_HDF5_LINKS_H
#define PS_IO_HDF5_LINKS_H

#include "io/hdf5_places.h"

// Where an object was found: behind the hard link `last` of the group.
struct ps_hdf5_found {
    hid_t group; // -1: nothing
    char *last;  // "." for the root itself
};

enum ps_hdf5_end {
    PS_HDF5_FOUND,
    PS_HDF5_NO_SUCH_NAME, // *error is not filled in: the caller knows what else there is
    PS_HDF5_BROKEN,       // a link leads nowhere, in circles, or where it may not; no memory
};

// From the group (or file) `start` along `name`.
enum ps_hdf5_end ps_hdf5_follow(const struct ps_hdf5_places *places, hid_t start, const char *name,
                                struct ps_hdf5_found *found_out, struct ps_error *error);
void ps_hdf5_found_free(struct ps_hdf5_found *found);
H5O_type_t ps_hdf5_found_type(const struct ps_hdf5_found *found);
// The dataset, opened with an access list. -1 on failure.
hid_t ps_hdf5_found_open(const struct ps_hdf5_found *found, hid_t access);

#endif
