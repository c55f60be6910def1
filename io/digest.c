// SPDX-License-Identifier: Apache-2.0
// The format digest: one line of text that tells whether an array is the same as another one,
// without keeping it.
#include "io/file.h"
#include "io/formats.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct state {
    int file;
    uint32_t crc;
    uint64_t bytes;
};

static bool digest_create(struct ps_writer *writer, struct ps_error *error)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ps_fail_memory(error, sizeof *state, "a digest");
    writer->state = state;
    state->file = ps_file_create(writer->temp_path, error);
    return state->file >= 0;
}

static bool digest_write(struct ps_writer *writer, int64_t first_row, int64_t rows,
                         const void *data, struct ps_error *error)
{
    struct state *state = writer->state;
    size_t bytes = (size_t)rows * ps_array_row_bytes(writer->array);
    (void)first_row;
    (void)error;
    if (bytes > 0) // a NULL pointer would start anew
        state->crc = libdeflate_crc32(state->crc, data, bytes);
    state->bytes += bytes;
    return true;
}

static bool digest_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    struct state *state = writer->state;
    struct ps_array array = *writer->array;
    char text[PS_ARRAY_TEXT];
    if (array.rank > 0)
        array.dims[0] = rows;
    struct ps_text line = {0};
    ps_text_printf(&line, "crc32=%08x array=%s rows=%lld bytes=%llu\n", state->crc,
                   ps_array_text(&array, text), (long long)rows, (unsigned long long)state->bytes);
    bool fine = line.failed
                    ? ps_fail_memory(error, PS_ARRAY_TEXT, "a digest")
                    : ps_file_write(state->file, writer->path, 0, line.data, line.length, error);
    ps_text_free(&line);
    int file = state->file;
    state->file = -1;
    if (close(file) != 0 && fine)
        return ps_fail_errno(error, PS_OUTPUT, "cannot write %s", writer->path);
    return fine;
}

static void digest_close(struct ps_writer *writer)
{
    struct state *state = writer->state;
    if (state == NULL)
        return;
    if (state->file >= 0)
        close(state->file);
    free(state);
}

static const struct ps_option no_options[] = {{.key = NULL}};

static const struct ps_format_writer digest_writer = {
    .create = digest_create, .write = digest_write, .finish = digest_finish, .close = digest_close};

const struct ps_format ps_format_digest = {
    .name = "digest",
    .help = "one line with the CRC-32 of the array's bytes, its dtype and shape",
    .suffixes = ".digest|.crc32",
    .write_options = no_options,
    .writer = &digest_writer,
};
