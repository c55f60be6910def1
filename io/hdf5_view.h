// SPDX-License-Identifier: Apache-2.0
// The part of a dataset that an input reads (`select`) and the order of its axes (`axis`). Knows
// nothing of types: elements are bytes.
#ifndef PS_IO_HDF5_VIEW_H
#define PS_IO_HDF5_VIEW_H

#include "io/hdf5_common.h"

struct ps_hdf5_axis { // of the dataset
    int64_t size;
    int64_t start, step, count; // elements start, start + step, ...; step may be negative
    bool dropped;               // chosen by an index: no axis of the array
    bool covered;               // what lies between is read too, and left out afterwards
};

struct ps_hdf5_view {
    int file_rank;
    struct ps_hdf5_axis all[H5S_MAX_RANK];
    int rank;               // of the array
    int axes[H5S_MAX_RANK]; // axes[i]: the dataset's axis that is axis i of the array
    int moved;              // the axis that was moved to the front, or -1
};

#define PS_HDF5_RANK_MAX PS_RANK_MAX // of more axes those of one element are left out

// select, axis: values of the input's options; name: of the dataset, escaped. PS_INPUT for what
// does not fit the shape, PS_USAGE for what is no selection at all.
bool ps_hdf5_view_init(struct ps_hdf5_view *view, int rank, const hsize_t *dims,
                       const struct ps_value *select, const struct ps_value *axis, const char *path,
                       const char *name, struct ps_error *error);
// "64 x 3 x 5"; out has room for 32 axes.
#define PS_HDF5_SHAPE_TEXT 768
const char *ps_hdf5_shape_text(const struct ps_hdf5_view *view, char out[PS_HDF5_SHAPE_TEXT]);

// Selects rows of the array in the dataset's space; the space in memory of what comes out (to be
// closed; -1 on failure) has the same axes: the library is slow, element by element, if it has not.
hid_t ps_hdf5_view_select(const struct ps_hdf5_view *view, hid_t space, int64_t first_row,
                          int64_t rows);
// Lets small steps be covered: the library takes each selected element by itself, which is slower
// than reading all of them. chunk: shape of the chunks, or NULL: those that are left out are not
// read.
void ps_hdf5_view_cover(struct ps_hdf5_view *view, const hsize_t *chunk);
// Elements that the library gives for so many rows: along the dataset's axis i, and in all.
int64_t ps_hdf5_view_count(const struct ps_hdf5_view *view, int i, int64_t rows);
int64_t ps_hdf5_view_elements(const struct ps_hdf5_view *view, int64_t rows);
// Whether rows come out of the library as they are in the array.
bool ps_hdf5_view_is_in_order(const struct ps_hdf5_view *view);
// Puts rows as the library gives them into the order of the array.
void ps_hdf5_view_arrange(const struct ps_hdf5_view *view, int64_t rows, size_t element_bytes,
                          const void *from, void *to);

// Where row 0 begins in a dataset that lies in one piece, and how far apart rows are; false: a row
// does not lie in one piece. In elements.
struct ps_hdf5_rows {
    int64_t first, stride, length;
};
bool ps_hdf5_view_rows(const struct ps_hdf5_view *view, struct ps_hdf5_rows *rows_out);

#endif
