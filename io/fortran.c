// SPDX-License-Identifier: Apache-2.0
// A column here is what lies together in the file: one element of the inner axes, all rows. Pieces
// of several columns are read into a buffer, which is then turned into rows.
#include "io/fortran.h"

#include "base/clock.h"
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1u << 20)
#define COLUMNS_TOGETHER 64   // so that a row gets whole cache lines at once
#define GAP_BYTES (16u << 10) // reading over a gap of this size is cheaper than another call
#define TILE_ROWS 64

struct piece {
    int64_t first_row, rows;       // of the array
    int64_t first_column, columns; // in the file's order
    int64_t stride;                // elements from one column to the next in the buffer
};

// Where the file's column lies in a row in C order: the axes' digits in reverse.
static int64_t place_in_row(const struct ps_array *array, int64_t column)
{
    int64_t place = 0;
    for (int i = 1; i < array->rank; i++) {
        place = place * array->dims[i] + column % array->dims[i];
        column /= array->dims[i];
    }
    return place;
}

// Elements of any size, as records have.
static void turn_any(const struct piece *piece, const int64_t *places, const void *buffer,
                     void *rows, int64_t row_elements, size_t bytes)
{
    for (int64_t c = 0; c < piece->columns; c++) {
        const char *from = (const char *)buffer + (size_t)(c * piece->stride) * bytes;
        char *to = (char *)rows + (size_t)places[c] * bytes;
        for (int64_t r = 0; r < piece->rows; r++)
            memcpy(to + (size_t)(r * row_elements) * bytes, from + (size_t)r * bytes, bytes);
    }
}

#define TURN(name, type)                                                                           \
    static void name(const struct piece *piece, const int64_t *places, const void *buffer,         \
                     void *rows, int64_t row_elements)                                             \
    {                                                                                              \
        for (int64_t start = 0; start < piece->rows; start += TILE_ROWS) {                         \
            int64_t stop = start + TILE_ROWS < piece->rows ? start + TILE_ROWS : piece->rows;      \
            for (int64_t c = 0; c < piece->columns; c++) {                                         \
                const type *from = (const type *)buffer + c * piece->stride;                       \
                type *to = (type *)rows + places[c];                                               \
                for (int64_t r = start; r < stop; r++)                                             \
                    to[r * row_elements] = from[r];                                                \
            }                                                                                      \
        }                                                                                          \
    }

TURN(turn_1, uint8_t)
TURN(turn_2, uint16_t)
TURN(turn_4, uint32_t)
TURN(turn_8, uint64_t)

static void turn(const struct ps_fortran *source, const struct piece *piece, const void *buffer,
                 void *rows)
{
    const struct ps_array *array = source->array;
    int64_t places[COLUMNS_TOGETHER], row_elements = ps_array_row_elements(array);
    size_t bytes = source->element_bytes;
    struct piece part = *piece;
    for (int64_t done = 0; done < piece->columns; done += COLUMNS_TOGETHER) {
        int64_t left = piece->columns - done;
        part.columns = left < COLUMNS_TOGETHER ? left : COLUMNS_TOGETHER;
        for (int64_t c = 0; c < part.columns; c++)
            places[c] = place_in_row(array, piece->first_column + done + c);
        const void *from = (const char *)buffer + (size_t)(done * piece->stride) * bytes;
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
            turn_any(&part, places, from, rows, row_elements, bytes);
        else
            (bytes == 1   ? turn_1
             : bytes == 2 ? turn_2
             : bytes == 4 ? turn_4
                          : turn_8)(&part, places, from, rows, row_elements);
    }
}

// One pread when the columns lie near each other in the file, else one per column.
static bool read_piece(const struct ps_fortran *source, const struct piece *piece, void *buffer,
                       struct ps_read_result *result, struct ps_error *error)
{
    size_t element = source->element_bytes;
    int64_t all_rows = ps_array_rows(source->array);
    bool together = piece->stride == all_rows;
    int64_t reads = together ? 1 : piece->columns;
    size_t bytes =
        element * (size_t)(together ? (piece->columns - 1) * all_rows + piece->rows : piece->rows);
    for (int64_t c = 0; c < reads; c++) {
        uint64_t at = (uint64_t)((piece->first_column + c) * all_rows + piece->first_row) * element;
        if (!ps_bytes_read(source->bytes, source->offset + at,
                           (char *)buffer + (size_t)(c * piece->stride) * element, bytes, error))
            return false;
        result->bytes += bytes;
    }
    return true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Shape of the pieces: rows of one, columns of one, and the stride in the buffer.
static struct piece plan(const struct ps_fortran *source, int64_t room, int64_t rows)
{
    const struct ps_array *array = source->array;
    int64_t all_rows = ps_array_rows(array), columns = ps_array_row_elements(array);
    int64_t gap = (all_rows - rows) * (int64_t)source->element_bytes;
    struct piece piece = {.rows = rows, .stride = rows};
    if (gap <= GAP_BYTES && all_rows <= room / least(columns, 8)) {
        piece.stride = all_rows;
        piece.columns = least(columns, room / all_rows);
        return piece;
    }
    piece.rows = least(rows, room / least(columns, COLUMNS_TOGETHER));
    piece.stride = piece.rows;
    // A stride equal to the array's rows means "with the gaps", and there is none then.
    piece.columns = least(columns, room / piece.rows);
    return piece;
}

bool ps_fortran_read(const struct ps_fortran *source, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    const struct ps_array *array = source->array;
    int64_t columns = ps_array_row_elements(array);
    size_t row_bytes = (size_t)columns * source->element_bytes;
    result->bytes = 0;
    if (rows == 0 || row_bytes == 0)
        return true;
    int64_t room = BUFFER_BYTES / (int64_t)source->element_bytes;
    room = room > COLUMNS_TOGETHER ? room : COLUMNS_TOGETHER;
    size_t bytes = (size_t)room * source->element_bytes;
    struct piece shape = plan(source, room, rows);
    void *buffer = malloc(bytes);
    bool fine = buffer != NULL || ps_fail_memory(error, bytes, "turning columns into rows");
    for (int64_t r = 0; fine && r < rows; r += shape.rows) {
        for (int64_t c = 0; fine && c < columns; c += shape.columns) {
            struct piece piece = {first_row + r, least(shape.rows, rows - r), c,
                                  least(shape.columns, columns - c), shape.stride};
            fine = read_piece(source, &piece, buffer, result, error);
            double start = ps_clock_ms();
            if (fine)
                turn(source, &piece, buffer, (char *)data + (size_t)r * row_bytes);
            result->decode_ms += ps_clock_ms() - start;
        }
    }
    free(buffer);
    return fine;
}
