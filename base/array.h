// SPDX-License-Identifier: Apache-2.0
// struct ps_array describes named N-d data: dtype, shape, column names. It holds no data.
// Data is always C order (last axis fastest), native byte order, without gaps.
#ifndef PS_BASE_ARRAY_H
#define PS_BASE_ARRAY_H

#include "base/dtype.h"
#include "base/error.h"

#define PS_RANK_MAX 8             // of inputs, and of what stages make of them
#define PS_ROWS_UNKNOWN (-1)      // dims[0] of a stream whose end is not known yet (CSV)

struct ps_array {
    enum ps_dtype dtype;
    int rank;                    // 0 for one number
    int64_t dims[PS_RANK_MAX];   // dims[0] is the streamed axis: rows
    int column_count;            // 0, or the size of the last axis
    char **columns;              // names of the last axis' elements; owned, unique
};

void ps_array_init(struct ps_array *array, enum ps_dtype dtype, int rank, const int64_t *dims);
bool ps_array_copy(struct ps_array *to, const struct ps_array *from, struct ps_error *error);
void ps_array_free(struct ps_array *array); // the columns; leaves rank 0

// Copies the names. count must equal the last axis.
bool ps_array_set_columns(struct ps_array *array, int count, const char *const *names,
                          struct ps_error *error);
int ps_array_find_column(const struct ps_array *array, const char *name); // -1: none

int64_t ps_array_rows(const struct ps_array *array);       // dims[0]; 1 for rank 0
int64_t ps_array_row_elements(const struct ps_array *array); // product of dims[1..]; 1 for rank <= 1
size_t ps_array_row_bytes(const struct ps_array *array);
// Whole size; rows must be known. False when it overflows size_t or int64_t.
bool ps_array_bytes(const struct ps_array *array, size_t *bytes_out);

// Checks that dims are >= 0 and that their product times the dtype fits in 63 bits.
bool ps_array_check(const struct ps_array *array, const char *what, struct ps_error *error);

// "f32[?, 256]" into text; returns text.
#define PS_ARRAY_TEXT 192
char *ps_array_text(const struct ps_array *array, char text[PS_ARRAY_TEXT]);

// A borrowed view of a range of rows of an array.
struct ps_block {
    const struct ps_array *array;
    int64_t first_row;
    int64_t rows;
    void *data; // rows * ps_array_row_bytes(array) bytes
};

#endif
