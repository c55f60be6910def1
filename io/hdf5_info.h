// SPDX-License-Identifier: Apache-2.0
// What `doctor` shows of the HDF5 library: version, plugin folders, filters.
#ifndef PS_IO_HDF5_INFO_H
#define PS_IO_HDF5_INFO_H

#include <stdbool.h>

struct ps_hdf5_info {
    char version[32];        // of the library in use ("1.10.8")
    bool version_fits;       // the headers at build time were of the same major.minor release
    char plugin_path[1024];  // the folders searched, separated by ":"; "" when none is
    bool plugin_path_is_set; // by the environment variable HDF5_PLUGIN_PATH
    bool plugins_allowed;    // false: HDF5_PLUGIN_PRELOAD is "::"
    int plugin_files;        // shared objects found in these folders
    char can_read[512], cannot_read[512]; // names of filters, separated by ", "
    bool lacks_own;                       // a filter of the library itself is missing
};

// Fills in *info_out. Takes the library's lock.
void ps_hdf5_info(struct ps_hdf5_info *info_out);

#endif
