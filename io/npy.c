// SPDX-License-Identifier: Apache-2.0
// The row of the format npy: a file of its own, read by pread at any place from any thread.
#include "io/npy.h"

#include "base/log.h"
#include "io/byte_stream.h"
#include "io/byte_writer.h"
#include "io/file.h"
#include "io/formats.h"
#include "io/inspect.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool npy_recognise(const unsigned char *head, size_t length)
{
    return length >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

struct state {
    struct ps_npy npy;
    struct ps_byte_stream stream; // where the file has to be read in order
    bool in_order, end_checked;
};

static bool open_stream(struct state *state, struct ps_reader *reader, struct ps_error *error)
{
    state->in_order = true;
    if (!ps_byte_stream_open(&state->stream, reader->path, PS_PACKING_AUTO, error))
        return false;
    state->npy.bytes = ps_byte_stream_bytes(&state->stream);
    if (!ps_npy_open(&state->npy, reader, error))
        return false;
    if (state->npy.header.fortran)
        return ps_fail(error, PS_INPUT,
                       "%s is in Fortran order, which cannot be read from %s: save it to a file%s",
                       state->stream.name,
                       ps_byte_reader_is_gzip(state->stream.reader) ? "packed data" : "a pipe",
                       ps_byte_reader_is_gzip(state->stream.reader) ? " unpacked" : "");
    reader->flags = PS_READ_IN_ORDER;
    reader->way = ps_byte_reader_is_gzip(state->stream.reader) ? "gzip" : "read";
    return true;
}

static bool npy_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a npy reader");
    reader->state = state;
    struct ps_bytes *bytes = &state->npy.bytes;
    bytes->file = -1;
    if (ps_path_is_stream(reader->path, true))
        return open_stream(state, reader, error);
    bytes->path = reader->path;
    bytes->file = ps_file_open(reader->path, &reader->file_bytes, error);
    bytes->size = reader->file_bytes;
    return bytes->file >= 0 && ps_npy_open(&state->npy, reader, error);
}

// What a file's size tells when it is opened, a stream tells at its end.
static bool check_end(struct state *state, const struct ps_reader *reader, struct ps_error *error)
{
    uint64_t rest, data;
    if (!ps_npy_data_bytes(&state->npy.header, &data) ||
        !ps_byte_stream_rest(&state->stream, state->npy.header.data_offset + data, &rest, error))
        return false;
    if (rest > 0 && !state->end_checked)
        ps_log(PS_LOG_WARNING, "%s: %llu bytes after the array are ignored",
               ps_path_shown(reader->path), (unsigned long long)rest);
    state->end_checked = true;
    return true;
}

static bool npy_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    struct state *state = reader->state;
    return ps_npy_read(&state->npy, first_row, rows, data, result, error) &&
           (!state->in_order || first_row + rows < ps_array_rows(&reader->array) ||
            check_end(state, reader, error));
}

static void npy_close(struct ps_reader *reader)
{
    struct state *state = reader->state;
    if (state->npy.bytes.file >= 0)
        close(state->npy.bytes.file);
    ps_byte_stream_close(&state->stream);
    ps_npy_free(&state->npy);
    free(state);
}

static bool npy_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    struct ps_npy_header header;
    struct ps_byte_stream stream = {0};
    struct ps_bytes bytes = {.path = path};
    struct ps_text more = {0};
    uint64_t extra, file_bytes;
    bytes.file = ps_file_open(path, &file_bytes, error);
    bytes.size = file_bytes;
    if (bytes.file < 0)
        return false;
    bool packed = ps_path_is_stream(path, true);
    bool fine = !packed || ps_byte_stream_open(&stream, path, PS_PACKING_AUTO, error);
    struct ps_bytes unpacked = ps_byte_stream_bytes(&stream);
    fine = fine && ps_npy_header_read(packed ? &unpacked : &bytes, &header, &extra, error);
    ps_byte_stream_close(&stream);
    close(bytes.file);
    if (!fine)
        return false;
    ps_inspect_file(path, packed ? "npy, packed by gzip" : "npy", file_bytes, out);
    ps_npy_describe(&header, out);
    if (extra > 0)
        ps_text_printf(out, "warning: %llu bytes follow the array and are not read\n",
                       (unsigned long long)extra);
    ps_npy_entry(&header, &more);
    ps_inspect_entry(path, more.data, out);
    ps_text_free(&more);
    ps_npy_header_free(&header);
    return true;
}

static const struct ps_option read_options[] = {PS_NPY_READ_OPTIONS, {.key = NULL}};
static const struct ps_option write_options[] = {PS_GZIP_OPTION, {.key = NULL}};

const struct ps_format ps_format_npy = {
    .name = "npy",
    .help = "NumPy's .npy files, versions 1 to 3, plain or structured, C or Fortran order, either "
            "byte order",
    .suffixes = ".npy",
    .flags = PS_READ_ANYWHERE | PS_GZIP | PS_STREAMED,
    .read_options = read_options,
    .write_options = write_options,
    .recognise = npy_recognise,
    .open = npy_open,
    .read = npy_read,
    .close = npy_close,
    .writer = &ps_npy_writer,
    .inspect = npy_inspect,
};
