// SPDX-License-Identifier: Apache-2.0
// What one element of a dataset is, and what it becomes in the array: a number, a complex number, a
// record (compound), or a small array of these; by netCDF's conventions (`cf: true`) a number that
// stands for another one. Knows nothing of where elements lie.
#ifndef PS_IO_HDF5_ELEMENT_H
#define PS_IO_HDF5_ELEMENT_H

#include "io/complex.h"
#include "io/hdf5_cf.h"
#include "io/record.h"

enum ps_hdf5_unit { PS_HDF5_NUMBER, PS_HDF5_COMPLEX, PS_HDF5_RECORD };

struct ps_hdf5_element {
    hid_t memory; // the type to read with (owned)
    size_t bytes; // of an element as it is read
    int rank;     // axes of a small array, with these sizes: `units` in all
    int64_t dims[PS_RANK_MAX], units;
    enum ps_hdf5_unit unit;
    enum ps_dtype dtype; // of the array; of a unit's numbers before complex or cf change them
    enum ps_dtype raw;   // of numbers as they are read
    bool is_wide;        // stored with more digits than raw has
    enum ps_complex form;
    struct ps_record record;
    struct ps_record_choice choice;
    struct ps_hdf5_cf cf;
};

// The options that choose what elements become, for the format's table.
#define PS_HDF5_ELEMENT_OPTIONS                                                                    \
    {.key = "columns",                                                                             \
     .kind = PS_WORDS,                                                                             \
     .help =                                                                                       \
         "Members of a compound dataset to read: names (outer.inner, v[2]), positions from 0, "    \
         "ranges or patterns; all if unset"},                                                      \
        PS_COMPLEX_OPTION,                                                                         \
    {                                                                                              \
        .key = "cf", .kind = PS_TRUTH, .fallback = "false",                                        \
        .help = "Decode by netCDF's conventions: _FillValue, missing_value and values outside "    \
                "valid_range become NaN, scale_factor and add_offset are applied"                  \
    }

// label: "FILE: dataset /x", for messages; borrowed by the element. PS_INPUT when the type is no
// number, with what it is and what can be done. To be freed also after a failure.
bool ps_hdf5_element_find(hid_t set, const struct ps_values *options, const char *label,
                          struct ps_hdf5_element *element_out, struct ps_error *error);
// Whether a type can be read at all; *what_out says what it is otherwise ("text").
bool ps_hdf5_is_readable(hid_t type, const char **what_out);
// Whether a type is a complex number, and of what.
bool ps_hdf5_is_complex(hid_t type, enum ps_dtype *dtype_out);
// The members of a compound, those that cannot be read with their reason; *memory_out is the type to
// read them with (to be closed).
bool ps_hdf5_record(hid_t type, const char *label, struct ps_record *record_out, hid_t *memory_out,
                    struct ps_error *error);
// Gives an array of elements the axes, column names and dtype that they become.
bool ps_hdf5_element_array(const struct ps_hdf5_element *element, const char *label,
                           struct ps_array *array, struct ps_error *error);
// Whether elements as they are read are those of the array (but for truth values).
bool ps_hdf5_element_is_plain(const struct ps_hdf5_element *element);
// count elements into the array's. first, row_elements: where they are, for messages. from may be
// changed. Thread-safe, needs no lock.
bool ps_hdf5_element_decode(const struct ps_hdf5_element *element, const char *label,
                            int64_t first_row, int64_t row_elements, void *from, int64_t count,
                            void *to, struct ps_error *error);
void ps_hdf5_element_free(struct ps_hdf5_element *element); // under the lock

#endif
