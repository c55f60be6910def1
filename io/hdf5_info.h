// SPDX-License-Identifier: Apache-2.0
// What `doctor` shows of the HDF5 library: version, plugin folders, filters.
#ifndef PS_IO_HDF5_INFO_H
#define PS_IO_HDF5_INFO_H

#include <stdbool.h>

struct ps_hdf5_filter {
    int id;           // as registered with The HDF Group
    const char *name; // "gzip", "bitshuffle"
    const char *from; // "HDF5" (built in), or who distributes the plugin
    bool available;   // built in or found as a plugin
    bool decodes;
};

struct ps_hdf5_info {
    char version[32];        // of the library in use ("1.10.8")
    bool version_fits;       // the headers at build time were of the same major.minor release
    char plugin_path[1024];  // the folders searched, separated by ":"; "" when none is
    bool plugin_path_is_set; // by the environment variable HDF5_PLUGIN_PATH
    bool plugins_allowed;    // false: HDF5_PLUGIN_PRELOAD is "::"
    int plugin_files;        // shared objects found in these folders
    const struct ps_hdf5_filter *filters; // static; ends with name NULL
};

// Fills in *info_out. Not for two threads at once.
void ps_hdf5_info(struct ps_hdf5_info *info_out);

#endif
