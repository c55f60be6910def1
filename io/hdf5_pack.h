// SPDX-License-Identifier: Apache-2.0
// Filters of the chunks that an output writes: which ones its options ask for, whether they are
// there and can pack. Reading chooses its filters itself (io/hdf5_filters.h).
#ifndef PS_IO_HDF5_PACK_H
#define PS_IO_HDF5_PACK_H

#include "io/hdf5_common.h"

// The option `compression`.
#define PS_HDF5_PACK_WORDS                                                                         \
    "none|gzip|gzip-1|gzip-2|gzip-3|gzip-4|gzip-5|gzip-6|gzip-7|gzip-8|gzip-9|lzf|lz4|zstd|bzip2|" \
    "szip|bitshuffle|bitshuffle-zstd|blosc|blosc-zstd"

struct ps_hdf5_stage { // of a chunk's way into the file
    int id;
    unsigned value_count;
    unsigned values[8];
};

struct ps_hdf5_pack {
    int count; // 0: chunks are stored as they are
    struct ps_hdf5_stage stages[3];
};

// Out of the options compression, level, shuffle and fletcher32, for elements of the dtype. Fails
// on options that contradict each other (PS_USAGE), and on filters that are not installed or cannot
// pack (PS_OUTPUT), which it tries out in memory. Under the lock.
bool ps_hdf5_pack_choose(const struct ps_values *options, enum ps_dtype dtype,
                         struct ps_hdf5_pack *pack_out, struct ps_error *error);
// Adds the filters to a property list that has chunks.
bool ps_hdf5_pack_apply(const struct ps_hdf5_pack *pack, hid_t create);

#endif
