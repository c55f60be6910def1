// SPDX-License-Identifier: Apache-2.0
// Values out of the bytes of records, one run of elements after the other: gathered, made native,
// converted and put into the rows.
#include "io/record.h"

#include "io/decode.h"
#include "io/format.h"
#include "io/time_unit.h"

#include <stdio.h>
#include <string.h>

#define TOGETHER 512 // elements in work

// A run of many records, or a piece of a long one of a single record.
struct piece {
    const struct ps_record_run *run;
    int64_t first_record, records;
    int64_t first, count; // elements of the run
};

static void gather(const struct ps_record *record, const struct piece *piece, const char *records,
                   char *out)
{
    const struct ps_member *member = piece->run->member;
    size_t element = ps_dtype_bytes(member->dtype), bytes = (size_t)piece->count * element;
    const char *from = records + (size_t)piece->first_record * record->bytes + member->offset +
                       (size_t)(piece->run->first + piece->first) * element;
    for (int64_t r = 0; r < piece->records; r++)
        memcpy(out + (size_t)r * bytes, from + (size_t)r * record->bytes, bytes);
}

static void scatter(const struct ps_record_choice *choice, const struct piece *piece,
                    const char *values, char *data)
{
    size_t element = ps_dtype_bytes(choice->dtype), bytes = (size_t)piece->count * element;
    size_t row = (size_t)choice->count * element;
    char *to = data + (size_t)piece->first_record * row +
               (size_t)(piece->run->slot + piece->first) * element;
    for (int64_t r = 0; r < piece->records; r++)
        memcpy(to + (size_t)r * row, values + (size_t)r * bytes, bytes);
}

static bool refuse_time(const struct piece *piece, size_t bad, int64_t value,
                        const struct ps_record_place *place, struct ps_error *error)
{
    const struct ps_member *member = piece->run->member;
    char name[100], text[64] = "NaT (no time)", where[128] = "";
    int64_t record = piece->first_record + (int64_t)(bad / (size_t)piece->count);
    if (value != PS_NOT_A_TIME)
        snprintf(text, sizeof text, "%lld %s", (long long)value, member->time->name);
    if (member->name[0] != '\0')
        snprintf(where, sizeof where, ", column '%s'",
                 ps_escape(member->name, strlen(member->name), name, sizeof name));
    return ps_fail(error, PS_INPUT,
                   "%s, row %lld%s: %s cannot be held by whole nanoseconds (i64); "
                   "`dates: time_s` reads it as f64",
                   place->path, (long long)((place->first_record + record) / place->row_records),
                   where, text);
}

// In place: both are of 8 bytes.
static bool convert_times(const struct piece *piece, uint64_t *values, size_t count,
                          const struct ps_record_place *place, struct ps_error *error)
{
    const struct ps_member *member = piece->run->member;
    for (size_t i = 0; i < count; i++) {
        int64_t value, whole = 0;
        double seconds;
        memcpy(&value, &values[i], sizeof value);
        if (member->dtype == PS_F64) {
            seconds = ps_time_to_seconds(member->time, value);
            memcpy(&values[i], &seconds, sizeof seconds);
        } else if (ps_time_to_nanoseconds(member->time, value, &whole)) {
            memcpy(&values[i], &whole, sizeof whole);
        } else {
            return refuse_time(piece, i, value, place, error);
        }
    }
    return true;
}

static bool refuse(const struct ps_record_choice *choice, const struct piece *piece, size_t bad,
                   const void *values, const struct ps_record_place *place, struct ps_error *error)
{
    const struct ps_member *member = piece->run->member;
    const char *dtype = ps_dtype_name(choice->dtype);
    char value[PS_NUMBER_TEXT + 1], name[100];
    size_t size = ps_dtype_bytes(member->dtype);
    value[ps_value_to_text(member->dtype, (const char *)values + bad * size, value)] = '\0';
    int64_t record = piece->first_record + (int64_t)(bad / (size_t)piece->count);
    int64_t slot = piece->run->slot + piece->first + (int64_t)(bad % (size_t)piece->count);
    const char *column = choice->names != NULL ? choice->names[slot] : member->name;
    long long row = (long long)((place->first_record + record) / place->row_records);
    if (column[0] == '\0') // plain numbers, asked for as another dtype
        return ps_fail(error, PS_INPUT,
                       "%s, row %lld: %s cannot be held by %s; the file's own is "
                       "`dtype: %s`",
                       place->path, row, value, dtype, ps_dtype_name(member->dtype));
    return ps_fail(error, PS_INPUT,
                   "%s, row %lld, column '%s': %s cannot be held by %s; read this "
                   "column as an input of its own (`columns: [%s]`)",
                   place->path, row, ps_escape(column, strlen(column), name, sizeof name), value,
                   dtype, name);
}

static bool decode_piece(const struct ps_record_choice *choice, const struct piece *piece,
                         const struct ps_record_place *place, const void *records, void *data,
                         struct ps_error *error)
{
    const struct ps_member *member = piece->run->member;
    uint64_t stored[TOGETHER], values[TOGETHER], changed = 0; // aligned for any dtype
    size_t count = (size_t)(piece->records * piece->count), bad = 0;
    gather(choice->record, piece, records, (char *)stored);
    ps_decode(member->dtype, member->swapped, stored, count);
    if (member->time != NULL && !convert_times(piece, stored, count, place, error))
        return false;
    if (member->dtype == choice->dtype) {
        scatter(choice, piece, (const char *)stored, data);
        return true;
    }
    if (!ps_convert(choice->dtype, values, member->dtype, stored, count, PS_CAST_ERROR, &bad,
                    &changed))
        return refuse(choice, piece, bad, stored, place, error);
    scatter(choice, piece, (const char *)values, data);
    return true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool decode_run(const struct ps_record_choice *choice, const struct ps_record_run *run,
                       int64_t first, int64_t records, const struct ps_record_place *place,
                       const void *from, void *data, struct ps_error *error)
{
    struct piece piece = {.run = run, .count = least(run->count, TOGETHER)};
    if (run->count == 0)
        return true;
    int64_t step = run->count <= TOGETHER ? TOGETHER / run->count : 1;
    for (int64_t r = 0; r < records; r += step) {
        piece.first_record = first + r;
        piece.records = least(step, records - r);
        for (piece.first = 0; piece.first < run->count; piece.first += TOGETHER) {
            piece.count = least(run->count - piece.first, TOGETHER);
            if (!decode_piece(choice, &piece, place, from, data, error))
                return false;
        }
    }
    return true;
}

// Some records at a time, so that they stay in the cache for all their runs.
bool ps_record_decode(const struct ps_record_choice *choice, struct ps_record_place place,
                      const void *records, int64_t count, void *data, struct ps_error *error)
{
    for (int64_t first = 0; first < count; first += TOGETHER)
        for (int i = 0; i < choice->run_count; i++)
            if (!decode_run(choice, &choice->runs[i], first, least(TOGETHER, count - first), &place,
                            records, data, error))
                return false;
    return true;
}
