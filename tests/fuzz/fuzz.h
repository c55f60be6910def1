// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. Each target is one function of libFuzzer's name that takes any
// bytes; the first ones choose options, the others are a file. Whatever comes, nothing may crash,
// hang, leak or take memory that the bytes do not justify. Built by libFuzzer (PS_FUZZ) or with
// driver.c, which feeds files.
#ifndef PS_TESTS_FUZZ_H
#define PS_TESTS_FUZZ_H

#include "base/log.h"
#include "io/formats.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_ROWS_MAX 100000       // read of one file
#define FUZZ_BYTES_MAX (64u << 20) // of a block

// A file that holds the bytes; its path. The next call replaces it.
static inline const char *fuzz_file(const void *data, size_t size)
{
    static char path[64];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}

// Sets an option from its text, as a config would; what does not fit leaves the default.
static inline void fuzz_set(struct ps_values *values, const char *key, const char *text,
                            bool quoted)
{
    struct ps_problems problems = {0};
    struct ps_place place = {0, 1, 1, 1};
    struct ps_value *value = (struct ps_value *)ps_values_get(values, key);
    if (text != NULL)
        ps_value_from_scalar(value, text, quoted, place, &problems);
    ps_problems_free(&problems);
}

// Opens, reads `step` rows at a time until the end or FUZZ_ROWS_MAX, closes. Twice where it can
// start again.
static inline void fuzz_read(const struct ps_format *format, const char *path,
                             const struct ps_values *options, int64_t step)
{
    struct ps_error error = {0};
    struct ps_reader reader = {.format = format, .name = "x", .path = path, .options = options};
    if (!ps_reader_open(&reader, &error)) {
        if (error.status == PS_BUG || error.text[0] == '\0')
            abort();
        return;
    }
    int64_t all = ps_array_rows(&reader.array);
    size_t row = ps_array_row_bytes(&reader.array);
    char *data = row < FUZZ_BYTES_MAX / (size_t)step ? malloc(row * (size_t)step + 1) : NULL;
    for (int pass = 0; data != NULL && pass < 2; pass++) {
        for (int64_t first = 0; first < FUZZ_ROWS_MAX;) {
            struct ps_read_result result;
            int64_t rows = all >= 0 && all - first < step ? all - first : step;
            if (!ps_reader_read(&reader, first, rows, data, &result, &error)) {
                if (error.status == PS_BUG || error.text[0] == '\0')
                    abort();
                break;
            }
            first += result.rows;
            if (result.rows < step)
                break;
        }
        error = (struct ps_error){0};
    }
    free(data);
    ps_reader_close(&reader);
}

static inline void fuzz_inspect(const struct ps_format *format, const char *path)
{
    struct ps_text text = {0};
    struct ps_error error = {0};
    if (!format->inspect(path, &text, &error) && error.text[0] == '\0')
        abort();
    ps_text_free(&text);
}

#endif
