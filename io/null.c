// SPDX-License-Identifier: Apache-2.0
// The format null: an output that is thrown away. What arrives is counted by the wrapper, so that
// reading and computing can be timed alone.
#include "io/formats.h"

static bool null_create(struct ps_writer *writer, struct ps_error *error)
{
    (void)writer;
    (void)error;
    return true;
}

static bool null_write(struct ps_writer *writer, int64_t first_row, int64_t rows, const void *data,
                       struct ps_error *error)
{
    (void)writer;
    (void)first_row;
    (void)rows;
    (void)data;
    (void)error;
    return true;
}

static bool null_finish(struct ps_writer *writer, int64_t rows, struct ps_error *error)
{
    (void)writer;
    (void)rows;
    (void)error;
    return true;
}

static void null_close(struct ps_writer *writer)
{
    (void)writer;
}

static const struct ps_option no_options[] = {{.key = NULL}};

static const struct ps_format_writer null_writer = {
    .create = null_create, .write = null_write, .finish = null_finish, .close = null_close};

const struct ps_format ps_format_null = {
    .name = "null",
    .help = "an output that is computed and thrown away, for timing",
    .flags = PS_NO_PATH,
    .write_options = no_options,
    .writer = &null_writer,
};
