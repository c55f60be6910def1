// SPDX-License-Identifier: Apache-2.0
// The array of a .npy file out of any bytes. Elements that are the array's are read in place;
// others (members of records, another dtype) are read into a buffer and taken from there.
#include "io/npy.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/decode.h"
#include "io/fortran.h"
#include "io/inspect.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1u << 20)

// ---- Opening ----

static bool choose(struct ps_npy *npy, struct ps_reader *reader, struct ps_error *error)
{
    const struct ps_npy_header *header = &npy->header;
    const struct ps_value *columns = ps_values_get(reader->options, "columns");
    const struct ps_value *dtype = ps_values_get(reader->options, "dtype");
    if (columns->given && !header->type.structured)
        return ps_fail(error, PS_USAGE,
                       "columns: %s holds plain numbers ('%s'), no records with members to choose",
                       reader->path, header->descr);
    reader->array = header->array;
    npy->converted =
        header->type.structured || (dtype->given && dtype->dtype != header->array.dtype);
    return !npy->converted ||
           (ps_record_choose(&header->type.record, columns, dtype, npy->bytes.path, &npy->choice,
                             error) &&
            ps_record_array(&npy->choice, npy->bytes.path, &reader->array, error));
}

bool ps_npy_open(struct ps_npy *npy, struct ps_reader *reader, struct ps_error *error)
{
    if (!ps_npy_header_read(&npy->bytes, &npy->header, &npy->extra_bytes, error) ||
        !choose(npy, reader, error))
        return false;
    reader->way = npy->header.fortran ? "pread of columns, transposed (Fortran order)" : "pread";
    if (npy->extra_bytes > 0)
        ps_log(PS_LOG_WARNING,
               "%s: %llu bytes after the array are ignored (np.save wrote more than "
               "one array?)",
               npy->bytes.path, (unsigned long long)npy->extra_bytes);
    return true;
}

void ps_npy_free(struct ps_npy *npy)
{
    ps_record_choice_free(&npy->choice);
    ps_npy_header_free(&npy->header);
}

// ---- Reading ----

// Elements as they are stored, in C order.
static bool read_elements(const struct ps_npy *npy, int64_t first, int64_t count, void *data,
                          struct ps_read_result *result, struct ps_error *error)
{
    size_t element = npy->header.type.record.bytes;
    result->bytes += (uint64_t)count * element;
    return ps_bytes_read(&npy->bytes, npy->header.data_offset + (uint64_t)first * element, data,
                         (size_t)count * element, error);
}

static bool read_columns(const struct ps_npy *npy, int64_t first_row, int64_t rows, void *data,
                         struct ps_read_result *result, struct ps_error *error)
{
    const struct ps_npy_header *header = &npy->header;
    struct ps_fortran source = {&npy->bytes, header->data_offset, header->type.record.bytes,
                                &header->array};
    struct ps_read_result part = {0};
    bool fine = ps_fortran_read(&source, first_row, rows, data, &part, error);
    result->bytes += part.bytes;
    result->decode_ms += part.decode_ms;
    return fine;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Pieces of whole rows where these are turned, else of any elements.
static bool read_converted(const struct ps_npy *npy, int64_t first_row, int64_t rows, char *data,
                           struct ps_read_result *result, struct ps_error *error)
{
    const struct ps_npy_header *header = &npy->header;
    size_t element = header->type.record.bytes;
    int64_t row = ps_array_row_elements(&header->array), all = rows * row;
    int64_t step = least((int64_t)(BUFFER_BYTES / element) + 1, all);
    if (header->fortran)
        step = least((step + row - 1) / row * row, all);
    char *buffer = malloc((size_t)step * element);
    bool fine = buffer != NULL || ps_fail_memory(error, (size_t)step * element, "records");
    for (int64_t done = 0; fine && done < all; done += step) {
        int64_t count = least(step, all - done), first = first_row * row + done;
        fine = header->fortran ? read_columns(npy, first / row, count / row, buffer, result, error)
                               : read_elements(npy, first, count, buffer, result, error);
        double start = ps_clock_ms();
        // A piece may begin inside a row: first is counted in elements, and so are its rows.
        struct ps_record_place place = {npy->bytes.path, first, row};
        fine = fine && ps_record_decode(&npy->choice, place, buffer, count,
                                        data + (size_t)(done * npy->choice.count) *
                                                   ps_dtype_bytes(npy->choice.dtype),
                                        error);
        result->decode_ms += ps_clock_ms() - start;
    }
    free(buffer);
    return fine;
}

bool ps_npy_read(const struct ps_npy *npy, int64_t first_row, int64_t rows, void *data,
                 struct ps_read_result *result, struct ps_error *error)
{
    const struct ps_npy_header *header = &npy->header;
    int64_t row = ps_array_row_elements(&header->array);
    result->rows = rows;
    if (rows == 0 || row == 0 || header->type.record.bytes == 0)
        return true;
    if (npy->converted)
        return read_converted(npy, first_row, rows, data, result, error);
    if (!(header->fortran ? read_columns(npy, first_row, rows, data, result, error)
                          : read_elements(npy, first_row * row, rows * row, data, result, error)))
        return false;
    result->decode_ms +=
        ps_decode(header->array.dtype, header->swapped, data, (size_t)(rows * row));
    return true;
}

// ---- Describing ----

static void describe_members(const struct ps_record *record, struct ps_text *out)
{
    char name[100];
    for (int i = 0; i < record->member_count; i++) {
        const struct ps_member *member = &record->members[i];
        ps_text_printf(out, "  %s: %s", ps_escape(member->name, strlen(member->name), name, 100),
                       member->refused != NULL ? member->refused : ps_dtype_name(member->dtype));
        for (int d = 0; d < member->rank; d++)
            ps_text_printf(out, "%s%lld%s", d == 0 ? "[" : ", ", (long long)member->dims[d],
                           d == member->rank - 1 ? "]" : "");
        ps_text_printf(out, " at byte %zu%s\n", member->offset,
                       member->swapped ? ", other byte order" : "");
    }
}

void ps_npy_describe(const struct ps_npy_header *header, struct ps_text *out)
{
    char text[PS_ARRAY_TEXT];
    const char *order = header->fortran ? "Fortran" : "C";
    ps_array_text(&header->array, text);
    if (!header->type.structured) {
        ps_text_printf(out, "array: %s (stored as '%s', %s order)\n", text, header->descr, order);
        return;
    }
    ps_text_printf(out, "array: %s records of %zu bytes (%s order) with the members\n",
                   strchr(text, '['), header->type.record.bytes, order);
    describe_members(&header->type.record, out);
}

void ps_npy_entry(const struct ps_npy_header *header, struct ps_text *out)
{
    const struct ps_record *record = &header->type.record;
    int refused = 0, used = 0;
    if (header->array.rank == 0)
        ps_text_add(out, "load: whole");
    for (int i = 0; i < record->member_count; i++)
        refused += record->members[i].refused != NULL;
    if (refused == 0 || refused == record->member_count)
        return;
    for (int i = 0; i < record->member_count; i++) {
        if (record->members[i].refused != NULL)
            continue;
        ps_text_add(out, used++ == 0 ? "columns: [" : ", ");
        ps_inspect_quoted(record->members[i].name, out);
    }
    ps_text_add(out, "]");
}
