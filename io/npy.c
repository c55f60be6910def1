// SPDX-License-Identifier: Apache-2.0
// The row of the format npy: a file of its own, read by pread at any place from any thread.
#include "io/npy.h"

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

static bool npy_open(struct ps_reader *reader, struct ps_error *error)
{
    struct ps_npy *npy = calloc(1, sizeof *npy);
    if (npy == NULL)
        return ps_fail_memory(error, sizeof *npy, "a npy reader");
    reader->state = npy;
    npy->bytes.path = reader->path;
    npy->bytes.file = ps_file_open(reader->path, &reader->file_bytes, error);
    npy->bytes.size = reader->file_bytes;
    return npy->bytes.file >= 0 && ps_npy_open(npy, reader, error);
}

static bool npy_read(struct ps_reader *reader, int64_t first_row, int64_t rows, void *data,
                     struct ps_read_result *result, struct ps_error *error)
{
    return ps_npy_read(reader->state, first_row, rows, data, result, error);
}

static void npy_close(struct ps_reader *reader)
{
    struct ps_npy *npy = reader->state;
    if (npy->bytes.file >= 0)
        close(npy->bytes.file);
    ps_npy_free(npy);
    free(npy);
}

static bool npy_inspect(const char *path, struct ps_text *out, struct ps_error *error)
{
    struct ps_npy_header header;
    struct ps_bytes bytes = {.path = path};
    struct ps_text more = {0};
    uint64_t extra;
    bytes.file = ps_file_open(path, &bytes.size, error);
    if (bytes.file < 0)
        return false;
    bool fine = ps_npy_header_read(&bytes, &header, &extra, error);
    close(bytes.file);
    if (!fine)
        return false;
    ps_inspect_file(path, "npy", bytes.size, out);
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
static const struct ps_option no_options[] = {{.key = NULL}};

const struct ps_format ps_format_npy = {
    .name = "npy",
    .help = "NumPy's .npy files, versions 1 to 3, plain or structured, C or Fortran order, either "
            "byte order",
    .suffixes = ".npy",
    .flags = PS_READ_ANYWHERE,
    .read_options = read_options,
    .write_options = no_options,
    .recognise = npy_recognise,
    .open = npy_open,
    .read = npy_read,
    .close = npy_close,
    .writer = &ps_npy_writer,
    .inspect = npy_inspect,
};
