// SPDX-License-Identifier: Apache-2.0
// Which other files an HDF5 file may make us open: by default only those under its own folder, as a
// data file may come from anyone. Finds the files that it names, where the library looks for them.
#ifndef PS_IO_HDF5_PLACES_H
#define PS_IO_HDF5_PLACES_H

#include "io/hdf5_common.h"

#include <limits.h>

struct ps_hdf5_places {
    const char *path; // of the input, for messages (borrowed)
    char *folder;     // where other files may lie: real path of the input's folder
    bool anywhere;    // `follow: anywhere`
    unsigned flags;   // every file is opened with these
    const char *name; // of the dataset, for messages (borrowed); set by ps_hdf5_check_storage
    int depth;        // of virtual datasets inside virtual datasets
    int64_t sources;  // looked at so far
};

// Why a file is needed; the library looks in other folders for each.
enum ps_hdf5_need { PS_HDF5_LINKED, PS_HDF5_SOURCE, PS_HDF5_EXTERNAL };
enum ps_hdf5_place { PS_HDF5_HERE, PS_HDF5_MISSING, PS_HDF5_REFUSED };

bool ps_hdf5_places_init(struct ps_hdf5_places *places, const char *path, bool anywhere,
                         unsigned flags, struct ps_error *error);
void ps_hdf5_places_free(struct ps_hdf5_places *places);

// Where the file `name` lies that the file of `holder` (an object in it) names. REFUSED fills in
// *error: outside of the folder, or no regular file. what: who needs it ("virtual dataset /v").
enum ps_hdf5_place ps_hdf5_place_find(const struct ps_hdf5_places *places, hid_t holder,
                                      enum ps_hdf5_need need, const char *name, const char *what,
                                      char found[PATH_MAX], struct ps_error *error);

#endif
