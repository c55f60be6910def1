// SPDX-License-Identifier: Apache-2.0
// Formats and stage types of the config's tests. They take the place of the program's own lists
// (the linker sees these first), so that the tests do not change when a format gets an option.
#ifndef PS_TESTS_CONFIG_TABLES_H
#define PS_TESTS_CONFIG_TABLES_H

#include "io/format.h"
#include "kernels/stage.h"

#include <string.h>

static const struct ps_option csv_read[] = {
    {.key = "columns", .kind = PS_WORDS, .help = "names or numbers of columns"},
    {.key = "delimiter", .kind = PS_TEXT, .fallback = ",", .help = "between fields"},
    {.key = "header", .kind = PS_TRUTH, .fallback = "true", .help = "the first line has names"},
    {.key = "skip_rows", .kind = PS_INTEGER, .fallback = "0", .max = 1000, .help = "lines to skip"},
    {.key = NULL},
};
static const struct ps_option csv_write[] = {
    {.key = "header", .kind = PS_TRUTH, .fallback = "true", .help = "write names"},
    {.key = NULL},
};
static const struct ps_option pattern_read[] = {
    {.key = "shape", .kind = PS_SHAPE, .required = true, .help = "sizes of the axes"},
    {.key = "dtype", .kind = PS_DTYPE, .fallback = "f32", .help = "dtype of the numbers"},
    {.key = NULL},
};
static const struct ps_option nothing[] = {{.key = NULL}};
static const struct ps_option map_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array to start from"},
    {.key = "expr", .kind = PS_TEXT, .required = true, .help = "the expression"},
    {.key = "params", .kind = PS_PARAMS, .help = "named numbers"},
    {.key = NULL},
};
static const struct ps_option reduce_options[] = {
    {.key = "in", .kind = PS_NAME, .help = "the array to reduce"},
    {.key = "axis", .kind = PS_AXES, .fallback = "rows", .help = "axes that vanish"},
    {.key = "of",
     .kind = PS_CHOICES,
     .choices = "sum|mean|std|min|max",
     .required = true,
     .help = "what is computed"},
    {.key = NULL},
};

static const struct ps_format_writer writer;
static const struct ps_format csv = {.name = "csv",
                                     .suffixes = ".csv",
                                     .read_options = csv_read,
                                     .write_options = csv_write,
                                     .writer = &writer};
static const struct ps_format npy = {.name = "npy",
                                     .suffixes = ".npy",
                                     .read_options = nothing,
                                     .write_options = nothing,
                                     .writer = &writer};
static const struct ps_format pattern = {
    .name = "pattern", .flags = PS_NO_PATH, .read_options = pattern_read};
static const struct ps_format null_format = {
    .name = "null", .flags = PS_NO_PATH, .write_options = nothing, .writer = &writer};

const struct ps_format *const ps_formats[] = {&csv, &npy, &pattern, &null_format, NULL};

const struct ps_format *ps_format_find(const char *name)
{
    for (int i = 0; ps_formats[i] != NULL; i++)
        if (strcmp(ps_formats[i]->name, name) == 0)
            return ps_formats[i];
    return NULL;
}

const struct ps_format *ps_format_guess(const char *path, bool for_writing)
{
    (void)for_writing;
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot != NULL && ps_formats[i] != NULL; i++)
        if (ps_formats[i]->suffixes != NULL && strcmp(ps_formats[i]->suffixes, dot) == 0)
            return ps_formats[i];
    return NULL;
}

static const struct ps_stage_type map_type = {.name = "map", .options = map_options};
static const struct ps_stage_type reduce_type = {.name = "reduce", .options = reduce_options};

const struct ps_stage_type *const ps_stage_types[] = {&map_type, &reduce_type, NULL};

const struct ps_stage_type *ps_stage_type_find(const char *name)
{
    for (int i = 0; ps_stage_types[i] != NULL; i++)
        if (strcmp(ps_stage_types[i]->name, name) == 0)
            return ps_stage_types[i];
    return NULL;
}

#endif
