// SPDX-License-Identifier: Apache-2.0
// The row of the format npy, and its reader: rows by pread at any place from any thread. Fortran
// order is read column by column and transposed; Python objects are never unpacked.
#include "io/npy.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/decode.h"
#include "io/file.h"
#include "io/formats.h"
#include "io/fortran.h"
#include "io/inspect.h"
#include "io/npy_header.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct state {
    int file;
    struct ps_npy_header header;
};

static bool npy_recognise(const unsigned char *head, size_t length)
{
    return length >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static bool npy_open(struct ps_reader *reader, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    uint64_t extra;
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a npy reader");
    reader->state = state;
    state->file = ps_file_open(reader->path, &reader->file_bytes, error);
    if (state->file < 0 || !ps_npy_header_read(state->file, reader->path, reader->file_bytes,
                                               &state->header, &extra, error))
        return false;
    reader->array = state->header.array;
    reader->way = state->header.fortran ? "pread of columns, transposed (Fortran order)" : "pread";
    if (extra > 0)
        ps_log(PS_LOG_WARNING,
               "%s: %llu bytes after the array are ignored (np.save wrote more than "
               "one array?)",
               reader->path, (unsigned long long)extra);
    return true;
}

static bool npy_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    const struct state *state = reader->state;
    const struct ps_npy_header *header = &state->header;
    size_t row_bytes = ps_array_row_bytes(&reader->array);
    size_t bytes = (size_t)rows * row_bytes;
    result->rows = rows;
    result->bytes = bytes;
    if (header->fortran) {
        struct ps_fortran source = {state->file, reader->path, header->data_offset, &reader->array};
        if (!ps_fortran_read(&source, first_row, rows, data, result, error))
            return false;
    } else if (!ps_file_read(state->file, reader->path,
                             header->data_offset + (uint64_t)first_row * row_bytes, data, bytes,
                             error)) {
        return false;
    }
    result->decode_ms += ps_decode(reader->array.dtype, header->swapped, data,
                                   bytes / ps_dtype_bytes(reader->array.dtype));
    return true;
}

static void npy_close(struct ps_reader *reader)
{
    struct state *state = reader->state;
    if (state->file >= 0)
        close(state->file);
    free(state);
}

static bool npy_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    struct ps_npy_header header;
    char text[PS_ARRAY_TEXT];
    uint64_t bytes, extra;
    int file = ps_file_open(path, &bytes, error);
    if (file < 0)
        return false;
    bool fine = ps_npy_header_read(file, path, bytes, &header, &extra, error);
    close(file);
    if (!fine)
        return false;
    ps_inspect_file(path, "npy", bytes, out);
    ps_text_printf(out, "array: %s (stored as '%s', %s order)\n",
                   ps_array_text(&header.array, text), header.descr,
                   header.fortran ? "Fortran" : "C");
    if (extra > 0)
        ps_text_printf(out, "warning: %llu bytes follow the array and are not read\n",
                       (unsigned long long)extra);
    ps_inspect_entry(path, header.array.rank == 0 ? "load: whole" : NULL, out);
    return true;
}

static const struct ps_option no_options[] = {{.key = NULL}};

const struct ps_format ps_format_npy = {
    .name = "npy",
    .help = "NumPy's .npy files, versions 1 to 3, C or Fortran order, either byte order",
    .suffixes = ".npy",
    .flags = PS_READ_ANYWHERE,
    .read_options = no_options,
    .write_options = no_options,
    .recognise = npy_recognise,
    .open = npy_open,
    .read = npy_read,
    .close = npy_close,
    .writer = &ps_npy_writer,
    .inspect = npy_inspect,
};
