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

// The other part goes, so that the one left is a plain number.
static void keep_part(struct ps_record *record, int part)
{
    struct ps_member kept = record->members[part];
    free(record->members[1 - part].name);
    kept.name[0] = '\0';
    record->members[0] = kept;
    record->member_count = 1;
}

static bool prepare_complex(struct ps_npy *npy, const struct ps_values *options,
                            struct ps_error *error)
{
    struct ps_npy_type *type = &npy->header.type;
    const struct ps_value *option = ps_values_get(options, "complex");
    bool some = type->is_complex;
    if (type->is_complex) {
        if (!ps_complex_form(option, npy->bytes.path, &npy->form, error))
            return false;
        if (npy->form == PS_COMPLEX_REAL || npy->form == PS_COMPLEX_IMAG)
            keep_part(&type->record, npy->form == PS_COMPLEX_IMAG);
        npy->computed = type->record.member_count == 2 && npy->form != PS_COMPLEX_PARTS;
    }
    for (int i = 0; i < type->record.member_count; i++) {
        struct ps_member *member = &type->record.members[i];
        bool part = member->refused == ps_npy_complex_member;
        if (part && option->given && option->choice != PS_COMPLEX_PARTS)
            return ps_fail(error, PS_USAGE,
                           "complex: %s of members cannot be read from %s; parts "
                           "can, as the columns .re and .im of each",
                           option->text, npy->bytes.path);
        if (part && option->given)
            member->refused = NULL;
        some = some || part;
    }
    return some || !option->given ||
           ps_fail(error, PS_USAGE, "complex: %s holds no complex numbers", npy->bytes.path);
}

static bool prepare_dates(struct ps_npy *npy, const struct ps_values *options,
                          struct ps_error *error)
{
    struct ps_npy_type *type = &npy->header.type;
    const struct ps_value *option = ps_values_get(options, "dates");
    bool some = false;
    for (int i = 0; i < type->record.member_count; i++) {
        struct ps_member *member = &type->record.members[i];
        if (member->refused != ps_npy_date_member)
            continue;
        some = true;
        if (option->given) {
            member->refused = NULL;
            member->dtype = option->choice == 0 ? PS_F64 : PS_I64;
        }
    }
    if (some && !type->structured && !option->given)
        return ps_fail(error, PS_INPUT,
                       "%s holds dates or time differences ('%s'): say what they are read as by "
                       "`dates:` time_s (f64 seconds since 1970-01-01T00:00Z) or time_ns (i64 "
                       "nanoseconds)",
                       npy->bytes.path, npy->header.descr);
    return some || !option->given ||
           ps_fail(error, PS_USAGE, "dates: %s holds no dates", npy->bytes.path);
}

static bool choose(struct ps_npy *npy, struct ps_reader *reader, struct ps_error *error)
{
    const struct ps_npy_header *header = &npy->header;
    const struct ps_npy_type *type = &header->type;
    const struct ps_value *columns = ps_values_get(reader->options, "columns");
    const struct ps_value *dtype = ps_values_get(reader->options, "dtype");
    struct ps_array *array = &reader->array;
    if (columns->given && !type->structured)
        return ps_fail(error, PS_USAGE,
                       "columns: %s holds plain numbers ('%s'), no records with members to choose",
                       npy->bytes.path, header->descr);
    *array = header->array;
    npy->converted = type->structured || type->is_complex || type->record.members[0].time ||
                     (dtype->given && dtype->dtype != header->array.dtype);
    if (!npy->converted)
        return true;
    if (!ps_record_choose(&type->record, columns, dtype, npy->bytes.path, &npy->choice, error))
        return false;
    if (npy->computed && !ps_dtype_is_float(npy->choice.dtype))
        return ps_fail(error, PS_USAGE, "dtype: %s cannot hold magnitudes and phases",
                       ps_dtype_name(npy->choice.dtype));
    array->dtype = npy->choice.dtype;
    return npy->computed ? ps_complex_array(npy->form, npy->bytes.path, array, error)
                         : ps_record_array(&npy->choice, npy->bytes.path, array, error);
}

bool ps_npy_open(struct ps_npy *npy, struct ps_reader *reader, struct ps_error *error)
{
    if (!ps_npy_header_read(&npy->bytes, &npy->header, &npy->extra_bytes, error) ||
        !prepare_complex(npy, reader->options, error) ||
        !prepare_dates(npy, reader->options, error) || !choose(npy, reader, error))
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

// What was read into what the array holds. Pairs are taken out first where they are computed with.
static bool convert(const struct ps_npy *npy, struct ps_record_place place, const void *buffer,
                    int64_t count, char *data, void *pairs, struct ps_error *error)
{
    enum ps_dtype dtype = npy->choice.dtype;
    if (!npy->computed)
        return ps_record_decode(&npy->choice, place, buffer, count, data, error);
    if (!ps_record_decode(&npy->choice, place, buffer, count, pairs, error))
        return false;
    ps_complex_convert(npy->form, dtype, pairs, count, data);
    return true;
}

// Pieces of whole rows where these are turned, else of any elements.
static bool read_converted(const struct ps_npy *npy, int64_t first_row, int64_t rows, char *data,
                           struct ps_read_result *result, struct ps_error *error)
{
    const struct ps_npy_header *header = &npy->header;
    size_t element = header->type.record.bytes, value = ps_dtype_bytes(npy->choice.dtype);
    size_t width =
        value * (size_t)(npy->computed ? ps_complex_width(npy->form) : npy->choice.count);
    int64_t row = ps_array_row_elements(&header->array), all = rows * row;
    int64_t step = least((int64_t)(BUFFER_BYTES / element) + 1, all);
    if (header->fortran)
        step = least((step + row - 1) / row * row, all);
    char *buffer = malloc((size_t)step * element);
    void *pairs = npy->computed ? malloc((size_t)step * 2 * value) : NULL;
    bool fine = (buffer != NULL && (pairs != NULL || !npy->computed)) ||
                ps_fail_memory(error, (size_t)step * element, "records");
    for (int64_t done = 0; fine && done < all; done += step) {
        int64_t count = least(step, all - done), first = first_row * row + done;
        fine = header->fortran ? read_columns(npy, first / row, count / row, buffer, result, error)
                               : read_elements(npy, first, count, buffer, result, error);
        double start = ps_clock_ms();
        struct ps_record_place place = {npy->bytes.path, first, row};
        fine =
            fine && convert(npy, place, buffer, count, data + (size_t)done * width, pairs, error);
        result->decode_ms += ps_clock_ms() - start;
    }
    free(buffer);
    free(pairs);
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
    bool dates = !header->type.structured && header->type.record.members[0].time != NULL;
    if (header->type.is_complex || dates) {
        ps_text_printf(out, "array: %s %s (stored as '%s', %s order)\n", strchr(text, '['),
                       dates ? "dates or time differences" : "complex numbers", header->descr,
                       order);
        return;
    }
    if (!header->type.structured) {
        ps_text_printf(out, "array: %s (stored as '%s', %s order)\n", text, header->descr, order);
        return;
    }
    ps_text_printf(out, "array: %s records of %zu bytes (%s order) with the members\n",
                   strchr(text, '['), header->type.record.bytes, order);
    describe_members(&header->type.record, out);
}

static void add_key(struct ps_text *out, const char *text)
{
    ps_text_printf(out, "%s%s", out->length > 0 ? ", " : "", text);
}

// Dates and complex numbers can be read when a key says as what.
static bool can_be_read(const struct ps_member *member)
{
    return member->refused == NULL || member->refused == ps_npy_date_member ||
           member->refused == ps_npy_complex_member;
}

static void add_columns(const struct ps_record *record, struct ps_text *out)
{
    int readable = 0, listed = 0;
    for (int i = 0; i < record->member_count; i++)
        readable += can_be_read(&record->members[i]);
    if (readable == 0 || readable == record->member_count)
        return;
    add_key(out, "columns: [");
    for (int i = 0; i < record->member_count; i++) {
        if (!can_be_read(&record->members[i]))
            continue;
        ps_text_add(out, listed++ > 0 ? ", " : "");
        ps_inspect_quoted(record->members[i].name, out);
    }
    ps_text_add(out, "]");
}

void ps_npy_entry(const struct ps_npy_header *header, struct ps_text *out)
{
    const struct ps_record *record = &header->type.record;
    bool dates = !header->type.structured && record->members[0].time != NULL;
    bool complex = header->type.is_complex;
    for (int i = 0; i < record->member_count; i++) {
        dates = dates || record->members[i].refused == ps_npy_date_member;
        complex = complex || record->members[i].refused == ps_npy_complex_member;
    }
    if (header->array.rank == 0)
        add_key(out, "load: whole");
    if (dates)
        add_key(out, "dates: time_s");
    if (complex)
        add_key(out, "complex: parts");
    if (header->type.structured)
        add_columns(record, out);
}
