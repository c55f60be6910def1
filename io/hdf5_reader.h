// SPDX-License-Identifier: Apache-2.0
// What the files that read HDF5 share about one input.
#ifndef PS_IO_HDF5_READER_H
#define PS_IO_HDF5_READER_H

#include "io/hdf5_element.h"
#include "io/hdf5_find.h"
#include "io/hdf5_view.h"

struct ps_hdf5_state {
    hid_t file, set;
    struct ps_hdf5_places places;
    struct ps_hdf5_found found; // where the dataset is
    char *name;                 // of the dataset, for messages (escaped)
    char *label;                // "FILE: dataset NAME", likewise
    struct ps_hdf5_view view;   // what is read of it
    struct ps_hdf5_element element; // what its elements are
    int raw;                    // descriptor for direct reads, or -1
    uint64_t offset;            // of row 0 in the file, for direct reads
    int64_t stride;             // bytes from one row to the next, likewise
    bool swapped;
};

// Names of the last axis from the attribute `columns`, as far as it is selected and still the last.
void ps_hdf5_read_columns(struct ps_reader *reader);

// Direct reads (io/hdf5_direct.c): where rows lie in one piece in this very file, in numbers as
// they are in memory but for the order of bytes. Sets state->raw if so.
void ps_hdf5_find_direct(struct ps_reader *reader, hid_t properties);
bool ps_hdf5_read_direct(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                         struct ps_error *error);

// Through the library, in the order of the file (io/hdf5_rows.c). Under the lock. An error names the
// rows of the first chunk that cannot be read.
bool ps_hdf5_read_rows(const struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                       struct ps_error *error);

// Fails when shape, chunks and storage of the dataset do not agree. Takes time with the number of
// chunks.
bool ps_hdf5_check_claims(const struct ps_reader *reader, struct ps_error *error);
// Not behind an external link: offsets of another file mean nothing in this one.
bool ps_hdf5_is_in_this_file(const struct ps_hdf5_state *state);

// The size of the cache of chunks that keeps all chunks of a row until the next row needs them
// again; 0: the library's own will do. Warns when rows cost much more than they hold
// (io/hdf5_cost.c).
size_t ps_hdf5_chunk_cache(struct ps_reader *reader, hid_t properties);

#endif
