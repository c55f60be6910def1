// SPDX-License-Identifier: Apache-2.0
// Every link of a file below a group, in the order of names. Hard links alone are followed and
// every group is entered once, so that circles end, also in files that lie about their reference
// counts.
#ifndef PS_IO_HDF5_WALK_H
#define PS_IO_HDF5_WALK_H

#include "io/hdf5_common.h"

struct ps_hdf5_item {
    const char *path; // from where the walk began: "a/b"
    hid_t group;      // that holds the link (borrowed)
    const char *last; // name in it
    H5L_info_t link;
    H5O_type_t type; // of hard links; else UNKNOWN
    bool again;      // an object that was met before under another name
    bool too_deep;   // a group so deep in others that it is not entered
};
// False ends the walk.
typedef bool (*ps_hdf5_visit)(const struct ps_hdf5_item *item, void *context);

// False: the file is corrupt (the library's error stack tells), or no memory; also when visit ended
// it.
bool ps_hdf5_walk(hid_t start, ps_hdf5_visit visit, void *context);

#endif
