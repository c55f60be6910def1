// SPDX-License-Identifier: Apache-2.0
// Filters of HDF5 chunks: which there are, who brings them, and plugins found in the usual folders.
#ifndef PS_IO_HDF5_FILTERS_H
#define PS_IO_HDF5_FILTERS_H

#include <stdbool.h>
#include <stddef.h>

struct ps_hdf5_filter {
    int id;             // as registered with The HDF Group
    const char *name;   // "gzip", "bitshuffle"
    const char *debian; // the package that brings the plugin, or NULL
    bool pip;           // also in PyPI's hdf5plugin
    bool built_in;      // part of the HDF5 library, or of this program
};

// Ends with a name of NULL.
extern const struct ps_hdf5_filter ps_hdf5_filters[];
// NULL: not known here (which says nothing about plugins that are installed).
const struct ps_hdf5_filter *ps_hdf5_filter(int id);
// Built in or found as a plugin, which this loads. Under the lock.
bool ps_hdf5_filter_is_there(int id);
// "install X, or ...": how to get a filter that is missing.
void ps_hdf5_filter_advice(int id, char *out, size_t out_size);
// Adds the folders where plugins usually are to those that the library searches (its default, or
// HDF5_PLUGIN_PATH). Once, under the lock.
void ps_hdf5_add_plugin_folders(void);

// LZF, h5py's own filter: Debian's plugin of it does not load (io/hdf5_lzf.c).
#define PS_HDF5_LZF 32000
bool ps_hdf5_register_lzf(void);

#endif
