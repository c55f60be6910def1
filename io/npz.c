// SPDX-License-Identifier: Apache-2.0
// The row of the format npz: one array of an archive that numpy.savez or savez_compressed wrote.
// Stored members are read at any place, deflated ones in order.
#include "io/npz.h"
#include "io/file.h"
#include "io/formats.h"
#include "io/inspect.h"
#include "io/npy.h"
#include "io/zip.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ps_option read_options[] = {
    {.key = "member",
     .kind = PS_TEXT,
     .help = "Name of the array in the archive, with or without .npy; the only one if unset"},
    PS_NPY_READ_OPTIONS,
    {.key = NULL}};

struct state {
    int file;
    struct ps_zip zip;
    char *label; // "x.npz, member 'a.npy'"
    struct ps_zip_bytes *bytes;
    struct ps_npy npy;
    bool deflated;
    char *whole; // the unpacked member, where it is in Fortran order
};

static char *make_label(const char *path, const char *name)
{
    char shown[200];
    struct ps_text text = {0};
    ps_text_printf(&text, "%s, member '%s'", path,
                   ps_escape(name, strlen(name), shown, sizeof shown));
    if (text.failed)
        ps_text_free(&text);
    return text.data;
}

// ---- Reading ----

static bool npz_recognise(const unsigned char *head, size_t length)
{
    size_t name = length >= 30 ? head[26] | (size_t)head[27] << 8 : 0;
    return name > 4 && 30 + name <= length && memcmp(head, "PK\3\4", 4) == 0 &&
           memcmp(head + 30 + name - 4, ".npy", 4) == 0;
}

static bool open_member(struct state *state, struct ps_reader *reader, struct ps_error *error)
{
    const struct ps_value *wanted = ps_values_get(reader->options, "member");
    const struct ps_zip_member *member =
        ps_npz_find(&state->zip, wanted->given ? wanted->text : NULL, error);
    if (member == NULL)
        return false;
    state->deflated = member->method != 0;
    state->label = make_label(reader->path, member->name);
    if (state->label == NULL)
        return ps_fail_memory(error, strlen(reader->path), "a npz reader");
    state->bytes = ps_zip_open(&state->zip, member, state->label, &state->npy.bytes, error);
    return state->bytes != NULL && ps_npy_open(&state->npy, reader, error);
}

static bool npz_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a npz reader");
    reader->state = state;
    state->file = ps_file_open(reader->path, &reader->file_bytes, error);
    if (state->file < 0 ||
        !ps_zip_read(&state->zip, state->file, reader->path, reader->file_bytes, error) ||
        !open_member(state, reader, error))
        return false;
    if (!state->deflated)
        return true;
    bool fortran = state->npy.header.fortran;
    reader->flags = fortran ? PS_READ_LOCKED : PS_READ_IN_ORDER;
    reader->way = fortran ? "inflate into memory, transposed (Fortran order)" : "inflate";
    return true;
}

static bool give_whole(void *context, uint64_t at, void *data, size_t count, struct ps_error *error)
{
    (void)error;
    memcpy(data, (const char *)context + at, count);
    return true;
}

// Columns lie over all of a member in Fortran order, and deflated data has no places to go to.
static bool unpack_whole(struct state *state, struct ps_error *error)
{
    struct ps_bytes *bytes = &state->npy.bytes;
    state->whole = malloc((size_t)bytes->size + 1);
    if (state->whole == NULL)
        return ps_fail_memory(error, bytes->size, "a deflated array in Fortran order");
    if (!ps_bytes_read(bytes, 0, state->whole, (size_t)bytes->size, error)) {
        free(state->whole);
        state->whole = NULL;
        return false;
    }
    bytes->give = give_whole;
    bytes->context = state->whole;
    return true;
}

// The checksum stands behind the last byte, which nobody may ask for when arrays follow each other
// in one member.
static bool read_rest(struct state *state, struct ps_error *error)
{
    char last;
    const struct ps_bytes *bytes = &state->npy.bytes;
    return ps_bytes_read(bytes, bytes->size - 1, &last, 1, error);
}

static bool npz_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    struct state *state = reader->state;
    if (!state->deflated)
        return ps_npy_read(&state->npy, first_row, rows, data, result, error);
    uint64_t before = ps_zip_bytes_taken(state->bytes);
    if (state->npy.header.fortran && state->whole == NULL && !unpack_whole(state, error))
        return false;
    if (!ps_npy_read(&state->npy, first_row, rows, data, result, error))
        return false;
    bool last =
        state->whole == NULL && rows > 0 && first_row + rows == ps_array_rows(&reader->array);
    if (last && state->npy.extra_bytes > 0 && !read_rest(state, error))
        return false;
    result->bytes = ps_zip_bytes_taken(state->bytes) - before;
    return true;
}

static void npz_close(struct ps_reader *reader)
{
    struct state *state = reader->state;
    ps_npy_free(&state->npy);
    ps_zip_bytes_close(state->bytes);
    ps_zip_free(&state->zip);
    if (state->file >= 0)
        close(state->file);
    free(state->whole);
    free(state->label);
    free(state);
}

// ---- Inspecting ----

// One line; a member that cannot be read says why and is no fault of the file.
static void inspect_member(const struct ps_zip *zip, const struct ps_zip_member *member,
                           struct ps_text *out)
{
    struct ps_error error = {0};
    struct ps_bytes source;
    struct ps_npy_header header;
    uint64_t extra;
    char shown[200];
    struct ps_zip_bytes *bytes = ps_zip_open(zip, member, member->name, &source, &error);
    ps_text_printf(out, "member %s: %s, %llu of %llu bytes\n",
                   ps_escape(member->name, strlen(member->name), shown, sizeof shown),
                   ps_zip_method_name(member->method), (unsigned long long)member->packed,
                   (unsigned long long)member->size);
    if (bytes != NULL && ps_npy_header_read(&source, &header, &extra, &error)) {
        ps_text_add(out, "  ");
        ps_npy_describe(&header, out);
        ps_npy_header_free(&header);
    } else {
        ps_text_printf(out, "  %s\n", error.text);
    }
    ps_zip_bytes_close(bytes);
}

// "member: 'a'" unless it is the only one.
static void entry(const struct ps_zip *zip, struct ps_text *out)
{
    int arrays = 0;
    const char *first = NULL;
    for (int i = 0; i < zip->count; i++) {
        if (!ps_npz_is_array(zip->members[i].name))
            continue;
        first = arrays++ == 0 ? zip->members[i].name : first;
    }
    if (arrays < 2)
        return;
    ps_text_add(out, "member: ");
    ps_inspect_quoted(first, out);
}

static bool npz_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    struct ps_zip zip = {0};
    struct ps_text more = {0};
    uint64_t bytes;
    int file = ps_file_open(path, &bytes, error);
    if (file < 0)
        return false;
    bool fine = ps_zip_read(&zip, file, path, bytes, error);
    if (fine) {
        ps_inspect_file(path, "npz", bytes, out);
        for (int i = 0; i < zip.count; i++)
            inspect_member(&zip, &zip.members[i], out);
        entry(&zip, &more);
        ps_inspect_entry(path, more.data, out);
    }
    ps_text_free(&more);
    ps_zip_free(&zip);
    close(file);
    return fine;
}

const struct ps_format ps_format_npz = {
    .name = "npz",
    .help = "one array of NumPy's .npz archives, stored or deflated (savez, savez_compressed)",
    .suffixes = ".npz",
    .flags = PS_READ_ANYWHERE,
    .read_options = read_options,
    .recognise = npz_recognise,
    .open = npz_open,
    .read = npz_read,
    .close = npz_close,
    .inspect = npz_inspect,
};
