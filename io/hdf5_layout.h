// SPDX-License-Identifier: Apache-2.0
// How a dataset is laid out in the file that is written: in one piece, or in chunks of which shape.
#ifndef PS_IO_HDF5_LAYOUT_H
#define PS_IO_HDF5_LAYOUT_H

#include "io/hdf5_pack.h"

struct ps_hdf5_layout {
    bool chunked;
    hsize_t chunk[PS_RANK_MAX];
    size_t cache_bytes; // what the library must keep so that no chunk is packed twice
    struct ps_hdf5_pack pack;
};

// Out of the options chunks, compression, level, shuffle and fletcher32. Fails with PS_USAGE or
// PS_OUTPUT. Under the lock.
bool ps_hdf5_layout_choose(const struct ps_values *options, const struct ps_array *array,
                           struct ps_hdf5_layout *layout_out, struct ps_error *error);
// The shape that `chunks: auto` gives an array; see docs/formats.md for the rule.
void ps_hdf5_chunk_shape(const struct ps_array *array, hsize_t chunk[PS_RANK_MAX]);

#endif
